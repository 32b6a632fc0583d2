"""The small NLI model that ships with the project (training/README.md says how it was made).

A cross-encoder reads claim and passage, and once more claim and deciding sentence; a calibrated linear model joins
its probabilities with cheap lexical signals. Each pair is run by itself: int8 scales of a batch would depend on
its other pairs, and on CPUs a batch is no faster.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attribution.errors import BadInput, Unavailable
from attribution.settings import Settings
from attribution.types import Judgement, Probabilities, Span
from attribution.verifiers.lexical import deciding_sentence, sentences, signals

if TYPE_CHECKING:
    import numpy as np

FOLDER = Path(__file__).parent / "model"
WINDOW = 256  # tokens of claim and premise together
CLAIM_TOKENS = 160  # a longer claim leaves too little room for its premise
CLAIM_CHARACTERS = 10 * CLAIM_TOKENS  # checked before anything is read
EVIDENCE_CHARACTERS = 200_000


@cache
def _config(folder: Path) -> dict[str, Any]:
    try:
        loaded: dict[str, Any] = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    except OSError as error:
        raise Unavailable(
            f"the embedded model is missing from {folder}: restore it with `git checkout -- {folder}`"
        ) from error
    return loaded


class CrossEncoder:
    """Three-way NLI on int8 ONNX: entailed, no relation, contradicted, in this order."""

    def __init__(self, folder: Path) -> None:
        import onnxruntime
        import tokenizers

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1  # pairs run side by side instead
        options.enable_cpu_mem_arena = False  # long passages would keep their memory
        self._session = onnxruntime.InferenceSession(
            str(folder / "model.onnx"), options, providers=["CPUExecutionProvider"]
        )
        self._tokenizer = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()

    def encode(self, text: str) -> tuple[list[int], list[Span]]:
        """Token ids without special tokens, and their characters."""
        # half of a surrogate pair is no character and has no encoding
        encoding = self._tokenizer.encode(text.encode("utf-8", "replace").decode(), add_special_tokens=False)
        return encoding.ids, encoding.offsets

    def logits(self, premise: Sequence[int], claim: Sequence[int]) -> np.ndarray[Any, Any]:
        """float32 (3,)"""
        import numpy as np

        ids = np.array([[101, *premise, 102, *claim, 102]], dtype=np.int64)
        types = np.zeros_like(ids)
        types[0, len(premise) + 2 :] = 1
        feed = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": types}
        out: np.ndarray[Any, Any] = self._session.run(None, feed)[0][0]
        return out


@cache
def _encoder(folder: Path) -> CrossEncoder:
    return CrossEncoder(folder)


def windows(offsets: Sequence[Span], spans: Sequence[Span], room: int) -> list[tuple[int, int]]:
    """Token ranges of at most `room` that together hold every token; cut after a sentence where one fits, and each
    begins with the last sentence of the one before it, so that no pair of neighbouring sentences is torn apart."""
    if len(offsets) <= room:
        return [(0, len(offsets))]
    starts, token = [], 0
    for first, _ in spans:
        while token < len(offsets) and offsets[token][0] < first:
            token += 1
        starts.append(token)
    made: list[Span] = []
    start = 0
    while True:
        end = start + room
        if end >= len(offsets):
            return [*made, (start, len(offsets))]
        inside = [s for s in starts if start < s <= end]
        end = inside[-1] if inside else end
        made.append((start, end))
        start = inside[-2] if len(inside) > 1 else end


class Embedded:
    """Verifier `embedded`; `folder` holds model.onnx, tokenizer.json and config.json."""

    def __init__(self, settings: Settings, folder: Path = FOLDER) -> None:
        self._folder = folder
        self._config = _config(folder)
        self.version: str = f"embedded/{self._config['version']}"

    def verify(self, pairs: Sequence[tuple[str, str]]) -> list[Judgement]:
        """One judgement a pair; BadInput for an empty claim or evidence, or one that is too long."""
        for number, pair in enumerate(pairs, 1):
            for name, text, most in zip(
                ("claim", "evidence"), pair, (CLAIM_CHARACTERS, EVIDENCE_CHARACTERS), strict=True
            ):
                if not text.strip():
                    raise BadInput(f"pair {number}: the {name} is empty; expected text")
                if len(text) > most:
                    raise BadInput(
                        f"pair {number}: a {name} of {len(text):,} characters; at most {most:,}: split it first"
                    )
        encoder = _encoder(self._folder)
        threads = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        if len(pairs) < 2 or threads < 2:
            return [self._judge(encoder, *pair) for pair in pairs]
        with ThreadPoolExecutor(threads, thread_name_prefix="nli") as pool:
            return list(pool.map(lambda pair: self._judge(encoder, *pair), pairs))

    def _judge(self, encoder: CrossEncoder, claim: str, evidence: str) -> Judgement:
        features, sentence = self.features(encoder, claim, evidence)
        probabilities = self._combine(features)
        return Judgement(probabilities, sentence, {name: round(value, 4) for name, value in features.items()})

    def features(self, encoder: CrossEncoder, claim: str, evidence: str) -> tuple[dict[str, float], Span]:
        """The parts of a judgement, by name, and the deciding sentence in characters of the evidence."""
        claim_ids, _ = encoder.encode(claim)
        if len(claim_ids) > CLAIM_TOKENS:
            raise BadInput(
                f"a claim of {len(claim_ids)} tokens ({claim[:40]!r}…); at most {CLAIM_TOKENS}: segment it first"
            )
        ids, offsets = encoder.encode(evidence)
        room = WINDOW - len(claim_ids) - 3
        ranges = windows(offsets, sentences(evidence), room)
        best = max((softmax(encoder.logits(ids[a:b], claim_ids)) for a, b in ranges), key=lambda p: max(p[0], p[2]))
        sentence = deciding_sentence(claim, evidence)
        features = {"passage_entailed": best[0], "passage_contradicted": best[2]}
        if len(sentences(evidence)) > 1:
            a = next((i for i, o in enumerate(offsets) if o[1] > sentence[0]), 0)
            b = next((i for i, o in enumerate(offsets) if o[0] >= sentence[1]), len(ids))
            alone = softmax(encoder.logits(ids[a : min(b, a + room)], claim_ids))
        else:
            alone = best
        features["long"] = min(len(sentences(evidence)) - 1, 4) / 4
        features |= {"sentence_entailed": alone[0], "sentence_contradicted": alone[2]}
        return features | signals(claim, evidence, sentence), sentence

    def _combine(self, features: dict[str, float]) -> Probabilities:
        combiner = self._config.get("combiner")
        if not combiner:
            entailed, contradicted = features["passage_entailed"], features["passage_contradicted"]
        else:
            x = expand(features)
            scores = [
                sum(w * x[n] for n, w in zip(combiner["features"], row, strict=True)) + b
                for row, b in zip(combiner["weights"], combiner["bias"], strict=True)
            ]
            entailed, _, contradicted = softmax(scores)
        return Probabilities(
            entailed=entailed, contradicted=contradicted, no_relation=max(0.0, 1 - entailed - contradicted)
        )


def expand(features: dict[str, float]) -> dict[str, float]:
    """What the linear model sees: probabilities as log odds beside the lexical signals, and some products."""
    import math

    def odds(p: float) -> float:
        p = min(max(p, 1e-4), 1 - 1e-4)
        return math.log(p / (1 - p))

    x = dict(features)
    for name in ("passage_entailed", "passage_contradicted", "sentence_entailed", "sentence_contradicted"):
        x[f"{name}_odds"] = odds(features[name])
    x["missing_number"] = features["has_numbers"] * (1 - features["numbers"])
    x["missing_number_in_sentence"] = features["has_numbers"] * (1 - features["numbers_in_sentence"])
    x["entailed_words"] = x["passage_entailed_odds"] * features["words"]
    x["contradicted_words"] = x["sentence_contradicted_odds"] * features["words_in_sentence"]
    x["similar"] = max(0.0, features["words_in_sentence"] - 0.5)
    for name in ("passage_entailed_odds", "passage_contradicted_odds", "words", "words_in_sentence", "names"):
        x[f"long_{name.removeprefix('passage_').removesuffix('_odds')}"] = features["long"] * x[name]
    return x


def softmax(logits: Sequence[float] | np.ndarray[Any, Any]) -> list[float]:
    import math

    top = max(float(v) for v in logits)
    weights = [math.exp(float(v) - top) for v in logits]
    return [w / sum(weights) for w in weights]
