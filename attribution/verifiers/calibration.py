"""Calibrate a cross-encoder's probabilities, and say how often a verifier's badges were right on checked claims."""

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

SPECIAL = 1996  # BERT's vocabulary: words start here, the frequent ones first
MIN_WEIGHT = 0.3  # of punctuation and single letters


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
    """(tokens,): how informative each token is, by the logarithm of its frequency rank in the vocabulary."""
    rank = np.asarray(ids, dtype=float) - SPECIAL + 4
    return np.where(rank >= 4, np.log(np.maximum(rank, 4)), MIN_WEIGHT)


def coverage(readings: Sequence[Reading]) -> dict[str, float]:
    """Weighted shares of the claim's tokens that occur in the windows: exactly, by the nearest token, as pairs."""
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
    """(claim tokens,): the cosine of each with the nearest token of the premise, at least 0."""
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
    """The linear model's inputs: probabilities as log odds, and for long passages the coverage of the claim.

    Coverage says nothing in short passages; in long ones it makes up for what the cross-encoder misses.
    """
    x = {f"passage_{name}_odds": log_odds(features[f"passage_{name}"]) for name in ("entailed", "contradicted")}
    x["long"] = features["long"]
    for name in ("words", "tokens", "near_tokens", "token_pairs"):
        x[f"long_{name}"] = features["long"] * features[name]
    return x


def weight_of_length(evidence: str) -> float:
    """0 for a short passage, 1 for a long one."""
    return min(1.0, max(0.0, (len(evidence) - LONG_FROM) / (LONG_AT - LONG_FROM)))


def combine(config: Mapping[str, Any], features: Mapping[str, float]) -> Probabilities:
    """Calibrated probabilities by the model in config.json; without one, the cross-encoder's own."""
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
ENOUGH = 20  # badges that were checked; fewer tell nothing


class Point(NamedTuple):
    """A threshold, and the badges that it shows on claims that people checked."""

    threshold: float
    shown: int
    right: int


class Curve(NamedTuple):
    """What one threshold costs and brings while the other has its default."""

    claims: int  # that people checked
    points: tuple[Point, ...]  # by rising threshold

    def at(self, threshold: float) -> Point:
        """The measured point nearest to a threshold."""
        return min(self.points, key=lambda point: abs(point.threshold - threshold))


@cache
def _figures() -> dict[str, dict[str, Any]]:
    figures: dict[str, dict[str, Any]] = json.loads(FILE.read_text(encoding="utf-8"))
    return figures


def written(figures: Mapping[str, Any]) -> str:
    """The text of the file: as JSON, a list of numbers on one line."""
    return _NUMBERS.sub(lambda m: _BLANKS.sub(" ", m[0]), json.dumps(figures, indent=1)) + "\n"


def curve(version: str, label: Label) -> Curve | None:
    """Badges by threshold, on the claims behind `reliability`; None for a verifier that was not measured."""
    found = _figures().get(verifier_name(version), {})
    if label not in found.get("thresholds", {}):
        return None
    return Curve(found["claims"], tuple(Point(*point) for point in found["thresholds"][label]))


def verifier_name(version: str) -> str:
    """The name of the verifier that a version in a report belongs to."""
    return version.partition("/")[0]


def reliability(version: str, label: Label) -> str:
    """A sentence about badges like this one; empty where none were checked."""
    right, shown = _figures().get(verifier_name(version), {}).get(label, (0, 0))
    if not shown:
        return ""
    if shown < ENOUGH:
        return f"{right} of {shown} were right on claims that people checked: too few to tell"
    return f"{right} of {shown} were right on claims that people checked, with the default thresholds"
