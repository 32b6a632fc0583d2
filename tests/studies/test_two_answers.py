import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from attribution.embedders import EMBEDDERS
from attribution.errors import BadInput
from attribution.settings import Settings
from attribution.store.store import Store
from attribution.studies.two_answers import (
    TwoAnswers,
    align,
    compare_answers,
    json_data,
)
from attribution.types import Claim, Judgement, Pair, Probabilities, Report, Verdict
from attribution.verifiers import VERIFIERS
from attribution.verifiers.reader import CachedVerifier
from tests.make import claim
from tests.make import report as made_report

Known = dict[tuple[str, ...], tuple[float, float]]


class Near:
    """An embedder to which all texts are alike, or none."""

    version = "near"

    def __init__(self, alike: bool = True) -> None:
        self.alike = alike

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        size = len(texts)
        made = np.ones((size, 1)) if self.alike else np.eye(size)
        return made.astype(np.float32)


class Told:
    """A verifier that knows what it is told: (claim, evidence) → entailed, contradicted."""

    version, usage = "told", None

    def __init__(self, known: Known) -> None:
        self.known = known

    def verify(self, pairs: Sequence[Pair]) -> list[Judgement]:
        if any("too long" in text for pair in pairs for text in pair):
            raise BadInput("the claim is too long")
        scores = [self.known.get(pair[:2], (0.0, 0.0)) for pair in pairs]
        return [
            Judgement(Probabilities(entailed=e, contradicted=c, no_relation=1 - e - c))
            for e, c in scores
        ]


def report(*texts: str | Claim) -> Report:
    claims = [text if isinstance(text, Claim) else claim(text) for text in texts]
    return made_report(claims=claims)


def aligned(
    first: Report,
    second: Report,
    store: Store,
    known: Known | None = None,
    alike: bool = True,
) -> list[tuple[object, ...]]:
    texts = {c.id: c.text for side in (first, second) for c in side.claims}
    matches = align(first, second, Near(alike), CachedVerifier(Told(known or {}), store))
    return [
        (m.agreement, [texts[i] for i in m.first], [texts[i] for i in m.second]) for m in matches
    ]


BUILT, BUILT_BY = "The tower was built in 1889.", "Eiffel's company built the tower in 1889."
PAINTED, OLD = "The tower was painted green.", "The tower is painted grey."


@pytest.mark.parametrize("pair", [(BUILT, BUILT_BY), (BUILT_BY, BUILT)])
def test_one_that_entails_the_other_agrees_with_it(pair: tuple[str, str], store: Store) -> None:
    found = aligned(report(BUILT_BY), report(BUILT), store, {pair: (0.9, 0.0)})
    assert found == [("same", [BUILT_BY], [BUILT])]


def test_claims_whose_values_differ_do_not_agree_whatever_the_verifier_says(store: Store) -> None:
    one, other = (
        "The old city had 120,000 inhabitants in 1990.",
        "It had 150,000 inhabitants in 2010.",
    )
    known: Known = {(one, other): (0.9, 0.0), (other, one): (0.9, 0.0)}
    assert aligned(report(one), report(other), store, known) == []


def test_claims_of_one_topic_that_share_no_words_do_not_agree_whatever_the_verifier_says(
    store: Store,
) -> None:
    other = "Visitors admire its iron."
    known: Known = {(other, BUILT): (0.9, 0.0), (BUILT, other): (0.9, 0.0)}
    assert aligned(report(BUILT), report(other), store, known) == []


@pytest.mark.parametrize("pair", [(PAINTED, OLD), (OLD, PAINTED)])
def test_a_claim_that_denies_the_nearest_of_the_other_answer_contradicts_it(
    pair: tuple[str, str], store: Store
) -> None:
    iron = "Visitors admire its iron."
    found = aligned(report(PAINTED), report(iron, OLD), store, {pair: (0.0, 0.9)})
    assert found == [("contradiction", [PAINTED], [OLD])]
    assert not aligned(report(PAINTED), report(iron, OLD), store, {pair: (0.0, 0.9)}, alike=False)


VALUES = {
    "under other headings": ("Current forecast: €486 million", "The forecast is €468 million.", 1),
    "a date": (BUILT, "The tower was built in 1899.", 1),
    "another attribute": (BUILT, "The tower was repainted in 1910.", 0),
    "in a clause of its own": (
        "Revenue was €412,300, and fares did not change.",
        "Revenue was €398,000, and the ferry was in the yard for eleven weeks.",
        1,
    ),
    "of another year": (
        "The city had 120,000 inhabitants in 1990.",
        "The city had 150,000 inhabitants in 2010.",
        0,
    ),
    "of another thing": ("The north tower has 54 floors.", "The south tower has 48 floors.", 0),
    "the same": ("It cost €5 million.", "It cost 5 million euros.", 0),
}


@pytest.mark.parametrize(("first", "second", "count"), VALUES.values(), ids=VALUES)
def test_two_values_of_one_attribute_contradict_each_other(
    settings: Settings, store: Store, first: str, second: str, count: int
) -> None:
    verifier = CachedVerifier(VERIFIERS.chosen(settings), store)
    found = align(report(first), report(second), Near(), verifier)
    assert [m.agreement for m in found if m.agreement != "same"] == ["contradiction"] * count


def test_a_name_that_fits_the_other_claim_and_excludes_its_own_is_a_contradiction(
    store: Store,
) -> None:
    one, other, changed = "The head is Lars Eide.", "Ann Holm leads it.", "The head is Ann Holm."
    known: Known = {(changed, other): (0.9, 0.0), (one, changed): (0.0, 0.9)}
    assert aligned(report(one), report(other), store, known) == [("contradiction", [one], [other])]


CAUSES = {
    "passive and active": (
        "The landslide was set off by heavy rain.",
        "An earthquake caused the landslide.",
        ["differs"],
    ),
    "two clauses": (
        "The project is two years late because the rock was softer than expected.",
        "A dispute over land purchases has led to the delay of two years.",
        ["differs"],
    ),
    "the same in other words": (
        "The flight was cancelled because of fog.",
        "Poor visibility led to the cancellation of the flight.",
        [],
    ),
    "of something else": (
        "Sales fell because of the cold spring.",
        "Profit fell because of higher wages.",
        [],
    ),
}


@pytest.mark.parametrize(("first", "second", "expected"), CAUSES.values(), ids=CAUSES)
def test_two_causes_of_one_event_differ(
    settings: Settings, store: Store, first: str, second: str, expected: list[str]
) -> None:
    verifier = CachedVerifier(VERIFIERS.chosen(settings), store)
    for one, other in ((first, second), (second, first)):
        found = align(report(one), report(other), Near(), verifier)
        assert [match.agreement for match in found] == expected


def test_a_claim_that_two_others_make_together_is_one_match(store: Store) -> None:
    whole, one, two = "The tower is tall and old.", "The tower is tall.", "The tower is old."
    known: Known = {(part, whole): (0.9, 0.0) for part in (one, two)}
    found = aligned(report(whole), report(one, two), store, known)
    assert found == [("same", [whole], [one, two])]


def test_opinions_and_claims_that_the_verifier_refuses_are_left_out(store: Store) -> None:
    known: Known = {(BUILT, BUILT): (0.9, 0.0)}
    opinion = claim("It is lovely.", "opinion")
    found = aligned(report(BUILT, "This is too long."), report(BUILT, opinion), store, known)
    assert found == [("same", [BUILT], [BUILT])]
    assert aligned(report(opinion), report(BUILT), store, known) == []
    assert aligned(report(), report(), store, known) == []


def test_four_in_five_disagreements_of_hand_made_pairs_are_real(
    settings: Settings, store: Store
) -> None:
    lines = Path(__file__).with_name("pairs.jsonl").read_text("utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    verifier = CachedVerifier(VERIFIERS.chosen(settings), store)
    embedder = EMBEDDERS.chosen(settings)
    shown = []
    for row in rows:
        found = align(report(row["first"]), report(row["second"]), embedder, verifier)
        if any(match.agreement == "contradiction" for match in found):
            shown.append(row["disagree"])
    assert sum(row["disagree"] for row in rows) == 28
    assert sum(shown) >= 0.8 * len(shown)
    assert sum(shown) >= 21


QUESTION = "What is special about the Golden Gate Bridge?"
SAME = "The Golden Gate Bridge cost about 35 million dollars."
FIRST = f"{SAME} The main span of the Golden Gate Bridge measures 1,280 metres. I like it."
SECOND = (
    f"The main span of the Golden Gate Bridge measures 1,820 metres. {SAME} Ten men died in 1937."
)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> TwoAnswers:
    url = f"sqlite:///{tmp_path_factory.mktemp('answers')}/attribution.sqlite3"
    settings = Settings(database_url=url, verifier="embedded-small")
    return compare_answers(QUESTION, FIRST, SECOND, settings, Store.open(url))


def test_both_answers_are_checked_against_the_same_pages(made: TwoAnswers) -> None:
    assert made.first.pages == made.second.pages
    assert (made.first.answer, made.second.answer) == (FIRST, SECOND)
    for checked in (made.first, made.second):
        assert {v.claim_id for v in checked.verdicts} == {c.id for c in checked.claims}


def test_what_both_say_where_they_disagree_and_what_only_one_says(made: TwoAnswers) -> None:
    texts = {c.id: c.text for c in (*made.first.claims, *made.second.claims)}
    (against,) = made.disagreements
    assert "1,280" in texts[against.first[0]]
    assert "1,820" in texts[against.second[0]]
    assert [[texts[i] for i in match.first] for match in made.agreements] == [[SAME]]
    assert [c.text for c in made.alone("second")] == ["Ten men died in 1937."]
    assert not made.alone("first")


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("supported", "contradicted", "first"),
        ("unclear", "supported", "second"),
        ("supported", "supported", "both"),
        ("contradicted", "missing", "neither"),
        ("supported", "not_reached", None),
    ],
)
def test_the_sources_support_a_side(
    made: TwoAnswers, first: str, second: str, expected: str | None
) -> None:
    (match,) = made.disagreements
    sides = []
    for claim_id, label in ((match.first[0], first), (match.second[0], second)):
        verdict = Verdict.model_validate(
            {"claim_id": claim_id, "label": label, "confidence": 0.9, "reason": ""}
        )
        if label == "supported":  # by the analyst, against the model
            verdict = verdict.model_copy(update={"label": "contradicted", "assessment": label})
        sides.append(made_report(claims=(claim(id=claim_id),), verdicts=(verdict,)))
    result = TwoAnswers(sides[0], sides[1], (match,))
    assert result.supported(match) == expected
    matches: Any = json_data(result)["matches"]
    assert matches[0]["supported"] == expected
