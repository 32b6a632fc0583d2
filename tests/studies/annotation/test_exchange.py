import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attribution.errors import BadInput
from attribution.store.store import Store
from attribution.studies.annotation.exchange import merge, to_jsonl
from attribution.studies.annotation.project import Annotations
from attribution.studies.annotation.records import Content
from attribution.studies.annotation.tasks import Project, make_task
from tests.studies.annotation.made import CONTENT, filled, say

ACTS = st.lists(
    st.tuples(
        st.sampled_from("abc"),
        st.integers(0, 2),
        st.sampled_from(["ann", "bob"]),
        st.sampled_from([*CONTENT]),
    )
    | st.tuples(st.sampled_from("abc"), st.none(), st.sampled_from(["ann", "bob"]), st.none()),
    max_size=10,
)


@pytest.fixture(scope="module")
def three(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Annotations]]:
    """Three machines."""
    folder: Path = tmp_path_factory.mktemp("machines")
    stores = {name: Store.open(f"sqlite:///{folder}/{name}.sqlite3") for name in "abc"}
    yield {name: Annotations(store.database) for name, store in stores.items()}
    for store in stores.values():
        store.close()


def emptied(three: dict[str, Annotations]) -> dict[str, Annotations]:
    for kept in three.values():
        with kept._engine.begin() as db:
            for table in ("projects", "events", "tasks", "judgements"):
                db.exec_driver_sql(f"DELETE FROM annotation_{table}")
    return three


def exported(kept: Annotations, project: Project) -> bytes:
    return to_jsonl(kept, project).encode()


@settings(max_examples=20)
@given(ACTS, st.permutations(["b", "c"]))
def test_merging_is_commutative_and_idempotent_and_loses_nothing(
    three: dict[str, Annotations], acts: list[tuple[str, int, str, str]], order: list[str]
) -> None:
    machines = emptied(three)
    project = filled(machines["a"], 3)
    for other in "bc":
        merge(machines[other], exported(machines["a"], project))
    tasks = machines["a"].task_ids(project.id)
    for machine, task, name, answer in acts:
        if task is None:
            machines[machine].undo(project.id, name, "annotation")
        else:
            say(machines[machine], project, tasks[task], name, CONTENT[answer])
    made = {j.id for kept in machines.values() for j in kept.judgements(project.id)}
    files = {name: exported(kept, project) for name, kept in machines.items()}
    for name in (*order, order[0]):
        assert merge(machines["a"], files[name]).problems == ()
    for name in ("a", *reversed(order)):
        merge(machines["b"], files[name])
    assert exported(machines["a"], project) == exported(machines["b"], project)
    assert {j.id for j in machines["a"].judgements(project.id)} == made
    assert machines["a"].positions(project.id) == machines["b"].positions(project.id)


@settings(max_examples=30)
@given(st.text(alphabet=st.characters(codec="utf-8"), min_size=1).filter(str.strip))
def test_any_text_survives(three: dict[str, Annotations], text: str) -> None:
    machines = emptied(three)
    project = machines["a"].create("Texts")
    machines["a"].add_tasks([task := make_task(project.id, text, text, system=text)])
    say(machines["a"], project, task.id, "ann", Content(interpretable=False, justification=text))
    merge(machines["b"], exported(machines["a"], project))
    assert exported(machines["b"], project) == exported(machines["a"], project)


@pytest.fixture
def records(three: dict[str, Annotations]) -> list[dict[str, object]]:
    """The records of a project with a task and a judgement."""
    machine = emptied(three)["a"]
    project = filled(machine, 1)
    (task_id,) = machine.task_ids(project.id)
    say(machine, project, task_id, "ann", CONTENT["attributable"])
    return [json.loads(line) for line in exported(machine, project).splitlines()]


@pytest.mark.parametrize(
    ("kind", "changes", "problem"),
    [
        ("task", {"answer": "Another answer."}, "changed by hand"),
        ("judgement", {"task_id": "elsewhere"}, "its task is not in the file"),
        ("judgement", {"kind": "nothing"}, "\"kind\" is 'nothing'"),
        ("member", {"name": ""}, "“name”"),
    ],
)
def test_a_bad_record_costs_itself(
    kind: str,
    changes: dict[str, object],
    problem: str,
    three: dict[str, Annotations],
    records: list[dict[str, object]],
) -> None:
    bad = next(record for record in records if record["kind"] == kind)
    lines = [json.dumps(record) for record in [*records, {**bad, **changes}]]
    merged = merge(three["b"], "\n".join(lines).encode())
    assert (merged.tasks, merged.judgements) == (1, 1)
    (message,) = merged.problems
    assert problem in message


def test_a_file_of_no_project_or_of_changed_settings_is_refused(
    three: dict[str, Annotations], records: list[dict[str, object]]
) -> None:
    with pytest.raises(BadInput, match="expected the export of one project"):
        merge(three["b"], b'{"kind": "member", "name": "x"}')
    changed = json.dumps({**records[0], "overlap": 9}).encode()
    with pytest.raises(BadInput, match="with other settings"):
        merge(three["a"], changed)
