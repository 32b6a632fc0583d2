"""Extract text in separate processes: content that makes a parser hang, crash or run out of memory
ends only those.

The parent sends bytes and gets JSON back, so a process taken over by hostile content can return
only text.
"""

from __future__ import annotations

import atexit
import json
import math
import os
import queue
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from typing import IO, Any, TypedDict

from attribution.errors import FetchFailed, StageFailure, Unavailable
from attribution.fair_queue import Turns
from attribution.fetching.content_type import MARKDOWN, PLAIN
from attribution.fetching.formats import extract, reader_of
from attribution.fetching.page import Extracted
from attribution.fetching.picture import Picture, draw
from attribution.types import FailureKind

PROCESSES = (
    min(2, os.cpu_count() or 1) + 1
)  # one more than an owner may use, so that nobody waits for one owner alone
MEMORY = 160_000_000  # bytes one page may take beyond what the process has when it starts
DOCUMENT_SECONDS = 60.0  # for one of the user's files …
PICTURE_SECONDS = 20.0  # for a page that is drawn
RUN_SECONDS = 180.0  # … and for all files of a run
START_SECONDS = 60.0  # for imports on a busy machine; not charged to any page
_LENGTH = struct.Struct(">Q")


_Task = dict[str, Any]  # the arguments of `extract` or of `draw`, but for the content


class _Reply(TypedDict, total=False):
    extracted: dict[str, Any]  # the fields of Extracted
    picture: dict[str, Any]  # … or of Picture
    failure: tuple[FailureKind, str, str, str]  # kind, message, subject, detail
    full: bool  # the process has used half of its memory


class Reading:
    """The files of one run or upload: they wait in turn with those of others, and share a limit in
    seconds.

    Readings of the same `owner` share a turn; without an owner, each has its own.
    """

    def __init__(self, owner: str = "", seconds: float = math.inf) -> None:
        self._owner, self._seconds, self._left = owner or self, seconds, seconds

    def read(
        self,
        content: bytes,
        media_type: str,
        name: str,
        seconds: float = 0.0,
        document: bool = False,
    ) -> Extracted:
        """Return what `extract` returns, within so many seconds (0: DOCUMENT_SECONDS).

        Raises FetchFailed as `extract` does, or with timed_out, budget_spent, or unreadable if the
        parser crashed.
        Waiting for a turn does not count: another page's trouble is not this one's.
        """
        kind, _ = reader_of(content, media_type, name, document)
        if self._left <= 0:
            message = f"{name} was not read: reading the others took {self._seconds:g} s; add fewer documents"
            raise FetchFailed("budget_spent", message, name)
        task = {"media_type": media_type, "name": name, "document": document}
        turns = _texts if kind in (PLAIN, MARKDOWN) else _documents
        extracted = self._reply(content, task, turns, min(seconds or DOCUMENT_SECONDS, self._left))[
            "extracted"
        ]
        return Extracted(
            **{
                **extracted,
                "breaks": tuple(extracted["breaks"]),
                "types": tuple(extracted["types"]),
            }
        )

    def draw(self, content: bytes, name: str, number: int, sentence: str) -> Picture:
        """Return what `picture.draw` returns, within PICTURE_SECONDS. Raises FetchFailed as `read`
        does.
        """
        task = {"name": name, "number": number, "sentence": sentence}
        picture = self._reply(content, task, _documents, PICTURE_SECONDS)["picture"]
        return Picture(**{**picture, "boxes": tuple(map(tuple, picture["boxes"]))})

    def _reply(self, content: bytes, task: _Task, turns: Turns, seconds: float) -> _Reply:
        name = task["name"]
        with _in_turn(turns, self._owner):
            worker, started = _take(), time.monotonic()
            try:
                reply = _ask(worker, content, task, seconds)
                if reply is None:  # it may have died before the request: try a new one
                    reply = _ask(_started(), content, task, seconds)
            finally:
                self._left -= time.monotonic() - started
        if reply is None:
            raise FetchFailed(
                "unreadable", f"{name} made its parser crash; paste its text as a document", name
            )
        if "failure" in reply:
            kind, message, subject, detail = reply["failure"]
            raise FetchFailed(kind, message, subject, detail=detail)
        return reply


def read(
    content: bytes, media_type: str, name: str, seconds: float = 0.0, document: bool = False
) -> Extracted:
    """Read one file by itself; see `Reading`."""
    return Reading().read(content, media_type, name, seconds, document)


def warm() -> None:
    """Start a process if there is none, so that it does its imports while a page is on its way."""
    _start(1)


def _started() -> _Worker:
    """Start a process and wait for its imports. Raises Unavailable if none can start, which is no
    page's fault.
    """
    worker = _Worker()
    if not worker.ready():
        worker.stop()
        raise Unavailable(
            "the process that reads pages and files cannot start; `python -m attribution.fetching.sandbox` says why: "
            "install the packages again with `pip install --force-reinstall -r requirements.txt`"
        )
    return worker


def _ask(worker: _Worker, content: bytes, task: _Task, seconds: float) -> _Reply | None:
    """Return the reply of a process, or None if it crashed. A process that can continue becomes
    idle again.
    """
    try:
        reply = worker.ask(task, content, seconds)
    except BaseException:  # whatever the cause, keep no process in the middle of a page
        worker.stop()
        raise
    if reply is None or reply.get("full"):
        worker.stop()
    else:
        _idle.put(worker)
    if worker.late:
        name = task["name"]
        message = f"{name} could not be read within {seconds:g} s; add only the part you need"
        raise FetchFailed("timed_out", message, name)
    return reply


class _Worker:
    """A worker process, used by one thread at a time."""

    def __init__(self) -> None:
        self.late = False
        self._ready = False
        self.process = subprocess.Popen(
            [sys.executable, "-m", "attribution.fetching.sandbox"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=Path(__file__).resolve().parents[2],
        )
        _workers.add(self)

    def ready(self) -> bool:
        """Wait for the process to finish its imports; False if it crashed first."""
        self._ready = self._ready or self._within(START_SECONDS, _receive) is not None
        return self._ready

    def ask(self, task: _Task, content: bytes, seconds: float) -> _Reply | None:
        """Return the reply, or None if the process died or was killed after so many seconds."""
        if not self.ready():
            return None

        def exchange(pipe: IO[bytes]) -> bytes | None:
            assert self.process.stdin
            _send(self.process.stdin, json.dumps(task).encode())
            _send(self.process.stdin, content)
            return _receive(pipe)

        reply = self._within(seconds, exchange)
        value: _Reply | None = json.loads(reply) if reply else None
        return value if isinstance(value, dict) else None

    def _within(
        self, seconds: float, exchange: Callable[[IO[bytes]], bytes | None]
    ) -> bytes | None:
        def kill() -> None:
            self.late = True
            self.process.kill()

        timer = threading.Timer(seconds, kill)
        timer.daemon = True
        timer.start()
        try:
            assert self.process.stdout
            return exchange(self.process.stdout)
        except OSError:
            return None
        finally:
            timer.cancel()

    def stop(self) -> None:
        _workers.discard(self)
        self.process.kill()
        for pipe in (self.process.stdin, self.process.stdout):
            with suppress(OSError):
                if pipe:
                    pipe.close()
        self.process.wait()


_documents = Turns(PROCESSES, waiting=sys.maxsize, each=max(1, PROCESSES - 1))
_texts = Turns(1, waiting=sys.maxsize)  # quick to read, so they never wait for documents
_idle: queue.LifoQueue[_Worker] = queue.LifoQueue()
_workers: set[_Worker] = set()
_starting = threading.Lock()


@contextmanager
def _in_turn(turns: Turns, owner: Hashable) -> Iterator[None]:
    with turns.ticket(owner) as ticket:
        for _ in turns.wait(ticket, threading.Event()):
            pass
        yield


def _start(most: int) -> None:
    """Start a process in the background if there are fewer than `most`; it becomes idle after its
    imports.
    """
    with _starting:
        if len(_workers) >= most:
            return
        worker = _Worker()

    def settle() -> None:
        worker.ready()
        _idle.put(worker)

    threading.Thread(target=settle, name="sandbox", daemon=True).start()


def _take() -> _Worker:
    """Return the first free process, so that no page waits for a start while another process is
    idle.
    """
    while True:
        if _idle.empty():
            _start(max(1, _documents.counts()[0] + _texts.counts()[0]))
        with suppress(queue.Empty):
            worker = _idle.get(timeout=0.2)  # and look again: the last one may have been stopped
            if worker.process.poll() is None or not worker.ready():
                return worker
            worker.stop()  # it died while idle


@atexit.register
def _stop_all() -> None:
    for worker in list(_workers):
        worker.stop()


def _send(pipe: IO[bytes], message: bytes) -> None:
    pipe.write(_LENGTH.pack(len(message)) + message)
    pipe.flush()


def _receive(pipe: IO[bytes]) -> bytes | None:
    """Return the next length-prefixed message, or None at the end."""
    head = pipe.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        return None
    (length,) = _LENGTH.unpack(head)
    body = pipe.read(length)
    return body if len(body) == length else None


def _reply(task: _Task, content: bytes) -> _Reply:
    try:
        if "number" in task:
            return {"picture": asdict(draw(content, **task))}
        return {"extracted": asdict(extract(content, **task))}
    except StageFailure as error:
        return {"failure": (error.kind, str(error), error.subject, error.detail)}
    except MemoryError:
        name = task["name"]
        return {
            "failure": (
                "too_large",
                f"{name} needs too much memory; add only the part you need",
                name,
                "",
            )
        }


def _limit_memory() -> int:
    """Limit this process's memory and return the bytes it uses now; 0 where the system cannot (on
    Windows).
    """
    try:
        import resource

        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    except (ImportError, OSError):
        return 0
    limit = pages * resource.getpagesize() + MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def main() -> None:
    """Run the worker process: answer tasks until the parent closes the pipe or is gone."""
    import pypdfium2.raw  # noqa: F401

    extract(
        b"<p>What is imported at first use is imported now.</p>",
        "text/html",
        "https://example.org/",
    )
    tasks, replies = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    sys.stdout = sys.stderr  # what a library prints must not be taken for a reply
    base = _limit_memory()
    _send(replies, b"{}")
    while (head := _receive(tasks)) is not None and (content := _receive(tasks)) is not None:
        reply = _reply(json.loads(head), content)
        del content
        if base:
            import resource

            # the memory that a large page leaves behind is freed only when the process ends
            reply["full"] = (
                resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 > base + MEMORY // 2
            )
        _send(replies, json.dumps(reply).encode())


if __name__ == "__main__":
    main()
