"""Extraction in processes of its own: a page that makes a parser hang, crash or swell costs that process alone.

The parent hands over bytes and gets JSON back, so that a process that a page has taken over can say nothing but text.
"""

from __future__ import annotations

import atexit
import json
import os
import queue
import struct
import subprocess
import sys
import threading
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import IO, Any

from attribution.errors import FetchFailed, StageFailure
from attribution.extraction import documents
from attribution.extraction.html import Extracted, extract

PROCESSES = min(2, os.cpu_count() or 1)
MEMORY = 160_000_000  # bytes a page may take beyond what the process has when it starts
START_SECONDS = 60.0  # imports on a busy machine; no page's clock runs meanwhile
_LENGTH = struct.Struct(">Q")


def read(content: bytes, media_type: str, name: str, seconds: float, document: bool = False) -> Extracted:
    """What `extract` says of the content (of a `document`, whose name decides on its type, what `readers` say), or
    FetchFailed: its own, timed_out, or unreadable where it broke down.

    Waiting for a free process is not part of `seconds`: another page's trouble is not this one's.
    """
    with _slots:
        about = {"media_type": media_type, "name": name, "document": document}
        reply = _ask(_take(), content, about, seconds)
        if reply is None:  # it may have died before it was asked: a new one will tell
            reply = _ask(_Reader(), content, about, seconds)
    if reply is None:
        raise FetchFailed("unreadable", f"{name} made the reader break down; paste its text as a document", name)
    if "failed" in reply:
        kind, message, subject = reply["failed"]
        raise FetchFailed(kind, message, subject)
    extracted = Extracted(**reply["extracted"])
    return Extracted(**{**asdict(extracted), "breaks": tuple(extracted.breaks)})


def _ask(reader: _Reader, content: bytes, about: dict[str, Any], seconds: float) -> dict[str, Any] | None:
    """The reply of one process, which is put back where it can go on; None where it broke down."""
    try:
        reply = reader.ask(about, content, seconds)
    except BaseException:
        reader.stop()
        raise
    if reply is None or reply.get("full"):
        reader.stop()
    else:
        _idle.put(reader)
    if reader.late:
        name = about["name"]
        raise FetchFailed("timed_out", f"{name} was not read within {seconds:.1f} s; add the part you need", name)
    return reply


def warm() -> None:
    """Start a process if none is there, so that it imports what it needs while a page is on its way."""
    _start(1)


class _Reader:
    """One process; asked by one thread at a time."""

    def __init__(self) -> None:
        self.late = False
        self._ready = False
        command = [sys.executable, "-m", "attribution.extraction.sandbox"]
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=Path(__file__).resolve().parents[2],
        )
        _started.add(self)

    def ready(self) -> bool:
        """Wait until it has imported what it needs; False where it broke down before."""
        self._ready = self._ready or self._within(START_SECONDS, _receive) is not None
        return self._ready

    def ask(self, about: dict[str, Any], content: bytes, seconds: float) -> dict[str, Any] | None:
        """The reply, or None where the process died or was stopped after so many seconds."""
        if not self.ready():
            return None

        def talk(pipe: IO[bytes]) -> bytes | None:
            assert self._process.stdin
            for part in (json.dumps(about).encode(), content):
                self._process.stdin.write(_LENGTH.pack(len(part)))
                self._process.stdin.write(part)
            self._process.stdin.flush()
            return _receive(pipe)

        reply = self._within(seconds, talk)
        found = json.loads(reply) if reply else None
        return found if isinstance(found, dict) else None

    def _within(self, seconds: float, talk: Any) -> bytes | None:
        def stop() -> None:
            self.late = True
            self._process.kill()

        timer = threading.Timer(seconds, stop)
        timer.daemon = True
        timer.start()
        try:
            assert self._process.stdout
            reply: bytes | None = talk(self._process.stdout)
            return reply
        except OSError:
            return None
        finally:
            timer.cancel()

    def stop(self) -> None:
        _started.discard(self)
        self._process.kill()
        for pipe in (self._process.stdin, self._process.stdout):
            with suppress(OSError):
                if pipe:
                    pipe.close()
        self._process.wait()


_slots = threading.BoundedSemaphore(PROCESSES)
_idle: queue.LifoQueue[_Reader] = queue.LifoQueue()
_started: set[_Reader] = set()
_starting = threading.Lock()


def _start(most: int) -> None:
    """Start a process in the background where there are fewer; it is idle once it has its imports."""
    with _starting:
        if len(_started) >= most:
            return
        reader = _Reader()

    def settle() -> None:
        reader.ready()
        _idle.put(reader)

    threading.Thread(target=settle, name="reader", daemon=True).start()


def _take() -> _Reader:
    """The process that is free first: no page waits for one to start while another could read it."""
    while True:
        if _idle.empty():
            _start(PROCESSES)
        with suppress(queue.Empty):
            reader = _idle.get(timeout=0.2)  # and look again: the last one may have been stopped
            if reader._process.poll() is None or not reader.ready():
                return reader
            reader.stop()  # it died while nobody asked


@atexit.register
def _stop_all() -> None:
    for reader in list(_started):
        reader.stop()


def _receive(pipe: IO[bytes]) -> bytes | None:
    """The next length-prefixed message; None at the end."""
    head = pipe.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        return None
    body = pipe.read(_LENGTH.unpack(head)[0])
    return body if len(body) == _LENGTH.unpack(head)[0] else None


def _answer(about: dict[str, Any], content: bytes) -> dict[str, Any]:
    name, media_type = about["name"], about["media_type"]
    try:
        read = documents.read(content, name, media_type) if about["document"] else extract(content, media_type, name)
        return {"extracted": asdict(read)}
    except StageFailure as error:
        return {"failed": [error.kind, str(error), error.subject]}
    except MemoryError:
        message = f"{about['name']} needs too much memory to be read; add the part you need as a document"
        return {"failed": ["too_large", message, about["name"]]}


def _bounded() -> int:
    """Limit this process's memory where the system can (not on Windows); the pages it has now, in bytes."""
    try:
        import resource

        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    except (ImportError, OSError):
        return 0
    limit = pages * resource.getpagesize() + MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def main() -> None:
    """The process: read a question, answer, until the parent closes the pipe or is gone."""
    import lxml.html  # type: ignore[import-untyped] # noqa: F401
    import pypdf  # noqa: F401
    import trafilatura  # noqa: F401

    extract(b"<p>What is imported at first use is imported now.</p>", "text/html", "https://example.org/")
    questions, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    sys.stdout = sys.stderr  # a library that prints must not be taken for an answer
    base = _bounded()
    answers.write(_LENGTH.pack(2) + b"{}")
    answers.flush()
    while (head := _receive(questions)) is not None and (content := _receive(questions)) is not None:
        reply = _answer(json.loads(head), content)
        del content
        if base:
            import resource

            # memory that a large page has left behind goes back with the process
            reply["full"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 > base + MEMORY // 2
        body = json.dumps(reply).encode()
        answers.write(_LENGTH.pack(len(body)) + body)
        answers.flush()


if __name__ == "__main__":
    main()
