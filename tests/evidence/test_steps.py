import pytest

from attribution.evidence.steps import headline, rated, rating, withdrawn
from attribution.types import Evidence, Page
from tests.make import claim, evidence, page

STATEMENT = "Vinegar cures malaria."


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("We looked. Rating: False.", False),
        ("Our ruling: Pants on Fire!", False),
        ("Verdict: True", True),
        ("Rating: Mostly false, partly true", None),
        ("We rate this claim as accurate.", True),
        ("No rating here.", None),
    ],
)
def test_the_rating_of_a_fact_check_is_read(text: str, found: bool | None) -> None:
    assert rating(page(text, genre="fact check")) is found


def test_a_headline_stands_without_its_column_and_its_site() -> None:
    named = page("Text.", title="Fact check: Vinegar cures malaria - Daily News")
    assert headline(named) == "Vinegar cures malaria"


def rated_false(title: str) -> Evidence:
    """Return the support that a page has for the statement it rates false in its headline."""
    checked = page("Rating: False.", title=f"Fact check: {title}", genre="fact check")
    piece = rated(claim(STATEMENT), checked, evidence(claim(STATEMENT), 0.9, 0.0, "entailed"))
    assert piece is not None
    return piece


def test_what_a_fact_check_rates_false_is_contradicted() -> None:
    assert rated_false("Vinegar cures malaria").probabilities.contradicted == 0.9


def test_a_fact_check_of_another_claim_supports_nothing() -> None:
    assert rated_false("The moon is cheese").reservation is not None


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
        ("Myth: lightning never strikes twice. Fact: it does.", "Lightning never strikes twice."),
    ],
)
def test_a_source_does_not_support_what_it_takes_back(text: str, statement: str) -> None:
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


def test_a_joke_supports_nothing() -> None:
    source = page("SATIRE: The mayor is a horse.")
    changed = withdrawn(claim("The mayor is a horse."), source, stated(source))
    assert changed is not None
    assert changed.reservation is not None
