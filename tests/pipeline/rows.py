"""Rows of a batch, and its output without what differs between equal runs."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from attribution.pipeline.batch import batch
from attribution.pipeline.experiment import Engine, RowDone, local
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
ROWS = [
    {"id": str(n), "question": "", "answer": a, "documents": [NOTE]} for n, a in enumerate(ANSWERS)
]
MANY = [
    {**row, "id": f"{n}-{row['id']}", "answer": f"{row['answer']} {n} towers."}
    for n in range(3)
    for row in ROWS
]


def encoded(rows: Sequence[Any]) -> bytes:
    return "".join(
        (row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows
    ).encode()


def done(
    rows: Sequence[Any], settings: Settings, path: Path, engine: Engine = local
) -> list[RowDone]:
    return list(batch(parse_rows(encoded(rows), ["answer"], ["question"]), settings, path, engine))


def comparable(path: Path) -> list[Any]:
    """The lines in the order of the rows, without what differs between equal runs."""
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    lines.sort(key=lambda line: line["line"])
    for line in lines:
        if report := line.get("report"):
            line["report"] = {
                n: v for n, v in report.items() if n not in ("id", "created_at", "timings", "usage")
            }
            line["report"]["pages"] = [{**page, "fetched_at": ""} for page in report["pages"]]
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
