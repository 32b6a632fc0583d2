"""Read many answers, and work them off one after another.

They come from a file (CSV, XLSX or JSON Lines) or from a pasted text, and wait in the database: a
thread works them off, and a new server process goes on with them.
"""

from __future__ import annotations

import csv
import io
import logging
import re
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cache, partial
from typing import NamedTuple

from attribution.errors import AttributionError, BadInput, Busy, FetchFailed, NotYours
from attribution.events import ClaimsReady, Event, VerdictReady
from attribution.fetching.sandbox import FileReader
from attribution.pipeline.permissions import of_saved_run
from attribution.settings import LIMITS, Settings
from attribution.store.history import clean_tags
from attribution.store.runs import QueuedRun, new_run_id
from attribution.store.store import Store
from attribution.text_files import Row, decoded, parse_rows
from attribution.types import Document, Report

ATTEMPTS = 3  # to finish a run, while each of them ends the process
PAUSE = 5.0  # seconds until a run that found the server busy is tried again
_log = logging.getLogger(__name__)


def enqueue(store: Store, answers: Sequence[NewAnswer], settings: Settings) -> list[str]:
    """Save answers as runs that wait in the queue, each of them as soon as it is reached.

    Args:
        store: The database, acting for the owner of the runs.
        answers: Their own sources, if they name any, replace those of the settings.
        settings: The settings of all runs.

    Returns:
        The ids of the runs.

    Raises:
        BadInput: The owner's runs take too much of the disk.
    """
    ids: list[str] = []
    for answer in answers:
        sources = answer.sources or settings.sources
        if answer.documents:
            sources = tuple(dict.fromkeys((*sources, "documents")))
        own_settings = settings.model_copy(update={"sources": sources})
        blank = Report(
            id=new_run_id(),
            created_at=datetime.now(UTC).isoformat(),  # exact, for the order of the list
            question=answer.question,
            answer=answer.answer,
            settings=own_settings.public(),
            versions={},
        )
        store.runs.start(blank)
        store.runs.save_documents(blank.id, answer.documents)
        store.history.describe(blank.id, answer.title, answer.tags, "")
        store.queue.add(blank.id)
        ids.append(blank.id)
    return ids


@dataclass
class Working:
    """The run that is being worked off.

    Attributes:
        total: The number of claims that are compared with the sources; 0 until they are known.
    """

    run_id: str
    stop: threading.Event = field(default_factory=threading.Event)
    started: float = field(default_factory=time.monotonic)
    done: int = 0
    total: int = 0

    def count(self, event: Event) -> None:
        """Count the claims and verdicts of an event."""
        if isinstance(event, ClaimsReady):
            self.total = sum(claim.checked for claim in event.claims)
        elif isinstance(event, VerdictReady) and event.evidence:
            self.done = min(self.done + 1, self.total)

    def seconds_left(self) -> float | None:
        """Return the seconds left at the pace so far; None until a claim is done."""
        if not self.done:
            return None
        elapsed = time.monotonic() - self.started
        return elapsed / self.done * (self.total - self.done)


class QueueWorker:
    """Runs what waits in the queue of a database, in one thread of this process."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self.current: Working | None = None

    def wake(self) -> None:
        """Go on with the queue, unless that is being done already."""
        with self._lock:
            if not (self._thread and self._thread.is_alive()):
                self._thread = threading.Thread(target=self._work, name="queue", daemon=True)
                self._thread.start()

    def stop(self, run_id: str) -> bool:
        """End a run with the results it has; False if it is not the one being worked off."""
        current = self.current
        if current is None or current.run_id != run_id:
            return False
        current.stop.set()
        return True

    def _work(self) -> None:
        store = Store.open(self._url)
        while True:
            with self._lock:  # whoever adds a run later wakes a new thread
                queued = store.queue.next()
                if queued is None:
                    self._thread = None
                    return
            self.current = Working(queued.run_id)
            try:
                self._finish(queued, Store(store.database, owner=queued.owner), self.current)
            finally:
                self.current = None

    def _finish(self, queued: QueuedRun, store: Store, working: Working) -> None:
        """Finish a run, or keep why that was not possible."""
        from attribution.fair_queue import in_turn
        from attribution.pipeline.run import run  # takes seconds: not while pages wait

        runs = store.runs
        if queued.attempts >= ATTEMPTS:
            store.queue.fail(queued.run_id, f"The server ended {ATTEMPTS} times during this run.")
            return
        store.queue.begin(queued.run_id)
        try:
            known = runs.load(queued.run_id, unfinished=True) or runs.load(queued.run_id)
            if known is None:  # deleted meanwhile
                return
            start = partial(
                run,
                known.question,
                known.answer,
                of_saved_run(known.settings, Settings.from_environment()),
                store,
                runs.documents(known.id),
                working.stop,
                run_id=known.id,
                context=known.context,
            )
            for event in in_turn(queued.owner, working.stop, start):
                working.count(event)
        except Busy:
            with suppress(NotYours):  # deleted meanwhile
                store.queue.add(queued.run_id)
            working.stop.wait(PAUSE)
        except AttributionError as error:
            store.queue.fail(queued.run_id, error.public())
        except Exception:
            _log.exception("a run of the queue failed")
            store.queue.fail(queued.run_id, "An unexpected error. The log of the server has it.")
        else:
            store.queue.remove(queued.run_id)  # it was stopped before its turn


@cache
def queue_worker(url: str) -> QueueWorker:
    """Return the worker of this process for the queue of a database."""
    return QueueWorker(url)


# --- answers of a file ---

MOST = 1_000  # answers of one file
ROWS = 2_000  # of a sheet, blank ones included
# Below a blank line, or three signs alone: a longer line below words makes them a heading
SEPARATOR = re.compile(r"(?:(?:^|\n[^\S\n]*)\n={3,}|\n===)[ \t]*(?=\n)")
csv.field_size_limit(2**31 - 1)  # the size of a file is limited
_PARTS = re.compile(r"[;\n]")  # of a cell with several sources or tags
SHEET = b"PK\x03\x04"  # how a workbook begins


@dataclass(frozen=True)
class NewAnswer:
    """An answer to check.

    Without sources of its own, it is checked against those chosen for all.
    """

    answer: str
    question: str = ""
    title: str = ""
    sources: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    documents: tuple[Document, ...] = ()

    def beside(self, documents: Sequence[Document]) -> NewAnswer:
        """Return the answer with these documents, unless it names sources of its own."""
        return self if self.sources else replace(self, documents=tuple(documents))


class AnswerFile(NamedTuple):
    """The answers of a file, and what is wrong with its other rows."""

    answers: tuple[NewAnswer, ...]
    problems: tuple[str, ...] = ()  # each names its row


def pasted_answers(text: str) -> AnswerFile:
    """Return the answers of a text, which a line of three or more equals signs separates.

    Raises:
        BadInput: There is no answer in it.
    """
    parts = enumerate(SEPARATOR.split(f"\n{text}\n"), 1)
    return _checked(Row(number, {"answer": part}) for number, part in parts if part.strip())


def read_answers(content: bytes, reading: FileReader) -> AnswerFile:
    """Return the answers of a file with a column or field "answer", one a row.

    "question", "title", "sources" and "tag" are optional; several sources or tags are separated by
    semicolons. A bad row leaves the others unaffected.

    Raises:
        BadInput: The file cannot be read, or has no answer.
    """
    if content.startswith(SHEET):
        try:
            lines = reading.rows(content, "the workbook", ROWS)
        except FetchFailed as error:
            raise BadInput(f"{error}, or save it as CSV") from error
        return _checked(_table_rows(iter(lines)))
    beginning = content.lstrip(b"\xef\xbb\xbf \r\n\t")
    if beginning.startswith(b"{"):
        return _checked(parse_rows(content, ["answer"]))
    return _checked(_table_rows(_csv_lines(content)))


def _csv_lines(content: bytes) -> Iterator[list[str]]:
    text = decoded(content)
    head = text.partition("\n")[0]
    delimiter = max(",;\t", key=head.count)
    file = io.StringIO(text, newline="")
    try:
        yield from csv.reader(file, delimiter=delimiter, strict=True)
    except csv.Error as error:
        raise BadInput(f"the file is no CSV ({error}): save it again") from None


def _table_rows(lines: Iterator[list[str]]) -> Iterator[Row]:
    """Yield a row for each line below the heads; blank lines are left out."""
    heads = [head.strip().casefold() for head in next(lines, [])]
    if "answer" not in heads:
        raise BadInput("the file has no column “answer”: name it in the first row")
    for number, cells in enumerate(lines, 2):
        if any(cell.strip() for cell in cells):
            yield Row(number, dict(zip(heads, cells, strict=False)))


def _checked(rows: Iterable[Row]) -> AnswerFile:
    """Return the answers of rows, and the problems of those that have none."""
    answers: list[NewAnswer] = []
    problems: list[str] = []
    for row in rows:
        try:
            answer = _answer(row)
        except BadInput as error:
            problems.append(f"Row {row.line}: {error}")
            continue
        answers.append(answer)
        if len(answers) > MOST:
            raise BadInput(f"more than {MOST:,} answers: split the file")
    if not answers:
        raise BadInput(problems[0] if problems else "there is no answer in it")
    return AnswerFile(tuple(answers), tuple(problems))


def _answer(row: Row) -> NewAnswer:
    if row.error:
        raise BadInput(row.error)
    answer = _text(row.fields, "answer")
    if not answer:
        raise BadInput("the answer is empty")
    if len(answer) > LIMITS.answer:
        raise BadInput(f"the answer has more than {LIMITS.answer:,} characters: shorten it")
    return NewAnswer(
        answer,
        question=_text(row.fields, "question"),
        title=_text(row.fields, "title"),
        sources=tuple(_listed(row.fields, "sources")),
        tags=tuple(clean_tags(_listed(row.fields, "tag"))),
    )


def _text(fields: Mapping[str, object], name: str) -> str:
    """Return a cell. Raises BadInput for JSON that is not text."""
    value = fields.get(name) or ""
    if not isinstance(value, str):
        raise BadInput(f"“{name}” is not text")
    return value.strip()


def _listed(fields: Mapping[str, object], name: str) -> list[str]:
    """Return the parts of a cell, or of a list in JSON."""
    value = fields.get(name) or ""
    parts = value if isinstance(value, list) else _PARTS.split(str(value))
    stripped = [str(part).strip() for part in parts]
    return [part for part in stripped if part]
