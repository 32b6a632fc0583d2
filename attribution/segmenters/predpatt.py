"""Predicates with their arguments as claims (PredPatt: White et al. 2016; W24 4.2, W24 B).

A language model, if one is configured, writes each predicate as a sentence. Without one, a claim is
PredPatt's own string: the words in its order, with "is/are" for an apposition or adjective and
"poss" for a possessive.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict
from spacy.tokens import Token

from attribution.errors import LlmFailed
from attribution.llm import prompts
from attribution.llm.client import Llm, Question
from attribution.llm.replies import unquoted
from attribution.segmenters.alignment import merge
from attribution.segmenters.english.drafts import joined
from attribution.segmenters.english.ud import to_ud
from attribution.segmenters.llm_segmenters import clean
from attribution.segmenters.predicates import Argument, Predicate, predicates
from attribution.settings import Settings
from attribution.text.parse import parse
from attribution.text.passages import statements
from attribution.text.sentences import is_english
from attribution.types import Claim, Failure, LlmUsage, Segmented, Span

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


@dataclass(frozen=True)
class Utterance:
    """A predicate with its arguments as PredPatt writes it, and its places in the sentence."""

    text: str
    places: tuple[Span, ...]


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
        claims = _utterances_of(answer, stop)
        if self.llm is None or not is_english(answer):
            return Segmented(merge(claims))
        self.llm.stop = stop or self.llm.stop
        questions = self._questions(claims)
        replies = dict(
            zip(questions, self.llm.map(list(questions.values()), Sentence), strict=True)
        )
        written: list[Claim] = []
        failures: list[Failure] = []
        for claim in claims:
            reply = replies[claim.text]
            if isinstance(reply, LlmFailed):
                failure = LlmFailed(f"{reply}; {KEPT}", detail=reply.detail)
                failures.append(failure.as_failure("segment", claim.text[:200]))
                written.append(claim)
            else:
                written.append(claim.model_copy(update={"text": reply.value.text}))
        version = f"{self.prompt.version}/{self.llm.version}"
        return Segmented(merge(written), tuple(failures), self.llm.usage, version)

    def estimate(self, question: str, answer: str) -> LlmUsage | None:
        """Estimate the use of the language model, without a request; None without one."""
        if self.llm is None:
            return None
        questions = self._questions(_utterances_of(answer, None))
        return self.llm.estimate(list(questions.values()), Sentence, TOKENS_PER_CLAIM)

    def _questions(self, claims: Sequence[Claim]) -> Mapping[str, Question]:
        """Return the prompts by the texts of the claims."""
        return {c.text: Question.of(self.prompt, statement=c.text) for c in claims}


def _utterances_of(answer: str, stop: threading.Event | None) -> list[Claim]:
    """Return a claim for each predicate of each sentence, with its spans in the answer."""
    claims: list[Claim] = []
    is_read = is_english(answer)
    for passage in statements(answer):
        for start, end in passage.sentences():
            sentence = passage.text[start:end]
            is_stopped = stop is not None and stop.is_set()
            utterances = in_utterances(sentence) if is_read and not is_stopped else []
            for utterance in utterances or [Utterance(sentence, ((0, len(sentence)),))]:
                places = [passage.span(start + a, start + b) for a, b in utterance.places]
                claim = Claim(
                    id="-",
                    text=utterance.text,
                    spans=joined(places),
                    sentence=passage.span(start, end),
                )
                claims.append(claim)
    return claims


def in_utterances(sentence: str) -> list[Utterance]:
    """Return PredPatt's strings of one sentence, in its order."""
    doc = parse(sentence)
    tokens = [token for token in doc if not token.is_space]  # as `to_ud` counts them
    utterances: list[Utterance] = []
    for predicate in predicates(to_ud(doc)):
        numbers = {n for argument in predicate.arguments for n in argument.tokens}
        used = [tokens[n] for n in sorted(numbers | set(predicate.tokens))]
        places = tuple((token.idx, token.idx + len(token)) for token in used)
        utterances.append(Utterance(" ".join(_words(predicate, tokens)), places))
    return utterances


def _words(predicate: Predicate, tokens: Sequence[Token]) -> list[str]:
    """Return the words in PredPatt's order: each argument stands where its root stands.

    What is described, or who owns, comes first, before "is/are" or "poss".
    """
    added = ADDED.get(predicate.kind, "is/are")
    subject = _described(predicate, tokens) if added else None
    blocks: list[tuple[int, list[int]]] = []
    for argument in predicate.arguments:
        if argument is not subject:
            blocks.append((argument.root, sorted(set(argument.tokens))))
    if predicate.kind != "poss":
        blocks += [(number, [number]) for number in predicate.tokens]
    blocks.sort(key=lambda block: block[0])
    words = [tokens[number].text for _, numbers in blocks for number in numbers]
    if subject is None:
        return words
    return [*(tokens[number].text for number in sorted(set(subject.tokens))), added, *words]


def _described(predicate: Predicate, tokens: Sequence[Token]) -> Argument:
    """Return the owner of a possessive, or the noun that an apposition or adjective describes."""
    root = predicate.root
    place = root if predicate.kind == "poss" else tokens.index(tokens[root].head)
    return next((a for a in predicate.arguments if a.root == place), predicate.arguments[0])
