"""Where a passage comes from: site, page, dates, copies; and the way from a badge back to the bytes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from attribution.text.urls import site
from attribution.types import Evidence, Page, Report, Verdict
from pages.ui.html.render import Child, Node, el


def moment(iso: str) -> str:
    """A date as it is read: 21 Nov 2026."""
    try:
        return f"{datetime.fromisoformat(iso):%-d %b %Y}"
    except ValueError:
        return iso[:20]


def facts(piece: Evidence, page: Page | None) -> list[str]:
    """Where and from when a passage is: site, page of a PDF, publication, download."""
    if page is None:
        return []
    number = page.page_number(piece.sentence[0])
    known = (
        where(page),
        f"page {number}" if number else "",
        f"published {moment(page.published)}" if page.published else "",
        f"read {moment(page.fetched_at)}",
    )
    return [fact for fact in known if fact]


def where(page: Page) -> str:
    """The site's name, or its host where the page does not say how it is called."""
    return page.site or (site(page.url) if page.kind == "web" else "")


def copies(page: Page | None, pages: Mapping[str, Page], origins: int) -> Node | None:
    """On how many sites the same text stands, which counts once, and how many others say the same."""
    alike = [p for p in pages.values() if page and page.origin and p.origin == page.origin]
    sites = sorted({where(p) or p.url for p in alike})
    parts = []
    if len(sites) > 1:
        parts.append(f"same text on {len(sites)} sites")
    if origins > 1:
        parts.append(f"said by {origins} independent sources")
    return el("span", " · " + " · ".join(parts), title=", ".join(sites), class_="copies") if parts else None


def on_page(piece: Evidence, page: Page | None) -> str:
    """The page of a PDF, to go behind an address."""
    number = page.page_number(piece.sentence[0]) if page else None
    return f", page {number}" if number else ""


def _rows(rows: Sequence[tuple[str, Child]]) -> Node:
    return el("dl", *(el("div", el("dt", name), el("dd", value)) for name, value in rows if value not in ("", None)))


def why(piece: Evidence, verdict: Verdict | None, report: Report, page: Page | None) -> Node:
    """From the badge back to the bytes: rule, probabilities, query, rank, address, time, hash, offsets."""
    p = piece.probabilities
    threshold = report.settings.get("threshold", "")
    words = {"entailed": "supports it", "contradicted": "contradicts it", "no_relation": "nothing related"}
    bars = [
        el(
            "div",
            el("dt", words[name]),
            el(
                "dd",
                el("progress", value=f"{value:.3f}", max=1, aria_label=words[name]),
                el("span", f"{value:.2f}", class_="num"),
            ),
        )
        for name, value in (("entailed", p.entailed), ("contradicted", p.contradicted), ("no_relation", p.no_relation))
    ]
    rule = "at or over the threshold" if piece.relation != "no_relation" else "neither reaches the threshold"
    rows: list[tuple[str, Child]] = [
        ("Verdict", verdict.reason if verdict else ""),
        (
            "This passage",
            f"{words[piece.relation]}: {rule} of {float(str(threshold)):.2f}"
            if threshold != ""
            else words[piece.relation],
        ),
        ("Verifier", report.versions.get("verifier", "")),
        ("Found by", f"{piece.searcher}, rank {piece.rank}" if piece.searcher else ""),
        ("Query", piece.query),
        ("Similarity", f"{piece.similarity:.2f}"),
        ("Address", page.url if page else ""),
        ("Read", page.fetched_at.replace("T", " ")[:19] + " UTC" if page else ""),
        ("Published", moment(page.published) if page and page.published else ""),
        ("SHA-256", el("code", page.sha256) if page else None),
        ("Page", str(page.page_number(piece.sentence[0]) or "") if page else ""),
        ("Passage", f"characters {piece.start:,}–{piece.end:,}"),
        ("Sentence", f"characters {piece.sentence[0]:,}–{piece.sentence[1]:,}"),
    ]
    if piece.signals:
        rows.append(("Its parts", ", ".join(f"{k.replace('_', ' ')} {v:.2f}" for k, v in piece.signals.items())))
    return el("details", el("summary", "Why this verdict"), el("dl", *bars, class_="bars"), _rows(rows), class_="why")
