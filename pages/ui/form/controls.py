"""Inputs that several parts of the page share. What is not ready stands below them with the step that enables it."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from attribution.registry import LLM, Entry
from pages.ui import state
from pages.ui.form import choices
from pages.ui.frame import show, small
from pages.ui.html.render import as_sentence, el

DOCUMENT_TYPES = ["txt", "md", "html", "htm", "pdf", "docx", "epub"]
FORMATS = "Text, Markdown, HTML, PDF, DOCX or EPUB, at most 20 MB each."


def text_input(label: str, name: str, placeholder: str, help: str | None = None, secret: bool = False) -> None:
    """A line of text that survives a change of page."""
    st.text_input(
        label,
        state.initial(name) or "",
        key=state.key(name),
        placeholder=placeholder,
        help=help,
        type="password" if secret else "default",
    )


def multiselect(label: str, name: str, options: Mapping[str, str], placeholder: str, help: str) -> None:
    """Some of the options, given with their labels; a choice that is no longer offered is dropped."""
    st.multiselect(
        label,
        list(options),
        [option for option in state.initial(name) or () if option in options],
        key=state.key(name),
        format_func=options.__getitem__,
        placeholder=placeholder,
        help=help,
    )


def pick(label: str, name: str, table: Mapping[str, Entry], help: str) -> str:
    """A choice among the entries that are ready."""
    needs = choices.missing(table)
    ready = [entry for entry in table if not needs[entry]]
    selected = ""
    if ready:
        initial = state.initial(name)
        index = ready.index(initial) if initial in ready else 0
        selected = st.selectbox(
            label, ready, index, format_func=lambda entry: table[entry].label, key=state.key(name), help=help
        )
        small(as_sentence(table[selected].note))
    unready(table)
    return selected


def unready(table: Mapping[str, Entry]) -> None:
    """The entries that cannot be chosen yet, by what they need; folded, so that they do not get in the way."""
    waiting: dict[str, list[str]] = {}
    for name, step in choices.missing(table).items():
        if step:
            waiting.setdefault(step, []).append(table[name].label)
    if not waiting:
        return
    count = sum(map(len, waiting.values()))
    if set(waiting) == {LLM.step}:
        title = f"{count} more {'needs' if count == 1 else 'need'} a language model"
    else:
        title = f"{count} more {'is' if count == 1 else 'are'} not ready"
    items = []
    for step, labels in waiting.items():
        step = f"name a model under “Language model” in the sidebar, or {step}" if step == LLM.step else step
        items.append(el("li", el("strong", ", ".join(labels)), f": {step}"))
    show(el("details", el("summary", title), el("ul", *items), class_="ax-unready"))
