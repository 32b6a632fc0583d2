"""The same answer cut by several segmenters, over the same frozen evidence (DESIGN invariant 6; W24, section 5)."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from attribution import events, language, pipeline
from attribution.errors import BadInput
from attribution.evaluation.decompscore import Decomposition, decomposition
from attribution.settings import Settings
from attribution.store import Store
from attribution.types import LABELS, Claim, Document, Failure, Label, LlmUsage, Report, Segmented, Span
from attribution.verdicts import recolour

MOST = 4  # segmenters side by side


@dataclass(frozen=True)
class Column:
    """One segmenter's share of the comparison."""

    segmenter: str
    report: Report  # with its claims alone
    figures: Decomposition
    seconds: float  # of segmentation
    usage: LlmUsage | None = None  # of segmentation by a language model


@dataclass(frozen=True)
class Row:
    """One sentence of the answer; `claims` has a tuple of claim ids for each column."""

    sentence: Span
    claims: tuple[tuple[str, ...], ...]
    labels: tuple[tuple[Label, ...], ...]  # the verdicts that each column's claims have

    @property
    def flips(self) -> bool:
        """Does cutting differently change what is found of the sentence or of a part of it?"""
        checked = {tuple(label for label in labels if label != "not_checked") for labels in self.labels}
        return len(checked - {()}) > 1

    @property
    def alike(self) -> bool:
        """Did all segmenters draw the same claims from it?"""
        return len(set(self.claims)) == 1


@dataclass(frozen=True)
class Comparison:
    """Everything one comparison found; the columns share pages and evidence."""

    report: Report  # of all claims together
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]  # in the order of the answer


@dataclass(frozen=True)
class Compared:
    """The last event of a comparison."""

    comparison: Comparison


def compare(
    question: str,
    answer: str,
    settings: Settings,
    segmenters: Sequence[str],
    store: Store | None = None,
    documents: Sequence[Document] = (),
    stop: threading.Event | None = None,
) -> Iterator[events.Event | Compared]:
    """Events of one run over the claims of all segmenters, then Compared: each page is fetched and embedded once,
    each claim that several have in common is verified once. BadInput for fewer than two segmenters or too many."""
    names = list(dict.fromkeys(segmenters))
    if not 2 <= len(names) <= MOST:
        raise BadInput(f"{len(names)} segmenters: a comparison takes two to {MOST} different ones")
    pipeline.check_input(question, answer, settings)
    cut: dict[str, tuple[Segmented, float]] = {}
    for name in names:
        yield events.StageStarted("segment")
        language.forget()  # each segmenter's time is its own
        started = time.perf_counter()
        segmented = pipeline.segment(question, answer, settings.model_copy(update={"segmenter": name}))
        cut[name] = segmented, time.perf_counter() - started
        yield events.Progress("segment", len(cut), len(names))
    union = {c.id: c for segmented, _ in cut.values() for c in segmented.claims}
    report: Report | None = None
    for event in pipeline.run(question, answer, settings, store, documents, stop, list(union.values())):
        if isinstance(event, events.Finished):
            report = event.report
        yield event
    if report is not None:
        yield Compared(_comparison(report, cut, settings))


def _comparison(report: Report, cut: dict[str, tuple[Segmented, float]], settings: Settings) -> Comparison:
    from attribution.worthiness import judge

    plain = settings.model_copy(update={"segmenter": "sentences"})
    sentences = judge(pipeline.segment(report.question, report.answer, plain).claims)

    def split(text: str) -> int:
        return len(pipeline.segment("", text, settings.model_copy(update={"segmenter": "clauses"})).claims)

    columns = []
    for name, (segmented, seconds) in cut.items():
        own = restricted(report, [c.id for c in segmented.claims], segmented.failures, name)
        figures = decomposition(report.answer, sentences, own.claims, own.verdicts, split)
        columns.append(Column(name, own, figures, round(seconds, 3), segmented.usage))
    return Comparison(report, tuple(columns), rows([span for s in sentences for span in s.spans], columns))


def restricted(report: Report, ids: Sequence[str], failures: Sequence[Failure] = (), segmenter: str = "") -> Report:
    """The run with some of its claims alone, in the order given."""
    known = {c.id: c for c in report.claims}
    kept = set(ids)
    settings = {**report.settings, "segmenter": segmenter} if segmenter else report.settings
    return report.model_copy(
        update={
            "settings": settings,
            "claims": tuple(known[i] for i in ids if i in known),
            "verdicts": tuple(v for v in report.verdicts if v.claim_id in kept),
            "evidence": tuple(e for e in report.evidence if e.claim_id in kept),
            "failures": (*failures, *report.failures),
        }
    )


def rows(sentences: Sequence[Span], columns: Sequence[Column]) -> tuple[Row, ...]:
    """The columns' claims by the sentence they were drawn from; those of no sentence stand in a last row."""
    placed: dict[Span, list[list[str]]] = {s: [[] for _ in columns] for s in sorted(sentences)}
    nowhere: Span = (0, 0)
    for number, column in enumerate(columns):
        for claim in column.report.claims:
            for home in _homes(claim, list(placed)) or [nowhere]:
                placed.setdefault(home, [[] for _ in columns])[number].append(claim.id)
    found = []
    for span, claims in placed.items():
        labels = tuple(_labels(ids, c.report) for ids, c in zip(claims, columns, strict=True))
        found.append(Row(span, tuple(tuple(ids) for ids in claims), labels))
    return tuple(found)


def _homes(claim: Claim, sentences: Sequence[Span]) -> list[Span]:
    """The sentence of a claim; of a repeated one, every sentence that it was said in."""
    homes: Counter[Span] = Counter()
    for a, b in claim.spans or ((claim.sentence,) if claim.sentence else ()):
        for start, end in sentences:
            if (shared := min(b, end) - max(a, start)) > 0:
                homes[(start, end)] += shared
    if claim.sentence and (own := next((s for s in sentences if s == claim.sentence), None)):
        repeated = [s for s in homes if s != own and s in claim.spans]
        return [own, *repeated]
    return [home for home, _ in homes.most_common(1)]


def _labels(ids: Sequence[str], report: Report) -> tuple[Label, ...]:
    found = {v.label for v in report.verdicts if v.claim_id in ids}
    return tuple(label for label in LABELS if label in found)


def recoloured(comparison: Comparison, threshold: float) -> Comparison:
    """The same comparison judged with another threshold, from the stored probabilities alone."""
    if comparison.report.settings.get("threshold") == threshold:
        return comparison
    columns = []
    for column in comparison.columns:
        report = recolour(column.report, threshold)
        supported = sum(v.label == "supported" for v in report.verdicts)
        columns.append(replace(column, report=report, figures=replace(column.figures, supported=supported)))
    made = tuple(
        replace(row, labels=tuple(_labels(ids, c.report) for ids, c in zip(row.claims, columns, strict=True)))
        for row in comparison.rows
    )
    return Comparison(recolour(comparison.report, threshold), tuple(columns), made)
