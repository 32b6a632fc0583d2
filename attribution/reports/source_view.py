"""Draw the sources of a run with the claims that each supports, contradicts or leaves open."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from attribution.reports.claim_rows import relation_label
from attribution.reports.html import (
    Node,
    data,
    el,
    link,
    link_to_sentence,
    plural,
    safe_url,
)
from attribution.reports.looks import look
from attribution.reports.trail import facts, text_button
from attribution.types import Claim, Evidence, Label, Page, Report, Span

LABELS: tuple[Label, ...] = ("contradicted", "unclear", "supported")  # that need a look first
Labels = dict[str, Label]  # what a source says of each claim, by its id


def _labels(pieces: Sequence[Evidence]) -> Labels:
    """Return what passages say of their claims; one that decides goes before one that leans."""
    labels: Labels = {}
    for piece in sorted(pieces, key=lambda piece: piece.relation == "no_relation"):
        labels.setdefault(piece.claim_id, relation_label(piece))
    return labels


def _speaking(report: Report, page: Page) -> list[Evidence]:
    """Return the passages of a page that say something of a claim, though they may not count."""
    pieces = [piece for piece in report.evidence if piece.page_id == page.id]
    return [piece for piece in pieces if relation_label(piece) in LABELS]


def source_list(report: Report) -> Node:
    """List the sources of a run, those that decide most claims first; the others stand below."""
    labels = {page.id: _labels(_speaking(report, page)) for page in report.pages}
    used = [page for page in report.pages if labels[page.id]]
    used.sort(key=lambda page: len(labels[page.id]), reverse=True)
    return el(
        "div",
        None if report.pages else el("p", "No source was read."),
        *(_card(page, labels[page.id], report) for page in used),
        _others([page for page in report.pages if not labels[page.id]]),
        class_="panel-body sources",
    )


def _others(pages: Sequence[Page]) -> Node | None:
    if not pages:
        return None
    return el(
        "details",
        el("summary", f"Nothing about a claim: {plural(len(pages), 'page')}"),
        el("ul", *(el("li", _title(page, 0)) for page in pages)),
    )


def _title(page: Page, start: int) -> Node:
    """Draw the title, as a button where the text can be opened."""
    if not page.text:
        return el("span", page.name, dir="auto")
    return text_button(page.name, page, (start, start), "open title")


def _card(page: Page, labels: Labels, report: Report) -> Node:
    """Draw a source with its claims and their counts; the supported ones are folded."""
    first = next(piece.sentence[0] for piece in _speaking(report, page))
    name = [_title(page, first), el("span", facts(page, first), class_="facts")]
    lists: list[Node] = []
    for label in LABELS:
        claims = [claim for claim in report.claims if labels.get(claim.id) == label]
        if not claims:
            continue
        name.append(el("span", f"{look(label).icon} {len(claims)}", class_=f"count v-{label}"))
        uses = el("ul", *(_use(claim, label) for claim in claims), class_="uses")
        if label == "supported":
            uses = el("details", el("summary", plural(len(claims), "supported claim")), uses)
        lists.append(uses)
    return el("article", el("p", *name, class_="source-name"), *lists)


def _use(claim: Claim, label: Label) -> Node:
    button = el(
        "button",
        el("span", look(label).icon, class_=f"mark v-{label}", aria_hidden="true"),
        el("span", claim.text, dir="auto"),
        type="button",
        data_claim=claim.id,
    )
    return el("li", button)


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
        sentence: The sentence to show, which is marked as well. A browser sent it, so it may lie
            anywhere.
    """
    size = len(page.text)
    start, end = sorted(min(max(0, place), size) for place in sentence)
    marks = _marks(_speaking(report, page), (start, end))
    numbers = {claim.id: number for number, claim in enumerate(report.claims, 1)}
    rows = [{"at": [mark.start, mark.end], "claims": _claims_of(mark, numbers)} for mark in marks]
    return {
        "head": data(_head(page, start)),
        "page": page.id,
        "text": page.text,
        "breaks": page.breaks,
        "at": start,
        "marks": rows,
    }


def _marks(pieces: Sequence[Evidence], shown: Span) -> list[_SourceMark]:
    """Return the deciding sentences and the one to show; those that overlap are one mark."""
    marks: list[_SourceMark] = []
    stretches = [_SourceMark(*piece.sentence, [piece]) for piece in pieces]
    for stretch in sorted([*stretches, _SourceMark(*shown, [])], key=lambda one: one.start):
        if marks and stretch.start < marks[-1].end:
            marks[-1].end = max(stretch.end, marks[-1].end)
            marks[-1].pieces += stretch.pieces
        elif stretch.start < stretch.end:
            marks.append(stretch)
    return marks


def _head(page: Page, at: int) -> Node:
    address = safe_url(page.reference or page.facts_from)
    if page.kind == "web":
        address = link_to_sentence(page.url, page.text[at : at + 300].split("\n")[0])
    original = link("Open the original ↗", address, "more") if address else None
    return el(
        "div",
        el("h3", page.name, dir="auto"),
        el("p", facts(page, at), class_="facts"),
        original,
        class_="source-head",
    )


def _claims_of(mark: _SourceMark, numbers: Mapping[str, int]) -> list[dict[str, object]]:
    """Return the claims of one mark, each once, those that a passage decides first."""
    return [
        {
            "id": claim_id,
            "n": numbers[claim_id],
            "label": label,
            "icon": look(label).icon,
            "word": look(label).word.lower(),
        }
        for claim_id, label in _labels(mark.pieces).items()
    ]
