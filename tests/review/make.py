"""Reports for tests: an answer, its claims by their words, and a verdict for each."""

from typing import Any

from attribution.types import Claim, Label, Report
from tests import make

SOURCE = make.page(
    "The tower was finished in 1889. It is 330 m high.",
    "https://example.org/t(1)",
    "A [tower] | *title*",
)
PLACE = {"page_id": SOURCE.id, "end": len(SOURCE.text), "text": SOURCE.text, "sentence": (0, 31)}


def claim(answer: str, words: str, **fields: Any) -> Claim:
    start = answer.index(words)
    span = (start, start + len(words))
    made = {"id": f"c{start}", "text": words, "spans": (span,), "sentence": span}
    return make.claim(**{**made, **fields})


def report(answer: str, *claims: tuple[Claim, Label]) -> Report:
    """Supported claims have the source as their evidence."""
    supported = [one for one, label in claims if label == "supported"]
    pieces = tuple(make.evidence(one, 1.0, 0.0, "entailed", **PLACE) for one in supported)
    return make.judged(*claims, answer=answer, pages=(SOURCE,), evidence=pieces)
