"""Edit a finished run: the menu and the dialog."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import get_args

import streamlit as st

from attribution import edits
from attribution.evidence.permissions import for_stranger
from attribution.reports.actions import Opened, Tab, find_words, joined
from attribution.reports.html import el
from attribution.reports.trail import date
from attribution.settings import LIMITS, Settings
from attribution.source import Source
from attribution.types import Claim, Document, Report, Span
from attribution.verifiers import VERIFIERS
from pages.ui import choices, run, state
from pages.ui.fields import DOCUMENT_TYPES
from pages.ui.frame import note, show, small
from pages.ui.state import store


def edit_menu(report: Report) -> None:
    """Draw the menu of what changes a finished run as a whole."""
    steps = store().runs.steps(report.id)
    dropped = report.set_aside.claims if report.set_aside else ()
    with st.popover("⋯", key="more", help="Undo, new claim, edits, delete."):
        with st.container(horizontal=True, gap="small"):
            for label, keys, on_click, step in (
                ("Undo", "Ctrl+Z", run.undo, steps.undo),
                ("Redo", "Ctrl+Shift+Z", run.redo, steps.redo),
            ):
                st.button(
                    label,
                    key=label.lower(),
                    on_click=on_click,
                    disabled=step is None,
                    help=f"{_help(label, step)} ({keys})",
                )
            if st.button(
                "New claim", key="new_claim", help="Check other words of the answer. (key: w)"
            ):
                edit_dialog(report, Opened())
        with st.expander(f"Edits ({len(report.edits)})"):
            _edits(report, dropped)
        with st.expander("Delete this run"):
            small("The link stops working. You can restore it for 24 hours on the History page.")
            st.button(
                "Delete",
                type="primary",
                on_click=run.delete_run,
                args=(report.id,),
                key="delete_run",
                help="The History page can restore it for a day.",
            )


def in_words(edit: edits.Edit) -> str:
    """Return an edit in words, with the label of the verifier that it names."""
    return edit.words(lambda name: VERIFIERS[name].label if name in VERIFIERS else name)


def _help(label: str, edit: edits.Edit | None) -> str:
    if edit is None:
        return f"There is nothing to {label.lower()}"
    kind = in_words(edit).partition(":")[0].partition(" (")[0]  # without the visitor's text
    return f"{label}: {kind[:1].lower()}{kind[1:]}"


def _edits(report: Report, dropped: tuple[Claim, ...]) -> None:
    """Draw the edits with their times, the latest first, and dropped claims with a button to
    restore them.
    """
    if not report.edits:
        small(
            "Nothing was changed by hand. Select a claim and press Edit, or select words of the answer."
        )
    items = [
        el(
            "li",
            el("span", in_words(e), dir="auto"),
            el("span", f" {date(e.at)}, {e.at[11:16]} UTC", class_="facts"),
        )
        for e in reversed(report.edits)
    ]
    if items:
        show(el("ol", *items, class_="ax-edits"))
    if dropped:
        show(el("h4", "Dropped claims", class_="ax-section"))
    for claim in dropped:
        text, back = st.columns([4, 1], vertical_alignment="center")
        with text:
            show(el("p", claim.text, dir="auto", class_="ax-dropped"))
        back.button(
            "Restore",
            key=f"restore-{claim.id}",
            on_click=run.edit,
            args=(edits.Restore(claim_id=claim.id),),
            width="stretch",
            help="Put the claim back where it stood.",
        )


FIELDS: dict[Tab, str] = {
    "Text": "text",
    "Highlight": "place-text",
    "Evidence": "evidence-address",
}  # to begin with
_focus = st.components.v2.component(
    "attribution.focus", js=(Path(__file__).parents[1] / "static" / "focus.js").read_text("utf-8")
)
SEARCH = "Search the sources again for this claim"
ABSENT = (
    "The answer does not have these words",
    "Copy them from the answer, with its punctuation and marks.",
)
SEARCH_HELP = "Otherwise the pages that the run has are read again, and nothing is fetched."


@st.dialog("Edit a claim", width="medium")
def edit_dialog(report: Report, opened: Opened) -> None:
    """Change a claim, or make a new one; only that claim is checked again."""
    claim = opened.claim
    _focus(data={"field": FIELDS.get(opened.tab, "") if claim else "new"}, key="focus")
    if claim is None:
        _new(report, opened.span)
        return
    number = report.claims.index(claim) + 1
    small(f"Claim {number}. Only what you change is checked again; every edit can be undone.")
    text, split, merge, place, evidence = st.tabs(get_args(Tab), default=opened.tab)
    with text:
        _text(report, claim)
    with split:
        _split(report, claim)
    with merge:
        _merge(report, claim)
    with place:
        _place(report, claim)
    with evidence:
        _evidence(claim)


def _make(
    change: edits.Change, documents: Sequence[Document] = (), addresses: Sequence[str] = ()
) -> None:
    run.edit(change, documents, addresses)
    st.rerun()


def _wrong(title: str, line: str) -> None:
    note(title, line, label="contradicted")


def _search_again(report: Report, key: str) -> bool:
    """Return True if the user asks to search the run's sources again; not offered if there are none
    to search.
    """
    sources = map(Source.of, for_stranger(report.settings, Settings()).sources)
    if not any(source.kind not in ("documents", "address") for source in sources):
        return False
    return bool(st.checkbox(SEARCH, key=key, help=SEARCH_HELP))


def _text(report: Report, claim: Claim) -> None:
    with st.form(f"reword-{claim.id}", border=False):
        text = st.text_area(
            "Checked as",
            claim.statement,
            key=f"text-{claim.id}",
            height=90,
            help="The words that are searched for and compared with passages. The answer itself stays as it is.",
            max_chars=LIMITS.text,
        )
        search = _search_again(report, f"search-text-{claim.id}")
        submitted = st.form_submit_button("Check this text", type="primary")
    if submitted and not (text or "").strip():
        _wrong("The text is empty", "Write what should be checked.")
    elif submitted and text == claim.statement and not search:
        _wrong("The text is the same as before", "Change it, or search again.")
    elif submitted:
        _make(edits.Reword(claim_id=claim.id, text=text, search=search))


def _split(report: Report, claim: Claim) -> None:
    with st.form(f"split-{claim.id}", border=False):
        lines = st.text_area(
            "One claim on each line",
            claim.statement,
            key=f"split-text-{claim.id}",
            height=130,
            help="Each line becomes a claim and is checked by itself.",
            max_chars=LIMITS.text,
        )
        search = _search_again(report, f"search-split-{claim.id}")
        submitted = st.form_submit_button(
            "Split", type="primary", help="Put these claims in place of this one."
        )
    texts = tuple(line.strip() for line in (lines or "").splitlines() if line.strip())
    if submitted and len(set(texts)) < 2:
        _wrong("This is one claim", "Write two or more, each on a line of its own.")
    elif submitted:
        _make(edits.Split(claim_id=claim.id, texts=texts, search=search))


def _merge(report: Report, claim: Claim) -> None:
    others = {c.id: f"{n}. {c.text}" for n, c in enumerate(report.claims, 1) if c.id != claim.id}
    if not others:
        small("There is no other claim to merge it with.")
        return
    with st.form(f"merge-{claim.id}", border=False):
        chosen = st.multiselect(
            "Merge it with",
            list(others),
            format_func=others.__getitem__,
            key=f"merge-with-{claim.id}",
            help="The other claims that say the same, or belong to it.",
        )
        text = st.text_area(
            "As one claim",
            key=f"merge-text-{claim.id}",
            height=90,
            placeholder="Empty: one text after the other",
            help="The text that takes the place of all of them.",
            max_chars=LIMITS.text,
        )
        submitted = st.form_submit_button(
            "Merge", type="primary", help="Put one claim in place of these."
        )
    if submitted and not chosen:
        _wrong("No other claim is chosen", "Choose one or more above.")
    elif submitted:
        ids = {claim.id, *chosen}
        own = text if (text or "").strip() else joined([c for c in report.claims if c.id in ids])
        _make(edits.Merge(claim_ids=tuple(ids), text=own))


def _place(report: Report, claim: Claim) -> None:
    small(
        "Write or paste the words of the answer that state this claim. Outside this dialog you can also select them."
    )
    here = report.answer[claim.spans[0][0] : claim.spans[-1][1]] if claim.spans else ""
    with st.form(f"place-{claim.id}", border=False):
        words = st.text_area(
            "Words of the answer",
            here,
            key=f"place-text-{claim.id}",
            height=90,
            help="They are marked in the answer; the claim itself stays as it is.",
            max_chars=LIMITS.text,
        )
        submitted = st.form_submit_button("Highlight these words", type="primary")
    if not submitted:
        return
    span = find_words(report.answer, words or "", claim.spans[0][0] if claim.spans else 0)
    if span is None:
        _wrong(*ABSENT)
    elif (span,) == claim.spans:
        _wrong("These words are highlighted already", "Write other words of the answer.")
    else:
        _make(edits.Place(claim_id=claim.id, spans=(span,)))


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
    if address and "://" not in address:
        _wrong("This is not a web address", "It starts with http:// or https://.")
    elif not documents and not address:
        _wrong("There is no evidence yet", "Paste a text, give an address or choose a file.")
    else:
        names = (*(document.name for document in documents), *filter(None, [address]))
        _make(
            edits.AddEvidence(claim_id=claim.id, names=names),
            documents,
            [address] if address else [],
        )


def _new(report: Report, span: Span | None) -> None:
    small("Only the new claim is checked.")
    words = "" if span is None else " ".join(report.answer[slice(*span)].split())
    with st.form("new-claim", border=False):
        if span is None:
            words = st.text_area(
                "Words of the answer",
                key="new-words",
                height=90,
                help="The words that the claim stands for; they are marked in the answer.",
                max_chars=LIMITS.text,
            )
        text = st.text_area(
            "Claim",
            words if span else "",
            key=f"new-{span}",
            height=90,
            placeholder="Empty: the words as they are",
            help="A statement to check, in words that stand alone.",
            max_chars=LIMITS.text,
        )
        search = _search_again(report, "search-new")
        submitted = st.form_submit_button("Check this claim", type="primary")
    if not submitted:
        return
    place = span or find_words(report.answer, words)
    claim = (text or "").strip() or words.strip()
    if not claim:
        _wrong("The text is empty", "Write what should be checked.")
    elif place is None:
        _wrong(*ABSENT)
    else:
        _make(edits.AddClaim(text=claim, spans=(place,), search=search))
