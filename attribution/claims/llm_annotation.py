"""Annotation of claims by a language model: worthiness, independence, enrichment (V24 4.2, 5.1).

Each claim has a separate prompt. If a reply fails, the failure is reported and the rules'
annotation is kept.
"""

from __future__ import annotations

import re
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from pydantic import BaseModel

from attribution.errors import LlmFailed
from attribution.llm import prompts
from attribution.llm.client import Llm, Question
from attribution.llm.replies import unquoted
from attribution.settings import Settings
from attribution.store.store import Store
from attribution.text.words import printable
from attribution.types import Claim, Failure, LlmUsage, Worthiness

CONTEXT = 6000  # characters of the answer that are shown around a claim
REPLY = 22  # tokens of a typical reply, for estimates
MAX_CLAIM = 600  # characters of an enriched claim
RULES = "the result of the rules is kept"
_REVISED = re.compile(r"^(?:revised )?claim:\s*", re.I)
Annotated = tuple[list[Claim], list[Failure]]
NUMBERED_CLASSES: Mapping[str, Worthiness] = {
    "1": "factual",
    "2": "opinion",
    "3": "not_a_claim",
    "4": "other",
}


class ClaimReply(BaseModel, ABC):
    """The model's reply about one claim."""

    @abstractmethod
    def value(self, claim: Claim) -> dict[str, object]:
        """Return the changed fields of the claim.

        Raises:
            LlmFailed: The reply is unusable.
        """


class WorthinessReply(ClaimReply):
    reason: str = ""
    worthiness: Worthiness

    @classmethod
    def from_words(cls, text: str) -> dict[str, object] | None:
        """Read the number of a class, from 1 to 4 (V24 Table 10)."""
        worthiness = NUMBERED_CLASSES.get(unquoted(text).rstrip("."))
        return {"worthiness": worthiness} if worthiness else None

    def value(self, claim: Claim) -> dict[str, object]:
        return {"worthiness": self.worthiness, "worthiness_reason": printable(self.reason)}


class IndependenceReply(ClaimReply):
    reason: str = ""
    independent: bool

    @classmethod
    def from_words(cls, text: str) -> dict[str, object] | None:
        """Read "independent" or "not independent"."""
        answer = unquoted(text).rstrip(".").casefold()
        if answer not in ("independent", "not independent"):
            return None
        return {"independent": answer == "independent"}

    def value(self, claim: Claim) -> dict[str, object]:
        return {"independent": self.independent, "independence_reason": printable(self.reason)}


class EnrichmentReply(ClaimReply):
    claim: str

    @classmethod
    def from_words(cls, text: str) -> dict[str, object] | None:
        """Read the claim itself, perhaps after "Revised claim:"; None for more than one line."""
        line = unquoted(_REVISED.sub("", text.strip()))
        return {"claim": line} if line and "\n" not in line else None

    def value(self, claim: Claim) -> dict[str, object]:
        text = printable(self.claim)
        if not any(c.isalnum() for c in text) or len(text) > MAX_CLAIM:
            raise LlmFailed(
                f"the language model wrote {len(text)} characters where one sentence was expected"
            )
        return {"enriched": None if text == claim.text else text}


@dataclass(frozen=True)
class ClaimTask:
    """One question, asked about every claim that it concerns."""

    prompt: str
    schema: type[ClaimReply]
    concerns: Callable[[Claim], bool]


# In the order in which they run.
TASKS: Mapping[str, ClaimTask] = {
    "worthiness": ClaimTask(
        "worthiness.v3",
        WorthinessReply,
        lambda claim: True,
    ),
    "independence": ClaimTask(
        "independence.v3",
        IndependenceReply,
        lambda claim: claim.worthiness == "factual",
    ),
    "enrichment": ClaimTask(
        "enrichment.v1",
        EnrichmentReply,
        lambda claim: claim.worthiness == "factual" and claim.independent is False,
    ),
}


def _inputs(task: str, question: str, answer: str, claim: Claim) -> dict[str, str]:
    """Return what the prompt of a task shows; `question` is the conversation for independence."""
    if task == "independence":
        return {"conversation": question, "claim": claim.text}
    if task == "worthiness":
        return {"question": question, "claim": claim.text}
    place = claim.spans[0][0] if claim.spans else 0
    start = max(0, place - CONTEXT // 2)
    part = answer[start : start + CONTEXT]
    return {"question": question, "answer": part, "claim": claim.text}


def llm_tasks(settings: Settings) -> tuple[str, ...]:
    """Return the tasks that these settings assign to a language model."""
    return tuple(task for task in TASKS if getattr(settings, task) == "llm")


class LlmAnnotator:
    """The annotations of one run.

    Attributes:
        tasks: What the settings assign to the language model.
        usage: Requests by task.
        versions: Prompt and model by task.
    """

    def __init__(self, settings: Settings, store: Store | None, stop: threading.Event) -> None:
        """Open the endpoint.

        Args:
            settings: With endpoint, model and prompts.
            store: Caches the replies.
            stop: Setting it ends the requests.

        Raises:
            Unavailable: No endpoint is configured.
        """
        self._llm = Llm(settings, store, stop)
        self.tasks = llm_tasks(settings)
        self.usage: dict[str, LlmUsage] = {}
        self.versions: dict[str, str] = {}

    def annotate(
        self, task: str, question: str, claims: Sequence[Claim], answer: str = ""
    ) -> Annotated:
        """Annotate claims with worthiness, independence or enrichment.

        Args:
            task: One of TASKS.
            question: For independence, the earlier turns: a sentence that needs them is dependent.
            claims: Enrichment concerns those that are not independent.
            answer: Shown for enrichment.

        Returns:
            The claims, and a failure for each reply that could not be used.
        """
        questions = self._questions(task, question, answer, claims)
        before = self._llm.usage
        replies = self._llm.map(list(questions.values()), TASKS[task].schema)
        self.usage[task] = self._llm.usage.since(before)
        prompt = prompts.load(TASKS[task].prompt, self._llm.settings)
        self.versions[task] = f"{prompt.version}/{self._llm.version}"
        by_id = {claim.id: claim for claim in claims}
        failures: list[Failure] = []
        for claim_id, reply in zip(questions, replies, strict=True):
            claim = by_id[claim_id]
            try:
                if isinstance(reply, LlmFailed):
                    raise reply
                by_id[claim_id] = claim.model_copy(update=reply.value(claim))
            except LlmFailed as error:
                failure = LlmFailed(f"{error}; {RULES}", detail=error.detail)
                failures.append(failure.as_failure(task, claim.text))
        return list(by_id.values()), failures

    def estimate(self, task: str, question: str, answer: str, claims: Sequence[Claim]) -> LlmUsage:
        """Estimate the usage of a task, without a request.

        The arguments are those of `annotate`; replies in the store cost nothing.
        """
        questions = self._questions(task, question, answer, claims)
        return self._llm.estimate(list(questions.values()), TASKS[task].schema, REPLY)

    def _questions(
        self, task: str, question: str, answer: str, claims: Sequence[Claim]
    ) -> dict[str, Question]:
        """Return the prompts by the ids of the claims that the task concerns."""
        prompt = prompts.load(TASKS[task].prompt, self._llm.settings)
        questions: dict[str, Question] = {}
        for claim in claims:
            if TASKS[task].concerns(claim):
                inputs = _inputs(task, question, answer, claim)
                questions[claim.id] = Question.of(prompt, **inputs)
        return questions
