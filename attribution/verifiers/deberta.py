"""A three-way NLI model of the hub.

By default the DeBERTa that V24 found closest to human judgement.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from attribution.errors import BadInput
from attribution.models import files, nli
from attribution.settings import Settings
from attribution.types import Judgement, Pair, Probabilities, Relation
from attribution.verifiers import download, model_of
from attribution.verifiers.calibration import softmax

make = partial(download, "deberta")


class Deberta:
    """Verifier `deberta`; `settings.verifier_model` names another hub model or a folder."""

    def __init__(self, settings: Settings) -> None:
        self.model = model_of("deberta", settings)
        self.version = f"deberta/{files.with_revision(self.model)}"

    def verify(self, pairs: Sequence[Pair]) -> list[Judgement]:
        """Return one judgement for each pair, in order; the title precedes the evidence.

        A premise longer than the model's input is read in overlapping windows, and the most
        confident one counts.
        """
        for number, (claim, evidence, *_) in enumerate(pairs, 1):
            if not claim.strip() or not evidence.strip():
                raise BadInput(
                    f"pair {number}: the {'evidence' if claim.strip() else 'claim'} is empty; "
                    "expected text"
                )
        loaded = nli.load(self.model, nli.relation_columns)
        windows = [
            (i, window) for i, pair in enumerate(pairs) for window in _windows(loaded, i, *pair)
        ]
        best: dict[int, dict[Relation, float]] = {}
        for (i, _), row in zip(
            windows, loaded.read([window for _, window in windows]), strict=True
        ):
            shares = softmax(row)
            p = {relation: shares[column] for relation, column in loaded.columns.items()}
            if i not in best or _decisive(p) > _decisive(best[i]):
                best[i] = p
        return [
            Judgement(Probabilities(**{r: min(1.0, max(0.0, v)) for r, v in best[i].items()}))
            for i in range(len(pairs))
        ]


def _decisive(p: Mapping[Relation, float]) -> float:
    return max(p["entailed"], p["contradicted"])


def _windows(
    loaded: nli.Loaded, number: int, claim: str, evidence: str, title: str = ""
) -> list[nli.Features]:
    """Encode a pair in windows.

    Raises BadInput for a claim that leaves no room for the evidence.
    """
    if len(loaded.tokenizer.tokenize(claim)) > loaded.limit // 2:
        raise BadInput(
            f"pair {number + 1}: the claim fills more than half of the model's {loaded.limit} "
            "tokens: segment it first"
        )
    titled = bool(title) and not evidence.startswith(title)
    encoded = loaded.tokenizer(
        f"{title}. {evidence}" if titled else evidence,
        claim,
        truncation="only_first",
        max_length=loaded.limit,
        stride=min(64, loaded.limit // 8),
        return_overflowing_tokens=True,
    )
    names = [name for name in nli.INPUTS if name in encoded]
    return [
        {name: encoded[name][window] for name in names}
        for window in range(len(encoded["input_ids"]))
    ]
