import pytest

from attribution.edits import AddEvidence, Edit, Judge
from attribution.reports.actions import StepRequest, requested, step_buttons
from attribution.reports.html import html
from attribution.types import Label
from tests.review.make import claim, report

ANSWER = "The tower was finished in 1890."
CLAIM = claim(ANSWER, ANSWER)


@pytest.mark.parametrize(
    ("label", "sources", "steps"),
    [
        ("supported", ["library"], []),
        ("contradicted", ["library"], []),
        ("unclear", ["library"], ["source"]),
        ("no_relation", ["library"], ["source", "web"]),
        ("no_relation", ["duckduckgo"], ["source"]),
        ("missing", ["collection:mine", "./a.txt"], ["source", "web"]),
        ("not_checked", ["library"], []),
    ],
)
def test_the_verdict_chooses_the_next_steps(
    label: Label, sources: list[str], steps: list[str]
) -> None:
    made = report(ANSWER, (CLAIM, label)).model_copy(update={"settings": {"sources": sources}})
    drawn = step_buttons(CLAIM, label, made)
    shown = html(drawn) if drawn else ""
    assert [step for step in ("source", "web") if f"{step}:{CLAIM.id}" in shown] == steps


def test_the_web_is_not_offered_for_a_claim_that_it_was_searched_for() -> None:
    made = report(ANSWER, (CLAIM, "no_relation"))
    change = AddEvidence(claim_id=CLAIM.id, sources=("duckduckgo",), search=True)
    edit = Edit(at="", change=change, claims=(CLAIM.id,))
    drawn = step_buttons(CLAIM, "no_relation", made.model_copy(update={"edits": (edit,)}))
    assert drawn is not None
    assert f"web:{CLAIM.id}" not in html(drawn)


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
