"""Compare segmenters over many answers, with one row for each segmenter, as V24 and W24 tabulate them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

from attribution.claims.enrichment import turns_of
from attribution.files import Cell, Row
from attribution.run.experiment import Experiment, Fields, RowDone, Work
from attribution.settings import Settings
from attribution.store.store import Store
from attribution.studies.segmenters.comparison import (
    COMPARISON,
    Column,
    Comparison,
    ComparisonReady,
    check_segmenters,
    compare,
    json_data,
)
from attribution.studies.tables import Failed, Table, failed_answers, read_results, write_tables
from attribution.types import LABELS, UNCHECKED, Claim, Label

WORTHINESS = ("factual", "opinion", "not_a_claim", "other")
DECIDED: tuple[Label, ...] = tuple(label for label in LABELS if label not in UNCHECKED)


def compare_many(rows: Sequence[Row], settings: Settings, segmenters: Sequence[str], folder: Path) -> Iterator[RowDone]:
    """Compare every answer, append each to `folder/comparisons.jsonl`, then write the tables.

    An answer that fails is an `error` in the file and a row of the last table. Raises BadInput, before any work, for
    segmenters that cannot be compared.
    """
    check_segmenters(segmenters, settings)
    folder.mkdir(parents=True, exist_ok=True)
    path, choices = folder / "comparisons.jsonl", [settings.public(), list(segmenters)]
    experiment = Experiment(rows, partial(_prepare, settings, segmenters), choices, ("question", "answer", "turns"))
    yield from experiment.run(path)
    write_tables(tables(*read_results(path, "comparison", COMPARISON.adapter)), folder)


def _prepare(settings: Settings, segmenters: Sequence[str]) -> Work:
    store = Store.open(settings.database_url)

    def compare_row(row: Row) -> Fields:
        question, context = str(row.fields.get("question") or ""), turns_of(row.fields.get("turns"))
        *_, last = compare(question, row.fields["answer"], settings, segmenters, store, context=context)
        assert isinstance(last, ComparisonReady)
        return {"comparison": json_data(last.comparison)}

    return compare_row


def tables(comparisons: Sequence[Comparison], failed: Sequence[Failed] = ()) -> tuple[Table, ...]:
    """Return all tables; shares are of all claims of a segmenter together."""
    if not comparisons:
        return failed_answers(failed)
    names = [c.segmenter for c in comparisons[0].columns]
    return (
        *segmenter_tables({name: [x.columns[i] for x in comparisons] for i, name in enumerate(names)}),
        *failed_answers(failed),
    )


def segmenter_tables(columns: dict[str, list[Column]]) -> tuple[Table, ...]:
    """Return the tables of these segmenters, each with its share of every answer."""
    return (
        _table("Claims", columns, _claims),
        _table("Check-worthiness, share of the claims", columns, _worthiness),
        _table("Independence and enrichment, share of the factual claims", columns, _independence),
        _table("Verdicts, share of the checked claims", columns, _verdicts),
        _table("Verdicts without the words that enrichment added", columns, _verdicts_as_written),
        _table("FActScore: share of the checked claims that are supported", columns, _factscore),
    )


Measure = Callable[[list[Column]], dict[str, Cell]]


def _table(title: str, columns: dict[str, list[Column]], measure: Measure) -> Table:
    rows = {name: measure(of_segmenter) for name, of_segmenter in columns.items()}
    heads = tuple(next(iter(rows.values())))
    return Table(title, ("segmenter", *heads), tuple((name, *row.values()) for name, row in rows.items()))


def _mean(values: Sequence[float | None]) -> float | None:
    measured = [v for v in values if v is not None]
    return sum(measured) / len(measured) if measured else None


def _claims(columns: list[Column]) -> dict[str, Cell]:
    figures = [c.figures for c in columns]
    usages = [c.usage for c in columns if c.usage]
    costs = [u.cost for u in usages]
    count, sentences = sum(f.claims for f in figures), sum(f.sentences for f in figures)
    return {
        "answers": len(columns),
        "claims": count,
        "distinct claims": sum(f.unique for f in figures),
        "claims per sentence": count / sentences if sentences else None,
        "mean length": _mean([f.characters_per_claim for f in figures if f.claims]),
        "coherent": _mean([f.coherent for f in figures]),
        "coverage": _mean([f.coverage for f in figures]),
        "atomic": _mean([f.atomic for f in figures]),
        "DecompScore": _mean([f.decompscore for f in figures]),
        "supported per answer": _mean([float(f.supported) for f in figures]),
        "seconds": sum(c.seconds for c in columns),
        "tokens": sum(u.prompt_tokens + u.completion_tokens for u in usages) if usages else None,
        "cost": sum(c for c in costs if c is not None) if any(c is not None for c in costs) else None,
    }


def _all_claims(columns: list[Column]) -> list[Claim]:
    return [claim for column in columns for claim in column.report.claims]


def _worthiness(columns: list[Column]) -> dict[str, Cell]:
    claims = _all_claims(columns)
    return {k: sum(c.worthiness == k for c in claims) / len(claims) if claims else None for k in WORTHINESS}


def _independence(columns: list[Column]) -> dict[str, Cell]:
    factual = [c for c in _all_claims(columns) if c.worthiness == "factual"]
    total = len(factual)
    return {
        "factual": total,
        "independent": sum(bool(c.independent) for c in factual) / total if total else None,
        "enriched": sum(c.enriched is not None for c in factual) / total if total else None,
    }


def _shares(labels: Sequence[Label]) -> dict[str, Cell]:
    checked = [label for label in labels if label in DECIDED]
    shares: dict[str, Cell] = {"checked": len(checked)}
    return shares | {k.replace("_", " "): checked.count(k) / len(checked) if checked else None for k in DECIDED}


def _verdicts(columns: list[Column]) -> dict[str, Cell]:
    return _shares([v.label for c in columns for v in c.report.verdicts])


def _verdicts_as_written(columns: list[Column]) -> dict[str, Cell]:
    return _shares([v.without_added or v.label for c in columns for v in c.report.verdicts])


def _factscore(columns: list[Column]) -> dict[str, Cell]:
    labels = [v.label for c in columns for v in c.report.verdicts if v.label in DECIDED]
    return {"checked": len(labels), "supported": labels.count("supported") / len(labels) if labels else None}
