from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attribution.studies.annotation.figures import (
    agreement,
    audited,
    differences,
    nominal_alpha,
    paces,
    rows,
)
from attribution.studies.annotation.records import Annotation, Answer, by_task, decided
from attribution.studies.annotation.tasks import Project, Task
from tests.studies.annotation.made import CONTENT, task

# Krippendorff 2011, “Computing Krippendorff's Alpha-Reliability”, example C: four observers, twelve
# units, seven
# labels missing; nominal α = 0.743
EXAMPLE = """
1 2 3 3 2 1 4 1 2 . . .
1 2 3 3 2 2 4 1 2 5 . 3
. 3 3 3 2 3 4 2 2 5 1 .
1 2 3 3 2 4 4 1 2 5 1 .
"""


def judgement(
    task_id: str, name: str, answer: Answer, seconds: tuple[float, float] = (1, 1), at: int = 0
) -> Annotation:
    content = CONTENT[answer].model_copy(update={"seconds": seconds})
    return Annotation(
        task_id=task_id,
        annotator=name,
        revision=1,
        origin="o",
        made_at=f"{at:06}",
        stage="production",
        content=content,
    )


def test_alpha_of_the_published_example_with_missing_labels() -> None:
    observers = [line.split() for line in EXAMPLE.split("\n") if line]
    units = [[label for label in unit if label != "."] for unit in zip(*observers, strict=True)]
    assert nominal_alpha(units) == pytest.approx(0.743, abs=0.0005)
    assert nominal_alpha([["a", "a"], ["b", "b"]]) == 1 and nominal_alpha([["a", "a"]]) is None
    assert nominal_alpha([["a"], ["b"]]) is None  # nothing to compare


@given(st.lists(st.lists(st.sampled_from("abc"), max_size=4), max_size=8))
def test_alpha_is_one_minus_the_ratio_of_disagreements(units: list[list[str]]) -> None:
    pairable = [unit for unit in units if len(unit) > 1]
    labels = [label for unit in pairable for label in unit]
    chance = [a != b for a, b in permutations(labels, 2)]
    alpha = nominal_alpha(units)
    if not any(chance):
        assert alpha is None
        return
    observed = sum(
        sum(a != b for a, b in permutations(unit, 2)) / (len(unit) - 1) for unit in pairable
    ) / len(labels)
    assert alpha == pytest.approx(1 - observed / (sum(chance) / len(chance)))


def test_a_pair_is_equal_only_where_both_answers_are() -> None:
    found = agreement(
        [
            judgement("t1", "a", "attributable"),
            judgement("t1", "b", "not_attributable"),  # equal in the first alone
            judgement("t1", "c", "attributable"),
            judgement("t2", "a", "flagged"),
            judgement("t2", "b", "attributable"),  # one label is no pair
            judgement("t3", "a", "not_interpretable"),
            judgement("t3", "b", "not_interpretable"),
        ]
    )
    assert (found.equal, found.pairs, found.tasks, found.differing) == (2, 4, ("t1", "t3"), ("t1",))
    assert found.pairwise == 0.5 and agreement([]).pairwise is None


PROJECT = Project(id="p", name="P", created_at="")


def systems(attributable: dict[str, int], items: int) -> tuple[dict[str, Task], dict[str, Answer]]:
    """Answers of systems to the same items, so many of them attributable, the others not."""
    tasks: dict[str, Task] = {}
    answers: dict[str, Answer] = {}
    for system, count in attributable.items():
        for number in range(items):
            made = task(PROJECT, number, system)
            tasks[made.id] = made
            answers[made.id] = "attributable" if number < count else "not_attributable"
    return tasks, answers


def test_shares_have_the_tasks_behind_them_and_an_interval_around_them() -> None:
    tasks, answers = systems({"good": 30}, 40)
    (row,) = rows(tasks, answers)
    share = row.shares["attributable"]
    assert share.value == 0.75
    assert set(share.tasks) == {i for i, answer in answers.items() if answer == "attributable"}
    assert share.low is not None and share.high is not None
    assert 0.55 < share.low < 0.75 < share.high < 0.95
    assert row.shares["interpretable"].value == 1
    assert row.shares["flagged"].value == 0


def test_two_systems_are_compared_in_pairs_by_permutation() -> None:
    tasks, answers = systems({"bad": 10, "good": 35}, 40)
    found = {one.measure: one for one in differences(tasks, answers)}
    assert found["attributable"].systems == ("bad", "good")
    assert found["attributable"].value == pytest.approx(-25 / 40)
    assert found["attributable"].high < 0
    assert found["attributable"].p < 0.01
    assert found["attributable"].items == 40
    assert found["interpretable"].p == 1


def test_undecided_tasks_are_left_out_until_somebody_adjudicates() -> None:
    made = task(PROJECT, 1)
    split = [judgement(made.id, "a", "attributable"), judgement(made.id, "b", "not_attributable")]
    (row,) = rows({made.id: made}, decided(by_task(split), {}))
    assert row.undecided == (made.id,) and row.shares["flagged"].value is None
    (row,) = rows(
        {made.id: made},
        decided(by_task(split), {made.id: judgement(made.id, "lead", "attributable")}),
    )
    assert row.undecided == () and row.shares["attributable"].value == 1


def test_audit_quality_by_question_and_annotator() -> None:
    work = [
        judgement("t1", "ann", "attributable"),
        judgement("t2", "ann", "not_interpretable"),
        judgement("t1", "bob", "not_attributable"),
        judgement("t3", "bob", "attributable"),
    ]
    audits = [judgement("t1", "lead", "attributable"), judgement("t2", "lead", "attributable")]
    everybody, ann, bob = audited(work, audits)
    assert (everybody.tasks, everybody.both) == (("t1", "t2", "t1"), ("t1",))
    assert (ann.tasks, ann.both) == (("t1", "t2"), ("t1",))
    assert (bob.tasks, bob.both) == (("t1",), ())
    assert audited(work, []) == []


def test_seconds_in_the_pilot_at_the_start_and_at_the_end() -> None:
    work = [judgement(f"t{n}", "ann", "attributable", (10.0 - n, 20.0 - n), at=n) for n in range(9)]
    rows = {(pace.annotator, pace.period): pace for pace in paces(work, ["t0"])}
    assert rows["ann", "pilot"].seconds == 30
    assert rows["ann", "start"].tasks == ("t1", "t2")
    assert rows["", "end"].seconds == 15
