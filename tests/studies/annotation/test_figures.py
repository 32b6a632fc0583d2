from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attribution.studies.annotation.figures import (
    TaskShare,
    agreement,
    audited,
    nominal_alpha,
    paces,
    rows,
)
from attribution.studies.annotation.records import Annotation, Answer, by_task, decided
from attribution.studies.annotation.tasks import Project
from tests.studies.annotation.made import CONTENT, task

# Krippendorff 2011, “Computing Krippendorff's Alpha-Reliability”, example C: four observers, twelve
# units, seven labels missing; nominal α = 0.743
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
        made_at=f"{at:06}",
        stage="production",
        content=content,
    )


def test_alpha_of_the_published_example_with_missing_labels() -> None:
    observers = [line.split() for line in EXAMPLE.split("\n") if line]
    units = [[label for label in unit if label != "."] for unit in zip(*observers, strict=True)]
    assert nominal_alpha([unit for unit in units if len(unit) > 1]) == pytest.approx(
        0.743, abs=5e-4
    )
    assert nominal_alpha([["a", "a"], ["b", "b"]]) == 1
    assert nominal_alpha([["a", "a"]]) is None


@given(st.lists(st.lists(st.sampled_from("abc"), max_size=4), max_size=8))
def test_alpha_is_one_minus_the_ratio_of_disagreements(units: list[list[str]]) -> None:
    pairable = [unit for unit in units if len(unit) > 1]
    labels = [label for unit in pairable for label in unit]
    chance = [a != b for a, b in permutations(labels, 2)]
    alpha = nominal_alpha(pairable)
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
    assert (found.tasks, found.pairs, found.pairwise, found.differing) == (2, 4, 0.5, 1)
    assert agreement([]).pairwise is None


PROJECT = Project(id="p", name="P", created_at="")


def test_shares_are_of_the_tasks_that_could_have_the_answer() -> None:
    answers: list[Answer] = ["attributable", "attributable", "not_attributable", "flagged"]
    tasks = {one.id: one for one in (task(PROJECT, number) for number in range(4))}
    (row,) = rows(tasks, dict(zip(tasks, answers, strict=True)))
    assert row.shares["attributable"].percent == pytest.approx(200 / 3)
    assert row.shares["interpretable"].percent == 100
    assert row.shares["flagged"].percent == 25


def test_undecided_tasks_are_left_out_until_somebody_adjudicates() -> None:
    made = task(PROJECT, 1)
    split = by_task(
        [judgement(made.id, "a", "attributable"), judgement(made.id, "b", "not_attributable")]
    )
    (row,) = rows({made.id: made}, decided(split, {}))
    assert row.undecided == 1
    assert row.shares["flagged"].percent is None
    adjudicated = {made.id: judgement(made.id, "lead", "attributable")}
    (row,) = rows({made.id: made}, decided(split, adjudicated))
    assert row.undecided == 0
    assert row.shares["attributable"].percent == 100


def test_an_audit_compares_with_the_leads_answer() -> None:
    work = [
        judgement("t1", "ann", "attributable"),
        judgement("t2", "ann", "not_interpretable"),
        judgement("t1", "bob", "not_attributable"),
        judgement("t3", "bob", "attributable"),
    ]
    audits = [judgement("t1", "lead", "attributable"), judgement("t2", "lead", "attributable")]
    assert audited(work, audits) == TaskShare(1, 3)
    assert audited(work, []) == TaskShare(0, 0)


def test_seconds_in_the_pilot_at_the_start_and_at_the_end() -> None:
    work = [judgement(f"t{n}", "ann", "attributable", (10.0 - n, 20.0 - n), at=n) for n in range(9)]
    pilot, start, end = paces(work, ["t0"])
    assert pilot.seconds == 30
    assert start.judgements == 2
    assert end.seconds == 15
