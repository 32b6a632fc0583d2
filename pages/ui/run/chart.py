"""The share of each verdict as one stacked bar, in the verdicts' own colours."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from attribution.types import LABELS, Label, Report
from pages.ui.html.render import LOOKS, Node, el

FONT = "system-ui, -apple-system, Segoe UI, Roboto, Noto Sans, DejaVu Sans, sans-serif"
NARROWEST, NAMED = 340, 80  # pixels of the bar on a telephone, where a label must fit too; of a bar's own name
CLEAR = "rgba(0,0,0,0)"


def graph_objects() -> Any:
    """plotly, imported where a result needs it. Where another thread (the models are loaded aside) is still importing
    numpy or pandas, it would use them half there as they are; importing them here waits for that thread."""
    import numpy  # noqa: F401
    import pandas  # noqa: F401
    import plotly.graph_objects as go  # type: ignore[import-untyped]

    return go


def rows(report: Report) -> list[tuple[Label, int]]:
    """Verdict and number of claims, for those that occur."""
    labels = [v.label for v in report.verdicts]
    return [(label, labels.count(label)) for label in LABELS if label in labels]


def bar(report: Report, dark: bool) -> Any:
    """A plotly figure of one run."""
    return bars([("", report)], dark)


def bars(reports: Sequence[tuple[str, Report]], dark: bool) -> Any:
    """One bar a run, all as long as their shares."""
    go = graph_objects()

    figure, several = go.Figure(), len(reports) > 1
    room = NARROWEST - NAMED * several
    names = [name for name, _ in reports]
    most = max((len(r.verdicts) for _, r in reports), default=1) or 1
    for label in LABELS:
        counts = [sum(v.label == label for v in report.verdicts) for _, report in reports]
        if not any(counts):
            continue
        look = LOOKS[label]
        ink, tint = (look.dark_ink, look.dark_tint) if dark else (look.ink, look.tint)
        figure.add_bar(
            x=counts,
            y=names,
            orientation="h",
            name=look.word,
            text=[_words(look.icon, look.noun, count, room * count / most) for count in counts],
            customdata=[len(report.verdicts) for _, report in reports],
            textposition="inside",
            insidetextanchor="middle",
            textangle=0,
            constraintext="none",
            textfont={"color": ink, "size": 13},
            hovertemplate=f"{look.word}: %{{x}} of %{{customdata}} claims<extra></extra>",
            marker={"color": CLEAR if tint == "transparent" else tint, "line": {"color": ink, "width": 1}},
        )
    blank = {"visible": False, "fixedrange": True}
    labels = {
        "fixedrange": True,
        "autorange": "reversed",
        "tickfont": {"size": 13, "color": "#a5a09a" if dark else "#5f5b57"},
    }
    figure.update_layout(
        barmode="stack",
        bargap=0.2 if several else 0.06,
        height=32 + 34 * (len(reports) - 1),
        showlegend=False,
        xaxis={**blank, "range": [-most * 0.002, most * 1.002]},
        yaxis={**labels, "automargin": True} if several else {**blank, "range": [-0.52, 0.52]},
        margin={"l": 0, "r": 0, "t": 0, "b": 0, "pad": 4 if several else 0},
        paper_bgcolor=CLEAR,
        plot_bgcolor=CLEAR,
        font={"family": FONT},
        hoverlabel={"font": {"size": 13}},
    )
    return figure


def _words(icon: str, noun: str, count: int, room: float) -> str:
    """As much of a label as its stretch of the bar has room for, on a telephone too."""
    for words in (f"{icon} {count} {noun}", f"{icon} {count}", f"{icon}\u2009{count}"):
        if len(words.replace("\u2009", "")) * 7.6 + 8 <= room:  # a thin space hardly counts
            return words
    return ""


def table(report: Report) -> Node:
    """The same figures as a table."""
    total = len(report.verdicts)
    body = [el("tr", el("td", LOOKS[k].word), el("td", f"{count} of {total}")) for k, count in rows(report)]
    return el(
        "table", el("thead", el("tr", el("th", "Verdict"), el("th", "Claims"))), el("tbody", *body), class_="ax-table"
    )
