"""SelfCheckGPT's contradiction scores (Manakul et al. 2023, section 5.4), as T24 (section 4.3) puts them together."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

from pydantic import BaseModel, ConfigDict

from attribution.errors import BadInput, LlmFailed
from attribution.evaluation.groundedness import ONE, Given, Scored, joined
from attribution.evaluation.groundedness.methods.statements import Entailment, of_context, parts, spans
from attribution.llm import prompts
from attribution.llm.client import Llm, Question
from attribution.settings import Settings
from attribution.types import LlmUsage, Probabilities
from attribution.verifiers import usage_of

SAMPLES = 5  # answers that are drawn again
TEMPERATURE = 1.0


def contradiction(p: Probabilities) -> float:
    """The probability of a contradiction among the two relations that decide, as in SelfCheckGPT with NLI."""
    decided = p.entailed + p.contradicted
    return p.contradicted / decided if decided else 0.0


def _scored(
    given: Given, premises: Sequence[str], entailment: Entailment, over: Callable[[list[float]], float]
) -> Scored:
    """1 minus the contradiction of the worst sentence; `over` joins those of one sentence by each premise."""
    places = spans(given.response)
    read = entailment.read([given.response[a:b] for a, b in places], premises)
    contradicted = [over([contradiction(p) for p in row]) for row in read]
    return Scored({ONE: 1 - max(contradicted)}, parts(places, [1 - c for c in contradicted]))


class SelfCheckContext:
    """Method `selfcheck_context`: a sentence counts as contradicted as its friendliest context sentence finds it."""

    aggregation = (
        "the minimum contradiction over the sentences of the context, then the maximum over those of the response"
    )

    def __init__(self, settings: Settings) -> None:
        self._entailment = Entailment(settings)
        self.version = f"selfcheck_context.1/{self._entailment.version}"

    @property
    def usage(self) -> LlmUsage | None:
        return usage_of(self._entailment.verifier)

    def score(self, given: Given, stop: threading.Event) -> Scored:
        return _scored(given, of_context(given), self._entailment, min)


class Sample(BaseModel):
    model_config = ConfigDict(extra="ignore")

    answer: str


class SelfCheckMulti:
    """Method `selfcheck_multi`: the question is answered again from the context, several times."""

    aggregation = "the mean contradiction over the other answers, then the maximum over the sentences of the response"

    def __init__(self, settings: Settings) -> None:
        self.llm, self._entailment = Llm(settings), Entailment(settings)
        self._prompt = prompts.load("groundedness/answer.v1")
        self.version = f"{self._prompt.version}x{SAMPLES}/{self.llm.version}/{self._entailment.version}"

    @property
    def usage(self) -> LlmUsage:
        return self.llm.usage

    def score(self, given: Given, stop: threading.Event) -> Scored:
        if not given.question.strip():
            raise BadInput("the row has no question to answer again: add one, or leave selfcheck_multi out")
        self.llm.stop = stop
        text = self._prompt.render(question=given.question, context=joined(given.context))
        asked = [Question(text, self._prompt.version, TEMPERATURE, number) for number in range(1, SAMPLES + 1)]
        replies = self.llm.map(asked, Sample)
        answers = [r.value.answer for r in replies if not isinstance(r, LlmFailed) and r.value.answer.strip()]
        if failed := [r for r in replies if isinstance(r, LlmFailed)]:
            raise failed[0]
        if not answers:
            raise LlmFailed("the language model gave no other answer: run again, or choose another model")
        return _scored(given, answers, self._entailment, lambda c: sum(c) / len(c))
