"""State of the corrections of a run and the decisions on them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

import streamlit as st

from attribution.errors import NotYours
from attribution.evidence.strangers import of_saved_run
from attribution.reports.actions import Opened, Tab
from attribution.review import decisions as stored
from attribution.review.decisions import Review
from attribution.searchers import SEARCHERS
from attribution.settings import WEB, Settings
from attribution.types import CheckAgain, Claim, Report
from attribution.verifiers import VERIFIERS
from attribution.verifiers.auto import choose
from pages.ui import background, choices, state
from pages.ui.database import store
from pages.ui.editing import edit_dialog
from pages.ui.run import edit

if TYPE_CHECKING:
    from attribution.review.corrections import Proposal

JOB, REVIEW = "corrections_job", "corrections"
CORRECTOR, UNSUPPORTED, FOOTNOTES = "corrector", "unsupported", "footnotes"  # keys of widgets


@dataclass(frozen=True)
class Seeking(background.Progress):
    run: str
    total: int
    proposals: tuple[Proposal, ...] = ()


def settings_of(report: Report) -> Settings:
    """Return the settings of a run with the sliders' thresholds and this session's language model."""
    thresholds = {name: state.value(name) for name in state.THRESHOLDS}
    return choices.settings_of({**report.settings, **thresholds}, "sources", "model")


def review(report: Report) -> Review:
    """Return the review of this run, with its job's findings so far, without proposals for claims that have changed."""
    run, now = state.get(REVIEW) or ("", Review())
    if run != report.id:
        now = stored.load(store(), report.id)
        state.put(REVIEW, (report.id, now))
    if (seeking := job(report)) and (proposals := seeking.progress().proposals):
        found = now.with_proposals(proposals)
        if found != now:
            _keep(report, now := found)
    return now.fitting(report)


def _keep(report: Report, now: Review) -> None:
    """Keep the review for this session and in the database, unless the run was deleted meanwhile."""
    state.put(REVIEW, (report.id, now))
    with suppress(NotYours):
        stored.save(store(), report.id, now)


def is_own(report: Report) -> bool:
    """Return True if corrections of this run can be proposed and decided here."""
    return store().rights.access(report.id).own


def job(report: Report) -> background.Job[Seeking] | None:
    """Return the job that seeks corrections for this run, if there was one."""
    found: background.Job[Seeking] | None = state.get(JOB)
    return found if found and found.progress().run == report.id else None


def is_running(report: Report) -> bool:
    seeking = job(report)
    return seeking is not None and seeking.running


def seek(report: Report, claims: Sequence[Claim], corrector: str) -> None:
    """Start seeking corrections for these claims; proposals for others are kept."""
    if is_running(report) or not claims:
        return
    review(report)  # keeps what an earlier job found
    settings, database = settings_of(report), store()

    def work(stop: threading.Event, update: Callable[..., Seeking]) -> None:
        from attribution.review.corrections import propose

        now = update()
        of_saved_run(report.settings, settings, "sources")  # BadSetting for a model that no visitor may name
        for proposal in propose(report, claims, settings, database, corrector, stop):
            now = update(proposals=(*now.proposals, proposal))

    state.put(JOB, background.Job("corrections", Seeking(run=report.id, total=len(claims)), work))


def stop() -> None:
    if found := state.get(JOB):
        found.stop()


def decide(report: Report, accept: Sequence[str] = (), reject: Sequence[str] = ()) -> None:
    """Accept and reject the corrections of these claims; a second click takes the decision back."""
    _keep(report, review(report).decide(accept, reject))


def undo(report: Report) -> None:
    """Take back the last decision."""
    _keep(report, review(report).undo())


DIALOGS: dict[str, Tab] = {"reword": "Text", "source": "Evidence"}
BETTER = ("llm", "deberta", "embedded-base", "embedded-small")  # the order in which another verifier is chosen


def take(step: str, claim: Claim, report: Report) -> None:
    """Perform one of the `next_steps`; an unknown one does nothing."""
    if step in DIALOGS:
        edit_dialog(report, Opened(claim, tab=DIALOGS[step]))
    elif step == "correct":
        seek(report, [claim], "rule")
        st.rerun()
    elif step == "verifier":
        check_with_another(claim, report)
    elif step == "web":
        search_the_web(claim, report)


def other_verifier(settings: Settings) -> tuple[str, str]:
    """Return the best verifier that is ready and was not used, or the needs of the best missing one."""
    used = choose(settings).name if settings.verifier == "auto" else settings.verifier
    others = [name for name in BETTER if name != used]
    ready = next((name for name in others if not VERIFIERS[name].missing(settings) and _loads(name, settings)), "")
    return ready, "" if ready else "; ".join(VERIFIERS[name].missing(settings) for name in others)


def _loads(name: str, settings: Settings) -> bool:
    """Return True if the verifier loads without a download."""
    from attribution.verifiers.deberta import is_downloaded

    return name != "deberta" or is_downloaded(settings)


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
    """Search for one claim with the run's web search engine, or the default one, and check it again."""
    settings = settings_of(report)
    engine = next((s for s in settings.sources if s in SEARCHERS and s != "library"), WEB)
    edit(CheckAgain(claim_id=claim.id, sources=(engine,), search=True))
    st.rerun()
