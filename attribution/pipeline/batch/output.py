"""The file of a batch: lines are appended as they are known, and put in order at the end."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO, Self

from attribution.errors import BadInput
from attribution.files import named, replacing
from attribution.text.json_lines import complete_lines
from attribution.types import Label

try:
    import fcntl
except ImportError:  # Windows: two batches are not told apart there
    fcntl = None  # type: ignore[assignment]


class Output:
    """Open while the batch runs, for this process alone: BadInput where another batch has the file.

    `finished` has each report's place and its verdicts by the key of its row.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def __enter__(self) -> Self:
        self._file = _open_alone(self.path)
        self.finished = _finished(self.path)
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(OSError):  # what the disk did not take was an error when it was written
            self._file.close()

    def append(self, line: dict[str, Any]) -> int:
        """Write a line to the end of the file; returns where it starts."""
        with named(self.path):
            start = self._file.seek(0, os.SEEK_END)
            self._file.write(_encoded(line))
            self._file.flush()
        return start

    def arrange(self, lines: Sequence[tuple[int, int]]) -> None:
        """Keep the lines that start at these places, in this order, each with its line number in the input."""
        with self.path.open("rb") as all_lines, replacing(self.path) as out:
            for start, number in lines:
                all_lines.seek(start)
                line = all_lines.readline()
                saved = json.loads(line)
                out.write(line if saved["line"] == number else _encoded({**saved, "line": number}))


def _open_alone(path: Path) -> BinaryIO:
    """The file open for appending, and locked as long as it is."""
    while True:
        file = path.open("ab")
        try:
            if fcntl:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.close()
            raise BadInput(
                f"another batch is writing {path}: wait until it has ended, or choose another output"
            ) from None
        with suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(file.fileno()), path.stat()):
                return file
        file.close()  # the batch before it has just replaced the file


def _encoded(line: dict[str, Any]) -> bytes:
    return json.dumps(line, ensure_ascii=False).encode() + b"\n"


def _finished(path: Path) -> dict[str, tuple[int, Counter[Label]]]:
    """The reports of earlier calls."""
    finished: dict[str, tuple[int, Counter[Label]]] = {}
    for start, line in complete_lines(path):
        try:
            saved = json.loads(line)
            finished[saved["key"]] = start, Counter(v["label"] for v in saved["report"]["verdicts"])
        except (ValueError, KeyError, TypeError):
            pass  # an error of an earlier call: the row is analysed again
    return finished
