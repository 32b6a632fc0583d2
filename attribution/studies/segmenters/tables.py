"""Compare segmenters over many answers, with one row for each segmenter, as V24 and W24 tabulate
them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from attribution.claims.enrichment import turns_of
from attribution.files import Cell, Row, format_cell
from attribution.pipeline.experiment import Experiment, Fields, RowDone, Work, is_result, read_lines
from attribution.segmenters.alignment import align
from attribution.settings import Settings
from attribution.store.store import Store
from attribution.studies.factscore import Counts, abstains, score
from attribution.studies.results import (
    Failed,
    ResultTable,
    failed_answers,
    mean,
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
from attribution.text.passages import statements
from attribution.types import LABELS, UNCHECKED, Claim, Label, Report, Span

WORTHINESS = ("factual", "opinion", "not_a_claim", "other")
DECIDED: tuple[Label, ...] = tuple(label for label in LABELS if label not in UNCHECKED)


def compare_many(
    rows: Sequence[Row], settings: Settings, segmenters: Sequence[str], folder: Path
) -> Iterator[RowDone]:
    """Compare every answer, append each to `folder/comparisons.jsonl`, then write the tables.

    An answer that fails is an `error` in the file and a row of the last table. Raises BadInput,
    before any work, for
    segmenters that cannot be compared.
    """
    check_segmenters(segmenters, settings)
    folder.mkdir(parents=True, exist_ok=True)
    path, choices = folder / "comparisons.jsonl", [settings.identity, list(segmenters)]
    experiment = Experiment(
        rows, partial(_prepare, settings, segmenters), choices, ("question", "answer", "turns")
    )
    yield from experiment.run(path)
    write_tables(tables(*read_results(path, "comparison", COMPARISON.adapter)), folder)


def _prepare(settings: Settings, segmenters: Sequence[str]) -> Work:
    store = Store.open(settings.database_url)

    def compare_row(row: Row) -> Fields:
        question, context = str(row.fields.get("question") or ""), turns_of(row.fields.get("turns"))
        *_, last = compare(
            question, row.fields["answer"], settings, segmenters, store, context=context
        )
        assert isinstance(last, ComparisonReady)
        return {"comparison": json_data(last.comparison)}

    return compare_row


def tables(
    comparisons: Sequence[Comparison], failed: Sequence[Failed] = ()
) -> tuple[ResultTable, ...]:
    """Return all tables; shares are of all claims of a segmenter together."""
    if not comparisons:
        return failed_answers(failed)
    names = [c.segmenter for c in comparisons[0].columns]
    columns = {name: [x.columns[i] for x in comparisons] for i, name in enumerate(names)}
    return (
        _table("Claims", columns, _claims),
        _table("Check-worthiness, share of the claims", columns, _worthiness),
        _table("Independence and enrichment, share of the factual claims", columns, _independence),
        _table("Verdicts, share of the checked claims", columns, _verdicts),
        _table("Verdicts without the words that enrichment added", columns, _verdicts_as_written),
        _table("FActScore, with the length penalty and without it", columns, _factscore),
        *failed_answers(failed),
    )


Measure = Callable[[list[Column]], dict[str, Cell]]


def _table(title: str, columns: dict[str, list[Column]], measure: Measure) -> ResultTable:
    rows = {name: measure(of_segmenter) for name, of_segmenter in columns.items()}
    heads = tuple(next(iter(rows.values())))
    return ResultTable(
        title, ("segmenter", *heads), tuple((name, *row.values()) for name, row in rows.items())
    )


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
        "mean length": sum(f.characters_per_claim * f.claims for f in figures) / count
        if count
        else None,
        "coherent": mean([f.coherent for f in figures]),
        "coverage": mean([f.coverage for f in figures]),
        "atomic": mean([f.atomic for f in figures]),
        "DecompScore": mean([f.decompscore for f in figures]),
        "supported per answer": mean([float(f.supported) for f in figures]),
        "seconds": sum(c.seconds for c in columns),
        "tokens": sum(u.prompt_tokens + u.completion_tokens for u in usages) if usages else None,
        "cost": sum(c for c in costs if c is not None)
        if any(c is not None for c in costs)
        else None,
    }


def _all_claims(columns: list[Column]) -> list[Claim]:
    return [claim for column in columns for claim in column.report.claims]


def _worthiness(columns: list[Column]) -> dict[str, Cell]:
    claims = _all_claims(columns)
    return {
        k: sum(c.worthiness == k for c in claims) / len(claims) if claims else None
        for k in WORTHINESS
    }


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
    return shares | {
        k.replace("_", " "): checked.count(k) / len(checked) if checked else None for k in DECIDED
    }


def _verdicts(columns: list[Column]) -> dict[str, Cell]:
    return _shares([v.label for c in columns for v in c.report.verdicts])


def _verdicts_as_written(columns: list[Column]) -> dict[str, Cell]:
    return _shares([v.without_added or v.label for c in columns for v in c.report.verdicts])


def _factscore(columns: list[Column]) -> dict[str, Cell]:
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


FIELD = "claims"  # of a row: [{"claim": text, "label": the human label}, …]
NO_LABEL = "(no label)"  # claims of labelled answers that lie in no labelled statement


@dataclass
class Summary:
    """Figures of a batch; `labelled` counts claims by human label and verdict."""

    rows: int = 0
    failed: int = 0
    claims: int = 0
    seconds: float = 0.0  # of all analysed answers, without loading models
    verdicts: Counter[Label] = field(default_factory=Counter)
    labelled: dict[str, Counter[Label]] = field(default_factory=dict)
    unplaced: int = 0  # labelled statements that are not in their answer
    unreadable: int = 0  # answers whose labels cannot be read

    def text(self) -> str:
        """Format the figures as lines of name and number, followed by the labels' tables in
        Markdown.
        """
        analysed = self.rows - self.failed
        rows: list[tuple[str, str]] = [("rows", f"{self.rows:,}"), ("failed", f"{self.failed:,}")]
        rows.append(("claims", f"{self.claims:,}"))
        for label in LABELS:
            if count := self.verdicts[label]:
                rows.append((label.replace("_", " "), f"{count:,}  {count / self.claims:6.1%}"))
        rows.append(
            ("seconds per answer", format_cell(self.seconds / analysed if analysed else None))
        )
        if self.unreadable:
            rows.append((f'answers whose "{FIELD}" are not labels', f"{self.unreadable:,}"))
        if self.unplaced:
            rows.append(("labelled statements that are not in their answer", f"{self.unplaced:,}"))
        width = max(len(name) for name, _ in rows)
        lines = [f"{name:<{width}}  {value:>8}" for name, value in rows]
        return "\n".join(
            [*lines, *([f"\n{self.by_label().markdown()}".rstrip()] if self.labelled else [])]
        )

    def by_label(self) -> ResultTable:
        """Return the verdicts by label."""
        heads = ("label", "claims", "checked", *(label.replace("_", " ") for label in DECIDED))
        rows = tuple(
            _row(label, counts) for label, counts in sorted(self.labelled.items(), key=_most_first)
        )
        return ResultTable("Verdicts by people's label, share of the checked claims", heads, rows)


def summarise(path: Path) -> Summary:
    """Summarise the output of `batch`, reading it line by line."""
    summary = Summary()
    for _, line in read_lines(path):
        summary.rows += 1
        if is_result(line):
            _add(summary, Report.model_validate(line["report"]), line.get(FIELD))
        else:
            summary.failed += 1
    return summary


def _add(summary: Summary, report: Report, given: object) -> None:
    labels = {v.claim_id: v.label for v in report.verdicts}
    summary.claims += len(report.claims)
    summary.verdicts.update(labels.values())
    summary.seconds += sum(s for stage, s in report.timings.items() if stage != "load")
    try:
        stated = list(_labels(given or []))
    except ValueError:
        summary.unreadable += 1
        return
    if not stated:
        return
    places = _places(report, stated)
    summary.unplaced += sum(not spans for spans, _ in places)
    for claim in report.claims:
        if claim.id in labels:
            summary.labelled.setdefault(_label_of(claim, places), Counter())[labels[claim.id]] += 1


def _labels(given: object) -> Iterator[tuple[str, str]]:
    """Yield (statement, label) of the claims that have a label. Raises ValueError for another form."""
    if not isinstance(given, list):
        raise ValueError
    for one in given:
        if not isinstance(one, dict) or not isinstance(one.get("claim"), str):
            raise ValueError
        label = one.get("label")
        if isinstance(label, bool):
            label = str(label).lower()
        if label is not None and not isinstance(label, str | int):
            raise ValueError
        if one["claim"].strip() and label not in (None, ""):
            yield one["claim"], " ".join(str(label).split())


def _places(report: Report, given: list[tuple[str, str]]) -> list[tuple[tuple[Span, ...], str]]:
    """Find where the answer makes each labelled statement: verbatim, or in the sentence that has
    its words.
    """
    answer = report.answer
    sentences = [p.span(a, b) for p in statements(answer) for a, b in p.sentences()]
    found: list[tuple[tuple[Span, ...], str]] = []
    for text, label in given:
        start = answer.find(text.strip())
        if start >= 0:
            spans: tuple[Span, ...] = ((start, start + len(text.strip())),)
        else:
            sentence = align(text, answer, sentences, report.question).sentence
            spans = (sentence,) if sentence else ()
        found.append((spans, label))
    return found


def _label_of(claim: Claim, places: list[tuple[tuple[Span, ...], str]]) -> str:
    """Return the label of the statement that contains most of the claim's characters."""
    own = claim.spans or ((claim.sentence,) if claim.sentence else ())
    best, most = NO_LABEL, 0
    for spans, label in places:
        shared = sum(max(0, min(b, end) - max(a, start)) for a, b in own for start, end in spans)
        if shared > most:
            best, most = label, shared
    return best


def _row(label: str, counts: Counter[Label]) -> tuple[Cell, ...]:
    checked = sum(counts[d] for d in DECIDED)
    shares = (counts[d] / checked if checked else None for d in DECIDED)
    return (label, counts.total(), checked, *shares)


def _most_first(item: tuple[str, Counter[Label]]) -> tuple[bool, int]:
    return item[0] == NO_LABEL, -item[1].total()
