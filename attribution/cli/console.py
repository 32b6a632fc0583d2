"""Output of the commands: progress on standard error, results as JSON on standard output or in files."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from attribution.errors import BadInput
from attribution.files import replacing
from attribution.types import Failure


def progress(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def report_failure(failure: Failure) -> None:
    progress(f"! {failure.stage}: {failure.subject[:80]}: {failure.message}")


def print_json(value: object) -> None:
    print(json.dumps(value, ensure_ascii=False, indent=1))


def read_text(argument: str) -> str:
    """The argument itself, or standard input for `-`; BadInput if that is not UTF-8, and for the path of a file."""
    if argument != "-":
        if _is_file(argument):
            raise BadInput(f"{argument} is a file; expected the text itself: pass - and `< {argument}`")
        return argument
    try:
        return sys.stdin.buffer.read().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadInput(f"standard input is not UTF-8 (byte {error.start}): save the text as UTF-8") from None


def _is_file(text: str) -> bool:
    try:
        return Path(text).is_file()
    except (OSError, ValueError):  # too long for a path, or holding a null byte
        return False


def check_output(path: Path) -> None:
    """BadInput if the file cannot be created; called before any work."""
    if path.is_dir():
        raise BadInput(f"{path} is a folder; expected a file")
    if not path.parent.is_dir():
        raise BadInput(f"the folder {path.parent} does not exist: create it, or choose another output")


def write_file(path: Path, content: bytes) -> None:
    """Write all of it or nothing: a killed process leaves no incomplete file of that name."""
    with replacing(path) as out:
        out.write(content)
