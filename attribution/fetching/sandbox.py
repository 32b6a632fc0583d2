"""Read files in processes of their own: content that makes a parser hang, crash or run out of
memory ends only its process.

A server process imports the parsers once and forks a child for each file. The parent sends bytes
and gets JSON back, so that a child taken over by hostile content can return nothing but text.
"""

from __future__ import annotations

import atexit
import ctypes
import json
import os
import resource
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Hashable
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from attribution.errors import FetchFailed, Unavailable
from attribution.fair_queue import Turns
from attribution.fetching.formats import EXTRACTED, extract
from attribution.fetching.office import first_sheet
from attribution.fetching.page import Extracted
from attribution.fetching.pdf import Picture, draw

PROCESSES = min(2, os.cpu_count() or 1) + 1  # one more than an owner may use at once
MEMORY = 160_000_000  # bytes one file may take beyond what the server has imported
MAX_REPLY = 100_000_000  # bytes
OPEN_FILES = 64
DOCUMENT_SECONDS = 60.0  # for one of the user's files
PICTURE_SECONDS = 20.0  # for a page that is drawn
RUN_SECONDS = 180.0  # for all files of a run
START_SECONDS = 60.0  # for imports on a busy machine; not charged to any file
GRACE_SECONDS = 2.0  # a child that is over its time ends itself before it is given up
ENVIRONMENT = ("PATH", "PYTHONPATH", "LD_LIBRARY_PATH", "LANG", "LC_ALL", "TZ")  # no keys
_NEVER = threading.Event()  # nobody stops the reading of a file
_KILL_WITH_PARENT = 1  # PR_SET_PDEATHSIG
_C = ctypes.CDLL(None)
_BLOCK = 65_536
_Message = dict[str, Any]
_PICTURE = TypeAdapter(Picture)
# What is read before any fork, so that no child has to load what all of them need: lists of domains
# for a short address, the reader of Markdown, which makes HTML.
FIRST = (
    (b"<title>A page</title><p>Imports happen now.</p>", "text/html", "https://x.org/"),
    (b"# A page\n\n- With a list.\n", "text/markdown", "page.md"),
)
_WORK: dict[str, Callable[..., object]] = {"read": extract, "rows": first_sheet, "draw": draw}


class FileReader:
    """Reads the files of one run or upload.

    They wait in turn with those of others.

    Args:
        owner: Readers of the same owner share a turn; one without an owner has its own.
        seconds: Limit for all files together.
    """

    def __init__(self, owner: str, seconds: float) -> None:
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
        if self._seconds_left <= 0:
            message = (
                f"{name} was not read: reading the others took {self._seconds:g} s; "
                "add fewer documents"
            )
            raise FetchFailed("budget_spent", message, name)
        limit = min(seconds or DOCUMENT_SECONDS, self._seconds_left)
        reply = self._run(
            content, limit, work="read", name=name, media_type=media_type, document=document
        )
        return EXTRACTED.validate_python(reply)

    def rows(self, content: bytes, name: str, number: int) -> list[list[str]]:
        """Return what `office.first_sheet` returns, within DOCUMENT_SECONDS.

        Raises:
            FetchFailed: As `read` does.
        """
        rows: list[list[str]] = self._run(
            content, DOCUMENT_SECONDS, work="rows", name=name, rows=number
        )
        return rows

    def draw(self, content: bytes, name: str, number: int, sentence: str) -> Picture:
        """Return what `pdf.draw` returns, within PICTURE_SECONDS.

        Raises:
            FetchFailed: As `read` does.
        """
        reply = self._run(
            content, PICTURE_SECONDS, work="draw", name=name, number=number, sentence=sentence
        )
        return _PICTURE.validate_python(reply)

    def _run(self, content: bytes, seconds: float, name: str, **task: object) -> Any:
        with turns.ticket(self._owner) as ticket:
            for _ in turns.wait(ticket, _NEVER):
                pass
            child = _connect()
            self._seconds_left -= seconds  # until it is known how many are needed
            started = time.monotonic()
            reply = _ask(child, task | {"name": name, "seconds": seconds}, content)
            spent = time.monotonic() - started
            self._seconds_left += seconds - spent
        if reply is None and spent >= seconds:
            message = f"{name} could not be read within {seconds:g} s; add only the part you need"
            raise FetchFailed("timed_out", message, name)
        if reply is None:
            message = f"{name} made its parser crash; paste its text as a document"
            raise FetchFailed("unreadable", message, name)
        if "failure" in reply:
            kind, message, detail = reply["failure"]
            raise FetchFailed(kind, message, name, detail=detail)
        return reply["result"]


turns = Turns(PROCESSES, waiting=sys.maxsize, each=max(1, PROCESSES - 1))


# --- the server, seen from the parent ---


class _Server:
    def __init__(self) -> None:
        self.control, theirs = socket.socketpair()
        kept = {name: os.environ[name] for name in ENVIRONMENT if name in os.environ}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "attribution.fetching.sandbox"],
            stdin=theirs.fileno(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=Path(__file__).resolve().parents[2],
            env=kept | {"OPENBLAS_NUM_THREADS": "1"},
        )
        theirs.close()
        self.is_ready = False

    def stop(self) -> None:
        """End the server and with it its children."""
        self.process.kill()
        self.control.close()
        self.process.wait()


servers: list[_Server] = []  # at most one
_starting = threading.Lock()


def warm() -> _Server:
    """Start the server if there is none, so that it imports while a page is on its way."""
    with _starting:
        if servers and servers[0].process.poll() is not None:
            servers.pop().stop()
        if not servers:
            servers.append(_Server())
        return servers[0]


def _connect() -> socket.socket:
    """Return a connection to a new child of the server.

    Raises:
        Unavailable: The server cannot start, which is no file's fault.
    """
    server = warm()
    ours, theirs = socket.socketpair()
    ours.settimeout(START_SECONDS)
    with suppress(OSError):
        with theirs:
            socket.send_fds(server.control, [b"."], [theirs.fileno()])
        server.is_ready = bool(ours.recv(1)) or server.is_ready
    if server.is_ready:  # where it has died since, the child's silence says so
        return ours
    ours.close()
    server.stop()
    raise Unavailable(
        "the process that reads pages and files cannot start; `python -m "
        "attribution.fetching.sandbox` says why: install the packages again with "
        "`pip install --force-reinstall -r requirements.txt`"
    )


def _ask(child: socket.socket, task: _Message, content: bytes) -> _Message | None:
    """Return the reply, or None if the child crashed or its time was over."""
    seconds = task["seconds"] + GRACE_SECONDS
    end = time.monotonic() + seconds
    with child, suppress(OSError, ValueError):  # it died, or its reply is no JSON
        child.settimeout(seconds)
        child.sendall(json.dumps(task).encode() + b"\n")
        child.sendall(content)
        child.shutdown(socket.SHUT_WR)
        reply = json.loads(_received(child, end))
        return reply if isinstance(reply, dict) else None
    return None


@atexit.register
def _stop_server() -> None:
    for server in servers:
        server.stop()


def _received(connection: socket.socket, end: float) -> bytes:
    """Return all that is sent until a time of the monotonic clock.

    Raises:
        OSError: The time is over, or more than MAX_REPLY is sent.
    """
    reply = bytearray()
    while True:
        connection.settimeout(max(0.01, end - time.monotonic()))
        part = connection.recv(_BLOCK)
        if not part:
            return bytes(reply)
        reply += part
        if len(reply) > MAX_REPLY:
            raise OSError("the reply is too long")


# --- the server and its children ---


def main() -> None:
    """Fork a child for each connection that comes, until the parent is gone."""
    import openpyxl  # noqa: F401
    import pypdfium2.raw  # noqa: F401

    for content, media_type, name in FIRST:
        extract(content, media_type, name)
    control = socket.socket(fileno=sys.stdin.fileno())
    signal.signal(signal.SIGCHLD, _reap)
    while True:
        message, files, _, _ = socket.recv_fds(control, 1, 1)
        if not message:
            return
        with socket.socket(fileno=files[0]) as connection:
            if os.fork() == 0:
                control.close()
                _answer(connection)
                os._exit(0)


def _reap(*_: object) -> None:
    """Let children that have ended go; the server's processor time has theirs."""
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def _answer(connection: socket.socket) -> None:
    connection.sendall(b".")
    with connection.makefile("rb") as request:
        task = json.loads(request.readline())
        _limit(task.pop("seconds"))
        reply = _reply(content=request.read(), **task)
    written = json.dumps(reply, ensure_ascii=False, default=asdict)
    connection.sendall(written.encode("utf-8", "surrogatepass"))


def _limit(seconds: float) -> None:
    """End this process with the server's, or with its time; limit its memory and what it opens."""
    with suppress(AttributeError):  # Linux alone has it
        _C.prctl(_KILL_WITH_PARENT, signal.SIGKILL)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    limits = {
        resource.RLIMIT_CPU: int(seconds) + 1,
        resource.RLIMIT_NOFILE: OPEN_FILES,
        resource.RLIMIT_NPROC: 0,
        resource.RLIMIT_FSIZE: 0,
        resource.RLIMIT_CORE: 0,
    }
    with suppress(OSError):  # Linux alone says how much is used
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
        limits[resource.RLIMIT_AS] = pages * resource.getpagesize() + MEMORY
    for kind, limit in limits.items():
        with suppress(OSError, ValueError):
            resource.setrlimit(kind, (limit, limit))


def _reply(work: str, content: bytes, name: str, **task: Any) -> _Message:
    try:
        return {"result": _WORK[work](content, name=name, **task)}
    except FetchFailed as error:
        message = str(error) if error.subject else f"{name} {error}"
        return {"failure": (error.kind, message, error.detail)}
    except MemoryError:
        message = f"{name} needs too much memory; add only the part you need"
        return {"failure": ("too_large", message, "")}


if __name__ == "__main__":
    main()
