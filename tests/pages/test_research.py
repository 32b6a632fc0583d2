import json
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from attribution.errors import BadInput
from attribution.reports.html import html
from attribution.settings import Settings
from attribution.store.store import Store
from attribution.studies.annotation.figures import CountedJudgements
from attribution.studies.annotation.project import Annotations
from attribution.studies.groundedness.evaluation import (
    BENCHMARK,
    BENCHMARK_SET,
    LeftOut,
    Outcome,
    SavedBenchmark,
    load_benchmark,
)
from attribution.studies.groundedness.labelled_set import LabelledSet
from attribution.studies.papers.reproduce import Reproduced, TableInputs, find, reproduce
from pages.ui.background import Job
from pages.ui.research import papers_page
from pages.ui.research.groundedness_page import (
    BenchmarkProgress,
    evaluated,
    row_list,
    scored_rows,
    work,
)
from pages.ui.research.manage import agreement_table, share_table
from pages.ui.research.papers_page import TABLE, TableProgress, read, rows_of
from tests.pages.jobs import ended, opened, text
from tests.serve import until
from tests.studies.annotation.made import CONTENT, filled, say
from tests.studies.groundedness.labels import outcome, row


def test_a_project_is_made_and_somebody_joins(store: Store) -> None:
    shown = opened("research", study="annotation")
    assert not shown.exception
    shown.text_input[0].input("Rivers")
    next(box for box in shown.text_input if box.label == "Annotators").input("ann, bob")
    next(button for button in shown.button if button.label == "Create the project").click().run()
    assert "“Rivers” was created" in text(shown)
    saved = Annotations(store.database)
    (project,) = saved.projects()
    assert saved.work(project).annotators == ("ann", "bob")
    assert project.overlap == 5
    people = next(box for box in shown.text_input if box.label == "Add people")
    people.input("lea")
    next(button for button in shown.button if button.label == "Add as leads").click().run()
    assert saved.work(project).leads == ("lea",)
    assert not shown.exception


def test_results_count_each_task_once(store: Store) -> None:
    saved = Annotations(store.database)
    project = filled(saved, 6, names="ann bob cem", overlap=3)
    answers = ("attributable", "not_attributable", "flagged")
    for number, task in enumerate(saved.task_ids(project.id)):
        for name, answer in zip(("ann", "bob", "cem"), answers, strict=True):
            say(saved, project, task, name, CONTENT["attributable" if number < 4 else answer])
    counted = CountedJudgements.of(saved, project)
    (row,) = share_table(counted).rows
    assert row[:3] == ("d", "a", 6)
    assert str(row[3]).startswith("0.0 % of 4")
    assert str(row[5]).startswith("100.0 % of 4")
    assert row[6] == 2
    assert agreement_table(counted).rows[0][1] == 6


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
    assert "28 responses, 14 of them grounded" in text(shown)
    assert {b.label: b.disabled for b in shown.button}["Measure"] is False


ANSWERS = "".join(
    json.dumps({"answer": f"Paris has {n} bridges. It is old."}) + "\n" for n in (30, 37)
).encode()


def given(tmp_path: Path) -> TableInputs:
    settings = Settings(database_url=f"sqlite:///{tmp_path}/p.sqlite3")
    return TableInputs(settings, tmp_path / "folder", rows_of(find("V24.T1"), ANSWERS))


def test_a_table_is_computed_saved_and_read_again(tmp_path: Path, store: Store) -> None:
    begun, saved = given(tmp_path), list[Reproduced]()
    job = Job(
        "paper",
        TableProgress(total=2),
        papers_page.work(begun, lambda _: reproduce("V24.T1", begun), saved.append),
    )
    now = ended(job)
    assert not now.error
    assert now.done == 2
    assert now.result == saved[0]
    assert not begun.folder.exists()
    assert now.result.table.rows[0][:3] == ("spaCy_sentences", "published", "938")
    assert now.result.table.rows[1][:3] == ("spaCy_sentences", "spacy, rules", 4)
    TABLE.save(store, "a" * 16, saved[0])
    assert read(store, "a" * 16) == TableProgress(result=saved[0], running=False)
    assert read(store, "b" * 16) is None


def test_rows_are_those_of_the_table() -> None:
    labelled = b'{"response": "r", "context": "c", "grounded": true}\n'
    assert len(rows_of(find("T24.T3"), labelled)) == 1
    assert len(rows_of(find("V24.T1"), ANSWERS)) == 2
    with pytest.raises(BadInput, match="501 rows"):
        rows_of(find("V24.T1"), b'{"answer": "a"}\n' * 501)


def test_the_page_takes_what_the_command_takes(store: Store) -> None:
    shown = opened("research", study="papers")
    assert not shown.exception
    labels = {box.label for box in (*shown.selectbox, *shown.text_input)}
    assert {"Table", "Language models"} <= labels
    assert any("Sources" in pills.label for pills in shown.get("button_group"))
