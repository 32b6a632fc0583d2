"""Show corrections and the revised answer."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import streamlit as st

from attribution.reports import answer
from attribution.reports.html import Child, Node, el, link_to_sentence, plural
from attribution.review.correction import Correction
from attribution.review.corrections import CORRECTORS, correctable
from attribution.review.decisions import Review
from attribution.review.revision import UNSUPPORTED, Revision, Unsupported, revise
from attribution.types import Claim, Report
from pages.ui import corrections
from pages.ui.frame import note, progress_bar, section, show, small

POLL = 0.5  # seconds between looks at the job
CHOICES: dict[Unsupported, str] = {"keep": "Keep", "mark": "Mark", "drop": "Leave out"}


def show_corrections(report: Report) -> None:
    """The part of the page; drawn again while corrections are sought."""
    running = corrections.is_running(report)
    st.fragment(_part, run_every=POLL if running else None)(report, running)


def _part(report: Report, polling: bool) -> None:
    if polling != corrections.is_running(report):
        st.rerun()
    claims, review, own = correctable(report), corrections.review(report), corrections.is_own(report)
    job = corrections.job(report)
    _propose(report, claims, polling, own)
    if job and (error := job.progress().error):
        note("Corrections could not be sought", error, label="contradicted", detail=job.progress().detail)
    open_claims = {c.id for c in claims}
    found = {i: p.correction for i, p in review.proposals.items() if p.correction and i in open_claims}
    _proposals(report, claims, found, review, own)
    accepted = [found[i] for i in review.now.accepted if i in found]
    _revised(report, accepted)


def _propose(report: Report, claims: Sequence[Claim], running: bool, own: bool) -> None:
    settings = corrections.settings_of(report)
    ready = [name for name, entry in CORRECTORS.items() if not entry.missing(settings)]
    if not claims:
        small("No claim of this answer is contradicted, conflicting or unclear: there is nothing to correct.")
        return
    what = f"{plural(len(claims), 'claim')} {'is' if len(claims) == 1 else 'are'} contradicted, conflicting or unclear."
    small(f"{what} A change is proposed only if the verifier then finds the claim supported by the same evidence.")
    if not own:
        small("The run is somebody else's: make a copy to propose and accept corrections.")
        return
    if running and (job := corrections.job(report)):
        now = job.progress()
        done = len(now.proposals)
        progress_bar(done / max(1, now.total), "Progress of the corrections")
        show(el("p", f"{done} of {plural(now.total, 'claim')}, {now.seconds:.0f} s", class_="ax-status", role="status"))
        st.button(
            "Stop",
            on_click=corrections.stop,
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
                key=corrections.CORRECTOR,
                width=200,
                help="What words the change: a rule over numbers, dates and names, or the language model.",
            )
            by = names.get(str(chosen), by)
        seek = partial(corrections.seek, report, claims, by)
        st.button(
            "Propose corrections",
            on_click=seek,
            type="primary",
            key="propose",
            help="Seek the smallest change of each of these claims that its evidence supports.",
        )


def _proposals(
    report: Report, claims: Sequence[Claim], found: dict[str, Correction], review: Review, own: bool
) -> None:
    numbers = {c.id: n for n, c in enumerate(report.claims, 1)}
    for claim in claims:
        if correction := found.get(claim.id):
            state = (
                "accepted" if claim.id in review.now.accepted else "rejected" if claim.id in review.now.rejected else ""
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
                            on_click=corrections.decide,
                            args=(report,),
                            kwargs={name: [claim.id]},
                            key=f"{name}-{claim.id}",
                            icon=":material/check:" if chosen else None,
                            help="Click again to take it back" if chosen else None,
                        )
    none = [p for i, p in review.proposals.items() if p.correction is None and i in {c.id for c in claims}]
    if none:
        why: dict[str, list[str]] = {}
        for p in sorted(none, key=lambda p: numbers[p.claim_id]):
            why.setdefault(p.reason, []).append(str(numbers[p.claim_id]))
        lines = (el("li", f"Claim{'s' * (len(of) > 1)} {', '.join(of)}: {reason}") for reason, of in why.items())
        with st.expander(f"No correction for {plural(len(none), 'claim')}"):
            show(el("ul", *lines, class_="ax-changes"))
    waiting = [i for i in found if i not in review.now.accepted and i not in review.now.rejected]
    if found and own:
        with st.container(horizontal=True, gap="small"):
            st.button(
                "Accept all",
                on_click=partial(_accept_all, report),
                disabled=not waiting,
                key="accept_all",
                help="Accept every correction that is not decided yet.",
            )
            undo = partial(corrections.undo, report)
            st.button(
                "Undo",
                on_click=undo,
                disabled=not review.before,
                key="undo_decision",
                help="Take back the last decision.",
            )


def _accept_all(report: Report) -> None:
    """Accept what has been found by now and is not decided."""
    review, open_claims = corrections.review(report), [c.id for c in correctable(report)]
    found = [i for i in open_claims if (p := review.proposals.get(i)) and p.correction]
    corrections.decide(report, [i for i in found if i not in review.now.accepted and i not in review.now.rejected])


def proposal_card(correction: Correction, number: int, report: Report, state: str = "") -> Node:
    """The change word by word, and the sentence that supports it."""
    page = next((p for p in report.pages if p.id == correction.page_id), None)
    title: Child = page.cited if page else "A page that is no longer in the database"
    if page and (address := link_to_sentence(page.url, correction.quote)):
        title = el("a", f"{page.title or page.url} ↗", href=address, target="_blank", rel="noopener noreferrer")
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
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium", key="revision_options"):
        chosen = st.segmented_control(
            "Sentences that no source supports",
            UNSUPPORTED,
            default="keep",
            format_func=CHOICES.__getitem__,
            key=corrections.UNSUPPORTED,
            help="“Leave out” keeps, and marks, a sentence of which a part is supported.",
        )
        footnotes = st.toggle(
            "Footnotes to the evidence",
            value=True,
            key=corrections.FOOTNOTES,
            help="Number each supported claim and quote the sentence that supports it below the answer.",
        )
    revision = revise(report, accepted, chosen or "keep", footnotes)
    small(summary(revision))
    changes, source = st.tabs(["Changes", "Markdown"])
    with changes:
        show(el("div", *answer.rendered(report.answer, revision.text), class_="ax-revised", dir="auto"))
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
