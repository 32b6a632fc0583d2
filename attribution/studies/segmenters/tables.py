"""Compare segmenters over many answers, with one row for each segmenter, as in V24 and W24."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from attribution.claims.enrichment import turns_of
from attribution.files import Cell, Row, format_cell
from attribution.pipeline.experiment import Experiment, Fields, RowDone, Work, is_result, read_lines
from attribution.settings import Settings
from attribution.store.store import Store
from attribution.studies.factscore import Counts, abstains, score
from attribution.studies.results import (
    FailedAnswer,
    ResultTable,
    failed_answers,
    mean,
    ratio,
    read_results,
    write_tables,
)
from attribution.studies.segmenters.comparison import (
    COMPARISON,
    Column,
    Comparison,
    ComparisonReady,
    check_segmenters,
    compare,
    json_data,
)
from attribution.types import LABELS, UNCHECKED, Claim, Label, Report

WORTHINESS = ("factual", "opinion", "not_a_claim", "other")
DECIDED: tuple[Label, ...] = tuple(label for label in LABELS if label not in UNCHECKED)
Columns = Sequence[Column]  # of one segmenter, for all answers
Figures = dict[str, Cell]


def compare_many(
    rows: Sequence[Row], settings: Settings, segmenters: Sequence[str], folder: Path
) -> Iterator[RowDone]:
    """Compare every answer, append each to `folder/comparisons.jsonl`, then write the tables.

    An answer that fails is an `error` in the file and a row of the last table.

    Raises:
        BadInput: The segmenters can't be compared. Nothing was done.
    """
    check_segmenters(segmenters, settings)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "comparisons.jsonl"
    choices = [settings.identity, list(segmenters)]
    inputs = ("question", "answer", "turns")
    prepare = partial(_prepare, settings, segmenters)
    yield from Experiment(rows, prepare, choices, inputs).run(path)
    comparisons, failed = read_results(path, "comparison", COMPARISON.adapter)
    write_tables(tables(comparisons, failed), folder)


def _prepare(settings: Settings, segmenters: Sequence[str]) -> Work:
    store = Store.open(settings.database_url)

    def compare_row(row: Row) -> Fields:
        question = str(row.fields.get("question") or "")
        answer, turns = str(row.fields["answer"]), turns_of(row.fields.get("turns"))
        *_, last = compare(question, answer, settings, segmenters, store, context=turns)
        assert isinstance(last, ComparisonReady)
        return {"comparison": json_data(last.comparison)}

    return compare_row


def tables(
    comparisons: Sequence[Comparison], failed: Sequence[FailedAnswer] = ()
) -> tuple[ResultTable, ...]:
    """Return all tables; shares are of all claims of a segmenter together."""
    measures: dict[str, Callable[[Columns], Figures]] = {
        "Claims": _claims,
        "Check-worthiness, share of the claims": _worthiness,
        "Independence and enrichment, share of the factual claims": _independence,
        "Verdicts, share of the checked claims": _verdicts,
        "FActScore, with the length penalty and without it": _factscore,
    }
    if not comparisons:
        return failed_answers(failed)
    by_segmenter = list(zip(*(one.columns for one in comparisons), strict=True))
    made: list[ResultTable] = []
    for title, measure in measures.items():
        figures = [measure(columns) for columns in by_segmenter]
        rows = [
            (columns[0].segmenter, *cells.values())
            for columns, cells in zip(by_segmenter, figures, strict=True)
        ]
        made.append(ResultTable(title, ("segmenter", *figures[0]), tuple(rows)))
    return (*made, *failed_answers(failed))


def _claims(columns: Columns) -> Figures:
    figures = [column.figures for column in columns]
    usages = [column.usage for column in columns if column.usage]
    count = sum(one.claims for one in figures)
    characters = sum(one.characters_per_claim * one.claims for one in figures)
    costs = [usage.cost for usage in usages if usage.cost is not None]
    tokens = [usage.prompt_tokens + usage.completion_tokens for usage in usages]
    return {
        "answers": len(columns),
        "claims": count,
        "distinct claims": sum(one.unique for one in figures),
        "claims per sentence": ratio(count, sum(one.sentences for one in figures)),
        "mean length": ratio(characters, count),
        "coherent": mean([one.coherent for one in figures]),
        "coverage": mean([one.coverage for one in figures]),
        "DecompScore": mean([one.decompscore for one in figures]),
        "supported per answer": mean([one.supported for one in figures]),
        "seconds": sum(column.seconds for column in columns),
        "tokens": sum(tokens) if tokens else None,
        "cost": sum(costs) if costs else None,
    }


def _all_claims(columns: Columns) -> list[Claim]:
    return [claim for column in columns for claim in column.report.claims]


def _worthiness(columns: Columns) -> Figures:
    kinds = [str(claim.worthiness) for claim in _all_claims(columns)]
    return {kind: ratio(kinds.count(kind), len(kinds)) for kind in WORTHINESS}


def _independence(columns: Columns) -> Figures:
    factual = [claim for claim in _all_claims(columns) if claim.worthiness == "factual"]
    independent = sum(bool(claim.independent) for claim in factual)
    enriched = sum(claim.enriched is not None for claim in factual)
    return {
        "factual": len(factual),
        "independent": ratio(independent, len(factual)),
        "enriched": ratio(enriched, len(factual)),
    }


def _verdicts(columns: Columns) -> Figures:
    labels = [verdict.label for column in columns for verdict in column.report.verdicts]
    checked = [label for label in labels if label in DECIDED]
    shares = {
        label.replace("_", " "): ratio(checked.count(label), len(checked)) for label in DECIDED
    }
    return {"checked": len(checked), **shares}


def _factscore(columns: Columns) -> Figures:
    scored = score([counts(column) for column in columns])
    return {
        "answers": scored.answers,
        "FActScore": scored.factscore,
        "without penalty": scored.unpenalised,
    }


def counts(column: Column) -> Counts:
    """Count the checked claims of one answer and those that are supported, for FActScore."""
    labels = [v.label for v in column.report.verdicts if v.label in DECIDED]
    return Counts(len(labels), labels.count("supported"), not abstains(column.report.answer))


@dataclass
class BatchSummary:
    """Figures of a batch.

    Attributes:
        seconds: Of all analysed answers, without loading models.
    """

    rows: int = 0
    failed: int = 0
    claims: int = 0
    seconds: float = 0.0
    verdicts: Counter[Label] = field(default_factory=Counter)

    def text(self) -> str:
        """Format the figures as lines of name and number."""
        lines = [("rows", f"{self.rows:,}"), ("failed", f"{self.failed:,}")]
        lines.append(("claims", f"{self.claims:,}"))
        for label in LABELS:
            count = self.verdicts[label]
            if count:
                lines.append((label.replace("_", " "), f"{count:,}  {count / self.claims:6.1%}"))
        seconds = ratio(self.seconds, self.rows - self.failed)
        lines.append(("seconds per answer", format_cell(seconds)))
        width = max(len(name) for name, _ in lines)
        return "\n".join(f"{name:<{width}}  {value:>8}" for name, value in lines)


def summarise(path: Path) -> BatchSummary:
    """Summarise the output of `batch`, reading it line by line."""
    summary = BatchSummary()
    for _, line in read_lines(path):
        summary.rows += 1
        if not is_result(line):
            summary.failed += 1
            continue
        report = Report.model_validate(line["report"])
        summary.claims += len(report.claims)
        summary.verdicts.update(verdict.label for verdict in report.verdicts)
        summary.seconds += sum(s for stage, s in report.timings.items() if stage != "load")
    return summary
