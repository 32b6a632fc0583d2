"""Propose corrections of unsupported claims: the smallest change that their evidence supports.

The task is that of RARR's editor (Gao et al. 2023, section 3.2): given one claim and one passage,
change only what
disagrees.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from attribution.errors import BadInput, StageFailure
from attribution.evidence.judging import Judged, reservation
from attribution.llm import prompts
from attribution.llm.client import Llm, Question
from attribution.policy import DecisionPolicy
from attribution.review.correction import Correction, changed_words, place, word_spans
from attribution.settings import Settings
from attribution.store.store import Store
from attribution.tables import LLM, Entry, Table
from attribution.text.names import negations
from attribution.text.prose import prose
from attribution.text.sentences import sentences
from attribution.text.value_reading import values
from attribution.text.words import shared_words, terms
from attribution.types import Claim, Evidence, Failure, Judgement, Label, LlmUsage, Page, Report
from attribution.verdicts import relation
from attribution.verifiers import VERIFIERS, policy_of
from attribution.verifiers.contrast import AHEAD, ENTAILED
from attribution.verifiers.pairs import CachedVerifier, Reads
from attribution.verifiers.variants import SHARED, Exchange, exchanged, keeps_subject, replaced
from attribution.verifiers.variants import changes as value_changes


class Corrector(Protocol):
    version: str

    @property
    def usage(self) -> LlmUsage | None:
        """The use of language models so far; None if none is used."""
        ...

    def candidates(self, claim: str, passage: str, right: Sequence[str] = ()) -> list[str]:
        """Return small rewordings of the claim, the likeliest first, without changing what a text
        in `right` also says.

        The corrector does not decide if the passage supports one: `propose` asks the run's
        verifier.
        """
        ...


CORRECTORS: Table[Corrector] = Table(
    "corrector",
    {
        "rule": Entry(
            "attribution.review.corrections:RuleCorrector",
            "By rule",
            "puts a number, date, unit, name or negation of the passage in place of the claim's",
            english=True,
        ),
        "llm": Entry(
            "attribution.review.corrections:LlmCorrector",
            "Language model",
            "sends each claim with its deciding passages to the language model",
            needs=(LLM,),
        ),
    },
)


MAX_CANDIDATES = 10  # candidates for a claim and a passage
SWAPPED = 3  # of these, at most, made by swapping two values
_AUXILIARY = re.compile(
    r"\b(?:is|are|was|were|can|could|will|would|has|have|had|does|do|did|should|may|might|must)\b"
)
_UNTIL = re.compile(r"\buntil\b")  # "not until then": it happened then


class RuleCorrector:
    """Corrector `rule`."""

    version = "rule/2"
    usage: LlmUsage | None = None

    def __init__(self, settings: Settings) -> None:
        pass

    def candidates(self, claim: str, passage: str, right: Sequence[str] = ()) -> list[str]:
        """Return the claim with values replaced by the passage's, the likeliest first; at most ten.

        A name in the subject of the claim is kept: another name would make it a claim about
        something else. So is what
        a text in `right` also says. If there are such texts, values are changed one at a time.
        """
        found = [*value_changes(claim, passage, [passage, *right]), *_negations(claim, passage)]
        found.sort(key=lambda c: -c.likeness)
        texts = [replaced(claim, [change]) for change in found]
        if not right:
            if len(best := _best(found)) > 1:
                texts.insert(min(len(texts), 2), replaced(claim, best))
            swapped = [
                v.text
                for start, end in sentences(passage)
                for v in exchanged(claim, passage[start:end])
            ]
            texts = [
                *texts[: MAX_CANDIDATES - SWAPPED],
                *swapped[:SWAPPED],
                *texts[MAX_CANDIDATES - SWAPPED :],
            ]
        return [t for t in dict.fromkeys(map(_dated, texts)) if t != claim][:MAX_CANDIDATES]


def _dated(text: str) -> str:
    """Put “on” before a day that took the place of a year or month, and “in” before one of these."""
    for value in reversed(values(text)):
        before, wanted = text[: value.start], "on" if value.parts[2] else "in"
        if value.kind == "date" and before.endswith((" in ", " on ")):
            text = f"{before[:-3]}{wanted} {text[value.start :]}"
    return text


def _negations(claim: str, passage: str) -> Iterator[Exchange]:
    """Yield the removal of the claim's negation if a sentence has none, or an insertion if a
    sentence has one.
    """
    words = terms(claim)[0]
    for start, end in sentences(passage):
        sentence = passage[start:end]
        shared = SHARED * len(words & terms(sentence)[0]) / max(1, len(words))
        own, its = negations(claim), negations(sentence)
        if own and not its:
            for first, last in own:
                if claim[first:last].casefold() in ("not", "never") and not _UNTIL.search(
                    claim, last
                ):
                    yield Exchange(
                        (first, last + claim[last:].startswith(" ")), "", shared, "negation"
                    )
        elif its and not own and (match := _AUXILIARY.search(claim)):
            yield Exchange((match.end(), match.end()), " not", shared, "negation")


def _best(found: Sequence[Exchange]) -> list[Exchange]:
    """Return the best changes that do not overlap."""
    chosen: list[Exchange] = []
    for change in found:
        if all(change.span[1] <= c.span[0] or c.span[1] <= change.span[0] for c in chosen):
            chosen.append(change)
    return chosen


MAX_CLAIM = 600  # characters of a claim
MAX_CHANGED = 0.5  # share of the claim's words; a larger change makes another claim


class CorrectionReply(BaseModel):
    model_config = ConfigDict(extra="ignore")

    claims: list[str]


class LlmCorrector:
    """Corrector `llm`."""

    def __init__(self, settings: Settings) -> None:
        """Raise Unavailable if no endpoint is configured."""
        self._llm = Llm(settings)
        self._prompt = prompts.load("correction.v1")
        self.version = f"{self._prompt.version}/{self._llm.version}"

    @property
    def usage(self) -> LlmUsage:
        """The use of the language model so far."""
        return self._llm.usage

    def candidates(self, claim: str, passage: str, right: Sequence[str] = ()) -> list[str]:
        """Return at most three wordings. Raises LlmFailed if the model did not answer."""
        question = Question.of(self._prompt, claim=claim, passage=passage)
        reply = self._llm.ask(question, CorrectionReply)
        words = max(1, len(word_spans(claim)))
        lines = dict.fromkeys(" ".join(text.split()) for text in reply.value.claims[:3])
        small = (
            t
            for t in lines
            if t and len(t) <= MAX_CLAIM and 0 < changed_words(claim, t) <= MAX_CHANGED * words
        )
        return [text for text in small if keeps_subject(claim, text)]


CORRECTED: tuple[Label, ...] = ("contradicted",)  # the verdicts to correct
PASSAGES = 2  # of a claim, from which candidates are made; no other passage may contradict them
# extra probability that a candidate needs to beat one ranked just before it by the corrector
RANK = 0.03


@dataclass(frozen=True)
class Premise:
    """A passage as the verifier reads it, and the title of its page."""

    text: str
    title: str = ""

    def pair(self, claim: str) -> tuple[str, str, str]:
        return claim, self.text, self.title


@dataclass(frozen=True)
class Supported:
    """A wording that a passage supports; `premise` is the index of that passage."""

    text: str
    premise: int
    judgement: Judgement


@dataclass(frozen=True)
class Proposal:
    """The outcome for one claim: a correction, a failure, or neither, with the reason."""

    claim_id: str
    correction: Correction | None = None
    reason: str = ""
    failure: Failure | None = None


NONE = "No small change of its numbers, dates, units, names and negations is supported by its evidence."
NOT_WRITTEN = (
    "A supported wording was found, but the answer itself does not hold the words that it changes."
)


def correctable(report: Report) -> tuple[Claim, ...]:
    """Return the contradicted claims."""
    labels = {v.claim_id: v.label for v in report.verdicts}
    return tuple(c for c in report.claims if labels.get(c.id) in CORRECTED and c.checked)


def propose(
    report: Report,
    claims: Sequence[Claim],
    settings: Settings,
    store: Store,
    corrector: str = "rule",
    stop: threading.Event | None = None,
) -> Iterator[Proposal]:
    """Yield one proposal for each claim, in order, without searching and without changing the run.

    Raises UnknownName or Unavailable for a corrector or verifier that cannot be used, BadInput for
    a claim of another
    run.
    """
    if others := {c.id for c in claims} - {c.id for c in report.claims}:
        raise BadInput(f"claim {min(others)} is not in this run: open the run it belongs to")
    built = CORRECTORS.build(corrector, settings)
    verifier = CachedVerifier(VERIFIERS.build(settings.verifier, settings), store)
    pages = {page.id: page for page in report.pages}
    proses: dict[str, str] = {}  # by page
    labels = {v.claim_id: v.label for v in report.verdicts}
    for claim in claims:
        if stop is not None and stop.is_set():
            return
        pieces = deciding(claim, [e for e in report.evidence if e.claim_id == claim.id])
        premises = [_premise(piece, pages, proses) for piece in pieces]
        try:
            # if no passage surely contradicts the claim, whatever they have in common with it is
            # right
            right = () if labels[claim.id] == "contradicted" else [p.text for p in premises]
            found = best(claim.statement, premises, built, verifier, policy_of(settings), right)
        except StageFailure as error:
            yield Proposal(
                claim.id, reason=str(error), failure=error.as_failure("correct", claim.text)
            )
            continue
        if found is None:
            yield Proposal(claim.id, reason=NONE)
            continue
        edits = place(report.answer, claim, found.text)
        if not edits:
            yield Proposal(claim.id, reason=NOT_WRITTEN)
            continue
        piece, (first, last) = pieces[found.premise], found.judgement.sentence
        correction = Correction(
            claim_id=claim.id,
            before=claim.statement,
            after=found.text,
            edits=edits,
            page_id=piece.page_id,
            sentence=(piece.start + first, piece.start + last),
            quote=piece.text[first:last],
            probability=round(found.judgement.probabilities.entailed, 4),
            corrector=built.version,
            verifier=verifier.version,
        )
        yield Proposal(claim.id, correction)


def deciding(claim: Claim, evidence: Sequence[Evidence]) -> list[Evidence]:
    """Sort the evidence of a claim, the most decisive first and contradictions before all others."""

    def order(piece: Evidence) -> tuple[bool, float, float]:
        p, shared = piece.probabilities, shared_words(claim.statement, piece.text)
        return piece.relation != "contradicted", -max(p.contradicted, p.entailed), -shared

    return sorted(evidence, key=order)


def best(
    claim: str,
    premises: Sequence[Premise],
    corrector: Corrector,
    verifier: Reads,
    policy: DecisionPolicy,
    right: Sequence[str] = (),
) -> Supported | None:
    """Return the wording with the fewest changed words that one of the first premises supports and
    none contradicts.

    Its probability must reach ENTAILED and exceed the claim's by AHEAD, as for a variant that
    contradicts the claim
    (verifiers/contrast.py). Ties go to the most probable, minus RANK for each candidate that is
    ranked before it.
    What a text in `right` also says is kept.
    """
    tried = [
        (n, *c)
        for n, p in enumerate(premises[:PASSAGES])
        for c in enumerate(corrector.candidates(claim, p.text, right))
    ]
    judgements = verifier.verify([premises[n].pair(text) for n, _, text in tried])
    own = [
        j.probabilities.entailed
        for j in verifier.verify([p.pair(claim) for p in premises[:PASSAGES]])
    ]
    supported = [
        (
            changed_words(claim, text),
            RANK * rank - judgement.probabilities.entailed,
            Supported(text, n, judgement),
        )
        for (n, rank, text), judgement in zip(tried, judgements, strict=True)
        if relation(judgement.probabilities, policy) == "entailed"
        and judgement.probabilities.entailed >= max(ENTAILED, own[n] + AHEAD)
        and terms(claim)[0] & terms(premises[n].text)[0]  # more than the value that was put in
        and reservation(premises[n].pair(text), Judged(judgement)) is None
    ]
    for _, _, found in sorted(supported, key=lambda s: s[:2]):
        others = verifier.verify(
            [p.pair(found.text) for n, p in enumerate(premises) if n != found.premise]
        )
        if all(relation(j.probabilities, policy) != "contradicted" for j in others):
            return found
    return None


def _premise(piece: Evidence, pages: dict[str, Page], proses: dict[str, str]) -> Premise:
    page = pages.get(piece.page_id)
    if page is None or page.text[piece.start : piece.end] != piece.text:
        return Premise(piece.text, page.title if page else "")
    if page.id not in proses:
        proses[page.id] = prose(page.text)
    return Premise(proses[page.id][piece.start : piece.end], page.title)


KIND = "corrections"  # the kind of the saved result


@dataclass(frozen=True)
class Decisions:
    accepted: tuple[str, ...] = ()  # claims, in the order of acceptance
    rejected: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Review:
    """The proposals for one run by claim, the decisions, and the earlier ones for undo."""

    proposals: Mapping[str, Proposal] = field(default_factory=dict)
    now: Decisions = Decisions()
    before: tuple[Decisions, ...] = ()

    def with_proposals(self, proposals: Iterable[Proposal]) -> Review:
        return replace(self, proposals={**self.proposals, **{p.claim_id: p for p in proposals}})

    def fitting(self, report: Report) -> Review:
        """Drop the corrections of claims, or of words of the answer, that have changed since."""
        wordings = {c.id: c.statement for c in report.claims}

        def fits(found: Correction) -> bool:
            in_place = all(report.answer[e.start : e.end] == e.before for e in found.edits)
            return in_place and found.before == wordings.get(found.claim_id)

        valid = {
            i: p for i, p in self.proposals.items() if p.correction is None or fits(p.correction)
        }
        return replace(self, proposals=valid)

    def decide(self, accept: Sequence[str] = (), reject: Sequence[str] = ()) -> Review:
        """Accept and reject the corrections of these claims; repeating a decision takes it back."""
        both, old = {*accept, *reject}, self.now
        accepted = [i for i in old.accepted if i not in both] + [
            i for i in accept if i not in old.accepted
        ]
        rejected = (old.rejected - both) | (frozenset(reject) - old.rejected)
        return replace(self, now=Decisions(tuple(accepted), rejected), before=(*self.before, old))

    def undo(self) -> Review:
        """Return the review as it was before the last decision."""
        return replace(self, now=self.before[-1], before=self.before[:-1]) if self.before else self


_REVIEW = TypeAdapter(Review)


def save_review(store: Store, run_id: str, review: Review) -> None:
    """Save the review with the run, replacing an earlier state. It is deleted with the run."""
    store.results.save(KIND, run_id, _REVIEW.dump_json(review).decode())


def load_review(store: Store, run_id: str) -> Review:
    """Load the review of a run; an empty one if none was saved or another version wrote it."""
    body = store.results.load(KIND, run_id)
    try:
        return _REVIEW.validate_json(body) if body else Review()
    except ValidationError:
        return Review()
