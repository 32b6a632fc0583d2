from __future__ import annotations

import csv
import io
import json
import threading
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from attribution.errors import BadInput
from attribution.events import Event, Progress, StageStarted
from attribution.files import Row
from attribution.reports.html import html
from attribution.store.store import Store
from attribution.studies.factscore.answer import AnswerScored, Decomposed, JudgedFact, ScoredAnswer
from attribution.studies.factscore.experiment import Scored, load, save
from pages.factscore import ScoreProgress, work
from pages.ui.background import Job
from pages.ui.lab.factscore_results import (
    Behind,
    all_tables,
    as_csv,
    as_lines,
    found,
    of_cell,
    rows,
    summary,
    table_node,
    title,
)
from tests.pages.hostile import TEXTS
from tests.pages.jobs import ended

EMPTY = Scored(("sentences", "clauses"), ("embedded-small",))
JUDGED = (
    JudgedFact("a", "supported", 0.9, "One passage supports it.", "It was so.", "A page", "https://example.org/a"),
    JudgedFact("b", "no_relation", 0.8, "Nothing related."),
    JudgedFact("c", "supported", 0.8, "One passage supports it.", "It was.", "B page", "document:b"),
)


def scored(*texts: str) -> ScoredAnswer:
    parts = (Decomposed("sentences", ("a", "b"), 2, 2, 0.1), Decomposed("clauses", ("a", "b", "c"), 3, 3, 0.1))
    names = dict(zip("abc", texts or ("A.", "B.", "C."), strict=True))
    return ScoredAnswer("Q", "A. B.", "", False, "r", names, parts, {"embedded-small": JUDGED})


def started(begun: Scored, *given: Any) -> Job[ScoreProgress]:
    return Job("factscore", ScoreProgress(scored=begun), work(begun, *given))


def test_answers_are_saved_as_they_are_made_and_a_bad_one_costs_itself(store: Store) -> None:
    def score(row: Row, stop: threading.Event) -> Iterator[Event | AnswerScored]:
        if row.line == 2:
            raise BadInput("The answer is empty.")
        yield StageStarted("verify")
        yield Progress("verify", 1, 2)
        yield AnswerScored(scored())

    rows = (*(Row(n, {"answer": "A"}) for n in (1, 2, 3)), Row(4, {}, "not JSON"))
    job = started(replace(EMPTY, rows=rows), score, lambda s: save(store, "x1", s))
    now = ended(job)
    assert now.done == now.total == 4 and [f[0] for f in now.scored.failed] == [2, 4] and not now.error
    assert load(store, "x1") == now.scored and len(now.scored.answers) == 2
    assert load(store, "nope") is None


def test_a_stopped_job_keeps_what_is_done() -> None:
    reached = threading.Event()

    def score(row: Row, stop: threading.Event) -> Iterator[Event | AnswerScored]:
        if row.line == 1:
            yield AnswerScored(scored())
            return
        reached.set()
        stop.wait(10)

    saved: list[Scored] = []
    begun = replace(EMPTY, rows=tuple(Row(n, {"answer": "A"}) for n in (1, 2, 3)))
    job = started(begun, score, saved.append)
    assert reached.wait(10)
    job.stop()
    now = ended(job)
    assert (now.done, now.total, len(now.scored.answers)) == (1, 3, 1)
    assert saved == [begun, now.scored]  # what was killed before its first answer is known too

    seen: list[int] = []

    def rest(row: Row, stop: threading.Event) -> Iterator[Event | AnswerScored]:
        seen.append(row.line)
        yield AnswerScored(scored())

    after = ended(started(saved[-1], rest, saved.append))
    assert (after.done, len(after.scored.answers), seen) == (3, 3, [2, 3])


def test_the_summary_names_both_ends() -> None:
    made = EMPTY.with_answer(scored())
    assert summary(made, 0) == (
        "1 answer, 1 of them responds. FActScore from 0.50 (Sentences, Embedded small model) to 0.67 "
        "(Clauses, Embedded small model)."
    )
    assert "without the length penalty from 0.50" in summary(made, 10)
    assert "there is no score" in summary(EMPTY, 10)
    (grid, *_) = all_tables(made, 0)
    drawn = html(table_node(made, grid, 0))
    assert "Embedded small model" in drawn and "0.67" in drawn and "DecompScore" in drawn and "3.00" in drawn


def test_every_number_leads_to_what_it_counts() -> None:
    made = Scored(("sentences", "clauses"), ("embedded-small",), (scored(), replace(scored(), system="B")))
    results = all_tables(made, 0)
    for place, result in enumerate(results):
        for r, cells in enumerate(result.rows):
            for c, value in enumerate(cells):
                is_number = c > 0 and isinstance(value, int | float)
                assert (of_cell(made, result, r, c) is not None) == is_number, (result.title, c)
                assert (f'value="{place}/{r}/{c}"' in html(table_node(made, result, place))) == is_number
    grid, _, parts, sensitivity, systems, left_out = results
    assert of_cell(made, grid, 1, 1) == Behind(("clauses",), ("embedded-small",))
    assert of_cell(made, grid, 1, 2) == of_cell(made, parts, 1, 3) == Behind(("clauses",))
    assert of_cell(made, sensitivity, 0, 2) == Behind(("sentences",), ("embedded-small",))
    assert of_cell(made, sensitivity, 0, 5) == Behind(("sentences", "clauses"), ("embedded-small",))
    assert of_cell(made, systems, 1, 4) == Behind(("clauses",), ("embedded-small",), "B")
    assert of_cell(made, systems, 0, 1) == Behind(system="", answers=True)
    only_b = html(rows(made, Behind(("clauses",), ("embedded-small",), "B")))
    assert only_b.count("<tr>") == 1 + 3 and '<td dir="auto">2</td>' in only_b
    assert html(rows(made, Behind((), ("embedded-small",)))).count("<tr>") == 1 + 6
    assert "There are none" in html(rows(made, Behind((), ("embedded-small",), left_out=True)))
    assert "3 facts" in html(rows(made, Behind(answers=True))) and of_cell(made, left_out, 0, 4) is not None
    assert title(Behind(("clauses",), ("embedded-small",), "B")).endswith("Embedded small model, answers of B")
    for nonsense in ("", "0/0", "9/9/9", "-1/0/1", "a/b/c", "0/0/0"):
        assert found(made, results, nonsense) is None


def test_facts_stand_behind_every_score_and_stay_text() -> None:
    for text in TEXTS:
        made = EMPTY.with_answer(scored(text, "=1+1", "C."))
        shown = html(rows(made, Behind(("clauses",), ("embedded-small",))))
        assert not any(tag in shown for tag in ("<script", "<img", "<svg", "<iframe"))
        assert 'href="https://example.org/a"' in shown and "document:b" not in shown
    lines = list(csv.reader(io.StringIO(as_csv(EMPTY.with_answer(scored("A.", "=1+1", "C."))))))
    assert len(lines) == 1 + 2 + 3 and lines[2][4] == "'=1+1" and lines[1][5] == "supported"
    (line,) = as_lines(EMPTY.with_answer(scored())).splitlines()
    assert json.loads(line)["judged"]["embedded-small"][1]["label"] == "no_relation"
