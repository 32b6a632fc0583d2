"""Draw the menus of a form: sources, documents, and the options of a run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import streamlit as st

from attribution.evidence.permissions import allowed_models
from attribution.evidence.search import QUERIES
from attribution.reports.html import plural
from attribution.searchers import SEARCHERS
from attribution.segmenters import SEGMENTERS
from attribution.settings import ALSO, HELP, LABELS, LIMITS, SLIDERS, WEB
from attribution.studies.papers import paper
from attribution.tables import Entry
from attribution.verifiers import VERIFIERS
from pages.ui import choices, state
from pages.ui.choices import LLM_TASKS
from pages.ui.fields import (
    DOCUMENT_TYPES,
    FORMATS,
    earlier_turns,
    model_download,
    multiselect,
    pick,
    text_input,
)
from pages.ui.frame import as_label, note, small

if TYPE_CHECKING:
    from attribution.llm.client import Connection


def source_row(segmenter: bool = True) -> None:
    """Draw the menus of a form: sources, documents, options.

    `segmenter` is False where the page has its own place for it.
    """
    with (
        st.popover(
            f"Sources: {as_label(choices.sources_words())}",
            key="sources_menu",
            help="Where evidence may come from.",
        ),
        st.container(key="sources_box"),
    ):
        _sources()
    added, problems = (
        len(choices.documents()),
        [*filter(None, map(choices.unreadable, state.uploads(state.FILES)))],
    )
    unread = f" · {len(problems)} unreadable" if problems else ""
    with st.popover(
        f"Documents ({added}){unread}" if added else "Add documents",
        key="documents_menu",
        help="Texts, web addresses and files of your own to check against.",
    ):
        if problems:
            note(f"{plural(len(problems), 'file')} cannot be read", *problems, label="missing")
        _documents()
    with st.popover(
        "Options", key="options_menu", help="How claims are found, searched for and checked."
    ):
        with st.container(key="options_box"):
            left, right = st.columns(2, gap="medium")
        with left:
            _as_in_a_paper()
            _methods(segmenter)
        with right:
            for name in SLIDERS:
                _slider(name)
            language_model()
            earlier_turns()
    if changed := choices.changed_options():
        small(f"Changed: {', '.join(changed)}")


def _as_in_a_paper() -> None:
    names = ("", "v24")
    st.selectbox(
        "As in the paper",
        names,
        names.index(state.initial(state.PRESET) or ""),
        key=state.key(state.PRESET),
        format_func=lambda name: paper(name).authors if name else "None",
        on_change=choices.use_preset,
        help="The settings of a paper's experiments, and what stands in where this server lacks them.",
    )
    if found := choices.chosen_preset():
        for setting, sentence in found.stood_in.items():
            if setting != "sources":
                small(f"{sentence[0].upper()}{sentence[1:]}")


def _methods(segmenter: bool) -> None:
    if segmenter:
        help = "How claims are drawn from the answer (segmenter)."
        _method(state.SEGMENTER, SEGMENTERS, help)
    pick(
        LABELS[state.QUERY],
        state.QUERY,
        QUERIES,
        "What the sources are searched for, for each claim.",
    )
    help = "Decides whether a passage supports or contradicts a claim (natural language inference)."
    _method(state.VERIFIER, VERIFIERS, help, choices.use_verifier)


def _slider(name: str) -> None:
    """Draw the slider of a setting of the decision, as its row in the table says."""
    least, most = SLIDERS[name]
    whole = isinstance(least, int)
    number, step, shown = (int, 1, "%d") if whole else (float, 0.01, "%.2f")
    st.slider(
        LABELS[name],
        number(least),
        number(most),
        number(state.initial(name)),
        step,
        format=shown,
        key=state.key(name),
        help=f"{HELP[name][0].upper()}{HELP[name][1:]}. It relabels a finished run immediately.",
    )


def _method(
    name: str, table: Mapping[str, Entry], help: str, on_change: Callable[[], None] | None = None
) -> None:
    """An implementation, and its model where the implementation takes one."""
    selected = pick(LABELS[name], name, table, help, on_change)
    if selected and (setting := table[selected].model_setting):
        text_input(
            LABELS[setting],
            setting,
            "the default model",
            "A model of the Hugging Face hub, downloaded at first use. This server allows "
            + ", ".join(allowed_models()),
        )
        if table[selected].download:
            model_download(table[selected])


def _sources() -> None:
    _source("Built-in library", state.LIBRARY, SEARCHERS["library"].note)
    needs = SEARCHERS[WEB].missing()
    _source("The web", state.WEB, SEARCHERS[WEB].note, disabled=bool(needs))
    if needs:
        small(f"The web needs: {needs}")
    elif state.value(state.WEB):
        _web()
    _source(
        "My documents",
        state.DOCUMENTS,
        "Texts, web addresses and files of your own. They stay on this server.",
    )
    if names := choices.collections():
        multiselect(
            "Collections",
            state.COLLECTIONS,
            {name: name for name in names},
            "none",
            "Collections of the Library, which all users of this server share.",
        )


def _source(label: str, name: str, help: str, disabled: bool = False) -> None:
    st.checkbox(label, bool(state.initial(name)), key=state.key(name), help=help, disabled=disabled)


def _web() -> None:
    """The engine that searches the web, and those that take over."""
    selected = pick("Search engine", state.ENGINE, choices.ENGINES, "Where the web is searched.")
    text_input(
        "Or a SearXNG instance",
        state.INSTANCE,
        "https://…",
        "Used instead of the engine above. It must be on the public web and answer in JSON.",
    )
    ready = [name for name in choices.ready(choices.ENGINES) if name != selected]
    multiselect(
        LABELS[state.FALLBACK],
        state.FALLBACK,
        {name: choices.ENGINES[name].label for name in ready},
        "none",
        "Only these engines are used as fallbacks, in this order. The result says when one was used.",
    )


def _documents() -> None:
    for label, name, height, placeholder, help in (
        (
            "Pasted text",
            state.PASTED,
            110,
            "Paste a source text",
            "It becomes a document of its own.",
        ),
        (
            "Web addresses",
            state.ADDRESSES,
            80,
            "https://…, one per line",
            "Each page is downloaded and read.",
        ),
    ):
        st.text_area(
            label,
            state.initial(name) or "",
            height=height,
            key=state.key(name),
            placeholder=placeholder,
            help=help,
            on_change=choices.use_documents,
            max_chars=LIMITS.text,
        )
    st.file_uploader(
        "Files",
        DOCUMENT_TYPES,
        accept_multiple_files=True,
        key=state.key(state.FILES),
        help=FORMATS,
        on_change=choices.use_documents,
        max_upload_size=LIMITS.file_mb,
    )
    if state.value(state.DOCUMENTS) and not state.value(state.LIBRARY):
        small("The built-in library is not searched beside them; Sources turns it on.")
    if earlier := state.initial(state.FILES):
        small(f"Already added: {', '.join(f.name for f in earlier)}"[:300])


def language_model() -> None:
    """The endpoint that prompts are sent to, for this session alone."""
    with st.expander("Language model", key="llm_box", on_change="rerun"):
        text_input(
            "Address",
            state.LLM_ADDRESS,
            "https://api.openai.com/v1",
            "Any OpenAI-compatible endpoint. The operator of this server must allow addresses on its own network.",
        )
        text_input(
            "Model",
            state.LLM_MODEL,
            "name of the model",
            "As the endpoint calls it, such as llama3.1:8b.",
        )
        text_input(
            "Key",
            state.LLM_KEY,
            "",
            "Used in this session only. It is never stored, logged or put into a report.",
            secret=True,
        )
        multiselect(
            ALSO,
            state.LLM_TASKS,
            LLM_TASKS,
            "nothing: rules decide",
            "Steps that use rules by default. One prompt for each claim; if it fails, the rules decide.",
        )
        for name, direction in zip(state.PRICES, ("input", "output"), strict=True):
            st.number_input(
                f"Price per million {direction} tokens",
                min_value=0.0,
                value=state.initial(name),
                key=state.key(name),
                placeholder="unknown",
                help="In your currency. Runs then show their expected and actual cost.",
            )
        if isinstance(problem := choices.endpoint(), str):
            small(problem)
        elif version := problem.prompt_version:
            small(f"Prompts of the operator: {version}.")
        typed = tuple(
            state.text(name) for name in (state.LLM_ADDRESS, state.LLM_MODEL, state.LLM_KEY)
        )
        if st.button("Test connection", key="test_connection", help="Sends one short prompt."):
            _test_connection(typed)
        if (tested := state.get(TESTED)) and tested[
            0
        ] == typed:  # it outlives a redraw, but no change of what was typed
            _outcome(tested[1])


TESTED = "tested_connection"  # what was typed, and what came of it


def _test_connection(typed: tuple[str, ...]) -> None:
    """Ask the language model for a short reply."""
    from attribution.llm.client import check_connection

    endpoint = choices.endpoint()
    if isinstance(endpoint, str):  # said above the button
        return
    with st.spinner("Waiting for the language model …"):
        connection = check_connection(endpoint)
        state.put(
            TESTED, (typed, connection)
        )  # before anything is drawn, at which a redraw could cut in


def _outcome(connection: Connection) -> None:
    """Say whether the language model answers, and which field to check where it does not."""
    field = (
        f"Check “{connection.field.capitalize()}”. "
        if connection.field and not connection.ok
        else ""
    )
    label = "supported" if connection.ok else "contradicted"
    title = "It works" if connection.ok else "It does not work"
    note(title, f"{connection.message} {field}", label=label, detail=connection.detail)
