"""What a run or a comparison would take, shown before it is started."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from pages.ui.frame import show
from pages.ui.html.render import Child, el, plural
from pages.ui.run import state as run_state
from pages.ui.run.preload import preload
from pages.ui.run.usage import expected_cost

POLL = 0.5  # seconds between looks at an estimate in progress


def cost(running: bool, segmenters: Sequence[str] = ()) -> None:
    """Of a run, or of a comparison of segmenters; computed in the background, so that the page never waits."""
    waiting = run_state.estimate(segmenters)[1] and not running
    st.fragment(_line, run_every=POLL if waiting else None)(waiting, running, segmenters)


def _line(polling: bool, running: bool, segmenters: Sequence[str]) -> None:
    value, waiting = run_state.estimate(segmenters)
    if polling and not waiting:
        st.rerun()
    if not waiting:
        preload()
    parts: list[str] = []
    if waiting and not running:
        parts = ["Estimating …"]
    elif value is not None:
        pages = f"up to {plural(value.pages, 'page')}"
        parts = [f"~{plural(value.claims, 'claim')} ·", f"{pages} ·", f"{max(value.seconds, 1):.0f} s"]
        parts += [f"· {prompts}"] if (prompts := expected_cost(value.llm)) else []
    spaced: list[Child] = [node for part in parts for node in (el("span", part), " ")]  # each stays on one line
    show(el("p", *spaced, class_="ax-estimate"))
