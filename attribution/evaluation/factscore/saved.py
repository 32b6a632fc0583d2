"""Scores in the store, so that they have an address and survive a reload."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from pydantic import TypeAdapter

from attribution.evaluation.factscore.answer import ScoredAnswer
from attribution.storage.store import Store
from attribution.text.json_lines import Row

FACTSCORE = "factscore"  # the kind of result


@dataclass(frozen=True)
class Scored:
    """The answers that were scored, and what they were scored with."""

    segmenters: tuple[str, ...]
    verifiers: tuple[str, ...]
    answers: tuple[ScoredAnswer, ...] = ()
    rows: tuple[Row, ...] = ()  # all that are to be scored, so that it can go on after a crash
    done: int = 0  # of the rows, those that failed included
    settings: dict[str, Any] = field(default_factory=dict)
    frozen: str = ""  # id of the run whose pages are the knowledge source; empty: the sources of the settings
    failed: tuple[tuple[int, str, str], ...] = ()  # line, answer and error of those that could not be scored

    def with_answer(self, answer: ScoredAnswer) -> Scored:
        return replace(self, answers=(*self.answers, answer), done=self.done + 1)

    def with_failure(self, failure: tuple[int, str, str]) -> Scored:
        return replace(self, failed=(*self.failed, failure), done=self.done + 1)


_SCORED = TypeAdapter(Scored)


def save(store: Store, result_id: str, scored: Scored) -> None:
    """Save the answers so far, replacing an earlier state."""
    store.save_result(FACTSCORE, result_id, _SCORED.dump_json(scored).decode())


def load(store: Store, result_id: str) -> Scored | None:
    """Saved scores; None where there are none of that id."""
    body = store.load_result(FACTSCORE, result_id)
    return None if body is None else _SCORED.validate_json(body)
