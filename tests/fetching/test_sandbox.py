import os
import resource
import subprocess
import sys
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from attribution.errors import FetchFailed
from attribution.fetching import sandbox
from tests.fetching.test_formats import docx, epub
from tests.make import reading
from tests.servers import pdf_file


def slow_pdf() -> bytes:
    """A small file of 200 pages that share one long stream of text operators."""
    stream = zlib.compress(b"BT /F 9 Tf " + b"1 0 0 1 5 5 Tm (word) Tj " * 40_000 + b"ET")
    return pdf_file(
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Count 200 /Kids [{' '.join(['3 0 R'] * 200)}] >>",
        (
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 99 99] /Contents 4 0 R /Resources << "
            "/Font << /F 5 0 R >> >> >>"
        ),
        f"<< /Filter /FlateDecode /Length {len(stream)} >> stream\n".encode()
        + stream
        + b"\nendstream",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    )


def large_docx() -> bytes:
    return docx("<w:p/>" * 8_000_000)


def large_epub() -> bytes:
    return epub("a.xhtml", **{"O__a.xhtml": "<html><body>" + "<p>a" * 10_000_000})


@pytest.mark.parametrize(
    ("name", "make", "kind"),
    [
        ("slow.pdf", slow_pdf, "timed_out"),
        ("large.docx", large_docx, "too_large"),
        ("large.epub", large_epub, "too_large"),
    ],
)
def test_a_hostile_file_costs_neither_time_nor_memory(
    name: str, make: Callable[[], bytes], kind: str
) -> None:
    content = make()
    seconds = 2.0 if kind == "timed_out" else sandbox.DOCUMENT_SECONDS
    reading().read(b"a", "text/plain", "warm")
    before, started = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.monotonic()
    with pytest.raises(FetchFailed, match=name) as failed:
        reading().read(content, "", name, seconds, document=True)
    assert failed.value.kind == kind
    assert time.monotonic() - started < seconds + 10
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 50_000  # kB


def test_a_parser_that_hangs_or_dies_costs_its_page_alone() -> None:
    nested = b"<html><body>" + b"<table><tr><td>" * 60 + b"<p>a b</p><ul><li>x</li></ul>" * 60_000
    with pytest.raises(FetchFailed) as caught:
        reading().read(nested, "text/html", "https://slow.example/", 0.2)
    assert caught.value.kind == "timed_out"
    for server in sandbox.servers:
        server.process.kill()
        server.process.wait()
    assert reading().read(b"<p>The Nile flows north.", "text/html", "a").text.endswith("north.")


def relatives(pid: int) -> list[int]:
    """Return the processes that descend from one."""
    parents: dict[int, int] = {}
    for folder in Path("/proc").iterdir():
        with suppress(OSError, ValueError):
            state = (folder / "stat").read_text().rpartition(")")[2].split()
            parents[int(folder.name)] = int(state[1])
    found = [pid]
    for ancestor in found:
        found += [child for child, parent in parents.items() if parent == ancestor]
    return found[1:]


def reading_process(path: Path) -> subprocess.Popen[bytes]:
    """Start a process that reads a slow PDF, with a key in its environment."""
    script = (
        "import sys; from attribution.fetching.sandbox import FileReader\n"
        "content = open(sys.argv[1], 'rb').read()\n"
        "FileReader('', 60).read(content, 'application/pdf', 'slow.pdf')"
    )
    environment = os.environ | {"OPENAI_API_KEY": "secret-key"}
    return subprocess.Popen([sys.executable, "-c", script, path], env=environment)


Readers = tuple[subprocess.Popen[bytes], list[int]]


@pytest.fixture
def readers(tmp_path: Path) -> Iterator[Readers]:
    """A process that reads a file, and the server and child that read it."""
    (tmp_path / "slow.pdf").write_bytes(slow_pdf())
    process = reading_process(tmp_path / "slow.pdf")
    pids: list[int] = []
    while len(pids) < 2:
        time.sleep(0.1)
        pids = relatives(process.pid)
    yield process, pids
    process.kill()
    process.wait()


def is_alive(pid: int) -> bool:
    with suppress(OSError):
        return "Z" not in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    return False


def test_no_reader_outlives_a_killed_process(
    readers: Readers,
) -> None:
    process, pids = readers
    process.kill()
    process.wait()
    deadline = time.monotonic() + 10
    while any(map(is_alive, pids)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not any(map(is_alive, pids))


def test_a_reader_has_no_keys_and_is_limited(
    readers: Readers,
) -> None:
    _, (server, child) = readers
    assert b"secret-key" not in Path(f"/proc/{server}/environ").read_bytes()
    deadline = time.monotonic() + 10
    limits: dict[str, str] = {}
    while limits.get("Max processes") != "0" and time.monotonic() < deadline:
        for line in Path(f"/proc/{child}/limits").read_text().splitlines():
            limits[line[:26].strip()] = line[26:].split()[0]
    assert limits["Max processes"] == "0"
    assert limits["Max file size"] == "0"
    assert limits["Max open files"] == str(sandbox.OPEN_FILES)
    assert int(limits["Max cpu time"]) <= sandbox.DOCUMENT_SECONDS + 1
    assert limits["Max address space"] != "unlimited"
