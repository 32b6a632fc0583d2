"""JSON Lines files that users give to the command line and the Compare page."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from attribution.errors import BadInput


def read_rows(path: Path, fields: Sequence[str]) -> Iterator[dict[str, Any]]:
    """The objects of a file, each with text in the given fields; BadInput names the line."""
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"{path}: cannot be read as UTF-8 text ({error})") from None
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except json.JSONDecodeError as error:
            raise BadInput(
                f"{path}, line {number}: not JSON ({error.msg}); expected an object with {', '.join(fields)}"
            ) from None
        if not isinstance(row, dict) or not all(isinstance(row.get(f), str) for f in fields):
            raise BadInput(f"{path}, line {number}: expected an object with text in {', '.join(fields)}")
        yield row
