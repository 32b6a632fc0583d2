"""Find the dialect of an endpoint and model from its refusals, once, and remember it."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, fields, replace
from functools import lru_cache
from typing import Any

from attribution.llm.dialect import Dialect
from attribution.llm.endpoint import Completion, KeyRefused, RequestRefused
from attribution.retry import Transient
from attribution.settings import OPENAI, Settings
from attribution.store.store import Store
from attribution.types import content_id

REFUSALS = 4  # of one prompt, each answered with another dialect
Send = Callable[[Dialect], Completion]


@dataclass
class Memory:
    """The dialect of one endpoint and model, once known; `learning` lets one prompt find out while
    the others wait.
    """

    key: str
    dialect: Dialect | None = None
    likely: Dialect | None = None  # learnt so far, when the endpoint was busy
    learning: threading.Lock = field(default_factory=threading.Lock)


_memory = lru_cache(256)(Memory)


def memory_of(settings: Settings) -> Memory:
    """Return what this process knows of the settings' endpoint and model."""
    return _memory(content_id("dialect", settings.endpoint.identity, settings.openai_model))


def usual(settings: Settings) -> Dialect:
    """Return the dialect that is tried first."""
    return Dialect(
        length="max_completion_tokens" if settings.endpoint.address == OPENAI else "max_tokens"
    )


def converse(send: Send, known: Memory, first: Dialect, store: Store | None = None) -> Completion:
    """Send a prompt in the dialect that is known, and in others as long as the refusals name what
    to change.

    What succeeds is remembered, by this process and in the store. The first prompt to an endpoint
    is sent alone.
    """
    if known.dialect is None and store and (body := store.cache.reply(known.key)):
        known.dialect = _restored(json.loads(body))
    if known.dialect is not None:
        return _converse(send, known, known.dialect, store)
    with known.learning:
        return _converse(send, known, known.dialect or first, store)


def _converse(send: Send, known: Memory, first: Dialect, store: Store | None) -> Completion:
    dialect = known.dialect or known.likely or first
    tried = [dialect]
    while True:
        try:
            completion = send(dialect)
        except (RequestRefused, KeyRefused) as error:
            other = _after(first, dialect, error, len(tried) > 1)
            if other is None or other in tried or len(tried) > REFUSALS:
                raise
        except Transient:
            known.likely = dialect
            raise
        else:
            if dialect.reasons or not completion.starved:
                break
            other = replace(dialect, reasons=True)  # all its tokens went into reasoning
        tried.append(dialect := other)
    if known.dialect != dialect:
        known.dialect = dialect
        if store:
            store.cache.put_reply(known.key, json.dumps(asdict(dialect)))
    return completion


def _after(
    first: Dialect, last: Dialect, error: RequestRefused | KeyRefused, again: bool
) -> Dialect | None:
    """Return the dialect to try next: after refusals of two different parts, one without all that
    may be refused.
    """
    if isinstance(error, KeyRefused):
        return replace(last, api_key=True)
    other = last.after_refusal(error.words, again)
    before = first.parts_unlike(last) - {"api_key"}
    return other.plainest if other and before and not before & last.parts_unlike(other) else other


def _restored(body: dict[str, Any]) -> Dialect:
    """Return a stored dialect; parts that another version had are ignored."""
    return Dialect(**{row.name: body[row.name] for row in fields(Dialect) if row.name in body})
