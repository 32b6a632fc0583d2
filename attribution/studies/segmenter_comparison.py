"""Segment answers in several ways, check all claims by the same evidence, and compare them.

As in W24 8.2, a claim that several segmenters share is checked once. The tables have a row for each
segmenter, as in V24 and W24.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from pydantic import TypeAdapter

from attribution import events
from attribution.claims import worthiness
from attribution.conversation import transcript, turns_of
from attribution.errors import BadInput
from attribution.models.engine import working_time
from attribution.pipeline.claims import segment
from attribution.pipeline.estimate import check_input
from attribution.pipeline.experiment import Fields, RowDone, Work, is_result, read_lines, run_rows
from attribution.pipeline.run import run
from attribution.segmenters import SEGMENTERS
from attribution.settings import Settings
from attribution.store.runs import new_run_id
from attribution.store.store import Store
from attribution.studies.results import ResultTable, Saved, mean, ratio
from attribution.studies.subclaim_scores import Counts, score
from attribution.text import parse
from attribution.text_files import Cell, Row, replace_text
from attribution.types import (
    LABELS,
    UNCHECKED,
    Claim,
    Document,
    Failure,
    Label,
    Report,
    Segmented,
    Span,
    Turn,
)

MAX_SEGMENTERS = 4  # side by side
NOWHERE: Span = (0, 0)  # the row of claims without a place in the answer


@dataclass(frozen=True)
class SegmenterResult:
    """An event: the claims of one segmenter, and its time in seconds without loading models."""

    segmenter: str
    segmented: Segmented
    seconds: float


@dataclass(frozen=True)
class Decomposition:
    """Figures of one answer and segmenter. Shares are from 0 to 1; None if nothing was measured.

    Attributes:
        claims: Factual claims, each as often as it was made.
        unique: Distinct ones.
        sentences: Sentences of the answer that state something.
        coherent: Share of the claims that their sentence entails.
        supported: Claims that the sources support.
    """

    claims: int
    unique: int
    sentences: int
    characters_per_claim: float
    claims_per_sentence: float
    coherent: float | None
    supported: int = 0

    @property
    def decompscore(self) -> float:
        """The number of claims entailed by their own sentence (W24 3.2)."""
        return (self.coherent or 0) * self.claims


@dataclass(frozen=True)
class Column:
    """One segmenter in the comparison.

    Attributes:
        report: Of its claims only; a claim not reached has no verdict.
        seconds: Of segmentation, as are the failures.
    """

    segmenter: str
    report: Report
    figures: Decomposition
    seconds: float
    failures: tuple[Failure, ...] = ()


@dataclass(frozen=True)
class SentenceRow:
    """One sentence of the answer, with the claim ids of each column."""

    sentence: Span
    claims: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Comparison:
    """The result of one comparison; the columns share pages and evidence.

    Attributes:
        report: Of all claims together.
        rows: In the order of the answer.
    """

    report: Report
    columns: tuple[Column, ...]
    rows: tuple[SentenceRow, ...]


@dataclass(frozen=True)
class ComparisonReady:
    """An event: the claims in their columns, first without verdicts and at the end with them."""

    comparison: Comparison
    finished: bool = False


def check_segmenters(names: Sequence[str], settings: Settings) -> list[str]:
    """Return the distinct names.

    Raises:
        BadInput: There are too few or too many.
        UnknownName, Unavailable: One doesn't exist, or can't be used.
    """
    distinct = list(dict.fromkeys(names))
    for name in distinct:
        SEGMENTERS.build(name, settings)
    if not 2 <= len(distinct) <= MAX_SEGMENTERS:
        raise BadInput(f"expected two to four segmenters to compare, not {len(distinct)}")
    return distinct


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
    """Compare segmenters on one answer.

    Yields:
        The events of one run over the claims of all segmenters, with a SegmenterResult for each
        and ComparisonReady twice. A stopped comparison ends with partial results.

    Raises:
        BadInput: There are fewer than two segmenters or too many, or the answer can't be read.
    """
    names = check_segmenters(segmenters, settings)
    check_input(question, answer, settings)
    stop = stop or threading.Event()
    run_id = new_run_id()
    yield events.RunStarted(run_id)
    yield events.StageStarted("segment")
    results: list[SegmenterResult] = []
    full_question = transcript(question, context)
    for name in names:
        if results and stop.is_set():
            break  # the first one splits the answer even then
        parse.forget()  # so that no segmenter profits from another's parse
        started = working_time()
        chosen = settings.model_copy(update={"segmenter": name})
        segmented = segment(full_question, answer, chosen, stop)
        result = SegmenterResult(name, segmented, round(working_time() - started, 3))
        results.append(result)
        yield result
        yield events.Progress("segment", len(results), len(names))
    claims = {claim.id: claim for result in results for claim in result.segmented.claims}
    union = sorted(claims.values(), key=_start)  # so that sentences are finished one by one
    steps = run(
        question, answer, settings, store, documents, stop, union, run_id=run_id, context=context
    )
    comparison: Comparison | None = None
    for event in steps:
        if not isinstance(event, events.RunStarted):
            yield event
        if isinstance(event, events.ClaimsReady) and all(c.worthiness for c in event.claims):
            blank = Report.blank(question, answer, settings.public())
            split = {"claims": event.claims, "context": tuple(context)}
            comparison = _arranged(blank.model_copy(update=split), settings, results)
            yield ComparisonReady(comparison)
        elif isinstance(event, events.Finished) and comparison:
            yield ComparisonReady(with_verdicts(comparison, event.report), finished=True)


def _start(claim: Claim) -> tuple[bool, int]:
    """Return a sort key: the position in the answer; a claim without one comes last."""
    places = _places(claim)
    return not places, min((start for start, _ in places), default=0)


def _places(claim: Claim) -> list[Span]:
    return [*claim.spans, claim.sentence] if claim.sentence else list(claim.spans)


def _arranged(report: Report, settings: Settings, results: Sequence[SegmenterResult]) -> Comparison:
    """Arrange the claims in columns and rows, before any is checked."""
    answer = report.answer
    plain = settings.model_copy(update={"segmenter": "sentences"})
    sentences = worthiness.classify(segment(report.question, answer, plain).claims, answer)
    columns: list[Column] = []
    for result in results:
        segmented, name = result.segmented, result.segmenter
        times = {claim.id: claim.times for claim in segmented.claims}
        own = select_claims(report, list(times), segmented.failures, name)
        claims = [c.model_copy(update={"times": times[c.id]}) for c in own.claims]
        figures = decomposition(sentences, claims)
        columns.append(Column(name, own, figures, result.seconds, segmented.failures))
    spans = [span for sentence in sentences for span in sentence.spans]
    return Comparison(report, tuple(columns), group_by_sentence(spans, columns))


def with_verdicts(comparison: Comparison, report: Report) -> Comparison:
    """Return the same claims in the same places, with the verdicts of `report`."""
    verdicts = tuple(v for v in report.verdicts if v.label != "not_reached")
    reached = report.model_copy(update={"verdicts": verdicts})
    columns: list[Column] = []
    for column in comparison.columns:
        ids = [claim.id for claim in column.report.claims]
        own = select_claims(reached, ids, column.failures, column.segmenter)
        supported = sum(verdict.label == "supported" for verdict in own.verdicts)
        figures = replace(column.figures, supported=supported)
        columns.append(replace(column, report=own, figures=figures))
    return Comparison(report, tuple(columns), comparison.rows)


def select_claims(
    report: Report, ids: Sequence[str], failures: Sequence[Failure], segmenter: str
) -> Report:
    """Reduce the run to these claims, in the order given."""
    claims = {claim.id: claim for claim in report.claims}
    update = {
        "settings": {**report.settings, "segmenter": segmenter},
        "claims": tuple(claims[claim_id] for claim_id in ids if claim_id in claims),
        "verdicts": tuple(v for v in report.verdicts if v.claim_id in ids),
        "evidence": tuple(e for e in report.evidence if e.claim_id in ids),
        "failures": (*failures, *report.failures),
    }
    return report.model_copy(update=update)


def group_by_sentence(
    sentences: Sequence[Span], columns: Sequence[Column]
) -> tuple[SentenceRow, ...]:
    """Return a row for each sentence with its claims; those without a sentence share a row."""
    rows: dict[Span, list[list[str]]] = {}
    for sentence in [*sorted(sentences), NOWHERE]:
        rows[sentence] = [[] for _ in columns]
    for number, column in enumerate(columns):
        for claim in column.report.claims:
            for sentence in _sentences_of(claim, sentences) or [NOWHERE]:
                rows[sentence][number].append(claim.id)
    if not any(rows[NOWHERE]):
        del rows[NOWHERE]
    return tuple(SentenceRow(span, tuple(map(tuple, ids))) for span, ids in rows.items())


def _sentences_of(claim: Claim, sentences: Sequence[Span]) -> list[Span]:
    """Return the sentence that a claim comes from, and those that repeat it."""
    if claim.sentence and claim.sentence in sentences:
        repeated = [span for span in sentences if span in claim.spans and span != claim.sentence]
        return [claim.sentence, *repeated]
    overlaps: Counter[Span] = Counter()
    for start, end in claim.spans or _places(claim):
        for sentence in sentences:
            shared = min(end, sentence[1]) - max(start, sentence[0])
            if shared > 0:
                overlaps[sentence] += shared
    return [sentence for sentence, _ in overlaps.most_common(1)]


def without_page_texts(comparison: Comparison) -> Comparison:
    """Drop the text of the pages, and pages and evidence from the columns."""
    pages = tuple(page.model_copy(update={"text": ""}) for page in comparison.report.pages)
    bare = {"pages": (), "evidence": ()}
    columns = tuple(
        replace(column, report=column.report.model_copy(update=bare))
        for column in comparison.columns
    )
    report = comparison.report.model_copy(update={"pages": pages})
    return replace(comparison, report=report, columns=columns)


COMPARISON = Saved("comparison", TypeAdapter(Comparison))


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


def decomposition(sentences: Sequence[Claim], claims: Sequence[Claim]) -> Decomposition:
    """Compute the figures of the factual claims made of the answer's sentences."""
    factual = [claim for claim in claims if claim.worthiness == "factual"]
    stating = [sentence for sentence in sentences if sentence.worthiness == "factual"]
    count = sum(claim.times for claim in factual)
    characters = sum(len(claim.text) * claim.times for claim in factual)
    coherent = sum(bool(claim.coherent) * claim.times for claim in factual)
    return Decomposition(
        claims=count,
        unique=len(factual),
        sentences=len(stating),
        characters_per_claim=ratio(characters, count) or 0.0,
        claims_per_sentence=ratio(count, len(stating)) or 0.0,
        coherent=ratio(coherent, count),
    )


# --- many answers ---


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
    lines = filter(is_result, read_lines(path))
    made = tables([COMPARISON.adapter.validate_python(line["comparison"]) for line in lines])
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
