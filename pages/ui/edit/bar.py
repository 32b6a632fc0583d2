"""Above a finished run: undo, redo, the list of its edits, and what concerns the run as a whole."""

from __future__ import annotations

import streamlit as st

from attribution.registry import Entry
from attribution.segmenters import SEGMENTERS
from attribution.types import Claim, Edit, Report
from attribution.types.edits import ChangeQuestion, Resegment, Restore
from pages.ui.answer.provenance import date
from pages.ui.form import choices
from pages.ui.frame import show, small
from pages.ui.html.render import el, plural
from pages.ui.run import state as run_state
from pages.ui.slot import store


def edit_bar(report: Report) -> None:
    """Draw it for a finished run."""
    steps = store().steps(report.id)
    with st.container(key="edit_bar", horizontal=True, vertical_alignment="center", gap="small"):
        for label, keys, on_click, possible, step in (
            ("Undo", "Ctrl+Z", run_state.undo, steps.can_undo, steps.undo),
            ("Redo", "Ctrl+Shift+Z", run_state.redo, steps.can_redo, steps.redo),
        ):
            st.button(
                label,
                key=label.lower(),
                on_click=on_click,
                disabled=not possible,
                help=f"{_help(label, step, possible)} ({keys})",
            )
        dropped = report.set_aside.claims if report.set_aside else ()
        with st.popover(f"Edits ({len(report.edits)})", key="edits", help="What you changed in this run."):
            _edits(report, dropped)
        with st.popover("Question and claims", key="whole", help="Change the question, or split the answer again."):
            _question(report)
            _segmentation(report)


def _help(label: str, edit: Edit | None, possible: bool) -> str:
    if not possible:
        return f"There is nothing to {label.lower()}"
    kind = edit.words.partition(":")[0].partition(" (")[0] if edit else "the last edit"  # no text of a visitor
    return f"{label}: {kind[:1].lower()}{kind[1:]}"


def _edits(report: Report, dropped: tuple[Claim, ...]) -> None:
    """What was done and when, the latest first; dropped claims with their way back."""
    if not report.edits:
        small("Nothing was changed by hand. Select a claim and press Edit, or select words of the answer.")
    items = [
        el("li", el("span", e.words, dir="auto"), el("span", f" {date(e.at)}, {e.at[11:16]} UTC", class_="facts"))
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
            on_click=run_state.edit,
            args=(Restore(claim_id=claim.id),),
            width="stretch",
            help="Put the claim back where it stood.",
        )


def _question(report: Report) -> None:
    leaning = sum(c.checked and not c.independent for c in report.claims)
    checked = sum(c.checked for c in report.claims)
    with st.form("other_question", border=False):
        question = (
            st.text_input(
                "Question",
                report.question,
                key=f"question-{report.id}-{len(report.edits)}",
                help="Claims that lean on the question are worded and checked again.",
            )
            or ""
        )
        small(
            f"{leaning} of {plural(checked, 'checked claim')} {'leans' if leaning == 1 else 'lean'} on the question. "
            "Only these are compared with the pages again."
        )
        if st.form_submit_button("Change the question") and " ".join(question.split()) != report.question:
            run_state.edit(ChangeQuestion(question=question))
            st.rerun()


def _segmentation(report: Report) -> None:
    needs = choices.missing(SEGMENTERS)
    ready: dict[str, Entry] = {name: entry for name, entry in SEGMENTERS.items() if not needs[name]}
    now = str(report.settings.get("segmenter", ""))
    with st.form("other_segmenter", border=False):
        names = list(ready)
        name = st.selectbox(
            "Split the answer into",
            names,
            names.index(now) if now in names else 0,
            format_func=lambda entry: ready[entry].label,
            key=f"segmenter-{report.id}-{len(report.edits)}",
            help="The segmenter that finds the claims. Claims that stay the same keep their verdicts.",
        )
        small("Claims that stay the same keep their verdicts. Pinned claims stay; other claims of yours do not.")
        if (
            st.form_submit_button(
                "Split again", help="Find the claims anew; pinned claims stay, dropped ones stay away."
            )
            and name != now
        ):
            run_state.edit(Resegment(segmenter=name))
            st.rerun()
