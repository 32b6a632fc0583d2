"""Provenance of a passage: site, page, dates and copies; and the trail from a badge back to the
bytes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

from attribution.evidence.origins import sources as counted_sources
from attribution.policy import DecisionPolicy
from attribution.provenance import Provenance, Trace
from attribution.reports import answer
from attribution.reports.html import Child, Node, as_sentence, el, plural, table
from attribution.text.passages import visible
from attribution.text.urls import site
from attribution.types import Claim, Evidence, Failure, Page, Report, Verdict
from attribution.verdicts import leaning
from attribution.verifiers.calibration import badge_reliability, verifier_of

KINDS = {"web": "web page", "library": "collection", "document": "own document"}
RELATIONS = {
    "entailed": "supports it",
    "contradicted": "contradicts it",
    "no_relation": "nothing related",
}


def date(iso: str) -> str:
    """Format a date for readers: 21 Nov 2026."""
    try:
        return f"{datetime.fromisoformat(iso):%-d %b %Y}"
    except ValueError:
        return iso[:20]


def kind_of_page(page: Page) -> str:
    """Return a page's genre, or where it is from if that is all that is known."""
    return page.genre if page.genre != "unknown" else KINDS[page.kind]


def facts(page: Page | None, offset: int) -> str:
    """Return site, PDF page, publication and download dates for a place in a page."""
    if page is None:
        return ""
    if page.facts_from:
        return page.site
    number = page.page_number(offset)
    parts = (
        host(page),
        kind_of_page(page),
        f"page {number}" if number else "",
        f"published {date(page.published)}" if page.published else "",
        f"read {date(page.fetched_at)}",
    )
    return " · ".join(filter(None, parts))


def host(page: Page) -> str:
    """Return the name of the site, or its host if the page does not name it."""
    return page.site or (site(page.url) if page.kind == "web" else "")


def copies(page: Page | None, pages: Mapping[str, Page], origins: int) -> Node:
    """Draw the number of pages with the same origin, which count once, and of others that say the
    same.
    """
    alike = [p for p in pages.values() if page and page.origin and p.origin == page.origin]
    sites = sorted({host(p) or p.url for p in alike})
    parts = []
    if len(alike) > 1:
        parts.append(counted_sources(alike))
    parts.append(f"said by {origins} independent sources" if origins > 1 else "said by one source")
    return el("span", " · " + " · ".join(parts), title=", ".join(sites), class_="copies")


def why(
    piece: Evidence, verdict: Verdict | None, report: Report, page: Page | None, alone: bool = False
) -> Node:
    """Draw the trail from badge to bytes: rule, probabilities, query, rank, address, time, hash,
    offsets.

    `alone` says that the passage does not count, as no other page says the same.
    """
    rows: dict[str, Child] = {
        "Verdict": verdict.reason if verdict else "",
        "This passage": _rule(piece, DecisionPolicy.of(report.settings), alone),
        "Verifier": report.versions.get("verifier", ""),
        "Badges like this": badge_reliability(verdict, report),
        "Found by": f"{piece.searcher}, rank {piece.rank}" if piece.searcher else "",
        "Query": piece.query,
        "Similarity": f"{piece.similarity:.2f}",
        "Relevance": f"{piece.relevance:.1f}" if piece.relevance is not None else "",
        **(_place(page, piece) if page else {}),
        "Passage": f"characters {piece.start:,}–{piece.end:,}",
        "Sentence": f"characters {piece.sentence[0]:,}–{piece.sentence[1]:,}",
        "Signals": ", ".join(
            f"{name.replace('_', ' ')} {value:.2f}" for name, value in piece.signals.items()
        ),
    }
    bars = (_bar(words, getattr(piece.probabilities, name)) for name, words in RELATIONS.items())
    lines = (el("div", el("dt", name), el("dd", value)) for name, value in rows.items() if value)
    return el(
        "details",
        el("summary", "Why this passage counts"),
        el("dl", *bars, class_="bars"),
        el("dl", *lines),
        class_="why",
    )


def _bar(words: str, value: float) -> Node:
    progress = el("progress", value=f"{value:.3f}", max=1, aria_label=words)
    return el("div", el("dt", words), el("dd", progress, el("span", f"{value:.2f}", class_="num")))


def _rule(piece: Evidence, policy: DecisionPolicy, alone: bool) -> str:
    """Return the relation that a passage counts as, and the rule that made it so."""
    rule = RELATIONS[piece.relation]
    if piece.reservation and leaning(piece.probabilities) in piece.reservation.relations:
        rule += f": {piece.reservation.note}"
    elif piece.relation == "no_relation":
        rule += f": below {policy.support:.2f} for support and {policy.contradiction:.2f} for contradiction"
    else:
        least = policy.support if piece.relation == "entailed" else policy.contradiction
        rule += f": at least {least:.2f}"
    if alone:
        rule += f"; one page without a value that differs counts from {policy.alone:.2f} on"
    if slot := max(piece.signals.get(name, 0.0) for name in ("slot", "variant")):
        rule += f"; it would support the claim with the passage's value in it ({slot:.2f})"
    if piece.signals.get("verbatim"):
        rule += "; it says the claim word for word"
    return rule


def _place(page: Page, piece: Evidence) -> dict[str, Child]:
    return {
        "Address": page.url,
        "Read": page.fetched_at.replace("T", " ")[:19] + " UTC",
        "Published": date(page.published) if page.published and not page.facts_from else "",
        "Facts from": page.facts_from,
        "SHA-256": el("code", page.sha256),
        "Page": str(page.page_number(piece.sentence[0]) or ""),
    }


# --- from the words of the answer to the verdict ---

SHOWN = 8  # rows of a list in the chain


def chain(
    claim: Claim,
    verdict: Verdict | None,
    evidence: Sequence[Evidence],
    report: Report,
    pages: Mapping[str, Page],
    provenance: Provenance | None = None,
) -> Node:
    """Draw every step from the words of the answer to the verdict, folded; each with its model,
    version and time.
    """
    steps = (
        *_wording(claim, report),
        *_search(claim, evidence, report, pages, provenance),
        *_decision(claim, verdict, evidence, report, pages),
    )
    items = (el("li", el("strong", title), *body) for title, *body in steps)
    return el(
        "details",
        el("summary", "Why this verdict"),
        el("ol", *items, class_="chain"),
        class_="why whole",
    )


def _quiet(text: str) -> Node | None:
    return el("p", text, class_="facts") if text else None


def _line(*children: Child) -> Node:
    return el("p", *children, dir="auto")


def _wording(claim: Claim, report: Report) -> Iterator[tuple[Child, ...]]:
    settings, versions = report.settings, report.versions
    words = " … ".join(visible(report.answer, a, b) for a, b in claim.spans)
    places = ", ".join(f"{a:,}–{b:,}" for a, b in claim.spans)
    yield (
        "In the answer",
        _line(f"“{words}”" if words else "It has no place of its own in the answer."),
        _quiet(f"characters {places}" if places else ""),
    )
    segmenter = f"split by {versions.get('segmenter') or settings.get('segmenter', '')}"
    aligned = f"words matched at {claim.alignment:.2f}" if claim.alignment < 1 else ""
    yield "Claim", _line(claim.text), _quiet(_joined(segmenter, aligned))
    by = versions.get("worthiness") or ("rules" if claim.worthiness else "")
    worth = (claim.worthiness or "").replace("_", " ")
    yield (
        "Worth checking",
        _line(_joined(worth, claim.worthiness_reason)),
        _quiet(f"by {by}" if by else ""),
    )
    if claim.enriched:
        by = versions.get("enrichment") or "rules"
        changes = answer.shown(claim.text, claim.enriched)
        yield (
            "Made to stand alone",
            el("p", *changes, class_="enriched", dir="auto"),
            _quiet(_joined(claim.independence_reason, f"by {by}")),
        )


def _joined(*parts: str) -> str:
    return " · ".join(filter(None, parts))


def _search(
    claim: Claim,
    evidence: Sequence[Evidence],
    report: Report,
    pages: Mapping[str, Page],
    provenance: Provenance | None,
) -> Iterator[tuple[Child, ...]]:
    traces = [t for t in provenance.traces if t.claim_id == claim.id] if provenance else []
    traces = traces or [Trace(claim.id, e.page_id, e.query, e.searcher, e.rank) for e in evidence]
    found = sorted({(t.query, t.searcher, t.rank, t.page_id) for t in traces})
    rows = [
        (
            query or "–",
            engine or "–",
            str(rank),
            (pages[page].title or pages[page].url) if page in pages else page,
        )
        for query, engine, rank, page in found[:SHOWN]
    ]
    more = _quiet(f"and {plural(len(found) - SHOWN, 'more result')}" if len(found) > SHOWN else "")
    nothing = _line("No page was found for it.")
    yield (
        "Searched for",
        table(("Query", "Source", "Rank", "Page"), rows, "figures") if rows else nothing,
        more,
    )
    failed = _failures(claim, report, provenance)
    times = sorted(pages[t.page_id].fetched_at for t in traces if t.page_id in pages)
    read = f"{plural(len({t.page_id for t in traces}), 'page')} read"
    when = (
        f"between {_time(times[0])} and {_time(times[-1])}"
        if len(set(times)) > 1
        else _time(times[0])
        if times
        else ""
    )
    lines = [
        el("li", f"{f.subject}: " if "://" in f.subject else "", as_sentence(f.message))
        for f in failed[:SHOWN]
    ]
    yield (
        "Pages tried",
        _line(_joined(read, f"{len(failed)} failed" if failed else "none failed")),
        _quiet(when),
        (el("ul", *lines) if lines else None),
    )


def _time(iso: str) -> str:
    return iso.replace("T", " ")[:16] + " UTC"


def _failures(claim: Claim, report: Report, provenance: Provenance | None) -> list[Failure]:
    """Return the failures recorded for this claim, and those that name it."""
    own = provenance.concerns.get(claim.id, ()) if provenance else ()
    named = (f for f in report.failures if f.subject in (claim.id, claim.text, claim.statement))
    return list(dict.fromkeys((*own, *named)))


def _decision(
    claim: Claim,
    verdict: Verdict | None,
    evidence: Sequence[Evidence],
    report: Report,
    pages: Mapping[str, Page],
) -> Iterator[tuple[Child, ...]]:
    settings, versions, policy = (
        report.settings,
        report.versions,
        DecisionPolicy.of(report.settings),
    )
    verifier = verifier_of(claim.id, report)
    how = _joined(
        f"chunks: {settings.get('chunker', '')}",
        f"ranked by {settings.get('ranking', '')}",
        versions.get("embedder", ""),
    )
    yield "Passages compared", _line(plural(len(evidence), "passage")), _quiet(how)
    rows = []
    for e in sorted(evidence, key=lambda e: e.probabilities.no_relation)[:SHOWN]:
        p, page = e.probabilities, pages.get(e.page_id)
        numbers = (f"{value:.2f}" for value in (p.entailed, p.contradicted, p.no_relation))
        rows.append((page.title if page else e.page_id, *numbers, RELATIONS[e.relation]))
    if rows:
        heads = ("Passage of", "Supports", "Contradicts", "Neither", "Counts as")
        yield "Probabilities", table(heads, rows, "figures"), _quiet(verifier)
    if verdict:
        rule = f"support counts from {policy.support:.2f}, contradiction from {policy.contradiction:.2f}"
        yield (
            "Rule",
            _line(verdict.reason),
            _quiet(_joined(rule, badge_reliability(verdict, report))),
        )
