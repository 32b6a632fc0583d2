"""The share of each verdict as one stacked bar, in the verdicts' own colours."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import TYPE_CHECKING

from attribution.types import LABELS, Label, Report
from pages.ui.html.render import LOOKS, Node, table

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

FONT = "system-ui, -apple-system, Segoe UI, Roboto, Noto Sans, DejaVu Sans, sans-serif"
NARROWEST, NAME = 340, 80  # pixels: of the bar on a telephone, where a label must fit too; of a bar's name
CLEAR = "rgba(0,0,0,0)"


def graph_objects() -> ModuleType:
    """plotly, imported where a result needs it.

    numpy and pandas come first: while another thread (the models load in the background) is still importing them,
    plotly would use them half imported; importing them here waits for that thread.
    """
    import numpy  # noqa: F401
    import pandas  # noqa: F401
    import plotly.graph_objects

    module: ModuleType = plotly.graph_objects
    return module


def claim_labels(report: Report) -> list[Label]:
    """The label of each claim; one without a verdict was not reached."""
    verdicts = {v.claim_id: v.label for v in report.verdicts}
    return [verdicts.get(claim.id, "not_reached") for claim in report.claims]


def bars(reports: Sequence[tuple[str, Report]], dark: bool) -> Figure:
    """One bar per run; their stretches are the shares of the verdicts."""
    figure: Figure = graph_objects().Figure()
    several = len(reports) > 1
    room = NARROWEST - NAME * several
    names = [name for name, _ in reports]
    labelled = [claim_labels(report) for _, report in reports]
    most = max(map(len, labelled), default=1) or 1
    for label in LABELS:
        counts = [labels.count(label) for labels in labelled]
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
            customdata=[len(labels) for labels in labelled],
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
    """As much of a label as fits into its stretch of the bar, on a telephone too."""
    for words in (f"{icon} {count} {noun}", f"{icon} {count}", f"{icon}\u2009{count}"):
        if len(words.replace("\u2009", "")) * 7.6 + 8 <= room:  # a thin space hardly counts
            return words
    return ""


def figures(report: Report) -> Node:
    """The same figures as a table."""
    labels = claim_labels(report)
    rows = ((LOOKS[k].word, f"{labels.count(k)} of {len(labels)}") for k in LABELS if k in labels)
    return table(("Verdict", "Claims"), rows)
