import json
import threading
from pathlib import Path

import pytest

from attribution import events
from attribution.errors import BadInput
from attribution.settings import Settings
from attribution.store.runs import new_run_id
from attribution.store.store import Store
from attribution.studies.segmenter_comparison import (
    Column,
    Comparison,
    ComparisonReady,
    SegmenterResult,
    compare,
    compare_many,
    decomposition,
    load_comparison,
    save_comparison,
    tables,
    with_verdicts,
)
from attribution.text_files import Row
from tests import make
from tests.make import claim

QUESTION = "What is the Eiffel Tower?"
ANSWER = (
    "The Eiffel Tower was designed by Gustave Eiffel's company and was finished in 1889. "
    "It stands in Paris. I hope this helps!"
)
NAMES = ["sentences", "clauses"]
Made = tuple[Comparison, list[object]]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    url = f"sqlite:///{tmp_path_factory.mktemp('compare')}/attribution.sqlite3"
    settings = Settings(database_url=url, verifier="embedded-small")
    seen = list(compare(QUESTION, ANSWER, settings, NAMES, Store.open(url)))
    last = seen[-1]
    assert isinstance(last, ComparisonReady)
    return last.comparison, list(seen)


def test_every_page_comes_once_and_all_columns_share_it(made: Made) -> None:
    comparison, seen = made
    pages = [event.page.id for event in seen if isinstance(event, events.PageReady)]
    assert pages
    assert len(pages) == len(set(pages))
    sentences, clauses = comparison.columns
    assert sentences.report.pages == clauses.report.pages == comparison.report.pages


def test_each_column_has_the_verdicts_and_evidence_of_its_claims(made: Made) -> None:
    for column in made[0].columns:
        ids = {claim.id for claim in column.report.claims}
        assert {verdict.claim_id for verdict in column.report.verdicts} == ids
        assert {piece.claim_id for piece in column.report.evidence} <= ids


def test_rows_follow_the_sentences_and_hold_every_claim_once(made: Made) -> None:
    comparison, _ = made
    starts = [row.sentence[0] for row in comparison.rows]
    assert starts == sorted(starts)
    assert len(starts) == 3
    for number, column in enumerate(comparison.columns):
        placed = [claim_id for row in comparison.rows for claim_id in row.claims[number]]
        assert sorted(placed) == sorted(claim.id for claim in column.report.claims)
    first = comparison.rows[0]
    assert len(first.claims[1]) >= 2


def test_the_columns_come_before_any_verdict_and_take_them_as_they_come(made: Made) -> None:
    last, seen = made
    kinds = [type(event) for event in seen]
    assert kinds.index(SegmenterResult) < kinds.index(ComparisonReady)
    assert kinds.index(ComparisonReady) < kinds.index(events.VerdictReady)
    first = next(event for event in seen if isinstance(event, ComparisonReady)).comparison
    assert not any(column.report.verdicts for column in first.columns)
    assert with_verdicts(first, last.report) == last


@pytest.mark.parametrize("kind", [SegmenterResult, events.VerdictReady])
def test_a_stopped_comparison_keeps_what_it_has(kind: type, settings: Settings) -> None:
    stop = threading.Event()
    seen = []
    for event in compare(QUESTION, ANSWER, settings, NAMES, stop=stop):
        seen.append(event)
        if isinstance(event, kind):
            stop.set()
    last = seen[-1]
    assert isinstance(last, ComparisonReady)
    assert last.comparison.report.stopped
    if kind is SegmenterResult:
        assert [column.segmenter for column in last.comparison.columns] == ["sentences"]
    else:
        reports = [column.report for column in last.comparison.columns]
        assert all(len(report.verdicts) <= len(report.claims) for report in reports)
        assert any(len(report.verdicts) < len(report.claims) for report in reports)


def test_one_segmenter_five_or_an_empty_answer_are_refused(settings: Settings) -> None:
    for names in (["sentences"], ["sentences", "sentences"], ["sentences", "nope"]):
        with pytest.raises(BadInput, match="two to four|nope"):
            next(compare(QUESTION, ANSWER, settings, names))
    with pytest.raises(BadInput, match="empty"):
        next(compare(QUESTION, " ", settings, ["sentences", "clauses"]))


def test_a_saved_comparison_comes_back_whole(made: Made, store: Store) -> None:
    comparison, _ = made
    result_id = new_run_id()
    assert load_comparison(store, result_id) is None
    save_comparison(store, result_id, comparison)
    assert load_comparison(store, result_id) == comparison


DECOMPOSED = "Ada Lovelace wrote notes in 1843. I hope this helps!"
SENTENCE = (0, 33)


SENTENCES = [
    claim(DECOMPOSED[:33], sentence=SENTENCE),
    claim(DECOMPOSED[34:], "not_a_claim", sentence=(34, 52)),
]


def test_figures_of_two_claims_from_one_sentence() -> None:
    notes, year = (
        claim("Ada Lovelace wrote notes.", sentence=SENTENCE),
        claim("The notes were written by Ada in 1843.", sentence=SENTENCE, coherent=False),
    )
    figures = decomposition(SENTENCES, [notes, year])
    assert (figures.claims, figures.unique, figures.sentences) == (2, 2, 1)
    assert figures.claims_per_sentence == 2.0
    assert figures.characters_per_claim == (len(notes.text) + len(year.text)) / 2
    assert figures.coherent == 0.5


ROWS = [
    Row(
        1, {"question": "Q", "answer": "The Eiffel Tower was finished in 1889 and stands in Paris."}
    ),
    Row(2, {"answer": "x" * 20_001}),
    Row(4, {"answer": "I hope this helps!"}),
    Row(5, {}, "not JSON"),
]


def test_answers_are_kept_as_they_are_made_and_taken_up_again(
    settings: Settings, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    steps = compare_many(ROWS, settings, NAMES, out)
    assert [str(next(steps)), str(next(steps))] == ["1/4: line 5: not JSON", "2/4"]
    steps.close()  # ended in the middle
    first = (out / "comparisons.jsonl").read_text().splitlines()[1]
    with (out / "comparisons.jsonl").open("a") as file:
        file.write('{"key": "cut of')
    done = list(compare_many(ROWS, settings, NAMES, out))
    assert [step.done for step in done] == [1, 2, 3, 4]
    assert done[-1].failed == 2
    assert "line 2: The answer has 20,001 characters" in done[2].problem
    again = (out / "comparisons.jsonl").read_text().splitlines()
    assert again[0] == first
    assert [json.loads(line)["line"] for line in again] == [1, 5, 2, 4]
    assert "| clauses |" in (out / "tables.md").read_text()


def test_a_row_has_its_own_conversation(settings: Settings, tmp_path: Path) -> None:
    turns = "User: What is the Eiffel Tower?"
    fields = {"question": "When was it built?", "answer": "It was finished in 1889."}
    rows = [Row(1, fields), Row(2, fields | {"turns": turns})]
    steps = compare_many(rows, settings, NAMES, tmp_path)
    assert [step.problem for step in steps] == ["", ""]
    lines = [json.loads(line) for line in (tmp_path / "comparisons.jsonl").read_text().splitlines()]
    assert lines[0]["key"] != lines[1]["key"]
    assert [line["comparison"]["report"].get("context", []) for line in lines] == [
        [],
        [["user", "What is the Eiffel Tower?"]],
    ]


def test_failed_answers_are_tried_again_and_kept_once(settings: Settings, tmp_path: Path) -> None:
    for _ in range(2):
        list(compare_many([ROWS[1], ROWS[3]], settings, NAMES, tmp_path))
    assert len((tmp_path / "comparisons.jsonl").read_text().splitlines()) == 2


def test_claims_that_the_filter_leaves_out_are_counted_beside_factscore() -> None:
    claims = (claim("It is old."), claim("It is new.", coherent=False))
    report = make.report("It is old.", claims=claims)
    column = Column("clauses", report, decomposition((), claims), 0.0)
    factscore = tables([Comparison(report, (column,), ())])[-1]
    place = factscore.columns.index("incoherent, left out")
    assert factscore.rows[0][place] == 1
