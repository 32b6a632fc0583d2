"""A test set in the database: what it is made of, and as far as it has come."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from pydantic import TypeAdapter

from attribution.evaluation.evoked_errors.test_set import Grounded, Made
from attribution.storage.store import Store

KIND = "evoked"  # of the saved result


@dataclass(frozen=True)
class EvokedSet:
    answers: tuple[Grounded, ...]
    kinds: tuple[str, ...]  # of errors
    seed: int
    by_llm: bool
    done: int = 0  # answers that were altered
    made: tuple[Made, ...] = ()
    problems: tuple[str, ...] = ()

    def with_answer(self, made: Iterable[Made], problems: Iterable[str]) -> EvokedSet:
        """With the rows of the next answer."""
        return replace(self, done=self.done + 1, made=(*self.made, *made), problems=(*self.problems, *problems))

    def with_label(self, row_id: str, error_type: str) -> EvokedSet:
        """With a row's type given by hand."""
        return replace(self, made=tuple(replace(m, error_type=error_type) if m.id == row_id else m for m in self.made))


_SET = TypeAdapter(EvokedSet)


def save(store: Store, result_id: str, made: EvokedSet) -> None:
    """Save the set in place of an earlier state of it."""
    store.save_result(KIND, result_id, _SET.dump_json(made).decode())


def load(store: Store, result_id: str) -> EvokedSet | None:
    """A saved set, finished or not. ValidationError for one of another version."""
    body = store.load_result(KIND, result_id)
    return None if body is None else _SET.validate_json(body)
