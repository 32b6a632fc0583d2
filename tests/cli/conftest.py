"""Run commands in this process and read their files."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from attribution.cli.main import main

SMALL = ("--verifier", "embedded-small")
Rows = list[dict[str, Any]]
Run = Callable[..., Rows]


def write_rows(path: Path, *rows: Any) -> Path:
    path.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    return path


def read_rows(path: Path) -> Rows:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Run a command over rows, and return its exit status' rows."""

    def run_command(status: int, command: str, *rows: Any) -> Rows:
        source, out = write_rows(tmp_path / "in.jsonl", *rows), tmp_path / "out.jsonl"
        arguments = [command, "--input", str(source), "--output", str(out), *SMALL]
        assert main(arguments) == status
        return read_rows(out)

    return run_command
