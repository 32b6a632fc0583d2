"""Check-worthiness, independence and enrichment asked of a language model, claim by claim (V24, sections 4.2, 4.3).

A reply that fails is a failure of that claim, and what the rules say of it stays.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from attribution import prompts
from attribution.errors import LlmFailed
from attribution.llm import Llm, Question
from attribution.replies import Schema
from attribution.settings import Settings
from attribution.store import Store
from attribution.types import Claim, Failure, LlmUsage, Worthiness

CONTEXT = 6000  # characters of the answer that are shown around a claim
LONGEST = 600  # characters of an enriched claim


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


class Asked:
    """The language model's part in one run; `usage` counts it."""

    def __init__(self, settings: Settings, store: Store, stop: threading.Event) -> None:
        """Unavailable where no endpoint is configured."""
        self._llm = Llm(settings, store, stop)

    @property
    def usage(self) -> LlmUsage:
        return self._llm.usage

    def worthiness(self, question: str, claims: Sequence[Claim]) -> tuple[list[Claim], list[Failure]]:
        def changed(_: Claim, reply: Worth) -> dict[str, Any]:
            return {"worthiness": reply.worthiness, "worthiness_reason": _line(reply.reason)}

        return self._each("worthiness.v1", claims, lambda c: {"question": question, "claim": c.text}, Worth, changed)

    def independence(self, claims: Sequence[Claim]) -> tuple[list[Claim], list[Failure]]:
        def changed(_: Claim, reply: Stands) -> dict[str, Any]:
            return {"independent": reply.independent, "independence_reason": _line(reply.reason)}

        return self._each("independence.v1", claims, lambda c: {"claim": c.text}, Stands, changed, _factual)

    def enrichment(self, question: str, answer: str, claims: Sequence[Claim]) -> tuple[list[Claim], list[Failure]]:
        """Of claims that are not independent alone."""

        def inputs(claim: Claim) -> dict[str, str]:
            start = max(0, (claim.spans[0][0] if claim.spans else 0) - CONTEXT // 2)
            return {"question": question, "answer": answer[start : start + CONTEXT], "claim": claim.text}

        def changed(claim: Claim, reply: Rewritten) -> dict[str, Any]:
            text = _line(reply.claim)
            if not any(c.isalnum() for c in text) or len(text) > LONGEST:
                raise LlmFailed(f"the language model wrote {len(text)} characters where one sentence was expected")
            return {"enriched": None if text == claim.text else text}

        def dependent(claim: Claim) -> bool:
            return _factual(claim) and claim.independent is False

        return self._each("enrichment.v1", claims, inputs, Rewritten, changed, dependent)

    def _each(
        self,
        prompt: Literal["worthiness.v1", "independence.v1", "enrichment.v1"],
        claims: Sequence[Claim],
        inputs: Callable[[Claim], dict[str, str]],
        schema: type[Schema],
        changed: Callable[[Claim, Schema], dict[str, Any]],
        concerned: Callable[[Claim], bool] = lambda _: True,
    ) -> tuple[list[Claim], list[Failure]]:
        asked = {c.id: c for c in claims if concerned(c)}
        loaded = prompts.load(prompt)
        questions = [Question(loaded.render(**inputs(c)), loaded.version) for c in asked.values()]
        done, failures = dict(asked), []
        for claim, reply in zip(asked.values(), self._llm.map(questions, schema), strict=True):
            try:
                if isinstance(reply, LlmFailed):
                    raise reply
                done[claim.id] = claim.model_copy(update=changed(claim, reply.value))
            except LlmFailed as error:
                stage = prompt.partition(".")[0]
                failures.append(LlmFailed(f"{error}; what the rules say stays").as_failure(stage, claim.text))
        return [done.get(c.id, c) for c in claims], failures


def _factual(claim: Claim) -> bool:
    return claim.worthiness == "factual"


def _line(text: str) -> str:
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())
