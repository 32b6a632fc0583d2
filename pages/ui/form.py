"""Draw the form of a run: question, answer, and the menus of its sources and options."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import streamlit as st

from attribution.evidence.search import QUERIES
from attribution.pipeline.permissions import allowed_models
from attribution.reports.html import el, plural
from attribution.segmenters import SEGMENTERS
from attribution.settings import ALSO, HELP, LABELS, LIMITS, SLIDERS, Settings
from attribution.tables import Entry
from attribution.verifiers import VERIFIERS
from pages.ui import choices, state
from pages.ui.background import JobPage
from pages.ui.choices import LLM_TASKS
from pages.ui.collections_menu import collections_menu
from pages.ui.fields import (
    DOCUMENT_TYPES,
    earlier_turns,
    model_download,
    multiselect,
    pick,
    text_input,
)
from pages.ui.frame import as_label, note, show, small

if TYPE_CHECKING:
    from attribution.llm.client import Connection

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
    is_check: bool = False,
) -> None:
    """Draw the form.

    Args:
        start: Label of the button, which calls `on_start`.
        job: What Stop stops.
        options: Drawn below the answer.
        estimate: Drawn before the buttons.
        is_check: The page is Check: the options have the segmenter, and Stop is below the form.
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
            advanced_menu(segmenter=is_check)
            job.buttons(start, on_start, running, ready, before=estimate, stop=not is_check)
        problem = choices.settings()
        if isinstance(problem, str):
            note("Not ready yet", problem)


def _count() -> None:
    """Count the characters of the answer, and keep what is typed over a reload."""
    documents = state.keep_sources()
    typed = {name: state.value(name) or "" for name in ("question", "answer")}
    limit = Settings.model_fields["answer_limit"].default
    _counter(
        data={**typed, "documents": documents, "limit": limit},
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
        state.fill(**texts, **state.kept_sources(str(draft.get("documents"))))


# --- sources ---


PASTED = "The text becomes a document to check against."
LINKED = "The page at each address is checked against."
TESTED = "tested_connection"  # what was typed, and what came of it


def sources_control() -> None:
    """Draw what the answer is checked against: kinds, collections, and one's own documents."""
    added = choices.documents()
    problems = [*filter(None, map(choices.unreadable, state.uploads("files")))]
    with st.container(key="sources"):
        options = choices.source_options()
        st.pills(
            "Sources",
            list(options),
            selection_mode="multi",
            default=[name for name in state.initial("sources") or () if name in options],
            key=state.key("sources"),
            format_func=lambda name: as_label(options[name]),
            help="What the answer is checked against.",
        )
        with st.container(key="add_sources", horizontal=True, vertical_alignment="center"):
            st.file_uploader(
                "Add files",
                DOCUMENT_TYPES,
                accept_multiple_files=True,
                key=state.key("files"),
                on_change=choices.use_documents,
                max_upload_size=LIMITS.file_mb,
                label_visibility="collapsed",
                help="Documents of your own to check against.",
            )
            with st.popover("Paste a text", key="paste_menu", type="tertiary", help=PASTED):
                _text("Pasted text", "pasted", "Paste a source text", PASTED)
            with st.popover("Add links", key="links_menu", type="tertiary", help=LINKED):
                _text("Links", "addresses", "https://…, one per line", LINKED)
            collections_menu()
        earlier = state.initial("files")
        if earlier:
            with st.container(key="added", horizontal=True, vertical_alignment="center"):
                small(f"Already added: {', '.join(file.name for file in earlier)}"[:300])
                st.button(
                    "Remove",
                    key="added_remove",
                    type="tertiary",
                    on_click=state.forget_files,
                    help="Check without the documents added before.",
                )
        if problems:
            title = f"{len(problems)} of {plural(len(added), 'file')} could not be read"
            note(title, *problems, label="missing")


def _text(label: str, name: str, placeholder: str, help: str) -> None:
    st.text_area(
        label,
        state.initial(name) or "",
        height=140,
        key=state.key(name),
        placeholder=placeholder,
        help=help,
        on_change=choices.use_documents,
        max_chars=LIMITS.text,
    )


def advanced_menu(segmenter: bool = True) -> None:
    """Draw everything else; without a `segmenter` where the page has its own place for it."""
    help = "How claims are found, searched for and checked."
    with (
        st.popover("Advanced", key="options_menu", help=help, type="tertiary"),
        st.container(key="options_box"),
    ):
        left, right = st.columns(2, gap="medium")
        with left:
            _methods(segmenter)
            if "web" in choices.source_options():
                pick("Search engine", "engine", choices.ENGINES, "Where the web is searched.")
            earlier_turns()
        with right:
            st.checkbox(
                "As in V24 (Vladika et al. 2024)",
                bool(state.initial("preset")),
                key=state.key("preset"),
                help="The paper's settings replace the options here; the sources stay.",
            )
            for name in SLIDERS:
                _slider(name)
            language_model()


# --- options ---


def _methods(segmenter: bool) -> None:
    if segmenter:
        _method("segmenter", SEGMENTERS, "How claims are drawn from the answer (segmenter).")
    help = "What the sources are searched for, for each claim."
    pick(LABELS["query"], "query", QUERIES, help)
    help = "Decides whether a passage supports or contradicts a claim (natural language inference)."
    _method("verifier", VERIFIERS, help)


def _method(name: str, table: Mapping[str, Entry], help: str) -> None:
    """Draw the choice of an implementation, and of its model where it takes one."""
    selected = pick(LABELS[name], name, table, help)
    setting = table[selected].model_setting if selected else ""
    if not setting:
        return
    allowed = ", ".join(allowed_models())
    help = f"A model of the Hugging Face hub. This server allows {allowed}"
    text_input(LABELS[setting], setting, "the default model", help)
    if table[selected].download:
        model_download(table[selected])


def _slider(name: str) -> None:
    """Draw the slider of a setting of the decision, as its row in the table says."""
    least, most = SLIDERS[name]
    whole = isinstance(least, int)
    number = int if whole else float
    st.slider(
        LABELS[name],
        number(least),
        number(most),
        number(state.initial(name)),
        1 if whole else 0.01,
        format="%d" if whole else "%.2f",
        key=state.key(name),
        help=f"{HELP[name][0].upper()}{HELP[name][1:]}. It relabels a finished run immediately.",
    )


def language_model() -> None:
    """Draw the endpoint that prompts are sent to, for this session alone."""
    with st.expander("Language model", key="llm_box", on_change="rerun"):
        help = "Any OpenAI-compatible endpoint, if the operator of this server allows it."
        text_input("Address", "llm_address", "https://api.openai.com/v1", help)
        help = "As the endpoint calls it, such as llama3.1:8b."
        text_input("Model", "llm_model", "name of the model", help)
        help = "Used in this session only. It is never stored, logged or put into a report."
        text_input(
            "Key",
            "llm_key",
            "",
            help,
            secret=True,
        )
        help = "Steps that use rules by default. One prompt for each claim."
        multiselect(
            ALSO,
            "llm_tasks",
            LLM_TASKS,
            "nothing: rules decide",
            help,
        )
        endpoint = choices.endpoint()
        if isinstance(endpoint, str):
            small(endpoint)
            return
        if endpoint.prompt_version:
            small(f"Prompts of the operator: {endpoint.prompt_version}.")
        if st.button("Test connection", key="test_connection", help="Sends one short prompt."):
            from attribution.llm.client import check_connection

            with st.spinner("Waiting for the language model …"):
                connection = check_connection(endpoint)
                state.put(TESTED, (_typed(), connection))  # before a redraw can cut in
        tested = state.get(TESTED)
        if (
            tested and tested[0] == _typed()
        ):  # it outlives a redraw, but no change of what was typed
            _outcome(tested[1])


def _typed() -> tuple[str, ...]:
    return tuple(state.text(name) for name in ("llm_address", "llm_model", "llm_key"))


def _outcome(connection: Connection) -> None:
    """Say whether the language model answers, and what to do where it does not."""
    if connection.ok:
        note(
            "It works",
            connection.message,
            label="supported",
            detail=connection.detail,
        )
        return
    note(
        "Connection failed",
        connection.message,
        label="contradicted",
        detail=connection.detail,
    )
