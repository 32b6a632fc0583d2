"""One claim corrected by hand: another wording, or evidence that the sources do not have."""

from __future__ import annotations

import streamlit as st

from attribution.types import Claim, Report
from pages.ui import choices, state
from pages.ui.controls import DOCUMENT_TYPES
from pages.ui.frame import note
from pages.ui.html import markdown
from pages.ui.run import state as run_state


def correction(report: Report) -> None:
    """Choose a claim, reword it or add a source; only that claim is checked again."""
    claims = {c.id: (number, c) for number, c in enumerate(report.claims, 1)}
    if not claims:
        return
    if run_state.can_undo():
        st.button("Undo the last change", on_click=run_state.undo, key="undo")
    with st.container(key="correct"), st.expander("Reword a claim, or add evidence for it"):
        selected = st.selectbox(
            "Claim",
            list(claims),
            format_func=lambda i: f"{claims[i][0]}. {markdown.plain(claims[i][1].statement)[:110]}",
            key=state.CORRECTED,
            help="Only this claim is checked again.",
        )
        claim = claims[selected][1]
        with st.form("correct_form", border=False):
            wording = st.text_input(
                "Checked as",
                markdown.plain(claim.statement),
                key=f"{state.WORDING}-{claim.id}-{claim.statement}",
                help="The answer itself is not changed.",
            ).strip()
            pasted = st.text_area("Evidence: a text", key=state.EXTRA_TEXT, height=90, placeholder="Paste a passage")
            address = st.text_input("Evidence: a web address", key=state.EXTRA_ADDRESS, placeholder="https://…").strip()
            files = st.file_uploader(
                "Evidence: files", DOCUMENT_TYPES, accept_multiple_files=True, key=state.EXTRA_FILES
            )
            submitted = st.form_submit_button("Check this claim again", disabled=run_state.is_running())
        if not submitted:
            return
        if not wording:
            note("The wording is empty", "Type what should be checked.", label="contradicted")
        elif address and "://" not in address:
            note("This is not a web address", "It starts with http:// or https://.", label="contradicted")
        else:
            documents = (*choices.pasted(pasted), *state.documents_of(files))
            run_state.recheck(_reworded(claim, wording), documents, [address] if address else [])
            st.rerun()


def _reworded(claim: Claim, wording: str) -> Claim:
    unchanged = wording in (markdown.plain(claim.text), claim.text)
    return claim.model_copy(update={"enriched": None if unchanged else wording})
