"""What a language model is asked of claims, one by one: worthiness, independence, enrichment, queries (V24, section 4).

A reply that fails is a failure of that claim, and what the rules say of it stays.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict

from attribution.errors import LlmFailed
from attribution.llm import prompts
from attribution.llm.client import CHARACTERS_PER_TOKEN, Llm, Question
from attribution.settings import Settings
from attribution.storage.store import Store
from attribution.types import Claim, Failure, LlmUsage, Worthiness

CONTEXT = 6000  # characters of the answer that are shown around a claim
LONGEST = 600  # characters of an enriched claim
QUERIES, LONGEST_QUERY = 2, 300  # of a claim; characters
RULES = "what the rules say stays"
_Made = TypeVar("_Made")


class _Reply(BaseModel):
    model_config = ConfigDict(extra="ignore")


class Worth(_Reply):
    worthiness: Worthiness
    reason: str = ""


class Stands(_Reply):
    independent: bool
    reason: str = ""


class Rewritten(_Reply):
    claim: str


class Written(_Reply):
    queries: list[str]


@dataclass(frozen=True)
class Task:
    """One thing that is asked of every claim it concerns."""

    prompt: str
    schema: type[_Reply]
    concerned: Callable[[Claim], bool]
    inputs: Callable[[str, str, Claim], dict[str, str]]  # of question, answer, claim
    instead: str  # what happens where a reply fails
    reply: str  # about what a reply looks like, for estimates


def _factual(claim: Claim) -> bool:
    return claim.worthiness == "factual"


def _around(question: str, answer: str, claim: Claim) -> dict[str, str]:
    start = max(0, (claim.spans[0][0] if claim.spans else 0) - CONTEXT // 2)
    return {"question": question, "answer": answer[start : start + CONTEXT], "claim": claim.text}


# In the order in which they are asked.
TASKS: Mapping[str, Task] = {
    "worthiness": Task(
        "worthiness.v1",
        Worth,
        lambda claim: True,
        lambda question, _, claim: {"question": question, "claim": claim.text},
        RULES,
        '{"worthiness": "factual", "reason": "It gives a year that a source could confirm."}',
    ),
    "independence": Task(
        "independence.v1",
        Stands,
        _factual,
        lambda _question, _answer, claim: {"claim": claim.text},
        RULES,
        '{"independent": false, "reason": "It does not say which tower is meant."}',
    ),
    "enrichment": Task(
        "enrichment.v1",
        Rewritten,
        lambda claim: _factual(claim) and claim.independent is False,
        _around,
        RULES,
        '{"claim": "The building of the Suez Canal took ten years and was paid for by shareholders."}',
    ),
    "queries": Task(
        "queries.v1",
        Written,
        lambda claim: claim.checked,
        lambda question, _, claim: {"question": question, "claim": claim.statement},
        "the claim itself is searched",
        '{"queries": ["Suez Canal opening ceremony date", "Empress Eugénie at the opening of the Suez Canal"]}',
    ),
}


def chosen(settings: Settings) -> tuple[str, ...]:
    """The tasks that these settings give to a language model."""
    by_llm = {
        "worthiness": settings.worthiness,
        "independence": settings.independence,
        "enrichment": settings.enrichment,
        "queries": settings.query,
    }
    return tuple(task for task in TASKS if by_llm[task] == "llm")


class LlmAnnotator:
    """The language model's part in one run; `usage` counts it by task, `versions` names wordings and model."""

    def __init__(self, settings: Settings, store: Store | None, stop: threading.Event) -> None:
        """Unavailable where no endpoint is configured."""
        self._llm = Llm(settings, store, stop)
        self.usage: dict[str, LlmUsage] = {}
        self.versions: dict[str, str] = {}

    def worthiness(self, question: str, claims: Sequence[Claim]) -> tuple[list[Claim], list[Failure]]:
        def changed(_: Claim, reply: Worth) -> dict[str, Any]:
            return {"worthiness": reply.worthiness, "worthiness_reason": _line(reply.reason)}

        return self._changed("worthiness", question, "", claims, changed)

    def independence(self, claims: Sequence[Claim]) -> tuple[list[Claim], list[Failure]]:
        def changed(_: Claim, reply: Stands) -> dict[str, Any]:
            return {"independent": reply.independent, "independence_reason": _line(reply.reason)}

        return self._changed("independence", "", "", claims, changed)

    def enrichment(self, question: str, answer: str, claims: Sequence[Claim]) -> tuple[list[Claim], list[Failure]]:
        """Of claims that are not independent alone."""

        def changed(claim: Claim, reply: Rewritten) -> dict[str, Any]:
            text = _line(reply.claim)
            if not any(c.isalnum() for c in text) or len(text) > LONGEST:
                raise LlmFailed(f"the language model wrote {len(text)} characters where one sentence was expected")
            return {"enriched": None if text == claim.text else text}

        return self._changed("enrichment", question, answer, claims, changed)

    def queries(self, question: str, claims: Sequence[Claim]) -> tuple[dict[str, tuple[str, ...]], list[Failure]]:
        """One or two queries by claim id; a claim whose reply failed has none."""

        def written(_: Claim, reply: Written) -> tuple[str, ...]:
            lines = dict.fromkeys(_line(q) for q in reply.queries)
            fit = [q for q in lines if len(q) <= LONGEST_QUERY and any(c.isalnum() for c in q)]
            if not fit:
                raise LlmFailed(f"the language model wrote {len(lines)} queries, none of them words to search for")
            return tuple(fit[:QUERIES])

        return self._asked("queries", question, "", claims, written)

    def estimate(self, task: str, question: str, answer: str, claims: Sequence[Claim]) -> LlmUsage:
        """What a task would take, without asking."""
        questions = [asked for _, asked in _questions(TASKS[task], question, answer, claims)]
        return self._llm.estimate(questions, TASKS[task].schema, len(TASKS[task].reply) // CHARACTERS_PER_TOKEN)

    def _changed(
        self,
        task: str,
        question: str,
        answer: str,
        claims: Sequence[Claim],
        changed: Callable[[Claim, Any], dict[str, Any]],
    ) -> tuple[list[Claim], list[Failure]]:
        made, failures = self._asked(task, question, answer, claims, changed)
        return [c.model_copy(update=made.get(c.id, {})) for c in claims], failures

    def _asked(
        self,
        name: str,
        question: str,
        answer: str,
        claims: Sequence[Claim],
        read: Callable[[Claim, Any], _Made],
    ) -> tuple[dict[str, _Made], list[Failure]]:
        """What `read` makes of each reply, by claim id; it may raise LlmFailed too."""
        task = TASKS[name]
        asked = _questions(task, question, answer, claims)
        before = self._llm.usage
        replies = self._llm.map([q for _, q in asked], task.schema)
        self.usage[name] = self._llm.usage.since(before)
        self.versions[name] = f"{task.prompt}/{self._llm.version}"
        made: dict[str, _Made] = {}
        failures: list[Failure] = []
        for (claim, _), reply in zip(asked, replies, strict=True):
            try:
                if isinstance(reply, LlmFailed):
                    raise reply
                made[claim.id] = read(claim, reply.value)
            except LlmFailed as error:
                failures.append(LlmFailed(f"{error}; {task.instead}").as_failure(name, claim.text))
        return made, failures


def _questions(task: Task, question: str, answer: str, claims: Sequence[Claim]) -> list[tuple[Claim, Question]]:
    """The claims that a task concerns, each once, with what is asked of it."""
    loaded = prompts.load(task.prompt)
    concerned = {claim.id: claim for claim in claims if task.concerned(claim)}
    return [
        (claim, Question(loaded.render(**task.inputs(question, answer, claim)), loaded.version))
        for claim in concerned.values()
    ]


def _line(text: str) -> str:
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())
