"""Draw the form of a run: question, answer, sources and options."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import streamlit as st

from attribution.reports.html import el
from attribution.settings import LIMITS, Settings
from pages.ui import choices, state
from pages.ui.form_menus import advanced_menu, sources_control
from pages.ui.frame import note, show
from pages.ui.job_page import JobPage

COUNTER = "answer_count"
CARDS = 3  # examples that stand on the page
_STATIC = Path(__file__).parent / "static"
_counter = st.components.v2.component(
    "attribution.counter",
    html='<p class="count"></p>',
    css=(_STATIC / "counter.css").read_text("utf-8"),
    js=(_STATIC / "counter.js").read_text("utf-8"),
)


def example_cards(on_demo: Callable[[], None]) -> None:
    """Offer a few examples by a card each, and the demo."""
    with st.container(key="examples_head", horizontal=True, vertical_alignment="center"):
        show(el("p", el("strong", "Or try an example")))
        st.button(
            "Five-minute demo",
            on_click=on_demo,
            key="demo",
            type="tertiary",
            help="Checks an answer with errors in it, and shows what can be done with the result.",
        )
    for place, (column, example) in enumerate(
        zip(st.columns(CARDS, gap="small"), state.examples(), strict=False)
    ):
        column.button(
            f"**{example['title']}**  \n{example['question']}",
            on_click=choices.fill_example,
            args=(example,),
            key=f"example-{place}",
            width="stretch",
            help="Fill in a question and an answer, with the sources they are meant for.",
        )


def form(
    *,
    start: str,
    on_start: Callable[[], None],
    job: JobPage[Any],
    compact: bool,
    running: bool,
    ready: bool,
    options: Callable[[], None] | None = None,
    estimate: Callable[[], None] | None = None,
    explore: bool = False,
) -> None:
    """Draw the form.

    Args:
        start: Label of the button, which calls `on_start`.
        job: What Stop stops.
        options: Drawn below the answer.
        estimate: Drawn before the buttons.
        explore: Stop stands outside the form, the segmenter among the options.
    """
    with st.container(key="form"):
        st.text_input(
            "Question",
            state.initial("question") or "",
            key=state.key("question"),
            placeholder="What was asked (optional)",
            help="It helps to understand claims that depend on it, and to search for them.",
            max_chars=LIMITS.text,
        )
        st.text_area(
            "Answer",
            state.initial("answer") or "",
            key=state.key("answer"),
            height=168 if compact else 196,
            placeholder="Paste the answer of ChatGPT, Claude, Gemini … as it is, with its "
            "headings, lists, tables and citation marks",
            help="Text or Markdown. Its claims are checked one by one.",
            max_chars=LIMITS.answer,
        )
        _count()
        if options:
            options()
        sources_control()
        row = st.container(
            key="form_row",
            horizontal=True,
            vertical_alignment="center",
        )
        with row:
            advanced_menu(segmenter=explore)
            job.buttons(start, on_start, running, ready, before=estimate, stop=not explore)
        problem = choices.settings()
        if isinstance(problem, str):
            note("Not ready yet", problem)


def _count() -> None:
    """Count the characters of the answer, and keep what is typed over a reload."""
    state.keep_sources()
    typed = {name: state.value(name) or "" for name in ("question", "answer")}
    limit = Settings.model_fields["answer_limit"].default
    _counter(
        data={**typed, "documents": len(choices.documents()), "limit": limit},
        key=COUNTER,
        on_draft_change=_restore_draft,
    )


def _restore_draft() -> None:
    """Fill in what was typed in this tab before it was reloaded, and ignore anything else."""
    draft = getattr(st.session_state.get(COUNTER), "draft", None)
    if not isinstance(draft, dict):
        return
    texts = {name: draft.get(name) for name in ("question", "answer")}
    if all(isinstance(text, str) for text in texts.values()):
        state.fill(**texts, **(state.kept_sources() if draft.get("documents") else {}))
