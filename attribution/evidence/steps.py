"""The steps after the model: a short list of what is known for certain.

Each step looks at one piece of evidence, and returns it changed, or None where it has nothing to
say. `python -m benchmarks.verdicts --without NAME` measures what a step adds.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from attribution.evidence.fact_checks import rated
from attribution.evidence.retractions import of_another, withdrawn
from attribution.text.marks import without_numbers
from attribution.text.sentences import sentences
from attribution.text.words import words_of
from attribution.types import (
    SILENT,
    Claim,
    Evidence,
    Page,
    Probabilities,
    Reservation,
)

Step = Callable[[Claim, Page, Evidence], Evidence | None]
SURE = 0.98  # probability of what stands word for word in a passage
FEWEST_WORDS = 3
ASKS_OR_QUOTES = re.compile(r"[“\"„«?？]")


def verbatim(claim: Claim, page: Page, piece: Evidence) -> Evidence | None:
    """Let a passage support what one of its sentences says word for word.

    Case, punctuation and citation marks don't matter. A question or a quotation states nothing.
    """
    wanted = words_of(without_numbers(claim.statement))
    if len(wanted) < FEWEST_WORDS:
        return None
    for start, end in sentences(piece.text):
        sentence = piece.text[start:end]
        is_statement = not ASKS_OR_QUOTES.search(sentence) or ASKS_OR_QUOTES.search(claim.statement)
        if is_statement and words_of(without_numbers(sentence)) == wanted:
            probabilities = Probabilities(entailed=SURE, contradicted=0.0, no_relation=1 - SURE)
            place = (piece.start + start, piece.start + end)
            return piece.model_copy(update={"probabilities": probabilities, "sentence": place})
    return None


def genre(claim: Claim, page: Page, piece: Evidence) -> Evidence | None:
    """Let a page count for what it is.

    Pages that only list or repeat are left out, a fact check counts by its rating, a retraction
    against what it takes back, and a transcript for who speaks.
    """
    if page.genre == "fact check":
        return rated(claim, page, piece)
    if page.genre in SILENT:
        reservation = Reservation(relations=("entailed", "contradicted"), note=SILENT[page.genre])
        return piece.model_copy(update={"reservation": reservation})
    return withdrawn(claim, page, piece) or of_another(claim, page, piece)


STEPS: dict[str, Step] = {  # in the order in which they run
    "verbatim": verbatim,
    "genre": genre,
}
