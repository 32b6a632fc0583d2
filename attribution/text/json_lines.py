"""JSON Lines files that users give to the command line and to the Compare page. A bad line costs itself."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from attribution.errors import BadInput


@dataclass(frozen=True)
class Row:
    """One line of a file: its object, or what is wrong with it."""

    line: int  # from 1
    fields: dict[str, Any]  # empty if the line is not an object
    error: str = ""

    def failed(self, error: str) -> dict[str, Any]:
        """The output of a row that could not be processed."""
        return {**self.fields, "line": self.line, "error": error}


def read_rows(path: Path, required: Sequence[str], optional: Sequence[str] = ()) -> list[Row]:
    """The rows of a file, as `parse_rows` does; BadInput if it cannot be read."""
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        raise BadInput(f"no such file: {path}") from None
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {error.strerror}") from None
    try:
        return parse_rows(content, required, optional)
    except BadInput as error:
        raise BadInput(f"{path}: {error}") from None


def parse_rows(content: bytes, required: Sequence[str], optional: Sequence[str] = ()) -> list[Row]:
    """One row for each line that is not blank. The required fields must hold text, the optional ones text or nothing.

    BadInput for a file that is empty or not UTF-8.
    """
    try:
        lines = content.decode("utf-8-sig").split("\n")
    except UnicodeDecodeError as error:
        raise BadInput(f"not UTF-8 (byte {error.start}): save the file as UTF-8") from None
    rows = [_row(number, line, required, optional) for number, line in enumerate(lines, 1) if line.strip()]
    if not rows:
        raise BadInput(f"the file is empty; expected one JSON object with {_names(required)} on each line")
    return rows


def _row(number: int, line: str, required: Sequence[str], optional: Sequence[str]) -> Row:
    try:
        value = json.loads(line)
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return Row(number, {}, "an escaped character is half of a surrogate pair")
    except (ValueError, RecursionError) as error:
        reason = error.msg if isinstance(error, json.JSONDecodeError) else "too deeply nested"
        return Row(number, {}, f"not JSON ({reason}); expected an object with {_names(required)}")
    if not isinstance(value, dict):
        return Row(number, {}, f"not an object; expected one with {_names(required)}")
    for name in required:
        if not isinstance(value.get(name), str):
            problem = "is not text" if name in value else "is missing"
            return Row(number, value, f'"{name}" {problem}; expected an object with {_names(required)}')
        if not value[name].strip():
            return Row(number, value, f'"{name}" is empty')
    for name in optional:
        if not isinstance(value.get(name) or "", str):
            return Row(number, value, f'"{name}" is not text')
    value.pop("error", None)  # of an earlier attempt, if this is the output of one
    return Row(number, value)


def _names(fields: Sequence[str]) -> str:
    return " and ".join(f'"{name}"' for name in fields)


def complete_lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """Each line of a file that is appended to, with its first byte; what was cut off by a kill is removed at the end.

    Nothing for a file that is not there.
    """
    if not path.exists():
        return
    start = 0
    with path.open("rb+") as lines:
        for line in lines:
            if not line.endswith(b"\n"):
                break
            yield start, line
            start += len(line)
        lines.truncate(start)
