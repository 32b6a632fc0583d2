import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from attribution.settings import Settings
from attribution.store.store import Store
from attribution.studies.annotation.project import Annotations, labelled_set, to_jsonl
from attribution.studies.annotation.records import Content, Stale, consensus, current, finished
from attribution.studies.annotation.tasks import make_task, parse_tasks
from tests.studies.annotation.made import CONTENT, filled, say

ROOT = Path(__file__).parents[3]
FIRST = Content(interpretable=True, seconds=(3.0, 0.0))


def test_the_same_step_twice_is_one_and_another_window_is_told(store: Store) -> None:
    kept = Annotations(store.database)
    project = filled(kept, 1)
    (task,) = kept.task_ids(project.id)
    here = (project.id, task, "ann", "annotation", "production")
    first = kept.step(*here, FIRST, "")
    assert kept.step(*here, FIRST, "") == first
    with pytest.raises(Stale, match="another window"):
        kept.step(*here, CONTENT["not_interpretable"], "")
    kept.step(*here, CONTENT["attributable"], first.id)
    assert kept.step(*here, FIRST, "") == first  # it comes again, late
    assert [j.content.answer for j in kept.judgements(project.id)] == [None, "attributable"]
    assert [j.content.answer for j in finished(kept.judgements(project.id))] == ["attributable"]


def test_undo_takes_back_one_answer_after_the_other(store: Store) -> None:
    kept = Annotations(store.database)
    project = filled(kept, 2)
    first, second = kept.task_ids(project.id)
    written = Content(interpretable=True, attributable=True, justification="why")
    say(kept, project, first, "ann", CONTENT["not_interpretable"])
    say(kept, project, second, "ann", FIRST)
    say(kept, project, second, "ann", written)
    assert kept.undo(project.id, "ann", "annotation", []) is None  # the queue of a later stage
    undone: list[tuple[str, Content]] = []
    record = kept.undo(project.id, "ann", "annotation", [first, second])
    while record:
        undone.append((record.task_id, record.content))
        record = kept.undo(project.id, "ann", "annotation", [first, second])
    assert undone == [
        (second, Content(interpretable=True, justification="why")),
        (second, Content(justification="why")),
        (first, Content()),
    ]
    assert not any(position.finished for position in kept.positions(project.id))
    assert len(kept.judgements(project.id)) == 6  # none is taken away


def test_what_most_annotators_say() -> None:
    def said(*answers: str) -> object:
        from tests.studies.annotation.test_figures import judgement

        return consensus([judgement("t", str(n), a) for n, a in enumerate(answers)])

    assert said("attributable", "attributable", "not_interpretable") == "attributable"
    assert (
        said("attributable", "not_attributable", "not_interpretable") is None
    )  # one of two readers of the source
    assert said("flagged", "flagged", "attributable") == "flagged"
    assert said("flagged", "attributable") is None
    assert said("not_interpretable", "not_interpretable", "attributable") == "not_interpretable"
    assert said() is None


WRITER = """
import sys
from attribution.studies.annotation.records import Content
from attribution.studies.annotation.project import Annotations
from attribution.store.store import Store
kept = Annotations(Store.open(sys.argv[1]).database)
for task in kept.task_ids(sys.argv[2]):
    follows = ""
    for content in (Content(interpretable=True), Content(interpretable=True, attributable=True)):
        follows = kept.step(sys.argv[2], task, sys.argv[3], "annotation", "production", content, follows).id
        print(follows, flush=True)
"""


def test_killed_writers_lose_nothing_that_was_confirmed(settings: Settings, store: Store) -> None:
    kept = Annotations(store.database)
    project = filled(kept, 400)
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, settings.database_url, project.id, name],
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
        )
        for name in ("ann", "bob")
    ]
    limit = time.monotonic() + 60
    while len(kept.judgements(project.id)) < 40 and time.monotonic() < limit:
        time.sleep(0.05)
    for writer in writers:
        writer.send_signal(signal.SIGKILL)
    confirmed = [
        line
        for writer in writers
        for line in writer.communicate(timeout=20)[0].split()
        if len(line) == 16
    ]
    ids = [judgement.id for judgement in kept.judgements(project.id)]
    assert len(confirmed) >= 20
    assert set(confirmed) <= set(ids)
    assert len(ids) == len(set(ids))
    places = {j.place for j in kept.judgements(project.id)}
    assert len(current(kept.judgements(project.id))) == len(places) < 800  # both were cut off
    Store.open(settings.database_url).close()  # the database opens as usual


@pytest.mark.parametrize("text", ["1", "a\u2028b", "“quoted”\n\n😀", '{"kind": "task"}'])
def test_an_export_has_every_record_with_any_text(text: str, store: Store) -> None:
    saved = Annotations(store.database)
    project = filled(saved, 2, "ann")
    task = make_task(project.id, text, text, system=text)
    saved.add_tasks([task])
    say(saved, project, task.id, "ann", Content(interpretable=False, justification=text))
    records = [json.loads(line) for line in to_jsonl(saved, project).split("\n")[:-1]]
    kinds = [record["kind"] for record in records]
    assert kinds == ["project", "event", "task", "task", "task", "judgement"]
    assert text in [record["answer"] for record in records if record["kind"] == "task"]
    assert records[-1]["content"]["justification"] == text


def test_decisions_become_a_labelled_set() -> None:
    turns = [{"speaker": "user", "text": "Who?"}, {"speaker": "assistant", "text": "He."}]
    row = {"question": "When?", "turns": turns, "answer": "In 1960.", "source": "s"}
    tasks, _ = parse_tasks(json.dumps(row).encode(), "p")
    by_id = {task.id: task for task in tasks}
    (line,) = labelled_set(by_id, {tasks[0].id: "not_attributable"}).splitlines()
    found = json.loads(line)
    assert found["grounded"] is False
    assert (found["question"], found["context"]) == ("When?", "s")
    assert [turn["text"] for turn in found["turns"]] == ["Who?", "He."]
    assert labelled_set(by_id, {tasks[0].id: "flagged"}) == ""
