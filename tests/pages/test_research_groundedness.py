import threading
from collections.abc import Iterator
from functools import partial
from typing import Any

from attribution.reports.html import html
from attribution.store.store import Store
from attribution.studies.groundedness.evaluation import (
    BENCHMARK,
    BENCHMARK_SET,
    LeftOut,
    Outcome,
    SavedBenchmark,
    load_benchmark,
)
from attribution.studies.groundedness.labelled_set import LabelledSet
from pages.ui.background import Job
from pages.ui.research.groundedness_page import (
    BenchmarkProgress,
    evaluated,
    row_list,
    scored_rows,
    work,
)
from tests.pages.jobs import ended, opened, until
from tests.studies.groundedness.labels import outcome, row

EVIL = "<script>alert(1)</script>"
ROWS = tuple(
    row(
        n, n % 2 == 0, "development" if n < 4 else "test", error_type="" if n % 2 == 0 else "number"
    ).model_copy(update={"response": f"{EVIL} {n}", "context": (EVIL,), "question": EVIL})
    for n in range(10)
)
LABELLED = LabelledSet(name="a set", rows=ROWS)
# 5 is missed (0.9), 8 is wrongly flagged (0.1)
SCORES = {0: 0.9, 1: 0.1, 2: 0.8, 3: 0.2, 4: 0.9, 5: 0.9, 6: 0.7, 7: 0.3, 8: 0.1, 9: 0.2}
OUTCOMES = tuple(outcome(n, s) for n, s in SCORES.items())
BEGUN = SavedBenchmark(methods=("gc", "quip"), settings={"verifier": "auto"})


def benchmark() -> BenchmarkProgress:
    return evaluated(LABELLED, BEGUN.model_copy(update={"outcomes": OUTCOMES}))


def test_responses_are_listed_wrong_ones_first() -> None:
    scored = scored_rows(benchmark(), "gc")
    assert [one.row.id for one in scored][0] == "5"
    assert {one.row.id for one in scored if one.is_wrong} == {"5", "8"}
    assert scored_rows(benchmark(), "nonsense") == []
    drawn = html(row_list(scored))
    assert "2 of 6 test responses misclassified" in drawn
    assert "&lt;script&gt;" in drawn
    assert "<script" not in drawn


def started(labelled: LabelledSet, saved: SavedBenchmark, *given: Any) -> Job[BenchmarkProgress]:
    return Job(
        "benchmark", evaluated(labelled, saved, running=True), work(labelled, saved, *given), "id"
    )


def test_scores_come_one_by_one_and_stop_keeps_them(store: Store) -> None:
    BENCHMARK_SET.save(store, "id", LABELLED)
    save = partial(BENCHMARK.save, store, "id")

    def half(stop: threading.Event) -> Iterator[Outcome | LeftOut]:
        yield from OUTCOMES[:5]
        yield LeftOut("quip", "it is gone")
        assert stop.wait(5)

    job = started(LABELLED, BEGUN, half, save)
    until(lambda: "quip" in job.progress().saved.left_out)
    job.stop()
    now = ended(job)
    assert len(now.saved.outcomes) == 5
    assert now.missing() == ["gc"]
    loaded = load_benchmark(store, "id")
    assert loaded is not None
    assert loaded[0].rows == ROWS
    assert loaded[1] == now.saved


def test_the_page_opens_with_the_example_set() -> None:
    shown = opened("research", study="groundedness")
    assert not shown.exception
    text = " ".join(block.body for block in shown.get("html"))
    assert "28 responses, 14 of them grounded" in text
    assert {b.label: b.disabled for b in shown.button}["Measure"] is False
