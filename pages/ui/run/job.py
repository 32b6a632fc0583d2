"""A run in the background: the pipeline's events become a report that grows."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from attribution.errors import BadInput
from attribution.events import (
    ClaimsReady,
    Event,
    Failed,
    Finished,
    PageReady,
    Progress,
    Queued,
    RunStarted,
    Spent,
    StageStarted,
    VerdictReady,
)
from attribution.settings import Settings
from attribution.types import Document, Report
from pages.ui import background
from pages.ui.form.words import explain

Run = Callable[[str, str, Settings, Sequence[Document], threading.Event], Iterator[Event]]


@dataclass(frozen=True)
class RunProgress(background.Progress):
    """A run at one moment."""

    report: Report
    key: str = ""  # of the run in this session
    version: int = 0  # of its claims and verdicts, which take long to draw
    accepted: bool = False  # the first event has come
    stage: str = ""
    units: dict[str, tuple[int, int]] = field(default_factory=dict)  # done and total by stage
    rejected: str = ""  # why the input cannot be checked
    documents: tuple[Document, ...] = ()  # that it is checked against
    unfinished: bool = False  # it was interrupted and can be continued


class RunJob(background.Job[RunProgress]):
    """One run. `before` is the run that it continues, which is shown until there is something new."""

    def __init__(
        self,
        question: str,
        answer: str,
        settings: Settings,
        documents: Sequence[Document],
        run: Run,
        before: RunProgress | None = None,
    ) -> None:
        def work(stop: threading.Event, update: Callable[..., RunProgress]) -> None:
            now = initial
            try:
                for event in run(question, answer, settings, documents, stop):
                    if isinstance(event, RunStarted):
                        background.register(event.run_id, self)
                    now = update(**_changes(now, event))
            except BadInput as error:
                rejected, detail = explain(error)
                update(rejected=rejected, detail=detail)

        blank = Report(id="", created_at="", question=question, answer=answer, settings=settings.public(), versions={})
        initial = (
            RunProgress(before.report, before.key, before.version, accepted=True, documents=before.documents)
            if before
            else RunProgress(blank, secrets.token_hex(6), documents=tuple(documents))
        )
        super().__init__("run", initial, work)


def _changes(now: RunProgress, event: Event) -> dict[str, Any]:
    """The fields of the progress that an event changes."""
    changes: dict[str, Any] = {"accepted": True}
    if isinstance(event, ClaimsReady | VerdictReady | Finished):
        changes["version"] = now.version + 1
    report = now.report
    match event:
        case Queued(place):
            return {"stage": "queue", "units": {"queue": (place, 0)}}
        case RunStarted(run_id):
            new: dict[str, Any] = {"id": run_id}
        case StageStarted(stage):
            return changes | {"stage": stage}
        case Progress(stage, done, total):
            return changes | {"stage": stage, "units": {**now.units, stage: (done, total)}}
        case Finished(report):
            return changes | {"report": report}
        case Spent(queries, downloads, seconds):
            used = {"queries": queries, "downloads": downloads, "seconds": seconds}
            new = {"usage": report.usage.model_copy(update=used)}
        case ClaimsReady(claims):
            new = {"claims": claims}
        case PageReady(page):
            new = {"pages": (*report.pages, page)}
        case Failed(failure):
            new = {"failures": (*report.failures, failure)}
        case VerdictReady(verdict, evidence):
            verdicts = {v.claim_id: v for v in report.verdicts} | {verdict.claim_id: verdict}
            others = [e for e in report.evidence if e.claim_id != verdict.claim_id]
            order = {claim.id: place for place, claim in enumerate(report.claims)}
            new = {
                "verdicts": tuple(verdicts[i] for i in order if i in verdicts),
                "evidence": tuple(
                    sorted((e for e in (*others, *evidence) if e.claim_id in order), key=lambda e: order[e.claim_id])
                ),
            }
    return changes | {"report": report.model_copy(update=new)}
