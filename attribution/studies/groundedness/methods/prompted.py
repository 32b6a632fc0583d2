"""Language models as judges of a response (T24 5.3), and SelfCheckGPT's contradiction scores."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from attribution.errors import BadInput, LlmFailed
from attribution.llm import prompts
from attribution.llm.client import Llm, Question
from attribution.llm.replies import Schema
from attribution.settings import Settings
from attribution.studies.groundedness import ONE, Given, Scored, joined
from attribution.studies.groundedness.methods import (
    Entailment,
    EntailmentMethod,
    of_context,
    parts,
    spans,
)
from attribution.types import LlmUsage, Probabilities, Relation


class _MethodReply(BaseModel):
    model_config = ConfigDict(extra="ignore")


class Prompted:
    """Base class of the methods: an endpoint, and prompts by name."""

    prompts: tuple[str, ...]

    def __init__(self, settings: Settings) -> None:
        self.llm = Llm(settings)
        self._prompts = [prompts.load(name, settings) for name in self.prompts]
        self.version = "/".join((*(prompt.version for prompt in self._prompts), self.llm.version))
        self.key = self.llm.key

    @property
    def usage(self) -> LlmUsage:
        return self.llm.usage

    def _question(self, number: int, **inputs: str) -> Question:
        return Question.of(self._prompts[number], **inputs)

    def _ask(
        self, number: int, schema: type[Schema], stop: threading.Event, **inputs: str
    ) -> Schema:
        self.llm.stop = stop
        return self.llm.ask(self._question(number, **inputs), schema).value


class Grounding(_MethodReply):
    reason: str = ""
    grounded: bool
    confidence: float = Field(1.0, ge=0, le=1)


class DirectMethod(Prompted):
    """Method `direct`: ask if the whole response is supported. T24 asks two models; set yours as
    openai_model.

    Score: one decision on the whole response, with the model's own confidence.
    """

    prompts = ("groundedness/direct.v2",)

    def score(self, given: Given, stop: threading.Event) -> Scored:
        judged = self._ask(
            0,
            Grounding,
            stop,
            question=given.question,
            context=joined(given.context),
            response=given.response,
        )
        return Scored({ONE: judged.confidence if judged.grounded else 1 - judged.confidence})


class PassOrFail(_MethodReply):
    REASONING: list[str] | str = ""
    SCORE: Literal["PASS", "FAIL"]


class Lynx(Prompted):
    """Method `lynx`: the reply format that Lynx was trained on (Ravi et al. 2024, section 4),
    reasoning first.

    Serve a Lynx model with vLLM or Ollama and set it as openai_model; other models can reply in
    this format too.

    Score: PASS or FAIL for the whole response.
    """

    prompts = ("groundedness/lynx.v1",)

    def score(self, given: Given, stop: threading.Event) -> Scored:
        judged = self._ask(
            0,
            PassOrFail,
            stop,
            question=given.question,
            context=joined(given.context),
            response=given.response,
        )
        return Scored({ONE: float(judged.SCORE == "PASS")})


class Triplets(_MethodReply):
    triplets: list[list[str]]


class TripletRelation(_MethodReply):
    reason: str = ""
    relation: Relation


class RefChecker(Prompted):
    """Method `refchecker`: (subject, relation, object) triplets, each checked by a separate prompt
    (Hu et al. 2024).

    Its aggregation rules (Hu et al. 2024) are readings of the method. A response that states
    nothing is grounded.

    Score: strict: every triplet; soft: the share of triplets; majority: the most frequent
    relation.
    """

    prompts = ("groundedness/triplets.v1", "groundedness/triplet_check.v2")

    def score(self, given: Given, stop: threading.Event) -> Scored:
        drawn = self._ask(
            0, Triplets, stop, question=given.question, response=given.response
        ).triplets
        triplets = [
            " | ".join(part.strip() for part in t)
            for t in drawn
            if len(t) == 3 and all(map(str.strip, t))
        ]
        context = joined(given.context)
        asked = [
            self._question(1, context=context, triplet=triplet)
            for triplet in dict.fromkeys(triplets)
        ]
        replies = self.llm.map(asked, TripletRelation)
        if failed := [r for r in replies if isinstance(r, LlmFailed)]:
            raise failed[0]
        return Scored(
            aggregated([r.value.relation for r in replies if not isinstance(r, LlmFailed)])
        )


def aggregated(relations: Sequence[Relation]) -> dict[str, float]:
    """Aggregate the triplets' relations by RefChecker's three rules; without triplets, the response
    is grounded.
    """
    if not relations:
        return dict.fromkeys(("strict", "soft", "majority"), 1.0)
    counts = Counter(relations)
    entailed = counts["entailed"]
    (most, _), *_ = counts.most_common()  # the first of equally frequent ones, as in RefChecker
    return {
        "strict": float(entailed == len(relations)),
        "soft": entailed / len(relations),
        "majority": float(most == "entailed"),
    }


class ClaimList(_MethodReply):
    claims: list[str]


class ClaimVerdict(_MethodReply):
    claim: int
    reason: str = ""
    supported: bool


class Verdicts(_MethodReply):
    verdicts: list[ClaimVerdict]


class ClaimsVerify(Prompted):
    """Method `claims_verify`: extract the claims of source and response; check which of the latter
    the former support.

    A response without claims is grounded.

    Score: one claim of the response that the source's claims do not support makes it
    ungrounded.
    """

    prompts = ("groundedness/claims.v1", "groundedness/compare.v2")

    def score(self, given: Given, stop: threading.Event) -> Scored:
        own = self._ask(0, ClaimList, stop, text=given.response).claims
        if not own:
            return Scored({ONE: 1.0})
        source = self._ask(0, ClaimList, stop, text=joined(given.context)).claims
        found = self._ask(
            1, Verdicts, stop, source_claims=_numbered(source), claims=_numbered(own)
        ).verdicts
        by_claim = {
            one.claim: one.supported for one in found
        }  # a claim without a verdict is not supported
        return Scored({ONE: float(all(by_claim.get(n, False) for n in range(1, len(own) + 1)))})


def _numbered(claims: Sequence[str]) -> str:
    return (
        "\n".join(f"{number}. {' '.join(claim.split())}" for number, claim in enumerate(claims, 1))
        or "(none)"
    )


SAMPLES = 5  # answers that are sampled
TEMPERATURE = 1.0


def contradiction(p: Probabilities) -> float:
    """Return P(contradicted) normalised over entailment and contradiction, as in SelfCheckGPT with
    NLI.
    """
    decided = p.entailed + p.contradicted
    return p.contradicted / decided if decided else 0.0


def _scored(
    given: Given,
    premises: Sequence[str],
    entailment: Entailment,
    over: Callable[[list[float]], float],
) -> Scored:
    """Score 1 minus the contradiction of the worst sentence; `over` combines a sentence's scores
    over the premises.
    """
    places = spans(given.response)
    read = entailment.read([given.response[a:b] for a, b in places], premises)
    contradicted = [over([contradiction(p) for p in row]) for row in read]
    return Scored({ONE: 1 - max(contradicted)}, parts(places, [1 - c for c in contradicted]))


class SelfCheckContext(EntailmentMethod):
    """Method `selfcheck_context`: each sentence gets its lowest contradiction by any sentence of
    the context.

    Score: the minimum contradiction over the sentences of the context, then the maximum over
    those of the response.
    """

    name = "selfcheck_context"

    def score(self, given: Given, stop: threading.Event) -> Scored:
        return _scored(given, of_context(given), self._entailment, min)


class Sample(BaseModel):
    model_config = ConfigDict(extra="ignore")

    answer: str


class SelfCheckMulti:
    """Method `selfcheck_multi`: compare the response with several sampled answers to the question
    from the context.

    Score: the mean contradiction over the other answers, then the maximum over the sentences of
    the response.
    """

    def __init__(self, settings: Settings) -> None:
        self.llm, self._entailment = Llm(settings), Entailment(settings)
        self._prompt = prompts.load("groundedness/answer.v1", settings)
        self.version = (
            f"{self._prompt.version}x{SAMPLES}/{self.llm.version}/{self._entailment.version}"
        )
        self.key = f"{self.llm.key}/{self._entailment.key}"

    @property
    def usage(self) -> LlmUsage:
        return self.llm.usage

    def score(self, given: Given, stop: threading.Event) -> Scored:
        if not given.question.strip():
            raise BadInput(
                "the row has no question to answer again: add one, or leave selfcheck_multi out"
            )
        self.llm.stop = stop
        text = self._prompt.render(question=given.question, context=joined(given.context))
        asked = [
            Question(text, self._prompt.version, TEMPERATURE, number, self._prompt.as_json)
            for number in range(1, SAMPLES + 1)
        ]
        replies = self.llm.map(asked, Sample)
        answers = [
            r.value.answer
            for r in replies
            if not isinstance(r, LlmFailed) and r.value.answer.strip()
        ]
        if failed := [r for r in replies if isinstance(r, LlmFailed)]:
            raise failed[0]
        if not answers:
            raise LlmFailed(
                "the language model gave no other answer: run again, or choose another model"
            )
        return _scored(given, answers, self._entailment, lambda c: sum(c) / len(c))
