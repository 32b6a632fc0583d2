"""Language models as judges of a response (T24 5.3), and SelfCheckGPT's contradiction scores."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from statistics import fmean
from typing import Literal

from pydantic import BaseModel

from attribution.errors import BadInput, LlmFailed
from attribution.llm import prompts
from attribution.llm.client import Llm, Question
from attribution.llm.replies import Schema
from attribution.settings import Settings
from attribution.studies.groundedness import ONE, Given, Scores, joined, spans
from attribution.types import Probabilities, Relation
from attribution.verifiers import VERIFIERS


class Prompted:
    """Base class of the methods: an endpoint, and prompts by name."""

    prompts: tuple[str, ...]

    def __init__(self, settings: Settings) -> None:
        self.llm = Llm(settings)
        self._prompts = [prompts.load(name, settings) for name in self.prompts]

    def _ask(
        self, number: int, schema: type[Schema], stop: threading.Event, **inputs: str
    ) -> Schema:
        self.llm.stop = stop
        return self.llm.ask(Question.of(self._prompts[number], **inputs), schema)


def usable(replies: Sequence[Schema | LlmFailed]) -> list[Schema]:
    """Return the replies; raise the first failure among them."""
    values: list[Schema] = []
    for reply in replies:
        if isinstance(reply, LlmFailed):
            raise reply
        values.append(reply)
    return values


class PassOrFail(BaseModel):
    REASONING: list[str] | str = ""
    SCORE: Literal["PASS", "FAIL"]


class Lynx(Prompted):
    """Method `lynx`: direct prompting (T24 5.3) in the form that Lynx was trained on.

    T24 asks Lynx, GPT-4o and Sonnet 3.5 in this form (Ravi et al. 2024, section 4).

    Score: PASS or FAIL for the whole response.
    """

    prompts = ("groundedness/lynx.v1",)

    def score(self, given: Given, stop: threading.Event) -> Scores:
        judged = self._ask(
            0,
            PassOrFail,
            stop,
            question=given.question,
            context=joined(given.context),
            response=given.response,
        )
        return {ONE: float(judged.SCORE == "PASS")}


class Triplets(BaseModel):
    triplets: list[list[str]]


class TripletRelation(BaseModel):
    reason: str = ""
    relation: Relation


class RefChecker(Prompted):
    """Method `refchecker`: triplets of subject, relation and object, each checked by a prompt.

    The strict rule of Hu et al. (2024) decides. A response that states nothing is grounded.

    Score: 1 if the context entails every triplet.
    """

    prompts = ("groundedness/triplets.v1", "groundedness/triplet_check.v3")

    def score(self, given: Given, stop: threading.Event) -> Scores:
        drawn = self._ask(
            0, Triplets, stop, question=given.question, response=given.response
        ).triplets
        triplets = []
        for parts in drawn:
            if len(parts) == 3 and all(map(str.strip, parts)):
                triplets.append(" | ".join(map(str.strip, parts)))
        context = joined(given.context)
        asked = [
            Question.of(self._prompts[1], context=context, triplet=triplet)
            for triplet in dict.fromkeys(triplets)
        ]
        replies = self.llm.map(asked, TripletRelation)
        return {ONE: float(all(one.relation == "entailed" for one in usable(replies)))}


class ClaimList(BaseModel):
    claims: list[str]


class FaultyClaims(BaseModel):
    contradicted: list[int]
    unsupported: list[int]


class ClaimsVerify(Prompted):
    """Method `claims_verify`: the claims of the response against those of the source.

    Score: 0 if a claim of the source contradicts one of the response; the reading `unsupported`
    is 0 also if one is not supported. A response without claims is grounded.
    """

    prompts = ("groundedness/claims.v1", "groundedness/compare.v3")

    def score(self, given: Given, stop: threading.Event) -> Scores:
        claims = self._ask(0, ClaimList, stop, text=given.response).claims
        if not claims:
            return {"contradicted": 1.0, "unsupported": 1.0}
        source = self._ask(0, ClaimList, stop, text=joined(given.context)).claims
        inputs = {"source_claims": _numbered(source), "claims": _numbered(claims)}
        faulty = self._ask(1, FaultyClaims, stop, **inputs)
        numbers = range(1, len(claims) + 1)
        is_contradicted = any(number in numbers for number in faulty.contradicted)
        is_unsupported = any(number in numbers for number in faulty.unsupported)
        return {
            "contradicted": float(not is_contradicted),
            "unsupported": float(not is_contradicted and not is_unsupported),
        }


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


class Sample(BaseModel):
    answer: str


class SelfCheckMulti(Prompted):
    """Method `selfcheck_multi`: compare the response with several sampled answers to the question
    from the context.

    Score: the mean contradiction over the other answers, then the maximum over the sentences of
    the response.
    """

    prompts = ("groundedness/answer.v1",)

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        self._verifier = VERIFIERS.chosen(settings)

    def score(self, given: Given, stop: threading.Event) -> Scores:
        if not given.question.strip():
            raise BadInput(
                "the row has no question to answer again: add one, or leave selfcheck_multi out"
            )
        self.llm.stop = stop
        (prompt,) = self._prompts
        text = prompt.render(question=given.question, context=joined(given.context))
        asked = [
            Question(text, prompt.version, TEMPERATURE, number, prompt.as_json)
            for number in range(1, SAMPLES + 1)
        ]
        replies = self.llm.map(asked, Sample)
        answers = [one.answer for one in usable(replies) if one.answer.strip()]
        if not answers:
            raise LlmFailed(
                "the language model gave no other answer: run again, or choose another model"
            )
        contradicted: list[float] = []
        for start, end in spans(given.response):
            # as they stand: SelfCheckGPT's own pairs
            judged = self._verifier.verify([(given.response[start:end], one) for one in answers])
            contradicted.append(fmean(contradiction(one.probabilities) for one in judged))
        return {ONE: 1 - max(contradicted)}
