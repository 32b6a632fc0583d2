"""Predicates with their arguments as claims (PredPatt: White et al. 2016; W24 4.2, W24 B).

A language model, if one is configured, writes each predicate as a sentence. Without one, a claim is
PredPatt's own string: the words in its order, with "is/are" for an apposition or adjective and
"poss" for a possessive.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence

from pydantic import BaseModel, ConfigDict
from spacy.tokens import Token

from attribution.errors import LlmFailed
from attribution.llm import prompts
from attribution.llm.client import Llm, Question
from attribution.llm.replies import unquoted
from attribution.segmenters.alignment import merge
from attribution.segmenters.english.drafts import WrittenStatement, segment
from attribution.segmenters.english.ud import to_ud
from attribution.segmenters.llm_segmenters import clean
from attribution.segmenters.predicates import Argument, Predicate, predicates
from attribution.settings import Settings
from attribution.text.parse import parse
from attribution.text.sentences import is_english
from attribution.types import Claim, LlmUsage, Segmented, Span

KEPT = "the claim keeps the words of its predicate"
TOKENS_PER_CLAIM = 20  # approximate; for estimates
ADDED = {"normal": "", "poss": "poss"}  # by kind of predicate; "is/are" for the others


class Sentence(BaseModel):
    """The reply of the language model."""

    model_config = ConfigDict(extra="forbid")

    text: str

    @classmethod
    def from_words(cls, text: str) -> dict[str, object] | None:
        """Read a sentence on one line, perhaps after "Output:"."""
        line = clean(unquoted(text.strip().removeprefix("Output:")))
        return {"text": line} if line and "\n" not in text.strip() else None


class PredPatt:
    """Segmenter `predpatt`: also what the sentence denies, supposes or reports."""

    def __init__(self, settings: Settings) -> None:
        self.llm = Llm(settings) if settings.has_llm else None
        self.prompt = prompts.load("w24/predpatt.v3", settings)

    def segment(self, question: str, answer: str, stop: threading.Event | None = None) -> Segmented:
        """Return claims in the order of the answer.

        A sentence without a predicate stays whole, and so do those of another language. Where a
        reply fails, the claim keeps PredPatt's string.
        """
        segmented = segment(answer, in_utterances, stop)
        claims = segmented.claims
        if self.llm is None or not is_english(answer):
            return segmented
        self.llm.stop = stop or self.llm.stop
        questions = self._questions(claims)
        asked = self.llm.map(list(questions.values()), Sentence)
        replies = dict(zip(questions, asked, strict=True))
        written: list[Claim] = []
        failures = list(segmented.failures)
        for claim in claims:
            reply = replies[claim.text]
            if isinstance(reply, LlmFailed):
                failure = LlmFailed(f"{reply}; {KEPT}", detail=reply.detail)
                failures.append(failure.as_failure("segment", claim.text[:200]))
                written.append(claim)
            else:
                written.append(claim.model_copy(update={"text": reply.text}))
        version = f"{self.prompt.version}/{self.llm.version}"
        return Segmented(merge(written), tuple(failures), self.llm.usage, version)

    def estimate(self, question: str, answer: str) -> LlmUsage | None:
        """Estimate the use of the language model, without a request; None without one."""
        if self.llm is None:
            return None
        questions = self._questions(segment(answer, in_utterances).claims)
        return self.llm.estimate(list(questions.values()), Sentence, TOKENS_PER_CLAIM)

    def _questions(self, claims: Sequence[Claim]) -> Mapping[str, Question]:
        """Return the prompts by the texts of the claims."""
        return {c.text: Question.of(self.prompt, statement=c.text) for c in claims}


def in_utterances(sentence: str) -> list[WrittenStatement]:
    """Return PredPatt's strings of one sentence, in its order."""
    doc = parse(sentence)
    tokens = [token for token in doc if not token.is_space]  # as `to_ud` counts them
    utterances: list[WrittenStatement] = []
    for predicate in predicates(to_ud(doc)):
        numbers = set(predicate.tokens)
        for argument in predicate.arguments:
            numbers.update(argument.tokens)
        places: list[Span] = []
        for number in sorted(numbers):
            start = tokens[number].idx
            places.append((start, start + len(tokens[number])))
        text = " ".join(_words(predicate, tokens))
        utterances.append(WrittenStatement(text, places))
    return utterances


def _words(predicate: Predicate, tokens: Sequence[Token]) -> list[str]:
    """Return the words in PredPatt's order: each argument stands where its root stands.

    What is described, or who owns, comes first, before "is/are" or "poss".
    """
    added = ADDED.get(predicate.kind, "is/are")
    subject = _described(predicate, tokens) if added else None
    blocks: list[tuple[int, list[int]]] = []  # places and words
    for argument in predicate.arguments:
        if argument is not subject:
            blocks.append((argument.root, argument.tokens))
    if predicate.kind != "poss":
        blocks += [(number, [number]) for number in predicate.tokens]
    blocks.sort(key=lambda block: block[0])
    words = [] if subject is None else [*_texts(subject.tokens, tokens), added]
    for _, numbers in blocks:
        words += _texts(numbers, tokens)
    return words


def _texts(numbers: Sequence[int], tokens: Sequence[Token]) -> list[str]:
    return [tokens[number].text for number in sorted(set(numbers))]


def _described(predicate: Predicate, tokens: Sequence[Token]) -> Argument:
    """Return the owner of a possessive, or the noun that an apposition or adjective describes."""
    place = predicate.root
    if predicate.kind != "poss":
        place = tokens.index(tokens[place].head)
    matching = [argument for argument in predicate.arguments if argument.root == place]
    return (matching or predicate.arguments)[0]
