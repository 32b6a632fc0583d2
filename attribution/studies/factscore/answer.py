"""Score the facts of one answer by each decomposer and verifier (FActScore; Min et al. 2023, section 3.1)."""

from __future__ import annotations

import math
import threading
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass

from attribution import events
from attribution.claims.enrichment import standalone_question, transcript
from attribution.claims.rules import compile_any
from attribution.errors import BadInput
from attribution.evidence import EvidenceSource, GatherStep, PreparedClaims
from attribution.evidence.matching import Matcher
from attribution.evidence.near_duplicates import deciding_evidence
from attribution.pipeline.claims import fallbacks
from attribution.pipeline.estimate import check_input
from attribution.pipeline.run import match_each, run
from attribution.pipeline.snapshot import Snapshot
from attribution.provenance import Trace
from attribution.segmenters import SEGMENTERS
from attribution.settings import Settings
from attribution.store.store import Store
from attribution.studies.segmenters.comparison import SegmenterResult, segment_by_each
from attribution.text.passages import plain
from attribution.text.sentences import sentences
from attribution.types import (
    UNCHECKED,
    Claim,
    Document,
    Evidence,
    Failure,
    Judgement,
    Label,
    LlmUsage,
    Page,
    Report,
    Turn,
    Verdict,
)
from attribution.verdicts import decide
from attribution.verifiers import VERIFIERS


@dataclass(frozen=True)
class FrozenPages:
    """An EvidenceSource without search: every claim gets all pages of the snapshot, whose own claims are ignored."""

    snapshot: Snapshot

    @property
    def judgements(self) -> Mapping[str, Judgement]:
        return self.snapshot.judgements

    def over(self, store: Store) -> Store:
        return self.snapshot.over(store)

    def claims(self, question: str, answer: str, settings: Settings) -> PreparedClaims | None:
        return None

    def gather(self, claims: Sequence[Claim], question: str, stop: threading.Event) -> Iterator[GatherStep]:
        pages, ids = self.snapshot.report.pages, tuple(claim.id for claim in claims)
        yield GatherStep("fetch", 1, 1, ids, pages=pages, traces=self.snapshot.provenance.traces, complete=ids)

    def refute(self, claims: Sequence[Claim], stop: threading.Event) -> Iterator[GatherStep]:
        return iter(())


_NOT = r"(?:can(?:not|['’]t| not)|could(?:n['’]t| not)|do(?:n['’]t| not)|was(?:n['’]t| not) able to|am not able to)"
_KNOW = (
    r"(?:find|found|locate|have|provide|access|verify|confirm|answer|know|identify|determine|recall|tell|share|give)"
)
_OPENING = r"^\W*(?:(?:unfortunately|apologies|sorry|well)\b[,.!]?\s*(?:but\s+)?)*"
_ABSTAINS = compile_any(
    [
        _OPENING + rf"(?:I['’]?m|I am|we are|we['’]re)\s+(?:\w+\s+)?sorry\b.{{0,60}}\b"
        rf"(?:{_NOT}|unable|not able|no (?:information|knowledge|record))",
        _OPENING
        + r"(?:I['’]?m|I am|we are|we['’]re)\s+(?:\w+\s+)?(?:unable to|not able to|not (?:familiar|aware|sure))\b",
        _OPENING + rf"(?:I|we)\s+(?:\w+ly\s+)?{_NOT}\s+(?:\w+\s+)?{_KNOW}\b",
        _OPENING + r"(?:I|we)\s+have no (?:\w+ )?(?:information|knowledge|record|data)\b",
        _OPENING + r"(?:there (?:is|are)|there['’]s|(?:I|we) found)\s+(?:no|not enough|insufficient)\s+(?:\w+\s+){0,2}"
        r"(?:information|records?|details)\b",
        _OPENING
        + r"no (?:\w+ )?(?:information|records?|results?|data)\b.{0,60}\b(?:available|(?:be|was|were) found)\b",
        _OPENING
        + rf"as an? (?:AI|language model|assistant)\b.{{0,80}}\b(?:{_NOT}|unable|not able|no (?:access|information))",
        _OPENING + r"the (?:provided |given |search )?(?:passages?|sources?|documents?|context|results?)\s+"
        r"(?:(?:do(?:es)?|did)(?:n['’]t| not) (?:mention|contain|include|provide|say|cover|specify|give|state)"
        r"|(?:contains?|provides?|gives?) no)\b",
    ]
)
_GOES_ON = compile_any([r"[,;]\s*(?:but|however|though|although|yet)\b"])


def abstains(answer: str) -> bool:
    """Return True if the first sentence of an English answer only says that the answer is not known.

    “I don't have the exact date, but it was finished in 1889” is an answer; so is a text that expresses sympathy.
    """
    text = " ".join(plain(answer).split())
    first = next((text[start:end] for start, end in sentences(text)), "")
    match = _ABSTAINS.search(first)
    return match is not None and not _GOES_ON.search(first, match.end())


GAMMA = 10  # facts below which an answer's score is reduced: the default of the authors' program


@dataclass(frozen=True)
class Counts:
    """The counts of one verifier for the facts of one decomposer and answer."""

    facts: int  # judged facts
    supported: int
    responded: bool = True  # False: the answer abstains, and does not count


@dataclass(frozen=True)
class Score:
    """FActScore of several answers; None if no answer has a judged fact."""

    factscore: float | None  # mean over answers of the share of supported facts, with the length penalty
    unpenalised: float | None  # the same without it
    answers: int  # answers that count: those that respond, with at least one fact


def penalty(facts: int, gamma: float) -> float:
    """Return the length penalty: 1 from `gamma` facts on, exp(1 - gamma / facts) below; gamma 0 disables it."""
    return 1.0 if facts >= gamma else math.exp(1 - gamma / facts)


def score(answers: Sequence[Counts], gamma: float = GAMMA) -> Score:
    """Score one system, decomposer and verifier. Answers without a judged fact have no precision to average."""
    counted = [a for a in answers if a.responded and a.facts]
    if not counted:
        return Score(None, None, 0)
    shares = [a.supported / a.facts for a in counted]
    return Score(
        factscore=sum(s * penalty(a.facts, gamma) for s, a in zip(shares, counted, strict=True)) / len(counted),
        unpenalised=sum(shares) / len(counted),
        answers=len(counted),
    )


MAX_CHOICES = 6  # decomposers, and verifiers, in one table
GROUP = 16  # facts between two checks of the stop signal
HARMLESS = ("nothing_found", "fell_back")  # kinds of failure that leave the evidence whole


@dataclass(frozen=True)
class JudgedFact:
    """The verdict of one verifier on one fact."""

    fact: str  # the claim's id
    label: Label
    confidence: float
    reason: str
    sentence: str = ""  # the deciding sentence; empty where none decides
    title: str = ""  # of its page
    url: str = ""

    @property
    def counts(self) -> bool:
        """True if the fact is in the denominator; facts left unjudged because of a failure are not."""
        return self.label not in UNCHECKED


@dataclass(frozen=True)
class Decomposed:
    """The facts of one decomposer: its claims that are check-worthy and coherent."""

    segmenter: str
    facts: tuple[str, ...]  # ids, in the order of the answer
    factual: int  # check-worthy claims
    coherent: int  # of these, claims entailed by their own sentence: DecompScore (W24 3.2)
    seconds: float  # of segmentation, without loading models
    usage: LlmUsage | None = None
    failures: tuple[Failure, ...] = ()


@dataclass(frozen=True)
class ScoredAnswer:
    """The data of one answer for all tables."""

    question: str
    answer: str
    system: str  # the system that wrote the answer; empty: unknown
    abstained: bool
    run_id: str  # the run that gathered the pages; empty for an answer that abstains
    texts: dict[str, str]  # the facts as they were checked, by id
    decomposed: tuple[Decomposed, ...]
    judged: dict[str, tuple[JudgedFact, ...]]  # by verifier
    failures: tuple[Failure, ...] = ()  # of gathering

    def counts(self, segmenter: str, verifier: str) -> Counts:
        """Count the facts and supported facts of one cell."""
        facts = self.facts(segmenter, verifier)
        judged = [j for j in facts if j.counts]
        return Counts(len(judged), sum(j.label == "supported" for j in judged), not self.abstained)

    def facts(self, segmenter: str, verifier: str) -> list[JudgedFact]:
        """Return the rows behind one cell, in the order of the answer."""
        own = next((d.facts for d in self.decomposed if d.segmenter == segmenter), ())
        by_id = {j.fact: j for j in self.judged.get(verifier, ())}
        return [by_id[i] for i in own if i in by_id]


@dataclass(frozen=True)
class AnswerScored:
    """An event: the answer is done. Not sent for an answer that was stopped."""

    answer: ScoredAnswer


def check_choice(segmenters: Sequence[str], verifiers: Sequence[str], settings: Settings) -> None:
    """Check the names. Raises BadInput for none, too many or repeats; UnknownName or Unavailable for unusable ones."""
    for kind, names in (("decomposer", segmenters), ("verifier", verifiers)):
        if not 1 <= len(names) <= MAX_CHOICES or len(set(names)) < len(names):
            raise BadInput(f"found {len(names)} {kind}s ({', '.join(names)}): expected one to {MAX_CHOICES}, each once")
    for name in segmenters:
        SEGMENTERS.build(name, settings)
    for name in verifiers:
        VERIFIERS.build(name, settings)


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
    """Yield the events of one run over the facts of all decomposers, then of every other verifier, then AnswerScored.

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
    parts: list[SegmenterResult] = []
    for part in segment_by_each(transcript(question, context), answer, settings, segmenters, stop):
        parts.append(part)
        yield events.Progress("segment", len(parts), len(segmenters))
    if stop.is_set():
        return
    claims = {claim.id: claim for part in parts for claim in part.segmented.claims}
    own = settings.model_copy(update={"verifier": verifiers[0]})
    union = list(claims.values())
    steps = run(question, answer, own, store, documents, stop=stop, claims=union, source=source, context=context)
    for event in steps:
        yield event
    assert isinstance(event, events.Finished)  # the last of every run
    report = event.report
    if report.stopped or stop.is_set():
        return
    judged = yield from _by_verifier(report, settings, verifiers, store, stop)
    if stop.is_set():
        return
    by_id = {c.id: c for c in report.claims}
    decomposed = tuple(_decomposed(part, by_id) for part in parts)
    texts = {c.id: c.statement for c in report.claims if c.checked}
    failed = tuple(f for f in report.failures if f.stage != "segment")
    yield AnswerScored(ScoredAnswer(question, answer, system, False, report.id, texts, decomposed, judged, failed))


def _by_verifier(
    report: Report, settings: Settings, verifiers: Sequence[str], store: Store, stop: threading.Event
) -> Generator[events.Event, None, dict[str, tuple[JudgedFact, ...]]]:
    """Let every verifier but the first, whose verdicts the report holds, judge the facts; yield its progress."""
    provenance = store.runs.provenance(report.id)
    concerns = provenance.concerns if provenance else {}
    pages = {page.id: page for page in report.pages}
    first, *others = verifiers
    judged = {first: _judged(report, pages, concerns, {v.claim_id: v for v in report.verdicts}, report.evidence)}
    for name in others:
        verdicts: dict[str, Verdict] = {}
        evidence: list[Evidence] = []
        judgements = _again(report, settings.model_copy(update={"verifier": name}), store, concerns)
        yield events.StageStarted("verify")
        for done, (verdict, pieces) in enumerate(judgements, 1):
            if stop.is_set():
                return judged
            verdicts[verdict.claim_id] = verdict
            evidence += pieces
            yield events.Progress("verify", done, sum(c.checked for c in report.claims))
        judged[name] = _judged(report, pages, concerns, verdicts, evidence)
    return judged


def _decomposed(part: SegmenterResult, annotated: Mapping[str, Claim]) -> Decomposed:
    made, claims = part.segmented, [annotated[c.id] for c in part.segmented.claims]
    factual = [c for c in claims if c.worthiness == "factual"]
    facts, coherent = tuple(c.id for c in claims if c.checked), sum(c.coherent for c in factual)
    failures = (*made.failures, *fallbacks(made.failures))
    return Decomposed(part.segmenter, facts, len(factual), coherent, part.seconds, made.usage, failures)


def _again(
    report: Report, settings: Settings, store: Store, concerns: Mapping[str, Sequence[Failure]]
) -> Iterator[tuple[Verdict, tuple[Evidence, ...]]]:
    """Yield the verdicts of another verifier on the same facts and pages."""
    matcher = Matcher(settings, store, standalone_question(report.question, report.context))
    for page in report.pages:
        matcher.add(page)
    matcher.trace(Trace(e.claim_id, e.page_id, e.query, e.searcher, e.rank) for e in report.evidence)
    facts = [claim for claim in report.claims if claim.checked]
    for start in range(0, len(facts), GROUP):
        group = facts[start : start + GROUP]
        for claim, evidence, refused in match_each(matcher, group):
            failures = [f for f in concerns.get(claim.id, ()) if f.stage != "verify"] + refused
            yield decide(claim, evidence, matcher.policy, failures), evidence


def _judged(
    report: Report,
    pages: Mapping[str, Page],
    concerns: Mapping[str, Sequence[Failure]],
    verdicts: Mapping[str, Verdict],
    evidence: Sequence[Evidence],
) -> tuple[JudgedFact, ...]:
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
        rows.append(JudgedFact(claim.id, label, verdict.confidence, verdict.reason, *found))
    return tuple(rows)
