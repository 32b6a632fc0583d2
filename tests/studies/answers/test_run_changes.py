from collections.abc import Sequence

import pytest

from attribution.studies.answers.run_changes import ChangeCounts, counts, run_changes
from attribution.types import Claim, Label, Report, Verdict
from tests.make import claim

NILE = claim("The Nile is the longest river.")
TOWER = claim("The tower has three levels.")


def report(claims: Sequence[Claim], labels: Sequence[Label], answer: str = "") -> Report:
    verdicts = [
        Verdict(claim_id=c.id, label=label, confidence=0.9, reason="r")
        for c, label in zip(claims, labels, strict=False)
    ]
    return Report(
        id="r",
        created_at="",
        question="",
        answer=answer or " ".join(c.text for c in claims),
        settings={},
        versions={},
        claims=tuple(claims),
        verdicts=tuple(verdicts),
    )


def test_a_verdict_that_differs_is_a_change() -> None:
    before = report([NILE, TOWER], ["supported", "missing"])
    after = report([NILE, TOWER], ["contradicted", "missing"])
    nile, tower = run_changes(before, after)
    assert (nile.label_before, nile.label_after) == ("supported", "contradicted")
    assert nile.is_changed
    assert not tower.is_changed


def test_a_claim_without_a_verdict_differs_from_one_that_has_one() -> None:
    (change,) = run_changes(report([NILE], []), report([NILE], ["supported"]))
    assert change.label_before is None
    assert change.badges[0] == "pending"
    assert change.is_changed


def test_claims_of_one_run_alone_come_last() -> None:
    before = report([NILE], ["supported"])
    after = report([TOWER], ["supported"])
    changes = run_changes(before, after)
    assert [(c.before, c.after) for c in changes] == [(None, TOWER), (NILE, None)]
    assert counts(changes) == ChangeCounts(changed=0, unchanged=0, only_after=1, only_before=1)


@pytest.mark.parametrize(
    ("text", "is_matched"),
    [
        ("The Nile is a long river.", True),
        ("It flows to the sea.", False),
    ],
)
def test_reworded_claims_match_if_they_share_most_words(text: str, is_matched: bool) -> None:
    changes = run_changes(report([NILE], ["supported"]), report([claim(text)], ["missing"]))
    assert any(change.is_in_both for change in changes) is is_matched


def test_claims_at_the_same_place_of_the_same_answer_match() -> None:
    answer = "It flows north."
    first = Claim(id="1", text="The river runs up", spans=((0, 15),))
    second = Claim(id="2", text="Nile: direction north", spans=((0, 15),))
    (change,) = run_changes(report([first], [], answer), report([second], [], answer))
    assert change.is_in_both


def test_each_claim_is_matched_once_with_the_most_alike() -> None:
    close = claim("The Nile is the longest river of all.")
    before = report([NILE], ["supported"])
    after = report([close, NILE], ["missing", "supported"])
    changes = run_changes(before, after)
    assert [change.is_in_both for change in changes] == [False, True]
