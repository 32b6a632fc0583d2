import json

import pytest

from attribution.store.store import Store
from attribution.studies.annotation.exchange import labelled_set, to_jsonl
from attribution.studies.annotation.project import Annotations
from attribution.studies.annotation.records import Content
from attribution.studies.annotation.tasks import make_task, parse_tasks
from tests.studies.annotation.made import filled, say


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
