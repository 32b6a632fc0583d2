"""Offer the actions on a claim and its passages, and the most useful next step, as buttons.

A click arrives as words separated by colons: `edit:CLAIM`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, get_args

from pydantic import TypeAdapter, ValidationError

from attribution import edits
from attribution.reports.html import Node, el, plural
from attribution.types import NOTE, Claim, Evidence, Page, Report

_CHANGE: TypeAdapter[edits.Change] = TypeAdapter(edits.Change)
Step = Literal["edit", "correct", "source", "web"]  # that a click asks for, beside a change
STEPS: tuple[Step, ...] = get_args(Step)
OFFERED: Mapping[str, tuple[Step, ...]] = {
    "missing": ("source", "web"),
    "no_relation": ("source", "web"),
    "unclear": ("source",),
    "not_reached": ("source",),
}
WORDS: dict[Step, str] = {"source": "Add a source", "web": "Search the web"}


@dataclass(frozen=True)
class StepRequest:
    """A step that somebody takes for a claim."""

    step: Step
    claim: Claim


def button(text: str, request: str, label: str = "", class_: str = "open") -> Node:
    """Build a button that requests a change; `label` is a longer text for screen readers."""
    return el(
        "button", text, type="button", class_=class_, data_edit=request, aria_label=label or None
    )


def claim_actions(claim: Claim, number: int) -> Node:
    """Build the buttons at the end of a card."""
    return el(
        "p",
        button("Edit or split", f"edit:{claim.id}", f"Edit or split claim {number}"),
        class_="links actions",
    )


def step_buttons(claim: Claim, badge: str) -> Node | None:
    """Build a button for each step that helps a claim without a verdict."""
    steps = OFFERED.get(badge, ())
    buttons = (button(WORDS[step], f"{step}:{claim.id}", class_="btn") for step in steps)
    return el("p", *buttons, class_="links next-steps") if steps else None


def exclude(piece: Evidence) -> Node:
    """Build the button that excludes a passage."""
    label = "Exclude this passage: it no longer counts for this claim"
    return button("Exclude", _passage("exclude", piece), label)


def excluded(
    claim: Claim, report: Report, pages: Mapping[str, Page], editable: bool
) -> Node | None:
    """Build a folded list of the excluded passages; an `editable` one can be included again."""
    set_aside = report.set_aside.evidence if report.set_aside else ()
    items = []
    for piece in set_aside:
        if piece.claim_id != claim.id:
            continue
        page = pages[piece.page_id]
        back = button("Include", _passage("include", piece), "Include this passage again")
        words = el("span", f"“{piece.deciding_sentence}” ")
        items.append(
            el("li", f"{page.title or page.url}: ", words, back if editable else None, dir="auto")
        )
    if not items:
        return None
    summary = el("summary", f"{plural(len(items), 'passage')} excluded by hand")
    return el("details", summary, el("ul", *items), class_="same excluded")


def _passage(action: str, piece: Evidence) -> str:
    return f"{action}:{piece.claim_id}:{piece.page_id}:{piece.start}:{piece.end}"


def requested(
    report: Report, request: object
) -> edits.Change | StepRequest | Literal["undo"] | None:
    """Parse the request of a click.

    Args:
        report: The run that the click is about.
        request: Words of a browser, which may hold anything.

    Returns:
        A change, a step to take, or "undo"; None if it is no request about a claim of the report.
    """
    if request == "undo":
        return "undo"
    action, _, rest = str(request or "").partition(":")
    claim_id, _, rest = rest.partition(":")
    claim = next((claim for claim in report.claims if claim.id == claim_id), None)
    if claim is None:
        return None
    for step in STEPS:
        if action == step:
            return StepRequest(step, claim)
    fields: dict[str, object] = {"claim_id": claim_id}
    if action == "judge":
        label, _, note = rest.partition(":")
        fields |= {"kind": "judge", "label": label or None, "note": note[:NOTE]}
    elif action in ("exclude", "include"):
        fields |= {"kind": "exclude", "excluded": action == "exclude"}
        fields |= zip(("page_id", "start", "end"), rest.split(":"), strict=False)
    try:
        return _CHANGE.validate_python(fields)
    except ValidationError:
        return None
