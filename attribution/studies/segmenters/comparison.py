"""Segment one answer in several ways, check all claims by the same evidence, and compare them (W24
8.2).
"""

from __future__ import annotations

import re
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from pydantic import TypeAdapter

from attribution import events
from attribution.claims import worthiness
from attribution.claims.enrichment import transcript
from attribution.errors import BadInput
from attribution.models.loading import working_time
from attribution.pipeline.claims import fallbacks, segment
from attribution.pipeline.estimate import check_input
from attribution.pipeline.experiment import Fields
from attribution.pipeline.run import run
from attribution.policy import DecisionPolicy
from attribution.segmenters import SEGMENTERS
from attribution.settings import Settings
from attribution.store.runs import new_run_id
from attribution.store.store import Store
from attribution.studies.results import Saved
from attribution.text import parse
from attribution.text.words import terms
from attribution.types import (
    LABELS,
    UNCHECKED,
    Claim,
    Document,
    Failure,
    Label,
    LlmUsage,
    Report,
    Segmented,
    Span,
    Turn,
)
from attribution.verdicts import recolour
from attribution.verifiers import with_policy

MAX_SEGMENTERS = 4  # side by side


@dataclass(frozen=True)
class SegmenterResult:
    """An event: the claims of one segmenter, and its time in seconds without loading models."""

    segmenter: str
    segmented: Segmented
    seconds: float


@dataclass(frozen=True)
class Column:
    """One segmenter in the comparison."""

    segmenter: str
    report: Report  # of its claims only; a claim not reached has no verdict
    figures: Decomposition
    seconds: float  # of segmentation
    usage: LlmUsage | None = None  # of segmentation by a language model
    failures: tuple[Failure, ...] = ()  # of segmentation


@dataclass(frozen=True)
class SentenceRow:
    """One sentence of the answer; `claims` has a tuple of claim ids for each column."""

    sentence: Span
    claims: tuple[tuple[str, ...], ...]
    labels: tuple[tuple[Label, ...], ...]  # the distinct verdicts of each column's claims
    pending: bool = False  # one of its claims has no verdict (yet), so whether it flips is unknown

    @property
    def flips(self) -> bool:
        """True if the verdicts depend on how the sentence is split."""
        if self.pending:
            return False
        checked = {
            tuple(label for label in labels if label not in UNCHECKED) for labels in self.labels
        }
        return len(checked - {()}) > 1

    @property
    def same_claims(self) -> bool:
        """True if all segmenters made the same claims of the sentence."""
        return len(set(self.claims)) == 1


@dataclass(frozen=True)
class Comparison:
    """The result of one comparison; the columns share pages and evidence."""

    report: Report  # of all claims together
    columns: tuple[Column, ...]
    rows: tuple[SentenceRow, ...]  # in the order of the answer


@dataclass(frozen=True)
class ComparisonReady:
    """An event: the claims in their columns, once all are known and again at the end, with the
    verdicts.
    """

    comparison: Comparison
    finished: bool = False


def check_segmenters(names: Sequence[str], settings: Settings) -> list[str]:
    """Return the distinct names. Raises BadInput for too few or many, UnknownName or Unavailable
    for a bad one.
    """
    distinct = list(dict.fromkeys(names))
    for name in distinct:
        SEGMENTERS.build(name, settings)
    if not 2 <= len(distinct) <= MAX_SEGMENTERS:
        raise BadInput(
            f"found {len(distinct)} segmenter{'s' * (len(distinct) != 1)}: expected two to four to compare"
        )
    return distinct


def segment_by_each(
    question: str, answer: str, settings: Settings, segmenters: Sequence[str], stop: threading.Event
) -> Iterator[SegmenterResult]:
    """Split the answer with one segmenter after the other, the first even if `stop` is set."""
    for number, name in enumerate(segmenters):
        if number and stop.is_set():
            return
        parse.forget()  # so that no segmenter profits from another's parse
        started = working_time()
        segmented = segment(question, answer, settings.model_copy(update={"segmenter": name}), stop)
        yield SegmenterResult(name, segmented, round(working_time() - started, 3))


def compare(
    question: str,
    answer: str,
    settings: Settings,
    segmenters: Sequence[str],
    store: Store | None = None,
    documents: Sequence[Document] = (),
    stop: threading.Event | None = None,
    context: Sequence[Turn] = (),
) -> Iterator[events.Event | SegmenterResult | ComparisonReady]:
    """Yield the events of one run over the claims of all segmenters, including SegmenterResult and
    ComparisonReady.

    Each page is fetched and embedded once; a claim that several segmenters share is verified once.
    A stopped comparison
    ends with partial results. Raises BadInput for fewer than two segmenters or too many.
    """
    names = check_segmenters(segmenters, settings)
    check_input(question, answer, settings)
    stop, results, run_id = stop or threading.Event(), list[SegmenterResult](), new_run_id()
    yield events.RunStarted(run_id)
    yield events.StageStarted("segment")
    for result in segment_by_each(transcript(question, context), answer, settings, names, stop):
        results.append(result)
        yield result
        yield events.Progress("segment", len(results), len(names))
    claims = {claim.id: claim for result in results for claim in result.segmented.claims}
    union = sorted(claims.values(), key=_start)  # so that sentences are finished one by one
    comparison: Comparison | None = None
    for event in run(
        question, answer, settings, store, documents, stop, union, run_id=run_id, context=context
    ):
        if not isinstance(event, events.RunStarted):
            yield event
        if isinstance(event, events.ClaimsReady) and all(c.worthiness for c in event.claims):
            blank = Report(
                id="",
                created_at="",
                question=question,
                answer=answer,
                versions={},
                settings=with_policy(settings).public(),
                claims=event.claims,
                context=tuple(context),
            )
            comparison = _arrange(blank, settings, results)
            yield ComparisonReady(comparison)
        elif isinstance(event, events.Finished) and comparison:
            yield ComparisonReady(with_verdicts(comparison, event.report), finished=True)


def _start(claim: Claim) -> tuple[bool, int]:
    """Return a sort key: the position in the answer; a claim without one comes last."""
    places = (*claim.spans, *([claim.sentence] if claim.sentence else []))
    return not places, min((start for start, _ in places), default=0)


def _arrange(report: Report, settings: Settings, results: Sequence[SegmenterResult]) -> Comparison:
    """Arrange the claims in columns and rows, before any is checked."""
    answer, plain = report.answer, settings.model_copy(update={"segmenter": "sentences"})
    sentences = worthiness.classify(segment(report.question, answer, plain).claims, answer)

    def split(text: str) -> int:
        return len(segment("", text, settings.model_copy(update={"segmenter": "clauses"})).claims)

    columns = []
    for result in results:
        segmented, name = result.segmented, result.segmenter
        failures = (*segmented.failures, *fallbacks(segmented.failures))
        own = select_claims(report, [c.id for c in segmented.claims], failures, name)
        figures = decomposition(answer, sentences, own.claims, split)
        columns.append(Column(name, own, figures, result.seconds, segmented.usage, failures))
    return Comparison(
        report, tuple(columns), group_by_sentence([x for s in sentences for x in s.spans], columns)
    )


def with_verdicts(comparison: Comparison, report: Report) -> Comparison:
    """Return the same claims in the same places, with the verdicts of `report`."""
    reached = report.model_copy(
        update={"verdicts": tuple(v for v in report.verdicts if v.label != "not_reached")}
    )
    columns = []
    for column in comparison.columns:
        own = select_claims(
            reached, [c.id for c in column.report.claims], column.failures, column.segmenter
        )
        supported = sum(v.label == "supported" for v in own.verdicts)
        columns.append(
            replace(column, report=own, figures=replace(column.figures, supported=supported))
        )
    rows = tuple(_row(row.sentence, row.claims, columns) for row in comparison.rows)
    return Comparison(report, tuple(columns), rows)


def select_claims(
    report: Report, ids: Sequence[str], failures: Sequence[Failure] = (), segmenter: str = ""
) -> Report:
    """Reduce the run to these claims, in the order given."""
    by_id = {c.id: c for c in report.claims}
    selected = set(ids)
    settings = {**report.settings, "segmenter": segmenter} if segmenter else report.settings
    return report.model_copy(
        update={
            "settings": settings,
            "claims": tuple(by_id[i] for i in ids if i in by_id),
            "verdicts": tuple(v for v in report.verdicts if v.claim_id in selected),
            "evidence": tuple(e for e in report.evidence if e.claim_id in selected),
            "failures": (*failures, *report.failures),
        }
    )


def group_by_sentence(
    sentences: Sequence[Span], columns: Sequence[Column]
) -> tuple[SentenceRow, ...]:
    """Return a row for each sentence with the claims made of it; claims without a sentence share an
    extra row.
    """
    by_sentence: dict[Span, list[list[str]]] = {s: [[] for _ in columns] for s in sorted(sentences)}
    nowhere: Span = (0, 0)
    for number, column in enumerate(columns):
        for claim in column.report.claims:
            for home in _sentences_of(claim, list(by_sentence)) or [nowhere]:
                by_sentence.setdefault(home, [[] for _ in columns])[number].append(claim.id)
    return tuple(
        _row(span, tuple(map(tuple, claims)), columns) for span, claims in by_sentence.items()
    )


def _sentences_of(claim: Claim, sentences: Sequence[Span]) -> list[Span]:
    """Return the sentence that a claim comes from; for a repeated claim, every sentence that states
    it.
    """
    overlap: Counter[Span] = Counter()
    for a, b in claim.spans or ((claim.sentence,) if claim.sentence else ()):
        for start, end in sentences:
            if (shared := min(b, end) - max(a, start)) > 0:
                overlap[(start, end)] += shared
    if claim.sentence and (own := next((s for s in sentences if s == claim.sentence), None)):
        return [own, *(s for s in overlap if s != own and s in claim.spans)]  # those that repeat it
    return [span for span, _ in overlap.most_common(1)]


def _row(
    sentence: Span, claims: tuple[tuple[str, ...], ...], columns: Sequence[Column]
) -> SentenceRow:
    """Make a row with the verdicts known so far."""
    verdicts = [{v.claim_id: v.label for v in column.report.verdicts} for column in columns]
    labels = [
        {by_id[i] for i in ids if i in by_id} for ids, by_id in zip(claims, verdicts, strict=True)
    ]
    pending = any(i not in by_id for ids, by_id in zip(claims, verdicts, strict=True) for i in ids)
    return SentenceRow(
        sentence,
        claims,
        tuple(tuple(x for x in LABELS if x in distinct) for distinct in labels),
        pending,
    )


def recolour_comparison(comparison: Comparison, policy: DecisionPolicy) -> Comparison:
    """Relabel the comparison under another policy, from its stored probabilities alone."""
    same = DecisionPolicy.of(comparison.report.settings) == policy
    return comparison if same else with_verdicts(comparison, recolour(comparison.report, policy))


def without_page_texts(comparison: Comparison) -> Comparison:
    """Drop the text of the pages, and keep pages and evidence only once, not again in every column."""
    pages = tuple(p.model_copy(update={"text": ""}) for p in comparison.report.pages)
    columns = tuple(
        replace(c, report=c.report.model_copy(update={"pages": (), "evidence": ()}))
        for c in comparison.columns
    )
    return replace(
        comparison, report=comparison.report.model_copy(update={"pages": pages}), columns=columns
    )


COMPARISON = Saved("comparison", TypeAdapter(Comparison))
EXPERIMENT = Saved("experiment", TypeAdapter(tuple[Comparison, ...]))
load_experiment = EXPERIMENT.load


def json_data(comparison: Comparison) -> Fields:
    """Return JSON-serialisable data, as in comparisons.jsonl and the page's download."""
    data: Fields = COMPARISON.adapter.dump_python(without_page_texts(comparison), mode="json")
    return data


def save_comparison(store: Store, result_id: str, comparison: Comparison) -> None:
    """Save the comparison of one answer."""
    COMPARISON.save(store, result_id, without_page_texts(comparison), comparison.report.pages)


def load_comparison(store: Store, result_id: str) -> Comparison | None:
    """Load a comparison with its pages' texts."""
    saved = COMPARISON.load(store, result_id)
    return saved and with_verdicts(saved, store.cache.with_texts(saved.report))


def save_experiment(store: Store, result_id: str, comparisons: Sequence[Comparison]) -> None:
    """Save the comparisons of many answers, without their pages' texts."""
    EXPERIMENT.save(store, result_id, tuple(map(without_page_texts, comparisons)))


_WORD = re.compile(r"[^\W_]+(?:[.,'’-][^\W_]+)*")


@dataclass(frozen=True)
class Decomposition:
    """Figures of one answer and segmenter. Shares are between 0 and 1, and None if nothing was
    measured.
    """

    claims: int  # each as often as it was made
    unique: int  # distinct texts
    sentences: int  # of these, check-worthy ones
    characters_per_claim: float
    claims_per_sentence: float
    coherent: float | None  # share of the claims that their sentence entails
    coverage: float | None  # share of the content words of those sentences that occur in a claim
    atomic: float | None  # share of the claims that cannot be split further
    supported: int = 0  # claims that the sources support; see `with_verdicts`

    @property
    def decompscore(self) -> float | None:
        """The number of claims entailed by their own sentence (W24 3.2)."""
        return None if self.coherent is None else self.coherent * self.claims


def decomposition(
    answer: str,
    sentences: Sequence[Claim],
    claims: Sequence[Claim],
    split: Callable[[str], int] | None = None,
) -> Decomposition:
    """Compute the figures of the factual claims; `sentences` are the answer's own, `split` counts
    claims in a text.
    """
    factual = [c for c in claims if c.worthiness == "factual"]
    worthy = [c for c in sentences if c.worthiness == "factual"]
    words = [span for c in worthy for a, b in c.spans for span in content_words(answer, (a, b))]
    count, made = len(factual), sum(c.times for c in factual)
    return Decomposition(
        claims=made,
        unique=count,
        sentences=len(worthy),
        characters_per_claim=sum(len(c.text) * c.times for c in factual) / made if made else 0.0,
        claims_per_sentence=made / len(worthy) if worthy else 0.0,
        coherent=sum(c.coherent * c.times for c in factual) / made if made else None,
        coverage=sum(_covered(answer, span, factual) for span in words) / len(words)
        if words
        else None,
        atomic=sum(split(c.text) < 2 for c in factual) / count if split and count else None,
    )


def content_words(answer: str, within: Span) -> list[Span]:
    """Return the content words within a span, without function words and punctuation."""
    start, end = within
    words = [(start + m.start(), start + m.end()) for m in _WORD.finditer(answer[start:end])]
    return [span for span in words if _stems(answer[slice(*span)])]


def _stems(text: str) -> frozenset[str]:
    words, numbers, _ = terms(text)
    return words | numbers


def _covered(answer: str, span: Span, claims: Sequence[Claim]) -> bool:
    """Return True if a claim made of the surrounding text contains the word."""
    word = _stems(answer[slice(*span)])
    return any(word <= _stems(c.text) for c in claims if _near(c, span))


def _near(claim: Claim, span: Span) -> bool:
    places = [claim.sentence] if claim.sentence else []
    return any(a <= span[0] and span[1] <= b for a, b in (*places, *claim.spans))
