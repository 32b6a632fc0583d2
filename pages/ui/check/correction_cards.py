"""Propose a correction in the card of a contradicted claim, and show the revised answer."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass

import streamlit as st

from attribution.errors import NotYours
from attribution.evidence.permissions import of_saved_run
from attribution.reports import answer
from attribution.reports.html import Child, Node, el, link_to_sentence, plural
from attribution.review.correction import Correction
from attribution.review.corrections import (
    Proposal,
    Review,
    correctable,
    load_review,
    propose,
    save_review,
)
from attribution.review.revision import UNSUPPORTED, Revision, Unsupported, revise
from attribution.settings import Settings
from attribution.store.store import Store
from attribution.types import Claim, Report
from pages.ui import background, choices, state
from pages.ui.frame import note, show, small
from pages.ui.state import store

POLL = 0.5  # seconds between looks at the job
CHOICES: dict[Unsupported, str] = {"keep": "Keep", "mark": "Mark", "drop": "Leave out"}
JOB = "corrections_job"


@dataclass(frozen=True)
class Seeking(background.JobProgress):
    """The search for a correction of one claim."""

    claim_id: str


def settings_of(report: Report) -> Settings:
    """Return the settings of a run with the sliders' values and this session's language model."""
    chosen = {**report.settings, **choices.policy(report).as_settings()}
    return choices.settings_of(chosen, "sources", "model")


def review_of(report: Report) -> Review:
    """Return what was proposed and accepted for this run, without what no longer fits."""
    return load_review(store(), report.id).fitting(report)


def seek(report: Report, claim: Claim) -> None:
    """Start to look for a correction of a claim."""
    settings, database, browser = settings_of(report), store(), state.browser()

    def work(stop: threading.Event, update: Callable[..., Seeking]) -> None:
        of_saved_run(report.settings, settings, "sources")  # raises BadSetting for a foreign model
        proposals = propose(
            report,
            [claim],
            settings,
            database,
            stop=stop,
        )
        for proposal in background.in_turns(browser, stop, proposals):
            _keep(database, report, load_review(database, report.id).with_proposals([proposal]))

    state.put(JOB, background.Job("corrections", Seeking(claim_id=claim.id), work))


def accept(report: Report, claim_id: str) -> None:
    """Accept the correction of a claim, or take it back."""
    _keep(store(), report, review_of(report).accept(claim_id))


def _keep(database: Store, report: Report, review: Review) -> None:
    with suppress(NotYours):  # the run was deleted meanwhile
        save_review(database, report.id, review)


def _progress() -> Seeking | None:
    job: background.Job[Seeking] | None = state.get(JOB)
    return job.progress() if job else None


def _is_running() -> bool:
    progress = _progress()
    return progress is not None and progress.running


# --- in the card of a claim ---


def correction_cards(report: Report, editable: bool) -> dict[str, Node]:
    """Return what is known of the correction of each contradicted claim, by the claim's id."""
    review, progress = review_of(report), _progress()
    drawn: dict[str, Node] = {}
    for claim in correctable(report):
        proposal = review.proposals.get(claim.id)
        if progress and progress.running and progress.claim_id == claim.id:
            waiting = "Looking for a correction …"
            drawn[claim.id] = el(
                "p",
                waiting,
                class_="reason",
                role="status",
            )
        elif proposal:
            accepted = claim.id in review.accepted
            drawn[claim.id] = _card(proposal, report, accepted, editable)
    return drawn


def _card(proposal: Proposal, report: Report, accepted: bool, editable: bool) -> Node:
    if proposal.correction is None:
        return el("p", f"No correction: {proposal.reason}", class_="reason")
    word = "Accepted: take it back" if accepted else "Accept the correction"
    request = f"accept {proposal.claim_id}"
    button = el(
        "button",
        word,
        type="button",
        class_="next",
        data_step=request,
    )
    action = el("p", button, class_="links next-steps") if editable else None
    change = _change(proposal.correction, report, accepted)
    return el(
        "div",
        change,
        action,
        class_="card v-supported",
    )


def _change(correction: Correction, report: Report, accepted: bool) -> Node:
    """Draw the change word by word, and the sentence that supports it."""
    page = next((p for p in report.pages if p.id == correction.page_id), None)
    title: Child = page.cited if page else "A page that is no longer in the database"
    address = link_to_sentence(page.url, correction.quote) if page else ""
    if page and address:
        words = f"{page.title or page.url} ↗"
        title = el(
            "a",
            words,
            href=address,
            target="_blank",
            rel="noopener noreferrer",
        )
    support = f"Supported at {correction.probability:.2f} by {correction.verifier}"
    return el(
        "div",
        el("p", *answer.shown(correction.before, correction.after), class_="diff", dir="auto"),
        el("blockquote", f"“{correction.quote}”", dir="auto"),
        el(
            "p",
            title,
            class_="facts",
            title=support,
            dir="auto",
        ),
        class_=f"ax-correction{' accepted' if accepted else ''}",
    )


# --- the revised answer ---


def revised_answer(report: Report) -> None:
    """Draw the answer with the accepted corrections; drawn again while one is sought."""
    running = _is_running()
    st.fragment(_revised, run_every=POLL if running else None)(report, running)


def _revised(report: Report, polling: bool) -> None:
    progress = _progress()
    if polling != _is_running():
        st.rerun()
    if progress and progress.error:
        title = "No correction could be sought"
        note(
            title,
            progress.error,
            label="contradicted",
            detail=progress.detail,
        )
    with st.container(horizontal=True, gap="medium", key="revision_options"):
        unsupported = st.segmented_control(
            "Sentences that no source supports",
            UNSUPPORTED,
            default="keep",
            format_func=CHOICES.__getitem__,
            key="unsupported",
            help="“Leave out” keeps, and marks, a sentence of which a part is supported.",
        )
        footnotes = st.toggle(
            "Footnotes to the evidence",
            value=True,
            key="footnotes",
            help="Quote below the answer the sentence that supports each claim.",
        )
    revision = revise(report, _accepted(report), unsupported or "keep", footnotes)
    small(summary(revision))
    changes, source = st.tabs(["Changes", "Markdown"])
    rendered = answer.rendered(report.answer, revision.text)
    with changes:
        show(el("div", *rendered, class_="ax-revised", dir="auto"))
    with source:
        st.code(
            revision.text,
            language="markdown",
            wrap_lines=True,
            height=320,
        )
    st.download_button(
        "Download as Markdown",
        revision.text,
        "revised-answer.md",
        "text/markdown",
        on_click="ignore",
        key="download_revision",
    )


def _accepted(report: Report) -> Sequence[Correction]:
    review, claim_ids = review_of(report), {claim.id for claim in correctable(report)}
    accepted = [review.proposals.get(i) for i in review.accepted if i in claim_ids]
    return [p.correction for p in accepted if p and p.correction]


def summary(revision: Revision) -> str:
    """Say in one sentence what was changed."""
    parts = [f"{plural(len(revision.applied), 'correction')} applied"]
    if revision.marked:
        parts.append(f"{plural(revision.marked, 'sentence')} marked")
    if revision.dropped:
        parts.append(f"{plural(revision.dropped, 'sentence')} left out")
    if revision.notes:
        parts.append(plural(revision.notes, "footnote"))
    if revision.overlapping:
        lost = plural(len(revision.overlapping), "correction")
        parts.append(f"{lost} not applied, because another one changes the same words")
    return f"{', '.join(parts)}."
