"""Question, answer and the buttons of a page, which stay where they are."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from pages.ui import state
from pages.ui.html.render import el
from pages.ui.run.results import note, show


def form(
    *,
    start: str,
    on_start: Callable[[], None],
    on_stop: Callable[[], None],
    compact: bool,
    running: bool,
    ready: bool,
    choices: Callable[[], None] | None = None,
    estimate: Callable[[], None] | None = None,
) -> None:
    """`start` labels the button; `choices` are drawn above the answer, `estimate` beneath the buttons."""
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
                start, type="primary", on_click=on_start, disabled=running or not ready, width="stretch", key="go-on"
            )
            st.button(
                "Stop",
                on_click=on_stop,
                disabled=not running,
                width="stretch",
                key="stop",
                help="Ends the run and keeps what it has found.",
            )
            if estimate:
                estimate()
        if choices:
            choices()
        chosen = state.settings()
        if isinstance(chosen, str):
            note("Not ready yet", chosen)
