import csv
import io

import pytest
from openpyxl import load_workbook

from attribution.reports import Exported
from attribution.reports.listings import COLUMNS, SHEETS
from attribution.types import AnalystVerdict
from tests.reports.runs import run

EVIL = "=HYPERLINK(1) <script>"


@pytest.fixture
def runs() -> list[Exported]:
    """Two runs, the second with a hostile title and an assessment."""
    report = run()
    first = report.claims[0]
    own = AnalystVerdict(
        claim_id=first.id, statement=first.statement, label="contradicted", badge=None, at=""
    )
    judged = report.model_copy(update={"judgements": (own,)})
    return [Exported(report, "First"), Exported(judged, EVIL)]


def read(sheet: str, content: bytes) -> list[list[str]]:
    if sheet == "xlsx":
        rows = load_workbook(io.BytesIO(content)).active.iter_rows(values_only=True)
        return [["" if cell is None else str(cell) for cell in row] for row in rows]
    return list(csv.reader(io.StringIO(content.decode("utf-8-sig"))))


@pytest.mark.parametrize("sheet", ["xlsx", "csv"])
def test_every_claim_of_every_answer_is_a_row_and_none_a_formula(
    sheet: str, runs: list[Exported]
) -> None:
    heads, *rows = read(sheet, SHEETS[sheet](*runs))
    claims = len(runs[0].report.claims)
    assert tuple(heads) == COLUMNS
    assert [row[0] for row in rows[:claims]] == ["First"] * claims
    assert len(rows) == 2 * claims
    assert rows[claims][COLUMNS.index("assessment")] == "Contradicted"
    if sheet == "csv":
        assert rows[claims][0].startswith("'=")
    else:
        made = load_workbook(io.BytesIO(SHEETS[sheet](*runs))).active
        assert "f" not in {cell.data_type for row in made for cell in row}


def test_the_web_page_escapes_what_it_shows(runs: list[Exported]) -> None:
    page = SHEETS["html"](*runs).decode()
    assert "Contradicted" in page
    assert "<script" not in page
    assert "&lt;script&gt;" in page
