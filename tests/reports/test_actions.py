import pytest

from attribution.edits import Judge
from attribution.reports.cards import StepRequest, requested, step_buttons
from attribution.reports.html import html
from attribution.types import Label
from tests.review.make import claim, report

ANSWER = "The tower was finished in 1890."
CLAIM = claim(ANSWER, ANSWER)


@pytest.mark.parametrize(
    ("label", "steps"),
    [
        ("supported", []),
        ("contradicted", []),
        ("unclear", ["source"]),
        ("no_relation", ["source", "web"]),
        ("missing", ["source", "web"]),
        ("not_checked", []),
    ],
)
def test_the_verdict_chooses_the_next_steps(label: Label, steps: list[str]) -> None:
    drawn = step_buttons(CLAIM, label)
    shown = html(drawn) if drawn else ""
    assert [step for step in ("source", "web") if f"{step}:{CLAIM.id}" in shown] == steps


@pytest.mark.parametrize(
    ("request_", "parsed"),
    [
        (f"edit:{CLAIM.id}", StepRequest("edit", CLAIM)),
        (f"judge:{CLAIM.id}:unclear:why", Judge(claim_id=CLAIM.id, label="unclear", note="why")),
        (f"judge:{CLAIM.id}::a note", Judge(claim_id=CLAIM.id, label=None, note="a note")),
        (f"judge:{CLAIM.id}:right:", None),
        ("judge:other:unclear:", None),
        ("undo", "undo"),
        (None, None),
    ],
)
def test_a_click_is_read_as_a_change_or_a_step(request_: object, parsed: object) -> None:
    assert requested(report(ANSWER, (CLAIM, "unclear")), request_) == parsed
