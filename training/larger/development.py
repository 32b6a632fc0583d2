"""The fixed development sample: what the adapter is compared on while it learns. Nothing of it is reported as a result.

English XNLI (the half that choices are made on), held-out PAWS, the FEVER development split, one fold in ten of the
in-domain pairs, and held-out claims made from questions.
"""

from __future__ import annotations

import random
import zlib
from collections import defaultdict
from pathlib import Path
from typing import Any

from training import data

SIZES = {"xnli": 300, "paws_wiki_devtest": 300, "fever_nli": 300, "questions": 300}
IN_DOMAIN = 100  # of each source
THREE = ("xnli", "fever_nli")  # three classes; of the others it is only asked whether the claim is supported


def xnli(path: Path) -> list[data.Pair]:
    """The choosing half of English XNLI, as benchmarks/evaluation_sets.py splits it."""
    rows = [r for r in data.read_rows(path) if zlib.crc32(r["premise"].encode()) % 2]
    return [data.Pair(r["premise"], r["hypothesis"], data.TARGETS[r["label"]], "xnli") for r in rows]


def sample(pairs: list[data.Pair]) -> list[data.Pair]:
    """The same pairs every time, as many of each source as `SIZES` says."""
    by_source: dict[str, list[data.Pair]] = defaultdict(list)
    for pair in pairs:
        by_source[pair.source].append(pair)
    chosen = []
    for source in sorted(by_source):
        size = SIZES.get(source, IN_DOMAIN)
        chosen += random.Random(13).sample(by_source[source], min(size, len(by_source[source])))
    return chosen


def area(scores: list[float], truths: list[bool]) -> float:
    """Area under the ROC curve: how often a supported pair scores above one that is not."""
    high = [s for s, t in zip(scores, truths, strict=True) if t]
    low = [s for s, t in zip(scores, truths, strict=True) if not t]
    wins = sum((a > b) + 0.5 * (a == b) for a in high for b in low)
    return wins / (len(high) * len(low)) if high and low else float("nan")


def figures(probabilities: Any, pairs: list[data.Pair]) -> dict[str, float]:
    """By source: accuracy of three classes, or the area under the curve of support; `score` is the mean of `SIZES`.

    The in-domain sources are left out of it: the adapter that all began with had been trained on their fold.
    probabilities: (pairs, 3), in the order of data.LABELS.
    """
    found: dict[str, float] = {}
    rows = probabilities.tolist()
    for source in sorted({p.source for p in pairs}):
        own = [(row, p) for row, p in zip(rows, pairs, strict=True) if p.source == source]
        if source in THREE:
            found[source] = sum(row.index(max(row)) == p.target for row, p in own) / len(own)
        else:
            found[source] = area([row[0] for row, _ in own], [p.target == 0 for _, p in own])
    groups = [found[s] for s in SIZES if s in found]
    inside = [value for source, value in found.items() if source not in SIZES]
    if inside:
        found["in_domain"] = sum(inside) / len(inside)
    found["score"] = sum(groups) / len(groups)
    return {name: round(value, 4) for name, value in found.items()}
