"""A run that was interrupted or stopped: what is known of it, and a button that finishes it."""

from __future__ import annotations

import streamlit as st

from pages.ui.frame import note
from pages.ui.html.render import plural
from pages.ui.run import state as run_state
from pages.ui.run.job import RunProgress
from pages.ui.slot import store


def is_unfinished(now: RunProgress) -> bool:
    """Whether the run ended before it was finished, because of an error or because its server was stopped."""
    if now.running or not now.report.id or not (now.unfinished or now.error):
        return False
    inputs = store().run_inputs(now.report.id)
    return inputs is not None and not inputs.finished


def is_stopped(now: RunProgress) -> bool:
    """Was the run ended by Stop, and is it still as it was then?"""
    return bool(not now.running and now.report.id and now.report.stopped and not now.report.edits)


def continue_button(now: RunProgress) -> None:
    """What is known of an interrupted or stopped run, and the button. Nothing for other runs."""
    if not is_unfinished(now) and not is_stopped(now):
        return
    claims = len(now.report.claims)
    verdicts = sum(v.label != "not_reached" for v in now.report.verdicts)
    known = f"{verdicts} of {plural(claims, 'claim')} have a verdict." if claims else "No claim was checked yet."
    own = store().access(now.report.id).own
    how = (
        "Continue checks the others with the same settings. What was found, read and judged is not done again."
        if own
        else "The browser that started it can continue it."
    )
    title = "This run was stopped" if is_stopped(now) else "This run was interrupted"
    note(title, known, how, label="missing")
    if own:
        st.button(
            "Continue",
            type="primary",
            on_click=run_state.continue_run,
            key="continue",
            help="Check what is left; finished claims keep their verdicts.",
        )
