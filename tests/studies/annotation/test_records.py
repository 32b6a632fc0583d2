import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from attribution.settings import Settings
from attribution.store.store import Store
from attribution.studies.annotation.project import Annotations
from attribution.studies.annotation.records import Content, Stale, consensus, current, finished
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


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.tuples(st.integers(0, 2), st.sampled_from(list(CONTENT))) | st.none(), max_size=12)
)
def test_undo_goes_back_step_by_step(store: Store, acts: list[tuple[int, str] | None]) -> None:
    kept = Annotations(store.database)
    with store.database.engine.begin() as db:
        for table in ("annotation_projects", "annotation_judgements", "annotation_tasks"):
            db.exec_driver_sql(f"DELETE FROM {table}")
    project = filled(kept, 3)
    tasks, stack = kept.task_ids(project.id), [dict[str, Content]()]
    for act in acts:
        if act is None:
            kept.undo(project.id, "ann", "annotation")
            stack = stack[:-1] or stack
        else:
            say(kept, project, tasks[act[0]], "ann", CONTENT[act[1]])
            stack.append({**stack[-1], tasks[act[0]]: CONTENT[act[1]]})
        now = {task: j.content for (task, _, _), j in current(kept.judgements(project.id)).items()}
        assert {task: content for task, content in now.items() if content != Content()} == stack[-1]
        done = {p.task_id for p in kept.positions(project.id) if p.finished}
        assert done == set(stack[-1])
        assert {p.task_id for p in kept.positions(project.id) if p.begun} == done
    assert len(kept.judgements(project.id)) <= len(
        acts
    )  # every step is a record, and none is taken away


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
    again = subprocess.run(
        [
            sys.executable,
            "-c",
            WRITER.replace("for task in", "for task in [] and"),
            settings.database_url,
            project.id,
            "ann",
        ],
        cwd=ROOT,
    )
    assert again.returncode == 0  # the database opens as usual
