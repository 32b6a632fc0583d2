"""Edit a finished run: its edits, corrections, rechecks, and the dialog that changes one claim."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import streamlit as st

from attribution import edits
from attribution.edits import Recheck, Reword
from attribution.errors import AttributionError
from attribution.pipeline.changes import unclear_claims
from attribution.reports.cards import StepRequest
from attribution.reports.html import el, plural
from attribution.reports.trail import date
from attribution.searchers import SEARCHERS
from attribution.settings import LIMITS, WEB, Settings
from attribution.types import Claim, Document, Report
from attribution.verdicts import DecisionPolicy
from attribution.verifiers import HUB, VERIFIERS, is_downloaded
from attribution.verifiers.calibration import verifier_name
from attribution.verifiers.reader import CachedVerifier
from pages.ui import choices, run_control, state
from pages.ui.fields import DOCUMENT_TYPES
from pages.ui.frame import note, show, small
from pages.ui.run_control import RunProgress
from pages.ui.state import store

if TYPE_CHECKING:
    from attribution.review.correction import Correction  # imports spaCy

TEXT, EVIDENCE = "Text", "Source"  # tabs of the dialog
FIRST_FIELD = {TEXT: "text-", EVIDENCE: "evidence-text-"}
_focus = st.components.v2.component(
    "attribution.focus", js=(Path(__file__).parent / "static" / "focus.js").read_text("utf-8")
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
            edit_dialog(request.claim, report.claims, TEXT)
        case "source":
            edit_dialog(request.claim, report.claims, EVIDENCE)
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
def edit_dialog(claim: Claim, claims: Sequence[Claim], tab: str = TEXT) -> None:
    """Change one of the claims; only that claim is checked again."""
    _focus(data={"field": FIRST_FIELD.get(tab, "")}, key="focus")
    small("Only what you change is checked again; every edit can be undone.")
    text, evidence = st.tabs([TEXT, EVIDENCE], default=tab, key=f"edit_tabs-{tab}")
    with text:
        _text(claim, [other for other in claims if other.id != claim.id])
    with evidence:
        _evidence(claim)


def _make(
    change: edits.Change, documents: Sequence[Document] = (), addresses: Sequence[str] = ()
) -> None:
    run_control.edit(change, documents, addresses)
    st.rerun()


def _wrong(title: str, line: str) -> None:
    note(title, line, label="contradicted")


def _text(claim: Claim, others: Sequence[Claim]) -> None:
    """Reword a claim, split it, or merge it with another."""
    with st.form(f"reword-{claim.id}", border=False):
        text = st.text_area(
            "Checked as",
            claim.statement,
            key=f"text-{claim.id}",
            height=110,
            help="To split it, write one claim on each line. The answer itself stays as it is.",
            max_chars=LIMITS.text,
        )
        other = st.selectbox(
            "Merge with",
            others,
            index=None,
            format_func=lambda claim: claim.statement,
            key=f"merge-{claim.id}",
            placeholder="No other claim",
            help="The text above replaces both claims. Left as it is, it is followed by the other.",
        )
        submitted = st.form_submit_button("Check this text", type="primary")
    if not submitted:
        return
    lines = [line.strip() for line in (text or "").splitlines()]
    texts = tuple(dict.fromkeys(filter(None, lines)))
    if not texts:
        _wrong("The text is empty", "Write what should be checked.")
    elif other:
        whole = " ".join(texts)
        if whole == claim.statement:
            whole = f"{whole} {other.statement}"
        _make(edits.Merge(claim_ids=(claim.id, other.id), text=whole))
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


# --- corrections ---


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
        verifier = CachedVerifier(VERIFIERS.chosen(settings), store())
        if verifier.usage is not None:
            return {}  # a language model costs money, and its probabilities are not calibrated
        for correction in proposed:
            if time.monotonic() > end:
                break
            if is_confirmed(correction, report, verifier, DecisionPolicy.of(dict(settings))):
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


# --- rechecks ---


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
