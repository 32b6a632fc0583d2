"""The share of each verdict as one stacked bar, in the verdicts' own colours."""

from __future__ import annotations

from typing import Any

from attribution.types import LABELS, Label, Report
from pages.ui.render import LOOKS, Node, el

FONT = "system-ui, -apple-system, Segoe UI, Roboto, Noto Sans, DejaVu Sans, sans-serif"
NARROWEST = 340  # pixels of the bar on a telephone: a label must fit there too
CLEAR = "rgba(0,0,0,0)"


def rows(report: Report) -> list[tuple[Label, int]]:
    """Verdict and number of claims, for those that occur."""
    labels = [v.label for v in report.verdicts]
    return [(label, labels.count(label)) for label in LABELS if label in labels]


def bar(report: Report, dark: bool) -> Any:
    """A plotly figure; imported here because only a result needs it."""
    import plotly.graph_objects as go  # type: ignore[import-untyped]

    figure = go.Figure()
    total = len(report.verdicts) or 1
    for label, count in rows(report):
        look = LOOKS[label]
        ink, tint = (look.dark_ink, look.dark_tint) if dark else (look.ink, look.tint)
        words = f"{look.icon} {count} {look.noun}"
        figure.add_bar(
            x=[count],
            y=[""],
            orientation="h",
            name=look.word,
            text=words if len(words) * 7.6 + 12 <= NARROWEST * count / total else f"{look.icon} {count}",
            textposition="inside",
            insidetextanchor="middle",
            textangle=0,
            constraintext="none",
            textfont={"color": ink, "size": 13},
            hovertemplate=f"{look.word}: {count} of {total} claims<extra></extra>",
            marker={"color": CLEAR if tint == "transparent" else tint, "line": {"color": ink, "width": 1}},
        )
    blank = {"visible": False, "fixedrange": True}
    figure.update_layout(
        barmode="stack",
        bargap=0.06,
        height=32,
        showlegend=False,
        xaxis={**blank, "range": [-total * 0.002, total * 1.002]},
        yaxis={**blank, "range": [-0.52, 0.52]},
        margin={"l": 0, "r": 0, "t": 0, "b": 0, "pad": 0},
        paper_bgcolor=CLEAR,
        plot_bgcolor=CLEAR,
        font={"family": FONT},
        hoverlabel={"font": {"size": 13}},
    )
    return figure


def table(report: Report) -> Node:
    """The same figures as a table."""
    total = len(report.verdicts)
    body = [el("tr", el("td", LOOKS[k].word), el("td", f"{count} of {total}")) for k, count in rows(report)]
    return el(
        "table", el("thead", el("tr", el("th", "Verdict"), el("th", "Claims"))), el("tbody", *body), class_="ax-table"
    )
