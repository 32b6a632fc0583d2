"""Edit a finished run: the list of its edits, and the dialog that changes one claim."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import streamlit as st

from attribution import edits
from attribution.reports.cards import StepRequest
from attribution.reports.html import el
from attribution.reports.trail import date
from attribution.searchers import SEARCHERS
from attribution.settings import LIMITS, WEB
from attribution.types import Claim, Document, Report
from pages.ui import choices, run_control, state
from pages.ui.check.correcting import correct
from pages.ui.fields import DOCUMENT_TYPES
from pages.ui.frame import note, show, small

TEXT, EVIDENCE = "Text", "Source"  # tabs of the dialog
FIRST_FIELD = {TEXT: "text-", EVIDENCE: "evidence-text-"}
_focus = st.components.v2.component(
    "attribution.focus", js=(Path(__file__).parents[1] / "static" / "focus.js").read_text("utf-8")
)


def edit_history(report: Report) -> None:
    """Draw what was changed in a finished run, the latest first."""
    items = []
    for edit in reversed(report.edits):
        when = el("span", f" {date(edit.at)}, {edit.at[11:16]} UTC", class_="facts")
        items.append(el("li", el("span", edit.summary, dir="auto"), when))
    if items:
        show(el("ol", *items, class_="ax-edits"))


def take_step(request: StepRequest, report: Report) -> None:
    """Take the step that a button in a card asks for."""
    match request.step:
        case "edit":
            edit_dialog(request.claim, TEXT)
        case "source":
            edit_dialog(request.claim, EVIDENCE)
        case "correct":
            correct(request.claim)
        case "web":
            _search_the_web(report, request.claim)
            st.rerun()


def _search_the_web(report: Report, claim: Claim) -> None:
    """Search for one claim with the run's search engine, or the default one."""
    sources = choices.settings_of(report.settings, "sources", "model").sources
    engine = next((s for s in sources if s in SEARCHERS and s != "library"), WEB)
    run_control.edit(edits.AddEvidence(claim_id=claim.id, sources=(engine,), search=True))


# --- the dialog ---


@st.dialog("Edit a claim", width="medium")
def edit_dialog(claim: Claim, tab: str = TEXT) -> None:
    """Change a claim; only that claim is checked again."""
    _focus(data={"field": FIRST_FIELD.get(tab, "")}, key="focus")
    small("Only what you change is checked again; every edit can be undone.")
    text, evidence = st.tabs([TEXT, EVIDENCE], default=tab)
    with text:
        _text(claim)
    with evidence:
        _evidence(claim)


def _make(
    change: edits.Change, documents: Sequence[Document] = (), addresses: Sequence[str] = ()
) -> None:
    run_control.edit(change, documents, addresses)
    st.rerun()


def _wrong(title: str, line: str) -> None:
    note(title, line, label="contradicted")


def _text(claim: Claim) -> None:
    """Reword a claim, or split it."""
    with st.form(f"reword-{claim.id}", border=False):
        text = st.text_area(
            "Checked as",
            claim.statement,
            key=f"text-{claim.id}",
            height=110,
            help="To split it, write one claim on each line. The answer itself stays as it is.",
            max_chars=LIMITS.text,
        )
        submitted = st.form_submit_button("Check this text", type="primary")
    if not submitted:
        return
    lines = [line.strip() for line in (text or "").splitlines()]
    texts = tuple(dict.fromkeys(filter(None, lines)))
    if not texts:
        _wrong("The text is empty", "Write what should be checked.")
    elif texts == (claim.statement,):
        _wrong("The text is the same as before", "Change it.")
    elif len(texts) == 1:
        _make(edits.Reword(claim_id=claim.id, text=texts[0]))
    else:
        _make(edits.Split(claim_id=claim.id, texts=texts))


def _evidence(claim: Claim) -> None:
    with st.form(f"evidence-{claim.id}", border=False):
        pasted = st.text_area(
            "A text",
            key=f"evidence-text-{claim.id}",
            height=90,
            placeholder="Paste a passage",
            help="Pasted text that this claim is checked against.",
            max_chars=LIMITS.request,
        )
        address = st.text_input(
            "A web address",
            key=f"evidence-address-{claim.id}",
            placeholder="https://…",
            help="A page to read for this claim.",
            max_chars=LIMITS.address,
        ).strip()
        files = st.file_uploader(
            "Files",
            DOCUMENT_TYPES,
            accept_multiple_files=True,
            key=f"evidence-files-{claim.id}",
            help="Documents that this claim is checked against.",
            max_upload_size=LIMITS.file_mb,
        )
        submitted = st.form_submit_button("Check with this evidence", type="primary")
    if not submitted:
        return
    documents = (*choices.pasted(pasted), *state.documents_of(files))
    addresses = [address] if address else []
    if address and "://" not in address:
        _wrong("This is not a web address", "It starts with http:// or https://.")
    elif not documents and not address:
        _wrong("There is no evidence yet", "Paste a text, give an address or choose a file.")
    else:
        names = (*(document.name for document in documents), *addresses)
        _make(edits.AddEvidence(claim_id=claim.id, names=names), documents, addresses)
