import threading
from typing import Any

import numpy as np
import pytest
from sklearn import metrics

from attribution.errors import BadInput, Unavailable, UnknownName
from attribution.settings import Settings
from attribution.studies.groundedness import METHODS, Given, Scored
from attribution.studies.groundedness.evaluation import (
    LeftOut,
    Outcome,
    best_threshold,
    estimates,
    evaluate,
    run,
    selected,
)
from attribution.tables import Entry
from tests.studies.groundedness.labels import outcome, row


def test_the_threshold_is_tuned_on_the_development_split_alone() -> None:
    """In development 0.4 divides the classes; on test, 0.8 would."""
    rows, outcomes = [], []
    for n in range(20):
        grounded = bool(n % 2)
        rows += [row(n, grounded, "development"), row(100 + n, grounded, "test")]
        outcomes += [
            outcome(n, 0.5 if grounded else 0.3),
            outcome(100 + n, 0.9 if grounded else 0.7),
        ]
    (figures,) = evaluate(rows, outcomes, ["gc"]).figures
    assert figures.threshold == pytest.approx(0.4)
    assert figures.development_macro_f1 == 1.0
    assert figures.accuracy.value == 0.5


def test_the_reading_is_tuned_too_and_on_development_alone() -> None:
    rows = [row(n, n % 2 == 0, "development" if n < 8 else "test") for n in range(16)]
    outcomes = []
    for r in rows:
        good, noise = (0.9 if r.grounded else 0.1), 0.5
        here = {"a": noise, "b": good} if r.split == "development" else {"a": good, "b": 1 - good}
        outcomes.append(outcome(int(r.id), here))
    (figures,) = evaluate(rows, outcomes, ["gc"]).figures
    assert figures.reading == "b" and figures.accuracy.value == 0.0


@pytest.mark.parametrize("seed", range(5))
def test_measures_equal_those_of_scikit_learn(seed: int) -> None:
    drawn = np.random.default_rng(seed)
    grounded, flags = drawn.random(40) < 0.6, drawn.random(40) < 0.3
    found = {
        name: e.value for name, e in estimates([str(n) for n in range(40)], grounded, flags).items()
    }
    assert found == pytest.approx(
        {
            "precision": metrics.precision_score(~grounded, flags),
            "recall": metrics.recall_score(~grounded, flags),
            "macro_f1": metrics.f1_score(~grounded, flags, average="macro"),
            "accuracy": metrics.accuracy_score(~grounded, flags),
        },
        abs=1e-4,
    )


def test_rows_that_failed_are_counted_and_left_out_and_a_missing_class_is_said() -> None:
    rows = [row(1, True, "development"), row(2, False, "development"), row(3, True), row(4, False)]
    good = [outcome(n, s) for n, s in ((1, 0.9), (2, 0.1), (3, 0.8), (4, 0.2))]
    failed = outcome(4, {}, error="the reply was empty")
    assert evaluate(rows, [*good[:3], failed], ["gc"]).unmeasured == {
        "gc": "no ungrounded response in the test split has a score"
    }
    more = [*rows, row(5, False)]
    (f,) = evaluate(more, [*good, outcome(5, {}, error="x")], ["gc"]).figures
    assert f.failed == 1 and f.test == 2
    assert evaluate(rows, [], ["gc"]).unmeasured["gc"].count("split") == 4


def test_the_best_threshold_is_really_the_best() -> None:
    drawn = np.random.default_rng(1)
    for _ in range(20):
        scores, grounded = drawn.integers(0, 6, 30) / 5, drawn.random(30) < 0.5
        if grounded.all() or not grounded.any():
            continue
        best = best_threshold("", scores, grounded).macro_f1

        def macro(
            threshold: float, scores: np.ndarray = scores, grounded: np.ndarray = grounded
        ) -> float:
            passed, f1 = scores >= threshold, []
            for g, p in ((grounded, passed), (~grounded, ~passed)):
                f1.append(2 * (g & p).sum() / max(1, g.sum() + p.sum()))
            return float(np.mean(f1))

        assert best == pytest.approx(max(macro(t) for t in np.linspace(-0.1, 1.1, 61)))


CALLS: list[str] = []


class Counting:
    """A method that counts its calls and fails where it is told to."""

    usage, version = None, "counting.1"

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
    monkeypatch.setitem(METHODS, "counting", Entry(f"{__name__}:Counting", "Counting", "counts"))


def rows_of(*responses: str) -> list[Any]:
    return [row(n, True).model_copy(update={"response": text}) for n, text in enumerate(responses)]


def done(
    rows: list[Any], settings: Settings, finished: Any = None, stop: threading.Event | None = None
) -> list[Any]:
    return list(run(rows, ["counting"], settings, finished or {}, stop or threading.Event()))


def test_what_is_not_ready_is_left_out_with_the_step(settings: Settings) -> None:
    ready, left_out = selected(["quip", "direct", "quip"], settings)
    assert (
        ready == ["quip"]
        and [one.method for one in left_out] == ["direct"]
        and "OPENAI" in left_out[0].reason
    )
    ready, left_out = selected(["all"], settings)
    assert set(ready) == {"cos_sim", "quip", "gc", "selfcheck_context", "pipeline", "counting"}
    assert set(ready) | {one.method for one in left_out} == set(METHODS)
    assert (
        "hf download vectara/hallucination_evaluation_model --revision hhem-1.0-open"
        in left_out[0].reason
    )
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
    assert isinstance(found[0], Outcome) and found[1] == LeftOut(
        "counting", "the model is gone", "OSError"
    )
    assert len(found) == 2 and "never" not in CALLS


def test_stop_ends_after_the_row_in_progress_and_the_rest_is_done_later(settings: Settings) -> None:
    first = done(rows_of("good", "stop", "later"), settings)
    assert [o.row for o in first] == ["0", "1"]
    CALLS.clear()
    whole = done(rows_of("good", "stop", "later"), settings, {(o.method, o.row): o for o in first})
    assert [o.row for o in whole] == ["0", "1", "2"] and CALLS == ["later"]


def test_changed_texts_or_another_version_are_scored_again(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = {(o.method, o.row): o for o in done(rows_of("good", "fine"), settings)}
    CALLS.clear()
    done(rows_of("good", "changed"), settings, first)
    assert CALLS == ["changed"]
    CALLS.clear()
    monkeypatch.setattr(Counting, "version", "counting.2")
    done(rows_of("good", "fine"), settings, first)
    assert CALLS == ["good", "fine"]
