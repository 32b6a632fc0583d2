"""The next step for a claim, done: its dialog opened at the right field, or the claim checked again another way."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from attribution.searchers import SEARCHERS
from attribution.settings import WEB, Settings
from attribution.types import Claim, Report
from attribution.types.edits import CheckAgain
from attribution.verifiers import VERIFIERS
from attribution.verifiers.auto import choose
from pages.ui.corrections import state as desk_state
from pages.ui.edit.actions import Opened
from pages.ui.edit.dialog import edit_dialog
from pages.ui.run.state import edit

FIELDS = {"reword": ("Text", "text"), "source": ("Evidence", "evidence-address")}  # tab and field of the dialog
BETTER = ("llm", "deberta", "embedded-base", "embedded-small")  # the order in which another verifier is chosen
_focus = st.components.v2.component("attribution.focus", js=(Path(__file__).parent / "focus.js").read_text("utf-8"))


def take(step: str, claim: Claim, report: Report) -> None:
    """Do one of the `next_steps`; an unknown one does nothing."""
    if step in FIELDS:
        tab, field = FIELDS[step]
        _focus(data={"field": f"{field}-{claim.id}"}, key=f"focus-{claim.id}-{step}")
        edit_dialog(report, Opened(claim, tab=tab))
    elif step == "correct":
        desk_state.seek(report, [claim], "rule")
        st.rerun()
    elif step == "verifier":
        check_with_another(claim, report)
    elif step == "web":
        search_the_web(claim, report)


def other_verifier(settings: Settings) -> tuple[str, str]:
    """The best verifier that is ready and was not used, or what the best missing one needs."""
    used = choose(settings).name if settings.verifier == "auto" else settings.verifier
    others = [name for name in BETTER if name != used]
    ready = next((name for name in others if not VERIFIERS[name].missing(settings) and _loads(name, settings)), "")
    return ready, "" if ready else "; ".join(VERIFIERS[name].missing(settings) for name in others)


def _loads(name: str, settings: Settings) -> bool:
    """Whether it needs no download of its own."""
    from attribution.verifiers.deberta import is_downloaded

    return name != "deberta" or is_downloaded(settings)


def check_with_another(claim: Claim, report: Report) -> None:
    """Check a claim again with the next best verifier; the report names it for this claim."""
    settings = desk_state.settings_of(report)
    name, missing = other_verifier(settings)
    if not name:
        st.toast(f"There is no other verifier: {missing}")
        return
    edit(CheckAgain(claim_id=claim.id, verifier=name))
    st.rerun()


def search_the_web(claim: Claim, report: Report) -> None:
    """Search for one claim with the run's engine of the web, or the default one, and check it again."""
    settings = desk_state.settings_of(report)
    engine = next((s for s in settings.sources if s in SEARCHERS and s != "library"), WEB)
    edit(CheckAgain(claim_id=claim.id, sources=(engine,), search=True))
    st.rerun()
