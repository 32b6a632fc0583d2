"""What the server does with what the browser says: stages, flags, undo, and nothing that was not asked for."""

from __future__ import annotations

import json
from typing import Any

import pytest

from attribution.reports.html import safe_url
from attribution.store.store import Store
from attribution.studies.annotation.project import Annotations
from attribution.studies.annotation.records import finished
from attribution.studies.annotation.tasks import Project
from pages.ui.annotate.acts import Outcome, Seat, last_record, next_task, perform
from pages.ui.annotate.task import view
from tests.studies.annotation.made import CONTENT, filled, say

ANN = Seat("ann", "annotation")


class Desk:
    """One annotator at work, without a browser."""

    def __init__(self, kept: Annotations, project: Project, seat: Seat = ANN) -> None:
        self.kept, self.project, self.seat = kept, project, seat
        self.at: str | None = None

    @property
    def queue(self) -> list[str]:
        return self.seat.queue(self.kept, self.kept.work(self.project))

    @property
    def shown(self) -> str | None:
        return next_task(self.queue, self.kept.work(self.project).done(self.seat.name, self.seat.role), self.at)

    @property
    def data(self) -> dict[str, Any]:
        work, shown = self.kept.work(self.project), self.shown
        assert shown
        task, last = self.kept.task(shown), last_record(self.kept, self.project.id, self.seat, shown)
        assert task
        return view(self.project, work.stage, task, self.seat.name, self.seat.role, last, place="")

    def act(self, kind: str = "answer", **said: Any) -> Outcome:
        act = {"kind": kind, "justification": "", "explicature": "", "seconds": 2.5}
        if self.shown:
            act |= {name: self.data[name] for name in ("key", "follows")}
        outcome = perform(
            self.kept, self.kept.work(self.project), self.seat, self.queue, self.shown, {**act, **said}
        )  # fmt: skip
        self.at = outcome.task
        return outcome


@pytest.fixture
def desk(store: Store) -> Desk:
    kept = Annotations(store)
    return Desk(kept, filled(kept, 3))


def test_the_source_is_sent_after_the_first_question_only(desk: Desk) -> None:
    assert desk.shown
    source = desk.kept.task(desk.shown).source  # type: ignore[union-attr]
    assert source and desk.data["source"] is None and source not in json.dumps(desk.data)
    first = desk.shown
    desk.act(attributable=True)  # the second question cannot be answered unasked
    assert desk.kept.judgements(desk.project.id) == [] and desk.data["stage"] == 1
    desk.act(interpretable=True)
    assert desk.shown == first and desk.data["stage"] == 2 and source in json.dumps(desk.data)
    desk.act(attributable=False, seconds=4)
    assert desk.shown != first and desk.data["source"] is None
    (done,) = finished(desk.kept.judgements(desk.project.id))
    assert done.content.answer == "not_attributable" and done.content.seconds == (2.5, 4.0)
    desk.act("undo")
    assert desk.shown == first and desk.data["stage"] == 2
    desk.act("undo")
    assert desk.data["stage"] == 1 and desk.data["source"] is None
    assert desk.act("undo").notice == "There is nothing to undo."


def test_an_answer_that_comes_again_counts_once_and_moves_nothing(desk: Desk) -> None:
    first = {"kind": "answer", "key": desk.data["key"], "follows": "", "interpretable": True, "seconds": 3}
    for again in (0, 1):
        assert desk.act(**first, again=again).notice == ""
    desk.act(attributable=True)
    there = desk.shown
    assert desk.act(**first).notice == "" and desk.shown == there
    assert [j.content.answer for j in desk.kept.judgements(desk.project.id)] == [None, "attributable"]
    assert "another window" in desk.act(**{**first, "interpretable": False}).notice


def test_a_flag_removes_the_task_from_one_queue_only(desk: Desk) -> None:
    first = desk.shown
    desk.act(flags=["corrupted", "expert"])
    assert desk.shown != first and first in Desk(desk.kept, desk.project, Seat("bob", "annotation")).queue
    assert desk.kept.work(desk.project).done("ann") == {first} and not desk.kept.work(desk.project).done("bob")


def test_the_pilot_needs_a_justification(store: Store) -> None:
    kept = Annotations(store)
    desk = Desk(kept, filled(kept, 3, pilot=1))
    assert len(desk.queue) == 1 and desk.data["required"]
    assert "needs a justification" in desk.act(interpretable=False).notice and not kept.judgements(desk.project.id)
    desk.act(interpretable=False, justification="Who is he?")
    assert len(finished(kept.judgements(desk.project.id))) == 1 and desk.shown is None
    kept.begin_stage(desk.project.id, "production")
    assert len(desk.queue) == 2 and not desk.data["required"]


def test_going_back_and_answering_again_keeps_both_answers(desk: Desk) -> None:
    first = desk.shown
    desk.act(interpretable=False)
    desk.act("go", to=-1)
    assert desk.shown == first and desk.data["said"] == "You said: not interpretable."
    desk.act(interpretable=True)
    desk.act(attributable=True)
    assert [j.content.answer for j in desk.kept.judgements(desk.project.id)] == [
        "not_interpretable",
        None,
        "attributable",
    ]
    assert len(finished(desk.kept.judgements(desk.project.id))) == 1


@pytest.mark.parametrize(
    "act",
    [None, 7, {}, {"kind": "x"}, {"kind": "go", "to": 5}, {"kind": "answer"},
     {"kind": "answer", "key": "annotation/ann/x"},
     {"kind": "answer", "flags": ["x"]}, {"kind": "answer", "interpretable": True, "seconds": "x"},
     {"kind": "answer", "interpretable": True, "justification": "x" * 30_000}],
)  # fmt: skip
def test_nothing_else_is_saved(desk: Desk, act: Any) -> None:
    work = desk.kept.work(desk.project)
    if isinstance(act, dict) and act.get("kind") == "answer" and len(act) > 2 - ("key" in act):
        act = {**act, **{name: desk.data[name] for name in ("key", "follows") if name not in act}}
    perform(desk.kept, work, ANN, desk.queue, desk.shown, act)
    assert desk.kept.judgements(desk.project.id) == []


def test_leads_adjudicate_disagreements_and_audit_a_sample(store: Store) -> None:
    kept = Annotations(store)
    project = filled(kept, 4, audit=1.0)
    kept.add_members(project.id, ["lea"], lead=True)
    tasks = kept.task_ids(project.id)
    for name, answers in (("ann", ("attributable",) * 2), ("bob", ("attributable", "not_attributable"))):
        for task, answer in zip(tasks, answers, strict=False):
            say(kept, project, task, name, CONTENT[answer])  # type: ignore[index]
    judge = Desk(kept, project, Seat("lea", "adjudication"))
    assert judge.queue == [tasks[1]]
    judge.act(interpretable=True)
    judge.act(attributable=True)
    assert judge.shown is None and set(Desk(kept, project, Seat("lea", "audit")).queue) == set(tasks[:2])
    assert {j.role for j in kept.judgements(project.id, "lea")} == {"adjudication"}


def test_addresses_of_sources_are_web_addresses(desk: Desk) -> None:
    desk.act(interpretable=True)
    assert desk.data["source"]["link"] is None and safe_url("javascript:x") is None
