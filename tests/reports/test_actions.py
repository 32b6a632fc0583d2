import pytest
from hypothesis import given
from hypothesis import strategies as st

from attribution.edits import Exclude, Judge
from attribution.reports.cards import StepRequest, requested, step_buttons
from attribution.reports.html import html
from attribution.types import Label
from tests.make import claim, judged

CLAIM = claim()
PLACE = {"claim_id": CLAIM.id, "page_id": "p", "start": 0, "end": 4}
REPORT = judged((CLAIM, "unclear"))


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
        (f"correct:{CLAIM.id}", StepRequest("correct", CLAIM)),
        (f"exclude:{CLAIM.id}:p:0:4", Exclude(**PLACE)),
        (f"include:{CLAIM.id}:p:0:4", Exclude(**PLACE, excluded=False)),
        (f"judge:{CLAIM.id}:unclear:why", Judge(claim_id=CLAIM.id, label="unclear", note="why")),
        (f"judge:{CLAIM.id}::a note", Judge(claim_id=CLAIM.id, label=None, note="a note")),
        (f"judge:{CLAIM.id}:right:", None),
        ("judge:other:unclear:", None),
        ("edit:other", None),
        (f"exclude:{CLAIM.id}:p", None),
        (f"delete:{CLAIM.id}", None),
        ("undo", "undo"),
        (None, None),
    ],
)
def test_a_click_is_read_as_a_change_or_a_step(request_: object, parsed: object) -> None:
    assert requested(REPORT, request_) == parsed


@given(st.one_of(st.text(), st.integers(), st.dictionaries(st.text(), st.text())))
def test_anything_else_is_nothing(value: object) -> None:
    assert requested(REPORT, value) is None
