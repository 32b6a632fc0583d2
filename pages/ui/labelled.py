"""Hand a labelled set from one page to the Benchmark, and name the types of errors."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from attribution.studies.groundedness.twins import ERROR_TYPES
from pages.ui import state
from pages.ui.background import Progress
from pages.ui.job_page import JobPage

GIVEN = "benchmark_given"


def open_in_benchmark(name: str, make: Callable[[], str]) -> None:
    """Draw a button that opens the Benchmark with a labelled set, until a file is chosen there."""
    if st.button("Open in Benchmark", key="to_benchmark", type="primary", help="Measure groundedness methods on it."):
        state.put(GIVEN, (name, make().encode()))
        JobPage[Progress]("benchmark").clear()
        st.switch_page("pages/benchmark.py")


def given() -> tuple[str, bytes] | None:
    """Return the name and content of the set that another page has handed over."""
    found: tuple[str, bytes] | None = state.get(GIVEN)
    return found


def discard() -> None:
    """Use the built-in set again."""
    state.put(GIVEN, None)


def error_type_word(name: str) -> str:
    """Return an error type in plain words."""
    return name.replace("_", " ").capitalize() if name in ERROR_TYPES else "Not labelled"


def choose_error_type(label: str, chosen: str, key: str, on_change: Callable[[str], None], disabled: bool) -> None:
    """Draw the choice of an error type."""
    types = ["", *ERROR_TYPES]
    st.selectbox(
        label, types, types.index(chosen if chosen in types else ""), format_func=error_type_word, key=key,
        on_change=lambda: on_change(str(state.selected(key) or "")), disabled=disabled, width=420,
        help=" ".join(f"{error_type_word(name)}: {text}" for name, text in ERROR_TYPES.items()),
    )  # fmt: skip
