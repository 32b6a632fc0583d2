import pytest

from attribution.evidence.fact_checks import headline, rated, rating
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


def test_what_a_fact_check_rates_false_is_contradicted() -> None:
    checked = page("Rating: False.", title="Fact check: Vinegar cures malaria", genre="fact check")
    piece = rated(claim(STATEMENT), checked, evidence(claim(STATEMENT), 0.9, 0.0, "entailed"))
    assert piece is not None
    assert piece.probabilities.contradicted == 0.9


def test_a_fact_check_of_another_claim_supports_nothing() -> None:
    checked = page("Rating: False.", title="Fact check: The moon is cheese", genre="fact check")
    piece = rated(claim(STATEMENT), checked, evidence(claim(STATEMENT), 0.9, 0.0, "entailed"))
    assert piece is not None
    assert piece.reservation is not None
