"""DecompScore: the number of subclaims that their own sentence supports (W24 3.2)."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import BaseModel

from attribution.errors import LlmFailed
from attribution.llm import prompts
from attribution.llm.client import Llm, Question
from attribution.llm.replies import unquoted
from attribution.settings import Settings
from attribution.types import Judgement
from attribution.verifiers import VERIFIERS
from attribution.verifiers.pairs import verify_each


class TrueOrFalse(BaseModel):
    """The judge's reply."""

    is_true: bool

    @classmethod
    def from_words(cls, text: str) -> dict[str, object] | None:
        word = unquoted(text).rstrip(".").casefold()
        return {"is_true": word == "true"} if word in ("true", "false") else None


def judge_coherence(pairs: Sequence[tuple[str, str]], settings: Settings) -> list[bool]:
    """Return for each (claim, sentence) whether the sentence states the claim.

    A language model decides between two answers, of which an unusable one is no; without a model,
    the verifier's entailment does, from a probability of one half on (W24 C).
    """
    if not settings.has_llm:
        judged = verify_each(VERIFIERS.build(settings.verifier, settings), pairs)
        return [isinstance(j, Judgement) and j.probabilities.entailed >= 0.5 for j in judged]
    prompt = prompts.load("w24/judge.v1", settings)
    asked = [Question.of(prompt, claim=claim, sentence=text) for claim, text in pairs]
    replies = Llm(settings).map(asked, TrueOrFalse)
    return [not isinstance(reply, LlmFailed) and reply.value.is_true for reply in replies]
