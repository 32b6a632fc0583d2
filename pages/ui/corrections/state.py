"""Proposed corrections in this session: the job that seeks them, and which of them are accepted."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from attribution.settings import Settings
from attribution.storage.store import Store
from attribution.types import Claim, Report
from pages.ui import background, state
from pages.ui.form import choices

if TYPE_CHECKING:
    from attribution.corrections.correction import Correction
    from attribution.corrections.proposals import Proposal

JOB, DESK = "corrections_job", "corrections"
CORRECTOR, UNSUPPORTED, FOOTNOTES = "corrector", "unsupported", "footnotes"  # keys of widgets
_ENDPOINT = ("openai_base_url", "openai_api_key", "openai_model")


@dataclass(frozen=True)
class Seeking(background.Progress):
    run: str
    total: int
    proposals: tuple[Proposal, ...] = ()


@dataclass(frozen=True)
class Desk:
    """What was proposed for one run, and what was decided; `before` is for undo."""

    run: str = ""
    proposals: Mapping[str, Proposal] = field(default_factory=dict)  # by claim
    accepted: tuple[str, ...] = ()  # claims, in the order of acceptance
    rejected: frozenset[str] = frozenset()
    before: tuple[tuple[tuple[str, ...], frozenset[str]], ...] = ()


def settings_of(report: Report) -> Settings:
    """The settings of a run with the thresholds of the sliders and the endpoint of the form."""
    saved = {name: value for name, value in report.settings.items() if name in Settings.model_fields}
    form = choices.settings()
    endpoint = {} if isinstance(form, str) else {name: getattr(form, name) for name in _ENDPOINT}
    thresholds = {name: state.value(name) for name in state.THRESHOLDS}
    return Settings.from_environment(**saved | {k: v for k, v in endpoint.items() if v} | thresholds)


def desk(report: Report) -> Desk:
    """The desk of this run, with what its job has found so far. Proposals for claims that have changed are gone."""
    now: Desk = state.get(DESK) or Desk()
    if now.run != report.id:
        now = Desk(report.id)
    seeking = job(report)
    if seeking:
        now = replace(now, proposals={**now.proposals, **{p.claim_id: p for p in seeking.progress().proposals}})
    wordings = {c.id: c.statement for c in report.claims}
    kept = {
        i: p
        for i, p in now.proposals.items()
        if p.correction is None or (p.correction.before == wordings.get(i) and _fits(p.correction, report.answer))
    }
    now = replace(now, proposals=kept)
    state.put(DESK, now)
    return now


def _fits(correction: Correction, answer: str) -> bool:
    return all(answer[e.start : e.end] == e.before for e in correction.edits)


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
    settings = settings_of(report)

    def work(stop: threading.Event, update: Callable[..., Seeking]) -> None:
        from attribution.corrections.proposals import propose

        now = update()
        for proposal in propose(report, claims, settings, Store.open(settings.database_url), corrector, stop):
            now = update(proposals=(*now.proposals, proposal))

    state.put(JOB, background.Job("corrections", Seeking(run=report.id, total=len(claims)), work))


def stop() -> None:
    if found := state.get(JOB):
        found.stop()


def decide(report: Report, accept: Sequence[str] = (), reject: Sequence[str] = ()) -> None:
    """Accept and reject the corrections of these claims; a second click takes the decision back."""
    now = desk(report)
    both = {*accept, *reject}
    accepted = [i for i in now.accepted if i not in both] + [i for i in accept if i not in now.accepted]
    rejected = (now.rejected - both) | (frozenset(reject) - now.rejected)
    before = (*now.before, (now.accepted, now.rejected))
    state.put(DESK, replace(now, accepted=tuple(accepted), rejected=rejected, before=before))


def undo(report: Report) -> None:
    """Take back the last decision."""
    now = desk(report)
    if now.before:
        accepted, rejected = now.before[-1]
        state.put(DESK, replace(now, accepted=accepted, rejected=rejected, before=now.before[:-1]))
