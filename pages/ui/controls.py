"""The sidebar, filled from the tables' names: what is not ready is named with the step that enables it."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from attribution.evidence.queries import QUERIES
from attribution.registry import LLM, Entry
from attribution.searchers import LOCAL, SEARCHERS
from attribution.segmenters import SEGMENTERS
from attribution.settings import WEB as WEB_SEARCHER
from attribution.verifiers import VERIFIERS
from pages.ui import state
from pages.ui.html import render
from pages.ui.html.render import el

DOCUMENT_TYPES = ["txt", "md", "html", "htm", "pdf", "docx", "epub"]


def quiet(text: str) -> None:
    """A line in small print; never read as Markdown."""
    st.html(render.html(el("p", text, class_="ax-quiet")))


def sidebar(segmenter: bool = True) -> None:
    """Sources, methods and the threshold; without the choice of a segmenter where the page has its own."""
    with st.sidebar:
        _sources()
        _documents()
        st.html(render.html(el("p", "Method", class_="ax-section")))
        if segmenter:
            _pick("Claims are", state.SEGMENTER, SEGMENTERS, "How the answer is cut into claims (segmenter).")
        _pick("Search for", state.QUERY, QUERIES, "What the library and the engines are asked for each claim.")
        verifier = _pick(
            "Checked by",
            state.VERIFIER,
            VERIFIERS,
            "What holds a claim against a passage (natural language inference).",
        )
        if VERIFIERS[verifier].model_setting:
            st.text_input(
                "Model of the hub",
                value=state.filled(state.MODEL) or "",
                key=state.key(state.MODEL),
                placeholder="the default of this verifier",
                help="A name such as owner/model; it is downloaded at first use.",
            )
        _threshold()
        _language_model()


def _language_model() -> None:
    """Where segmenters that ask a language model send their prompts; kept for this session alone."""
    with st.expander("Language model"):
        st.text_input(
            "Address",
            state.filled(state.LLM_ADDRESS) or "",
            key=state.key(state.LLM_ADDRESS),
            placeholder="https://api.openai.com/v1",
            help="Any OpenAI-compatible endpoint: OpenAI, Ollama, vLLM, llama.cpp.",
        )
        st.text_input(
            "Model", state.filled(state.LLM_MODEL) or "", key=state.key(state.LLM_MODEL), placeholder="the model's name"
        )
        st.text_input(
            "Key",
            state.filled(state.LLM_KEY) or "",
            key=state.key(state.LLM_KEY),
            type="password",
            help="Kept for this session only: never stored, logged or put into a report.",
        )
        st.multiselect(
            "Also ask it",
            list(state.ASKED_FOR),
            state.filled(state.ASKED) or [],
            key=state.key(state.ASKED),
            format_func=state.ASKED_FOR.__getitem__,
            placeholder="nothing: rules decide",
            help="What rules decide otherwise. One prompt a claim; a reply that fails leaves what the rules say.",
        )
        for box, way in zip(state.PRICES.values(), ("sent", "received"), strict=True):
            st.number_input(
                f"Price of a million tokens {way}",
                min_value=0.0,
                value=state.filled(box),
                key=state.key(box),
                placeholder="unknown",
                help="In your currency. With it a run says what it will cost, and what it did.",
            )
        if isinstance(problem := state.settings(), str) and "openai" in problem:
            quiet(problem)


def _threshold() -> None:
    st.slider(
        "Threshold",
        0.34,
        0.99,
        float(state.filled(state.THRESHOLD)),
        0.01,
        format="%.2f",
        key=state.key(state.THRESHOLD),
        help="The least probability that makes a passage count for or against a claim. "
        "Moving it recolours a finished run at once.",
    )


def _sources() -> None:
    st.html(render.html(el("p", "Sources", class_="ax-section")))
    st.segmented_control(
        "Preset",
        list(state.PRESETS),
        default=state.filled(state.PRESET),
        key=state.key(state.PRESET),
        on_change=state.preset_changed,
        label_visibility="collapsed",
        width="stretch",
    )
    library, web = SEARCHERS.get("library"), SEARCHERS.get(WEB_SEARCHER)
    st.checkbox(
        "Built-in library",
        bool(state.filled(state.LIBRARY)),
        key=state.key(state.LIBRARY),
        on_change=state.sources_changed,
        help=library.note if library else None,
        disabled=library is None,
    )
    missing = web.missing() if web else "no searcher of the web is installed"
    engines = {name: entry for name, entry in SEARCHERS.items() if name not in LOCAL}
    st.checkbox(
        "The web",
        bool(state.filled(state.WEB)),
        key=state.key(state.WEB),
        on_change=state.sources_changed,
        help=web.note if web else None,
        disabled=bool(missing),
    )
    if missing:
        quiet(f"The web needs: {missing}")
    elif state.value(state.WEB):
        chosen = _pick("Search engine", state.ENGINE, engines, "Where the web is searched.")
        st.text_input(
            "Or a SearXNG instance",
            state.filled(state.INSTANCE) or "",
            key=state.key(state.INSTANCE),
            placeholder="https://…",
            help="LlmAnnotator instead of the engine above. It must be on the public web and answer in JSON.",
        )
        others = [name for name, why in state.missing(engines).items() if not why and name != chosen]
        st.multiselect(
            "If it fails, ask",
            others,
            [name for name in state.filled(state.FALLBACK) or () if name in others],
            key=state.key(state.FALLBACK),
            format_func=lambda name: engines[name].label,
            placeholder="nobody",
            help="In this order. Nothing is asked in another's place unless it stands here, and each time it is said.",
        )
    st.checkbox(
        "My documents",
        bool(state.filled(state.OWN)),
        key=state.key(state.OWN),
        on_change=state.sources_changed,
        help="Texts, web addresses and files you give below. They stay on this machine.",
    )
    if known := state.collections():
        st.multiselect(
            "Collections",
            known,
            [name for name in state.filled(state.COLLECTIONS) or () if name in known],
            key=state.key(state.COLLECTIONS),
            placeholder="none",
            help="Documents kept on the Library page, for all who use this server.",
        )


def _documents() -> None:
    with st.expander("Add documents", expanded=bool(state.value(state.OWN))):
        st.text_area(
            "Pasted text",
            state.filled(state.PASTED) or "",
            key=state.key(state.PASTED),
            height=110,
            placeholder="Paste a source text",
        )
        st.text_area(
            "Web addresses",
            state.filled(state.ADDRESSES) or "",
            height=80,
            key=state.key(state.ADDRESSES),
            placeholder="https://…, one a line",
        )
        st.file_uploader(
            "Files",
            DOCUMENT_TYPES,
            accept_multiple_files=True,
            key=state.key(state.FILES),
            help="Text, Markdown, HTML, PDF, DOCX or EPUB, at most 20 MB each.",
        )
        if kept := state.filled(state.FILES):
            quiet(f"Kept from before: {', '.join(f.name for f in kept)}"[:300])


def _pick(label: str, name: str, table: Mapping[str, Entry], help_text: str) -> str:
    """A choice among what is ready; the rest stands greyed beneath with its reason."""
    missing = state.missing(table)
    ready = [entry for entry in table if not missing[entry]]
    chosen = ""
    if ready:
        default = state.filled(name)
        index = ready.index(default) if default in ready else 0
        chosen = st.selectbox(
            label, ready, index, format_func=lambda entry: table[entry].label, key=state.key(name), help=help_text
        )
        quiet(table[chosen].note)
    unready(table)
    return chosen


def unready(table: Mapping[str, Entry]) -> None:
    """What cannot be chosen yet, by what it needs; folded, so that it does not get in the way."""
    waiting: dict[str, list[str]] = {}
    for name, why in state.missing(table).items():
        if why:
            waiting.setdefault(why, []).append(table[name].label)
    if not waiting:
        return
    count = sum(map(len, waiting.values()))
    what = "need a language model" if set(waiting) == {LLM.step} else "are not ready"
    what = what if count > 1 else what.replace("need ", "needs ").replace("are ", "is ")
    items = []
    for why, labels in waiting.items():
        step = f"name a model under “Language model” in the sidebar, or {why}" if why == LLM.step else why
        items.append(el("li", el("strong", ", ".join(labels)), f": {step}"))
    folded = el("details", el("summary", f"{count} more {what}"), el("ul", *items), class_="ax-unready")
    st.html(render.html(folded))
