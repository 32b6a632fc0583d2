"""Annotation of claims by a language model: worthiness, independence, enrichment, queries (V24 4.2,
5.1).

Each claim has a separate prompt. If a reply fails, the failure is reported and the rules'
annotation is kept.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict

from attribution.errors import LlmFailed
from attribution.llm import prompts
from attribution.llm.client import CHARACTERS_PER_TOKEN, Llm, Question
from attribution.llm.prompts import Prompt
from attribution.llm.replies import unquoted
from attribution.settings import Settings
from attribution.store.store import Store
from attribution.types import Claim, Failure, LlmUsage, Worthiness

CONTEXT = 6000  # characters of the answer that are shown around a claim
MAX_CLAIM = 600  # characters of an enriched claim
QUERIES, LONGEST_QUERY = 2, 300  # queries per claim; characters
RULES = "the result of the rules is kept"
_REVISED = re.compile(r"^(?:revised )?claim:\s*", re.I)
Annotated = tuple[list[Claim], list[Failure]]


class ClaimReply(BaseModel):
    """The model's reply about one claim."""

    model_config = ConfigDict(extra="ignore")

    def value(self, claim: Claim) -> Any:
        """Return the changed fields of the claim, or its queries. Raises LlmFailed for an unusable
        reply.
        """
        raise NotImplementedError


CLASSES: tuple[Worthiness, ...] = (
    "factual",
    "opinion",
    "not_a_claim",
    "other",
)  # 1 to 4 in V24 Table 10


class WorthinessReply(ClaimReply):
    reason: str = ""
    worthiness: Worthiness

    @classmethod
    def from_words(cls, text: str) -> dict[str, object] | None:
        """Read the number of a class."""
        number = unquoted(text).rstrip(".")
        return {"worthiness": CLASSES[int(number) - 1]} if number in ("1", "2", "3", "4") else None

    def value(self, claim: Claim) -> dict[str, object]:
        return {"worthiness": self.worthiness, "worthiness_reason": _line(self.reason)}


class IndependenceReply(ClaimReply):
    reason: str = ""
    independent: bool

    @classmethod
    def from_words(cls, text: str) -> dict[str, object] | None:
        """Read "independent" or "not independent"."""
        said = unquoted(text).rstrip(".").casefold()
        return (
            {"independent": said == "independent"}
            if said in ("independent", "not independent")
            else None
        )

    def value(self, claim: Claim) -> dict[str, object]:
        return {"independent": self.independent, "independence_reason": _line(self.reason)}


class EnrichmentReply(ClaimReply):
    claim: str

    @classmethod
    def from_words(cls, text: str) -> dict[str, object] | None:
        """Read the claim itself, perhaps after "Revised claim:"; None for more than one line."""
        line = unquoted(_REVISED.sub("", text.strip()))
        return {"claim": line} if line and "\n" not in line else None

    def value(self, claim: Claim) -> dict[str, object]:
        text = _line(self.claim)
        if not any(c.isalnum() for c in text) or len(text) > MAX_CLAIM:
            raise LlmFailed(
                f"the language model wrote {len(text)} characters where one sentence was expected"
            )
        return {"enriched": None if text == claim.text else text}


class QueriesReply(ClaimReply):
    queries: list[str]

    def value(self, claim: Claim) -> tuple[str, ...]:
        lines = dict.fromkeys(map(_line, self.queries))
        queries = [q for q in lines if len(q) <= LONGEST_QUERY and any(c.isalnum() for c in q)]
        if not queries:
            raise LlmFailed(
                f"the language model wrote {len(lines)} queries, none of them words to search for"
            )
        return tuple(queries[:QUERIES])


@dataclass(frozen=True)
class ClaimTask:
    """One question, asked about every claim that it concerns."""

    prompt: str
    schema: type[ClaimReply]
    concerned: Callable[[Claim], bool]
    inputs: Callable[
        [str, str, Claim], dict[str, str]
    ]  # from question (or conversation), answer and claim
    reply: str  # a typical reply, for estimates
    fallback: str = RULES  # used if a reply fails


def _around(question: str, answer: str, claim: Claim) -> dict[str, str]:
    start = max(0, (claim.spans[0][0] if claim.spans else 0) - CONTEXT // 2)
    return {"question": question, "answer": answer[start : start + CONTEXT], "claim": claim.text}


# In the order in which they run.
TASKS: Mapping[str, ClaimTask] = {
    "worthiness": ClaimTask(
        "worthiness.v3",
        WorthinessReply,
        lambda claim: True,
        lambda question, _, claim: {"question": question, "claim": claim.text},
        '{"reason": "It gives a year that a source could confirm.", "worthiness": "factual"}',
    ),
    "independence": ClaimTask(
        "independence.v3",
        IndependenceReply,
        lambda claim: claim.worthiness == "factual",
        lambda conversation, _answer, claim: {"conversation": conversation, "claim": claim.text},
        '{"reason": "It does not say which tower is meant.", "independent": false}',
    ),
    "enrichment": ClaimTask(
        "enrichment.v1",
        EnrichmentReply,
        lambda claim: claim.worthiness == "factual" and claim.independent is False,
        _around,
        '{"claim": "The building of the Suez Canal took ten years and was paid for by shareholders."}',
    ),
    "queries": ClaimTask(
        "queries.v1",
        QueriesReply,
        lambda claim: claim.checked,
        lambda question, _, claim: {"question": question, "claim": claim.statement},
        '{"queries": ["Suez Canal opening ceremony date", "Empress Eugénie at the opening of the Suez Canal"]}',
        fallback="the claim itself is searched",
    ),
}


def llm_tasks(settings: Settings) -> tuple[str, ...]:
    """Return the tasks that these settings assign to a language model."""
    choices = (settings.worthiness, settings.independence, settings.enrichment, settings.query)
    return tuple(task for task, choice in zip(TASKS, choices, strict=True) if choice == "llm")


class LlmAnnotator:
    """The annotations of one run; `usage` counts requests by task, `versions` names each task's
    prompt and model.
    """

    def __init__(self, settings: Settings, store: Store | None, stop: threading.Event) -> None:
        """Raises Unavailable if no endpoint is configured."""
        self._llm = Llm(settings, store, stop)
        self.usage: dict[str, LlmUsage] = {}
        self.versions: dict[str, str] = {}

    def worthiness(self, question: str, claims: Sequence[Claim]) -> Annotated:
        return self._annotate("worthiness", question, "", claims)

    def independence(self, conversation: str, claims: Sequence[Claim]) -> Annotated:
        """Annotate independence. A sentence that needs `conversation`, the earlier turns, is not
        independent.
        """
        return self._annotate("independence", conversation, "", claims)

    def enrichment(self, question: str, answer: str, claims: Sequence[Claim]) -> Annotated:
        """Enrich the claims that are not independent."""
        return self._annotate("enrichment", question, answer, claims)

    def queries(
        self, question: str, claims: Sequence[Claim]
    ) -> tuple[dict[str, tuple[str, ...]], list[Failure]]:
        """Return one or two queries by claim id; a claim whose reply failed has none."""
        return self._ask("queries", question, "", claims)

    def estimate(self, task: str, question: str, answer: str, claims: Sequence[Claim]) -> LlmUsage:
        """Estimate the usage of a task, without a request."""
        questions = [
            q for _, q in _questions(TASKS[task], self._prompt(task), question, answer, claims)
        ]
        return self._llm.estimate(
            questions, TASKS[task].schema, len(TASKS[task].reply) // CHARACTERS_PER_TOKEN
        )

    def _prompt(self, task: str) -> Prompt:
        return prompts.load(TASKS[task].prompt, self._llm.settings)

    def _annotate(
        self, task: str, question: str, answer: str, claims: Sequence[Claim]
    ) -> Annotated:
        updates, failures = self._ask(task, question, answer, claims)
        return [c.model_copy(update=updates.get(c.id, {})) for c in claims], failures

    def _ask(
        self, name: str, question: str, answer: str, claims: Sequence[Claim]
    ) -> tuple[dict[str, Any], list[Failure]]:
        """Return the value of each reply, by claim id."""
        task = TASKS[name]
        prompt = self._prompt(name)
        questions = _questions(task, prompt, question, answer, claims)
        before = self._llm.usage
        replies = self._llm.map([q for _, q in questions], task.schema)
        self.usage[name] = self._llm.usage.since(before)
        self.versions[name] = f"{prompt.version}/{self._llm.version}"
        values: dict[str, Any] = {}
        failures: list[Failure] = []
        for (claim, _), reply in zip(questions, replies, strict=True):
            try:
                if isinstance(reply, LlmFailed):
                    raise reply
                values[claim.id] = reply.value.value(claim)
            except LlmFailed as error:
                failure = LlmFailed(f"{error}; {task.fallback}", detail=error.detail)
                failures.append(failure.as_failure(name, claim.text))
        return values, failures


def _questions(
    task: ClaimTask, prompt: Prompt, question: str, answer: str, claims: Sequence[Claim]
) -> list[tuple[Claim, Question]]:
    """Return the claims that a task concerns, each once, with its question."""
    concerned = {claim.id: claim for claim in claims if task.concerned(claim)}
    return [
        (claim, Question.of(prompt, **task.inputs(question, answer, claim)))
        for claim in concerned.values()
    ]


def _line(text: str) -> str:
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())
