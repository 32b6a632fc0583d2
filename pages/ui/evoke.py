"""The parts of the Evoked errors page: the job, its saved state, the result."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from attribution.errors import BadInput, NotYours
from attribution.files import parse_rows
from attribution.llm.client import Llm
from attribution.reports.html import Child, Node, el, plural
from attribution.store.runs import new_run_id
from attribution.studies.groundedness.test_sets import (
    EvokedSet,
    Grounded,
    Made,
    load,
    make,
    of_report,
    read,
    save,
)
from attribution.studies.groundedness.twins import ERROR_TYPES
from attribution.types import Span
from pages.ui import background, choices, state, thresholds
from pages.ui import run as run_state
from pages.ui.slot import Slot, store

Make = Callable[[Sequence[Grounded]], Iterator[tuple[list[Made], list[str]]]]
SAVED = 2.0  # seconds between two saved states, the most that a kill can lose


@dataclass(frozen=True)
class MakeProgress(background.Progress):
    """The state of the set at one moment."""

    set: EvokedSet

    @property
    def total(self) -> int:
        return len(self.set.answers)


class MakeJob(background.Job[MakeProgress]):
    """The job that makes the set. Stopping it keeps the answers that are done."""

    def __init__(self, id: str, begun: EvokedSet, make: Make, save: Callable[[EvokedSet], None]) -> None:
        """`begun` has the answers, and those already altered by an earlier start."""
        self.id = id

        def work(stop: threading.Event, update: Callable[..., MakeProgress]) -> None:
            grown, saved = begun, time.monotonic()
            save(grown)
            try:
                for answer in begun.answers[begun.done :]:
                    if stop.is_set():
                        return
                    for rows, problems in make([answer]):
                        grown = grown.with_answer(rows, [f"{answer.id}: {problem}" for problem in problems])
                        update(set=grown)
                    if time.monotonic() - saved > SAVED:
                        save(grown)
                        saved = time.monotonic()
            finally:
                save(grown)

        super().__init__("evoke", MakeProgress(set=begun), work)
        background.register(id, self)


LIMIT = 1000  # answers per file
RESULT = Slot[MakeJob, MakeProgress]("evoke")
is_running, notice = RESULT.is_running, RESULT.notice


def of_last_run() -> Grounded | None:
    """Return the supported sentences of the session's last run; None if there are none."""
    now = run_state.current()
    if now is None or now.running or not now.report.id:
        return None
    try:
        return of_report(thresholds.shown(now.report))
    except BadInput:
        return None


def of_file(content: bytes) -> tuple[list[Grounded], list[str]]:
    """Return the grounded answers of a file and the problems of other lines. Raises BadInput if it has no lines."""
    answers: list[Grounded] = []
    problems: list[str] = []
    rows = parse_rows(content, ["response"], ["question"])
    if len(rows) > LIMIT:
        raise BadInput(f"the file has {len(rows):,} answers, and one set takes {LIMIT:,}: split the file")
    for row in rows:
        try:
            answers.append(read(row))
        except BadInput as error:
            problems.append(f"line {row.line}: {error}")
    return answers, problems


def llm_ready() -> bool:
    """Return True if a language model is configured in this session."""
    current = choices.endpoint()
    return not isinstance(current, str) and current.has_llm


def start(answers: Sequence[Grounded], kinds: Sequence[str], seed: int, by_llm: bool) -> None:
    """Make the set."""
    if not is_running():
        _begin(new_run_id(), EvokedSet(tuple(answers), tuple(kinds), seed, by_llm))


def go_on() -> None:
    """Alter the remaining answers, with the options of the first start."""
    if (now := current()) and not is_running():
        _begin(_shown_id(), now.set)


def _begin(id: str, begun: EvokedSet) -> None:
    settings = choices.endpoint()
    if isinstance(settings, str):
        return
    database = store()

    def work(grounded: Sequence[Grounded]) -> Iterator[tuple[list[Made], list[str]]]:
        return make(grounded, begun.kinds, begun.seed, Llm(settings, database) if begun.by_llm else None)

    RESULT.start(MakeJob(id, begun, work, partial(save, database, id)))


def show(id: str) -> None:
    """Show the set named in the address, saved or in progress."""
    if not RESULT.running(id) and (found := RESULT.saved(lambda database: load(database, id))):
        RESULT.show(MakeProgress(set=found, running=False))


def owns() -> bool:
    return RESULT.owns("evoked")


def copy() -> None:
    RESULT.copy("evoked", show)


def current() -> MakeProgress | None:
    """Return the set to show: the one started last, or else the one in the address."""
    job = RESULT.job()
    if job is None:
        return RESULT.shown()
    state.show_address(evoked=job.id)
    now = job.progress()
    if not now.running:  # from here on it can be labelled
        RESULT.start(None)
        RESULT.show(now)
    return now


def label(row_id: str, error_type: str) -> None:
    """Set the error type of a row by hand, and save it."""
    if (now := current()) and not now.running:
        labelled = now.set.with_label(row_id, error_type)
        try:
            save(store(), _shown_id(), labelled)
        except NotYours as error:
            RESULT.refuse(str(error))
            return
        RESULT.show(replace(now, set=labelled))


def _shown_id() -> str:
    return str(state.address("evoked").get("evoked") or new_run_id())


AROUND = 160  # characters before and after a change


def type_word(name: str) -> str:
    """Return an error type in plain words."""
    return name.replace("_", " ").capitalize() if name in ERROR_TYPES else "Not labelled"


def twin(made: Made) -> Node:
    """Draw one twin: the original words, and their replacement."""
    assert made.twin is not None
    t = made.twin
    before = el("p", *_marked(made.grounded.response, t.original, "del"), dir="auto")
    after = el("p", *_marked(t.response, t.changed, "strong"), dir="auto")
    head = el("p", el("strong", t.kind.capitalize()), f" · {made.id}", class_="ax-quiet")
    return el("div", head, before, after, class_="ax-twin")


def _marked(text: str, spans: Sequence[Span], tag: str) -> list[Child]:
    """Mark the spans in the surrounding text."""
    first, last = max(0, spans[0][0] - AROUND), min(len(text), spans[-1][1] + AROUND)
    parts: list[Child] = ["… " if first else ""]
    at = first
    for start, end in spans:
        parts += [text[at:start], el(tag, text[start:end], class_="ax-changed")]
        at = end
    return [*parts, text[at:last], " …" if last < len(text) else ""]


def summary(made: Sequence[Made]) -> str:
    """Return the number of rows of each kind, in words."""
    twins = [m for m in made if m.twin]
    kinds = [m.twin.kind for m in twins if m.twin]
    counts = ", ".join(f"{kinds.count(kind)} {kind}" for kind in dict.fromkeys(kinds))
    grounded = plural(len(made) - len(twins), "grounded answer")
    return f"{grounded}, {plural(len(twins), 'twin')}{f': {counts}' if counts else ''}."


def as_lines(made: Sequence[Made]) -> str:
    """Return the set as JSON Lines."""
    return "".join(json.dumps(m.fields(), ensure_ascii=False) + "\n" for m in made)
