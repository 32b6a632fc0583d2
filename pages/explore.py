"""Explore: an answer, its claims, what the sources say about each, and why."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from attribution.types import LABELS, Page
from pages.ui import state
from pages.ui.answer.provenance import date, facts
from pages.ui.answer.view import answer_view, requested_claim, requested_place, source_view, view
from pages.ui.form import choices
from pages.ui.form.sidebar import sidebar
from pages.ui.form.view import form
from pages.ui.frame import lead, note, show, styles
from pages.ui.html.render import badge, el, look
from pages.ui.link import link
from pages.ui.run import state as run_state
from pages.ui.run.correction import correction_dialog
from pages.ui.run.cost import cost
from pages.ui.run.notices import notices
from pages.ui.run.results import bar, details, status
from pages.ui.run.sharing import sharing

POLL = 0.5  # seconds between looks at a run in progress


def analyse_form(compact: bool, running: bool) -> None:
    """The form, with what a run would take, and why the last one did not start."""
    form(
        start="Analyse",
        on_start=run_state.analyse,
        on_stop=run_state.stop,
        compact=compact,
        running=running,
        ready=not isinstance(choices.settings(), str),
        estimate=lambda: cost(running),
    )
    if problem := run_state.problem():
        title, reason, detail = problem
        note(title, reason, label="contradicted", detail=detail)
    if notice := run_state.notice():
        note("The saved run cannot be shown", notice)


def first_visit() -> None:
    """What the page is for, and how to read it."""
    lead(
        "Analyse shows which claims of an answer the sources support, which they contradict, and for which nothing "
        "was found, each with the sentence that decides. An example is filled in."
    )
    pairs = (el("div", el("span", badge(k)), el("span", look(k).help, class_="help")) for k in LABELS)
    show(el("section", *pairs, class_="ax-key"))


def live(polling: bool) -> None:
    """The result, drawn again and again while a run is in progress.

    One fragment, not one for the progress and one for the answer: Streamlit loses updates when two timers coincide.
    """
    now = run_state.current()
    if polling != run_state.is_running():  # the form has to change too
        st.rerun()
    if now is None:
        return
    report = run_state.with_thresholds(now.report)
    corrected = run_state.corrected_claims(report.id) if report.id else frozenset[str]()
    status(now, report)
    bar(now, report)
    if report.created_at:
        link(f"{choices.method(report)}, {date(report.created_at)}", key="link", run=report.id)
    with st.container(key="result"):
        notices(now, report)
        data = run_state.cached_view(now, lambda: view(report, corrected, run=now.key, running=now.running))
        result = answer_view(data, key="answer_view")
    if now.running:
        return
    if request := requested_claim(report, result.revert):
        run_state.recheck(request[0].model_copy(update={"enriched": None}))
        st.rerun()
    if request := requested_claim(report, result.correct):
        correction_dialog(*request)
    if place := requested_place(report, result.open):
        source_dialog(*place)


@st.dialog("Source", width="medium")
def source_dialog(page: Page, place: Sequence[int]) -> None:
    line = " · ".join(filter(None, (facts(page, place[2]), page.url)))
    show(el("div", el("h3", page.title, dir="auto"), el("p", line, class_="ax-quiet"), class_="ax-source"))
    source_view(page, place, key=f"source-{page.id}-{place[0]}")


state.begin("explore", run=run_state.load)
styles()
sidebar()
polling = run_state.is_running()  # asked once, so that form and result agree
analyse_form(compact=polling or run_state.current() is not None, running=polling)
if run_state.current() is None:
    first_visit()
else:
    st.fragment(live, run_every=POLL if polling else None)(polling)
    shown = run_state.current()
    if shown and not polling and shown.report.verdicts:
        if run_state.corrected_claims(shown.report.id):
            st.button("Undo the last correction", on_click=run_state.undo, key="undo")
        details(run_state.with_thresholds(shown.report))
        sharing(shown.report.id)
