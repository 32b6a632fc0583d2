import json
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attribution.errors import BadInput
from attribution.studies.annotation.tasks import (
    Project,
    in_order,
    parse_tasks,
    pilot_tasks,
    queue,
    tasks_of_run,
)
from tests import make


def lines(*rows: object) -> bytes:
    return "\n".join(row if isinstance(row, str) else json.dumps(row) for row in rows).encode()


def test_a_conversation_a_source_and_what_it_comes_from() -> None:
    row = {
        "turns": [{"speaker": "user", "text": "Who?"}, {"role": "assistant", "content": "He."}],
        "question": "When?",
        "answer": "In 1960.",
        "source": ["a", "b"],
        "system": "s",
        "dataset": "d",
        "time": "1961-01-01",
        "unit": "claim",
    }
    (task,), problems = parse_tasks(lines(row), "p")
    assert not problems
    assert (task.source, task.unit, task.time) == ("a\n\nb", "claim", "1961-01-01")
    assert [(t.speaker, t.text) for t in task.turns] == [
        ("user", "Who?"),
        ("system", "He."),
        ("user", "When?"),
    ]


def test_answers_of_two_systems_to_one_item_share_it() -> None:
    rows = [
        {"question": "When?", "answer": answer, "source": "s", "system": answer} for answer in "ab"
    ]
    (a, b), _ = parse_tasks(lines(*rows), "p")
    assert a.id != b.id
    assert a.item == b.item


GOOD = {"answer": "a", "source": "s"}


@pytest.mark.parametrize(
    ("bad", "problem"),
    [
        ("{", "not JSON"),
        ({"answer": "a"}, '"source" is missing'),
        ({**GOOD, "unit": "word"}, "'answer', 'sentence' or 'claim'"),
        ({**GOOD, "turns": [1]}, "turn 1: expected"),
        ({**GOOD, "turns": 3}, "neither text nor a list"),
    ],
)
def test_a_bad_row_costs_itself_and_is_told(bad: object, problem: str) -> None:
    (task,), (told,) = parse_tasks(lines(bad, GOOD), "p")
    assert task.answer == "a"
    assert told.startswith("line 1:")
    assert problem in told


def test_an_empty_file_is_refused() -> None:
    with pytest.raises(BadInput, match="the file is empty"):
        parse_tasks(b"", "p")


TASKS = [f"t{n:03}" for n in range(60)]
NAMES = ["ann", "bob", "cem", "dao"]


def project(**fields: object) -> Project:
    return Project.model_validate({"id": "p", "name": "P", "created_at": "", **fields})


@settings(max_examples=40)
@given(
    st.integers(1, 4),
    st.integers(0, 9),
    st.integers(0, 60),
    st.dictionaries(
        st.sampled_from(TASKS), st.sets(st.sampled_from(NAMES), max_size=4), max_size=20
    ),
)
def test_every_task_has_its_annotators_and_the_work_is_spread(
    overlap: int, seed: int, pilot: int, begun: dict[str, set[str]]
) -> None:
    own = project(overlap=overlap, seed=seed, pilot=pilot)
    queues = {name: queue(own, "production", TASKS, NAMES, begun, name) for name in NAMES}
    rest = set(TASKS) - set(pilot_tasks(own, TASKS))
    counts = Counter(task for tasks in queues.values() for task in tasks)
    assert all(counts[task] == max(overlap, len(begun.get(task, ()))) for task in rest)
    assert set(counts) <= rest
    for name, tasks in queues.items():
        assert {task for task in rest if name in begun.get(task, ())} <= set(
            tasks
        )  # nobody loses what they began
    if not begun:
        sizes = [len(tasks) for tasks in queues.values()]
        assert max(sizes) - min(sizes) <= 1
    assert all(queue(own, "pilot", TASKS, NAMES, begun, name) != [] for name in NAMES) == (
        pilot > 0
    )


def test_orders_differ_by_annotator_and_seed_and_are_kept() -> None:
    orders = [in_order(TASKS, seed, name) for seed in (1, 2) for name in NAMES]
    assert len({tuple(order) for order in orders}) == 8
    assert in_order(TASKS, 1, "ann") == orders[0]


def test_the_claims_of_a_run_are_tasks_with_the_page_of_their_evidence() -> None:
    source = make.page("It is old.", "https://a.example/")
    old, new = make.claim("It is old."), make.claim("It is new.")
    piece = make.evidence(old, 0.9, 0.0, "entailed", page_id=source.id)
    report = make.report(
        "It is old. It is new.", claims=(old, new), pages=(source,), evidence=(piece,)
    )
    (task,) = tasks_of_run(report, "project")
    assert (task.answer, task.source, task.url) == ("It is old.", "It is old.", source.url)
    assert [turn.text for turn in task.turns] == ["q", report.answer]
