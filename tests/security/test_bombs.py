"""Small files that swell: limits count what is unpacked and what it becomes in memory, wherever a
file comes in.
"""

import hashlib
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from attribution.errors import BadInput, FetchFailed
from attribution.evidence.sources import read_document
from attribution.files import parse_rows
from attribution.pipeline import snapshot
from attribution.pipeline.snapshot import MANIFEST, MEMBERS, dump, load
from attribution.types import Document
from tests.fetching.test_formats import docx
from tests.pipeline.test_snapshot_file import made, members, packed

MEASURED = """
import pathlib, sys
from attribution.errors import BadInput
{imports}
def peak():
    status = pathlib.Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) // 1000
read = {read}
def refused(data):
    try:
        return f"read {{read(data)!r:.200}}"
    except BadInput as error:
        return str(error)
refused({small})
content = pathlib.Path(sys.argv[1]).read_bytes()
before = peak()
print(refused(content), peak() - before, sep="|")
"""
SNAPSHOT = MEASURED.format(
    imports="from attribution.pipeline.snapshot import load", read="load", small="b''"
)
ROWS = MEASURED.format(
    imports="from attribution.files import parse_rows",
    read="lambda data: len(parse_rows(data, ['answer']))",
    small="b'{}'",
)
TABLE = MEASURED.format(
    imports="from attribution.studies.annotation.exchange import merge",
    read="lambda data: merge(None, data)",
    small="b'record'",
)
MB = 1_000_000


def bomb(**swollen: bytes) -> bytes:
    """A snapshot with hashes that fit; members are named without their suffix."""
    contents = {name: swollen.get(name.partition(".")[0], b"") for name in MEMBERS}
    hashes = {name: hashlib.sha256(content).hexdigest() for name, content in contents.items()}
    manifest = json.dumps(
        {"format": snapshot.FORMAT, "version": snapshot.VERSION, "sha256": hashes}
    ).encode()
    return packed({MANIFEST: manifest, **contents})


def measured(script: str, content: bytes, folder: Path) -> tuple[str, int]:
    """What a process of its own says of the content, and by how many MB it grew."""
    (folder / "content").write_bytes(content)
    done = subprocess.run(
        [sys.executable, "-c", script, folder / "content"],
        capture_output=True,
        text=True,
        timeout=250,
    )
    assert done.returncode == 0, done.stderr
    message, _, growth = done.stdout.rpartition("|")
    return message, int(growth)


def page_line(text: str) -> bytes:
    fields = {
        "id": "0",
        "url": "document:a",
        "title": "",
        "site": "",
        "kind": "document",
        "fetched_at": "",
    }
    sha256 = hashlib.sha256(text.encode()).hexdigest()
    return (
        json.dumps(fields | {"sha256": sha256, "text": text}, ensure_ascii=False).encode() + b"\n"
    )


@pytest.mark.parametrize(
    ("script", "content", "refusal", "most"),
    [
        (
            SNAPSHOT,
            lambda: bomb(pages=b"\n" * 190 * MB + noise(4 * MB)),
            "more than 100,000 lines",
            80,
        ),
        (SNAPSHOT, lambda: bomb(pages=page_line("a" * 99) * 90_000), "bytes when unpacked", 80),
        (SNAPSHOT, lambda: bomb(pages=page_line("a" * 40 * MB) + noise(4 * MB)), "32,000,000", 120),
        (SNAPSHOT, lambda: bomb(report=b"\n" * 390 * MB), "bytes when unpacked", 80),
        (SNAPSHOT, lambda: bomb(report=b"[" + b"[]," * 7 * MB + b"[]]" + noise(MB)), "values", 150),
        (ROWS, lambda: b"\n" * 19 * MB, "at most 100,000", 60),
        (ROWS, lambda: b"1\n" * 9 * MB, "at most 100,000", 60),
        (ROWS, lambda: b'{"answer": "a", "b": [' + b"[]," * 6 * MB + b"[]]}", "values", 150),
        (TABLE, lambda: b"kind\n" + b"a\n" * 9 * MB, "at most 100,000", 60),
    ],
    ids=[
        "pages of newlines",
        "ninety thousand times one page",
        "a page of 40 MB",
        "a report of newlines",
        "a report of seven million lists",
        "an upload of newlines",
        "an upload of nine million rows",
        "a row of six million lists",
        "a table of nine million rows",
    ],
)
def test_no_file_of_a_few_bytes_fills_the_memory(
    script: str, content: Callable[[], bytes], refusal: str, most: int, tmp_path: Path
) -> None:
    made = content()
    assert len(made) < 20 * MB
    message, growth = measured(script, made, tmp_path)
    assert refusal in message and growth < most


def noise(size: int) -> bytes:
    """A text that packs badly, so that no limit on the ratio refuses what is beside it."""
    return (
        b'"'
        + b"".join(hashlib.sha256(b"%d" % n).hexdigest().encode() for n in range(size // 64))
        + b'"\n'
    )


def test_letters_of_four_bytes_count_as_such(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(snapshot, "TOTAL_LIMIT", 2 * MB)
    report = members(dump(made()))["report.json"]
    for text, refusal in (
        ("a" * MB, "Provenance line"),
        ("a" * MB + "\N{GRINNING FACE}", "2,000,000 bytes of memory"),
    ):
        with pytest.raises(BadInput, match=refusal):
            load(bomb(report=report, pages=page_line(text)))


def test_what_could_not_be_read_again_is_not_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(snapshot, "DOCUMENT_LIMIT", 1000)
    with pytest.raises(
        BadInput, match=r"too large for a snapshot file: line 2 of pages.jsonl has more than"
    ):
        snapshot.pack(dict.fromkeys(MEMBERS, b"") | {"pages.jsonl": b"{}\n" + b"a" * 1001})


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ("NaN", "no number of JSON"),
        ("-Infinity", "no number of JSON"),
        ("1e999", "no number of JSON"),
        ("9" * 5000, "a number of more than 400 digits"),
        ("[" * 100_000, "too deeply nested"),
    ],
)
def test_a_number_or_nesting_that_others_could_not_read_costs_its_row(
    value: str, reason: str
) -> None:
    bad, good = parse_rows(
        b'{"answer": "a", "n": ' + value.encode() + b'}\n{"answer": "b"}', ["answer"]
    )
    assert reason in bad.error and not good.error


def test_commas_and_brackets_within_a_text_are_no_values() -> None:
    (row,) = parse_rows(json.dumps({"answer": '"[,{\\\n' * MB}).encode(), ["answer"])
    assert not row.error


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.txt", lambda: b"A line of text.\n" * 400_000),
        (
            "a.docx",
            lambda: docx("<w:p><w:r><w:t>" + "A line of text. " * 400_000 + "</w:t></w:r></w:p>"),
        ),
    ],
)
def test_a_document_of_more_text_than_can_be_searched_is_refused(
    name: str, content: Callable[[], bytes]
) -> None:
    with pytest.raises(
        FetchFailed, match=r"has 6,\d+,\d+ characters of text, at most 5,000,000 are read; split it"
    ):
        read_document(Document(name, content()))
