import json
from typing import Any

import pytest

from attribution.reports.html import html
from attribution.store.store import Store
from attribution.studies.annotation.project import Annotations
from attribution.studies.annotation.records import finished
from attribution.studies.annotation.tasks import Form, Project
from pages.ui.research.acts import Annotator, NextTask, last_record, next_task, perform, view
from pages.ui.research.manage import guidelines
from tests.studies.annotation.made import CONTENT, filled, say

ANN = Annotator("ann", "annotation")


class Session:
    """One annotator at work, without a browser."""

    def __init__(self, saved: Annotations, project: Project, annotator: Annotator = ANN) -> None:
        self.saved, self.project, self.annotator = saved, project, annotator
        self.at: str | None = None

    @property
    def queue(self) -> list[str]:
        return self.annotator.queue(self.saved, self.saved.work(self.project))

    @property
    def shown(self) -> str | None:
        return next_task(
            self.queue,
            self.saved.work(self.project).done(self.annotator.name, self.annotator.role),
            self.at,
        )

    @property
    def data(self) -> dict[str, Any]:
        work, shown = self.saved.work(self.project), self.shown
        assert shown
        task, last = (
            self.saved.task(shown),
            last_record(self.saved, self.project.id, self.annotator, shown),
        )
        assert task
        return view(self.project, work.stage, task, self.annotator, last, place="")

    def act(self, kind: str = "answer", **said: Any) -> NextTask:
        act = {"kind": kind, "justification": "", "explicature": "", "seconds": 2.5}
        if self.shown:
            act |= {name: self.data[name] for name in ("key", "follows")}
        outcome = perform(
            self.saved,
            self.saved.work(self.project),
            self.annotator,
            self.queue,
            self.shown,
            {**act, **said},
        )
        self.at = outcome.task
        return outcome


@pytest.fixture
def own(store: Store) -> Session:
    saved = Annotations(store.database)
    return Session(saved, filled(saved, 3))


def test_the_source_is_sent_after_the_first_question_only(own: Session) -> None:
    assert own.shown
    source = own.saved.task(own.shown).source
    assert source
    assert own.data["source"] is None
    assert source not in json.dumps(own.data)
    first = own.shown
    own.act(attributable=True)  # the second question cannot be answered unasked
    assert own.saved.judgements(own.project.id) == []
    assert own.data["stage"] == 1
    own.act(interpretable=True)
    assert own.shown == first
    assert own.data["stage"] == 2
    assert source in json.dumps(own.data)
    own.act(attributable=False, seconds=4)
    assert own.shown != first
    assert own.data["source"] is None
    (done,) = finished(own.saved.judgements(own.project.id))
    assert done.content.answer == "not_attributable"
    assert done.content.seconds == (2.5, 4.0)
    own.act("undo")
    assert own.shown == first
    assert own.data["stage"] == 2
    own.act("undo")
    assert own.data["stage"] == 1
    assert own.data["source"] is None
    assert own.act("undo").notice == "There is nothing to undo."


def test_an_answer_that_comes_again_counts_once_and_moves_nothing(own: Session) -> None:
    first = {
        "kind": "answer",
        "key": own.data["key"],
        "follows": "",
        "interpretable": True,
        "seconds": 3,
    }
    for again in (0, 1):
        assert own.act(**first, again=again).notice == ""
    own.act(attributable=True)
    there = own.shown
    assert own.act(**first).notice == ""
    assert own.shown == there
    assert [j.content.answer for j in own.saved.judgements(own.project.id)] == [
        None,
        "attributable",
    ]
    assert "another window" in own.act(**{**first, "interpretable": False}).notice


def test_a_flag_removes_the_task_from_one_queue_only(own: Session) -> None:
    first = own.shown
    own.act(flags=["malformed", "expert"])
    assert own.shown != first
    assert first in Session(own.saved, own.project, Annotator("bob", "annotation")).queue
    assert own.saved.work(own.project).done("ann") == {first}
    assert not own.saved.work(own.project).done("bob")


def test_the_pilot_needs_a_justification(store: Store) -> None:
    saved = Annotations(store.database)
    own = Session(saved, filled(saved, 3, pilot=1))
    assert len(own.queue) == 1
    assert own.data["required"]
    assert "needs a justification" in own.act(interpretable=False).notice
    assert not saved.judgements(own.project.id)
    own.act(interpretable=False, justification="Who is he?")
    assert len(finished(saved.judgements(own.project.id))) == 1
    assert own.shown is None
    saved.begin_stage(own.project.id, "production")
    assert len(own.queue) == 2
    assert not own.data["required"]


@pytest.mark.parametrize(
    "act",
    [
        None,
        7,
        {},
        {"kind": "x"},
        {"kind": "go", "to": 5},
        {"kind": "answer"},
        {"kind": "answer", "key": "annotation/ann/x"},
        {"kind": "answer", "flags": ["x"]},
        {"kind": "answer", "interpretable": True, "seconds": "x"},
        {"kind": "answer", "interpretable": True, "justification": "x" * 30_000},
    ],
)
def test_nothing_else_is_saved(own: Session, act: Any) -> None:
    work = own.saved.work(own.project)
    if isinstance(act, dict) and act.get("kind") == "answer" and len(act) > 2 - ("key" in act):
        act = {**act, **{name: own.data[name] for name in ("key", "follows") if name not in act}}
    perform(own.saved, work, ANN, own.queue, own.shown, act)
    assert own.saved.judgements(own.project.id) == []


def test_leads_adjudicate_disagreements_and_audit_a_sample(store: Store) -> None:
    saved = Annotations(store.database)
    project = filled(saved, 4, audit=1.0)
    saved.add_members(project.id, ["lea"], lead=True)
    tasks = saved.task_ids(project.id)
    for name, answers in (
        ("ann", ("attributable",) * 2),
        ("bob", ("attributable", "not_attributable")),
    ):
        for task, answer in zip(tasks, answers, strict=False):
            say(saved, project, task, name, CONTENT[answer])
    judge = Session(saved, project, Annotator("lea", "adjudication"))
    assert judge.queue == [tasks[1]]
    judge.act(interpretable=True)
    judge.act(attributable=True)
    assert judge.shown is None
    assert set(Session(saved, project, Annotator("lea", "audit")).queue) == set(tasks[:2])
    assert {j.role for j in saved.judgements(project.id, "lea")} == {"adjudication"}


@pytest.mark.parametrize(("form", "count"), [("qa", 4), ("summary", 3)])
def test_a_summary_has_three_flags_and_guidelines_of_its_own(
    form: Form, count: int, store: Store
) -> None:
    saved = Annotations(store.database)
    session = Session(saved, filled(saved, 1, form=form))
    assert len(session.data["flags"]) == count
    text = html(guidelines(form))
    assert ("underspecified" in str(session.data["flags"])) is (form == "qa")
    assert ("R23 B" in text) is (form == "summary")
    assert "flag it" in text
