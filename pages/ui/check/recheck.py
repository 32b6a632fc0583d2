"""Offer to recheck the claims that a finished run left unclear, with another verifier."""

from __future__ import annotations

import streamlit as st

from attribution.edits import Recheck
from attribution.errors import AttributionError
from attribution.pipeline.changes import unclear_claims
from attribution.reports.html import plural
from attribution.settings import Settings
from attribution.types import Report
from attribution.verifiers import HUB, VERIFIERS, is_downloaded
from attribution.verifiers.calibration import verifier_name
from pages.ui import choices, run_control


def recheck_buttons(report: Report) -> None:
    """Draw one button for each verifier that is ready and did not make the verdicts."""
    unclear = unclear_claims(report)
    if not unclear:
        return
    try:
        settings = choices.settings_of(report.settings, "sources")
    except AttributionError:
        return  # the form says why the settings cannot be used
    names = _ready(report, settings)
    if not names:
        return
    claims = plural(len(unclear), "unclear claim")
    with st.container(horizontal=True, key="recheck"):
        for name in names:
            st.button(
                f"Recheck {claims}: {VERIFIERS[name].label}",
                key=f"recheck_{name}",
                help=f"Another verifier reads them; both verdicts are kept. {VERIFIERS[name].note}",
                on_click=run_control.edit,
                args=(Recheck(verifier=name),),
            )


def _ready(report: Report, settings: Settings) -> list[str]:
    """Return the verifiers that could recheck the claims now."""
    used = verifier_name(report.versions.get("verifier", ""))
    return [
        name
        for name, entry in VERIFIERS.items()
        if name not in (used, "auto")
        and not entry.missing(settings)
        and (name not in HUB or is_downloaded(name, settings))
    ]
