"""Draw the form of a run: question, answer, sources and options."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
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
EXAMPLE_HELP = "Fill in a question and an answer, with the sources they are meant for."
PLACEHOLDER = (
    "Paste the answer of ChatGPT, Claude, Gemini … as it is, with its headings, lists, tables and "
    "citation marks"
)
_STATIC = Path(__file__).parent / "static"
_counter = st.components.v2.component(
    "attribution.counter",
    html='<p class="count"></p>',
    css=(_STATIC / "counter.css").read_text("utf-8"),
    js=(_STATIC / "counter.js").read_text("utf-8"),
)


@dataclass(frozen=True)
class Examples:
    """A menu that fills the form; `key` is its key in the session."""

    key: str
    examples: Sequence[Mapping[str, object]]  # each with a “title”
    choose: Callable[[], None]
    help: str


def examples_menu(menu: Examples, label: str = "Examples") -> None:
    """Draw the menu of examples."""
    titles = [str(example["title"]) for example in menu.examples]
    st.menu_button(
        label,
        range(len(titles)),
        key=menu.key,
        format_func=titles.__getitem__,
        on_click=menu.choose,
        help=menu.help,
        width="stretch",
    )


def all_examples() -> Examples:
    """Return the menu of questions with one answer."""
    return Examples("example", state.examples(), choices.choose_example, EXAMPLE_HELP)


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
            help=EXAMPLE_HELP,
        )


def question_field(placeholder: str, help: str, menu: Examples | None) -> None:
    """Draw the field for the question, and beside it the menu of examples."""
    field = st.container()
    if menu:
        field, beside = st.columns([5, 1], vertical_alignment="bottom")
        with beside:
            examples_menu(menu)
    field.text_input(
        "Question",
        state.initial("question") or "",
        key=state.key("question"),
        placeholder=placeholder,
        help=help,
        max_chars=LIMITS.text,
    )


ONE_ANSWER = {"Answer": "answer"}


def form(
    *,
    start: str,
    on_start: Callable[[], None],
    job: JobPage[Any],
    compact: bool,
    running: bool,
    ready: bool,
    answers: Mapping[str, str] = ONE_ANSWER,
    examples: Examples | None = None,
    options: Callable[[], None] | None = None,
    estimate: Callable[[], None] | None = None,
    explore: bool = False,
) -> None:
    """Draw the form.

    Args:
        start: Label of the button, which calls `on_start`.
        job: What Stop stops.
        answers: Inputs for the answers by their labels.
        examples: The menu beside the question.
        options: Drawn below the answers.
        estimate: Drawn before the buttons.
        explore: Stop stands outside the form, the segmenter among the options.
    """
    with st.container(key="form"):
        question_field(
            "What was asked (optional)",
            "It helps to understand claims that depend on it, and to search for them.",
            examples,
        )
        for column, (label, name) in zip(st.columns(len(answers)), answers.items(), strict=True):
            column.text_area(
                label,
                state.initial(name) or "",
                key=state.key(name),
                height=168 if compact else 196,
                placeholder=PLACEHOLDER,
                help="Text or Markdown. Its claims are checked one by one.",
                max_chars=LIMITS.answer,
            )
        if len(answers) == 1:
            _count()
        if options:
            options()
        sources_control()
        row = st.container(
            key="form_row",
            horizontal=True,
            vertical_alignment="center",
            gap="small",
        )
        with row:
            advanced_menu(segmenter=explore or len(answers) > 1)
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
