"""Verify with a language model, few-shot, with a reason and a quote for each verdict (V24 4.3)."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace

from pydantic import BaseModel, Field

from attribution.errors import BadInput, LlmFailed
from attribution.llm import prompts
from attribution.llm.client import Llm, Question
from attribution.llm.endpoint import EndpointFailed
from attribution.llm.replies import unquoted
from attribution.models.engine import check_stop, current_stop
from attribution.settings import Settings
from attribution.text.sentences import sentences
from attribution.text.words import terms, words_of
from attribution.types import (
    RELATIONS,
    Judgement,
    LlmUsage,
    Pair,
    Probabilities,
    Relation,
    Span,
    content_id,
)
from attribution.verifiers import VERIFIERS, beside
from attribution.verifiers.reader import one_by_one

REPLY_TOKENS, WORD_TOKENS = 60, 4  # approximate, for one verdict and for one word; for estimates
QUOTED_WORDS = 4  # of a quote that is not a whole sentence
LEAST = 0.4  # least probability of the relation that the model names
ALONE = 0.85  # greatest probability of a relation that the local model doesn't see: never strong
AGREES = 0.5  # least probability of a relation by which the local model sees it
_QUOTES = str.maketrans(dict.fromkeys("\"'“”‘’", "'"))


class PassageVerdict(BaseModel):
    """What the model says of one passage."""

    reason: str = ""
    quote: str = ""
    relation: Relation
    confidence: float = Field(0.9, ge=0, le=1)


class PairRelation(PassageVerdict):
    """A reply of one word, which is sure of itself."""

    confidence: float = 1.0

    @classmethod
    def from_words(cls, text: str) -> dict[str, object] | None:
        """Read the name of a relation."""
        word = unquoted(text).rstrip(".").casefold().replace(" ", "_")
        return {"relation": word} if word in RELATIONS else None


class ByPrompt(ABC):
    """A verifier that asks a language model about one passage a prompt.

    So no page can change what is said about another. A local model reads the same pairs: a relation
    that it doesn't see is at most likely, since a page may instruct the language model.
    """

    name: str
    prompt: str
    form: type[PassageVerdict]
    reply_tokens: int
    reads_question = False  # as the third part of a pair, in place of the page's title

    def __init__(self, settings: Settings) -> None:
        self.llm = Llm(settings)
        self._prompt = prompts.load(self.prompt, settings)
        self._local = VERIFIERS.build(beside(settings).name, settings)
        self.version = f"{self.name}/{self._prompt.version}/{self.llm.version}"
        self.key = content_id(
            self._prompt.version, self._prompt.body, self.llm.key, self._local.version
        )

    @abstractmethod
    def _question(self, pair: Pair) -> Question: ...

    @abstractmethod
    def _judgement(self, pair: Pair, verdict: PassageVerdict) -> Judgement: ...

    @property
    def usage(self) -> LlmUsage:
        """The use of the language model so far."""
        return self.llm.usage

    def estimate(self, pairs: Sequence[Pair]) -> LlmUsage:
        """Estimate the cost of verifying, without a request; stored replies cost nothing."""
        return self.llm.estimate([self._question(p) for p in pairs], self.form, self.reply_tokens)

    def verify(self, pairs: Sequence[Pair]) -> list[Judgement]:
        """Return one judgement for each pair, in order.

        Raises:
            BadInput: A claim or its evidence is empty.
            LlmFailed: The model did not answer for a pair.
        """
        if any(not part.strip() for pair in pairs for part in pair[:2]):
            raise BadInput("a claim or its evidence is empty: expected text in both")
        self.llm.stop = current_stop() or self.llm.stop
        replies = self.llm.map([self._question(pair) for pair in pairs], self.form)
        check_stop()
        judgements = []
        for pair, reply in zip(pairs, replies, strict=True):
            if isinstance(reply, EndpointFailed):
                raise reply
            if isinstance(reply, LlmFailed):
                raise LlmFailed(
                    f"the claim {pair[0][:80]!r} was not verified: {reply}", detail=reply.detail
                )
            judgements.append(self._judgement(pair, reply))
        return self._cross_checked(pairs, judgements)

    def _cross_checked(
        self, pairs: Sequence[Pair], judgements: Sequence[Judgement]
    ) -> list[Judgement]:
        """Bound the relations that the local model doesn't see."""
        texts = [pair[:2] if self.reads_question else pair for pair in pairs]
        checked = []
        by_local = one_by_one(self._local.verify, texts)
        for judgement, local in zip(judgements, by_local, strict=True):
            probabilities = judgement.probabilities.model_dump()
            relation = max(RELATIONS, key=probabilities.__getitem__)
            is_seen = False
            if isinstance(local, Judgement):
                is_seen = getattr(local.probabilities, relation) >= AGREES
            most = 1.0 if is_seen or relation == "no_relation" else ALONE
            bounded = _probabilities(relation, min(probabilities[relation], most))
            signals = {**judgement.signals, "agreed": float(is_seen)}
            checked.append(replace(judgement, probabilities=bounded, signals=signals))
        return checked


class LlmVerifier(ByPrompt):
    """Verifier `llm`: a verdict whose quote does not decide is ignored."""

    name, prompt = "llm", "verification.v4"
    form, reply_tokens = PassageVerdict, REPLY_TOKENS

    def _question(self, pair: Pair) -> Question:
        passage = "\n".join((*pair[2:], pair[1]))
        return Question.of(self._prompt, claim=pair[0], passage=passage)

    def _judgement(self, pair: Pair, verdict: PassageVerdict) -> Judgement:
        claim, evidence = pair[:2]
        span = find_quote(verdict.quote, evidence, claim)
        if verdict.relation != "no_relation" and span is None:
            probabilities = _probabilities("no_relation", LEAST)
        else:
            probabilities = _probabilities(verdict.relation, verdict.confidence)
        return Judgement(probabilities, span, {"quoted": float(span is not None)})


class PairVerifier(ByPrompt):
    """Verifier `llm-pair` (V24 4.3): a claim, a passage and the question in a prompt, and one word
    in reply.
    """

    name, prompt = "llm-pair", "pair.v1"
    form, reply_tokens = PairRelation, WORD_TOKENS
    reads_question = True

    def _question(self, pair: Pair) -> Question:
        question = pair[2] if len(pair) > 2 else ""
        return Question.of(
            self._prompt, question=question or "(not known)", claim=pair[0], passage=pair[1]
        )

    def _judgement(self, pair: Pair, verdict: PassageVerdict) -> Judgement:
        probabilities = _probabilities(verdict.relation, verdict.confidence)
        return Judgement(probabilities)


def _probabilities(relation: Relation, confidence: float) -> Probabilities:
    own = max(LEAST, confidence)
    return Probabilities(**{name: own if name == relation else (1 - own) / 2 for name in RELATIONS})


def find_quote(quote: str, text: str, claim: str) -> Span | None:
    """Find a quote in a text, ignoring white space and the form of quotation marks.

    None if it is missing, or has fewer than QUOTED_WORDS words or no content word or number of the
    claim: a model can be made to copy a letter. Of the two one is enough for a whole sentence,
    which may say it in other words.
    """
    words = quote.strip().strip("\"'“”‘’…").translate(_QUOTES)
    spaced = r"\s+".join(map(re.escape, words.split()))
    match = re.search(spaced, text.translate(_QUOTES)) if spaced else None
    found: Span | None = match.span() if match else None
    one, other = terms(claim), terms(quote)
    is_about = bool(one.content & other.content or one.numbers & other.numbers)
    enough = (len(words_of(words)) >= QUOTED_WORDS) + is_about
    if enough == 2:
        return found
    whole = {tuple(words_of(text[slice(*span)])): span for span in sentences(text)}
    return whole.get(tuple(words_of(words))) if found and enough else None
