"""Rows of a batch, and its output without what differs between equal runs."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from attribution.pipeline.experiment import Engine, RowDone, batch, local
from attribution.settings import ROOT, Settings
from attribution.text_files import parse_rows

NOTE = (
    "The Eiffel Tower in Paris was completed in 1889. Honey bees dance to show where flowers are."
)
ANSWERS = [
    "The Eiffel Tower was completed in 1889.",
    "Honey bees dance.",
    "The Eiffel Tower is in Rome.",
    "Bees can fly.",
]


def made_rows(ending: str = "") -> list[dict[str, Any]]:
    """A row for each answer, which may end in more than it says."""
    rows = []
    for number, answer in enumerate(ANSWERS):
        row = {"id": f"{number}{ending}", "answer": f"{answer}{ending}", "documents": [NOTE]}
        rows.append(row)
    return rows


ROWS = made_rows()
MANY = [row for number in range(3) for row in made_rows(f" {number} towers.")]


def encoded(rows: Sequence[Any]) -> bytes:
    """Rows as JSON Lines; a text is a line as it is."""
    lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
    return "".join(f"{line}\n" for line in lines).encode()


def done(
    rows: Sequence[Any], settings: Settings, path: Path, engine: Engine = local
) -> list[RowDone]:
    return list(batch(parse_rows(encoded(rows), ["answer"], ["question"]), settings, path, engine))


def lines_of(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def comparable(path: Path) -> list[Any]:
    """The lines in the order of the rows, without what differs between equal runs."""
    lines = sorted(lines_of(path), key=lambda line: line["line"])
    for line in lines:
        report = line.get("report", {})
        for name in ("id", "created_at", "timings", "usage"):
            report.pop(name, None)
        for page in report.get("pages", ()):
            page["fetched_at"] = ""
    return lines


def command(folder: Path, output: Path, *more: str) -> list[str]:
    """`batch` on the file in.jsonl of a folder, with the documents alone and the small verifier."""
    own = ["--sources", "documents", "--verifier", "embedded-small"]
    start = [sys.executable, "-m", "attribution", "batch", "--input", str(folder / "in.jsonl")]
    return [*start, "--output", str(output), *own, *more]


def started(line: Sequence[str], **variables: str) -> subprocess.Popen[bytes]:
    environment = {**os.environ, **variables}
    return subprocess.Popen(
        line, cwd=ROOT, env=environment, stderr=subprocess.DEVNULL, start_new_session=True
    )


def wait_for_lines(process: subprocess.Popen[bytes], path: Path, wanted: int) -> None:
    """Until the output has so many lines, or the process has ended."""
    while process.poll() is None and (not path.exists() or path.read_bytes().count(b"\n") < wanted):
        time.sleep(0.02)
