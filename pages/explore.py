"""Explore: an answer, its claims, what the sources say of each, and why."""

from __future__ import annotations

import streamlit as st

from attribution.types import LABELS, Page
from pages.ui import controls, state
from pages.ui.form import form
from pages.ui.frame import styles
from pages.ui.html import render
from pages.ui.html.render import el
from pages.ui.run import provenance, run_state
from pages.ui.run.answer_view import answer_view, place, reverted, source_view, view
from pages.ui.run.correct import correct
from pages.ui.run.cost import cost
from pages.ui.run.results import below, callouts, note, show, slot, status

POLL = 0.5  # seconds between looks at a run that is under way


def analyse_form(compact: bool, running: bool) -> None:
    """The form, with what a run would cost, and why the last one did not start."""
    form(
        start="Analyse",
        on_start=run_state.analyse,
        on_stop=run_state.stop,
        compact=compact,
        running=running,
        ready=not isinstance(state.settings(), str),
        estimate=lambda: cost(running),
    )
    if problem := run_state.problem():
        note(*problem, label="contradicted")
    if saved := run_state.notice():
        note("The saved run is not shown", saved)


def first_visit() -> None:
    """What the page is for, and how to read it."""
    show(
        el(
            "p",
            "An example is filled in: Analyse shows which of its claims the sources support, which they contradict, "
            "and for which nothing was found, each with the sentence that decides.",
            class_="ax-lead",
        )
    )
    pairs = [
        el("div", el("span", render.badge(label)), el("span", render.look(label).help, class_="help"))
        for label in LABELS
    ]
    show(el("section", *pairs, class_="ax-key"))


def live(polling: bool) -> None:
    """The result as it stands; looked at again and again while a run is under way.

    One fragment, not one for the progress and one for the answer: Streamlit loses updates when two timers coincide.
    """
    now = run_state.current()
    if polling != run_state.running():  # the form has to hear of it too
        st.rerun()
    if now is None:
        return
    report = run_state.recoloured(now.report)
    status(now, report)
    slot(now, report)
    with st.container(key="result"):
        callouts(now, report)
        data = run_state.drawn(now, lambda: view(report, run=now.key, running=now.running))
        result = answer_view(data, key="answer_view")
    if (asked_back := reverted(report, result.revert)) and not now.running:
        run_state.recheck(asked_back.model_copy(update={"enriched": None}))
        st.rerun()
    if asked := place(report, result.open):
        _source_dialog(*asked)


@st.dialog("Source", width="medium")
def _source_dialog(page: Page, at: list[int]) -> None:
    number = page.page_number(at[2])
    part = f"page {number} of {len(page.breaks)}" if number else ""
    published = f"published {provenance.moment(page.published)}" if page.published else ""
    known = (provenance.where(page), part, published, f"read {provenance.moment(page.fetched_at)}", page.url)
    facts = " · ".join(x for x in known if x)
    show(el("div", el("h3", page.title, dir="auto"), el("p", facts, class_="ax-quiet"), class_="ax-source"))
    source_view(page, at, key=f"source-{page.id}-{at[0]}")


state.begin("explore", run_state.load)
styles()
controls.sidebar()
polling = run_state.running()  # asked once, so that form and result agree
analyse_form(compact=polling or run_state.current() is not None, running=polling)
if run_state.current() is None:
    first_visit()
else:
    st.fragment(live, run_every=POLL if polling else None)(polling)
    shown = run_state.current()
    if shown and not polling and shown.report.verdicts:
        correct(shown.report)
        below(run_state.recoloured(shown.report))
