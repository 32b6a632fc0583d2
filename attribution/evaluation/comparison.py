"""The same answer cut by several segmenters, over the same frozen evidence (DESIGN invariant 6; W24, section 5)."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from attribution import events
from attribution.errors import BadInput
from attribution.evaluation.decompscore import Decomposition, decomposition
from attribution.pipeline import run as pipeline
from attribution.settings import Settings
from attribution.storage.store import Store
from attribution.text import nlp
from attribution.types import LABELS, Claim, Document, Failure, Label, LlmUsage, Report, Segmented, Span
from attribution.verdicts import UNREACHED, recolour

MOST = 4  # segmenters side by side


@dataclass(frozen=True)
class SegmenterResult:
    """An event: what one segmenter has made of the answer, and in how many seconds."""

    segmenter: str
    segmented: Segmented
    seconds: float


@dataclass(frozen=True)
class Column:
    """One segmenter's share of the comparison."""

    segmenter: str
    report: Report  # with its claims alone; without the verdict of one that was not reached
    figures: Decomposition
    seconds: float  # of segmentation
    usage: LlmUsage | None = None  # of segmentation by a language model
    failures: tuple[Failure, ...] = ()  # of segmentation


@dataclass(frozen=True)
class Row:
    """One sentence of the answer; `claims` has a tuple of claim ids for each column."""

    sentence: Span
    claims: tuple[tuple[str, ...], ...]
    labels: tuple[tuple[Label, ...], ...]  # the verdicts that each column's claims have
    open: bool = False  # a claim of it has no verdict (yet): whether it flips is not known

    @property
    def flips(self) -> bool:
        """Does cutting differently change what is found of the sentence or of a part of it?"""
        if self.open:
            return False
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
    """An event: the claims in their columns, as soon as all are known; once more at the end, with the verdicts."""

    comparison: Comparison
    finished: bool = False


def compare(
    question: str,
    answer: str,
    settings: Settings,
    segmenters: Sequence[str],
    store: Store | None = None,
    documents: Sequence[Document] = (),
    stop: threading.Event | None = None,
) -> Iterator[events.Event | SegmenterResult | Compared]:
    """The events of one run over the claims of all segmenters, with a SegmenterResult for each of them and Compared.

    Each page is fetched and embedded once; a claim that several segmenters share is verified once.

    Stopped, it ends with what it has: the segmenters that were done and the claims that were checked.
    BadInput for fewer than two segmenters or too many.
    """
    names = list(dict.fromkeys(segmenters))
    if not 2 <= len(names) <= MOST:
        raise BadInput(f"{len(names)} segmenters: a comparison takes two to {MOST} different ones")
    pipeline.check_input(question, answer, settings)
    stop, cut = stop or threading.Event(), list[SegmenterResult]()
    for name in names:
        if cut and stop.is_set():
            break
        yield events.StageStarted("segment")
        nlp.forget()  # each segmenter's time is its own
        started = time.perf_counter()
        segmented = pipeline.segment(question, answer, settings.model_copy(update={"segmenter": name}), stop)
        cut.append(SegmenterResult(name, segmented, round(time.perf_counter() - started, 3)))
        yield cut[-1]
        yield events.Progress("segment", len(cut), len(names))
    known = {claim.id: claim for made in cut for claim in made.segmented.claims}
    union = sorted(known.values(), key=_start)  # so that sentence after sentence is finished
    comparison: Comparison | None = None
    for event in pipeline.run(question, answer, settings, store, documents, stop, union):
        yield event
        if isinstance(event, events.ClaimsReady) and all(c.worthiness for c in event.claims):
            comparison = _placed(question, answer, settings, event.claims, cut)
            yield Compared(comparison)
        elif isinstance(event, events.Finished) and comparison:
            yield Compared(judged(comparison, event.report), finished=True)


def _start(claim: Claim) -> tuple[bool, int]:
    """Its place in the answer; a claim without one comes last."""
    places = (*claim.spans, *([claim.sentence] if claim.sentence else []))
    return not places, min((start for start, _ in places), default=0)


def _placed(
    question: str, answer: str, settings: Settings, claims: Sequence[Claim], cut: Sequence[SegmenterResult]
) -> Comparison:
    """The claims in their columns and rows, before any is checked."""
    from attribution.claims.worthiness import classify

    plain = settings.model_copy(update={"segmenter": "sentences"})
    sentences = classify(pipeline.segment(question, answer, plain).claims)

    def split(text: str) -> int:
        return len(pipeline.segment("", text, settings.model_copy(update={"segmenter": "clauses"})).claims)

    report = Report(
        id="", created_at="", question=question, answer=answer, settings=settings.public(), versions={},
        claims=tuple(claims),
    )  # fmt: skip
    columns = []
    for made in cut:
        segmented = made.segmented
        own = restricted(report, [c.id for c in segmented.claims], segmented.failures, made.segmenter)
        figures = decomposition(answer, sentences, own.claims, (), split)
        columns.append(Column(made.segmenter, own, figures, made.seconds, segmented.usage, segmented.failures))
    return Comparison(report, tuple(columns), rows([span for s in sentences for span in s.spans], columns))


def judged(comparison: Comparison, report: Report) -> Comparison:
    """The same claims in the same places, with what `report` says of them."""
    reached = report.model_copy(update={"verdicts": tuple(v for v in report.verdicts if v.reason != UNREACHED)})
    columns = []
    for column in comparison.columns:
        own = restricted(reached, [c.id for c in column.report.claims], column.failures, column.segmenter)
        supported = sum(v.label == "supported" for v in own.verdicts)
        columns.append(replace(column, report=own, figures=replace(column.figures, supported=supported)))
    made = tuple(_labelled(row.sentence, row.claims, columns) for row in comparison.rows)
    return Comparison(report, tuple(columns), made)


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
    return tuple(_labelled(span, tuple(map(tuple, claims)), columns) for span, claims in placed.items())


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


def _labelled(sentence: Span, claims: tuple[tuple[str, ...], ...], columns: Sequence[Column]) -> Row:
    """A row with the verdicts that its claims have by now."""
    known = [{v.claim_id: v.label for v in column.report.verdicts} for column in columns]
    labels = [{by[i] for i in ids if i in by} for ids, by in zip(claims, known, strict=True)]
    missing = any(i not in by for ids, by in zip(claims, known, strict=True) for i in ids)
    return Row(sentence, claims, tuple(tuple(x for x in LABELS if x in found) for found in labels), missing)


def recoloured(comparison: Comparison, threshold: float) -> Comparison:
    """The same comparison judged with another threshold, from the stored probabilities alone."""
    if comparison.report.settings.get("threshold") == threshold:
        return comparison
    return judged(comparison, recolour(comparison.report, threshold))
