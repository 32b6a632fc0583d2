"""The bar of the app: its entries, the tabs behind each, and the addresses that have moved."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from attribution.reports.html import el
from pages.ui import state
from pages.ui.frame import show, styles
from pages.ui.help import explained

ENTRIES = {  # each with its tabs: a file in pages/, which is the address too, and its name
    "Explore": {"explore": "Explore"},
    "Compare": {"compare": "Segmenters", "answers": "Two answers", "retrieval": "Retrieval", "factscore": "FActScore"},
    "Library": {"library": "Library"},
    "History": {"history": "History"},
    "Lab": {"annotate": "Annotation", "benchmark": "Benchmark", "evoke": "Test sets", "methods": "Methods"},
}
MOVED = {"collections": "library"}  # old addresses and new ones


def navigation() -> st.Page:
    """Draw the bar and return the page to run. Only the first tab of an entry stands in the bar."""
    pages = [
        st.Page(
            f"pages/{name}.py", title=tab if place else entry, default=name == "explore",
            visibility="hidden" if place else "visible",
        )
        for entry, tabs in ENTRIES.items()
        for place, (name, tab) in enumerate(tabs.items())
    ]  # fmt: skip
    pages += [st.Page(_redirect(new), title=old, url_path=old, visibility="hidden") for old, new in MOVED.items()]
    return st.navigation(pages, position="top")


def _redirect(name: str) -> Callable[[], None]:
    def redirect() -> None:
        st.switch_page(f"pages/{name}.py", query_params=dict(st.query_params))

    return redirect


def begin(name: str, heading: str, introduction: str, **loaders: Callable[[str], object]) -> None:
    """Begin a page: its tabs, its heading, and a sentence that says what it is for.

    [Terms] of the glossary in brackets explain themselves. `loaders` load the results that the address names.
    """
    state.begin(name, **loaders)
    tabs = next(tabs for tabs in ENTRIES.values() if name in tabs)
    styles(name, next(iter(tabs)))
    if len(tabs) > 1:
        with st.container(key="tabs", horizontal=True):
            for tab, title in tabs.items():
                st.page_link(f"pages/{tab}.py", label=title)
    head(heading, introduction)


def head(heading: str, introduction: str) -> None:
    """Draw the heading of a page and the sentence below it."""
    show(el("div", el("h2", heading), el("p", *explained(introduction), class_="ax-lead"), class_="ax-head"))
