import pytest

from attribution.edits import AddEvidence, Edit
from attribution.reports.actions import next_steps, step_buttons
from attribution.reports.html import html
from attribution.types import Label
from tests.review.make import claim, report

ANSWER = "The tower was finished in 1890."
CLAIM = claim(ANSWER, ANSWER)


@pytest.mark.parametrize(
    ("label", "sources", "steps"),
    [
        ("supported", ["library"], ()),
        ("contradicted", ["library"], ("correct",)),
        ("unclear", ["library"], ("source",)),
        ("no_relation", ["library"], ("web", "reword")),
        ("no_relation", ["duckduckgo"], ("reword",)),
        ("missing", ["collection:mine", "./a.txt"], ("web", "reword", "source")),
        ("not_checked", ["library"], ()),
    ],
)
def test_the_verdict_chooses_the_next_steps(
    label: Label, sources: list[str], steps: tuple[str, ...]
) -> None:
    made = report(ANSWER, (CLAIM, label)).model_copy(update={"settings": {"sources": sources}})
    assert next_steps(CLAIM, made.verdicts[0], made) == steps
    drawn = step_buttons(CLAIM, made.verdicts[0], made)
    shown = html(drawn) if drawn else ""
    assert [step for step in steps if f'data-step="{step} {CLAIM.id}"' not in shown] == []


def test_the_web_is_not_offered_for_a_claim_that_it_was_searched_for() -> None:
    made = report(ANSWER, (CLAIM, "no_relation"))
    change = AddEvidence(claim_id=CLAIM.id, sources=("duckduckgo",), search=True)
    edit = Edit(at="", change=change, claims=(CLAIM.id,))
    searched = made.model_copy(update={"edits": (edit,)})
    assert next_steps(CLAIM, made.verdicts[0], searched) == ("reword",)
