"""Offer what reads more of the claims that a finished run left in doubt."""

from __future__ import annotations

import streamlit as st

from attribution.edits import ReadAgain
from attribution.errors import AttributionError
from attribution.llm.ollama import ADDRESS as OLLAMA
from attribution.llm.ollama import models as ollama_models
from attribution.pipeline.second_reader import SecondReader, doubts_of
from attribution.reports.html import plural
from attribution.tables import LLM
from attribution.types import LlmUsage, Report
from attribution.verifiers import VERIFIERS, is_downloaded
from attribution.verifiers.calibration import verifier_name
from pages.ui import run, state
from pages.ui.explore.corrections import settings_of
from pages.ui.fields import model_download
from pages.ui.frame import small
from pages.ui.run_results import expected_cost
from pages.ui.state import store

READERS = ("deberta", "minicheck")  # that a download makes ready


def offer(report: Report) -> None:
    """Draw a menu with the readers that are ready, each with its cost, and what the others need."""
    found = doubts_of(report)
    if not found:
        return
    try:
        settings = settings_of(report)
    except AttributionError:
        return  # said where the run is changed
    label, help = (
        f"Read {plural(len(found), 'doubtful claim')} again",
        "Have a second reader check them.",
    )
    with st.popover(label, key="read_again", help=help):
        small("A second reader gets the passages, not the first verdict. Both verdicts are kept.")
        reads = min(len(found), settings.second_claims)
        if reads < len(found):
            small(f"At most {reads} are read at a time: `second_claims`.")
        if LLM.met(settings):
            own = settings.model_copy(update={"second_reader": "llm"})
            second = SecondReader(own, store(), {page.id: page for page in report.pages})
            asked = second.estimate(found) or LlmUsage()
            cost = expected_cost({"second": asked})
            pace = (
                f", about {asked.seconds / settings.llm_workers:.0f} s"
                if asked.seconds
                else ", its time not known yet"
            )
            help = f"At most {cost}{pace}" if cost else "No new prompt"
            _button(f"Ask {settings.openai_model} about {plural(reads, 'claim')}", "llm", help)
        else:
            small("To ask a language model, name one under “Options”." + _ollama())
        used = verifier_name(report.versions.get("verifier", ""))
        others = [name for name in READERS if name != used and not VERIFIERS[name].missing()]
        for name in (n for n in others if is_downloaded(n, settings)):
            _button(f"Ask {_named(name)}", name, "On this machine.")
        lacking = [name for name in others if not is_downloaded(name, settings)]
        for name in lacking:
            small(
                f"{_named(name)} ({next(iter(VERIFIERS[name].models.values())).partition(':')[0]}) reads more of them."
            )
        if lacking:  # the others can be downloaded under Options
            model_download(VERIFIERS[lacking[0]])


def _ollama() -> str:
    """Return how to use a model that Ollama serves on this machine, if there is one."""
    found = state.cached("ollama", "", ollama_models)
    if not found:
        return ""
    start = f"OPENAI_BASE_URL={OLLAMA} OPENAI_MODEL={found[0]}"
    return f" Ollama on this machine has {', '.join(found[:3])}: start this server with {start}."


def _named(name: str) -> str:
    return VERIFIERS[name].label.removesuffix(" (download)")


def _button(label: str, reader: str, help: str) -> None:
    st.button(
        label,
        key=f"read_again_{reader}",
        help=help,
        on_click=run.edit,
        args=(ReadAgain(reader=reader),),
    )
    small(help)
