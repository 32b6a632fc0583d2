"""Offer the actions on a claim and its passages, and the most useful next step, as buttons.

A click arrives as words separated by colons: `drop:CLAIM`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import ValidationError

from attribution import edits
from attribution.reports.html import Node, el, look, plural
from attribution.source import of_settings
from attribution.types import (
    NOTE,
    AnalystLabel,
    Claim,
    Evidence,
    Label,
    Page,
    Report,
    Verdict,
)
from attribution.verdicts import agreeing

_PLACE = re.compile(r"(?P<page>[^:]+):(?P<start>[0-9]{1,9}):(?P<end>[0-9]{1,9})")


@dataclass(frozen=True)
class Opened:
    """A dialog to open for a claim."""

    claim: Claim


def button(text: str, request: str, label: str = "") -> Node:
    """Build a button that requests a change; `label` is a longer text for screen readers."""
    return el(
        "button", text, type="button", class_="open", data_edit=request, aria_label=label or None
    )


def claim_actions(claim: Claim, number: int) -> Node:
    """Build the buttons below a claim."""
    return el(
        "p",
        button("Edit", f"open:{claim.id}", f"Edit claim {number}"),
        button("Drop", f"drop:{claim.id}", f"Drop claim {number}"),
        class_="links actions",
    )


OFFERED: tuple[AnalystLabel, ...] = ("supported", "contradicted", "unclear")


def judge_buttons(claim: Claim, verdict: Verdict | None, report: Report) -> Node | None:
    """Build the buttons for the analyst's own verdict; a second click clears it."""
    agreed = agreeing(verdict.label if verdict else None)
    if agreed is None:
        return None
    own = [judgement for judgement in report.judgements if judgement.claim_id == claim.id]
    chosen = own[0].label if own else None
    buttons = []
    for label in dict.fromkeys((agreed, *OFFERED)):
        word, title = look(label).word, f"{look(label).word}, in your judgement"
        if label == agreed:
            word = "Agreed" if label == chosen else "Agree"
        if label == chosen:
            title = "Click again to clear it"
        buttons.append(
            el(
                "button",
                word,
                type="button",
                class_=f"verdict v-{label}",
                data_edit=f"judge:{claim.id}:{'' if label == chosen else label}",
                aria_pressed="true" if label == chosen else "false",
                title=title,
            )
        )
    note = own[0].note if own else ""
    heading = el("span", "Your verdict", class_="facts")
    return el("div", heading, *buttons, class_="judge", data_note=note)


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
        page = pages.get(piece.page_id)
        title = page.title or page.url if page else piece.page_id
        back = button("Include", _passage("include", piece), "Include this passage again")
        words = el("span", f"“{piece.deciding_sentence}” ")
        items.append(el("li", f"{title}: ", words, back if editable else None, dir="auto"))
    if not items:
        return None
    summary = el("summary", f"{plural(len(items), 'passage')} excluded by hand")
    return el("details", summary, el("ul", *items), class_="same excluded")


def _passage(action: str, piece: Evidence) -> str:
    return f"{action}:{piece.claim_id}:{piece.page_id}:{piece.start}:{piece.end}"


def requested(
    report: Report, request: object
) -> edits.Change | Opened | Literal["undo", "redo"] | None:
    """Parse the request of a click; None if it is none of this report."""
    if request == "undo" or request == "redo":
        return "undo" if request == "undo" else "redo"
    action, _, rest = str(request or "").partition(":")
    claim_id, _, rest = rest.partition(":")
    claim = next((claim for claim in report.claims if claim.id == claim_id), None)
    if claim is None:
        return None
    match action:
        case "open":
            return Opened(claim)
        case "drop":
            return edits.Drop(claim_id=claim.id)
        case "as_written" if claim.enriched:
            return edits.Reword(claim_id=claim.id, text=claim.text)
        case "judge":
            return _judgement(claim, rest)
        case "exclude" | "include":
            return _exclusion(claim, rest, action == "exclude")
    return None


def _judgement(claim: Claim, rest: str) -> edits.Judge | None:
    label, _, note = rest.partition(":")
    try:
        return edits.Judge.model_validate(
            {"claim_id": claim.id, "label": label or None, "note": note[:NOTE]}
        )
    except ValidationError:
        return None


def _exclusion(claim: Claim, rest: str, is_excluded: bool) -> edits.Exclude | None:
    match = _PLACE.fullmatch(rest)
    if match is None:
        return None
    return edits.Exclude(
        claim_id=claim.id,
        page_id=match["page"],
        start=int(match["start"]),
        end=int(match["end"]),
        excluded=is_excluded,
    )


def edited_claims(report: Report) -> frozenset[str]:
    """Return the ids of the claims whose text or evidence a person changed."""
    by_hand = [e for e in report.edits if not isinstance(e.change, edits.Drop | edits.Recheck)]
    return frozenset(claim_id for e in by_hand for claim_id in e.claims)


def joined(claims: Sequence[Claim]) -> str:
    """Return a first text for the merger of several claims."""
    return " ".join(c.text if c.text.endswith((".", "!", "?")) else f"{c.text}." for c in claims)


Step = Literal["reword", "web", "source", "correct"]
WORDS: dict[Step, str] = {
    "reword": "Reword this claim",
    "web": "Search the web for this claim",
    "source": "Add a source",
    "correct": "Propose a correction",
}
STEPS: Mapping[Label, tuple[Step, ...]] = {
    "missing": ("web", "reword", "source"),
    "no_relation": ("web", "reword"),
    "unclear": ("source",),
    "not_reached": ("source",),
    "contradicted": ("correct",),
}


def next_steps(claim: Claim, verdict: Verdict | None, report: Report) -> tuple[Step, ...]:
    """Return the steps to offer for a claim, the most useful first; none if it is settled."""
    steps = STEPS.get(verdict.label, ()) if verdict else ()
    return tuple(step for step in steps if step != "web" or not has_searched_web(claim, report))


def has_searched_web(claim: Claim, report: Report) -> bool:
    """Return True if the run, or an edit of this claim, has searched the web for it."""
    sources = of_settings(report.settings.get("sources", ()))
    if any(source.searches_web for source in sources):
        return True
    for edit in report.edits:
        is_search = isinstance(edit.change, edits.AddEvidence) and edit.change.sources
        if is_search and claim.id in edit.claims:
            return True
    return False


def step_buttons(claim: Claim, verdict: Verdict | None, report: Report) -> Node | None:
    """Build a button for each step; a click requests `STEP CLAIM`."""
    steps = next_steps(claim, verdict, report)
    if not steps:
        return None
    buttons = (
        el("button", WORDS[s], type="button", class_="next", data_step=f"{s} {claim.id}")
        for s in steps
    )
    return el("p", *buttons, class_="links next-steps")
