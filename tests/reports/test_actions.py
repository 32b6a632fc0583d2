from typing import Any

import pytest

from attribution.edits import AddEvidence, Edit
from attribution.reports.actions import next_steps, step_buttons
from attribution.reports.html import html
from attribution.types import Failure, FailureKind, Label, Report
from tests.review.make import claim, report

ANSWER = "The tower was finished in 1890."
CLAIM = claim(ANSWER, ANSWER, enriched="The <i>Eiffel</i> Tower was finished in 1890.")


@pytest.mark.parametrize(
    ("label", "sources", "steps"),
    [
        ("supported", ["library"], ()),
        ("contradicted", ["library"], ("correct",)),
        ("unclear", ["library"], ("source",)),
        ("no_relation", ["library"], ("web",)),
        ("no_relation", ["duckduckgo"], ("reword",)),
        ("missing", ["collection:mine", "./a.txt"], ("web",)),
        ("not_checked", ["library"], ()),
    ],
)
def test_one_table_chooses_the_step(
    label: Label, sources: list[str], steps: tuple[str, ...]
) -> None:
    made = report(ANSWER, (CLAIM, label)).model_copy(update={"settings": {"sources": sources}})
    assert next_steps(CLAIM, made.verdicts[0], made) == steps


@pytest.mark.parametrize(
    ("kind", "step"),
    [("paywall", "source"), ("nothing_found", "reword"), ("search_failed", "source")],
)
def test_what_failed_comes_first(kind: FailureKind, step: str) -> None:
    failure = Failure(stage="fetch", subject=CLAIM.text, kind=kind, message="no")
    made = report(ANSWER, (CLAIM, "missing")).model_copy(update={"failures": (failure,)})
    assert next_steps(CLAIM, made.verdicts[0], made)[0] == step
    assert f'data-step="{step} {CLAIM.id}"' in html(step_buttons(CLAIM, made.verdicts[0], made))


def test_a_step_that_was_taken_gives_way_to_the_next() -> None:
    nothing = report(ANSWER, (CLAIM, "no_relation")).model_copy(
        update={"settings": {"sources": ["library"]}}
    )
    assert after(nothing, sources=("duckduckgo",), search=True) == ("reword",)
    assert after(nothing, claims=("another",), sources=("duckduckgo",)) == ("web",)


def after(made: Report, claims: tuple[str, ...] = (CLAIM.id,), **change: Any) -> tuple[str, ...]:
    edit = Edit(at="", change=AddEvidence(claim_id=claims[0], **change), claims=claims)
    made = made.model_copy(update={"edits": (edit,)})
    return next_steps(CLAIM, made.verdicts[0], made)
