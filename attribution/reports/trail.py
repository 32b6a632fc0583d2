"""Where a passage is from, and every step from the answer's words to the verdict."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from attribution.reports.claim_rows import ClaimRow
from attribution.reports.html import Child, Node, as_sentence, el
from attribution.reports.looks import RELATIONS
from attribution.tables import DOCUMENT
from attribution.text.passages import visible
from attribution.text.urls import site
from attribution.types import Evidence, Page, Provenance, Report, Span
from attribution.verdicts import DecisionPolicy, leaning
from attribution.verifiers.calibration import verifier_of

KINDS = {"web": "web page", "library": "collection"}


def date(iso: str) -> str:
    """Format a date for readers: 21 Nov 2026."""
    try:
        return f"{datetime.fromisoformat(iso):%-d %b %Y}"
    except ValueError:
        return iso[:20]


def _joined(*parts: str) -> str:
    return " · ".join(part for part in parts if part)


# --- where a passage is from ---


def facts(page: Page, offset: int) -> str:
    """Return where a place in a page is: file or site, PDF page, and the dates of a web page."""
    if page.facts_from:
        return page.site
    number = page.page_number(offset)
    place = f"page {number}" if number else ""
    if page.kind == "document":
        name = page.url.removeprefix(DOCUMENT)
        return _joined("own document" if name == page.title else name, place)
    return _joined(
        page.site or site(page.url),
        page.genre if page.genre != "unknown" else KINDS[page.kind],
        place,
        f"published {date(page.published)}" if page.published else "",
        f"read {date(page.fetched_at)}",
    )


def text_button(words: str, page: Page, span: Span, class_: str = "open") -> Node:
    """Build a button that opens the text of a page at a place.

    Args:
        words: What it shows.
        page: The page.
        span: The place, in characters of the page.
        class_: Its CSS class.
    """
    return el(
        "button",
        words,
        type="button",
        dir="auto",
        data_page=page.id,
        data_at=f"{span[0]},{span[1]}",
        class_=class_,
    )


def why(piece: Evidence, report: Report, page: Page) -> Node:
    """List what a passage counts by, how it was found, and where exactly it stands.

    Args:
        piece: The passage.
        report: The run.
        page: Its page.
    """
    p = piece.probabilities
    signals = [f"{name.replace('_', ' ')} {value:.2f}" for name, value in piece.signals.items()]
    sides = f"supports {p.entailed:.2f} · contradicts {p.contradicted:.2f}"
    found_by = f"{piece.searcher}, rank {piece.rank}" if piece.searcher else ""
    rows: dict[str, Child] = {
        "Counts as": _rule(piece, DecisionPolicy.of(report.settings)),
        "Probabilities": f"{sides} · neither {p.no_relation:.2f}",
        "Steps": _joined(*piece.steps, *signals),
        "Found by": _joined(found_by, piece.query, f"similarity {piece.similarity:.2f}"),
        "Address": page.url,
        "Facts from": page.facts_from,
        "SHA-256": el("code", page.sha256),
    }
    return _folded("Why this passage counts", rows)


def _folded(title: str, rows: Mapping[str, Child], class_: str = "why") -> Node:
    """Fold a list of facts; empty ones are left out."""
    lines: list[Node] = []
    for name, value in rows.items():
        if value:
            lines.append(el("div", el("dt", name), el("dd", value, dir="auto")))
    return el("details", el("summary", title), el("dl", *lines), class_=class_)


def _rule(piece: Evidence, policy: DecisionPolicy) -> str:
    """Return the relation that a passage counts as, and the rule that made it so."""
    relation = RELATIONS[piece.relation].word.lower()
    if piece.reservation and leaning(piece.probabilities) in piece.reservation.relations:
        return f"{relation}: {piece.reservation.note}"
    if piece.relation == "entailed":
        return f"{relation}: at least {policy.threshold:.2f}"
    if piece.relation == "contradicted":
        return f"{relation}: at least {policy.contradiction_threshold:.2f}"
    return f"{relation}: below {policy.threshold:.2f} and {policy.contradiction_threshold:.2f}"


# --- from the words of the answer to the verdict ---


def chain(row: ClaimRow, report: Report, provenance: Provenance | None = None) -> Node:
    """List every step from the answer's words to the verdict, with models and versions.

    Args:
        row: The claim with its evidence.
        report: The run.
        provenance: How its pages were found, if that is known.
    """
    claim = row.claim
    settings = report.settings
    versions = report.versions
    words = " … ".join(visible(report.answer, start, end) for start, end in claim.spans)
    segmenter = versions.get("segmenter") or settings.get("segmenter", "")
    worthiness = f"{claim.worthiness or ''}".replace("_", " ")
    rows: dict[str, Child] = {
        "In the answer": f"“{words}”" if words else "No place",
        "Made by": _joined(str(segmenter), worthiness, claim.worthiness_reason),
    }
    if claim.enriched:
        by = versions.get("enrichment", "rules")
        rows["Reworded to stand alone by"] = _joined(by, claim.independence_reason)
    rows |= _search(row, report, provenance)
    rows["Passages compared"] = _joined(
        str(len(row.evidence)),
        f"chunks: {settings.get('chunker', '')}",
        f"ranked by {settings.get('ranking', '')}",
        versions.get("embedder", ""),
        verifier_of(claim.id, report),
    )
    if row.verdict:
        rows["Rule"] = row.verdict.reason
    return _folded("Why this verdict", rows, "why whole")


def _search(row: ClaimRow, report: Report, provenance: Provenance | None) -> dict[str, Child]:
    """Return where the claim was searched for, and the failures recorded for it or naming it."""
    claim = row.claim
    traces = [t for t in provenance.traces if t.claim_id == claim.id] if provenance else []
    searches = [(t.query, t.searcher) for t in traces]
    searches = searches or [(piece.query, piece.searcher) for piece in row.evidence]
    queries = [
        f"{query or 'No query was needed'} ({searcher})"
        for query, searcher in dict.fromkeys(searches)
    ]
    recorded = provenance.concerns.get(claim.id, ()) if provenance else ()
    names = (claim.id, claim.text, claim.statement)
    named = [failure for failure in report.failures if failure.subject in names]
    lost: list[str] = []
    for failure in dict.fromkeys((*recorded, *named)):
        subject = f"{failure.subject}: " if "://" in failure.subject else ""
        lost.append(f"{subject}{as_sentence(failure.message)}")
    return {
        "Searched for": _list(queries),
        "Failed": _list(lost),
    }


def _list(items: Sequence[str]) -> Node | None:
    return el("ul", *(el("li", item) for item in items)) if items else None
