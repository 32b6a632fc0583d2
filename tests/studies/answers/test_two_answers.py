import json
import shutil
import threading
from pathlib import Path

import pytest

from attribution import events
from attribution.cli.main import main
from attribution.errors import BadInput
from attribution.policy import DecisionPolicy
from attribution.settings import Settings
from attribution.store.runs import new_run_id
from attribution.store.store import Store
from attribution.studies.answers.two_answers import (
    ANSWERS,
    TwoAnswers,
    TwoAnswersReady,
    compare_answers,
    json_data,
    load_answers,
    recolour_answers,
    save_answers,
)
from attribution.types import Turn
from tests.make import both

QUESTION = "What is special about the Golden Gate Bridge?"
SAME = "The Golden Gate Bridge cost about 35 million dollars."
FIRST = f"{SAME} The main span of the Golden Gate Bridge measures 1,280 metres. I like it."
SECOND = f"The main span of the Golden Gate Bridge measures 1,820 metres. {SAME} Ten men were killed in 1937."


@pytest.fixture(scope="module")
def made(
    tmp_path_factory: pytest.TempPathFactory, warm_database: Path
) -> tuple[TwoAnswers, list[object]]:
    url = f"sqlite:///{shutil.copy(warm_database, tmp_path_factory.mktemp('answers'))}"
    settings = Settings(database_url=url, verifier="embedded-small")
    seen = list(compare_answers(QUESTION, FIRST, SECOND, settings, Store.open(url)))
    last = seen[-1]
    assert isinstance(last, TwoAnswersReady) and last.finished
    return last.result, list(seen)


def test_both_answers_are_held_against_the_same_pages_and_keep_their_own_text(
    made: tuple[TwoAnswers, list[object]],
) -> None:
    result, seen = made
    pages = [e.page.id for e in seen if isinstance(e, events.PageReady)]
    assert pages and len(pages) == len(set(pages))
    assert result.first.pages == result.second.pages == result.report.pages
    for report, answer in ((result.first, FIRST), (result.second, SECOND)):
        assert report.answer == answer and len(report.claims) == 3
        for claim in report.claims:
            assert (
                all(answer[a:b] in claim.text for a, b in claim.spans)
                and answer[slice(*claim.sentence or ())]
            )
        assert {v.claim_id for v in report.verdicts} == {c.id for c in report.claims}
        assert {e.claim_id for e in report.evidence} <= {c.id for c in report.claims}
    ids = [c.id for report in (result.first, result.second) for c in report.claims]
    assert len(ids) == len(set(ids))  # also of what both say in the same words
    assert (
        len(
            {e.page_id for e in result.first.evidence} & {e.page_id for e in result.second.evidence}
        )
        > 0
    )


def test_both_answers_follow_one_conversation(settings: Settings, store: Store) -> None:
    context: tuple[Turn, ...] = (
        ("user", "What is the Eiffel Tower?"),
        ("assistant", "The Eiffel Tower is in Paris."),
    )
    first, second = "It was finished in 1889.", "It was finished in 1899."
    *_, last = compare_answers(
        "When was it built?", first, second, settings, store, context=context
    )
    assert isinstance(last, TwoAnswersReady)
    for report, answer in ((last.result.first, first), (last.result.second, second)):
        assert [c.statement for c in report.claims] == [answer.replace("It", "The Eiffel Tower")]
        assert report.context == context


def test_what_both_say_where_they_disagree_and_what_only_one_says(
    made: tuple[TwoAnswers, list[object]],
) -> None:
    result, _ = made
    texts = {c.id: c.text for c in result.report.claims}
    (against,) = result.contradictions
    assert (against.differs, texts[against.first[0]][-13:]) == (
        (("1,280",), ("1,820",)),
        "1,280 metres.",
    )
    assert [(m.agreement, [texts[i] for i in m.first]) for m in result.agreements] == [
        ("same", [SAME])
    ]
    assert [c.text for c in result.alone("second")] == [
        "Ten men were killed in 1937."
    ] and not result.alone("first")
    labels = {v.claim_id: v.label for v in result.report.verdicts}
    sides = {
        (True, True): "both",
        (True, False): "first",
        (False, True): "second",
        (False, False): "neither",
    }
    backing = labels[against.first[0]] == "supported", labels[against.second[0]] == "supported"
    assert result.supported(against) == sides[backing] and result.decided(against)


def test_the_matches_are_known_before_any_verdict(made: tuple[TwoAnswers, list[object]]) -> None:
    result, seen = made
    first = next(e for e in seen if isinstance(e, TwoAnswersReady))
    assert (
        first.result.matches == result.matches
        and not first.finished
        and not first.result.report.verdicts
    )
    kinds = [type(e) for e in seen]
    assert kinds.index(TwoAnswersReady) < kinds.index(events.VerdictReady)
    assert not first.result.decided(first.result.contradictions[0])


def test_stopped_it_keeps_the_claims_and_their_matches(
    settings: Settings, warm_library: None
) -> None:
    stop, last = threading.Event(), None
    for last in compare_answers(
        QUESTION * 9, FIRST, SECOND, settings, stop=stop
    ):  # longer than both answers
        if isinstance(last, TwoAnswersReady):
            stop.set()
    assert isinstance(last, TwoAnswersReady) and last.finished and last.result.report.stopped
    assert len(last.result.contradictions) == 1 and not last.result.decided(
        last.result.contradictions[0]
    )
    assert json_data(last.result)["matches"][0]["supported"] is None


def test_thresholds_recolour_it_and_it_comes_back_from_the_store(
    made: tuple[TwoAnswers, list[object]], store: Store
) -> None:
    result, _ = made
    strict = recolour_answers(result, both(0.99))
    assert strict.first.settings["threshold"] == 0.99 and strict.matches == result.matches
    assert recolour_answers(result, DecisionPolicy.of(result.report.settings)) is result
    result_id = new_run_id()
    assert load_answers(store, result_id) is None
    save_answers(store, result_id, result)
    assert load_answers(store, result_id) == result
    again = ANSWERS.load(store, result_id)
    assert again and again.matches == result.matches and not any(p.text for p in again.report.pages)


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        (" ", SECOND, "Of the first answer: .*empty"),
        (FIRST, "", "Of the second answer"),
        (FIRST, f"{FIRST}\n", "same"),
    ],
)
def test_an_empty_answer_or_twice_the_same_is_refused(
    first: str, second: str, message: str, settings: Settings
) -> None:
    with pytest.raises(BadInput, match=message):
        next(compare_answers(QUESTION, first, second, settings))


def test_the_command_writes_a_line_a_pair_and_a_bad_row_costs_itself(
    tmp_path: Path, warm_library: None
) -> None:
    rows = [
        {"question": QUESTION, "first": FIRST, "second": SECOND, "id": 7},
        {"first": FIRST, "second": FIRST},
        {},
    ]
    given, out = tmp_path / "in.jsonl", tmp_path / "answers.jsonl"
    given.write_text("".join(json.dumps(row) + "\n" for row in rows))
    command = [
        "compare",
        "--input",
        str(given),
        "--out",
        str(tmp_path),
        "--verifier",
        "embedded-small",
    ]
    assert main(command) == 1
    done, same, empty = map(json.loads, out.read_text().splitlines())
    assert done["id"] == 7 and done["result"]["matches"][0]["agreement"] == "contradiction"
    assert (
        done["result"]["counts"]["first"]["checked"] == 2
        and len(done["result"]["only_second"]) == 1
    )
    assert (
        "same text" in same["error"]
        and same["line"] == 2
        and '"first" is missing' in empty["error"]
    )
