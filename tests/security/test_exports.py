"""A file that is written of a hostile run is written soon, and runs nothing where it is opened."""

from __future__ import annotations

import csv
import io

import pytest

from attribution.files import FORMULA
from attribution.reports import export
from tests.reports.runs import hostile

COMMANDS = ("=cmd|' /C calc'!A0", "+1", "-2+3", "@SUM(1)", "\t=1", '"=1"', " =1", "=1;=2")


@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("before", ["", "x", "x;", "x,", "x\t", 'x";', "x; "])
def test_no_cell_is_a_formula_whatever_divides_the_cells(before: str, separator: str) -> None:
    for command in COMMANDS:
        for name in ("claims", "evidence"):
            written = export(name, hostile(before + command)).decode()
            for row in csv.reader(io.StringIO(written), delimiter=separator):
                for cell in row:
                    assert cell.strip(' "')[:1] not in FORMULA, cell
