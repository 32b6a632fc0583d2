import pytest

from attribution.evidence.steps import withdrawn
from attribution.types import Evidence, Page
from tests.make import claim, evidence, page


def stated(source: Page) -> Evidence:
    whole = (0, len(source.text))
    return evidence(claim(), 0.9, 0.05, "entailed", text=source.text, end=whole[1], sentence=whole)


@pytest.mark.parametrize(
    ("text", "statement"),
    [
        (
            "Correction: an earlier version of this article said that the fire began at noon; "
            "it began at ten.",
            "The fire began at noon.",
        ),
        (
            "This article originally stated that the bridge is 1.3 miles long. It is 1.1 miles.",
            "The bridge is 1.3 miles long.",
        ),
        (
            "RETRACTED: The compound doubles growth. It was withdrawn.",
            "The compound doubles growth.",
        ),
        ("SATIRE: The mayor is a horse.", "The mayor is a horse."),
        ("Myth: lightning never strikes twice. Fact: it does.", "Lightning never strikes twice."),
    ],
)
def test_a_source_does_not_support_what_it_takes_back_or_jokes_about(
    text: str, statement: str
) -> None:
    source = page(text)
    changed = withdrawn(claim(statement), source, stated(source))
    assert changed is not None
    assert changed.reservation is not None


@pytest.mark.parametrize(
    "statement",
    ["The fire began at ten.", "The fire was put out.", "The bridge is 1.1 miles long."],
)
def test_what_a_correction_says_now_is_not_taken_back(statement: str) -> None:
    source = page("An earlier version said that the fire began at noon; the fire began at ten.")
    assert withdrawn(claim(statement), source, stated(source)) is None
