"""The one decision path: claims with passages → evidence.

A verifier reads each claim against each of its passages, in one pass. Then the steps run in order
(`evidence.steps`), and `verdicts.decide` makes a verdict of the evidence.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from attribution.claims.short_answers import completes_question, has_subject, statement
from attribution.evidence.numerals import in_figures, rounded_as
from attribution.evidence.prose import about_named
from attribution.evidence.steps import STEPS
from attribution.text.words import deciding_sentence, plain, shared_words
from attribution.types import Claim, Evidence, Judgement, Page, Pair, Probabilities, Span
from attribution.verdicts import (
    DecisionPolicy,
    counted,
    deciding_evidence,
    leaning,
    nearest_evidence,
    relation,
    strongest,
)
from attribution.verifiers.pairs import Reads

SENTENCE = "sentence"  # the step that reads the deciding sentence too
ABOUT = 0.5  # share of a claim's words that a passage about the same thing has
NOTICED = 0.15  # probability of a relation from which on a passage is about the claim's subject
SENTENCES = 2  # of a deciding passage that are read at most
STATED = 0.7  # probability of the passage's relation from which on a sentence says what it says
WORTH_READING = 0.3  # least probability of a side from which on sentences are read
HEADINGS = 2  # above a claim that are read with it


@dataclass(frozen=True)
class PlacedPassage:
    """A passage of a page, and how it was found: `text == page.text[start:end]`.

    Attributes:
        read: What the verifier reads of it: the text with lines that state nothing blanked.
        similarity: Cosine of claim and chunk.
        rank: Of the page in its search, from 1.
    """

    page: Page
    start: int
    end: int
    read: str
    similarity: float = 1.0
    query: str = ""
    searcher: str = ""
    rank: int = 0

    @property
    def text(self) -> str:
        return self.page.text[self.start : self.end]


@dataclass(frozen=True)
class Reading:
    """A claim and the passages that it is compared with, best first."""

    claim: Claim
    passages: Sequence[PlacedPassage]


def read(
    readings: Sequence[Reading], verifier: Reads, policy: DecisionPolicy, question: str = ""
) -> list[tuple[Evidence, ...]]:
    """Return a piece of evidence for each passage of each claim, in order.

    All pairs go to the verifier together.

    Args:
        question: Given to the verifier in place of a page's title, for a verifier that asks a
            language model about the question too (V24 4.3).

    Raises:
        BadInput: A claim or passage is empty or too long.
    """
    pairs: list[Pair] = []
    for reading in readings:
        pairs += [_pair(reading.claim, p, policy, question) for p in reading.passages]
    judged = iter(verifier.verify(pairs))
    evidence: list[list[Evidence]] = []
    for reading in readings:
        claim = reading.claim
        evidence.append([_evidence(claim, p, next(judged), policy) for p in reading.passages])
    if policy.is_plain:
        return [tuple(pieces) for pieces in evidence]

    for reading, pieces in zip(readings, evidence, strict=True):
        for number, passage in enumerate(reading.passages):
            pieces[number] = _after_steps(reading.claim, passage.page, pieces[number], policy)
    if SENTENCE not in policy.skipped_steps:
        _read_deciding_sentences(readings, evidence, verifier, policy)
    return [tuple(pieces) for pieces in evidence]


def spoken(claim: Claim) -> str:
    """Return a claim as the verifier reads it.

    A claim without a subject is read after the headings above it, "Costs > Total: €5", and a short
    answer with its question as one statement.
    """
    if completes_question(claim):
        return statement(claim.context[-1], claim.statement)
    if has_subject(claim.statement):
        return claim.statement
    headings = [heading.strip(" :*#") for heading in claim.context[-HEADINGS:]]
    missing = [h for h in headings if h and shared_words(h, claim.statement) < 1]
    return f"{' > '.join(missing)}: {claim.statement}" if missing else claim.statement


def _pair(claim: Claim, passage: PlacedPassage, policy: DecisionPolicy, question: str) -> Pair:
    if policy.is_plain:
        pair = (claim.statement, passage.text)
        return (*pair, question) if question else pair
    words = spoken(claim)
    legible = _legible(words)
    pair = (legible, rounded_as(legible, _legible(about_named(words, passage.read))))
    title = question or passage.page.title
    return (*pair, title) if title else pair


def _legible(text: str) -> str:
    """Return a text as the verifier reads it: plain characters, numbers in one form."""
    return in_figures(plain(text))


def _evidence(
    claim: Claim, passage: PlacedPassage, judgement: Judgement, policy: DecisionPolicy
) -> Evidence:
    page, probabilities = passage.page, judgement.probabilities
    first, last = judgement.sentence
    if not policy.is_plain:
        first, last = deciding_sentence(spoken(claim), passage.read)
    is_about = shared_words(claim.statement, passage.text) >= ABOUT
    return Evidence(
        claim_id=claim.id,
        page_id=page.id,
        origin=page.origin,
        genre=page.genre,
        start=passage.start,
        end=passage.end,
        text=passage.text,
        similarity=passage.similarity,
        relation=relation(probabilities, policy),
        probabilities=probabilities,
        sentence=(passage.start + first, passage.start + last),
        about=is_about or max(probabilities.entailed, probabilities.contradicted) >= NOTICED,
        signals=judgement.signals,
        query=passage.query,
        searcher=passage.searcher,
        rank=passage.rank,
    )


def _after_steps(claim: Claim, page: Page, piece: Evidence, policy: DecisionPolicy) -> Evidence:
    """Run the steps in order; each that changes the evidence leaves its name in it."""
    for name, step in STEPS.items():
        changed = None if name in policy.skipped_steps else step(claim, page, piece)
        if changed is not None:
            piece = changed.model_copy(update={"steps": (*piece.steps, name)})
    return piece.model_copy(update={"relation": counted(piece, policy)})


@dataclass
class _Search:
    """The search for the sentence of a claim's deciding piece that says what the piece says.

    Attributes:
        rest: What was read of the piece, with the sentences that were read alone blanked.
        best: What was read in the sentence that says it most clearly so far.
    """

    claim: str
    title: str
    pieces: list[Evidence]
    place: int
    rest: str
    span: Span = (0, 0)
    best: Probabilities | None = None

    @property
    def piece(self) -> Evidence:
        return self.pieces[self.place]

    def score(self, probabilities: Probabilities | None) -> float:
        """Return the probability of the relation that the whole piece has."""
        return getattr(probabilities, leaning(self.piece.probabilities), -1.0)

    def next_pair(self) -> Pair:
        """Return the claim with the next sentence, by the words that they share."""
        start, end = self.span = deciding_sentence(self.claim, self.rest)
        sentence = self.rest[start:end]
        self.rest = self.rest[:start] + "\n" * len(sentence) + self.rest[end:]
        pair = _legible(self.claim), _legible(sentence)
        return (*pair, self.title) if self.title else pair

    def compare(self, judgement: Judgement) -> None:
        """Keep the sentence if none before it says it as clearly."""
        if self.score(judgement.probabilities) > self.score(self.best):
            self.best = judgement.probabilities
            start, end = self.span
            span = (self.piece.start + start, self.piece.start + end)
            self.pieces[self.place] = self.piece.model_copy(update={"sentence": span})

    def decide(self, policy: DecisionPolicy) -> None:
        """Let the piece count by the mean of both readings."""
        if self.best is None:
            return
        whole = self.piece.probabilities
        probabilities = Probabilities(
            entailed=(whole.entailed + self.best.entailed) / 2,
            contradicted=(whole.contradicted + self.best.contradicted) / 2,
            no_relation=(whole.no_relation + self.best.no_relation) / 2,
        )
        piece = self.piece.model_copy(update={"probabilities": probabilities})
        relation = counted(piece, policy)
        self.pieces[self.place] = piece.model_copy(update={"relation": relation})


def _read_deciding_sentences(
    readings: Sequence[Reading],
    evidence: list[list[Evidence]],
    verifier: Reads,
    policy: DecisionPolicy,
) -> None:
    """Read the sentences of each claim's deciding passage that share most words with it.

    They are read up to the first that says what the passage says. The passage counts by the mean
    of both readings, and the sentence that says it most clearly is marked.
    """
    searches: list[_Search] = []
    for reading, pieces in zip(readings, evidence, strict=True):
        piece = deciding_evidence(pieces) or nearest_evidence(pieces, "unclear")
        if piece and not piece.steps and strongest(piece) >= WORTH_READING:
            place = pieces.index(piece)
            passage = reading.passages[place]
            claim = spoken(reading.claim)
            shown = about_named(claim, passage.read)
            searches.append(_Search(claim, passage.page.title, pieces, place, shown))
    unfinished = searches
    for _ in range(SENTENCES):
        judgements = verifier.verify([one.next_pair() for one in unfinished]) if unfinished else ()
        for search, judgement in zip(unfinished, judgements, strict=True):
            search.compare(judgement)
        unfinished = [
            one for one in unfinished if one.score(one.best) < STATED and not one.rest.isspace()
        ]
    for search in searches:
        search.decide(policy)
