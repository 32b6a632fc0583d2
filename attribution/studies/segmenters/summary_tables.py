"""Compare segmenters over many answers, with one row for each segmenter, as in V24 and W24."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

from attribution.conversation import turns_of
from attribution.pipeline.experiment import Fields, RowDone, Work, is_result, read_lines, run_rows
from attribution.settings import Settings
from attribution.store.store import Store
from attribution.studies.factscore import Counts, score
from attribution.studies.results import ResultTable, mean, ratio
from attribution.studies.segmenters.comparison import (
    COMPARISON,
    Column,
    Comparison,
    ComparisonReady,
    check_segmenters,
    compare,
    json_data,
)
from attribution.text_files import Cell, Row, replace_text
from attribution.types import LABELS, UNCHECKED, Label

DECIDED: tuple[Label, ...] = tuple(label for label in LABELS if label not in UNCHECKED)
Columns = Sequence[Column]  # of one segmenter, for all answers
Figures = dict[str, Cell]


def compare_many(
    rows: Sequence[Row], settings: Settings, segmenters: Sequence[str], folder: Path
) -> Iterator[RowDone]:
    """Compare every answer, append each to `folder/comparisons.jsonl`, then write the tables.

    An answer that fails has an `error` in that file.

    Raises:
        BadInput: The segmenters can't be compared. Nothing was done.
    """
    check_segmenters(segmenters, settings)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "comparisons.jsonl"
    choices = [settings.identity, list(segmenters)]
    inputs = ("question", "answer", "turns")
    prepare = partial(_prepare, settings, segmenters)
    yield from run_rows(rows, prepare, choices, path, inputs)
    comparisons: list[Comparison] = []
    for line in read_lines(path):
        if is_result(line):
            comparisons.append(COMPARISON.adapter.validate_python(line["comparison"]))
    made = tables(comparisons)
    replace_text(folder / "tables.md", "\n".join(table.markdown() for table in made))


def _prepare(settings: Settings, segmenters: Sequence[str]) -> Work:
    store = Store.open(settings.database_url)

    def compare_row(row: Row) -> Fields:
        question = str(row.fields.get("question") or "")
        answer, turns = str(row.fields["answer"]), turns_of(row.fields.get("turns"))
        *_, last = compare(question, answer, settings, segmenters, store, context=turns)
        assert isinstance(last, ComparisonReady)
        return {"comparison": json_data(last.comparison)}

    return compare_row


def tables(comparisons: Sequence[Comparison]) -> tuple[ResultTable, ...]:
    """Return all tables; shares are of all claims of a segmenter together."""
    measures: dict[str, Callable[[Columns], Figures]] = {
        "Claims": _claims,
        "Verdicts, share of the checked claims": _verdicts,
        "FActScore, with the length penalty and without it": _factscore,
    }
    if not comparisons:
        return ()
    by_segmenter = list(zip(*(one.columns for one in comparisons), strict=True))
    made: list[ResultTable] = []
    for title, measure in measures.items():
        figures = [measure(columns) for columns in by_segmenter]
        rows = [
            (columns[0].segmenter, *cells.values())
            for columns, cells in zip(by_segmenter, figures, strict=True)
        ]
        made.append(ResultTable(title, ("segmenter", *figures[0]), tuple(rows)))
    return tuple(made)


def _claims(columns: Columns) -> Figures:
    figures = [column.figures for column in columns]
    count = sum(one.claims for one in figures)
    characters = sum(one.characters_per_claim * one.claims for one in figures)
    return {
        "answers": len(columns),
        "claims": count,
        "distinct claims": sum(one.unique for one in figures),
        "claims per sentence": ratio(count, sum(one.sentences for one in figures)),
        "mean length": ratio(characters, count),
        "coherent": mean([one.coherent for one in figures]),
        "DecompScore": mean([one.decompscore for one in figures]),
        "supported per answer": mean([one.supported for one in figures]),
        "seconds": sum(column.seconds for column in columns),
    }


def _verdicts(columns: Columns) -> Figures:
    labels = [verdict.label for column in columns for verdict in column.report.verdicts]
    checked = [label for label in labels if label in DECIDED]
    figures: Figures = {"checked": len(checked)}
    for label in DECIDED:
        figures[label.replace("_", " ")] = ratio(checked.count(label), len(checked))
    return figures


def _factscore(columns: Columns) -> Figures:
    scored = score([counts(column) for column in columns])
    claims = [claim for column in columns for claim in column.report.claims]
    incoherent = sum(claim.coherent is False for claim in claims)
    return {
        "answers": scored.answers,
        "incoherent, left out": incoherent,
        "FActScore": scored.factscore,
        "without penalty": scored.unpenalised,
    }


def counts(column: Column) -> Counts:
    """Count the checked claims of one answer and those that are supported, for FActScore."""
    labels = [v.label for v in column.report.verdicts if v.label in DECIDED]
    return Counts(len(labels), labels.count("supported"))
