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
from attribution.reports.html import Node, badge, el, look, style_class
from attribution.reports.source_view import source_list, source_text
from attribution.reports.trail import facts
from attribution.review.quotations import quotations
from attribution.types import BADGES, UNCHECKED, Claim, Evidence, Page, Report, Verdict
from attribution.verifiers.calibration import badge_of, badges
from pages.ui.frame import show

if TYPE_CHECKING:
    from streamlit.components.v2.bidi_component.state import ComponentResult

View = dict[str, Any]  # what the component of the answer draws
_STATIC = Path(__file__).parent / "static"
STYLES = html.tokens_css(".root") + "".join(
    path.read_text("utf-8")
    for path in (
        html.STATIC / "answer.css",
        *(_STATIC / f"{name}.css" for name in ("editing", "source", "stage")),
    )
)
SCRIPTS = (
    html.NODES_JS
    + "".join(  # without the code that mounts it: another page shows two answers side by side
        (_STATIC / name).read_text("utf-8")
        for name in (
            "chips.js",
            "tabs.js",
            "source.js",
            "placement.js",
            "answer.js",
            "claims.js",
        )
    )
)
_answer = st.components.v2.component(
    "attribution.answer",
    html='<div class="root"></div>',
    css=STYLES,
    js=SCRIPTS + (_STATIC / "mount.js").read_text("utf-8"),
)
_source = st.components.v2.component(
    "attribution.source",
    html='<div class="root"></div>',
    css=html.tokens_css(".root") + (_STATIC / "source.css").read_text("utf-8"),
    js=html.NODES_JS
    + "".join((_STATIC / name).read_text("utf-8") for name in ("source.js", "source_mount.js")),
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
    verdicts = {v.claim_id: v for v in report.verdicts}
    rows: dict[str, list[Node]] = {name: [] for name in BADGES}
    for number, claim in enumerate(report.claims, 1):
        name = badge_of(verdicts.get(claim.id), report, "not_reached")
        opener = el(
            "button",
            f"{number}. {claim.text}",
            type="button",
            class_="open",
            data_claim=claim.id,
            dir="auto",
        )
        rows[name].append(el("p", badge(name) if name in DOUBTS else None, " ", opener))
    folded = (
        el("details", el("summary", f"{len(found)} {look(name).noun}"), *found)
        for name, found in rows.items()
        if found and name not in DOUBTS
    )
    return el(
        "div",
        *(row for name in DOUBTS for row in rows[name]),
        *folded,
        class_="panel-body overview",
    )


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
    """Return the data of the component; `corrected` are the ids of claims that were edited by hand.

    `editable` adds the controls that change the run, for its owner alone. Without `tabs` there is
    only the evidence.
    `before` is the result for the same run when just the claim of that id was another.
    """
    pages = {p.id: p for p in report.pages}
    verdicts = {v.claim_id: v for v in report.verdicts}
    data, only = before or ({}, "")
    spoken = () if running else quotations(report)
    claims, panels = dict(data.get("claims", {})), dict(data.get("panels", {}))
    for number, claim in enumerate(report.claims, 1):
        if only and claim.id != only:
            continue
        verdict = verdicts.get(claim.id)
        evidence = [e for e in report.evidence if e.claim_id == claim.id]
        tip = cards.tip(claim, verdict, report, pages)
        claims[claim.id] = {"n": number, "corrected": claim.id in corrected, "tip": tip} | _claim(
            claim, verdict, evidence, report, running
        )
        panels[claim.id] = html.data(
            cards.panel(
                claim,
                number,
                verdict,
                evidence,
                report,
                pages,
                running,
                provenance,
                editable,
                spoken,
            )
        )
    if only:
        new = {"claims": claims, "panels": panels, "counts": counts(report, corrected, running)}
        return data | new | {"empty": html.data(_overview(report))}
    tree = answer.mark(answer.parse(report.answer), report.claims)
    placed = answer.marked(tree)
    return {
        "run": run,
        "tree": [html.data(node) for node in tree],
        "editable": editable,
        "claims": claims,
        "loose": [c.id for c in report.claims if c.id not in placed],
        "panels": panels,
        "counts": counts(report, corrected, running),
        "trouble": TROUBLE,
        "tabs": tabs,
        "sources": html.data(source_list(report)) if tabs else None,
        "source": None,
        "first": "" if running else _first(report),
        "empty": html.data(_hint() if running else _overview(report)),
        "notes": html.data(el("div") if running else cards.footnotes(report, pages)),
    }


def _claim(
    claim: Claim,
    verdict: Verdict | None,
    evidence: Sequence[Evidence],
    report: Report,
    running: bool,
) -> View:
    judged = next((look(j.label) for j in report.judgements if j.claim_id == claim.id), None)
    return {
        **_shown(badge_of(verdict, report, "pending" if running else "not_reached")),
        "text": claim.text,
        "judged": judged and {"icon": judged.icon, "word": judged.word.lower()},
        "exact": bool(
            verdict and verdict.label == "supported" and any(e.word_for_word for e in evidence)
        ),
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
    if (place := requested_place(report, click)) is None:
        return data
    page, at = place
    source = source_text(report, page, at[2])
    return data | {"source": source | {"asked": [page.id, at[2]]}}


def counts(report: Report, corrected: Set[str], running: bool) -> list[dict[str, object]]:
    """Make one segment for each verdict that occurs, one for claims without one, and one for edited
    claims.
    """
    labels = Counter(badges(report, "pending" if running else "not_reached"))
    chips = [_segment(label) | {"count": labels[label]} for label in ORDER if labels[label] > 0]
    if count := sum(claim.id in corrected for claim in report.claims):
        help = "You changed its text or its evidence."
        chips.append(
            {
                "label": "corrected",
                "style": "v-corrected",
                "icon": "✎",
                "count": count,
                "noun": "edited",
                "help": help,
            }
        )
    if report.judgements:
        help = "You gave a verdict of your own."
        chips.append(
            {
                "label": "judged",
                "style": "v-judged",
                "icon": "⚑",
                "count": len(report.judgements),
                "noun": "judged by you",
                "help": help,
            }
        )
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
    ids = {claim.id for claim in report.claims}
    if report.edits:
        if edited := next((i for i in report.edits[-1].claims if i in ids), ""):
            return edited
        if report.edits[-1].change.kind == "drop" and report.claims:
            return _beside_dropped(report)
    shown = [(badge_of(v, report), v.claim_id) for v in report.verdicts]
    return min(shown, key=lambda one: ORDER.index(one[0]), default=("", ""))[1]


def _beside_dropped(report: Report) -> str:
    """Return the claim after the one dropped last, or the last claim."""
    dropped = next(
        (c for c in reversed(report.set_aside.claims if report.set_aside else ()) if c.spans), None
    )
    after = (c.id for c in report.claims if dropped and c.spans and c.spans[0] >= dropped.spans[0])
    return next(after, report.claims[-1].id)


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
    _source(
        data={
            "page": page.id,
            "text": page.text,
            "at": first,
            "breaks": page.breaks,
            "marks": marks,
        },
        key=key,
    )


@st.dialog("Source", width="medium")
def source_dialog(page: Page, place: Sequence[int]) -> None:
    line = " · ".join(filter(None, (facts(page, place[2]), page.url)))
    show(
        el(
            "div",
            el("h3", page.title, dir="auto"),
            el("p", line, class_="ax-quiet"),
            class_="ax-source",
        )
    )
    source_view(page, place, key=f"source-{page.id}-{place[0]}")
