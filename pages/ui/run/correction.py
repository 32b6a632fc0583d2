"""One claim corrected by hand: another wording, or evidence that the sources do not have."""

from __future__ import annotations

import streamlit as st

from attribution.types import Claim
from pages.ui import state
from pages.ui.form import choices
from pages.ui.form.controls import DOCUMENT_TYPES
from pages.ui.frame import note, small
from pages.ui.run import state as run_state


@st.dialog("Correct a claim", width="medium")
def correction_dialog(claim: Claim, number: int) -> None:
    """Reword a claim or add a source; only that claim is checked again."""
    small(f"Claim {number} is checked again, over the same pages and what you add. Other claims and the answer stay.")
    with st.form("correction", border=False):
        wording = st.text_area("Checked as", claim.statement, key=f"{state.WORDING}-{claim.id}", height=80)
        pasted = st.text_area("Evidence: a text", key=state.EXTRA_TEXT, height=90, placeholder="Paste a passage")
        address = st.text_input("Evidence: a web address", key=state.EXTRA_ADDRESS, placeholder="https://…").strip()
        files = st.file_uploader("Evidence: files", DOCUMENT_TYPES, accept_multiple_files=True, key=state.EXTRA_FILES)
        submitted = st.form_submit_button("Check this claim again", type="primary")
    if not submitted:
        return
    wording = " ".join((wording or "").split())
    if not wording:
        note("The wording is empty", "Type what should be checked.", label="contradicted")
    elif address and "://" not in address:
        note("This is not a web address", "It starts with http:// or https://.", label="contradicted")
    else:
        documents = (*choices.pasted(pasted), *state.documents_of(files))
        run_state.recheck(_reworded(claim, wording), documents, [address] if address else [])
        st.rerun()


def _reworded(claim: Claim, wording: str) -> Claim:
    unchanged = wording == claim.text
    return claim.model_copy(update={"enriched": None if unchanged else wording})
