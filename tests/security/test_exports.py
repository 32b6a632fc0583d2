"""A file that is written of a hostile run is written soon, and runs nothing where it is opened."""

from __future__ import annotations

import csv
import io

import pytest

from attribution.files import FORMULA
from attribution.reports import Exported, export
from attribution.reports.picture import wrapped
from tests.reports.runs import hostile, run
from tests.security.scaling import is_linear, shapes

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


def test_a_picture_of_any_heading_takes_time_in_proportion_to_its_length() -> None:
    slow = [name for name, shape in shapes().items() if not is_linear(lambda t: wrapped(t, 26.4, 2), shape, 4_000)]
    assert not slow


def test_the_picture_of_a_heading_at_the_limit_shows_its_beginning() -> None:
    picture = export("picture", Exported(run(question="w" * 20_000))).decode()
    assert f">{'w' * 40}" in picture and "…</text>" in picture
