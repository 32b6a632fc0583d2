"""Answers and their altered twins as pairs with a target (T24 5.4).

The target of a grounded answer is its cosine with the context, that of its twin one minus the cosine: a twin differs in
a word or two, so that its cosine alone says nothing.
"""

from __future__ import annotations

import random
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from attribution.files import read_rows
from attribution.settings import Settings
from attribution.studies.groundedness import Given, joined
from attribution.studies.groundedness.labelled_set import OPTIONAL, REQUIRED, LabelledRow, labelled_set
from attribution.studies.groundedness.methods.local import CosineSimilarity


@dataclass(frozen=True)
class Pair:
    """A context and a response, and how grounded it is: from 0 to 1."""

    context: str
    response: str
    target: float
    group: str


def read(path: Path) -> list[LabelledRow]:
    """The rows of a file that `evoke` wrote, or of any labelled set. BadInput where none can be used."""
    return list(labelled_set(read_rows(path, REQUIRED, OPTIONAL)).rows)


def pairs(rows: Sequence[LabelledRow], settings: Settings) -> list[Pair]:
    """A pair for each row; the cosine is the mean of `cos_sim` over the sentences."""
    cosine, never = CosineSimilarity(settings), threading.Event()
    found = []
    for row in rows:
        near = cosine.score(Given(row.question, row.context, row.response), never).scores["mean"]
        found.append(Pair(joined(row.context), row.response, near if row.grounded else 1 - near, row.group))
    return found


def divided(found: Sequence[Pair], share: float, seed: int) -> tuple[list[Pair], list[Pair]]:
    """(training, development); an answer and its twins are never in both."""
    groups = sorted({pair.group for pair in found})
    random.Random(seed).shuffle(groups)
    held = set(groups[: round(len(groups) * share)])
    return [p for p in found if p.group not in held], [p for p in found if p.group in held]
