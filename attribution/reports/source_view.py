"""Draw the sources of a run with the claims that each supports, contradicts or leaves open."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from attribution.evidence.origins import sources as counted_sources
from attribution.reports.cards import leans
from attribution.reports.html import Node, badge, data, el, link_to_sentence, look, plural, safe_url
from attribution.reports.trail import facts
from attribution.types import Evidence, Label, Page, Relation, Report

# Relation, label and verb, those that need a look first
SIDES: tuple[tuple[Relation, Label, str], ...] = (
    ("contradicted", "contradicted", "contradicts"),
    ("entailed", "supported", "supports"),
    ("no_relation", "unclear", "leaves open"),
)
LABELS: dict[Relation, Label] = {relation: label for relation, label, _ in SIDES}
_ORDER = [relation for relation, _, _ in SIDES]
Pieces = dict[str, Evidence]  # by claim


def _best_pieces(pieces: Sequence[Evidence]) -> Pieces:
    """Return a passage for each claim, one that decides if there is one."""
    best: Pieces = {}
    for piece in sorted(pieces, key=lambda e: _ORDER.index(e.relation)):
        best.setdefault(piece.claim_id, piece)
    return best


def _speaks(piece: Evidence) -> bool:
    """Return True if a passage says something about its claim, though it may not count."""
    return piece.relation != "no_relation" or leans(piece)


def _numbers(report: Report) -> dict[str, int]:
    return {claim.id: number for number, claim in enumerate(report.claims, 1)}


def source_list(report: Report) -> Node:
    """List the sources of a run, those that decide most claims first; the others stand below."""
    if not report.pages:
        return el("div", el("p", "No source was read."), class_="hint")
    numbers = _numbers(report)
    used: dict[str, Pieces] = {}
    for page in report.pages:
        pieces = [e for e in report.evidence if e.page_id == page.id and _speaks(e)]
        if pieces:
            used[page.id] = _best_pieces(pieces)

    def weight(page: Page) -> list[int]:
        relations = [piece.relation for piece in used[page.id].values()]
        return [relations.count(relation) for relation in _ORDER]

    pages = sorted((p for p in report.pages if p.id in used), key=weight, reverse=True)
    counted = counted_sources(pages)
    return el(
        "div",
        el("p", f"Sources with relevant passages: {counted}.", class_="reason"),
        *(_card(page, used[page.id], numbers) for page in pages),
        _others([page for page in report.pages if page.id not in used]),
        class_="panel-body sources",
    )


def _others(pages: Sequence[Page]) -> Node | None:
    if not pages:
        return None
    summary = el("summary", f"{plural(len(pages), 'source')} without such a passage")
    return el("details", summary, el("ul", *(el("li", _title(page, 0)) for page in pages)))


def _title(page: Page, start: int) -> Node:
    """Draw the title, as a button where the text can be opened."""
    title = page.title or page.url
    if not page.text:
        return el("span", title, dir="auto")
    place = {"data_page": page.id, "data_at": f"{start},{start},{start},{start}"}
    return el("button", title, type="button", class_="open title", dir="auto", **place)


def _card(page: Page, pieces: Pieces, numbers: Mapping[str, int]) -> Node:
    first = next(iter(pieces.values())).sentence[0]
    rows = []
    for relation, label, verb in SIDES:
        ids = [i for i in numbers if i in pieces and pieces[i].relation == relation]
        if ids:
            buttons = [_claim_button(claim_id, numbers[claim_id], label) for claim_id in ids]
            rows.append(el("p", badge(label, word=f"{verb} {len(ids)}"), *buttons, class_="uses"))
    return el(
        "article",
        el("div", _title(page, first), class_="head"),
        el("p", facts(page, first), class_="facts"),
        *rows,
        class_="card",
    )


def _claim_button(claim_id: str, number: int, label: Label) -> Node:
    return el(
        "button",
        str(number),
        type="button",
        class_=f"go v-{label}",
        data_claim=claim_id,
        aria_label=f"Claim {number}: show its evidence",
    )


# --- the text of a source ---


@dataclass
class _SourceMark:
    """A stretch of a text with deciding sentences that overlap."""

    start: int
    end: int
    pieces: list[Evidence]


def source_text(report: Report, page: Page, at: int) -> dict[str, object]:
    """Return a source's text for the browser, with its deciding sentences and their claims."""
    numbers = _numbers(report)
    marks: list[_SourceMark] = []
    pieces = [e for e in report.evidence if e.page_id == page.id and e.claim_id in numbers]
    for piece in sorted(filter(_speaks, pieces), key=lambda e: (*e.sentence, numbers[e.claim_id])):
        start, end = piece.sentence
        if marks and start < marks[-1].end:
            marks[-1].end = max(end, marks[-1].end)
            marks[-1].pieces.append(piece)
        elif 0 <= start < end <= len(page.text):
            marks.append(_SourceMark(start, end, [piece]))
    return {
        "head": data(_head(page, at)),
        "page": page.id,
        "text": page.text,
        "breaks": page.breaks,
        "at": at,
        "marks": [
            {"at": [mark.start, mark.end], "claims": _claims_of(mark, numbers)} for mark in marks
        ],
    }


def _head(page: Page, at: int) -> Node:
    address = safe_url(page.reference or page.facts_from)
    if page.kind == "web":
        address = link_to_sentence(page.url, page.text[at : at + 300].split("\n")[0])
    links = None
    if address:
        attributes = {"target": "_blank", "rel": "noopener noreferrer", "class_": "more"}
        opener = el("a", "Open the original ↗", href=address, **attributes)
        links = el("p", opener, class_="links")
    return el(
        "div",
        el("h3", page.title or page.url, dir="auto"),
        el("p", facts(page, at), class_="facts"),
        links,
        class_="source-head",
    )


def _claims_of(mark: _SourceMark, numbers: Mapping[str, int]) -> list[dict[str, object]]:
    """Return the claims of one mark, each once, contradicted ones first."""
    claims: list[dict[str, object]] = []
    for claim_id, piece in _best_pieces(mark.pieces).items():
        label = LABELS[piece.relation]
        style = look(label)
        claims.append(
            {
                "id": claim_id,
                "n": numbers[claim_id],
                "label": label,
                "icon": style.icon,
                "word": style.word.lower(),
            }
        )
    return claims
