"""Summarise a batch from its output: counts, and the tables of V24 if people labelled the claims."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from attribution.claims import worthiness
from attribution.files import Cell, format_cell
from attribution.run.claims import segment
from attribution.run.experiment import is_result, read_lines
from attribution.segmenters.alignment import align
from attribution.settings import Settings
from attribution.studies.segmenters.comparison import Column, decomposition
from attribution.studies.segmenters.tables import DECIDED, segmenter_tables
from attribution.studies.tables import Table
from attribution.text.passages import statements
from attribution.types import LABELS, Claim, Label, Report, Span

FIELD = "claims"  # of a row: [{"claim": text, "label": the human label}, …]
PLAIN = Settings()  # splits an answer into sentences
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
    columns: dict[str, list[Column]] = field(default_factory=dict)  # of labelled answers, by segmenter

    def text(self) -> str:
        """Format the figures as lines of name and number, followed by the labels' tables in Markdown."""
        analysed = self.rows - self.failed
        rows: list[tuple[str, str]] = [("rows", f"{self.rows:,}"), ("failed", f"{self.failed:,}")]
        rows.append(("claims", f"{self.claims:,}"))
        for label in LABELS:
            if count := self.verdicts[label]:
                rows.append((label.replace("_", " "), f"{count:,}  {count / self.claims:6.1%}"))
        rows.append(("seconds per answer", format_cell(self.seconds / analysed if analysed else None)))
        if self.unreadable:
            rows.append((f'answers whose "{FIELD}" are not labels', f"{self.unreadable:,}"))
        if self.unplaced:
            rows.append(("labelled statements that are not in their answer", f"{self.unplaced:,}"))
        width = max(len(name) for name, _ in rows)
        lines = [f"{name:<{width}}  {value:>8}" for name, value in rows]
        return "\n".join([*lines, *(f"\n{table.markdown()}".rstrip() for table in self.tables())])

    def tables(self) -> tuple[Table, ...]:
        """Return the verdicts by label, and for each segmenter the tables of V24; empty without labels."""
        if not self.labelled:
            return ()
        heads = ("label", "claims", "checked", *(label.replace("_", " ") for label in DECIDED))
        rows = tuple(_row(label, counts) for label, counts in sorted(self.labelled.items(), key=_most_first))
        by_label = Table("Verdicts by people's label, share of the checked claims", heads, rows)
        return (by_label, *segmenter_tables(self.columns))


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
    name = str(report.settings.get("segmenter", ""))
    summary.columns.setdefault(name, []).append(_column(name, report))


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
    """Find where the answer makes each labelled statement: verbatim, or in the sentence that has its words."""
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


def _column(segmenter: str, report: Report) -> Column:
    """Return the answer as a column of a comparison with this segmenter alone."""
    sentences: Sequence[Claim] = report.claims
    if segmenter != PLAIN.segmenter:
        sentences = worthiness.classify(segment(report.question, report.answer, PLAIN).claims, report.answer)
    figures = decomposition(report.answer, sentences, report.claims, report.verdicts)
    return Column(segmenter, report, figures, report.timings.get("segment", 0.0), report.usage.llm.get("segment"))


def _row(label: str, counts: Counter[Label]) -> tuple[Cell, ...]:
    checked = sum(counts[d] for d in DECIDED)
    shares = (counts[d] / checked if checked else None for d in DECIDED)
    return (label, counts.total(), checked, *shares)


def _most_first(item: tuple[str, Counter[Label]]) -> tuple[bool, int]:
    return item[0] == NO_LABEL, -item[1].total()
