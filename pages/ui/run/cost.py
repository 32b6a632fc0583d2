"""What a run or a comparison would cost, said before it is started."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from pages.ui.html.render import Child, el, plural
from pages.ui.run import run_state
from pages.ui.run.results import show
from pages.ui.run.spent import expected

POLL = 0.5  # seconds between looks at an estimate that is being worked out


def cost(running: bool, segmenters: Sequence[str] = ()) -> None:
    """Of a run, or of a comparison of segmenters; worked out aside, so that the page never waits for it."""
    waiting = run_state.estimate(segmenters)[1] and not running
    st.fragment(_line, run_every=POLL if waiting else None)(waiting, running, segmenters)


def _line(polling: bool, running: bool, segmenters: Sequence[str]) -> None:
    value, waiting = run_state.estimate(segmenters)
    if polling and not waiting:
        st.rerun()
    if not waiting:
        run_state.preload()
    parts: list[str] = []
    if waiting and not running:
        parts = ["Estimating …"]
    elif value is not None:
        pages = f"up to {plural(value.pages, 'page')}"
        parts = [f"~{plural(value.claims, 'claim')} ·", f"{pages} ·", f"{max(value.seconds, 1):.0f} s"]
        parts += [f"· {asked}"] if (asked := expected(value.llm)) else []
    spaced: list[Child] = [node for part in parts for node in (el("span", part), " ")]  # each stays in one line
    show(el("p", *spaced, class_="ax-estimate"))
