"""Propose corrections: a value of the contradicting sentence in place of the claim's wrong one.

A correction is proposed only where nothing is in doubt: the claim is contradicted, exactly one of
its values differs from the sentence that decides, one value of that sentence has the same unit and
the same role, and the claim with that value is supported by all of its evidence.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from pydantic import TypeAdapter, ValidationError

from attribution.errors import BadInput, StageFailure
from attribution.evidence.near_duplicates import nearest_evidence
from attribution.pipeline.judge import GivenClaim, JudgedClaim, Passage, judge
from attribution.review.correction import Correction, place
from attribution.settings import Settings
from attribution.store.store import Store
from attribution.text.names import negations
from attribution.text.quantities import agrees, computed, fill_same_slot
from attribution.text.values import Value, values
from attribution.text.words import STOP_WORDS, shared_words, stem, terms, words_of
from attribution.types import Claim, Evidence, Failure, Page, Report
from attribution.verdicts import leaning
from attribution.verifiers import VERIFIERS, policy_of
from attribution.verifiers.pairs import CachedVerifier

NONE = "No value of the contradicting sentence can safely take the place of the claim's."
NOT_SUPPORTED = "The evidence doesn't surely support the claim with the other value."
NOT_WRITTEN = "The answer itself doesn't hold the words to change."
COVERED = 0.6  # least share of the claim's words that the sentence, or its page's title, has
NEAR = 30  # characters on either side of a value that say what it measures
# Words of which a claim and a sentence must have the same: one of the two computes its value.
_COMPUTING = frozenset(
    "total sum average mean median difference combined together altogether net times double twice "
    "triple half third quarter more less fewer least most increase decrease rise rose fall fell "
    "grew growth gain loss lost change ratio proportion share remaining left only all each every "
    "other another next previous former before after earlier later ago since until between "
    "ahead behind over under beat both".split()
)
_INTERVAL = re.compile(r"\W*(?:CI\b|confidence|credible|interval|margin|quantile|percentile)")
_SIGN = re.compile(r"[+\-−–±~≈<>≤≥]\s?$")
_PART_OF_NUMBER = re.compile(r"[\d.,]\s?$")
_UNFIT = re.compile(r"(?:an?|thousand|million|billion)\b|\d+-[a-z]", re.IGNORECASE)
_DIGITS = re.compile(r"\d[\d.,]*\d|\d")


@dataclass(frozen=True)
class SafeChange:
    """A value of a claim, and the words of the source in its place."""

    value: Value
    before: str
    after: str


def safe_change(claim: str, sentence: str, passage: str) -> SafeChange | None:
    """Return the one value of a claim that a sentence gives differently; None if in doubt.

    Args:
        claim: The claim as it was checked.
        sentence: The sentence that contradicts it.
        passage: The passage around the sentence. A value that follows from those of the passage is
            never replaced.
    """
    claim_values, source_values = values(claim), values(sentence)
    wrong = [value for value in claim_values if not _agrees(value, source_values)]
    unused = [value for value in source_values if not _agrees(value, claim_values)]
    if len(wrong) != 1 or _is_turned(claim, sentence):
        return None
    (value,) = wrong
    rivals = [rival for rival in unused if _may_be_meant(value, rival)]
    if len(rivals) != 1 or _is_computed(value, passage):
        return None
    (rival,) = rivals
    if not _has_same_unit(value, rival) or not _has_same_role(claim, value, sentence, rival):
        return None
    before, after = claim[slice(*value.span)], sentence[slice(*rival.span)]
    if not _is_whole(claim, value) or not _is_whole(sentence, rival) or _UNFIT.match(after):
        return None
    old_figures = set(_DIGITS.findall(before)) - set(_DIGITS.findall(after))
    if old_figures & set(_DIGITS.findall(sentence)):
        return None
    return SafeChange(value, before, _in_case_of(before, after))


def _in_case_of(before: str, after: str) -> str:
    """Return the words with a capital where those before them have one, or without."""
    if before[0].isupper():
        return after[0].upper() + after[1:]
    return after[0].lower() + after[1:] if after.startswith("The ") else after


def _is_whole(text: str, value: Value) -> bool:
    """Return True if no other part of a number or word stands right beside a value."""
    is_continued = text[value.end : value.end + 1].isalnum()
    return not is_continued and not _PART_OF_NUMBER.search(text[: value.start])


def _agrees(value: Value, others: Sequence[Value]) -> bool:
    return any(agrees(value, other) for other in others)


def _is_turned(claim: str, sentence: str) -> bool:
    """Return True if one of the two texts denies, or computes, where the other doesn't."""
    computing = {stem(word) for word in _COMPUTING}
    in_claim, in_sentence = ({stem(w) for w in words_of(text)} for text in (claim, sentence))
    if (in_claim ^ in_sentence) & computing:
        return True
    return bool(negations(claim)) != bool(negations(sentence))


def _may_be_meant(value: Value, rival: Value) -> bool:
    """Return True for values of the same unit, and for numbers whose unit goes without saying."""
    if value.kind != rival.kind:
        return False
    return value.kind != "quantity" or rival.dimension in (value.dimension, "")


def _is_computed(value: Value, passage: str) -> bool:
    """Return True if a quantity is among those of a passage, or follows from them."""
    sources = values(passage)
    if computed(value, sources, passage):
        return True
    quantities = [source.low for source in sources if source.kind == "quantity"]
    return value.kind == "quantity" and value.low in quantities


def _has_same_unit(value: Value, rival: Value) -> bool:
    if value.kind != rival.kind:
        return False
    known = [part is None for part in value.parts]
    if known != [part is None for part in rival.parts]:
        return False
    return (value.dimension, value.unit, value.comparator, value.per) == (
        rival.dimension,
        rival.unit,
        rival.comparator,
        rival.per,
    )


def _has_same_role(claim: str, value: Value, sentence: str, rival: Value) -> bool:
    """Return True if both values stand by the same words, with the same sign."""
    if _INTERVAL.match(sentence, rival.end):
        return False
    if bool(_SIGN.search(claim[: value.start])) != bool(_SIGN.search(sentence[: rival.start])):
        return False
    if not fill_same_slot(claim, value, sentence, rival):
        return False
    if value.kind == "quantity" and not value.dimension:
        return bool(_counted(claim, value) & _counted(sentence, rival))
    return bool(_words_near(claim, value) & _words_near(sentence, rival))


def _counted(text: str, value: Value) -> frozenset[str]:
    """Return the stems of the words that a number counts: those that follow it directly."""
    stems: list[str] = []
    for word in words_of(text[value.end :])[:3]:
        if word in STOP_WORDS:
            break
        stems.append(stem(word))
    return frozenset(stems)


def _words_near(text: str, value: Value) -> frozenset[str]:
    before = text[max(0, value.start - NEAR) : value.start]
    after = text[value.end : value.end + NEAR]
    return terms(f"{before} {after}")[0]


@dataclass(frozen=True)
class Proposal:
    """The outcome for one claim: a correction, a failure, or neither, with the reason."""

    claim_id: str
    correction: Correction | None = None
    reason: str = ""
    failure: Failure | None = None


def correctable(report: Report) -> tuple[Claim, ...]:
    """Return the contradicted claims, without those that the analyst sees otherwise."""
    labels = {verdict.claim_id: verdict.label for verdict in report.verdicts}
    labels |= {judgement.claim_id: judgement.label for judgement in report.judgements}
    return tuple(c for c in report.claims if labels.get(c.id) == "contradicted" and c.checked)


def propose(
    report: Report,
    claims: Sequence[Claim],
    settings: Settings,
    store: Store,
    stop: threading.Event | None = None,
) -> Iterator[Proposal]:
    """Propose corrections of claims, without searching and without changing the run.

    Args:
        stop: If it is set, the claims that are left get no proposal.

    Yields:
        One proposal for each claim, in order.

    Raises:
        BadInput: A claim is of another run.
        Unavailable: The verifier cannot be used.
    """
    others = {claim.id for claim in claims} - {claim.id for claim in report.claims}
    if others:
        raise BadInput(f"claim {min(others)} is not in this run: open the run it belongs to")
    if not claims:
        return
    proposer = _Proposer(report, settings, store)
    for claim in claims:
        if stop is not None and stop.is_set():
            return
        try:
            yield proposer.proposal(claim)
        except StageFailure as error:
            failure = error.as_failure("correct", claim.text)
            yield Proposal(claim.id, reason=str(error), failure=failure)


class _Proposer:
    def __init__(self, report: Report, settings: Settings, store: Store) -> None:
        self._report = report
        self._pages = {page.id: page for page in report.pages}
        self._verifier = CachedVerifier(VERIFIERS.build(settings.verifier, settings), store)
        self._policy = policy_of(settings)

    def proposal(self, claim: Claim) -> Proposal:
        evidence = [e for e in self._report.evidence if e.claim_id == claim.id]
        piece = nearest_evidence(evidence, "contradicted", self._pages)
        if claim not in correctable(self._report) or piece is None:
            return Proposal(claim.id, reason=NONE)
        statement, sentence = claim.statement, piece.deciding_sentence
        change = safe_change(statement, sentence, piece.text)
        title = _page_title(self._pages.get(piece.page_id))
        if change is None or shared_words(statement, f"{title} {sentence}") < COVERED:
            return Proposal(claim.id, reason=NONE)
        start, end = change.value.span
        after = statement[:start] + change.after + statement[end:]
        judged = self._judge(after, evidence)
        is_doubted = any(leaning(e.probabilities) == "contradicted" for e in judged.evidence)
        if judged.verdict.label != "supported" or is_doubted:
            return Proposal(claim.id, reason=NOT_SUPPORTED)
        edit = place(self._report.answer, claim, change.before, change.after)
        if edit is None:
            return Proposal(claim.id, reason=NOT_WRITTEN)
        correction = Correction(
            claim_id=claim.id,
            before=statement,
            after=after,
            edits=(edit,),
            page_id=piece.page_id,
            sentence=piece.sentence,
            quote=sentence,
            probability=judged.verdict.confidence,
            verifier=self._verifier.version,
        )
        return Proposal(claim.id, correction)

    def _judge(self, wording: str, evidence: Sequence[Evidence]) -> JudgedClaim:
        """Judge another wording of a claim by the claim's own passages."""
        passages = []
        for piece in evidence:
            page = self._pages.get(piece.page_id)
            url = page.url if page else ""
            passages.append(Passage(piece.text, url, _page_title(page)))
        (judged,) = judge([GivenClaim(wording, passages)], self._verifier, self._policy)
        return judged


def _page_title(page: Page | None) -> str:
    return page.title if page else ""


# --- what was decided about the proposals ---

KIND = "corrections"  # the kind of the saved result


@dataclass(frozen=True)
class Review:
    """The proposals for one run by claim, and the claims whose correction is accepted."""

    proposals: Mapping[str, Proposal] = field(default_factory=dict)
    accepted: tuple[str, ...] = ()  # in the order of acceptance

    def with_proposals(self, proposals: Iterable[Proposal]) -> Review:
        added = {proposal.claim_id: proposal for proposal in proposals}
        return replace(self, proposals={**self.proposals, **added})

    def fitting(self, report: Report) -> Review:
        """Drop the corrections of claims, or of words of the answer, that have changed since."""
        wordings = {claim.id: claim.statement for claim in report.claims}
        fitting: dict[str, Proposal] = {}
        for claim_id, proposal in self.proposals.items():
            correction = proposal.correction
            if correction:
                is_in_place = all(
                    report.answer[edit.start : edit.end] == edit.before for edit in correction.edits
                )
                if not is_in_place or correction.before != wordings.get(claim_id):
                    continue
            fitting[claim_id] = proposal
        return replace(self, proposals=fitting)

    def accept(self, claim_id: str) -> Review:
        """Accept the correction of a claim; accepting it again takes that back."""
        if claim_id in self.accepted:
            return replace(self, accepted=tuple(i for i in self.accepted if i != claim_id))
        return replace(self, accepted=(*self.accepted, claim_id))


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
