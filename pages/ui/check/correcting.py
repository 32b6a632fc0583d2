"""Offer the source's value in place of a contradicted claim's, and take it over."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import streamlit as st

from attribution.edits import Reword
from attribution.errors import AttributionError
from attribution.types import Claim, Report
from attribution.verifiers import VERIFIERS, policy_of
from attribution.verifiers.pairs import CachedVerifier
from pages.ui import choices, run_control, state
from pages.ui.run_control import RunProgress
from pages.ui.state import store

if TYPE_CHECKING:
    from attribution.review.correction import Correction  # imports spaCy

CORRECTIONS = "corrections"  # a value of the page
SECONDS = 2.0  # that the page waits; what is not confirmed by then is offered after the next edit


def offered_corrections(now: RunProgress) -> dict[str, Correction]:
    """Return the confirmed corrections of a finished run by claim, once per version of it."""
    key = (now.key, now.version, choices.policy(now.report))
    return state.cached(CORRECTIONS, key, lambda: _confirmed(choices.relabelled(now.report)))


def _confirmed(report: Report) -> dict[str, Correction]:
    from attribution.review.correction import is_confirmed, proposed_corrections

    proposed = proposed_corrections(report)
    if not proposed:
        return {}
    confirmed: dict[str, Correction] = {}
    end = time.monotonic() + SECONDS
    try:
        settings = choices.settings_of(report.settings, "sources")
        verifier = CachedVerifier(VERIFIERS.build(settings.verifier, settings), store())
        if verifier.usage is not None:
            return {}  # a language model costs money, and its probabilities are not calibrated
        for correction in proposed:
            if time.monotonic() > end:
                break
            if is_confirmed(correction, report, verifier, policy_of(settings)):
                confirmed[correction.claim.id] = correction
    except AttributionError:
        pass  # the form says why the verifier cannot be used
    return confirmed


def correct(claim: Claim) -> None:
    """Give a claim the source's value; only this claim is checked again."""
    now = run_control.current()
    correction = offered_corrections(now).get(claim.id) if now else None
    if correction:
        run_control.edit(Reword(claim_id=claim.id, text=correction.claim.text))
        st.rerun()
