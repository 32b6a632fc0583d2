"""Offer the actions on a claim and its passages, and the most useful next step, as buttons.

A click arrives as words separated by colons: `drop:CLAIM`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from attribution import edits
from attribution.reports.html import Node, el, look, plural
from attribution.source import of_settings
from attribution.types import (
    NOTE,
    AnalystLabel,
    Claim,
    Evidence,
    Failure,
    FailureKind,
    Label,
    Page,
    Report,
    Verdict,
)
from attribution.verdicts import agreeing


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
    """Build the buttons for the analyst's own verdict, which stands beside the model's; a second
    click clears it.
    """
    own = next((j for j in report.judgements if j.claim_id == claim.id), None)
    agreed = agreeing(verdict.label if verdict else None)
    if agreed is None:
        return None
    others = tuple(label for label in OFFERED if label != agreed)
    buttons = []
    for label in (agreed, *others):
        chosen = own is not None and own.label == label
        word = ("Agreed" if chosen else "Agree") if label == agreed else look(label).word
        buttons.append(
            el(
                "button",
                word,
                type="button",
                class_=f"verdict v-{label}",
                data_edit=f"judge:{claim.id}:{'' if chosen else label}",
                aria_pressed="true" if chosen else "false",
                title="Click again to clear it"
                if chosen
                else f"{look(label).word}, in your judgement",
            )
        )
    return el(
        "div",
        el("span", "Your verdict", class_="facts"),
        *buttons,
        class_="judge",
        data_note=own.note if own else "",
    )


def exclude(piece: Evidence) -> Node:
    """Build the button that excludes a passage."""
    return button(
        "Exclude",
        _passage("exclude", piece),
        "Exclude this passage: it no longer counts for this claim",
    )


def excluded(
    claim: Claim, report: Report, pages: Mapping[str, Page], editable: bool
) -> Node | None:
    """Build a folded list of the excluded passages, each with a button to include it if the run is
    `editable`.
    """
    pieces = [
        e for e in (report.set_aside.evidence if report.set_aside else ()) if e.claim_id == claim.id
    ]
    if not pieces:
        return None
    items = []
    for piece in pieces:
        page = pages.get(piece.page_id)
        title = page.title or page.url if page else piece.page_id
        back = (
            button("Include", _passage("include", piece), "Include this passage again")
            if editable
            else None
        )
        items.append(
            el("li", f"{title}: ", el("span", f"“{piece.deciding_sentence}” "), back, dir="auto")
        )
    return el(
        "details",
        el("summary", f"{plural(len(pieces), 'passage')} excluded by hand"),
        el("ul", *items),
        class_="same excluded",
    )


def _passage(action: str, piece: Evidence) -> str:
    return f"{action}:{piece.claim_id}:{piece.page_id}:{piece.start}:{piece.end}"


def requested(
    report: Report, request: object
) -> edits.Change | Opened | Literal["undo", "redo"] | None:
    """Parse the request of a click; None for anything else, or if this report lacks what it
    concerns.
    """
    action, *parts = str(request or "").split(":", 3 if str(request).startswith("judge:") else -1)
    if request in ("undo", "redo"):
        return "undo" if request == "undo" else "redo"
    claim = next((c for c in report.claims if parts and c.id == parts[0]), None)
    numbers = [int(part) for part in parts if part.isascii() and part.isdigit() and len(part) < 10]
    if claim is None:
        return None
    match action:
        case "open":
            return Opened(claim)
        case "drop":
            return edits.Drop(claim_id=claim.id)
        case "judge" if len(parts) >= 2 and parts[1] in ("", *get_args(AnalystLabel)):
            label: AnalystLabel | None = parts[1] or None  # type: ignore[assignment]
            return edits.Judge(claim_id=claim.id, label=label, note="".join(parts[2:])[:NOTE])
        case "as_written" if claim.enriched:
            return edits.Reword(claim_id=claim.id, text=claim.text)
        case "exclude" | "include" if len(parts) == 4 and len(numbers) >= 2:
            start, end = numbers[-2:]
            place = {"page_id": parts[1], "start": start, "end": end}
            return edits.Exclude(claim_id=claim.id, **place, excluded=action == "exclude")
    return None


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
BY_FAILURE: Mapping[FailureKind, Step] = {
    "nothing_found": "reword",
    "search_failed": "source",
    "search_limited": "source",
    "budget_spent": "source",
    **dict.fromkeys(
        (
            "robots",
            "excluded",
            "blocked_address",
            "bad_address",
            "unreachable",
            "timed_out",
            "too_large",
            "http_error",
        )
        + (
            "server_error",
            "rate_limited",
            "redirect_loop",
            "bad_certificate",
            "paywall",
            "wrong_type",
            "no_text",
        )
        + ("needs_javascript", "encrypted", "unreadable"),
        "source",
    ),
}
BY_LABEL: Mapping[Label, tuple[Step, ...]] = {  # the first one not done yet
    "missing": ("web", "reword"),
    "no_relation": ("web", "reword"),
    "unclear": ("source",),
    "not_reached": ("source",),
}
CORRECTABLE: tuple[Label, ...] = ("contradicted",)


def next_steps(claim: Claim, verdict: Verdict | None, report: Report) -> tuple[Step, ...]:
    """Return the steps to offer for a claim, the most useful first; none if the verdict settles it."""
    if verdict is None or verdict.label not in (*BY_LABEL, *CORRECTABLE):
        return ()
    steps: list[Step] = []
    if verdict.label in BY_LABEL:
        failed = [
            BY_FAILURE[f.kind] for f in _concerning(claim, report.failures) if f.kind in BY_FAILURE
        ]
        steps += failed[:1] if verdict.label in ("missing", "not_reached") else []
        done = done_already(claim, report)
        steps += [step for step in BY_LABEL[verdict.label] if step not in done][:1]
    if verdict.label in CORRECTABLE:
        steps.append("correct")
    return tuple(dict.fromkeys(steps))


def _concerning(claim: Claim, failures: Sequence[Failure]) -> list[Failure]:
    return [f for f in failures if f.subject in (claim.id, claim.text, claim.statement)]


def done_already(claim: Claim, report: Report) -> set[Step]:
    """Return the steps that the run, or an edit of this claim, has already taken."""
    done: set[Step] = set()
    sources = of_settings(report.settings.get("sources", ()))
    if any(source.searches_web for source in sources):
        done.add("web")
    for edit in report.edits:
        is_search = isinstance(edit.change, edits.AddEvidence) and edit.change.sources
        if is_search and claim.id in edit.claims:
            done.add("web")
    return done


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
