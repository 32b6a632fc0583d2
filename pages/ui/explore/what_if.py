"""Show how verdicts change with thresholds and aggregation."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING

import streamlit as st

from attribution.evidence.what_if import differing, sites
from attribution.policy import Aggregation, Counted, DecisionPolicy
from attribution.reports.html import LOOKS, el, plural, table
from attribution.text.sentences import LANGUAGES
from attribution.types import Label, Report
from attribution.verifiers.calibration import ENOUGH, Curve, curve
from pages.ui import state, thresholds
from pages.ui.frame import plot, show, small
from pages.ui.options import slider
from pages.ui.run_results import CLEAR, FONT, graph_objects

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

RULES: dict[Aggregation, str] = {
    "both": "Both count: conflicting",
    "strictest": "Strictest: one contradiction is enough",
    "most_frequent": "Most frequent: the majority counts",
    "any": "Any: one support is enough",
}
SIDES: tuple[tuple[str, Label], ...] = (
    (state.THRESHOLD, "supported"),
    (state.CONTRADICTION_THRESHOLD, "contradicted"),
)


def what_if_panel(report: Report, run: str, is_open: bool) -> None:
    """Draw it for a finished run. What is chosen holds for this run and this session; the run
    itself stays.
    """
    tag = f"{run}-{state.count('what_if_resets')}"
    changed = st.container()
    for name, badge in SIDES:
        slider(name)
        if is_open:
            _cost(report, badge, float(state.value(name)))
    for name in (name for name in state.POLICY if name not in dict(SIDES)):
        slider(name)
    made = DecisionPolicy.of(report.settings)
    rule = st.selectbox(
        "Where passages disagree",
        list(RULES),
        list(RULES).index(made.aggregation),
        format_func=RULES.__getitem__,
        key=f"what-rule-{tag}",
        help="The rule that makes one verdict of several passages.",
    )
    top_k = _top_k(report, tag)
    without = st.multiselect(
        "Leave out sites",
        sites(report),
        key=f"what-sites-{tag}",
        placeholder="none",
        help="Passages of these sites no longer count.",
    )
    since, until, dated = _dates(report, tag)
    languages = _languages(report, tag, is_open)
    once = st.checkbox(
        "Passages that say the same count once",
        key=f"what-once-{tag}",
        help="Copies of one text on several pages always count once.",
    )
    thresholds.choose(
        rule, Counted(top_k, frozenset(without), since, until, dated, languages, once)
    )
    if thresholds.chosen(report) == made:
        with changed:
            show(el("p", "These are the verdicts of the run as made.", class_="ax-status"))


def what_if_words(report: Report) -> str:
    """Say that verdicts are hypothetical, for all tabs; empty while they are those of the run."""
    if thresholds.chosen(report) == DecisionPolicy.of(report.settings):
        return ""
    differ, all_ = differing(report, thresholds.shown(report)), len(report.verdicts)
    verb = "differs" if differ == 1 else "differ"
    return f"{differ} of {plural(all_, 'verdict')} {verb} from the run as made."


def _top_k(report: Report, tag: str) -> int | None:
    counts: dict[str, int] = {}
    for piece in report.evidence:
        counts[piece.claim_id] = counts.get(piece.claim_id, 0) + 1
    most = max(counts.values(), default=0)
    if most < 2:
        return None
    chosen = st.slider(
        "Passages of a claim, the nearest first",
        1,
        most,
        most,
        key=f"what-top-{tag}-{most}",
        help="Fewer passages are stricter: what only a distant passage says no longer counts.",
    )
    return chosen if chosen < most else None


def _dates(report: Report, tag: str) -> tuple[str, str, bool]:
    """From, to, and whether pages without a date are left out; offered where pages have dates."""
    days = sorted(day for p in report.pages if (day := _day(p.published)))
    if len(set(days)) < 2:
        return "", "", False
    first, last = days[0], days[-1]
    start, end = st.slider(
        "Published between",
        first,
        last,
        (first, last),
        format="D MMM YYYY",
        key=f"what-dates-{tag}-{first}-{last}",
        help="Only pages of these days count.",
    )
    narrowed = (start, end) != (first, last)
    dated = narrowed and len(days) < len(report.pages)
    left_out = bool(
        dated
        and st.checkbox(
            "Leave out pages without a date",
            key=f"what-dated-{tag}",
            help="Otherwise they count whatever the dates are.",
        )
    )
    return (start.isoformat(), end.isoformat(), left_out) if narrowed else ("", "", False)


def _day(published: str) -> date | None:
    try:
        return date.fromisoformat(published[:10])
    except ValueError:
        return None


def _languages(report: Report, tag: str, detect: bool) -> frozenset[str]:
    """The languages to keep; offered where the pages have several. They are detected when the panel
    is first opened.
    """
    codes = sorted(set(thresholds.languages(report, detect).values()))
    if len(codes) < 2:
        return frozenset()
    return frozenset(
        st.multiselect(
            "Only pages in",
            codes,
            format_func=lambda c: LANGUAGES.get(c, c),
            key=f"what-languages-{tag}",
            placeholder="any",
            help="Only pages in these languages count.",
        )
    )


# --- what a threshold costs and brings ---


def _cost(report: Report, badge: Label, threshold_: float) -> None:
    """The badges that a threshold shows on claims that people checked, and how many of them are
    right.
    """
    measured = curve(report.versions.get("verifier", ""), badge)
    word = LOOKS[badge].word.lower()
    if measured is None:
        small("There are no figures by threshold for this verifier.")
        return
    point = measured.at(threshold_)
    at = (
        f"At {point.threshold:.2f}, {point.shown} of {measured.claims:,} claims that people checked are shown as "
        f"{word}, and {point.right} of these badges are right."
    )
    if max(p.shown for p in measured.points) < ENOUGH:
        small(f"{at} Too few for a curve.")
        return
    plot(_figure(measured, threshold_, badge, state.is_dark()), f"curve-{badge}", at)
    small(at)
    rows = (
        (f"{p.threshold:.2f}", f"{p.shown} of {measured.claims}", f"{p.right} of {p.shown}")
        for p in measured.points
    )
    figures = table(("Threshold", f"Shown as {word}", "Right"), rows)
    show(el("details", el("summary", "The figures as a table"), figures, class_="ax-detail"))


def _figure(measured: Curve, threshold_: float, badge: Label, dark: bool) -> Figure:
    """Two lines over the threshold: the share of badges that are right, and the share of claims
    that get one.
    """
    look = LOOKS[badge]
    ink, quiet = (look.dark_ink, "#a5a09a") if dark else (look.ink, "#5f5b57")
    points = [p for p in measured.points if p.shown >= 5]  # the share of fewer jumps
    x = [p.threshold for p in points]
    lines = (
        (
            "right",
            [p.right / p.shown for p in points],
            [f"{p.right} of {p.shown} right" for p in points],
            ink,
        ),
        (
            "shown",
            [p.shown / measured.claims for p in points],
            [f"{p.shown} of {measured.claims} shown" for p in points],
            quiet,
        ),
    )
    figure: Figure = graph_objects().Figure()
    for name, y, words, colour in lines:
        figure.add_scatter(
            x=x,
            y=y,
            mode="lines",
            line={"color": colour, "width": 2},
            customdata=words,
            hovertemplate="from %{x:.2f}: %{customdata}<extra></extra>",
        )
        figure.add_annotation(
            x=x[-1],
            y=y[-1],
            text=name,
            showarrow=False,
            xanchor="left",
            xshift=4,
            font={"color": colour, "size": 12},
        )
    figure.add_vline(x=threshold_, line={"color": quiet, "width": 1, "dash": "dot"})
    axis = {
        "fixedrange": True,
        "tickfont": {"size": 11, "color": quiet},
        "zeroline": False,
        "showgrid": False,
    }
    figure.update_layout(
        height=120,
        showlegend=False,
        xaxis={**axis, "range": [0.33, 1.08], "tickvals": [0.4, 0.6, 0.8], "tickformat": ".1f"},
        yaxis={**axis, "range": [0, 1.05], "tickvals": [0, 0.5, 1], "tickformat": ".1f"},
        margin={"l": 26, "r": 8, "t": 4, "b": 18},
        paper_bgcolor=CLEAR,
        plot_bgcolor=CLEAR,
        font={"family": FONT},
    )
    return figure
