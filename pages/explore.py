"""Explore: an answer, its claims, the verdict on each, and the evidence behind it."""

from __future__ import annotations

from functools import partial

import streamlit as st

from attribution.reports.actions import Opened, edited_claims, requested
from attribution.reports.html import Node, badge, el, look, plural
from attribution.reports.provenance import date
from attribution.types import LABELS, Report
from pages.ui import choices, navigation, run, state, thresholds
from pages.ui.answer_view import answer_view, requested_claim, requested_place, source_dialog, view
from pages.ui.components import link
from pages.ui.corrections import take
from pages.ui.corrections_view import show_corrections
from pages.ui.editing import edit_bar, edit_dialog
from pages.ui.form import form
from pages.ui.frame import copy_line, note, show, styles
from pages.ui.run import sharing
from pages.ui.run_results import bar, continue_button, cost, details, is_unfinished, notices, status
from pages.ui.sidebar import sidebar
from pages.ui.what_if import what_if_panel

POLL = 0.5  # seconds between updates of a run in progress
INTRODUCTION = (
    "See which [claims] of an answer the [sources] support, which they contradict, and for which nothing was found, "
    "each with the sentence that decides. An example is filled in."
)


def analyse_form(compact: bool, running: bool) -> None:
    """Draw the form, with the estimate of a run and the reason why the last one did not start."""
    form(
        start="Analyse",
        on_start=run.analyse,
        job=run.RUN,
        compact=compact,
        running=running,
        ready=choices.is_ready(),
        turns=True,
        estimate=lambda: cost(running),
    )
    if problem := run.problem():
        title, reason, detail = problem
        note(title, reason, label="contradicted", detail=detail)
    run.RUN.draw_notice()


def first_visit() -> None:
    """Explain the badges."""
    pairs = (el("div", el("span", badge(k)), el("span", look(k).help, class_="help")) for k in LABELS)
    show(el("section", *pairs, class_="ax-key"))


def earlier_turns(report: Report) -> Node:
    """Draw the turns before the question, folded."""
    turns = (el("p", el("strong", f"{speaker.capitalize()}: "), text, dir="auto") for speaker, text in report.context)
    title = plural(len(report.context), "earlier turn")
    return el("details", el("summary", title), *turns, class_="ax-unready")


def live(polling: bool) -> None:
    """Draw the result, and redraw it while a run is in progress.

    One fragment, not one for the progress and one for the answer: Streamlit loses updates when two timers coincide.
    """
    if run.withdraw():
        st.rerun()
    now = run.current()
    if polling != run.is_running():  # the form has to change too
        st.rerun()
    if now is None:
        return
    report = now.report if now.running else thresholds.shown(now.report)
    status(now, report)
    bar(now, report)
    with st.container(key="origin"):
        if report.created_at:
            link(f"{choices.method(report)}, {date(report.created_at)}", key="link", run=report.id)
        if report.context:
            show(earlier_turns(report))
    with st.container(key="result"):
        with st.container(key="notices"):
            continue_button(now)
            notices(now, report)
        ended = not now.running and not is_unfinished(now)
        editable = ended and run.is_own()
        draw = partial(view, run=now.key, running=now.running, editable=editable)
        data = run.cached_view(now, editable, lambda: draw(report, edited_claims(report), run.provenance(now)))
        result = answer_view(data, key="answer_view")
    if ended and (place := requested_place(report, result.open)):
        source_dialog(*place)
    if not editable:
        return
    match requested(now.report, result.edit):
        case None:
            pass
        case "undo" | "redo" as step:
            run.undo() if step == "undo" else run.redo()
            st.rerun()
        case Opened() as opened:
            edit_dialog(now.report, opened)
        case change:
            run.edit(change)
            st.rerun()
    if claim := requested_claim(now.report, result.step):
        take(str(result.step.get("step")), claim, now.report)


def page() -> None:
    """Draw the form and the result."""
    run.withdraw()
    polling = run.is_running()  # asked once, so that form and result agree
    finished = None if polling else run.current()
    heading = st.empty()  # always there and emptied at once, so that nothing moves later
    if run.current() is None:
        with heading.container():
            navigation.head("Check an answer against sources", INTRODUCTION)
    else:
        heading.empty()
    sidebar(thresholds=run.current() is None)  # with a run they are under “What if”
    analyse_form(compact=polling or run.current() is not None, running=polling)
    if run.current() is None:
        first_visit()
        return
    with st.container(key="tools"):  # also during the run: an answer that moves would be redrawn
        if finished and finished.report.verdicts:
            if run.is_own():
                edit_bar(finished.report)
            else:
                copy_line("run", "edit it", run.copy)
            what_if_panel(finished.report, finished.key)
    st.fragment(live, run_every=POLL if polling else None)(polling)
    shown = run.current()
    if shown and not polling and shown.report.verdicts:
        show_corrections(thresholds.shown(shown.report))
        details(thresholds.shown(shown.report))
        sharing(shown.report.id)


if __name__ == "__main__":
    state.begin("explore", run=run.load)
    styles("explore", "explore")
    page()
