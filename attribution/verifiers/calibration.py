"""Calibrate a cross-encoder's probabilities, and report how often a verifier's badges were right on checked claims."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from attribution.types import Label, Probabilities

if TYPE_CHECKING:
    Array = np.ndarray[Any, Any]

SPECIAL = 1996  # first word id of BERT's vocabulary, which is sorted by frequency
MIN_WEIGHT = 0.3  # weight of punctuation and single letters


@dataclass(frozen=True)
class Reading:
    """The cross-encoder's output for a claim and one window of a premise."""

    entailed: float
    contradicted: float
    claim_ids: tuple[int, ...]
    premise_ids: tuple[int, ...]
    claim_vectors: Array  # (claim tokens, width): word embeddings without context, of length 1
    premise_vectors: Array


def token_weights(ids: Sequence[int]) -> Array:
    """Return weights of shape (tokens,): the informativeness of each token, as the log of its frequency rank."""
    rank = np.asarray(ids, dtype=float) - SPECIAL + 4
    return np.where(rank >= 4, np.log(np.maximum(rank, 4)), MIN_WEIGHT)


def coverage(readings: Sequence[Reading]) -> dict[str, float]:
    """Return weighted shares of the claim's tokens found in the windows: exactly, by the nearest token, as pairs."""
    claim = readings[0].claim_ids
    present = {i for r in readings for i in r.premise_ids}
    exact = np.array([i in present for i in claim], dtype=float)
    near = np.maximum.reduce([_nearest(r) for r in readings])
    pairs = {p for r in readings for p in zip(r.premise_ids, r.premise_ids[1:], strict=False)}
    own = list(zip(claim, claim[1:], strict=False))
    w = token_weights(claim)
    total = float(w.sum()) or 1.0
    return {
        "tokens": float((w * exact).sum()) / total,
        "near_tokens": float((w * near).sum()) / total,
        "token_pairs": sum(p in pairs for p in own) / len(own) if own else 1.0,
    }


def _nearest(reading: Reading) -> Array:
    """Return an array of shape (claim tokens,): each token's cosine with the nearest premise token, at least 0."""
    if not len(reading.premise_ids):
        return np.zeros(len(reading.claim_ids))
    best: Array = (reading.claim_vectors @ reading.premise_vectors.T).max(axis=1)
    return np.clip(best, 0.0, 1.0)


def log_odds(p: float) -> float:
    p = min(max(p, 1e-4), 1 - 1e-4)
    return math.log(p / (1 - p))


FEATURES = (
    "passage_entailed_odds", "passage_contradicted_odds",
    "long", "long_words", "long_tokens", "long_near_tokens", "long_token_pairs",
)  # fmt: skip
LONG_FROM, LONG_AT = (
    400,
    800,
)  # characters: below the first, only the cross-encoder counts; above the second, coverage counts fully


def expand(features: Mapping[str, float]) -> dict[str, float]:
    """Return the linear model's inputs: probabilities as log odds, and for long passages the coverage of the claim.

    Coverage is uninformative for short passages; in long ones it compensates for what the cross-encoder misses.
    """
    x = {f"passage_{name}_odds": log_odds(features[f"passage_{name}"]) for name in ("entailed", "contradicted")}
    x["long"] = features["long"]
    for name in ("words", "tokens", "near_tokens", "token_pairs"):
        x[f"long_{name}"] = features["long"] * features[name]
    return x


def weight_of_length(evidence: str) -> float:
    """Return 0 for a short passage, 1 for a long one, interpolated between them."""
    return min(1.0, max(0.0, (len(evidence) - LONG_FROM) / (LONG_AT - LONG_FROM)))


def combine(config: Mapping[str, Any], features: Mapping[str, float]) -> Probabilities:
    """Calibrate the probabilities with the model in config.json; without one, return the cross-encoder's own."""
    combiner = config.get("combiner")
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


def softmax(logits: Sequence[float] | Array) -> list[float]:
    top = max(float(v) for v in logits)
    exps = [math.exp(float(v) - top) for v in logits]
    return [e / sum(exps) for e in exps]


FILE = Path(__file__).parent / "reliability.json"
_NUMBERS, _BLANKS = re.compile(r"\[[\d\s.,]+\]"), re.compile(r"\s+")
ENOUGH = 20  # minimum number of checked badges; fewer are not informative


class Point(NamedTuple):
    """A threshold, and the badges that it yields on claims checked by people."""

    threshold: float
    shown: int
    right: int


class Curve(NamedTuple):
    """The trade-off of one threshold while the other has its default."""

    claims: int  # claims checked by people
    points: tuple[Point, ...]  # in order of rising threshold

    def at(self, threshold: float) -> Point:
        """Return the measured point nearest to a threshold."""
        return min(self.points, key=lambda point: abs(point.threshold - threshold))


@cache
def _figures() -> dict[str, dict[str, Any]]:
    figures: dict[str, dict[str, Any]] = json.loads(FILE.read_text(encoding="utf-8"))
    return figures


def written(figures: Mapping[str, Any]) -> str:
    """Return the text of the file: JSON with each list of numbers on one line."""
    return _NUMBERS.sub(lambda m: _BLANKS.sub(" ", m[0]), json.dumps(figures, indent=1)) + "\n"


def curve(version: str, label: Label) -> Curve | None:
    """Return the badges by threshold, on the claims behind `reliability`; None for a verifier that was not measured."""
    found = _figures().get(verifier_name(version), {})
    if label not in found.get("thresholds", {}):
        return None
    return Curve(found["claims"], tuple(Point(*point) for point in found["thresholds"][label]))


def verifier_name(version: str) -> str:
    """Return the name of the verifier from a version in a report."""
    return version.partition("/")[0]


def reliability(version: str, label: Label) -> str:
    """Return a sentence on how often such badges were right; empty if none were checked."""
    right, shown = _figures().get(verifier_name(version), {}).get(label, (0, 0))
    if not shown:
        return ""
    if shown < ENOUGH:
        return f"{right} of {shown} were right on claims that people checked: too few to tell"
    return f"{right} of {shown} were right on claims that people checked, with the default thresholds"
