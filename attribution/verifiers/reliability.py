"""How often a verifier's badges were right on claims that people checked, as benchmarks/verdicts.py measured."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

from attribution.settings import RENAMED_VERIFIERS
from attribution.types import Label

FILE = Path(__file__).parent / "reliability.json"
ENOUGH = 20  # badges that were checked; fewer tell nothing


@cache
def _figures() -> dict[str, dict[str, list[int]]]:
    figures: dict[str, dict[str, list[int]]] = json.loads(FILE.read_text(encoding="utf-8"))
    return figures


def verifier_name(version: str) -> str:
    """The name of the verifier that a version in a report belongs to."""
    name = version.partition("/")[0]
    return RENAMED_VERIFIERS.get(name, name)


def reliability(version: str, label: Label) -> str:
    """A sentence about badges like this one; empty where none were checked."""
    right, shown = _figures().get(verifier_name(version), {}).get(label, (0, 0))
    if not shown:
        return ""
    if shown < ENOUGH:
        return f"{right} of {shown} were right on claims that people checked: too few to tell"
    return f"{right} of {shown} were right on claims that people checked, with the default thresholds"
