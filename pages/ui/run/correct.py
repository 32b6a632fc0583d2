"""One claim put right by hand: another wording, or evidence that the sources did not hold."""

from __future__ import annotations

import streamlit as st

from attribution.types import Claim, Document, Report
from pages.ui import state
from pages.ui.controls import DOCUMENT_TYPES
from pages.ui.run import run_state
from pages.ui.run.results import note


def correct(report: Report) -> None:
    """Choose a claim, reword it or add a source; only that claim is checked again."""
    claims = {c.id: (number, c) for number, c in enumerate(report.claims, 1)}
    if not claims:
        return
    if run_state.undoable():
        st.button("Undo the last change of a claim", on_click=run_state.undo, key="undo")
    with st.container(key="correct"), st.expander("Reword a claim, or add evidence for it"):
        chosen = st.selectbox(
            "Claim",
            list(claims),
            format_func=lambda i: f"{claims[i][0]}. {claims[i][1].statement[:110]}",
            key=state.CORRECTED,
            help="Only this claim is checked again; the others keep their verdicts.",
        )
        claim = claims[chosen][1]
        with st.form("correct_form", border=False):
            wording = st.text_input(
                "Checked as",
                claim.statement,
                key=f"{state.WORDING}-{claim.id}-{claim.statement}",
                help="The answer itself is not changed.",
            )
            pasted = st.text_area("Evidence: a text", key=state.EXTRA_TEXT, height=90, placeholder="Paste a passage")
            address = st.text_input("Evidence: a web address", key=state.EXTRA_ADDRESS, placeholder="https://…")
            files = st.file_uploader(
                "Evidence: files",
                DOCUMENT_TYPES,
                accept_multiple_files=True,
                key=state.EXTRA_FILES,
            )
            sent = st.form_submit_button("Check this claim again", disabled=run_state.running())
        if not sent:
            return
        if not wording.strip():
            note("The wording is empty", "Type what should be checked.", label="contradicted")
            return
        if address.strip() and "://" not in address:
            note("This is not a web address", "It starts with http:// or https://.", label="contradicted")
            return
        documents = [Document(f.name, f.getvalue(), f.type or "") for f in files or ()]
        if pasted.strip():
            documents.insert(0, Document("Pasted text.txt", pasted.encode("utf-8", "replace"), "text/plain"))
        run_state.recheck(_worded(claim, wording.strip()), documents, [address.strip()] if address.strip() else [])
        st.rerun()


def _worded(claim: Claim, wording: str) -> Claim:
    written = claim.text
    return claim.model_copy(update={"enriched": None if wording in (written, claim.text) else wording})
