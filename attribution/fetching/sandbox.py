"""Read files in separate processes: content that makes a parser hang, crash or run out of memory
ends only those.

The parent sends bytes and gets JSON back, so that a process taken over by hostile content can
return nothing but text.
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
from collections.abc import Hashable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from typing import IO, Any

from attribution.errors import FetchFailed, StageFailure, Unavailable
from attribution.fair_queue import Turns
from attribution.fetching.content_type import MARKDOWN, PLAIN
from attribution.fetching.formats import extract, reader_of
from attribution.fetching.page import Extracted
from attribution.fetching.picture import Box, Picture, draw

PROCESSES = min(2, os.cpu_count() or 1) + 1  # one more than an owner may use at once
MEMORY = 160_000_000  # bytes one file may take beyond what the process has when it starts
DOCUMENT_SECONDS = 60.0  # for one of the user's files
PICTURE_SECONDS = 20.0  # for a page that is drawn
RUN_SECONDS = 180.0  # for all files of a run
START_SECONDS = 60.0  # for imports on a busy machine; not charged to any file
_LENGTH = struct.Struct(">Q")
_Message = dict[str, Any]


class FileReader:
    """Reads the files of one run or upload.

    They wait in turn with those of others and share a limit in seconds. Readers of the same
    `owner` share a turn; without an owner, each has its own.
    """

    def __init__(self, owner: str = "", seconds: float = math.inf) -> None:
        self._owner: Hashable = owner or self
        self._seconds = self._seconds_left = seconds

    def read(
        self,
        content: bytes,
        media_type: str,
        name: str,
        seconds: float = 0.0,
        document: bool = False,
    ) -> Extracted:
        """Return what `extract` returns, within so many seconds (0: DOCUMENT_SECONDS).

        Waiting for a turn does not count: another file's trouble is not this one's.

        Raises:
            FetchFailed: As `extract` does, or timed_out, budget_spent, or unreadable if the parser
                crashed.
        """
        kind, _ = reader_of(content, media_type, name, document)
        if self._seconds_left <= 0:
            message = (
                f"{name} was not read: reading the others took {self._seconds:g} s; "
                "add fewer documents"
            )
            raise FetchFailed("budget_spent", message, name)
        task = {"media_type": media_type, "name": name, "document": document}
        turns = _text_turns if kind in (PLAIN, MARKDOWN) else _document_turns
        limit = min(seconds or DOCUMENT_SECONDS, self._seconds_left)
        fields = self._run(content, task, turns, limit)["extracted"]
        for field in ("breaks", "types"):
            fields[field] = tuple(fields[field])
        return Extracted(**fields)

    def draw(self, content: bytes, name: str, number: int, sentence: str) -> Picture:
        """Return what `picture.draw` returns, within PICTURE_SECONDS.

        Raises:
            FetchFailed: As `read` does.
        """
        task = {"name": name, "number": number, "sentence": sentence}
        fields = self._run(content, task, _document_turns, PICTURE_SECONDS)["picture"]
        fields["boxes"] = tuple(Box(*box) for box in fields["boxes"])
        return Picture(**fields)

    def _run(self, content: bytes, task: _Message, turns: Turns, seconds: float) -> _Message:
        name = task["name"]
        with _in_turn(turns, self._owner):
            worker = _idle_worker()
            started = time.monotonic()
            try:
                reply = worker.run(task, content, seconds)
                if reply is None:  # it may have died before the request: try a new one
                    reply = _new_worker().run(task, content, seconds)
            finally:
                self._seconds_left -= time.monotonic() - started
        if reply is None:
            message = f"{name} made its parser crash; paste its text as a document"
            raise FetchFailed("unreadable", message, name)
        if "failure" in reply:
            kind, message, subject, detail = reply["failure"]
            raise FetchFailed(kind, message, subject, detail=detail)
        return reply


@contextmanager
def _in_turn(turns: Turns, owner: Hashable) -> Iterator[None]:
    with turns.ticket(owner) as ticket:
        for _ in turns.wait(ticket, threading.Event()):
            pass
        yield


def read(
    content: bytes, media_type: str, name: str, seconds: float = 0.0, document: bool = False
) -> Extracted:
    """Read one file by itself; see `FileReader`."""
    return FileReader().read(content, media_type, name, seconds, document)


def warm() -> None:
    """Start a process if there is none, so that it imports while a page is on its way."""
    _start_worker(1)


# --- the processes, seen from the parent ---


class _Worker:
    """A process, used by one thread at a time."""

    def __init__(self) -> None:
        self._is_ready = False
        self._is_late = False
        self.process = subprocess.Popen(
            [sys.executable, "-m", "attribution.fetching.sandbox"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=Path(__file__).resolve().parents[2],
        )
        _workers.add(self)

    def ready(self) -> bool:
        """Wait for the process to finish its imports; return False if it crashed first."""
        if not self._is_ready:
            timer = self._kill_after(START_SECONDS)
            self._is_ready = self._receive() is not None
            timer.cancel()
        return self._is_ready

    def run(self, task: _Message, content: bytes, seconds: float) -> _Message | None:
        """Return the reply, or None if the process crashed; it becomes idle if it can go on.

        Raises:
            FetchFailed: timed_out; the process is killed.
        """
        reply: _Message | None = None
        timer = self._kill_after(seconds)
        try:
            reply = self._exchange(task, content)
        finally:
            timer.cancel()
            if reply is None or reply.get("full"):
                self.stop()
            else:
                _idle.put(self)
        if self._is_late:
            name = task["name"]
            message = f"{name} could not be read within {seconds:g} s; add only the part you need"
            raise FetchFailed("timed_out", message, name)
        return reply

    def _exchange(self, task: _Message, content: bytes) -> _Message | None:
        assert self.process.stdin
        with suppress(OSError, ValueError):  # it died, or its reply is no JSON
            _send(self.process.stdin, json.dumps(task).encode())
            _send(self.process.stdin, content)
            reply = json.loads(self._receive() or b"null")
            return reply if isinstance(reply, dict) else None
        return None

    def _receive(self) -> bytes | None:
        assert self.process.stdout
        with suppress(OSError):
            return _receive(self.process.stdout)
        return None

    def _kill_after(self, seconds: float) -> threading.Timer:
        def kill() -> None:
            self._is_late = True
            self.process.kill()

        timer = threading.Timer(seconds, kill)
        timer.daemon = True
        timer.start()
        return timer

    def stop(self) -> None:
        """End the process."""
        _workers.discard(self)
        self.process.kill()
        for pipe in (self.process.stdin, self.process.stdout):
            with suppress(OSError):
                if pipe:
                    pipe.close()
        self.process.wait()


_document_turns = Turns(PROCESSES, waiting=sys.maxsize, each=max(1, PROCESSES - 1))
_text_turns = Turns(1, waiting=sys.maxsize)  # quick to read, so they never wait for documents
_idle: queue.LifoQueue[_Worker] = queue.LifoQueue()
_workers: set[_Worker] = set()
_starting = threading.Lock()


def _new_worker() -> _Worker:
    """Start a process and wait for its imports.

    Raises:
        Unavailable: None can start, which is no file's fault.
    """
    worker = _Worker()
    if not worker.ready():
        worker.stop()
        raise Unavailable(
            "the process that reads pages and files cannot start; `python -m "
            "attribution.fetching.sandbox` says why: install the packages again with "
            "`pip install --force-reinstall -r requirements.txt`"
        )
    return worker


def _start_worker(limit: int) -> None:
    """Start a process in the background if there are fewer; it becomes idle after its imports."""
    with _starting:
        if len(_workers) >= limit:
            return
        worker = _Worker()

    def settle() -> None:
        worker.ready()
        _idle.put(worker)

    threading.Thread(target=settle, name="sandbox", daemon=True).start()


def _idle_worker() -> _Worker:
    """Return the first free process: no file waits for a start while another is idle."""
    while True:
        if _idle.empty():
            _start_worker(max(1, _document_turns.counts()[0] + _text_turns.counts()[0]))
        with suppress(queue.Empty):
            worker = _idle.get(timeout=0.2)  # and look again: the last one may have been stopped
            if worker.process.poll() is None:
                return worker
            is_broken = not worker.ready()
            worker.stop()  # it died while idle
            if is_broken:
                return _new_worker()


@atexit.register
def _stop_all() -> None:
    for worker in list(_workers):
        worker.stop()


# --- messages, and the process itself ---


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


def _reply(task: _Message, content: bytes) -> _Message:
    name = task["name"]
    try:
        if "number" in task:
            return {"picture": asdict(draw(content, **task))}
        return {"extracted": asdict(extract(content, **task))}
    except StageFailure as error:
        return {"failure": (error.kind, str(error), error.subject, error.detail)}
    except MemoryError:
        message = f"{name} needs too much memory; add only the part you need"
        return {"failure": ("too_large", message, name, "")}


def _peak_memory() -> int:
    """Return the most bytes that this process has used; 0 where the system can't limit them."""
    try:
        import resource
    except ImportError:  # on Windows
        return 0
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def _limit_memory() -> None:
    with suppress(ImportError, OSError):
        import resource

        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
        limit = pages * resource.getpagesize() + MEMORY
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


def main() -> None:
    """Answer tasks until the parent closes the pipe or is gone."""
    import pypdfium2.raw  # noqa: F401

    extract(b"<p>Imports happen now.</p>", "text/html", "https://example.org/")
    tasks, replies = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    sys.stdout = sys.stderr  # what a library prints must not be taken for a reply
    _limit_memory()
    base = _peak_memory()
    _send(replies, b"{}")
    while True:
        head, content = _receive(tasks), _receive(tasks)
        if head is None or content is None:
            return
        reply = _reply(json.loads(head), content)
        # the memory that a large file leaves behind is freed only when the process ends
        reply["full"] = _peak_memory() > base + MEMORY // 2
        _send(replies, json.dumps(reply).encode())


if __name__ == "__main__":
    main()
