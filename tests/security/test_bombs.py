"""Small files that swell: limits count what is unpacked and what it becomes in memory, wherever a
file comes in.
"""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from attribution.errors import FetchFailed
from attribution.evidence.sources import read_document
from attribution.text_files import parse_rows
from attribution.types import Document
from tests.make import reading

SCRIPT = """
import pathlib, sys
from attribution.errors import BadInput
from attribution.text_files import parse_rows
def peak():
    status = pathlib.Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) // 1000
def refused(data):
    try:
        return f"read {len(parse_rows(data, ['answer']))}"
    except BadInput as error:
        return str(error)
refused(b"{}")
content = pathlib.Path(sys.argv[1]).read_bytes()
before = peak()
print(refused(content), peak() - before, sep="|")
"""
MB = 1_000_000


def measured(content: bytes, folder: Path) -> tuple[str, int]:
    """What a process of its own says of the content, and by how many MB it grew."""
    (folder / "content").write_bytes(content)
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, folder / "content"],
        capture_output=True,
        text=True,
        timeout=250,
    )
    assert done.returncode == 0, done.stderr
    message, _, growth = done.stdout.rpartition("|")
    return message, int(growth)


@pytest.mark.parametrize(
    ("content", "refusal", "most"),
    [
        (lambda: b"1\n" * 9 * MB, "at most 100,000", 60),
        (lambda: b'{"answer": "a", "b": [' + b"[]," * 6 * MB + b"[]]}", "values", 150),
    ],
    ids=["rows", "a row of lists"],
)
def test_no_file_of_a_few_bytes_fills_the_memory(
    content: Callable[[], bytes], refusal: str, most: int, tmp_path: Path
) -> None:
    made = content()
    assert len(made) < 20 * MB
    message, growth = measured(made, tmp_path)
    assert refusal in message
    assert growth < most


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ("NaN", "expected value"),
        ("9" * 5000, "number out of range"),
        ("[" * 100_000, "recursion limit exceeded"),
    ],
)
def test_a_number_or_nesting_that_others_could_not_read_costs_its_row(
    value: str, reason: str
) -> None:
    bad, good = parse_rows(
        b'{"answer": "a", "n": ' + value.encode() + b'}\n{"answer": "b"}', ["answer"]
    )
    assert reason in bad.error
    assert not good.error


def test_a_document_of_more_text_than_can_be_searched_is_refused() -> None:
    with pytest.raises(
        FetchFailed, match=r"has 6,\d+,\d+ characters, at most 5,000,000 are read; split it"
    ):
        read_document(Document("a.txt", b"A line of text.\n" * 400_000), reading())
