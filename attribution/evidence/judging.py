"""The one decision path: claims with passages → evidence.

The texts are prepared, and a verifier reads each claim against each of its passages, in one pass.
Then other steps run (`evidence.steps`), and `verdicts.decide` makes a verdict of the evidence.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from attribution.evidence.steps import PREPARATION, STEPS, PairTexts, prose, spoken
from attribution.text.words import deciding_sentence, shared_words
from attribution.types import Claim, Evidence, Judgement, Page, Pair, Span
from attribution.verdicts import (
    DecisionPolicy,
    counted,
    deciding_evidence,
    leaning,
    nearest_evidence,
    relation,
)
from attribution.verifiers import Verifier

ABOUT = 0.5  # share of a claim's words that a passage about the same thing has
NOTICED = 0.15  # probability of a relation from which on a passage is about the claim's subject
SENTENCES = 3  # of a deciding passage that are read at most to find the deciding one
LEAD = 0.2  # share of a claim's words by which the first sentence leads where none is read
STATED = 0.7  # probability of the passage's relation from which on a sentence says what it says


@dataclass(frozen=True)
class PlacedPassage:
    """A passage of a page, and how it was found: `text == page.text[start:end]`.

    Attributes:
        similarity: Cosine of claim and chunk.
        rank: Of the page in its search, from 1.
        prose: The text of the page without lines that state nothing, if it is known.
    """

    page: Page
    start: int
    end: int
    similarity: float = 1.0
    query: str = ""
    searcher: str = ""
    rank: int = 0
    prose: str = ""

    @property
    def text(self) -> str:
        return self.page.text[self.start : self.end]

    @property
    def stated(self) -> str:
        """The text with lines that state nothing blanked, or all of it if there are no others."""
        stated = (self.prose or prose(self.page.text))[self.start : self.end]
        return self.text if stated.isspace() else stated


@dataclass(frozen=True)
class Reading:
    """A claim and the passages that it is compared with, best first."""

    claim: Claim
    passages: Sequence[PlacedPassage]


def read(
    readings: Sequence[Reading], verifier: Verifier, policy: DecisionPolicy, question: str = ""
) -> list[tuple[Evidence, ...]]:
    """Return a piece of evidence for each passage of each claim, in order.

    All pairs go to the verifier together.

    Args:
        question: Given to the verifier in place of a page's title, for a verifier that asks a
            language model about the question too (V24 4.3).

    Raises:
        BadInput: A claim or passage is empty or too long.
    """
    prepared: list[tuple[Pair, tuple[str, ...]]] = []
    for reading in readings:
        for passage in reading.passages:
            text = passage.stated if policy.has("prose") else passage.text
            prepared.append(_prepared(reading.claim, passage.page, text, policy, question))
    judgements = verifier.verify([pair for pair, _ in prepared])
    judged = iter(zip(judgements, prepared, strict=True))
    evidence: list[list[Evidence]] = []
    for reading in readings:
        pieces: list[Evidence] = []
        for passage in reading.passages:
            judgement, (_, names) = next(judged)
            piece = _evidence(reading.claim, passage, judgement, names, policy)
            pieces.append(_after_steps(reading.claim, passage.page, piece, policy))
        evidence.append(pieces)
    if policy.has("sentence"):
        _find_deciding_sentences(readings, evidence, verifier, policy)
    return [tuple(pieces) for pieces in evidence]


def _prepared(
    claim: Claim, page: Page, passage: str, policy: DecisionPolicy, question: str = ""
) -> tuple[Pair, tuple[str, ...]]:
    """Return the pair for the verifier, and the names of the steps that changed it."""
    texts = PairTexts(claim.statement, passage, question)
    names: list[str] = []
    for name, prepare in PREPARATION.items():
        changed = prepare(claim, page, texts) if policy.has(name) else texts
        if changed != texts:
            names.append(name)
        texts = changed
    pair = texts if texts.title else texts[:2]
    return pair, tuple(names)


def _evidence(
    claim: Claim,
    passage: PlacedPassage,
    judgement: Judgement,
    steps: tuple[str, ...],
    policy: DecisionPolicy,
) -> Evidence:
    page, probabilities = passage.page, judgement.probabilities
    first, last = judgement.sentence or deciding_sentence(spoken(claim), passage.stated)
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
        steps=steps,
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
        changed = step(claim, page, piece) if policy.has(name) else None
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

    claim: Claim
    page: Page
    pieces: list[Evidence]
    place: int
    rest: str
    span: Span = (0, 0)
    score: float = -1.0

    def is_close(self) -> bool:
        """Return True if the next sentence has nearly as many of the claim's words as the first."""
        piece = self.pieces[self.place]
        words = spoken(self.claim)
        first = piece.deciding_sentence
        others = piece.text.replace(first, "\n")
        start, end = deciding_sentence(words, others)
        lead = shared_words(words, first) - shared_words(words, others[start:end])
        return lead < LEAD

    def next_pair(self, policy: DecisionPolicy) -> Pair:
        """Return the claim with the next sentence, by the words that they share."""
        start, end = self.span = deciding_sentence(spoken(self.claim), self.rest)
        sentence = self.rest[start:end]
        self.rest = self.rest[:start] + "\n" * len(sentence) + self.rest[end:]
        pair, _ = _prepared(self.claim, self.page, sentence, policy)
        return pair

    def compare(self, judgement: Judgement) -> None:
        """Keep the sentence if none before it says it as clearly."""
        piece = self.pieces[self.place]
        score = getattr(judgement.probabilities, leaning(piece.probabilities))
        if score > self.score:
            self.score = score
            sentence = tuple(piece.start + offset for offset in self.span)
            self.pieces[self.place] = piece.model_copy(update={"sentence": sentence})


def _find_deciding_sentences(
    readings: Sequence[Reading],
    evidence: list[list[Evidence]],
    verifier: Verifier,
    policy: DecisionPolicy,
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
            page = reading.passages[place].page
            search = _Search(reading.claim, page, pieces, place, piece.text)
            if search.is_close():
                searches.append(search)
    for _ in range(SENTENCES):
        searches = [one for one in searches if one.score < STATED and not one.rest.isspace()]
        pairs = [one.next_pair(policy) for one in searches]
        judgements = verifier.verify(pairs) if pairs else ()
        for search, judgement in zip(searches, judgements, strict=True):
            search.compare(judgement)
