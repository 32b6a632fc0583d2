"""The floors of speed: fails where a figure that `make bench` has written is missing or too bad.

    python -m benchmarks.floors [--figures docs/figures]

A floor is 15 to 20 % worse than what was measured last (docs/measurements.md). A goal that is not
reached is printed, and fails nothing. Times are ratios of one run, so that they hold on other
machines too, and of processor seconds, so that they hold beside other work.
"""

from __future__ import annotations

import argparse
import json
import sys
from math import nan
from pathlib import Path
from typing import Any, NamedTuple

from attribution.settings import ROOT


class Floor(NamedTuple):
    """The least that a figure may be.

    Attributes:
        figure: Keys, one within the other.
        least: False if floor and goal are the most instead.
    """

    file: str
    figure: tuple[str, ...]
    floor: float
    goal: float
    least: bool = True

    def holds(self, value: float, limit: float) -> bool:
        """Compare a figure, NaN if it was not measured, with the floor or the goal."""
        return value >= limit if self.least else value <= limit


PIPELINE = "speed_pipeline.json"
WEB, DISK = "web, 10 claims", "documents, 10 claims"
LESS = "cold, times less processor time than whole"
FLOORS = (
    Floor(PIPELINE, (WEB, LESS), 13, 12),
    Floor(PIPELINE, (DISK, LESS), 10, 12),
    Floor(PIPELINE, (WEB, "warm, times less processor time than whole"), 240, 200),
    Floor(PIPELINE, (WEB, "first verdict, share of the cold run"), 0.39, 0.12, least=False),
    Floor(PIPELINE, ("growth", "100 claims, times the cpu of 10"), 11, 8, least=False),
    Floor(PIPELINE, ("growth", "100 claims, peak MB"), 970, 1100, least=False),
)


def figure(floor: Floor, folder: Path) -> float:
    """Read the figure of a floor. Raises KeyError or OSError where it was not measured."""
    value: Any = json.loads((folder / floor.file).read_text(encoding="utf-8"))
    for key in floor.figure:
        value = value[key]
    return float(value)


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--figures", type=Path, default=ROOT / "docs" / "figures")
    folder = parser.parse_args(argv).figures
    failed = False
    for floor in FLOORS:
        try:
            value = figure(floor, folder)
        except (KeyError, OSError):
            value = nan
        state = "short of the goal"
        if floor.holds(value, floor.goal):
            state = "reached"
        elif not floor.holds(value, floor.floor):
            state = "FAILED"
            failed = True
        name = ": ".join((floor.file, *floor.figure))
        print(f"{name:80}{value:9.2f}   floor {floor.floor:<7g} goal {floor.goal:<7g} {state}")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
