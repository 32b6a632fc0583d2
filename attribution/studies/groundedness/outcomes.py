"""Run methods on labelled responses, with one outcome for each method and row."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from attribution.errors import BadInput, LlmFailed, Stopped, Unavailable
from attribution.models.loading import working_time
from attribution.run.experiment import run_each
from attribution.settings import Settings
from attribution.studies.groundedness import METHODS, Method, Part
from attribution.studies.groundedness.labelled_set import LabelledRow
from attribution.types import Frozen, LlmUsage, content_id


class Outcome(Frozen):
    """The outcome of one method on one response."""

    method: str
    row: str  # the id of the labelled response
    key: str  # hash of the texts and the method's version: the same key, the same scores
    scores: dict[str, float] = {}  # by reading; empty after an error
    parts: tuple[Part, ...] = ()
    seconds: float | None = None  # without loading; None where a reply came from the store
    tokens: int | None = None  # None: no language model
    cost: float | None = None
    error: str = ""


@dataclass(frozen=True)
class LeftOut:
    """A method that cannot be run, and why."""

    method: str
    reason: str
    detail: str = ""


def selected(names: Sequence[str], settings: Settings) -> tuple[list[str], list[LeftOut]]:
    """Return the methods that are ready, and those left out for an unmet need; `all` stands for the whole table.

    Raises UnknownName for a name that no method has, and Unavailable if none is ready.
    """
    wanted = list(dict.fromkeys(n for name in names for n in (METHODS if name == "all" else (name,))))
    for name in wanted:
        if name not in METHODS:
            METHODS.build(name, settings)
    left_out = [LeftOut(n, missing) for n in wanted if (missing := METHODS[n].missing(settings))]
    ready = [n for n in wanted if n not in {one.method for one in left_out}]
    if not ready:
        reasons = "; ".join(f"{one.method}: {one.reason}" for one in left_out) or "none was named"
        raise Unavailable(f"no method can be run: {reasons}")
    return ready, left_out


def run(
    rows: Sequence[LabelledRow],
    methods: Sequence[str],
    settings: Settings,
    finished: Mapping[tuple[str, str], Outcome],
    stop: threading.Event,
) -> Iterator[Outcome | LeftOut]:
    """Yield one outcome for each method and row, method by method; `stop` ends it after the row in progress.

    `finished` are outcomes of an earlier run by method and row: those with the same key are yielded as they are. A
    failure in a row affects only that row; a method whose model cannot be loaded is left out.
    """
    for name in methods:
        try:
            method = METHODS.build(name, settings)
            scored = partial(_scored, name, method, finished, stop)
            for row, result in zip(rows, run_each(rows, scored, stop), strict=False):
                yield result.value or Outcome(method=name, row=row.id, key=key_of(method, row), error=result.problem)
        except (Unavailable, BadInput) as error:
            yield LeftOut(name, str(error), error.detail)


def key_of(method: Method, row: LabelledRow) -> str:
    """Hash everything that the scores of a row depend on."""
    return content_id(method.version, row.question, *row.context, "", row.response)


def _scored(
    name: str,
    method: Method,
    finished: Mapping[tuple[str, str], Outcome],
    stop: threading.Event,
    row: LabelledRow,
) -> Outcome:
    key, known = key_of(method, row), finished.get((name, row.id))
    if known is not None and known.key == key and not known.error:
        return known
    before, started = method.usage, working_time()
    try:
        scored = method.score(row.given, stop)
    except (BadInput, LlmFailed) as error:
        if stop.is_set():  # cut off: the row is scored when the run goes on
            raise Stopped("this row was interrupted") from error
        tokens, cost, _ = _spent(before, method.usage)
        return Outcome(method=name, row=row.id, key=key, error=str(error), tokens=tokens, cost=cost)
    seconds = working_time() - started
    tokens, cost, cached = _spent(before, method.usage)
    return Outcome(
        method=name,
        row=row.id,
        key=key,
        scores={reading: round(min(1.0, max(0.0, score)), 6) for reading, score in scored.scores.items()},
        parts=scored.parts,
        seconds=None if cached else round(seconds, 6),
        tokens=tokens,
        cost=cost,
    )


def _spent(before: LlmUsage | None, after: LlmUsage | None) -> tuple[int | None, float | None, bool]:
    """Return the tokens and the cost, and True if a reply came from the store."""
    if after is None:
        return None, None, False
    used = after.since(before or LlmUsage())
    return used.prompt_tokens + used.completion_tokens, used.cost, used.cached > 0
