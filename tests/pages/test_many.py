import json

import pytest

from attribution.errors import BadInput
from attribution.reports.html import html
from attribution.store.store import Store
from pages.many import NEWEST, WORST, AnswerRow, grid, of_batch, ordered
from tests.reports.runs import run

ROWS = [
    AnswerRow("fine", {"supported": 3}, "a" * 16, "2026-11-03"),
    AnswerRow("wrong", {"contradicted": 1, "supported": 1}, "b" * 16, "2026-11-01"),
    AnswerRow("<i>doubtful</i>", {"unclear": 2}, "", "2026-11-02"),
]


def names(rows: list[AnswerRow]) -> list[str]:
    return [row.name for row in rows]


@pytest.mark.parametrize(
    ("by", "only", "words", "left"),
    [
        (WORST, "", "", ["wrong", "<i>doubtful</i>", "fine"]),
        (NEWEST, "", "", ["fine", "<i>doubtful</i>", "wrong"]),
        ("supported", "", "", ["fine", "wrong", "<i>doubtful</i>"]),
        (WORST, "supported", "", ["wrong", "fine"]),
        (WORST, "", "DOUBT", ["<i>doubtful</i>"]),
    ],
)
def test_order_and_filters(by: str, only: str, words: str, left: list[str]) -> None:
    assert names(ordered(ROWS, by, only, words)) == left


def test_the_grid_has_a_column_for_each_badge_and_escapes_names() -> None:
    drawn = html(grid(ROWS, "http://a.example"))
    assert drawn.count("<th") >= 5 and "Contradicted" in drawn and "Conflicting" not in drawn
    assert (
        f'href="http://a.example/?run={"a" * 16}"' in drawn
        and "&lt;i&gt;doubtful" in drawn
        and "<i>" not in drawn
    )


def test_a_batch_is_read_and_another_file_is_refused(store: Store) -> None:
    line = json.dumps({"id": 1, "report": json.loads(run().to_json())})
    (row,), left = of_batch(f"{line}\nno json\n{{}}\n".encode())
    assert left == 2
    assert (row.run, row.claims) == ("", 2)
    with pytest.raises(BadInput, match="attribution batch"):
        of_batch(b'{"answer": "one"}\n')
