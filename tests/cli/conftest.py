"""Run commands in this process and read their files."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from attribution.cli.main import main
from tests.make import json_lines

SMALL = ("--verifier", "embedded-small")
Rows = list[dict[str, Any]]
Run = Callable[..., Rows]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Run a command over rows, and return its exit status' rows."""

    def run_command(status: int, command: str, *rows: Any) -> Rows:
        source, out = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
        source.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
        arguments = [command, "--input", str(source), "--output", str(out), *SMALL]
        assert main(arguments) == status
        return json_lines(out)

    return run_command
