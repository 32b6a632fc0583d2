"""Where a passage is from, and every step from the answer's words to the verdict."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from attribution.policy import DecisionPolicy
from attribution.reports import answer
from attribution.reports.claim_rows import ClaimRow
from attribution.reports.html import Child, Node, as_sentence, el, plural
from attribution.source import DOCUMENT
from attribution.text.passages import visible
from attribution.text.urls import site
from attribution.types import Claim, Evidence, Failure, Page, Provenance, Report
from attribution.verdicts import leaning
from attribution.verifiers.calibration import badge_reliability, verifier_of

KINDS = {"web": "web page", "library": "collection"}
RELATIONS = {
    "entailed": "supports it",
    "contradicted": "contradicts it",
    "no_relation": "says neither",
}
SHOWN = 8  # rows of a list


def date(iso: str) -> str:
    """Format a date for readers: 21 Nov 2026."""
    try:
        return f"{datetime.fromisoformat(iso):%-d %b %Y}"
    except ValueError:
        return iso[:20]


def _joined(*parts: str) -> str:
    return " · ".join(part for part in parts if part)


# --- where a passage is from ---


def facts(page: Page | None, offset: int) -> str:
    """Return where a place in a page is: file or site, PDF page, and the dates of a web page."""
    if page is None:
        return ""
    if page.facts_from:
        return page.site
    number = page.page_number(offset)
    place = f"page {number}" if number else ""
    if page.kind == "document":
        name = page.url.removeprefix(DOCUMENT)
        return _joined("own document" if name == page.title else name, place)
    return _joined(
        host(page),
        page.genre if page.genre != "unknown" else KINDS[page.kind],
        place,
        f"published {date(page.published)}" if page.published else "",
        f"read {date(page.fetched_at)}",
    )


def host(page: Page) -> str:
    """Return the name of the site, or its host if the page does not name it."""
    return page.site or (site(page.url) if page.kind == "web" else "")


def why(piece: Evidence, report: Report, page: Page | None) -> Node:
    """List what a passage counts by, how it was found, and where exactly it stands."""
    p = piece.probabilities
    signals = [f"{name.replace('_', ' ')} {value:.2f}" for name, value in piece.signals.items()]
    rows: dict[str, Child] = {
        "Counts as": _rule(piece, DecisionPolicy.of(report.settings)),
        "Probabilities": _joined(
            f"supports {p.entailed:.2f}",
            f"contradicts {p.contradicted:.2f}",
            f"neither {p.no_relation:.2f}",
        ),
        "Verifier": verifier_of(piece.claim_id, report),
        "Steps after it": ", ".join(piece.steps),
        "Signals": ", ".join(signals),
        "Found by": f"{piece.searcher}, rank {piece.rank}" if piece.searcher else "",
        "Query": piece.query,
        "Similarity": f"{piece.similarity:.2f}",
    }
    if page:
        rows |= _place(page, piece.sentence[0])
    rows["Passage"] = f"characters {piece.start:,}–{piece.end:,}"
    rows["Sentence"] = f"characters {piece.sentence[0]:,}–{piece.sentence[1]:,}"
    lines = [el("div", el("dt", name), el("dd", value)) for name, value in rows.items() if value]
    summary = el("summary", "Why this passage counts")
    return el("details", summary, el("dl", *lines), class_="why")


def _rule(piece: Evidence, policy: DecisionPolicy) -> str:
    """Return the relation that a passage counts as, and the rule that made it so."""
    relation = RELATIONS[piece.relation]
    if piece.reservation and leaning(piece.probabilities) in piece.reservation.relations:
        return f"{relation}: {piece.reservation.note}"
    if piece.relation == "entailed":
        return f"{relation}: at least {policy.support:.2f}"
    if piece.relation == "contradicted":
        return f"{relation}: at least {policy.contradiction:.2f}"
    support, contradiction = policy.support, policy.contradiction
    return f"{relation}: below {support:.2f} for support and {contradiction:.2f} for contradiction"


def _place(page: Page, offset: int) -> dict[str, Child]:
    is_dated = page.published and not page.facts_from
    return {
        "Address": page.url,
        "Read": page.fetched_at.replace("T", " ")[:19] + " UTC",
        "Published": date(page.published) if is_dated else "",
        "Facts from": page.facts_from,
        "SHA-256": el("code", page.sha256),
        "Page": str(page.page_number(offset) or ""),
    }


# --- from the words of the answer to the verdict ---


def chain(row: ClaimRow, report: Report, provenance: Provenance | None = None) -> Node:
    """List every step from the answer's words to the verdict, with models, versions and times."""
    steps = (
        *_wording(row.claim, report),
        *_search(row, report, provenance),
        *_decision(row, report),
    )
    items = [el("li", el("strong", title), *body) for title, *body in steps]
    summary = el("summary", "Why this verdict")
    return el("details", summary, el("ol", *items, class_="chain"), class_="why whole")


def _line(*children: Child) -> Node:
    return el("p", *children, dir="auto")


def _quiet(text: str) -> Node | None:
    return el("p", text, class_="facts") if text else None


def _wording(claim: Claim, report: Report) -> Iterator[tuple[Child, ...]]:
    versions = report.versions
    words = " … ".join(visible(report.answer, start, end) for start, end in claim.spans)
    places = ", ".join(f"{start:,}–{end:,}" for start, end in claim.spans)
    quote = f"“{words}”" if words else "It has no place of its own in the answer."
    yield "In the answer", _line(quote), _quiet(f"characters {places}" if places else "")
    segmenter = versions.get("segmenter") or report.settings.get("segmenter", "")
    worth = f"{claim.worthiness or ''}".replace("_", " ")
    facts = _joined(f"split by {segmenter}", worth, claim.worthiness_reason)
    yield "Claim", _line(claim.text), _quiet(facts)
    if claim.enriched:
        changes = el("p", *answer.shown(claim.text, claim.enriched), class_="enriched", dir="auto")
        by = versions.get("enrichment", "rules")
        reason = _quiet(_joined(claim.independence_reason, f"by {by}"))
        yield "Reworded to stand alone", changes, reason


def _search(
    row: ClaimRow, report: Report, provenance: Provenance | None
) -> Iterator[tuple[Child, ...]]:
    """List where the claim was searched for, and what could not be read."""
    traces = provenance.traces if provenance else ()
    searches = [(t.query, t.searcher) for t in traces if t.claim_id == row.claim.id]
    searches = searches or [(piece.query, piece.searcher) for piece in row.evidence]
    items = [f"{query or '–'} ({searcher})" for query, searcher in dict.fromkeys(searches)]
    yield "Searched for", el("ul", *(el("li", item, dir="auto") for item in items[:SHOWN]))
    failures = _failures(row.claim, report, provenance)
    read = {t.page_id for t in traces if t.claim_id == row.claim.id}
    read |= {piece.page_id for piece in row.evidence}
    lost = []
    for failure in failures[:SHOWN]:
        subject = f"{failure.subject}: " if "://" in failure.subject else ""
        lost.append(el("li", subject, as_sentence(failure.message)))
    counts = f"{plural(len(read), 'source')} read · {len(failures) or 'none'} failed"
    yield "Sources tried", _line(counts), el("ul", *lost) if lost else None


def _failures(claim: Claim, report: Report, provenance: Provenance | None) -> list[Failure]:
    """Return the failures recorded for this claim, and those that name it."""
    recorded = provenance.concerns.get(claim.id, ()) if provenance else ()
    names = (claim.id, claim.text, claim.statement)
    named = [failure for failure in report.failures if failure.subject in names]
    return list(dict.fromkeys((*recorded, *named)))


def _decision(row: ClaimRow, report: Report) -> Iterator[tuple[Child, ...]]:
    settings = report.settings
    chunks = f"chunks: {settings.get('chunker', '')}"
    ranking = f"ranked by {settings.get('ranking', '')}"
    embedder = report.versions.get("embedder", "")
    yield (
        "Passages compared",
        _line(plural(len(row.evidence), "passage")),
        _quiet(_joined(chunks, ranking, embedder)),
        _quiet(f"by {verifier_of(row.claim.id, report)}"),
    )
    if row.verdict:
        policy = DecisionPolicy.of(settings)
        support = f"support counts from {policy.support:.2f}"
        contradiction = f"contradiction from {policy.contradiction:.2f}"
        reliability = badge_reliability(row.verdict, report)
        rule = _joined(f"{support}, {contradiction}", reliability)
        yield "Rule", _line(row.verdict.reason), _quiet(rule)
