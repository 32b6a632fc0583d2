import json

import pytest

from attribution.errors import BadInput
from attribution.reports.html import html
from attribution.store.store import Store
from pages.many import AnswerRow, grid, of_batch, worst_first
from tests.reports.runs import run

ROWS = [
    AnswerRow("fine", {"supported": 3}, "a" * 16),
    AnswerRow("wrong", {"contradicted": 1, "supported": 1}, "b" * 16),
    AnswerRow("<i>doubtful</i>", {"unclear": 2}, ""),
]


def names(rows: list[AnswerRow]) -> list[str]:
    return [row.name for row in rows]


def test_the_worst_answer_comes_first() -> None:
    assert names(worst_first(ROWS)) == ["wrong", "<i>doubtful</i>", "fine"]


def test_the_grid_has_a_column_for_each_badge_and_escapes_names() -> None:
    drawn = html(grid(ROWS, "http://a.example"))
    assert drawn.count("<th") >= 5
    assert "Contradicted" in drawn
    assert "Conflicting" not in drawn
    assert f'href="http://a.example/?run={"a" * 16}"' in drawn
    assert "&lt;i&gt;doubtful" in drawn
    assert "<i>" not in drawn


def test_a_batch_is_read_and_another_file_is_refused(store: Store) -> None:
    line = json.dumps({"id": 1, "report": json.loads(run().to_json())})
    (row,) = of_batch(f"{line}\nno json\n{{}}\n".encode())
    assert row.run == ""
    assert sum(row.verdicts.values()) == 2
    with pytest.raises(BadInput, match="output of a batch"):
        of_batch(b'{"answer": "one"}\n')
