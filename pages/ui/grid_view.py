"""The retrieval grid drawn: heat map, table, and the passages that differ. Imports no streamlit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from attribution.embedders import EMBEDDERS
from attribution.evaluation.retrieval_grid import OUTCOMES, Cell, Difference
from attribution.types import Evidence, Label, Report
from pages.ui.chart import CLEAR, FONT
from pages.ui.render import LOOKS, RELATIONS, Child, Node, badge, el, plural

AS: dict[str, Label] = {
    "entailed": "supported", "contradicted": "contradicted", "no_relation": "no_relation", "missing": "missing",
}  # fmt: skip
SHOWN, LONGEST = 30, 600  # claims of a comparison; characters of a passage


def name(cell: Cell) -> str:
    """A cell in words."""
    enriched = any(c.enriched for c in cell.report.claims)
    label = EMBEDDERS[cell.choice.embedder].label if cell.choice.embedder in EMBEDDERS else cell.choice.embedder
    return f"{cell.choice.cut} · {label}" + (
        " · enriched" if enriched else "" if cell.choice.enriched else " · as written"
    )


def heat_map(cells: Sequence[Cell], dark: bool) -> Any:
    """A plotly figure: cells down, outcomes across, each outcome in its verdict's colour."""
    import plotly.graph_objects as go  # type: ignore[import-untyped]

    figure = go.Figure()
    rows = [name(c) for c in cells]
    for outcome in OUTCOMES:
        look = LOOKS[AS[outcome]]
        ink, tint = (look.dark_ink, look.dark_tint) if dark else (look.ink, look.tint)
        figure.add_heatmap(
            x=[f"{look.icon} {look.word}"],
            y=rows,
            z=[[c.shares[outcome]] for c in cells],
            text=[[f"{c.shares[outcome]:.0%}"] for c in cells],
            texttemplate="%{text}",
            textfont={"size": 14, "color": "#f4f4f2" if dark else "#1c1c1a"},
            zmin=0,
            zmax=1.6,  # the ink itself would hide the figures
            colorscale=[[0, tint], [1, ink]],
            showscale=False,
            hovertemplate="%{y}<br>%{x}: %{text}<extra></extra>",
            xgap=3,
            ygap=3,
        )
    figure.update_layout(
        height=70 + 40 * len(rows),
        margin={"l": 0, "r": 0, "t": 0, "b": 0},
        paper_bgcolor=CLEAR,
        plot_bgcolor=CLEAR,
        font={"family": FONT, "size": 13, "color": "#d9d9d4" if dark else "#33332f"},
        xaxis={"side": "top", "fixedrange": True, "showgrid": False},
        yaxis={"autorange": "reversed", "fixedrange": True, "showgrid": False, "automargin": True},
    )
    return figure


def table(cells: Sequence[Cell]) -> Node:
    """The same figures with their cost."""
    head = ["Passages", *(LOOKS[AS[o]].word for o in OUTCOMES), "Seconds", "Memory", "Chunks", "Pairs"]
    body = [
        el(
            "tr",
            el("td", name(c)),
            *(el("td", f"{c.shares[o]:.1%}") for o in OUTCOMES),
            el("td", f"{c.seconds:.1f}"),
            el("td", "not measured" if c.megabytes is None else f"+{c.megabytes:.0f} MB"),
            el("td", f"{c.report.usage.chunks:,}"),
            el("td", f"{c.report.usage.pairs:,}"),
        )
        for c in cells
    ]
    return el("table", el("thead", el("tr", *(el("th", h) for h in head))), el("tbody", *body), class_="ax-table")


def compared(found: Sequence[Difference], left: Cell, right: Cell) -> Node:
    """The claims whose passages differ, with what each cell alone was given."""
    if not found:
        return el("p", "Both found the same passages for every claim.", class_="ax-quiet")
    more = f" The first {SHOWN} are shown." if len(found) > SHOWN else ""
    parts: list[Child] = [el("p", f"Passages differ for {plural(len(found), 'claim')}.{more}", class_="ax-quiet")]
    for d in found[:SHOWN]:
        parts.append(
            el(
                "section",
                el("h4", d.claim.text[:LONGEST], dir="auto"),
                el("p", _verdict(d.claim.id, left), f" {name(left)}"),
                _only(d.left, left.report),
                el("p", _verdict(d.claim.id, right), f" {name(right)}"),
                _only(d.right, right.report),
            )
        )
    return el("div", *parts)


def _verdict(claim_id: str, cell: Cell) -> Node:
    verdict = next((v for v in cell.report.verdicts if v.claim_id == claim_id), None)
    return badge(verdict.label if verdict else None)


def _only(pieces: Sequence[Evidence], report: Report) -> Node:
    if not pieces:
        return el("p", "Nothing that the other did not find.", class_="ax-quiet")
    titles = {page.id: page.title for page in report.pages}
    return el("ul", *(_piece(e, titles.get(e.page_id, "")) for e in pieces))


def _piece(piece: Evidence, title: str) -> Node:
    label, word = RELATIONS[piece.relation]
    mark = badge(label, getattr(piece.probabilities, piece.relation), word)
    return el("li", mark, el("strong", f" {title[:120]} ", dir="auto"), el("span", piece.text[:LONGEST], dir="auto"))
