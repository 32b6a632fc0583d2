import csv
import io
import itertools
import shutil
import threading
from pathlib import Path

import pytest

from attribution import events
from attribution.errors import BadInput
from attribution.files import FORMULA, csv_text
from attribution.policy import DecisionPolicy
from attribution.settings import Settings
from attribution.store.runs import new_run_id
from attribution.store.store import Store
from attribution.studies.results import ResultTable
from attribution.studies.segmenters.comparison import (
    Comparison,
    ComparisonReady,
    SegmenterResult,
    SentenceRow,
    compare,
    decomposition,
    load_comparison,
    load_experiment,
    recolour_comparison,
    save_comparison,
    save_experiment,
    with_verdicts,
    without_page_texts,
)
from attribution.types import Claim, Label, Turn, content_id
from tests.make import both

QUESTION = "What is the Eiffel Tower?"
ANSWER = (
    "The Eiffel Tower was designed by Gustave Eiffel's company and was finished in 1889. "
    "It stands in Paris. I hope this helps!"
)


NAMES = ["sentences", "clauses"]


@pytest.fixture(scope="module")
def made(
    tmp_path_factory: pytest.TempPathFactory, warm_database: Path
) -> tuple[Comparison, list[object]]:
    url = f"sqlite:///{shutil.copy(warm_database, tmp_path_factory.mktemp('compare'))}"
    settings = Settings(database_url=url, verifier="embedded-small")
    seen = list(compare(QUESTION, ANSWER, settings, ["sentences", "clauses"], Store.open(url)))
    last = seen[-1]
    assert isinstance(last, ComparisonReady)
    return last.comparison, list(seen)


def test_every_page_comes_once_and_all_columns_share_it(
    made: tuple[Comparison, list[object]],
) -> None:
    comparison, seen = made
    pages = [e.page.id for e in seen if isinstance(e, events.PageReady)]
    assert pages and len(pages) == len(set(pages))
    sentences, clauses = comparison.columns
    assert sentences.report.pages == clauses.report.pages == comparison.report.pages
    assert len(clauses.report.claims) > len(sentences.report.claims) == 3
    assert {v.claim_id for v in clauses.report.verdicts} == {c.id for c in clauses.report.claims}
    for column in comparison.columns:
        ids = {c.id for c in column.report.claims}
        assert all(e.claim_id in ids for e in column.report.evidence)


def test_references_are_resolved_into_the_conversation_before_the_question(
    settings: Settings, store: Store
) -> None:
    context: tuple[Turn, ...] = (("user", "What is the Eiffel Tower?"),)
    steps = compare(
        "When was it built?", "It was finished in 1889.", settings, NAMES, store, context=context
    )
    *_, last = steps
    assert isinstance(last, ComparisonReady) and last.comparison.report.context == context
    for column in last.comparison.columns:
        assert [c.statement for c in column.report.claims] == [
            "The Eiffel Tower was finished in 1889."
        ]
        assert column.report.context == context


def test_rows_follow_the_sentences_and_hold_every_claim_once(
    made: tuple[Comparison, list[object]],
) -> None:
    comparison, _ = made
    starts = [row.sentence[0] for row in comparison.rows]
    assert starts == sorted(starts) and len(starts) == 3
    for number, column in enumerate(comparison.columns):
        placed = [i for row in comparison.rows for i in row.claims[number]]
        assert sorted(placed) == sorted(c.id for c in column.report.claims)
    first = comparison.rows[0]
    assert len(first.claims[0]) == 1 and len(first.claims[1]) >= 2
    assert (
        comparison.rows[2].labels == (("not_checked",), ("not_checked",))
        and not comparison.rows[2].flips
    )
    assert comparison.rows[2].same_claims and not first.same_claims


def test_the_columns_are_there_before_any_verdict_and_take_them_as_they_come(
    made: tuple[Comparison, list[object]],
) -> None:
    last, seen = made
    kinds = [type(e) for e in seen]
    assert [e.segmenter for e in seen if isinstance(e, SegmenterResult)] == ["sentences", "clauses"]
    first = next(e for e in seen if isinstance(e, ComparisonReady))
    assert kinds.index(ComparisonReady) < kinds.index(events.VerdictReady) and not first.finished
    assert all(row.pending and not row.flips for row in first.comparison.rows)
    verdicts = [e.verdict for e in seen if isinstance(e, events.VerdictReady)]
    some = first.comparison.report.model_copy(update={"verdicts": tuple(verdicts[:2])})
    partly = with_verdicts(first.comparison, some)
    known = {v.claim_id for v in verdicts[:2]}
    assert {v.claim_id for c in partly.columns for v in c.report.verdicts} == known
    for row in partly.rows:
        assert row.pending is not ({i for ids in row.claims for i in ids} <= known)
    assert with_verdicts(first.comparison, last.report) == last
    assert not any(row.pending for row in last.rows)


def test_stopped_it_keeps_the_segmenters_and_verdicts_it_has(settings: Settings) -> None:
    """A claim that was not reached has no verdict: none would otherwise seem to depend on the cut."""

    def stopped_at(kind: type) -> tuple[Comparison, list[object]]:
        stop, seen = threading.Event(), []
        for event in compare(QUESTION, ANSWER, settings, ["sentences", "clauses"], stop=stop):
            seen.append(event)
            if isinstance(event, kind):
                stop.set()
        last = seen[-1]
        assert (
            isinstance(last, ComparisonReady) and last.finished and last.comparison.report.stopped
        )
        return last.comparison, seen

    early, _ = stopped_at(SegmenterResult)
    assert [c.segmenter for c in early.columns] == ["sentences"] and len(
        early.columns[0].report.claims
    ) == 3
    later, seen = stopped_at(events.VerdictReady)
    verdicts = [e.verdict for e in seen if isinstance(e, events.VerdictReady)]
    checked = {v.claim_id for v in verdicts if "stopped" not in v.reason}
    assert len(later.columns) == 2 and checked
    assert {v.claim_id for c in later.columns for v in c.report.verdicts} == checked
    assert any(row.pending for row in later.rows) and not any(row.flips for row in later.rows)


@pytest.mark.parametrize(
    ("left", "right", "flips"),
    [
        (["no_relation"], ["supported"], True),
        (
            ["no_relation"],
            ["supported", "no_relation"],
            True,
        ),  # that a part that is supported came to light
        (["contradicted"], ["contradicted", "not_checked"], False),
        (["supported"], [], False),
        (["supported"], ["not_checked"], False),
    ],
)
def test_a_sentence_flips_where_the_cut_changes_what_is_found(
    left: list[Label], right: list[Label], flips: bool
) -> None:
    row = SentenceRow((0, 1), (("a",), ("b",)), (tuple(left), tuple(right)))
    assert row.flips is flips
    assert not SentenceRow(row.sentence, row.claims, row.labels, pending=True).flips


def test_a_threshold_recolours_all_of_it(made: tuple[Comparison, list[object]]) -> None:
    comparison, _ = made
    strict = recolour_comparison(comparison, both(0.99))
    assert strict.report.settings["threshold"] == 0.99
    assert sum(c.figures.supported for c in strict.columns) <= sum(
        c.figures.supported for c in comparison.columns
    )
    assert (
        recolour_comparison(comparison, DecisionPolicy.of(comparison.report.settings)) is comparison
    )


def test_one_segmenter_five_or_an_empty_answer_are_refused(settings: Settings) -> None:
    for names in (["sentences"], ["sentences", "sentences"], ["sentences", "nope"]):
        with pytest.raises(BadInput, match="two to four|nope"):
            next(compare(QUESTION, ANSWER, settings, names))
    with pytest.raises(BadInput, match="empty"):
        next(compare(QUESTION, " ", settings, ["sentences", "clauses"]))


def test_a_spreadsheet_runs_nothing_of_a_table_and_a_pipe_stays_in_its_cell() -> None:
    told = (
        "=1+1",
        "+1",
        "-1",
        "@sum",
        "\t=1",
        "\ufeff=1",
        "＝1",
        'say "=1"',
        "a|b",
        -1,
        -0.5,
        None,
    )
    rows = list(csv.reader(io.StringIO(csv_text([told]))))
    assert rows == [
        [
            "'=1+1",
            "'+1",
            "'-1",
            "'@sum",
            "'=1",
            "'\ufeff=1",
            "'＝1",
            'say "=1"',
            "a|b",
            "-1",
            "-0.5",
            "",
        ]
    ]
    table = ResultTable("T", ("segmenter", "x"), (("a|b", 1), ("c", None)))
    told = ("x;=1+1", 'x; "=1+1"', "a;b;\t-1", "a; b = c", ";@x;")
    rows = list(csv.reader(io.StringIO(csv_text([told]))))
    assert rows == [["x;'=1+1", 'x;\' "=1+1"', "a;b;' -1", "a; b = c", ";'@x;"]]
    for before, separator in itertools.product(("", "x", "x;", "x,", "x\t", 'x";', "x; "), ",;\t"):
        told = [
            before + c
            for c in ("=cmd|' /C calc'!A0", "+1", "-2+3", "@SUM(1)", "\t=1", '"=1"', " =1", "=1;=2")
        ]
        cells = [
            cell
            for row in csv.reader(io.StringIO(csv_text([told])), delimiter=separator)
            for cell in row
        ]
        assert not [
            cell for cell in cells if cell.strip(' "')[:1] in FORMULA
        ]  # whatever divides the cells
    assert table.markdown().splitlines()[-2:] == ["| a\\|b | 1 |", "| c | – |"]


def test_a_saved_comparison_comes_back_whole(
    made: tuple[Comparison, list[object]], store: Store
) -> None:
    comparison, _ = made
    result_id = new_run_id()
    assert load_comparison(store, result_id) is None
    save_comparison(store, result_id, comparison)
    assert load_comparison(store, result_id) == comparison
    save_experiment(store, result_id, [comparison, comparison])
    assert load_experiment(store, result_id) == (without_page_texts(comparison),) * 2


DECOMPOSED = "Ada Lovelace wrote notes in 1843. I hope this helps!"
SENTENCE = (0, 33)


def claim(
    text: str, worthiness: str = "factual", span: tuple[int, int] = SENTENCE, coherent: bool = True
) -> Claim:
    return Claim(
        id=content_id(text),
        text=text,
        spans=(span,),
        sentence=span,
        worthiness=worthiness,
        coherent=coherent,
    )


SENTENCES = [claim(DECOMPOSED[:33]), claim(DECOMPOSED[34:], "not_a_claim", (34, 52))]


def test_figures_of_two_claims_from_one_sentence() -> None:
    notes, year = (
        claim("Ada Lovelace wrote notes."),
        claim("The notes were written by Ada in 1843.", coherent=False),
    )
    figures = decomposition(DECOMPOSED, SENTENCES, [notes, year], lambda text: 1 + ("by" in text))
    assert (figures.claims, figures.unique, figures.sentences) == (2, 2, 1)
    assert figures.claims_per_sentence == 2.0
    assert figures.characters_per_claim == (len(notes.text) + len(year.text)) / 2
    assert figures.coherent == 0.5 and figures.atomic == 0.5
    assert figures.coverage == 1.0


def test_claims_of_elsewhere_cover_no_words() -> None:
    name, other = claim("Ada Lovelace wrote."), claim("The notes are of 1843.", span=(34, 52))
    figures = decomposition(DECOMPOSED, SENTENCES, [name, other])
    assert figures.coverage == 0.6  # neither “notes” nor “1843”
