"""Show an answer with its claims highlighted, and the evidence for the selected claim.

Selection happens in the browser; the server is asked only for the text of a source that is opened.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence, Set
from pathlib import Path
from typing import TYPE_CHECKING, Any

import streamlit as st

from attribution.provenance import Provenance
from attribution.reports import answer, cards, html
from attribution.reports.claim_rows import ClaimRow, claim_rows
from attribution.reports.html import Node, badge, el, look, style_class
from attribution.reports.source_view import source_list, source_text
from attribution.review.quotations import quotations
from attribution.types import BADGES, UNCHECKED, Claim, Page, Report
from attribution.verifiers.calibration import badge_of, badges

if TYPE_CHECKING:
    from streamlit.components.v2.bidi_component.state import ComponentResult

View = dict[str, Any]  # what the component of the answer draws
_STATIC = Path(__file__).parent / "static"


def _read(*names: str) -> str:
    return "".join((_STATIC / name).read_text("utf-8") for name in names)


STYLES = html.tokens_css(".root") + (html.STATIC / "answer.css").read_text("utf-8")
STYLES += _read("editing.css", "source.css", "stage.css")
SCRIPTS = ("chips.js", "tabs.js", "source.js", "placement.js", "answer.js", "claims.js", "mount.js")
_answer = st.components.v2.component(
    "attribution.answer",
    html='<div class="root"></div>',
    css=STYLES,
    js=html.NODES_JS + _read(*SCRIPTS),
)
_source = st.components.v2.component(
    "attribution.source",
    html='<div class="root"></div>',
    css=html.tokens_css(".root") + _read("source.css"),
    js=html.NODES_JS + _read("source.js", "source_mount.js"),
)
# the order of what needs a look
TROUBLE = tuple(name for name in BADGES if not name.endswith("supported") and name not in UNCHECKED)
DOUBTS = tuple(name for name in TROUBLE if name != "no_relation")
ORDER = (*BADGES, "pending")  # of the bar
TABS = (
    ("evidence", "Evidence"),
    ("sources", "Sources"),
    ("revised", "Revised answer"),
    ("citations", "Citations"),
)


def _hint() -> Node:
    """Draw the evidence column until there are verdicts."""
    words = ("Select a claim to see its evidence.", "Verdicts appear as they are found.")
    return el("div", el("h3", "Evidence"), *(el("p", line) for line in words), class_="hint")


def _overview(report: Report) -> Node:
    """Draw the evidence column while no claim is selected: errors and doubts first, a line for each
    other badge.
    """
    verdicts = {verdict.claim_id: verdict for verdict in report.verdicts}
    rows: dict[str, list[Node]] = {name: [] for name in BADGES}
    for number, claim in enumerate(report.claims, 1):
        name = badge_of(verdicts.get(claim.id), report, "not_reached")
        words = f"{number}. {claim.text}"
        opener = el(
            "button",
            words,
            type="button",
            class_="open",
            data_claim=claim.id,
            dir="auto",
        )
        rows[name].append(el("p", badge(name) if name in DOUBTS else None, " ", opener))
    drawn: list[Node] = []
    for name in DOUBTS:
        drawn += rows[name]
    for name, claims in rows.items():
        if claims and name not in DOUBTS:
            summary = el("summary", f"{len(claims)} {look(name).noun}")
            drawn.append(el("details", summary, *claims))
    return el("div", *drawn, class_="panel-body overview")


def view(
    report: Report,
    corrected: Set[str] = frozenset(),
    provenance: Provenance | None = None,
    *,
    run: str,
    running: bool,
    editable: bool = False,
    tabs: Sequence[tuple[str, str]] = (),
    before: tuple[View, str] | None = None,
) -> View:
    """Return the data of the component.

    Args:
        corrected: The ids of claims that were edited by hand.
        editable: Add the controls that change the run.
        before: The result for the same run when just the claim of that id was another.
    """
    data, only = before or ({}, "")
    changing = _of_claims(report, corrected, provenance, running, editable, data, only)
    if only:
        return data | changing
    tree = answer.mark(answer.parse(report.answer), report.claims)
    placed = answer.marked(tree)
    notes = el("div") if running else cards.footnotes(report)
    return {
        **changing,
        "run": run,
        "tree": [html.data(node) for node in tree],
        "editable": editable,
        "loose": [claim.id for claim in report.claims if claim.id not in placed],
        "trouble": TROUBLE,
        "tabs": tabs,
        "sources": html.data(source_list(report)) if tabs else None,
        "source": None,
        "first": "" if running else _first(report),
        "notes": html.data(notes),
    }


def _of_claims(
    report: Report,
    corrected: Set[str],
    provenance: Provenance | None,
    running: bool,
    editable: bool,
    data: View,
    only: str,
) -> View:
    """Return what depends on the claims; with `only`, all others are as they were in `data`."""
    quoted = () if running else quotations(report)
    claims = dict(data.get("claims", {}))
    panels = dict(data.get("panels", {}))
    for row in claim_rows(report):
        claim_id = row.claim.id
        if only and claim_id != only:
            continue
        claims[claim_id] = {
            "n": row.number,
            "corrected": claim_id in corrected,
            "tip": cards.tip(row),
            **_claim(row, running),
        }
        panel = cards.panel(row, report, running, provenance, editable, quoted)
        panels[claim_id] = html.data(panel)
    return {
        "claims": claims,
        "panels": panels,
        "counts": counts(report, corrected, running),
        "empty": html.data(_hint() if running else _overview(report)),
    }


def _claim(row: ClaimRow, running: bool) -> View:
    own = look(row.own.label) if row.own else None
    is_supported = row.verdict is not None and row.verdict.label == "supported"
    return {
        **_shown("pending" if running and row.verdict is None else row.badge),
        "text": row.claim.text,
        "judged": {"icon": own.icon, "word": own.word.lower()} if own else None,
        "exact": is_supported and any("verbatim" in piece.steps for piece in row.evidence),
    }


def _shown(name: str) -> View:
    style = look(name)
    return {
        "label": name,
        "style": style_class(name),
        "icon": style.icon,
        "word": style.word.lower(),
    }


def proposed(data: View, cards: Mapping[str, Node]) -> View:
    """Add to the panels of claims what is known of a correction of each."""
    panels = data["panels"]
    drawn = {i: [*panels[i], html.data(card)] for i, card in cards.items() if i in panels}
    return data | {"panels": {**panels, **drawn}} if drawn else data


def opened(data: View, report: Report, click: object) -> View:
    """Add the source that a click asks for to the data of the component."""
    place = requested_place(report, click)
    if place is None:
        return data
    page, at = place
    source = source_text(report, page, at[2])
    return data | {"source": source | {"asked": [page.id, at[2]]}}


def counts(report: Report, corrected: Set[str], running: bool) -> list[View]:
    """Make one segment for each verdict that occurs, and for what the analyst edited or judged."""
    labels = Counter(badges(report, "pending" if running else "not_reached"))
    chips = [_segment(label) | {"count": labels[label]} for label in ORDER if labels[label] > 0]
    edited = sum(claim.id in corrected for claim in report.claims)
    by_hand = (
        ("corrected", "✎", edited, "edited", "You changed its text or its evidence."),
        ("judged", "⚑", len(report.judgements), "judged by you", "You gave a verdict of your own."),
    )
    for label, icon, count, noun, help in by_hand:
        if count:
            words = {"noun": noun, "help": help}
            chips.append({"label": label, "style": f"v-{label}", "icon": icon, "count": count})
            chips[-1] |= words
    return chips


def _segment(label: str) -> View:
    style = look(label)
    return {
        "label": label,
        "style": style_class(label),
        "icon": style.icon,
        "noun": style.noun,
        "help": style.help,
    }


def _first(report: Report) -> str:
    """Return the claim to show when a run has ended: the one edited last, or else one that needs
    attention.
    """
    ids = [claim.id for claim in report.claims]
    if report.edits and ids:
        last = report.edits[-1]
        edited = [claim_id for claim_id in last.claims if claim_id in ids]
        if edited:
            return edited[0]
        if last.change.kind == "drop":
            return _beside_dropped(report)
    shown = [(ORDER.index(badge_of(v, report)), v.claim_id) for v in report.verdicts]
    return min(shown, key=lambda one: one[0], default=(0, ""))[1]


def _beside_dropped(report: Report) -> str:
    """Return the claim after the one dropped last, or the last claim."""
    dropped = report.set_aside.claims[-1] if report.set_aside else None
    if dropped and dropped.spans:
        for claim in report.claims:
            if claim.spans and claim.spans[0] >= dropped.spans[0]:
                return claim.id
    return report.claims[-1].id


def answer_view(data: View, *, key: str) -> ComponentResult:
    """Draw the component. The result names what was clicked: `open` a page and place to show,
    `edit` a change to make,
    `step` a claim and the next step for it."""

    def ignore() -> None:  # without a callback Streamlit reports no click
        pass

    return _answer(
        data=data,
        key=key,
        default={"tab": "evidence"},
        on_tab_change=ignore,
        on_open_change=ignore,
        on_edit_change=ignore,
        on_step_change=ignore,
    )


def requested_place(report: Report, click: object) -> tuple[Page, list[int]] | None:
    """Return the page and offsets of a click; None if there is no such place in the run."""
    if not isinstance(click, Mapping):
        return None
    try:
        page = next(p for p in report.pages if p.id == click["page"])
        place = [int(n) for n in click["at"]]
    except (TypeError, KeyError, ValueError, OverflowError, StopIteration):
        return None
    return (page, place) if len(place) == 4 and page.text else None


def requested_claim(report: Report, click: object) -> Claim | None:
    """Return the claim of a click; None if there is no such claim."""
    asked = click.get("claim") if isinstance(click, Mapping) else None
    return next((c for c in report.claims if c.id == asked), None)


def source_view(page: Page, place: Sequence[int], *, key: str) -> None:
    """Draw the text of a page, scrolled to the passage."""
    size = len(page.text)
    first, last = sorted(min(max(0, int(n)), size) for n in place[2:4])
    marks = [{"at": [first, last], "claims": []}] if first < last else []
    data = {"page": page.id, "text": page.text, "at": first, "breaks": page.breaks, "marks": marks}
    _source(data=data, key=key)
