"""Scores in the store, so that they have an address and survive a reload."""

from __future__ import annotations

from dataclasses import dataclass, replace

from pydantic import TypeAdapter

from attribution.evaluation.factscore.answer import ScoredAnswer
from attribution.storage.store import Store

FACTSCORE = "factscore"  # the kind of result


@dataclass(frozen=True)
class Scored:
    """The answers that were scored, and what they were scored with."""

    segmenters: tuple[str, ...]
    verifiers: tuple[str, ...]
    answers: tuple[ScoredAnswer, ...] = ()

    def with_answer(self, answer: ScoredAnswer) -> Scored:
        return replace(self, answers=(*self.answers, answer))


_SCORED = TypeAdapter(Scored)


def save(store: Store, result_id: str, scored: Scored) -> None:
    """Save the answers so far, replacing an earlier state."""
    store.save_result(FACTSCORE, result_id, _SCORED.dump_json(scored).decode())


def load(store: Store, result_id: str) -> Scored | None:
    """Saved scores; None where there are none of that id."""
    body = store.load_result(FACTSCORE, result_id)
    return None if body is None else _SCORED.validate_json(body)
