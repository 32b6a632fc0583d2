import shutil
from pathlib import Path
from typing import Any

import pytest

from attribution.errors import BadInput
from attribution.settings import Settings
from attribution.store.store import Store
from attribution.studies.answers.two_answers import (
    TwoAnswers,
    compare_answers,
    compare_reports,
    json_data,
)
from attribution.types import Turn, Verdict
from tests.make import claim, report

QUESTION = "What is special about the Golden Gate Bridge?"
SAME = "The Golden Gate Bridge cost about 35 million dollars."
FIRST = f"{SAME} The main span of the Golden Gate Bridge measures 1,280 metres. I like it."
SECOND = (
    f"The main span of the Golden Gate Bridge measures 1,820 metres. {SAME} Ten men died in 1937."
)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory, warm_database: Path) -> TwoAnswers:
    url = f"sqlite:///{shutil.copy(warm_database, tmp_path_factory.mktemp('answers'))}"
    settings = Settings(database_url=url, verifier="embedded-small")
    return compare_answers(QUESTION, FIRST, SECOND, settings, Store.open(url))


def test_both_answers_are_checked_against_the_same_pages(made: TwoAnswers) -> None:
    assert made.first.pages == made.second.pages
    assert (made.first.answer, made.second.answer) == (FIRST, SECOND)
    for checked in (made.first, made.second):
        assert {v.claim_id for v in checked.verdicts} == {c.id for c in checked.claims}


def test_what_both_say_where_they_disagree_and_what_only_one_says(made: TwoAnswers) -> None:
    texts = {c.id: c.text for c in (*made.first.claims, *made.second.claims)}
    (against,) = made.contradictions
    assert "1,280" in texts[against.first[0]]
    assert "1,820" in texts[against.second[0]]
    assert [[texts[i] for i in match.first] for match in made.agreements] == [[SAME]]
    assert [c.text for c in made.alone("second")] == ["Ten men died in 1937."]
    assert not made.alone("first")


def test_two_runs_are_compared_as_they_are_saved(
    made: TwoAnswers, settings: Settings, store: Store
) -> None:
    again = compare_reports(made.first, made.second, settings, store)
    assert again.matches == made.matches


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
    (match,) = made.contradictions
    sides = []
    for claim_id, label in ((match.first[0], first), (match.second[0], second)):
        verdict = Verdict.model_validate(
            {"claim_id": claim_id, "label": label, "confidence": 0.9, "reason": ""}
        )
        sides.append(report(claims=(claim(id=claim_id),), verdicts=(verdict,)))
    result = TwoAnswers(sides[0], sides[1], (match,))
    assert result.supported(match) == expected
    matches: Any = json_data(result)["matches"]
    assert matches[0]["supported"] == expected


def test_both_answers_follow_one_conversation(settings: Settings, store: Store) -> None:
    context: tuple[Turn, ...] = (
        ("user", "What is the Eiffel Tower?"),
        ("assistant", "The Eiffel Tower is in Paris."),
    )
    first, second = "It was finished in 1889.", "It was finished in 1899."
    result = compare_answers("When was it built?", first, second, settings, store, context)
    for checked, answer in ((result.first, first), (result.second, second)):
        assert [c.statement for c in checked.claims] == [answer.replace("It", "The Eiffel Tower")]
        assert checked.context == context


def test_a_pair_with_an_empty_answer_is_refused(settings: Settings, store: Store) -> None:
    with pytest.raises(BadInput, match="empty"):
        compare_answers(QUESTION, " ", SECOND, settings, store)
