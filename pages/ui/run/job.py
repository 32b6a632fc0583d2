"""One run in the background of one session: a thread that reads the pipeline's events into a report in the making."""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from attribution.errors import AttributionError, BadInput
from attribution.events import (
    ClaimsReady,
    Event,
    Failed,
    Finished,
    PageReady,
    Progress,
    Spent,
    StageStarted,
    VerdictReady,
)
from attribution.settings import Settings
from attribution.types import Document, Evidence, Report, Verdict

Run = Callable[[str, str, Settings, Sequence[Document], threading.Event], Iterator[Event]]


@dataclass(frozen=True)
class State:
    """What is known of a run at one moment."""

    report: Report
    key: str = ""  # of the run in this session
    version: int = 0  # of what is drawn: claims and verdicts
    running: bool = False
    accepted: bool = False  # the first event has come
    stage: str = ""
    progress: dict[str, tuple[int, int]] = field(default_factory=dict)
    seconds: float = 0.0
    stopping: bool = False
    rejected: str = ""  # the input could not be worked with
    broken: str = ""  # the run ended early, with its reason


class Job:
    """Owns its thread, its stop signal and its events; nothing of it is shared."""

    def __init__(
        self,
        question: str,
        answer: str,
        settings: Settings,
        documents: Sequence[Document],
        run: Run,
        before: State | None = None,  # the run that this one goes on from; shown until something new is known
    ) -> None:
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._started = time.monotonic()
        self._evidence: dict[str, tuple[Evidence, ...]] = {}
        self._verdicts: dict[str, Verdict] = {}
        blank = Report(id="", created_at="", question=question, answer=answer, settings=settings.public(), versions={})
        self._state = State(
            before.report if before else blank, before.key if before else secrets.token_hex(6), running=True
        )
        if before:
            self._state = replace(self._state, version=before.version, accepted=True)
        self.documents = tuple(documents)
        self.settings = settings
        self._thread = threading.Thread(
            target=self._work, args=(question, answer, settings, documents, run), name="run", daemon=True
        )
        self._thread.start()

    def stop(self) -> None:
        """Ask the run to end with what it has."""
        self._stop.set()

    def state(self) -> State:
        """A moment's view; values in it are frozen."""
        with self._lock:
            state = self._state
            if state.running:
                state = replace(state, seconds=time.monotonic() - self._started, stopping=self._stop.is_set())
            return state

    def _work(self, question: str, answer: str, settings: Settings, documents: Sequence[Document], run: Run) -> None:
        rejected = broken = ""
        try:
            for event in run(question, answer, settings, documents, self._stop):
                self._take(event)
        except BadInput as error:
            rejected = str(error)
        except AttributionError as error:
            broken = str(error)
        except Exception as error:  # a bug must not leave the page waiting for ever
            broken = f"The run ended early: {type(error).__name__}: {error}. What was found until then is kept."
        with self._lock:
            took = time.monotonic() - self._started
            self._state = replace(self._state, running=False, seconds=took, rejected=rejected, broken=broken)

    def _take(self, event: Event) -> None:
        with self._lock:
            state = replace(self._state, accepted=True)
            report = state.report
            match event:
                case StageStarted(stage):
                    state = replace(state, stage=stage)
                case Progress(stage, done, total):
                    state = replace(state, stage=stage, progress={**state.progress, stage: (done, total)})
                case Spent(queries, downloads, seconds):
                    used = {"queries": queries, "downloads": downloads, "seconds": seconds}
                    report = report.model_copy(update={"usage": report.usage.model_copy(update=used)})
                case ClaimsReady(claims):
                    report = report.model_copy(update={"claims": claims})
                case PageReady(page):
                    report = report.model_copy(update={"pages": (*report.pages, page)})
                case VerdictReady(verdict, evidence):
                    self._verdicts[verdict.claim_id] = verdict
                    self._evidence[verdict.claim_id] = evidence
                    known = [c.id for c in report.claims if c.id in self._verdicts]
                    found = {
                        "verdicts": tuple(self._verdicts[i] for i in known),
                        "evidence": tuple(e for i in known for e in self._evidence[i]),
                    }
                    report = report.model_copy(update=found)
                case Failed(failure):
                    report = report.model_copy(update={"failures": (*report.failures, failure)})
                case Finished(report):
                    pass
            drawn = isinstance(event, ClaimsReady | VerdictReady | Finished)
            self._state = replace(state, report=report, version=state.version + drawn)


class Background:
    """One computation in a thread of its own."""

    def __init__(self, key: object, compute: Callable[[], Any]) -> None:
        self.key, self.done = key, False
        self.value: Any = None
        self._compute = compute
        threading.Thread(target=self._work, name="background", daemon=True).start()

    def _work(self) -> None:
        try:
            self.value = self._compute()
        except Exception:  # a courtesy, such as an estimate: without one its line stays empty
            self.value = None
        self.done = True
