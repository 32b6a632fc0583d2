"""Measurements, each a command. All share `--out`, which writes the figures that are printed."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from attribution.settings import ROOT

EXAMPLES = ROOT / "examples" / "answers.jsonl"


def arguments(description: str | None, data: str = "") -> argparse.ArgumentParser:
    """Return a parser with --out and, if `data` says what it holds, the argument of a folder."""
    p = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    if data:
        p.add_argument("data", type=Path, help=f"folder with {data}")
    p.add_argument("--out", type=Path, metavar="FILE", help="write the figures as JSON")
    return p


def publish(figures: Mapping[str, Any], out: Path | None) -> None:
    text = json.dumps(figures, indent=1, ensure_ascii=False, default=float)
    print(text)
    if out:
        out.write_text(text + "\n", encoding="utf-8")


def examples() -> list[dict[str, Any]]:
    """Return the example answers, with a careful reader's verdicts on their claims."""
    return [json.loads(line) for line in EXAMPLES.read_text(encoding="utf-8").splitlines()]
