"""Fine-tune a cross-encoder on grounded answers and their altered twins (T24 5.4).

The method `gc` takes the model:

    python -m attribution evoke --input grounded.jsonl --output twins.jsonl
    python -m training.groundedness --input twins.jsonl --out FOLDER
    python -m attribution benchmark --input set.jsonl --methods gc --set gc_model=FOLDER/model …
"""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

from attribution.embedders import EMBEDDERS, Embedder
from attribution.errors import AttributionError, BadInput
from attribution.settings import Settings
from attribution.studies.groundedness import of_context, spans
from attribution.studies.groundedness.labelled_set import (
    OPTIONAL,
    REQUIRED,
    LabelledRow,
    labelled_set,
)
from attribution.text_files import read_rows
from training import command

BASE = "microsoft/deberta-v3-large"
BATCH, MAX_TOKENS = 16, 256
HELD_OUT = ("development", "test")  # splits (T24 4.3); rows without one are trained on
SEED = 13


@dataclass(frozen=True)
class TrainingPair:
    """A sentence of the context and one of a response.

    Attributes:
        target: How grounded the response is, from 0 to 1.
        split: That of its answer.
    """

    context: str
    response: str
    target: float
    split: str


def training_pairs(rows: Sequence[LabelledRow], settings: Settings) -> list[TrainingPair]:
    """Make two pairs of each sentence in which an altered answer differs from the grounded one.

    The target of the grounded sentence is its cosine with the nearest sentence of the context;
    that of the altered one is one minus its cosine with the same sentence.

    Raises:
        BadInput: No answer has a twin that differs in a sentence.
    """
    embedder = EMBEDDERS.chosen(settings)
    pairs: list[TrainingPair] = []
    for twin in rows:
        originals = [row for row in rows if row.grounded and row.group == twin.group]
        if originals and not twin.grounded:
            likeness = [_likeness(row.response, twin.response) for row in originals]
            nearest = originals[likeness.index(max(likeness))]
            pairs += _differing(nearest, twin, embedder)
    if not pairs:
        raise BadInput("no ungrounded response differs in a sentence from a grounded one")
    return pairs


def _likeness(first: str, second: str) -> float:
    return SequenceMatcher(None, first, second, autojunk=False).ratio()


def _differing(
    original: LabelledRow, twin: LabelledRow, embedder: Embedder
) -> Iterator[TrainingPair]:
    grounded = [original.response[start:end] for start, end in spans(original.response)]
    altered = [twin.response[start:end] for start, end in spans(twin.response)]
    context = of_context(original.given)
    context_vectors = embedder.embed(context)
    matcher = SequenceMatcher(None, grounded, altered, autojunk=False)
    for operation, a, b, c, d in matcher.get_opcodes():
        if operation != "replace":
            continue
        for right, wrong in zip(grounded[a:b], altered[c:d], strict=False):
            cosines = (embedder.embed([right, wrong]) @ context_vectors.T).clip(0, 1)
            nearest = int(cosines[0].argmax())
            right_target, wrong_cosine = cosines[:, nearest].tolist()
            yield TrainingPair(context[nearest], right, right_target, original.split)
            yield TrainingPair(context[nearest], wrong, 1 - wrong_cosine, original.split)


@dataclass
class CrossEncoder:
    """A model with one output, and its tokenizer."""

    model: Any
    tokenizer: Any

    @classmethod
    def from_base(cls, base: str) -> CrossEncoder:
        """Load a base model, of the hub or a folder, and give it a fresh head.

        Raises:
            OSError: There is no such model, or the hub can't be reached.
        """
        from transformers import AutoModelForSequenceClassification, AutoTokenizer

        model = AutoModelForSequenceClassification.from_pretrained(base, num_labels=1)
        return cls(model, AutoTokenizer.from_pretrained(base))

    def logits(self, pairs: Sequence[TrainingPair]) -> Any:
        """Return one logit for each pair; only the context is cut."""
        inputs = self.tokenizer(
            [pair.context for pair in pairs],
            [pair.response for pair in pairs],
            truncation="only_first",
            max_length=MAX_TOKENS,
            padding=True,
            return_tensors="pt",
        )
        return self.model(**inputs).logits[:, 0]

    def train(self, pairs: Sequence[TrainingPair], passes: int, rate: float) -> list[float]:
        """Minimise the binary cross-entropy to the targets.

        Args:
            pairs: What to learn from.
            passes: How often each pair is seen.
            rate: The learning rate at the start; it falls to 0.

        Returns:
            The mean loss of each pass.
        """
        import torch

        torch.manual_seed(SEED)
        chance = random.Random(SEED)
        optimizer = torch.optim.AdamW(self.model.parameters(), lr=rate, weight_decay=0.01)
        steps = passes * len(batches(pairs))
        schedule = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.0, steps)
        loss_of = torch.nn.functional.binary_cross_entropy_with_logits
        losses: list[float] = []
        self.model.train()
        for _ in range(passes):
            shuffled = chance.sample(pairs, len(pairs))
            total = 0.0
            for batch in batches(shuffled):
                targets = torch.tensor([pair.target for pair in batch])
                loss = loss_of(self.logits(batch), targets)
                optimizer.zero_grad()
                loss.backward()  # type: ignore[no-untyped-call]
                torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
                optimizer.step()
                schedule.step()
                total += loss.item() * len(batch)
            losses.append(round(total / len(pairs), 4))
            print(f"pass {len(losses)} of {passes}: loss {losses[-1]}", file=sys.stderr)
        return losses

    def save(self, folder: Path) -> None:
        self.model.save_pretrained(folder)
        self.tokenizer.save_pretrained(folder)


def batches(pairs: Sequence[TrainingPair]) -> list[Sequence[TrainingPair]]:
    return [pairs[start : start + BATCH] for start in range(0, len(pairs), BATCH)]


def main(argv: list[str] | None = None) -> int:
    parser = command(__doc__)
    parser.add_argument("--input", type=Path, required=True, help="as `evoke` writes it")
    parser.add_argument("--out", type=Path, required=True, help="for model/ and summary.json")
    parser.add_argument("--base", default=BASE, help=f"model or folder (default: {BASE})")
    parser.add_argument("--passes", type=int, default=3)
    parser.add_argument("--rate", type=float, default=5e-5)
    args = parser.parse_args(argv)
    try:
        rows = labelled_set(read_rows(args.input, REQUIRED, OPTIONAL)).rows
        pairs = training_pairs(rows, Settings.from_environment())
        encoder = CrossEncoder.from_base(args.base)
    except (AttributionError, OSError, ValueError) as error:
        print(f"training: {error}", file=sys.stderr)
        return 2
    seen = [pair for pair in pairs if pair.split not in HELD_OUT]
    losses = encoder.train(seen, args.passes, args.rate)
    encoder.save(args.out / "model")
    summary = {"pairs": len(seen), "loss": losses}
    text = json.dumps(summary, indent=1)
    (args.out / "summary.json").write_text(f"{text}\n", encoding="utf-8")
    print(text)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
