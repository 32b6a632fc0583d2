import threading

import pytest

from attribution.errors import BadInput, LlmFailed, Stopped, StoreError, Unavailable
from attribution.pipeline.experiment import Result, run_each


@pytest.mark.parametrize(
    ("error", "problem"),
    [
        (BadInput("too long"), "too long"),
        (LlmFailed("the model did not answer"), "the model did not answer"),
        (KeyError("missing"), "it ended with an error (KeyError: 'missing')"),
    ],
)
def test_a_bad_item_costs_itself(error: Exception, problem: str) -> None:
    expected = [Result("A"), Result(problem=problem), Result("B")]
    assert list(run_each(["a", error, "b"], upper)) == expected


@pytest.mark.parametrize("error", [StoreError("the disk is full"), Unavailable("no model")])
def test_what_concerns_all_items_ends_the_run(error: Exception) -> None:
    with pytest.raises(type(error)):
        list(run_each([error], upper))


def upper(item: str | Exception) -> str:
    if isinstance(item, Exception):
        raise item
    return item.upper()


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
