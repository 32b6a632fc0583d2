"""What can be done to a claim and its passages in the answer view: the buttons, and what a click asks for.

A click arrives as words with colons, `drop:CLAIM`. Imports no streamlit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from attribution.text.lexical import occurrences
from attribution.types import Change, Claim, Evidence, Page, Report, Span
from attribution.types.edits import AsWritten, Drop, Exclude, Pin, Place
from pages.ui.html.render import Node, el, plural


@dataclass(frozen=True)
class Opened:
    """A dialog to open: on a claim, at one of its tabs, or on a new claim that stands at these characters."""

    claim: Claim | None = None
    span: Span | None = None
    tab: str = "Text"


def button(text: str, request: str, label: str = "") -> Node:
    """A button that asks for a change; `label` says more than its text to a screen reader."""
    return el("button", text, type="button", class_="open", data_edit=request, aria_label=label or None)


def claim_actions(claim: Claim, number: int) -> Node:
    """The buttons below a claim."""
    pin = ("Unpin", "unpin") if claim.pinned else ("Pin", "pin")
    return el(
        "p",
        button("Edit", f"open:{claim.id}", f"Edit claim {number}"),
        button(pin[0], f"{pin[1]}:{claim.id}", f"{pin[0]} claim {number}: pinned claims come first and stay"),
        button("Drop", f"drop:{claim.id}", f"Drop claim {number}"),
        el("span", "Pinned", class_="facts") if claim.pinned else None,
        class_="links actions",
    )


def exclude(piece: Evidence) -> Node:
    """The button that takes a passage out."""
    return button("Exclude", _passage("exclude", piece), "Exclude this passage: it no longer counts for this claim")


def excluded(claim: Claim, report: Report, pages: Mapping[str, Page], editable: bool) -> Node | None:
    """The passages that were taken out, folded; each with the way back where the run is `editable`."""
    pieces = [e for e in (report.set_aside.evidence if report.set_aside else ()) if e.claim_id == claim.id]
    if not pieces:
        return None
    items = []
    for piece in pieces:
        page = pages.get(piece.page_id)
        title = page.title or page.url if page else piece.page_id
        back = button("Include", _passage("include", piece), "Include this passage again") if editable else None
        items.append(el("li", f"{title}: ", el("span", f"“{piece.deciding_sentence}” "), back, dir="auto"))
    return el(
        "details",
        el("summary", f"{plural(len(pieces), 'passage')} excluded by hand"),
        el("ul", *items),
        class_="same excluded",
    )


def _passage(action: str, piece: Evidence) -> str:
    return f"{action}:{piece.claim_id}:{piece.page_id}:{piece.start}:{piece.end}"


def requested(report: Report, request: object) -> Change | Opened | Literal["undo", "redo"] | None:
    """What a click asks for; None for what is no request, or is about something that this report does not have."""
    action, *parts = str(request or "").split(":")
    if request in ("undo", "redo"):
        return "undo" if request == "undo" else "redo"
    claim = next((c for c in report.claims if parts and c.id == parts[0]), None)
    numbers = [int(part) for part in parts if part.isascii() and part.isdigit() and len(part) < 10]
    if action == "add" and len(numbers) == 2 and numbers[0] < numbers[1] <= len(report.answer):
        return Opened(span=(numbers[0], numbers[1]))
    if claim is None:
        return None
    match action:
        case "open":
            return Opened(claim)
        case "drop":
            return Drop(claim_id=claim.id)
        case "pin" | "unpin":
            return Pin(claim_id=claim.id, pinned=action == "pin")
        case "as_written":
            return AsWritten(claim_id=claim.id)
        case "place" if len(parts) == 3 and len(numbers) >= 2:
            return Place(claim_id=claim.id, spans=((numbers[-2], numbers[-1]),))
        case "exclude" | "include" if len(parts) == 4 and len(numbers) >= 2:
            start, end = numbers[-2:]
            return Exclude(claim_id=claim.id, page_id=parts[1], start=start, end=end, excluded=action == "exclude")
    return None


def find_words(answer: str, words: str, near: int = 0) -> Span | None:
    """Where these words stand in the answer, spaces and line breaks alike; of several places the one nearest."""
    return min(occurrences(words, answer), key=lambda span: abs(span[0] - near), default=None)


def edited_claims(report: Report) -> frozenset[str]:
    """The ids of the claims whose text, place or evidence a person changed."""
    other = ("pin", "question", "resegment", "restore")
    return frozenset(claim_id for e in report.edits if e.change.kind not in other for claim_id in e.claims)


def joined(claims: Sequence[Claim]) -> str:
    """The text that several claims amount to, to begin with."""
    return " ".join(c.text if c.text.endswith((".", "!", "?")) else f"{c.text}." for c in claims)
