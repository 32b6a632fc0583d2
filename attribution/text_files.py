"""Files: written whole or not at all, and JSON Lines read row by row: a bad line leaves the others
unaffected.
"""

from __future__ import annotations

import csv
import io
import json
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from pydantic_core import from_json

from attribution.errors import BadInput


@contextmanager
def replacing(path: Path) -> Iterator[IO[bytes]]:
    """Open a file that takes the place of `path` once all of it is written.

    If that fails, nothing is left of it.
    """
    if path.exists() and not path.is_file():  # /dev/stdout, or a pipe
        with named(path), path.open("wb") as out:
            yield out
        return
    partial = path.with_name(f"{path.name}.{os.getpid()}.part")  # of this process alone
    try:
        with named(path):
            with partial.open("wb") as out:
                yield out
            os.replace(partial, path)
    finally:
        partial.unlink(missing_ok=True)


def replace_text(path: Path, text: str) -> None:
    """Write a file of UTF-8 text, all of it or nothing."""
    with replacing(path) as out:
        out.write(text.encode())


@contextmanager
def named(path: Path) -> Iterator[None]:
    """Name the file in an OSError that does not, as those of a full disk do not."""
    try:
        yield
    except OSError as error:
        error.filename = error.filename or str(path)
        raise


# of an uploaded file; each value takes 70 to 200 bytes once it is read
LINES, VALUES = 100_000, 2_000_000
_STRING = re.compile(
    rb'"[^"\\\n]*+(?:\\.[^"\\\n]*+)*+"?'
)  # one without an end reaches as far as its line


@dataclass(frozen=True)
class Row:
    """One line of a file: its object, or what is wrong with it."""

    line: int  # from 1
    fields: dict[str, Any]  # empty if the line is not an object
    error: str = ""

    def failed(self, error: str) -> dict[str, object]:
        """Return the output of a row that could not be processed."""
        return {**self.fields, "line": self.line, "error": error}


def count_values(document: bytes | bytearray) -> int:
    """Return at least as many values as JSON has, counted without parsing it."""
    return sum(map(_STRING.sub(b"", document).count, (b",", b"[", b"{", b"\n")))


def read_rows(path: Path, required: Sequence[str], optional: Sequence[str] = ()) -> list[Row]:
    """Read the rows of a file of one's own, however many.

    Args:
        path: A file of JSON Lines.
        required: Fields that must hold text.
        optional: Fields that hold text or nothing.

    Raises:
        BadInput: The file cannot be read, is empty or is not UTF-8.
    """
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        raise BadInput(f"no such file: {path}") from None
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {error.strerror}") from None
    try:
        return _rows(content, required, optional)
    except BadInput as error:
        raise BadInput(f"{path}: {error}") from None


def parse_rows(content: bytes, required: Sequence[str], optional: Sequence[str] = ()) -> list[Row]:
    """Read the rows of an uploaded file, one for each line that is not blank.

    Args:
        content: JSON Lines.
        required: Fields that must hold text.
        optional: Fields that hold text or nothing.

    Raises:
        BadInput: The file is empty, not UTF-8, or has more lines or values than an upload may
            have.
    """
    lines = content.count(b"\n")
    if lines > LINES:  # each costs memory, even an empty one
        raise BadInput(f"the file has {lines:,} lines, at most {LINES:,} are read: split it")
    if count_values(content) > VALUES:
        raise BadInput(f"the file has more than {VALUES:,} values: split it")
    return _rows(content, required, optional)


def decoded(content: bytes) -> str:
    """Return the text of a file. Raises BadInput if it is not UTF-8."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadInput(f"not UTF-8 (byte {error.start}): save it as UTF-8") from None


def _rows(content: bytes, required: Sequence[str], optional: Sequence[str]) -> list[Row]:
    rows = [
        _row(number, line, required, optional)
        for number, line in enumerate(decoded(content).split("\n"), 1)
        if line.strip()
    ]
    if not rows:
        raise BadInput(
            f"the file is empty; expected one JSON object with {_names(required)} on each line"
        )
    return rows


def _row(number: int, line: str, required: Sequence[str], optional: Sequence[str]) -> Row:
    expected = f"expected an object with {_names(required)}"
    try:
        value = from_json(line, allow_inf_nan=False)
    except ValueError as error:
        problem = str(error).partition(" at line ")[0]
        return Row(number, {}, f"not JSON ({problem}); {expected}")
    if not isinstance(value, dict):
        return Row(number, {}, f"not an object; {expected}")
    for name in required:
        if not isinstance(value.get(name), str):
            problem = "is not text" if name in value else "is missing"
            return Row(number, value, f'"{name}" {problem}; {expected}')
        if not value[name].strip():
            return Row(number, value, f'"{name}" is empty')
    for name in optional:
        if not isinstance(value.get(name) or "", str):
            return Row(number, value, f'"{name}" is not text')
    value.pop("error", None)  # of an earlier attempt, if this is the output of one
    return Row(number, value)


def _names(fields: Sequence[str]) -> str:
    return " and ".join(f'"{name}"' for name in fields)


def json_line(value: object) -> str:
    """Return a line of JSON Lines."""
    return json.dumps(value, ensure_ascii=False) + "\n"


def complete_lines(path: Path) -> Iterator[bytes]:
    """Yield each line of a file that is appended to, and remove what a kill cut off at the end.

    A file that doesn't exist has no lines.
    """
    if not path.exists():
        return
    start = 0
    with path.open("rb+") as lines:
        for line in lines:
            if not line.endswith(b"\n"):
                break
            yield line
            start += len(line)
        lines.truncate(start)


PROBLEM = "a character is half of a surrogate pair: leave it out"


def has_half_pair(value: object) -> bool:
    """Return True if there is one in a text, or anywhere in a JSON value."""
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return True
    except RecursionError:  # whoever reads such a value refuses it
        return False
    return False


Cell = str | int | float | None
FORMULA = frozenset("=+-@＝＋－＠")  # characters that start a formula in a spreadsheet


def format_cell(cell: Cell, digits: int = 2) -> str:
    """Write a cell as text: a figure rounded, and a dash where nothing was measured."""
    return "–" if cell is None else str(rounded(cell, digits))


def rounded(cell: Cell, digits: int) -> Cell:
    """Write a figure with so many digits after the point."""
    return f"{cell:.{digits}f}" if isinstance(cell, float) else cell


def csv_text(rows: Iterable[Sequence[Cell]]) -> str:
    """Write CSV in which a spreadsheet finds no formula.

    Text that looks like a formula starts with an apostrophe. So does such text after a semicolon,
    at which spreadsheets of many countries divide cells, quoted or not.
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    for row in rows:
        writer.writerow([_text(cell) if isinstance(cell, str) else cell for cell in row])
    return out.getvalue()


def _text(cell: str) -> str:
    return ";".join(map(_inert, " ".join(cell.split()).split(";")))


def _inert(part: str) -> str:
    first = next((c for c in part if c.isprintable() and c not in ' "'), "")
    return f"'{part}" if first in FORMULA else part
