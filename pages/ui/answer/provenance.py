"""Where a passage comes from: site, page, dates and copies; and the way from a badge back to the bytes."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from attribution.text.urls import site
from attribution.types import Evidence, Page, Report, Verdict
from attribution.verdicts import thresholds_of
from pages.ui.html.render import Child, Node, el

RELATIONS = {"entailed": "supports it", "contradicted": "contradicts it", "no_relation": "nothing related"}


def date(iso: str) -> str:
    """A date as it is read: 21 Nov 2026."""
    try:
        return f"{datetime.fromisoformat(iso):%-d %b %Y}"
    except ValueError:
        return iso[:20]


def facts(page: Page | None, offset: int) -> str:
    """Site, page of a PDF, publication and download, for a place in a page."""
    if page is None:
        return ""
    number = page.page_number(offset)
    parts = (
        host(page),
        f"page {number}" if number else "",
        f"published {date(page.published)}" if page.published else "",
        f"read {date(page.fetched_at)}",
    )
    return " · ".join(filter(None, parts))


def host(page: Page) -> str:
    """The name of the site, or its host where the page does not name it."""
    return page.site or (site(page.url) if page.kind == "web" else "")


def copies(page: Page | None, pages: Mapping[str, Page], origins: int) -> Node | None:
    """How many sites carry the same text, which counts once, and how many others say the same."""
    alike = [p for p in pages.values() if page and page.origin and p.origin == page.origin]
    sites = sorted({host(p) or p.url for p in alike})
    parts = []
    if len(sites) > 1:
        parts.append(f"same text on {len(sites)} sites")
    if origins > 1:
        parts.append(f"said by {origins} independent sources")
    return el("span", " · " + " · ".join(parts), title=", ".join(sites), class_="copies") if parts else None


def why(piece: Evidence, verdict: Verdict | None, report: Report, page: Page | None) -> Node:
    """From the badge back to the bytes: rule, probabilities, query, rank, address, time, hash, offsets."""
    bars = [
        el(
            "div",
            el("dt", words),
            el(
                "dd",
                el("progress", value=f"{value:.3f}", max=1, aria_label=words),
                el("span", f"{value:.2f}", class_="num"),
            ),
        )
        for name, words in RELATIONS.items()
        for value in (getattr(piece.probabilities, name),)
    ]
    rule, thresholds = RELATIONS[piece.relation], thresholds_of(report)
    if piece.relation == "no_relation":
        rule += f": below {thresholds.support:.2f} for support and {thresholds.contradiction:.2f} for contradiction"
    else:
        least = thresholds.support if piece.relation == "entailed" else thresholds.contradiction
        rule += f": at least {least:.2f}"
    number = page.page_number(piece.sentence[0]) if page else None
    rows: dict[str, Child] = {
        "Verdict": verdict.reason if verdict else "",
        "This passage": rule,
        "Verifier": report.versions.get("verifier", ""),
        "Found by": f"{piece.searcher}, rank {piece.rank}" if piece.searcher else "",
        "Query": piece.query,
        "Similarity": f"{piece.similarity:.2f}",
    }
    if page:
        rows |= {
            "Address": page.url,
            "Read": page.fetched_at.replace("T", " ")[:19] + " UTC",
            "Published": date(page.published) if page.published else "",
            "SHA-256": el("code", page.sha256),
            "Page": str(number or ""),
        }
    rows |= {
        "Passage": f"characters {piece.start:,}–{piece.end:,}",
        "Sentence": f"characters {piece.sentence[0]:,}–{piece.sentence[1]:,}",
        "Signals": ", ".join(f"{name.replace('_', ' ')} {value:.2f}" for name, value in piece.signals.items()),
    }
    lines = (el("div", el("dt", name), el("dd", value)) for name, value in rows.items() if value)
    return el(
        "details", el("summary", "Why this verdict"), el("dl", *bars, class_="bars"), el("dl", *lines), class_="why"
    )
