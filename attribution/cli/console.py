"""Standard streams: progress goes to standard error, results to standard output as JSON."""

from __future__ import annotations

import json
import sys

from attribution.errors import BadInput
from attribution.types import Failure


def progress(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def report_failure(failure: Failure) -> None:
    progress(f"! {failure.stage}: {failure.subject[:80]}: {failure.message}")


def print_json(value: object) -> None:
    print(json.dumps(value, ensure_ascii=False, indent=1))


def read_text(argument: str) -> str:
    """The argument itself, or standard input for `-`; BadInput if that is not UTF-8."""
    if argument != "-":
        return argument
    try:
        return sys.stdin.buffer.read().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadInput(f"standard input is not UTF-8 (byte {error.start}): save the text as UTF-8") from None
