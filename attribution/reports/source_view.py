"""Draw the sources of a run with the claims that each supports, contradicts or leaves open."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from attribution.reports.cards import leans
from attribution.reports.html import (
    Node,
    as_sentence,
    data,
    el,
    link_to_sentence,
    plural,
    safe_url,
)
from attribution.reports.looks import look
from attribution.reports.trail import facts
from attribution.types import Claim, Evidence, Label, Page, Relation, Report, Span

# Relation and label, those that need a look first
SIDES: tuple[tuple[Relation, Label], ...] = (
    ("contradicted", "contradicted"),
    ("no_relation", "unclear"),
    ("entailed", "supported"),
)
LABELS: dict[Relation, Label] = dict(SIDES)
Pieces = dict[str, Evidence]  # by claim


def _best_pieces(pieces: Sequence[Evidence]) -> Pieces:
    """Return a passage for each claim, one that decides if there is one."""
    best: Pieces = {}
    for piece in sorted(pieces, key=lambda e: e.relation == "no_relation"):
        best.setdefault(piece.claim_id, piece)
    return best


def _speaks(piece: Evidence) -> bool:
    """Return True if a passage says something about its claim, though it may not count."""
    return piece.relation != "no_relation" or leans(piece)


def source_list(report: Report) -> Node:
    """List the sources of a run, those that decide most claims first; the others stand below."""
    used: dict[str, Pieces] = {}
    for page in report.pages:
        pieces = [e for e in report.evidence if e.page_id == page.id and _speaks(e)]
        if pieces:
            used[page.id] = _best_pieces(pieces)
    pages = [page for page in report.pages if page.id in used]
    pages.sort(key=lambda page: len(used[page.id]), reverse=True)
    return el(
        "div",
        el("p", "No source was read.") if not report.pages else None,
        _unread(report),
        *(_card(page, used[page.id], report) for page in pages),
        _others([page for page in report.pages if page.id not in used]),
        class_="panel-body sources",
    )


def _unread(report: Report) -> Node | None:
    """List the sources that could not be read, each with its reason and remedy."""
    failures = [failure for failure in report.failures if failure.stage == "fetch"]
    if not failures:
        return None
    items = []
    for failure in failures:
        items.append(el("li", el("strong", failure.subject), f": {as_sentence(failure.message)}"))
    title = f"{plural(len(failures), 'source')} could not be read"
    return el("details", el("summary", title), el("ul", *items, dir="auto"))


def _others(pages: Sequence[Page]) -> Node | None:
    if not pages:
        return None
    titles = el("ul", *(el("li", _title(page, 0)) for page in pages))
    summary = f"Nothing about a claim: {plural(len(pages), 'page')}"
    return el("details", el("summary", summary), titles)


def _title(page: Page, start: int) -> Node:
    """Draw the title, as a button where the text can be opened."""
    title = page.title or page.url
    if not page.text:
        return el("span", title, dir="auto")
    place = {"data_page": page.id, "data_at": f"{start},{start},{start},{start}"}
    return el("button", title, type="button", class_="open title", dir="auto", **place)


def _card(page: Page, pieces: Pieces, report: Report) -> Node:
    """Draw a source with its claims, each with the icon of what the source says of it."""
    first = next(iter(pieces.values())).sentence[0]
    rows: list[Node] = []
    for relation, label in SIDES:
        for claim in report.claims:
            if claim.id in pieces and pieces[claim.id].relation == relation:
                rows.append(el("li", _claim_button(claim, label)))
    name = (_title(page, first), el("span", facts(page, first), class_="facts"))
    return el("article", el("p", *name, class_="source-name"), el("ul", *rows, class_="uses"))


def _claim_button(claim: Claim, label: Label) -> Node:
    icon = el("span", look(label).icon, class_=f"mark v-{label}", aria_hidden="true")
    words = el("span", claim.text, dir="auto")
    return el("button", icon, words, type="button", data_claim=claim.id)


# --- the text of a source ---


@dataclass
class _SourceMark:
    """A stretch of a text with deciding sentences that overlap."""

    start: int
    end: int
    pieces: list[Evidence]


def source_text(report: Report, page: Page, sentence: Span) -> dict[str, object]:
    """Return a source's text for the browser, with its deciding sentences and their claims.

    Args:
        report: The run.
        page: The source.
        sentence: The sentence to show, which is marked as well.
    """
    numbers = {claim.id: number for number, claim in enumerate(report.claims, 1)}
    marks: list[_SourceMark] = []
    pieces = [e for e in report.evidence if e.page_id == page.id and e.claim_id in numbers]
    for piece in sorted(filter(_speaks, pieces), key=lambda e: (*e.sentence, numbers[e.claim_id])):
        start, end = piece.sentence
        if marks and start < marks[-1].end:
            marks[-1].end = max(end, marks[-1].end)
            marks[-1].pieces.append(piece)
        elif 0 <= start < end <= len(page.text):
            marks.append(_SourceMark(start, end, [piece]))
    at, end = sentence
    is_marked = any(mark.start <= at < mark.end for mark in marks)
    if not is_marked and 0 <= at < end <= len(page.text):
        next_start = min((mark.start for mark in marks if mark.start > at), default=len(page.text))
        marks.append(_SourceMark(at, min(end, next_start), []))
        marks.sort(key=lambda mark: mark.start)
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
