import json
import threading

import pytest

from attribution.settings import Settings
from attribution.store.store import Store
from attribution.studies.annotation.exchange import error_types, labelled_set, put_error_type
from attribution.studies.annotation.models import TaskVerdict, against, saved, verify
from attribution.studies.annotation.records import Answer
from attribution.studies.annotation.tasks import (
    Task,
    TaskTurn,
    explicature,
    make_task,
    parse_tasks,
    tasks_of_run,
)
from attribution.types import Report
from tests.make import claim, evidence, page

SOURCE = "The Eiffel Tower was finished in 1889. It stands in Paris."


def a_task(answer: str, unit: str = "claim", source: str = SOURCE) -> Task:
    return make_task(
        "p",
        answer,
        source,
        [TaskTurn(speaker="user", text="When was the Eiffel Tower finished?")],
        unit=unit,
    )


def test_a_verifier_reads_each_task_once_and_stops(store: Store, settings: Settings) -> None:
    tasks = [
        a_task("The Eiffel Tower was finished in 1889."),
        a_task("The Eiffel Tower stands in Paris. Its architect was born in Peru.", "answer"),
        a_task("What would you like to know?", "answer"),
    ]
    first, second, third = verify(tasks, settings, store)
    assert (
        first.grounded
        and not second.grounded
        and "Peru" in second.reason
        and third.label == "not_checked"
    )
    ((name, verdicts),) = saved(store, [task.id for task in tasks]).items()
    assert (
        name.startswith("embedded-small ")
        and {v.task_id: v for v in verdicts}[first.task_id] == first
    )
    with store.database.engine.begin() as db:  # what is saved is not computed again
        db.exec_driver_sql("UPDATE annotation_verdicts SET reason = 'kept'")
    assert [v.reason for v in verify(tasks, settings, store)] == ["kept"] * 3
    stop = threading.Event()
    stop.set()
    assert list(verify(tasks, settings, store, stop)) == [] and saved(store, []) == {}


def test_a_task_is_verified_within_its_conversation(store: Store, settings: Settings) -> None:
    turns = [
        TaskTurn(speaker="user", text="What is the Eiffel Tower?"),
        TaskTurn(speaker="system", text="It is in Paris."),
        TaskTurn(speaker="user", text="When was it built?"),
    ]
    source = "The Eiffel Tower was finished in 1889. The Golden Gate Bridge was finished in 1937."
    claim_, answer = (
        make_task("p", "It was finished in 1889.", source, turns, unit=u)
        for u in ("claim", "answer")
    )
    assert explicature(claim_) == explicature(answer) == "The Eiffel Tower was finished in 1889."
    assert [verdict.grounded for verdict in verify([claim_, answer], settings, store)] == [
        True,
        True,
    ]


def test_supported_is_held_against_attributable() -> None:
    verdicts = [
        TaskVerdict(str(n), label, 0.9, "")
        for n, label in enumerate(
            ["supported", "supported", "contradicted", "unclear", "supported"]
        )
    ]
    said: tuple[Answer | None, ...] = (
        "attributable",
        "not_attributable",
        "not_attributable",
        "attributable",
        None,
    )
    found = against("v", verdicts, {str(n): answer for n, answer in enumerate(said)})
    assert (found.equal, found.differing) == (("0", "2"), ("1", "3"))
    assert (found.precision, found.recall) == (0.5, 0.5) and found.alpha == pytest.approx(
        1 - 7 * 16 / 8 / 16
    )
    assert found.cells["attributable", "unclear"] == ("3",)
    assert against("v", verdicts[4:], {}).precision is None


def test_what_people_decided_is_a_labelled_set_that_can_be_read_again() -> None:
    made = [a_task("It was finished in 1889."), a_task("It was finished in 1900."), a_task("Hm.")]
    answers: dict[str, Answer | None] = dict(
        zip((t.id for t in made), ("attributable", "not_attributable", "flagged"), strict=True)
    )
    text = labelled_set(
        {t.id: t for t in made}, answers, {made[0].id: "x", made[1].id: "misattribution"}
    )
    rows = {row["response"]: row for row in map(json.loads, text.splitlines())}
    assert {response: row["grounded"] for response, row in rows.items()} == {
        "It was finished in 1889.": True,
        "It was finished in 1900.": False,
    }
    assert rows["It was finished in 1889."]["context"] == SOURCE
    assert rows["It was finished in 1889."]["question"] == "When was the Eiffel Tower finished?"
    assert [row.get("error_type") for row in rows.values()].count("misattribution") == 1
    assert "error_type" not in rows["It was finished in 1889."]
    again, problems = parse_tasks(text.encode(), "q")
    assert problems == [] and {task.source for task in again} == {SOURCE}


def test_types_of_errors_are_kept_until_they_are_taken_away(store: Store) -> None:
    put_error_type(store, "p", "t1", "misattribution")
    put_error_type(store, "p", "t2", "reasoning_error")
    put_error_type(store, "p", "t1", "")
    assert error_types(store, "p") == {"t2": "reasoning_error"} and error_types(store, "q") == {}


def test_tasks_of_a_run_by_claim_sentence_and_answer() -> None:
    answer = "It was finished in 1889 and stands in Paris. It is big."
    first, second, alone = (
        claim("It was finished in 1889."),
        claim("It stands in Paris."),
        claim("It is big."),
    )
    sentence = (0, answer.index(". ") + 1)
    first, second = (c.model_copy(update={"sentence": sentence}) for c in (first, second))
    pages = (
        page(SOURCE, title="Tower"),
        page("Paris lies on the Seine.", url="https://example.org/b", title="Paris"),
    )
    found = [
        evidence(c, 0.9, 0, "entailed", page_id=p.id)
        for c, p in zip((first, second), pages, strict=True)
    ]
    report = Report(
        id="0123456789abcdef",
        created_at="2026-11-01T00:00:00+00:00",
        question="When?",
        answer=answer,
        settings={},
        versions={},
        claims=(first, second, alone),
        pages=pages,
        evidence=tuple(found),
    )
    claims = list(tasks_of_run(report, "p", "claim", "model A"))
    assert [(t.answer, t.source, t.system) for t in claims] == [
        (first.text, SOURCE, "model A"),
        (second.text, "Paris lies on the Seine.", "model A"),
    ]
    assert [turn.text for turn in claims[0].turns] == ["When?", answer] and claims[
        0
    ].time == "2026-11-01"
    (whole,) = tasks_of_run(report, "p", "sentence")
    assert whole.answer == "It was finished in 1889 and stands in Paris."
    assert (
        SOURCE in whole.source
        and "Paris lies on the Seine." in whole.source
        and whole.title == "Tower; Paris"
    )
    (whole,) = tasks_of_run(report, "p", "answer")
    assert whole.answer == answer and [turn.text for turn in whole.turns] == ["When?"]


def test_an_explicature_is_proposed_where_it_is_certain() -> None:
    assert explicature(a_task("It was finished in 1889. He was born.")) == (
        "The Eiffel Tower was finished in 1889. He was born."
    )
    assert explicature(a_task("Nothing to say.")) == "Nothing to say."
