"""Explore: an answer, its claims, what the sources say of each, and why."""

from __future__ import annotations

import streamlit as st

from attribution.types import LABELS, Page
from pages.ui import cards, controls, render, state
from pages.ui.answer_view import answer_view, place, source_view, view
from pages.ui.frame import styles
from pages.ui.render import el, plural
from pages.ui.results import below, callouts, note, show, slot, status

POLL = 0.5  # seconds between looks at a run that is under way


def form(compact: bool, running: bool) -> None:
    """Question, answer and the buttons, which stay where they are."""
    chosen = state.settings()
    with st.container(key="form"):
        top, menu = st.columns([5, 1], vertical_alignment="bottom")
        top.text_input(
            "Question",
            state.filled(state.QUESTION) or "",
            key=state.key(state.QUESTION),
            placeholder="What was asked (may stay empty)",
        )
        titles = [example["title"] for example in state.examples()]
        with menu:
            st.menu_button(
                "Examples",
                range(len(titles)),
                key=state.EXAMPLE,
                format_func=titles.__getitem__,
                on_click=state.choose_example,
                width="stretch",
            )
        text, buttons = st.columns([5, 1])
        text.text_area(
            "Answer",
            state.filled(state.ANSWER) or "",
            key=state.key(state.ANSWER),
            height=168 if compact else 300,
            placeholder="Paste the answer whose claims should be checked",
        )
        with buttons, st.container(key="go"):
            show(el("div"))  # as high as the label beside it
            st.button(
                "Analyse",
                type="primary",
                on_click=state.analyse,
                disabled=running or isinstance(chosen, str),
                width="stretch",
                key="analyse",
            )
            st.button(
                "Stop",
                on_click=state.stop,
                disabled=not running,
                width="stretch",
                key="stop",
                help="Ends the run and keeps what it has found.",
            )
            waiting = state.estimate()[1] and not running
            st.fragment(_estimate, run_every=POLL if waiting else None)(waiting)
        if isinstance(chosen, str):
            note("Not ready yet", chosen)
        if problem := state.problem():
            note(*problem, label="contradicted")
        if saved := state.notice():
            note("The saved run is not shown", saved)


def _estimate(polling: bool) -> None:
    """What a run would cost; worked out aside, so that the page never waits for it."""
    value, waiting = state.estimate()
    if polling and not waiting:
        st.rerun()
    if waiting and not state.running():
        text = "Estimating …"
    elif value is None:
        text = ""
    else:
        text = f"~{plural(value.claims, 'claim')} · {plural(value.pages, 'page')} · {value.seconds:.0f} s"
    show(el("p", text, class_="ax-estimate"))


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
    now = state.current()
    if polling != state.running():  # the form has to hear of it too
        st.rerun()
    if now is None:
        return
    report = state.recoloured(now.report)
    status(now, report)
    slot(now, report)
    with st.container(key="result"):
        callouts(now, report)
        data = state.drawn(now, lambda: view(report, run=now.key, running=now.running))
        result = answer_view(data, key="answer_view", on_open=lambda: None)
    if asked := place(report, result.open):
        _source_dialog(*asked)


@st.dialog("Source", width="medium")
def _source_dialog(page: Page, at: list[int]) -> None:
    facts = " · ".join(x for x in (page.site, f"read {cards.moment(page.fetched_at)}", page.url) if x)
    show(el("div", el("h3", page.title, dir="auto"), el("p", facts, class_="ax-quiet"), class_="ax-source"))
    source_view(page, at, key=f"source-{page.id}-{at[0]}")


state.begin()
styles()
controls.sidebar()
polling = state.running()  # asked once, so that form and result agree
form(compact=polling or state.current() is not None, running=polling)
if state.current() is None:
    first_visit()
else:
    st.fragment(live, run_every=POLL if polling else None)(polling)
    shown = state.current()
    if shown and not polling and shown.report.verdicts:
        below(state.recoloured(shown.report))
