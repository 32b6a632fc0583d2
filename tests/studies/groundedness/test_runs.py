"""Running methods: what is not ready is left out, what failed costs itself, and a run goes on where it stopped."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from attribution.errors import BadInput, Unavailable, UnknownName
from attribution.settings import Settings
from attribution.studies.groundedness import METHODS, Given, Scored
from attribution.studies.groundedness.evaluation import LeftOut, Outcome, run, selected
from attribution.tables import Entry
from tests.studies.groundedness.labels import row

ROWS = [row(n, bool(n % 2)) for n in range(4)]
CALLS: list[str] = []


class Counting:
    """A method that counts its calls and fails where it is told to."""

    aggregation, usage, version = "one score", None, "counting.1"

    def __init__(self, settings: Settings) -> None:
        pass

    def score(self, given: Given, stop: threading.Event) -> Scored:
        CALLS.append(given.response)
        if given.response == "bad":
            raise BadInput("too long")
        if given.response == "broken":
            raise Unavailable("the model is gone", "OSError")
        if given.response == "stop":
            stop.set()
        return Scored({"": 0.1234567})


@pytest.fixture(autouse=True)
def counting(monkeypatch: pytest.MonkeyPatch) -> None:
    CALLS.clear()
    monkeypatch.setitem(METHODS, "counting", Entry(f"{__name__}:Counting", "Counting", "counts"))  # type: ignore[arg-type]


def rows_of(*responses: str) -> list[Any]:
    return [row(n, True).model_copy(update={"response": text}) for n, text in enumerate(responses)]


def done(rows: list[Any], settings: Settings, finished: Any = None, stop: threading.Event | None = None) -> list[Any]:
    return list(run(rows, ["counting"], settings, finished or {}, stop or threading.Event()))


def test_what_is_not_ready_is_left_out_with_the_step(settings: Settings) -> None:
    ready, left_out = selected(["quip", "direct", "quip"], settings)
    assert ready == ["quip"] and [one.method for one in left_out] == ["direct"] and "OPENAI" in left_out[0].reason
    ready, left_out = selected(["all"], settings)
    assert set(ready) == {"cos_sim", "quip", "gc", "selfcheck_context", "pipeline", "counting"}
    assert set(ready) | {one.method for one in left_out} == set(METHODS)
    assert "hf download vectara/hallucination_evaluation_model --revision hhem-1.0-open" in left_out[0].reason
    with pytest.raises(UnknownName, match="expected one of cos_sim"):
        selected(["nonsense"], settings)
    with pytest.raises(Unavailable, match="direct: set OPENAI"):
        selected(["direct"], settings)


def test_a_row_that_fails_costs_itself_and_is_tried_again(settings: Settings) -> None:
    first = done(rows_of("good", "bad", "fine"), settings)
    assert [o.error for o in first] == ["", "too long", ""] and first[0].scores == {"": 0.123457}
    CALLS.clear()
    again = done(rows_of("good", "bad", "fine"), settings, {(o.method, o.row): o for o in first})
    assert again[0] is first[0] and again[2] is first[2] and CALLS == ["bad"]


def test_a_model_that_cannot_be_loaded_leaves_its_method_out(settings: Settings) -> None:
    found = done(rows_of("good", "broken", "never"), settings)
    assert isinstance(found[0], Outcome) and found[1] == LeftOut("counting", "the model is gone", "OSError")
    assert len(found) == 2 and "never" not in CALLS


def test_stop_ends_after_the_row_in_progress_and_the_rest_is_done_later(settings: Settings) -> None:
    first = done(rows_of("good", "stop", "later"), settings)
    assert [o.row for o in first] == ["0", "1"]
    CALLS.clear()
    whole = done(rows_of("good", "stop", "later"), settings, {(o.method, o.row): o for o in first})
    assert [o.row for o in whole] == ["0", "1", "2"] and CALLS == ["later"]


def test_changed_texts_or_another_version_are_scored_again(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    first = {(o.method, o.row): o for o in done(rows_of("good", "fine"), settings)}
    CALLS.clear()
    done(rows_of("good", "changed"), settings, first)
    assert CALLS == ["changed"]
    CALLS.clear()
    monkeypatch.setattr(Counting, "version", "counting.2")
    done(rows_of("good", "fine"), settings, first)
    assert CALLS == ["good", "fine"]
