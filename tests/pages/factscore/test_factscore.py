from __future__ import annotations

import csv
import io
import json
import threading
from collections.abc import Iterator

from attribution.errors import BadInput
from attribution.evaluation.factscore.answer import AnswerScored, Decomposed, Judged, ScoredAnswer
from attribution.evaluation.factscore.saved import Scored, load, save
from attribution.events import Event, Progress, StageStarted
from attribution.storage.store import Store
from attribution.text.json_lines import Row
from pages.ui.factscore.job import ScoreJob
from pages.ui.factscore.view import all_tables, as_csv, as_lines, facts, summary, table_node
from pages.ui.html.render import html
from tests.pages.hostile import TEXTS
from tests.pages.jobs import ended

EMPTY = Scored(("sentences", "clauses"), ("embedded-small",))
JUDGED = (
    Judged("a", "supported", 0.9, "One passage supports it.", "It was so.", "A page", "https://example.org/a"),
    Judged("b", "no_relation", 0.8, "Nothing related."),
    Judged("c", "supported", 0.8, "One passage supports it.", "It was.", "B page", "document:b"),
)


def scored(*texts: str) -> ScoredAnswer:
    parts = (Decomposed("sentences", ("a", "b"), 2, 2, 0.1), Decomposed("clauses", ("a", "b", "c"), 3, 3, 0.1))
    names = dict(zip("abc", texts or ("A.", "B.", "C."), strict=True))
    return ScoredAnswer("Q", "A. B.", "", False, "r", names, parts, {"embedded-small": JUDGED})


def test_answers_are_saved_as_they_are_made_and_a_bad_one_costs_itself(store: Store) -> None:
    def score(row: Row, stop: threading.Event) -> Iterator[Event | AnswerScored]:
        if row.line == 2:
            raise BadInput("The answer is empty.")
        yield StageStarted("verify")
        yield Progress("verify", 1, 2)
        yield AnswerScored(scored())

    job = ScoreJob("x1", [Row(n, {"answer": "A"}) for n in (1, 2, 3)] + [Row(4, {}, "not JSON")], EMPTY, score,
                   lambda s: save(store, "x1", s))  # fmt: skip
    now = ended(job)
    assert now.done == now.total == 4 and [f[0] for f in now.failed] == [2, 4] and not now.error
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

    job = ScoreJob("x2", [Row(n, {"answer": "A"}) for n in (1, 2, 3)], EMPTY, score, lambda s: None)
    assert reached.wait(10)
    job.stop()
    now = ended(job)
    assert (now.done, len(now.scored.answers)) == (1, 1)


def test_the_summary_names_both_ends() -> None:
    made = EMPTY.with_answer(scored())
    assert summary(made, 0) == (
        "1 answer, 1 of them responds. FActScore from 0.50 (Sentences, Embedded small model) to 0.67 "
        "(Clauses, Embedded small model)."
    )
    assert "without the length penalty from 0.50" in summary(made, 10)
    assert "there is no score" in summary(EMPTY, 10)
    (grid, *_) = all_tables(made, 0)
    assert "Embedded small model" in html(table_node(grid)) and "0.67" in html(table_node(grid))


def test_facts_stand_behind_every_score_and_stay_text() -> None:
    for text in TEXTS:
        shown = html(facts([scored(text, "=1+1", "C.")], "clauses", "embedded-small"))
        assert not any(tag in shown for tag in ("<script", "<img", "<svg", "<iframe"))
        assert 'href="https://example.org/a"' in shown and "document:b" not in shown
    rows = list(csv.reader(io.StringIO(as_csv(EMPTY.with_answer(scored("A.", "=1+1", "C."))))))
    assert len(rows) == 1 + 2 + 3 and rows[2][4] == "'=1+1" and rows[1][5] == "supported"
    (line,) = as_lines(EMPTY.with_answer(scored())).splitlines()
    assert json.loads(line)["judged"]["embedded-small"][1]["label"] == "no_relation"
