"""The file of a batch: lines are appended as they are known, and put in order at the end."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

from attribution.text.json_lines import complete_lines
from attribution.types import Label


class Output:
    """Open while the batch runs. `finished` has each report's place and its verdicts by the key of its row."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.finished = _finished(path)

    def __enter__(self) -> Self:
        self._file = self.path.open("ab")
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def append(self, line: dict[str, Any]) -> int:
        """Write a line to the end of the file; returns where it starts."""
        start = self._file.seek(0, os.SEEK_END)
        self._file.write(_encoded(line))
        self._file.flush()
        return start

    def arrange(self, lines: Sequence[tuple[int, int]]) -> None:
        """Keep the lines that start at these places, in this order, each with its line number in the input."""
        partial = self.path.with_name(self.path.name + ".part")
        with self.path.open("rb") as all_lines, partial.open("wb") as out:
            for start, number in lines:
                all_lines.seek(start)
                line = all_lines.readline()
                saved = json.loads(line)
                out.write(line if saved["line"] == number else _encoded({**saved, "line": number}))
        partial.replace(self.path)


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
