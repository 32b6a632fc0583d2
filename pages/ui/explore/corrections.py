"""Seek corrections of a run, take the decisions on them, and show the revised answer."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

import streamlit as st

from attribution.edits import CheckAgain
from attribution.errors import NotYours
from attribution.evidence.permissions import of_saved_run
from attribution.reports import answer
from attribution.reports.actions import Opened, Tab
from attribution.reports.html import Child, Node, el, link_to_sentence, plural
from attribution.review import corrections as stored
from attribution.review.correction import Correction
from attribution.review.corrections import CORRECTORS, Review, correctable
from attribution.review.revision import UNSUPPORTED, Revision, Unsupported, revise
from attribution.searchers import SEARCHERS
from attribution.settings import WEB, Settings
from attribution.types import Claim, Report
from attribution.verifiers import HUB, VERIFIERS, is_downloaded
from attribution.verifiers.auto import choose
from pages.ui import background, choices, state
from pages.ui.explore.editing import edit_dialog
from pages.ui.frame import note, progress_bar, section, show, small
from pages.ui.run import edit
from pages.ui.state import store

if TYPE_CHECKING:
    from attribution.review.corrections import Proposal

POLL = 0.5  # seconds between looks at the job
CHOICES: dict[Unsupported, str] = {"keep": "Keep", "mark": "Mark", "drop": "Leave out"}
JOB, REVIEW = "corrections_job", "corrections"
CORRECTOR, SENTENCES, FOOTNOTES = "corrector", "unsupported", "footnotes"  # keys of widgets


@dataclass(frozen=True)
class Seeking(background.JobProgress):
    run: str
    total: int
    claims: frozenset[str] = frozenset()
    proposals: tuple[Proposal, ...] = ()


def settings_of(report: Report) -> Settings:
    """Return the settings of a run with the sliders' values and this session's language model."""
    return choices.settings_of(
        {**report.settings, **choices.policy(report).as_settings()}, "sources", "model"
    )


def review_of(report: Report) -> Review:
    """Return the review of this run, with its job's findings so far, without proposals for claims
    that have changed.
    """
    run, now = state.get(REVIEW) or ("", Review())
    if run != report.id:
        now = stored.load_review(store(), report.id)
        state.put(REVIEW, (report.id, now))
    if (seeking := job_of(report)) and (proposals := seeking.progress().proposals):
        found = now.with_proposals(proposals)
        if found != now:
            _keep(report, now := found)
    return now.fitting(report)


def _keep(report: Report, now: Review) -> None:
    """Keep the review for this session and in the database, unless the run was deleted meanwhile."""
    state.put(REVIEW, (report.id, now))
    with suppress(NotYours):
        stored.save_review(store(), report.id, now)


def is_own(report: Report) -> bool:
    """Return True if corrections of this run can be proposed and decided here."""
    return store().rights.access(report.id).own


def job_of(report: Report) -> background.Job[Seeking] | None:
    """Return the job that seeks corrections for this run, if there was one."""
    found: background.Job[Seeking] | None = state.get(JOB)
    return found if found and found.progress().run == report.id else None


def is_running(report: Report) -> bool:
    seeking = job_of(report)
    return seeking is not None and seeking.running


def seek(report: Report, claims: Sequence[Claim], corrector: str) -> None:
    """Start seeking corrections for these claims; proposals for others are kept."""
    if is_running(report) or not claims:
        return
    review_of(report)  # keeps what an earlier job found
    settings, database, browser = settings_of(report), store(), state.browser()

    def work(stop: threading.Event, update: Callable[..., Seeking]) -> None:
        from attribution.review.corrections import propose

        now = update()
        of_saved_run(
            report.settings, settings, "sources"
        )  # BadSetting for a model that no visitor may name
        proposed = propose(report, claims, settings, database, corrector, stop)
        for proposal in background.in_turns(browser, stop, proposed):
            now = update(proposals=(*now.proposals, proposal))

    sought = Seeking(run=report.id, total=len(claims), claims=frozenset(c.id for c in claims))
    state.put(JOB, background.Job("corrections", sought, work))


def decide(report: Report, accept: Sequence[str] = (), reject: Sequence[str] = ()) -> None:
    """Accept and reject the corrections of these claims; a second click takes the decision back."""
    _keep(report, review_of(report).decide(accept, reject))


def undo_decision(report: Report) -> None:
    """Take back the last decision."""
    _keep(report, review_of(report).undo())


# --- drawing ---


def show_corrections(report: Report) -> None:
    """The part of the page; drawn again while corrections are sought."""
    running = is_running(report)
    st.fragment(_part, run_every=POLL if running else None)(report, running)


def _part(report: Report, polling: bool) -> None:
    if polling != is_running(report):
        st.rerun()
    claims, review, own = correctable(report), review_of(report), is_own(report)
    job = job_of(report)
    _propose(report, claims, polling, own)
    if job and (error := job.progress().error):
        note(
            "Corrections could not be proposed",
            error,
            label="contradicted",
            detail=job.progress().detail,
        )
    open_claims = {c.id for c in claims}
    found = {
        i: p.correction for i, p in review.proposals.items() if p.correction and i in open_claims
    }
    _proposals(report, claims, found, review, own)
    accepted = [found[i] for i in review.now.accepted if i in found]
    _revised(report, accepted)


def _propose(report: Report, claims: Sequence[Claim], running: bool, own: bool) -> None:
    settings = settings_of(report)
    ready = [name for name, entry in CORRECTORS.items() if not entry.missing(settings)]
    if not claims:
        small(
            "No claim of this answer is contradicted, conflicting or unclear: there is nothing to correct."
        )
        return
    what = f"{plural(len(claims), 'claim')} {'is' if len(claims) == 1 else 'are'} contradicted, conflicting or unclear."
    small(
        f"{what} A change is proposed only if the verifier then finds the claim supported by the same evidence."
    )
    if not own:
        small("The run is somebody else's: make a copy to propose and accept corrections.")
        return
    if running and (job := job_of(report)):
        now = job.progress()
        done = len(now.proposals)
        progress_bar(done / max(1, now.total), "Progress of the corrections")
        show(
            el(
                "p",
                f"{done} of {plural(now.total, 'claim')}, {now.seconds:.0f} s",
                class_="ax-status",
                role="status",
            )
        )
        st.button(
            "Stop",
            on_click=job.stop,
            key="stop_corrections",
            disabled=now.stopping,
            help="End the search; corrections found so far stay.",
        )
        return
    with st.container(horizontal=True, vertical_alignment="bottom", key="propose_row"):
        by = ready[0]
        if len(ready) > 1:
            names = {CORRECTORS[name].label: name for name in ready}
            chosen = st.selectbox(
                "Corrections",
                list(names),
                key=CORRECTOR,
                width=200,
                help="What words the change: a rule over numbers, dates and names, or the language model.",
            )
            by = names.get(str(chosen), by)
        st.button(
            "Propose corrections",
            on_click=seek,
            args=(report, claims, by),
            type="primary",
            key="propose",
            help="Find the smallest change of each of these claims that its evidence supports.",
        )


def _proposals(
    report: Report, claims: Sequence[Claim], found: dict[str, Correction], review: Review, own: bool
) -> None:
    numbers = {c.id: n for n, c in enumerate(report.claims, 1)}
    for claim in claims:
        if correction := found.get(claim.id):
            state = (
                "accepted"
                if claim.id in review.now.accepted
                else "rejected"
                if claim.id in review.now.rejected
                else ""
            )
            with st.container(key=f"correction-{claim.id}"):
                show(proposal_card(correction, numbers[claim.id], report, state))
                if not own:
                    continue
                with st.container(horizontal=True, gap="small"):
                    for name, word in (("accept", "Accept"), ("reject", "Reject")):
                        chosen = state.startswith(name)
                        st.button(
                            f"{word}ed" if chosen else word,
                            on_click=decide,
                            args=(report,),
                            kwargs={name: [claim.id]},
                            key=f"{name}-{claim.id}",
                            icon=":material/check:" if chosen else None,
                            help="Click again to take it back" if chosen else None,
                        )
    none = [
        p
        for i, p in review.proposals.items()
        if p.correction is None and i in {c.id for c in claims}
    ]
    if none:
        why: dict[str, list[str]] = {}
        for p in sorted(none, key=lambda p: numbers[p.claim_id]):
            why.setdefault(p.reason, []).append(str(numbers[p.claim_id]))
        lines = (
            el("li", f"Claim{'s' * (len(of) > 1)} {', '.join(of)}: {reason}")
            for reason, of in why.items()
        )
        with st.expander(f"No correction for {plural(len(none), 'claim')}"):
            show(el("ul", *lines, class_="ax-changes"))
    waiting = [i for i in found if i not in review.now.accepted and i not in review.now.rejected]
    if found and own:
        with st.container(horizontal=True, gap="small"):
            st.button(
                "Accept all",
                on_click=decide,
                args=(report, waiting),
                disabled=not waiting,
                key="accept_all",
                help="Accept every correction that is not decided yet.",
            )
            st.button(
                "Undo",
                on_click=undo_decision,
                args=(report,),
                disabled=not review.before,
                key="undo_decision",
                help="Take back the last decision.",
            )


def proposal_card(correction: Correction, number: int, report: Report, state: str = "") -> Node:
    """The change word by word, and the sentence that supports it."""
    page = next((p for p in report.pages if p.id == correction.page_id), None)
    title: Child = page.cited if page else "A page that is no longer in the database"
    if page and (address := link_to_sentence(page.url, correction.quote)):
        title = el(
            "a",
            f"{page.title or page.url} ↗",
            href=address,
            target="_blank",
            rel="noopener noreferrer",
        )
    label = el("strong", f"Claim {number}")
    surely = f"Supported at {correction.probability:.2f} by {correction.verifier}"
    return el(
        "div",
        el("p", label, f" · {state}" if state else "", class_="facts"),
        el("p", *answer.shown(correction.before, correction.after), class_="diff", dir="auto"),
        el("blockquote", f"“{correction.quote}”", dir="auto"),
        el("p", title, class_="facts", title=surely, dir="auto"),
        class_=f"ax-correction {state}",
    )


def _revised(report: Report, accepted: Sequence[Correction]) -> None:
    section("Revised answer")
    with st.container(
        horizontal=True, vertical_alignment="bottom", gap="medium", key="revision_options"
    ):
        chosen = st.segmented_control(
            "Sentences that no source supports",
            UNSUPPORTED,
            default="keep",
            format_func=CHOICES.__getitem__,
            key=SENTENCES,
            help="“Leave out” keeps, and marks, a sentence of which a part is supported.",
        )
        footnotes = st.toggle(
            "Footnotes to the evidence",
            value=True,
            key=FOOTNOTES,
            help="Number each supported claim and quote the sentence that supports it below the answer.",
        )
    revision = revise(report, accepted, chosen or "keep", footnotes)
    small(summary(revision))
    changes, source = st.tabs(["Changes", "Markdown"])
    with changes:
        show(
            el(
                "div",
                *answer.rendered(report.answer, revision.text),
                class_="ax-revised",
                dir="auto",
            )
        )
    with source:
        st.code(revision.text, language="markdown", wrap_lines=True, height=320)
    st.download_button(
        "Download as Markdown",
        revision.text,
        "revised-answer.md",
        "text/markdown",
        on_click="ignore",
        key="download_revision",
    )


def summary(revision: Revision) -> str:
    """One sentence that says what was changed."""
    parts = [
        f"{plural(len(revision.applied), 'correction')} applied",
        f"{plural(revision.marked, 'sentence')} marked" if revision.marked else "",
        f"{plural(revision.dropped, 'sentence')} left out" if revision.dropped else "",
        plural(revision.notes, "footnote") if revision.notes else "",
    ]
    overlap = len(revision.overlapping)
    text = ", ".join(filter(None, parts)) + "."
    return text + (
        f" {plural(overlap, 'correction')} could not be applied: an earlier one changes the same words."
        if overlap
        else ""
    )


def in_cards(report: Report, editable: bool) -> dict[str, Node]:
    """Return what is known of a correction for the card of its claim: it is sought, the proposal,
    or why none is.
    """
    numbers = {claim.id: number for number, claim in enumerate(report.claims, 1)}
    review, job = review_of(report), job_of(report)
    found = {}
    for claim in correctable(report):
        proposal = review.proposals.get(claim.id)
        if proposal is None:
            if job and job.running and claim.id in job.progress().claims:
                found[claim.id] = el(
                    "p", "Looking for a correction …", class_="reason", role="status"
                )
        elif proposal.correction is None:
            found[claim.id] = el("p", f"No correction: {proposal.reason}", class_="reason")
        else:
            accepted = claim.id in review.now.accepted
            name, word = (
                "accept",
                "Accepted: take it back" if accepted else "Accept the correction",
            )
            button = el(
                "button", word, type="button", class_="next", data_step=f"{name} {claim.id}"
            )
            card = proposal_card(
                proposal.correction, numbers[claim.id], report, "accepted" if accepted else ""
            )
            act = el("p", button, class_="links next-steps") if editable else None
            found[claim.id] = el("div", card, act, class_="card v-supported")
    return found


# --- next steps of a claim ---


DIALOGS: dict[str, Tab] = {"reword": "Text", "source": "Evidence"}
BETTER = (
    "llm",
    *HUB,
    "embedded-base",
    "embedded-small",
)  # the order in which another verifier is chosen


def take(step: str, claim: Claim, report: Report) -> None:
    """Perform one of the `next_steps`; an unknown one does nothing."""
    if step in DIALOGS:
        edit_dialog(report, Opened(claim, tab=DIALOGS[step]))
    elif step == "correct":
        seek(report, [claim], "rule")
        st.rerun()
    elif step == "accept":
        decide(report, [claim.id])
        st.rerun()
    elif step == "verifier":
        check_with_another(claim, report)
    elif step == "web":
        search_the_web(claim, report)


def other_verifier(settings: Settings) -> tuple[str, str]:
    """Return the best verifier that is ready and was not used, or the needs of the best missing
    one.
    """
    used = choose(settings).name if settings.verifier == "auto" else settings.verifier
    others = [name for name in BETTER if name != used]
    ready = next(
        (
            name
            for name in others
            if not VERIFIERS[name].missing(settings) and _loads(name, settings)
        ),
        "",
    )
    return ready, "" if ready else "; ".join(VERIFIERS[name].missing(settings) for name in others)


def _loads(name: str, settings: Settings) -> bool:
    """Return True if the verifier loads without a download."""
    return name not in HUB or is_downloaded(name, settings)


def check_with_another(claim: Claim, report: Report) -> None:
    """Check a claim again with the next best verifier; the report names it for this claim."""
    settings = settings_of(report)
    name, missing = other_verifier(settings)
    if not name:
        st.toast(f"There is no other verifier: {missing}")
        return
    edit(CheckAgain(claim_id=claim.id, verifier=name))
    st.rerun()


def search_the_web(claim: Claim, report: Report) -> None:
    """Search for one claim with the run's web search engine, or the default one, and check it
    again.
    """
    settings = settings_of(report)
    engine = next((s for s in settings.sources if s in SEARCHERS and s != "library"), WEB)
    edit(CheckAgain(claim_id=claim.id, sources=(engine,), search=True))
    st.rerun()
