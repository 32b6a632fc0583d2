"""Proposed corrections in this session: the job that seeks them, and which of them are accepted."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from attribution.corrections import desk as stored
from attribution.corrections.desk import Desk
from attribution.errors import NotYours
from attribution.evidence.strangers import of_saved_run
from attribution.settings import Settings
from attribution.types import Claim, Report
from pages.ui import background, state
from pages.ui.form import choices
from pages.ui.slot import store

if TYPE_CHECKING:
    from attribution.corrections.proposals import Proposal

JOB, DESK = "corrections_job", "corrections"
CORRECTOR, UNSUPPORTED, FOOTNOTES = "corrector", "unsupported", "footnotes"  # keys of widgets


@dataclass(frozen=True)
class Seeking(background.Progress):
    run: str
    total: int
    proposals: tuple[Proposal, ...] = ()


def settings_of(report: Report) -> Settings:
    """The settings of a run with the thresholds of the sliders and the language model of this session."""
    thresholds = {name: state.value(name) for name in state.THRESHOLDS}
    return choices.settings_of({**report.settings, **thresholds}, "sources", "model")


def desk(report: Report) -> Desk:
    """The desk of this run, with what its job has found so far. Proposals for claims that have changed are gone."""
    run, now = state.get(DESK) or ("", Desk())
    if run != report.id:
        now = stored.load(store(), report.id)
        state.put(DESK, (report.id, now))
    if (seeking := job(report)) and (proposals := seeking.progress().proposals):
        found = now.with_proposals(proposals)
        if found != now:
            _keep(report, now := found)
    return now.fitting(report)


def _keep(report: Report, now: Desk) -> None:
    """For this session and in the database, unless the run was deleted meanwhile."""
    state.put(DESK, (report.id, now))
    with suppress(NotYours):
        stored.save(store(), report.id, now)


def is_own(report: Report) -> bool:
    """Whether corrections of this run can be proposed and decided here."""
    return store().access(report.id).own


def job(report: Report) -> background.Job[Seeking] | None:
    """The job that seeks corrections for this run, if there was one."""
    found: background.Job[Seeking] | None = state.get(JOB)
    return found if found and found.progress().run == report.id else None


def is_running(report: Report) -> bool:
    seeking = job(report)
    return seeking is not None and seeking.running


def seek(report: Report, claims: Sequence[Claim], corrector: str) -> None:
    """Start seeking corrections for these claims; what was proposed for others stays."""
    if is_running(report) or not claims:
        return
    desk(report)  # keeps what an earlier job found
    settings, database = settings_of(report), store()

    def work(stop: threading.Event, update: Callable[..., Seeking]) -> None:
        from attribution.corrections.proposals import propose

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
    _keep(report, desk(report).decide(accept, reject))


def undo(report: Report) -> None:
    """Take back the last decision."""
    _keep(report, desk(report).undo())
