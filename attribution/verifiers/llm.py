"""Verify with a language model, few-shot, with a reason and a quote for each verdict (V24 4.3)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field

from attribution.errors import BadInput, LlmFailed
from attribution.llm import prompts
from attribution.llm.client import Llm, Question
from attribution.llm.endpoint import EndpointFailed
from attribution.llm.replies import LABELS, unquoted
from attribution.models.engine import check_stop, current_stop
from attribution.settings import Settings
from attribution.text.sentences import sentences
from attribution.text.words import deciding_sentence, occurrences, share_terms, words_of
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

PASSAGES = 8  # of a claim in one prompt
REPLY_TOKENS, WORD_TOKENS = 60, 4  # approximate, for one verdict and for one word; for estimates
QUOTED_WORDS = 4  # of a quote that is not a whole sentence
LEAST = 0.4  # least probability of the relation that the model names
Form = TypeVar("Form", bound=BaseModel)
_QUOTES = str.maketrans(dict.fromkeys("\"'“”‘’", "'"))


class PassageVerdict(BaseModel):
    model_config = ConfigDict(extra="ignore")

    passage: int
    reason: str = ""
    quote: str = ""
    relation: Literal["entailed", "contradicted", "no_relation"]
    confidence: float = Field(0.9, ge=0, le=1)


class PassageVerdicts(BaseModel):
    model_config = ConfigDict(extra="ignore")

    verdicts: list[PassageVerdict]


class ByPrompt:
    """A verifier that asks a language model with one prompt."""

    def __init__(self, llm: Llm, prompt: str, settings: Settings | None = None) -> None:
        self.llm = llm
        self._prompt = prompts.load(prompt, settings)
        self.version = f"{self._prompt.version}/{self.llm.version}"
        self.key = content_id(self._prompt.version, self._prompt.body, self.llm.key)

    @property
    def usage(self) -> LlmUsage:
        """The use of the language model so far."""
        return self.llm.usage

    def ask(self, asked: Sequence[tuple[str, Question]], form: type[Form]) -> list[Form]:
        """Return the reply to each question about a claim. Raises LlmFailed if the model did not
        answer for one.
        """
        self.llm.stop = current_stop() or self.llm.stop
        replies = self.llm.map([question for _, question in asked], form)
        check_stop()
        found = []
        for (claim, _), reply in zip(asked, replies, strict=True):
            if isinstance(reply, EndpointFailed):
                raise reply
            if isinstance(reply, LlmFailed):
                raise LlmFailed(
                    f"the claim {claim[:80]!r} was not verified: {reply}", detail=reply.detail
                )
            found.append(reply.value)
        return found


def _check(pairs: Sequence[Pair]) -> None:
    if any(not part.strip() for pair in pairs for part in pair[:2]):
        raise BadInput("a claim or its evidence is empty: expected text in both")


class LlmVerifier(ByPrompt):
    """Verifier `llm`: it reads a claim's passages together, and ignores verdicts whose quote does
    not decide.
    """

    def __init__(self, settings: Settings) -> None:
        super().__init__(Llm(settings), "verification.v3", settings)

    def verify(self, pairs: Sequence[Pair]) -> list[Judgement]:
        """Return one judgement for each pair, in order. Raises LlmFailed if the model did not
        answer for a claim.
        """
        _check(pairs)
        groups = _groups(pairs)
        replies = self.ask(
            [(group[0][0], self._question(group)) for group in groups], PassageVerdicts
        )
        judgements: list[Judgement] = []
        for group, reply in zip(groups, replies, strict=True):
            by_number = {verdict.passage: verdict for verdict in reply.verdicts}
            judgements += [
                _judgement(pair, by_number.get(number)) for number, pair in enumerate(group, 1)
            ]
        return judgements

    def estimate(self, pairs: Sequence[Pair]) -> LlmUsage:
        """Estimate the cost of verifying, without a request; stored replies cost nothing."""
        groups = _groups(pairs)
        tokens = REPLY_TOKENS * len(pairs) // max(1, len(groups))
        return self.llm.estimate(
            [self._question(group) for group in groups], PassageVerdicts, tokens
        )

    def _question(self, group: Sequence[Pair]) -> Question:
        passages = ["\n".join((*pair[2:], pair[1])) for pair in group]
        return Question.of(self._prompt, claim=group[0][0], passages=passages)


class PairRelation(BaseModel):
    model_config = ConfigDict(extra="ignore")

    relation: Relation

    @classmethod
    def from_words(cls, text: str) -> dict[str, object] | None:
        """Read the name of a relation, or yes, no or unknown."""
        said = unquoted(text).rstrip(".").casefold().replace(" ", "_")
        return {"relation": said} if LABELS.get(said, said) in RELATIONS else None


class PairVerifier(ByPrompt):
    """Verifier `llm-pair` (V24 4.3): a claim, a passage and the question in a prompt, and one word
    in reply.
    """

    reads_question = True  # the third part of a pair, where it has one
    sure = 1.0  # probability of a relation that the model names
    form: type[PairRelation] = PairRelation

    def __init__(self, settings: Settings) -> None:
        super().__init__(Llm(settings), "pair.v1", settings)

    def verify(self, pairs: Sequence[Pair]) -> list[Judgement]:
        """Return one judgement for each pair, in order. Raises LlmFailed if the model did not
        answer for a pair.
        """
        _check(pairs)
        replies = self.ask([(pair[0], self._question(pair)) for pair in pairs], self.form)
        return [
            Judgement(_probabilities(reply.relation, self.sure), deciding_sentence(*pair[:2]), {})
            for pair, reply in zip(pairs, replies, strict=True)
        ]

    def estimate(self, pairs: Sequence[Pair]) -> LlmUsage:
        """Estimate the cost of verifying, without a request; stored replies cost nothing."""
        return self.llm.estimate([self._question(pair) for pair in pairs], self.form, WORD_TOKENS)

    def _question(self, pair: Pair) -> Question:
        question = pair[2] if len(pair) > 2 else ""
        return Question.of(
            self._prompt, question=question or "(not known)", claim=pair[0], passage=pair[1]
        )


def _groups(pairs: Sequence[Pair]) -> list[list[Pair]]:
    """Group neighbouring pairs of one claim, at most PASSAGES together."""
    groups = []
    for _, of_claim in groupby(pairs, key=lambda pair: pair[0]):
        same = list(of_claim)
        groups += [same[start : start + PASSAGES] for start in range(0, len(same), PASSAGES)]
    return groups


def _judgement(pair: Pair, verdict: PassageVerdict | None) -> Judgement:
    """Convert a verdict; without one, or without a quote that decides, there is no relation to the
    claim.
    """
    claim, evidence = pair[:2]
    span = find_quote(verdict.quote, evidence, claim) if verdict else None
    if verdict is None or (verdict.relation != "no_relation" and span is None):
        return Judgement(
            _probabilities("no_relation", LEAST),
            deciding_sentence(claim, evidence),
            {"quoted": 0.0},
        )
    sentence = span or deciding_sentence(claim, evidence)
    return Judgement(
        _probabilities(verdict.relation, verdict.confidence),
        sentence,
        {"quoted": float(span is not None)},
    )


def _probabilities(relation: Relation, confidence: float) -> Probabilities:
    own = max(LEAST, confidence)
    return Probabilities(**{name: own if name == relation else (1 - own) / 2 for name in RELATIONS})


def find_quote(quote: str, text: str, claim: str) -> Span | None:
    """Find a quote in a text, ignoring white space and the form of quotation marks.

    None if it is missing, or has fewer than QUOTED_WORDS words or no content word or number of the
    claim: a model can
    be made to copy a letter. Of the two one is enough for a whole sentence, which may say it in
    other words.
    """
    words = quote.strip().strip("\"'“”‘’…").translate(_QUOTES)
    found = next(occurrences(words, text.translate(_QUOTES)), None)
    enough = (len(words_of(words)) >= QUOTED_WORDS) + share_terms(claim, quote)
    if enough == 2:
        return found
    whole = {tuple(words_of(text[slice(*span)])): span for span in sentences(text)}
    return whole.get(tuple(words_of(words))) if found and enough else None
