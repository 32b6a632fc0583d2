"""Claims with passages of real pages, from the evaluation sets: which rows may be trained on, and what they teach.

A row belongs to one of ten folds by the CRC-32 of its id. Claims of one answer, of one article or of one sentence share
a fold. Six folds are trained on, one is for development, three are kept for what is reported.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from training.data import NOT_CONTRADICTION, NOT_ENTAILMENT, Pair, read_rows

DEVELOPMENT, HELD = 6, (7, 8, 9)
SUPPORTED, NEUTRAL, REFUTED = 0, 1, 2
_WINDOW, _STEP = 600, 150  # characters
UNCUT = 750  # a passage that is no longer is shown whole

_LABELS: dict[str, dict[str, int]] = {
    "expertqa_val": {"Complete": SUPPORTED, "Incomplete": NOT_ENTAILMENT, "Missing": NOT_ENTAILMENT},
    "wice_oracle_chunks_dev": {
        "supported": SUPPORTED,
        "partially_supported": NOT_ENTAILMENT,
        "not_supported": NOT_ENTAILMENT,
    },
    "begin_dev": {"Fully attributable": SUPPORTED, "Not fully attributable": NOT_ENTAILMENT},
    "q2_wow": {"consistent": SUPPORTED, "inconsistent": NOT_ENTAILMENT},
    "faithdial_audit": {"entailment": SUPPORTED, "hallucination": NOT_ENTAILMENT},
    "citation_integrity": {"SUPPORT": SUPPORTED, "REFUTE": NOT_ENTAILMENT, "NEI": NEUTRAL},
    "factcheck_bench_dev": {
        "completely-support": SUPPORTED,
        "partially-support": NOT_CONTRADICTION,
        "refute": REFUTED,
        "irrelevant": NEUTRAL,
    },
}


def fold(identifier: str) -> int:
    """0 to 9."""
    return zlib.crc32(identifier.encode()) % 10


def group(source: str, identifier: str) -> str:
    """The key that siblings share: WiCE's claim of several chunks, Q2's turn with both of its replies."""
    if source == "wice_oracle_chunks_dev":
        return identifier.rsplit("-", 1)[0]
    return identifier.rsplit("-", 1)[1] if source == "q2_wow" else identifier


def window(text: str, claim: str, size: int = _WINDOW) -> str:
    """The part of a long passage that shares most words with the claim, cut at spaces."""

    def words(part: str) -> set[str]:
        return set(re.findall(r"[a-z0-9]{3,}", part.lower()))

    text = " ".join(text.split())
    if len(text) <= max(size, UNCUT):
        return text
    wanted = words(claim)
    start = max(range(0, len(text) - size + _STEP, _STEP), key=lambda at: len(wanted & words(text[at : at + size])))
    start = text.rfind(" ", 0, start + 1) + 1 if start else 0
    part = text[start : start + size]
    return part if start + size >= len(text) else part.rsplit(" ", 1)[0]


def _claims(source: str, row: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    """(claim, passage, the source's own label) of a row."""
    if source == "expertqa_val":
        for claim in row["claims"]:
            text = re.sub(r"\[\d+\] \S+\s*", "", "\n".join(claim["evidence"] or ()))
            yield claim["claim"], text, str(claim["label"])
    elif source == "factcheck_bench_dev":
        for claim in row["claims"]:
            for text, stance in zip(claim["evidence"], claim["evidence_stance"], strict=False):
                yield claim["claim"], text, stance
    else:
        evidence = row["evidence"]
        yield row["claim"], evidence if isinstance(evidence, str) else " ".join(evidence), row["label"]


def load(folder: Path) -> tuple[list[Pair], list[Pair]]:
    """Pairs to train on and pairs for development, of those sets that the folder holds."""
    train: list[Pair] = []
    development: list[Pair] = []
    for source, targets in _LABELS.items():
        path = folder / f"{source}.jsonl.gz"
        for row in read_rows(path) if path.exists() else ():
            own, shared = fold(row["id"]), fold(group(source, row["id"]))
            if own in HELD or shared in HELD:
                continue
            for claim, passage, label in _claims(source, row):
                claim = claim.strip()
                if label in targets and 0 < len(claim) <= 450 and passage.strip():
                    pair = Pair(window(passage, claim), claim, targets[label], source)
                    (development if shared == DEVELOPMENT else train).append(pair)
    return train, development
