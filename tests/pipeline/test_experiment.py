import json
import threading
from pathlib import Path

import pytest

from attribution.errors import BadInput, LlmFailed, Stopped, StoreError, Unavailable
from attribution.pipeline.experiment import Experiment, Fields, Result, Work, run_each
from attribution.text_files import Row


def test_a_bad_item_costs_itself_and_what_concerns_all_ends_the_run() -> None:
    def work(item: str) -> str:
        if item == "bad":
            raise BadInput("too long")
        if item == "unanswered":
            raise LlmFailed("the model did not answer")
        if item == "odd":
            raise KeyError("missing")
        if item == "disk":
            raise StoreError("the disk is full")
        if item == "model":
            raise Unavailable("no model")
        return item.upper()

    first, bad, unanswered, odd, last = run_each(["a", "bad", "unanswered", "odd", "b"], work)
    assert (first, bad, last) == (Result("A"), Result(problem="too long"), Result("B"))
    assert unanswered == Result(problem="the model did not answer")
    assert "(KeyError: 'missing')" in odd.problem
    for item, error in (("disk", StoreError), ("model", Unavailable)):
        with pytest.raises(error):
            list(run_each([item], work))


@pytest.mark.parametrize("ending", [None, Stopped("cut off"), BadInput("cut off")])
def test_stop_ends_it_and_what_it_interrupts_has_no_result(ending: Exception | None) -> None:
    stop, ran = threading.Event(), list[int]()

    def work(item: int) -> int:
        ran.append(item)
        if item == 1:
            stop.set()
            if ending:
                raise ending
        return item

    results = [result.value for result in run_each(range(3), work, stop)]
    assert results == ([0] if ending else [0, 1])
    assert ran == [0, 1]


def test_the_engine_is_not_asked_where_every_row_is_finished(tmp_path: Path) -> None:
    prepared: list[str] = []

    def prepare() -> Work:
        prepared.append("")
        return lambda row: Fields(doubled=2 * row.fields["n"])

    rows = [Row(n, {"n": n}) for n in (1, 2)]
    for _ in range(2):
        steps = list(Experiment(rows, prepare, {"by": 2}, ("n",)).run(tmp_path / "out.jsonl"))
    lines = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert [(line["line"], line["doubled"]) for line in lines] == [
        (1, 2),
        (2, 4),
    ]
    assert "n" not in lines[0]
    assert len(prepared) == 1
    assert str(steps[-1]) == "2/2"
