"""The counts of a run as a picture for a slide: SVG, 1200 by 675, with the colours of the light theme."""

from __future__ import annotations

import unicodedata
from collections import Counter
from xml.etree import ElementTree as Xml

from attribution.reports import Exported
from attribution.reports.html import look
from attribution.reports.references import one_line
from attribution.review.judgements import agreement
from attribution.types import LABELS, Label

WIDTH, HEIGHT, MARGIN = 1200, 675, 72
PAPER, INK, QUIET, RULE = "#fdfcfa", "#23211f", "#5f5b57", "#e3dfda"
FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', 'DejaVu Sans', sans-serif"
TITLE_LINES, TITLE_SIZE = 2, 40
ROW, BAR = 52, 34
NARROWEST = 0.54  # em of a character


def write(exported: Exported) -> str:
    """Title, a bar for each verdict that occurs with its count, what was checked when, and the analyst's agreement."""
    report = exported.report
    counts = Counter[Label](verdict.label for verdict in report.verdicts)
    counts["not_reached"] += len(report.claims) - counts.total()
    shown = [label for label in LABELS if counts[label]]
    spoken = ", ".join(f"{counts[label]} {look(label).noun}" for label in shown) or "no claims"
    agreed = agreement([report]).words
    spoken += f". {agreed}" if agreed else ""
    title = _clean(exported.heading)
    svg = Xml.Element(
        "svg",
        {
            "xmlns": "http://www.w3.org/2000/svg", "viewBox": f"0 0 {WIDTH} {HEIGHT}", "width": str(WIDTH),
            "height": str(HEIGHT), "role": "img", "aria-label": f"{title}: {spoken}", "font-family": FONT,
        },
    )  # fmt: skip
    Xml.SubElement(svg, "title").text = title
    _box(svg, 0, 0, WIDTH, HEIGHT, PAPER)
    y = 108
    for line in wrapped(title, (WIDTH - 2 * MARGIN) / TITLE_SIZE, TITLE_LINES):
        _text(svg, MARGIN, y, line, TITLE_SIZE, INK, "600")
        y += 50
    claims = len(report.claims)
    _text(svg, MARGIN, y, f"{claims:,} claim{'s' * (claims != 1)}, checked against their sources", 24, QUIET)
    y += 40
    most = max((counts[label] for label in shown), default=1)
    for label in shown:
        style = look(label)
        _text(svg, MARGIN, y + 25, f"{style.icon} {style.word}", 24, style.ink, "600")
        length = 560 * counts[label] / most
        tint = PAPER if style.tint == "transparent" else style.tint
        _box(svg, 330, y, length, BAR, tint, stroke=style.ink)
        _text(svg, 330 + length + 16, y + 25, f"{counts[label]:,}", 26, INK, "600")
        y += ROW
    pages = len(report.pages)
    parts = [report.created_at[:10], f"{pages:,} source{'s' * (pages != 1)} read", report.versions.get("verifier", "")]
    Xml.SubElement(
        svg, "line", {"x1": str(MARGIN), "x2": str(WIDTH - MARGIN), "y1": "602", "y2": "602", "stroke": RULE}
    )
    for y, text in ((632, _clean(" · ".join(filter(None, parts)))), (660, agreed and f"⚑ {agreed}")):
        for line in wrapped(text, (WIDTH - 2 * MARGIN) / 20, 1):
            _text(svg, MARGIN, y, line, 20, QUIET)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + Xml.tostring(svg, encoding="unicode") + "\n"


def wrapped(text: str, width: float, lines: int) -> list[str]:
    """The text in at most so many lines of at most so many em, the last one cut short if it does not fit."""
    made = [""]
    room = lines * (int(width / NARROWEST) + 2)  # more never fits: it is not laid out
    for word in " ".join(text.split())[:room].split():
        longer = f"{made[-1]} {word}".strip()
        if ems(longer) <= width:
            made[-1] = longer
        elif not made[-1]:
            made[-1] = word
        else:
            made.append(word)
    if len(made) > lines:
        made = [*made[: lines - 1], " ".join(made[lines - 1 :])]
    return [_cut(line, width) for line in made if line]


def ems(text: str) -> float:
    """About how wide a text is in a font without serifs, in em."""
    return sum(1.0 if unicodedata.east_asian_width(c) in "WF" else 0.68 if c.isupper() else NARROWEST for c in text)


def _cut(line: str, width: float) -> str:
    if ems(line) <= width:
        return line
    while line and ems(line) > width - 1:
        line = line[:-1]
    return line.rstrip() + "…"


def _clean(text: str) -> str:
    """Without what XML cannot hold, and without marks that turn the direction of the text around them."""
    shown = (c for c in one_line(text) if unicodedata.category(c) not in ("Cf", "Cn", "Co") and ord(c) < 0xFFFE)
    return " ".join("".join(shown).split())


def _box(svg: Xml.Element, x: float, y: float, width: float, height: float, fill: str, stroke: str = "none") -> None:
    place = {"x": f"{x:g}", "y": f"{y:g}", "width": f"{width:g}", "height": f"{height:g}"}
    round_ = {"rx": "4", "stroke": stroke} if stroke != "none" else {}
    Xml.SubElement(svg, "rect", {**place, "fill": fill, **round_})


def _text(svg: Xml.Element, x: float, y: float, text: str, size: int, fill: str, weight: str = "400") -> None:
    look = {"x": f"{x:g}", "y": f"{y:g}", "font-size": str(size), "fill": fill, "font-weight": weight}
    Xml.SubElement(svg, "text", look).text = text
