"""Methods: a card for each segmenter, verifier, embedder and groundedness method."""

from __future__ import annotations

import streamlit as st

from attribution.reports.html import el
from attribution.studies.groundedness.cards import TITLES, listed, names, steps
from pages.ui import choices, methods, state
from pages.ui.frame import lead, note, section, show, styles

state.begin("methods")
styles()
lead("What each method does, what it needs, what it sends away, how well it did here, and what it gets wrong.")
tables = names()
words = st.text_input(
    "Search the cards",
    key="methods_search",
    placeholder="DeBERTa, hub, negation …",
    help="Cards with all of these words.",
)
chosen = st.pills(
    "Show",
    tables,
    selection_mode="multi",
    default=tables,
    format_func=lambda name: TITLES[name].partition(":")[0],
    key="methods_tables",
    help="Kinds of methods.",
)
endpoint = choices.endpoint()
settings = None if isinstance(endpoint, str) else endpoint
found = False
for table in tables:
    cards = [c for c in listed(table) if table in chosen and methods.matches(c, words or "")]
    if not cards:
        continue
    found = True
    section(TITLES[table])
    show(el("div", *(methods.card(c, steps(c, settings)) for c in cards), class_="ax-cards"))
if not found:
    note("No card matches", "Use fewer words, or show more kinds of methods.")
