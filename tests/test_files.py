import csv
import io

import pytest

from attribution.studies.results import ResultTable
from attribution.text_files import FORMULA, csv_text

FORMULAS = ["=cmd|' /C calc'!A0", "+1", "-2+3", "@SUM(1)", "\t=1", '"=1"', " =1", "=1;=2", "＝1"]


@pytest.mark.parametrize("before", ["", "x", "x;", "x,", "x\t", 'x";', "x; "])
@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_a_spreadsheet_runs_no_cell_whatever_divides_them(before: str, separator: str) -> None:
    text = csv_text([[before + formula for formula in FORMULAS]])
    rows = csv.reader(io.StringIO(text), delimiter=separator)
    cells = [cell.strip(' "') for row in rows for cell in row]
    assert not [cell for cell in cells if cell[:1] in FORMULA]


def test_numbers_and_plain_text_stay_as_they_are() -> None:
    cells = ["a|b", "a; b = c", 'say "=1"', -1, -0.5, None]
    (row,) = csv.reader(io.StringIO(csv_text([cells])))
    assert row == ["a|b", "a; b = c", 'say "=1"', "-1", "-0.5", ""]


def test_a_pipe_stays_in_its_cell_of_a_markdown_table() -> None:
    table = ResultTable("T", ("segmenter", "x"), (("a|b", 1), ("c", None)))
    assert table.markdown().splitlines()[-2:] == ["| a\\|b | 1 |", "| c | – |"]
