"""Question, answer and the buttons of a page, which stay where they are."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import streamlit as st

from attribution.settings import Settings
from pages.ui import state
from pages.ui.form import choices, conversation
from pages.ui.frame import note, show
from pages.ui.html.render import el
from pages.ui.slot import Slot

COUNTER = "answer_count"
_HERE = Path(__file__).parent
_counter = st.components.v2.component(
    "attribution.counter",
    html='<p class="count"></p>',
    css=(_HERE / "counter.css").read_text("utf-8"),
    js=(_HERE / "counter.js").read_text("utf-8"),
)


def _restore_draft() -> None:
    """Fill in what was typed in this tab before it was reloaded; anything else that a browser sends is ignored."""
    draft = getattr(st.session_state.get(COUNTER), "draft", None)
    texts = {name: draft.get(name) for name in (state.QUESTION, state.ANSWER)} if isinstance(draft, dict) else {}
    if texts and all(isinstance(text, str) for text in texts.values()):
        state.fill(**texts)


@dataclass(frozen=True)
class Examples:
    """A menu that fills the form; `key` is its key in the session."""

    key: str
    examples: Sequence[Mapping[str, Any]]  # each with a “title”
    choose: Callable[[], None]
    help: str


def question_field(placeholder: str, help: str, menu: Examples) -> None:
    """The field for the question, and beside it the menu of examples."""
    field, beside = st.columns([5, 1], vertical_alignment="bottom")
    field.text_input(
        "Question",
        state.initial(state.QUESTION) or "",
        key=state.key(state.QUESTION),
        placeholder=placeholder,
        help=help,
    )
    titles = [example["title"] for example in menu.examples]
    beside.menu_button(
        "Examples",
        range(len(titles)),
        key=menu.key,
        format_func=titles.__getitem__,
        on_click=menu.choose,
        help=menu.help,
        width="stretch",
    )


def form(
    *,
    start: str,
    on_start: Callable[[], None],
    slot: Slot[Any, Any],
    compact: bool,
    running: bool,
    ready: bool,
    options: Callable[[], None] | None = None,
    estimate: Callable[[], None] | None = None,
    turns: bool = False,
) -> None:
    """`start` labels the button; `options` are drawn below the answer, `estimate` below the buttons.

    `slot` has the job that Stop stops. `turns` adds a folded field for the conversation before the question.
    """
    with st.container(key="form"):
        question_field(
            "The question that was asked (optional)",
            "It helps to understand claims that depend on it, and to search for them.",
            Examples(
                state.EXAMPLE,
                state.examples(),
                choices.choose_example,
                "Fill in a question and an answer, with the sources they are meant for.",
            ),
        )
        if turns:
            earlier_turns()
        answer, buttons = st.columns([5, 1])
        answer.text_area(
            "Answer",
            state.initial(state.ANSWER) or "",
            key=state.key(state.ANSWER),
            height=168 if compact else 300,
            placeholder="Paste the answer to check",
            help="Text or Markdown. Its claims are checked one by one.",
        )
        with answer:
            limit = Settings.model_fields["answer_limit"].default
            typed = {name: state.value(name) or "" for name in (state.QUESTION, state.ANSWER)}
            _counter(data={**typed, "limit": limit}, key=COUNTER, on_draft_change=_restore_draft)
        with buttons:
            start_and_stop(start, on_start, slot, running, ready, "The results so far are kept.", estimate)
        if options:
            options()
        if isinstance(problem := choices.settings(), str):
            note("Not ready yet", problem)


def earlier_turns() -> None:
    """The conversation before the question, folded where there is none."""
    with st.expander("Earlier turns", expanded=bool(state.text(state.TURNS))):
        st.text_area(
            "The conversation before the question",
            state.initial(state.TURNS) or "",
            key=state.key(state.TURNS),
            height=120,
            placeholder="User: What is the Eiffel Tower?\nAssistant: An iron tower in Paris.",
            help="Start each turn on a new line with “User:” or “Assistant:”. References such as “it” are resolved "
            "into these turns, and language models see them.",
        )
        if problem := conversation.turns_problem():
            note("The earlier turns cannot be read", problem)


def start_and_stop(
    start: str,
    on_start: Callable[[], None],
    slot: Slot[Any, Any],
    running: bool,
    ready: bool,
    stop_help: str,
    below: Callable[[], None] | None = None,
) -> None:
    """The two buttons of a page, one under the other."""
    with st.container(key="go"):
        show(el("div"))  # as high as the label beside it
        st.button(
            start,
            type="primary",
            on_click=on_start,
            disabled=running or not ready,
            width="stretch",
            key="start",
            help="Check what is filled in, with the sources and the method of the sidebar (key: r).",
        )
        own = slot.is_own()
        st.button(
            "Stop" if own else "Stop watching",
            on_click=slot.stop,
            disabled=not running,
            width="stretch",
            key="stop",
            help=stop_help if own else "Another browser has started this; there it goes on.",
        )
        if below:
            below()
