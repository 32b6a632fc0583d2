from collections.abc import Sequence

import pytest

from attribution.evidence.fact_checks import headline, ruling, stated, with_rulings
from attribution.evidence.judging import Judged
from attribution.types import Judgement, Pair, Probabilities
from tests.make import page

CLAIM = "Velden closed its only library in 2019."


def check(title: str, text: str = "", rating: str = "", reviewed: str = ""):
    more = {"genre": "fact check", "rating": rating, "reviewed": reviewed}
    return page(f"{title}\n\n{text}", title=title).model_copy(update=more)


@pytest.mark.parametrize(
    ("text", "rating", "expected"),
    [
        ("Claim: The well is dry. Rating: False. It is not.", "", ("The well is dry", False)),
        ("CLAIM: The well is dry.\nVERDICT: Mostly true", "", ("The well is dry", True)),
        ("Claim: The well is dry.\nRating: Mixture", "", None),
        ("Claim: The well is dry.", "Pants on Fire!", ("The well is dry", False)),
        ("Claim: The well is dry.", "", None),
        ("Claim: The well is dry.", "Half true", None),
        ("We rate this claim False.", "", None),  # of which claim? the headline denies it
    ],
)
def test_a_ruling_is_read_from_markup_or_text(
    text: str, rating: str, expected: tuple[str, bool] | None
) -> None:
    found = ruling(check("No, the well is not dry", text, rating))
    assert ((found.reviewed, found.true) if found else None) == expected


def test_a_headline_is_read_without_its_column_and_site_and_stands_in_the_page() -> None:
    assert stated("Fact check: No, the well is not dry - Full Fact") == "No, the well is not dry"
    assert stated("PolitiFact | No, the well is not dry") == "No, the well is not dry"
    made = check("Fact Check: The well is not dry | Checks")
    assert (span := headline(made)) and made.text[slice(*span)] == "The well is not dry"
    assert headline(page("A title", title="A title")) is None


class Same:
    """A verifier that finds a claim in equal words alone."""

    def verify(self, pairs: Sequence[Pair]) -> list[Judgement]:
        found = (0.95 if p[0].strip(".") == p[1].strip(".") else 0.0 for p in pairs)
        return [
            Judgement(Probabilities(entailed=p, contradicted=0, no_relation=1 - p), (0, 1))
            for p in found
        ]


@pytest.mark.parametrize(
    ("title", "text", "judged", "expected"),
    [
        ("Did Velden close its only library in 2019?", "Rating: False", 0.1, (0.0, 0.9)),
        ("A picture from Velden", f"Claim: {CLAIM} Rating: False", 0.1, (0.0, 0.95)),
        ("A picture from Velden", f"Claim: {CLAIM} Rating: True", 0.1, (0.95, 0.0)),
        (CLAIM, "A picture says so.", 0.9, (0.0, 0.0)),  # what a headline repeats may be false
        (f"Yes, {CLAIM}", "", 0.9, (0.9, 0.0)),
        ("Did a well in Ode run dry?", "Rating: False", 0.1, (0.0, 0.0)),
    ],
)
def test_a_rating_decides_for_the_claim_that_it_is_about(
    title: str, text: str, judged: float, expected: tuple[float, float]
) -> None:
    own = Judged(
        Judgement(Probabilities(entailed=judged, contradicted=0, no_relation=1 - judged), (0, 5))
    )
    (found,) = with_rulings([(CLAIM, title)], [own], [check(title, text)], Same())
    p = found.judgement.probabilities
    assert (p.entailed, p.contradicted) == expected
    assert with_rulings([(CLAIM, title)], [own], [page(text)], Same()) == [own]  # not a fact check
