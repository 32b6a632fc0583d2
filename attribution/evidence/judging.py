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
from attribution.types import Claim, Evidence, Judgement, Page, Pair, Span
from attribution.verdicts import (
    DecisionPolicy,
    counted,
    deciding_evidence,
    leaning,
    nearest_evidence,
    relation,
)
from attribution.verifiers.pairs import Reads

ABOUT = 0.5  # share of a claim's words that a passage about the same thing has
NOTICED = 0.15  # probability of a relation from which on a passage is about the claim's subject
SENTENCES = 3  # of a deciding passage that are read at most to find the deciding one
LEAD = 0.2  # share of a claim's words by which the first sentence leads where none is read
STATED = 0.7  # probability of the passage's relation from which on a sentence says what it says
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
    _find_deciding_sentences(readings, evidence, verifier)
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
        rest: The text of the piece with the sentences that were read blanked.
        score: The highest probability of a sentence so far.
    """

    claim: str
    title: str
    pieces: list[Evidence]
    place: int
    rest: str
    span: Span = (0, 0)
    score: float = -1.0

    def is_close(self) -> bool:
        """Return True if the next sentence has nearly as many of the claim's words as the first."""
        piece = self.pieces[self.place]
        first = piece.deciding_sentence
        others = piece.text.replace(first, "\n")
        start, end = deciding_sentence(self.claim, others)
        lead = shared_words(self.claim, first) - shared_words(self.claim, others[start:end])
        return lead < LEAD

    def next_pair(self) -> Pair:
        """Return the claim with the next sentence, by the words that they share."""
        start, end = self.span = deciding_sentence(self.claim, self.rest)
        sentence = self.rest[start:end]
        self.rest = self.rest[:start] + "\n" * len(sentence) + self.rest[end:]
        pair = _legible(self.claim), _legible(sentence)
        return (*pair, self.title) if self.title else pair

    def compare(self, judgement: Judgement) -> None:
        """Keep the sentence if none before it says it as clearly."""
        piece = self.pieces[self.place]
        score = getattr(judgement.probabilities, leaning(piece.probabilities))
        if score > self.score:
            self.score = score
            sentence = tuple(piece.start + offset for offset in self.span)
            self.pieces[self.place] = piece.model_copy(update={"sentence": sentence})


def _find_deciding_sentences(
    readings: Sequence[Reading], evidence: list[list[Evidence]], verifier: Reads
) -> None:
    """Find the sentence of the passage shown for each claim that says most clearly what it says.

    Where none has clearly most of the claim's words, sentences are read alone, up to the first
    that says it. For display alone: the verdict rests on the whole passage.
    """
    searches: list[_Search] = []
    for reading, pieces in zip(readings, evidence, strict=True):
        piece = deciding_evidence(pieces) or nearest_evidence(pieces, "unclear")
        if piece and leaning(piece.probabilities) != "no_relation":
            place = pieces.index(piece)
            title = reading.passages[place].page.title
            search = _Search(spoken(reading.claim), title, pieces, place, piece.text)
            if search.is_close():
                searches.append(search)
    for _ in range(SENTENCES):
        searches = [one for one in searches if one.score < STATED and not one.rest.isspace()]
        judgements = verifier.verify([one.next_pair() for one in searches]) if searches else ()
        for search, judgement in zip(searches, judgements, strict=True):
            search.compare(judgement)
