import pytest

from attribution.evidence.steps import rated, withdrawn
from attribution.types import Evidence, Page
from tests.make import claim, evidence, page


@pytest.mark.parametrize(
    ("text", "title", "is_rated"),
    [
        ("We looked. Rating: False.", "Does vinegar cure malaria?", True),
        ("We rate this claim as inaccurate.", "Vinegar does not cure malaria", True),
        ("Rating: False.", "The moon is cheese", False),
        ("Verdict: True", "Does vinegar cure malaria?", False),
        ("It was half true, half false.", "Does vinegar cure malaria?", False),
    ],
)
def test_a_fact_check_contradicts_what_it_rates_false_and_not_the_denial(
    text: str, title: str, is_rated: bool
) -> None:
    repeated = claim("Vinegar cures malaria.")
    page_of = page(text, title=title, genre="fact check")
    support = evidence(repeated, 0.9, 0.0, "entailed")
    piece = rated(repeated, page_of, support)
    assert (piece is not None and piece.probabilities.contradicted > 0.8) == is_rated
    assert rated(claim("Vinegar doesn’t cure malaria."), page_of, support) is None


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
    [
        "The fire began at ten.",
        "The fire was put out.",
        "The bridge is 1.1 miles long.",
        "It was not at noon that the fire began.",
    ],
)
def test_what_a_correction_says_now_is_not_taken_back(statement: str) -> None:
    text = "An earlier version said that the fire began at noon; the fire began at ten."
    source = page(text, title="Satire - An encyclopedia")
    assert withdrawn(claim(statement), source, stated(source)) is None
