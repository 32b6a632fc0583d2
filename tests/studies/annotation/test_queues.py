"""Queues: each task has its annotators, the work is spread, a flag or a newcomer disturbs nobody."""

from __future__ import annotations

from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from attribution.studies.annotation.tasks import Project, audit_tasks, in_order, pilot_tasks, queue

TASKS = [f"t{n:03}" for n in range(60)]
NAMES = ["ann", "bob", "cem", "dao"]


def project(**fields: object) -> Project:
    return Project.model_validate({"id": "p", "name": "P", "created_at": "", **fields})


@settings(max_examples=40)
@given(
    st.integers(1, 4), st.integers(0, 9), st.integers(0, 60),
    st.dictionaries(st.sampled_from(TASKS), st.sets(st.sampled_from(NAMES), max_size=4), max_size=20),
)  # fmt: skip
def test_every_task_has_its_annotators_and_the_work_is_spread(
    overlap: int, seed: int, pilot: int, begun: dict[str, set[str]]
) -> None:
    own = project(overlap=overlap, seed=seed, pilot=pilot)
    queues = {name: queue(own, "production", TASKS, NAMES, begun, name) for name in NAMES}
    rest = set(TASKS) - set(pilot_tasks(own, TASKS))
    counts = Counter(task for tasks in queues.values() for task in tasks)
    assert all(counts[task] == max(overlap, len(begun.get(task, ()))) for task in rest) and set(counts) <= rest
    for name, tasks in queues.items():
        assert {task for task in rest if name in begun.get(task, ())} <= set(tasks)  # nobody loses what they began
    if not begun:
        sizes = [len(tasks) for tasks in queues.values()]
        assert max(sizes) - min(sizes) <= 1
    assert all(queue(own, "pilot", TASKS, NAMES, begun, name) != [] for name in NAMES) == (pilot > 0)


def test_orders_differ_by_annotator_and_seed_and_are_kept() -> None:
    orders = [in_order(TASKS, seed, name) for seed in (1, 2) for name in NAMES]
    assert len({tuple(order) for order in orders}) == 8 and in_order(TASKS, 1, "ann") == orders[0]


def test_a_task_that_is_drawn_for_the_audit_stays_drawn() -> None:
    own = project(audit=0.3)
    few, many = audit_tasks(own, TASKS[:30]), audit_tasks(own, TASKS)
    assert set(few) == set(many) & set(TASKS[:30]) and 8 <= len(many) <= 30
    assert audit_tasks(project(audit=1), TASKS[:3]) and not audit_tasks(project(audit=0), TASKS)
