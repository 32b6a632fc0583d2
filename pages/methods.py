"""Methods: a card for each segmenter, verifier, embedder and groundedness method."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from attribution.reports.html import Child, Node, el
from attribution.settings import LIMITS
from attribution.studies.groundedness.cards import TITLES, ListedCard, Measure, listed, names, steps
from attribution.tables import LLM
from pages.ui import choices, frame
from pages.ui.frame import note, section, show


def page() -> None:
    """Draw the search and the cards it finds."""
    tables = names()
    words = st.text_input(
        "Search the cards",
        key="methods_search",
        placeholder="DeBERTa, hub, negation …",
        help="Cards with all of these words.",
        max_chars=LIMITS.line,
    )
    chosen = st.pills(
        "Show",
        tables,
        selection_mode="multi",
        default=tables,
        key="methods_tables",
        help="Kinds of methods.",
        format_func=lambda name: TITLES[name].partition(":")[0],
    )
    endpoint = choices.endpoint()
    settings = None if isinstance(endpoint, str) else endpoint
    found = {
        table: [c for c in listed(table) if matches(c, words or "")]
        for table in tables
        if table in chosen
    }
    for table, cards in found.items():
        if cards:
            section(TITLES[table])
            show(el("div", *(card(c, steps(c, settings)) for c in cards), class_="ax-cards"))
    if not any(found.values()):
        note("No card matches", "Use fewer words, or show more kinds of methods.")


def card(of: ListedCard, missing: str) -> Node:
    """Draw one card: a description and a list of facts."""
    facts: list[tuple[str, Child]] = [("Paper", of.card.paper)] if of.card.paper else []
    facts += [
        ("Needs", _needs(of, missing)),
        ("Leaves the machine", of.card.leaves),
        ("Measured here", _measured(of.card.measured)),
        ("Known failures", el("ul", *(el("li", fact) for fact in of.card.fails))),
    ]
    state = el("span", "Not ready" if missing else "Ready", class_="ax-quiet") if of.entry else None
    head = el("h3", of.label, " ", el("code", of.name), " ", state)
    terms = (part for term, fact in facts for part in (el("dt", term), el("dd", fact)))
    return el("article", head, el("p", of.card.does), el("dl", *terms), class_="ax-card")


def _needs(of: ListedCard, missing: str) -> str:
    if missing:
        step = "a language model, under “Options” on Explore" if missing == LLM.step else missing
        return step[:1].upper() + step[1:]
    return of.card.needs or (
        "Everything it needs is available." if of.entry and of.entry.needs else "Nothing more."
    )


def _measured(measures: Sequence[Measure]) -> Child:
    shown = [(m, value) for m in measures if (value := m.shown())]
    if not shown:
        return "Not measured here."
    lines = (
        el("li", el("strong", v), f" {m.what} ", el("span", f"({m.origin})", class_="ax-quiet"))
        for m, v in shown
    )
    return el("ul", *lines)


def matches(of: ListedCard, words: str) -> bool:
    """Return True if a card contains all the words."""
    fields = (of.name, of.label, of.card.does, of.card.paper, of.card.leaves, *of.card.fails)
    text = " ".join(fields).casefold()
    return all(word in text for word in words.casefold().split())


if __name__ == "__main__":
    frame.begin(
        "methods",
        "Methods",
        "See for each method what it does and needs, what it sends away, how well it did here, and where it fails.",
    )
    page()
