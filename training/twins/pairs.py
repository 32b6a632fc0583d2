"""The sentences in which answers and their altered twins differ, as pairs with a target (T24 5.4).

The target of an answer's sentence is its cosine with the nearest sentence of the context, that of
its twin's one minus
the cosine with the same sentence: a twin differs in a word or two, so that its cosine alone says
nothing.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path

from attribution.embedders import EMBEDDERS, Embedder
from attribution.errors import BadInput
from attribution.files import read_rows
from attribution.settings import Settings
from attribution.studies.groundedness.labelled_set import (
    OPTIONAL,
    REQUIRED,
    LabelledRow,
    labelled_set,
)
from attribution.studies.groundedness.methods import of_context, spans


@dataclass(frozen=True)
class Pair:
    """A sentence of the context and one of a response, and how grounded it is: from 0 to 1."""

    context: str
    response: str
    target: float
    group: str


def read(path: Path) -> list[LabelledRow]:
    """The rows of a file that `evoke` wrote, or of any labelled set. BadInput where none can be
    used.
    """
    return list(labelled_set(read_rows(path, REQUIRED, OPTIONAL)).rows)


def pairs(rows: Sequence[LabelledRow], settings: Settings) -> list[Pair]:
    """Two pairs for each sentence that an altered answer has in another form than the most similar
    grounded one.
    """
    embedder = EMBEDDERS.build(settings.embedder, settings)
    found: list[Pair] = []
    for twin in (row for row in rows if not row.grounded):
        originals = [row for row in rows if row.grounded and row.group == twin.group]
        if originals:
            found += _differing(
                max(originals, key=lambda row: _likeness(row.response, twin.response)),
                twin,
                embedder,
            )
    if not found:
        raise BadInput(
            "no ungrounded response has a grounded one in its group that differs in a sentence"
        )
    return found


def _likeness(one: str, other: str) -> float:
    return SequenceMatcher(None, one, other, autojunk=False).ratio()


def _differing(original: LabelledRow, twin: LabelledRow, embedder: Embedder) -> Iterator[Pair]:
    mine, theirs = ([row.response[a:b] for a, b in spans(row.response)] for row in (original, twin))
    context = of_context(original.given)
    known = embedder.embed(context)
    for kind, a, b, c, d in SequenceMatcher(None, mine, theirs, autojunk=False).get_opcodes():
        for right, wrong in zip(mine[a:b], theirs[c:d], strict=False) if kind == "replace" else ():
            cosines = embedder.embed([right, wrong]) @ known.T
            nearest = int(cosines[0].argmax())
            near, other = (min(1.0, max(0.0, float(row[nearest]))) for row in cosines)
            yield Pair(context[nearest], right, near, original.group)
            yield Pair(context[nearest], wrong, 1 - other, original.group)


def divided(found: Sequence[Pair], share: float, seed: int) -> tuple[list[Pair], list[Pair]]:
    """(training, development); an answer and its twins are never in both."""
    groups = sorted({pair.group for pair in found})
    random.Random(seed).shuffle(groups)
    held = set(groups[: round(len(groups) * share)])
    return [p for p in found if p.group not in held], [p for p in found if p.group in held]
