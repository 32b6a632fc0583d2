"""One answer: its facts by each decomposer, judged by each verifier over pages that are gathered once."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from attribution import events
from attribution.claims.conversation import standalone_question, transcript
from attribution.errors import BadInput
from attribution.evaluation.factscore.abstention import abstains
from attribution.evaluation.factscore.score import Counts
from attribution.evidence import EvidenceSource
from attribution.evidence.matching import Matcher
from attribution.evidence.near_duplicates import deciding_evidence
from attribution.models.loading import working_time
from attribution.pipeline import run as pipeline
from attribution.pipeline.claims import fallbacks, segment
from attribution.pipeline.inputs import check_input
from attribution.provenance import Trace
from attribution.registry import build
from attribution.segmenters import SEGMENTERS
from attribution.settings import Settings
from attribution.storage.store import Store
from attribution.text import nlp
from attribution.types import (
    UNCHECKED,
    Claim,
    Document,
    Evidence,
    Failure,
    Label,
    LlmUsage,
    Page,
    Report,
    Segmented,
    Turn,
    Verdict,
)
from attribution.verdicts import decide
from attribution.verifiers import VERIFIERS

MOST = 6  # decomposers, and verifiers, of one table
GROUP = 16  # facts between two looks at the stop signal
HARMLESS = ("nothing_found", "fell_back")  # kinds of failure that leave the evidence whole


@dataclass(frozen=True)
class Judged:
    """What one verifier says of one fact."""

    fact: str  # the claim's id
    label: Label
    confidence: float
    reason: str
    sentence: str = ""  # the deciding sentence; empty where none decides
    title: str = ""  # of its page
    url: str = ""

    @property
    def counts(self) -> bool:
        """Whether it is in the denominator: a fact that a failure kept from being judged is not."""
        return self.label not in UNCHECKED


@dataclass(frozen=True)
class Decomposed:
    """The facts that one decomposer makes of the answer; claims that are not check-worthy or not coherent are none."""

    segmenter: str
    facts: tuple[str, ...]  # ids, in the order of the answer
    factual: int  # check-worthy claims
    coherent: int  # of these, claims that their own sentence entails: DecompScore (W24, section 4)
    seconds: float  # of segmentation, without loading models
    usage: LlmUsage | None = None
    failures: tuple[Failure, ...] = ()


@dataclass(frozen=True)
class ScoredAnswer:
    """Everything that the tables of one answer are made of."""

    question: str
    answer: str
    system: str  # that wrote it; empty: not said
    abstained: bool
    run_id: str  # of the run that gathered the pages; empty for an answer that abstains
    texts: dict[str, str]  # of the facts, by id, as they were checked
    decomposed: tuple[Decomposed, ...]
    judged: dict[str, tuple[Judged, ...]]  # by verifier
    failures: tuple[Failure, ...] = ()  # of gathering

    def counts(self, segmenter: str, verifier: str) -> Counts:
        """Facts and supported facts of one cell."""
        facts = self.facts(segmenter, verifier)
        judged = [j for j in facts if j.counts]
        return Counts(len(judged), sum(j.label == "supported" for j in judged), not self.abstained)

    def facts(self, segmenter: str, verifier: str) -> list[Judged]:
        """The rows behind one cell, in the order of the answer."""
        own = next((d.facts for d in self.decomposed if d.segmenter == segmenter), ())
        by_id = {j.fact: j for j in self.judged.get(verifier, ())}
        return [by_id[i] for i in own if i in by_id]


@dataclass(frozen=True)
class AnswerScored:
    """An event: the answer is done. It is not sent for an answer that was stopped."""

    answer: ScoredAnswer


def check_choice(segmenters: Sequence[str], verifiers: Sequence[str], settings: Settings) -> None:
    """BadInput for none, too many or repeated names; UnknownName or Unavailable for one that cannot be used."""
    for kind, names in (("decomposer", segmenters), ("verifier", verifiers)):
        if not 1 <= len(names) <= MOST or len(set(names)) < len(names):
            raise BadInput(f"found {len(names)} {kind}s ({', '.join(names)}): expected one to {MOST}, each once")
    for name in segmenters:
        build(SEGMENTERS, name, settings, "segmenter")
    for name in verifiers:
        build(VERIFIERS, name, settings, "verifier")


def score_answer(
    question: str,
    answer: str,
    settings: Settings,
    segmenters: Sequence[str],
    verifiers: Sequence[str],
    store: Store,
    *,
    system: str = "",
    context: Sequence[Turn] = (),
    documents: Sequence[Document] = (),
    source: EvidenceSource | None = None,
    stop: threading.Event | None = None,
) -> Iterator[events.Event | AnswerScored]:
    """The events of one run over the facts of all decomposers, then of every other verifier, then AnswerScored.

    The first verifier's run searches and downloads; the others read the same pages. A fact that several decomposers
    make is judged once. An answer that abstains is not decomposed. `context` is the conversation before the question.
    """
    check_input(question, answer, settings)
    stop = stop or threading.Event()
    if abstains(answer):
        none = tuple(Decomposed(name, (), 0, 0, 0.0) for name in segmenters)
        yield AnswerScored(ScoredAnswer(question, answer, system, True, "", {}, none, {v: () for v in verifiers}))
        return
    yield events.StageStarted("segment")
    shown, claims = transcript(question, context), dict[str, Claim]()
    parts: list[tuple[str, Segmented, float]] = []
    for number, name in enumerate(segmenters, 1):
        if stop.is_set():
            return
        nlp.forget()  # no decomposer profits from the parse of another
        started = working_time()
        made = segment(shown, answer, settings.model_copy(update={"segmenter": name}), stop)
        parts.append((name, made, round(working_time() - started, 3)))
        claims |= {c.id: c for c in made.claims}
        yield events.Progress("segment", number, len(segmenters))
    first, *others = verifiers
    own = settings.model_copy(update={"verifier": first})
    report: Report | None = None
    union = list(claims.values())
    run = pipeline.run(question, answer, own, store, documents, stop=stop, claims=union, source=source, context=context)
    for event in run:
        yield event
        if isinstance(event, events.Finished):
            report = event.report
    if report is None or report.stopped or stop.is_set():
        return
    provenance = store.provenance(report.id)
    concerns = provenance.concerns if provenance else {}
    pages = {page.id: page for page in report.pages}
    judged = {first: _judged(report, pages, concerns, {v.claim_id: v for v in report.verdicts}, report.evidence)}
    for name in others:
        verdicts: dict[str, Verdict] = {}
        evidence: list[Evidence] = []
        steps = _again(report, settings.model_copy(update={"verifier": name}), store, concerns)
        yield events.StageStarted("verify")
        for done, (verdict, pieces) in enumerate(steps, 1):
            if stop.is_set():
                return
            verdicts[verdict.claim_id] = verdict
            evidence += pieces
            yield events.Progress("verify", done, sum(c.checked for c in report.claims))
        judged[name] = _judged(report, pages, concerns, verdicts, evidence)
    by_id = {c.id: c for c in report.claims}
    decomposed = tuple(_decomposed(name, made, seconds, by_id) for name, made, seconds in parts)
    texts = {c.id: c.statement for c in report.claims if c.checked}
    failed = tuple(f for f in report.failures if f.stage != "segment")
    yield AnswerScored(ScoredAnswer(question, answer, system, False, report.id, texts, decomposed, judged, failed))


def _decomposed(name: str, made: Segmented, seconds: float, annotated: Mapping[str, Claim]) -> Decomposed:
    claims = [annotated[c.id] for c in made.claims]
    factual = [c for c in claims if c.worthiness == "factual"]
    facts = tuple(c.id for c in claims if c.checked)
    failures = (*made.failures, *fallbacks(made.failures))
    return Decomposed(name, facts, len(factual), sum(c.coherent for c in factual), seconds, made.usage, failures)


def _again(
    report: Report, settings: Settings, store: Store, concerns: Mapping[str, Sequence[Failure]]
) -> Iterator[tuple[Verdict, tuple[Evidence, ...]]]:
    """The verdicts of another verifier on the same facts over the same pages."""
    matcher = Matcher(settings, store, standalone_question(report.question, report.context))
    for page in report.pages:
        matcher.add(page)
    matcher.trace(Trace(e.claim_id, e.page_id, e.query, e.searcher, e.rank) for e in report.evidence)
    facts = [claim for claim in report.claims if claim.checked]
    for start in range(0, len(facts), GROUP):
        group = facts[start : start + GROUP]
        for claim, evidence, refused in _match(matcher, group):
            failures = [f for f in concerns.get(claim.id, ()) if f.stage != "verify"] + refused
            yield decide(claim, evidence, settings.thresholds, failures), evidence


def _match(matcher: Matcher, claims: list[Claim]) -> Iterator[tuple[Claim, tuple[Evidence, ...], list[Failure]]]:
    try:
        yield from ((c, e, []) for c, e in zip(claims, matcher.match(claims), strict=True))
    except BadInput as error:
        if len(claims) > 1:  # a claim that the verifier refuses costs only itself
            for claim in claims:
                yield from _match(matcher, [claim])
            return
        refused = Failure(stage="verify", subject=claims[0].id, kind="verifier_failed", message=str(error))
        yield claims[0], (), [refused]


def _judged(
    report: Report,
    pages: Mapping[str, Page],
    concerns: Mapping[str, Sequence[Failure]],
    verdicts: Mapping[str, Verdict],
    evidence: Sequence[Evidence],
) -> tuple[Judged, ...]:
    rows = []
    for claim in report.claims:
        if not claim.checked or claim.id not in verdicts:
            continue
        verdict = verdicts[claim.id]
        piece = deciding_evidence([e for e in evidence if e.claim_id == claim.id], pages)
        page = pages.get(piece.page_id) if piece else None
        broken = [f for f in concerns.get(claim.id, ()) if f.kind not in HARMLESS]
        label: Label = "not_reached" if verdict.label == "missing" and broken else verdict.label
        found = (piece.deciding_sentence, page.title, page.url) if piece and page else ("", "", "")
        rows.append(Judged(claim.id, label, verdict.confidence, verdict.reason, *found))
    return tuple(rows)
