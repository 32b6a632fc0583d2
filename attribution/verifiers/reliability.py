"""How often a verifier's badges were right on claims that people checked, as benchmarks/verdicts.py measured."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from attribution.types import Label

FILE = Path(__file__).parent / "reliability.json"
_NUMBERS, _BLANKS = re.compile(r"\[[\d\s.,]+\]"), re.compile(r"\s+")
ENOUGH = 20  # badges that were checked; fewer tell nothing


class Point(NamedTuple):
    """A threshold, and the badges that it shows on claims that people checked."""

    threshold: float
    shown: int
    right: int


class Curve(NamedTuple):
    """What one threshold costs and brings while the other has its default."""

    claims: int  # that people checked
    points: tuple[Point, ...]  # by rising threshold

    def at(self, threshold: float) -> Point:
        """The measured point nearest to a threshold."""
        return min(self.points, key=lambda point: abs(point.threshold - threshold))


@cache
def _figures() -> dict[str, dict[str, Any]]:
    figures: dict[str, dict[str, Any]] = json.loads(FILE.read_text(encoding="utf-8"))
    return figures


def written(figures: Mapping[str, Any]) -> str:
    """The text of the file: as JSON, a list of numbers on one line."""
    return _NUMBERS.sub(lambda m: _BLANKS.sub(" ", m[0]), json.dumps(figures, indent=1)) + "\n"


def curve(version: str, label: Label) -> Curve | None:
    """Badges by threshold, on the claims behind `reliability`; None for a verifier that was not measured."""
    found = _figures().get(verifier_name(version), {})
    if label not in found.get("thresholds", {}):
        return None
    return Curve(found["claims"], tuple(Point(*point) for point in found["thresholds"][label]))


def verifier_name(version: str) -> str:
    """The name of the verifier that a version in a report belongs to."""
    return version.partition("/")[0]


def reliability(version: str, label: Label) -> str:
    """A sentence about badges like this one; empty where none were checked."""
    right, shown = _figures().get(verifier_name(version), {}).get(label, (0, 0))
    if not shown:
        return ""
    if shown < ENOUGH:
        return f"{right} of {shown} were right on claims that people checked: too few to tell"
    return f"{right} of {shown} were right on claims that people checked, with the default thresholds"
