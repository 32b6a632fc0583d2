"""Offer what reads more of the claims that a finished run left in doubt."""

from __future__ import annotations

import streamlit as st

from attribution.edits import ReadAgain
from attribution.errors import AttributionError
from attribution.pipeline.second_reader import SecondReader, doubts_of
from attribution.reports.html import plural
from attribution.settings import Settings
from attribution.tables import LLM
from attribution.types import LlmUsage, Report
from attribution.verifiers import VERIFIERS, is_downloaded
from attribution.verifiers.calibration import verifier_name
from pages.ui import run
from pages.ui.explore.corrections import settings_of
from pages.ui.fields import model_download
from pages.ui.frame import small
from pages.ui.run_results import expected_cost
from pages.ui.state import store


def offer(report: Report) -> None:
    """Draw a menu with the readers that are ready, each with its cost, and what the others need."""
    found = doubts_of(report)
    if not found:
        return
    try:
        settings = settings_of(report)
    except AttributionError:
        return  # said where the run is changed
    label, help = f"Read {plural(len(found), 'doubtful claim')} again", "Have a second reader check them."
    with st.popover(label, key="read_again", help=help):
        small("A second reader gets the passages, not the first verdict. Both verdicts are kept.")
        reads = min(len(found), settings.second_claims)
        if LLM.met(settings):
            own = settings.model_copy(update={"second_reader": "llm"})
            second = SecondReader(own, store(), {page.id: page for page in report.pages})
            cost = expected_cost({"second": second.estimate(found) or LlmUsage()})
            _button(f"Ask {settings.openai_model} about {reads}", "llm", f"At most {cost}" if cost else "No new prompt")
        else:
            small("To ask a language model, name one under “Options”. One on this machine (Ollama) costs nothing.")
        if verifier_name(report.versions.get("verifier", "")) != "deberta" and not VERIFIERS["deberta"].missing():
            _deberta(settings)


def _deberta(settings: Settings) -> None:
    if is_downloaded("deberta", settings):
        _button("Ask DeBERTa", "deberta", "On this machine.")
    else:
        small("DeBERTa, an NLI model (MIT licence), reads more of them.")
        model_download(VERIFIERS["deberta"])


def _button(label: str, reader: str, help: str) -> None:
    st.button(label, key=f"read_again_{reader}", help=help, on_click=run.edit, args=(ReadAgain(reader=reader),))
    small(help)
