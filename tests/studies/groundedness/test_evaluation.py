import threading
from typing import Any

import numpy as np
import pytest
from sklearn import metrics

from attribution.errors import BadInput, Unavailable, UnknownName
from attribution.settings import Settings
from attribution.studies.groundedness import METHODS, Given, Scores
from attribution.studies.groundedness.evaluation import (
    LeftOut,
    Outcome,
    best_threshold,
    evaluate,
    measure,
    run,
    scored_rows,
    selected,
    tune,
)
from attribution.tables import Entry
from tests.studies.groundedness.labels import outcome, row


def test_the_threshold_is_tuned_on_the_development_split_alone() -> None:
    """In development 0.4 divides the classes; on test, 0.8 would."""
    rows, outcomes = [], []
    for n in range(20):
        grounded = bool(n % 2)
        rows += [row(n, grounded, "development"), row(100 + n, grounded, "test")]
        outcomes.append(outcome(n, 0.5 if grounded else 0.3))
        outcomes.append(outcome(100 + n, 0.9 if grounded else 0.7))
    (figures,) = evaluate(rows, outcomes, ["gc"]).figures
    assert figures.threshold == pytest.approx(0.4)
    assert figures.accuracy == 0.5


def test_the_reading_is_tuned_too() -> None:
    rows = [row(n, n % 2 == 0, "development" if n < 8 else "test") for n in range(16)]
    outcomes = [outcome(n, {"a": 0.5, "b": 0.9 - n % 2 * 0.8}) for n in range(16)]
    (figures,) = evaluate(rows, outcomes, ["gc"]).figures
    assert figures.reading == "b"
    assert figures.macro_f1 == 1


@pytest.mark.parametrize(
    ("method", "threshold"), [("contextnli", 0.3), ("cos_sim", 0.7), ("lynx", 0.5)]
)
def test_selfcheckgpt_is_tuned_on_training_rows_and_a_binary_judge_not_at_all(
    method: str, threshold: float
) -> None:
    rows = [row(n, n % 2 == 0, "training" if n < 4 else "development") for n in range(8)]
    scores = [0.4, 0.2, 0.4, 0.2, 0.8, 0.6, 0.8, 0.6]
    outcomes = [outcome(n, score, method) for n, score in enumerate(scores)]
    tuning = tune(method, scored_rows(rows, outcomes, method))
    assert tuning.threshold == pytest.approx(threshold)


@pytest.mark.parametrize("seed", range(3))
def test_measures_are_macro_averages_of_both_classes(seed: int) -> None:
    drawn = np.random.default_rng(seed)
    grounded, scores = drawn.random(40) < 0.6, drawn.random(40)
    rows = [row(n, bool(label), "development") for n, label in enumerate(grounded)]
    outcomes = [outcome(n, float(score)) for n, score in enumerate(scores)]
    scored = scored_rows(rows, outcomes, "gc")
    tuning = tune("gc", scored)
    passed = scores >= tuning.threshold
    found = measure(tuning, scored)
    expected = metrics.precision_score(grounded, passed, average="macro", zero_division=0)
    assert found.precision == pytest.approx(expected, abs=1e-4)
    assert found.macro_f1 == pytest.approx(tuning.macro_f1, abs=1e-4)
    thresholds = np.linspace(-0.1, 1.1, 61)
    f1 = [metrics.f1_score(grounded, scores >= t, average="macro") for t in thresholds]
    assert found.macro_f1 >= max(f1) - 1e-4


def test_a_response_without_a_usable_reply_counts_as_wrong() -> None:
    rows = [row(n, n % 2 == 0, "development" if n < 4 else "test") for n in range(8)]
    outcomes = [outcome(n, 0.9 - n % 2 * 0.8) for n in range(7)]
    failed = outcome(7, {}, error="the reply was empty")
    (figures,) = evaluate(rows, [*outcomes, failed], ["gc"]).figures
    assert figures.accuracy == 0.75
    assert (figures.failed, figures.test) == (1, 4)


def test_a_missing_class_is_said() -> None:
    rows = [row(1, True, "development"), row(2, False, "development"), row(3, True)]
    outcomes = [outcome(1, 0.9), outcome(2, 0.1), outcome(3, 0.8)]
    unmeasured = evaluate(rows, outcomes, ["gc"]).unmeasured
    assert unmeasured == {"gc": "no ungrounded response in the test split has a score"}


def test_a_response_of_several_error_types_counts_in_each() -> None:
    rows = [row(n, n % 2 == 0, "development" if n < 4 else "test", "a; b") for n in range(8)]
    rows = [r.model_copy(update={"error_type": ""}) if r.grounded else r for r in rows]
    outcomes = [outcome(n, 0.9 - n % 2 * 0.8) for n in range(7)] + [outcome(7, 0.9)]
    (figures,) = evaluate(rows, outcomes, ["gc"]).figures
    counts = [(kind.name, kind.rows, kind.misclassified) for kind in figures.error_types]
    assert counts == [("", 2, 0), ("a", 2, 1), ("b", 2, 1)]


def test_of_equal_thresholds_the_middle_one_is_taken() -> None:
    tuning = best_threshold("", [0.1, 0.2, 0.8], [False, False, True])
    assert tuning.threshold == pytest.approx(0.5)
    assert tuning.macro_f1 == 1


CALLS: list[str] = []


class Counting:
    """A method that counts its calls and fails where it is told to."""

    def __init__(self, settings: Settings) -> None:
        pass

    def score(self, given: Given, stop: threading.Event) -> Scores:
        CALLS.append(given.response)
        if given.response == "bad":
            raise BadInput("too long")
        if given.response == "broken":
            raise Unavailable("the model is gone", "OSError")
        if given.response == "stop":
            stop.set()
        return {"": 0.1234567}


@pytest.fixture(autouse=True)
def counting(monkeypatch: pytest.MonkeyPatch) -> None:
    CALLS.clear()
    monkeypatch.setitem(METHODS, "counting", Entry(f"{__name__}:Counting", "Counting", "counts"))


def done(settings: Settings, *responses: str) -> list[Any]:
    rows = [row(n, True).model_copy(update={"response": r}) for n, r in enumerate(responses)]
    return list(run(rows, ["counting"], settings, threading.Event()))


def test_what_is_not_ready_is_left_out_with_the_step(settings: Settings) -> None:
    ready, left_out = selected(["all"], settings)
    assert set(ready) == {"cos_sim", "quip", "pipeline", "counting"}
    assert set(ready) | {one.method for one in left_out} == set(METHODS)
    assert "--revision hhem-1.0-open" in left_out[0].reason
    with pytest.raises(UnknownName, match="expected one of cos_sim"):
        selected(["nonsense"], settings)
    with pytest.raises(Unavailable, match="lynx: set OPENAI"):
        selected(["lynx"], settings)


def test_a_row_that_fails_costs_itself(settings: Settings) -> None:
    found = done(settings, "good", "bad", "fine")
    assert [one.error for one in found] == ["", "too long", ""]
    assert found[0].scores == {"": 0.123457}


def test_a_model_that_cannot_be_loaded_leaves_its_method_out(settings: Settings) -> None:
    found = done(settings, "good", "broken", "never")
    assert isinstance(found[0], Outcome)
    assert found[1] == LeftOut("counting", "the model is gone")
    assert "never" not in CALLS


def test_stop_ends_after_the_row_in_progress(settings: Settings) -> None:
    assert [one.row for one in done(settings, "good", "stop", "later")] == ["0", "1"]
