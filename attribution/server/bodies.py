"""Bodies of requests, their settings, and a run's events as JSON lines."""

from __future__ import annotations

import json
import logging
from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from contextlib import aclosing
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, JsonValue, model_validator
from pydantic_core import to_jsonable_python

from attribution.conversation import turns_of
from attribution.errors import AttributionError, BadInput, setup_error
from attribution.events import (
    ClaimsReady,
    Event,
    Failed,
    Finished,
    PageReady,
    Progress,
    Queued,
    RunStarted,
    StageStarted,
    VerdictReady,
)
from attribution.pipeline.permissions import WEB_ADDRESS, demanded
from attribution.searchers import SEARCHERS
from attribution.settings import LIMITS, Address, Settings
from attribution.tables import Source
from attribution.text_files import PROBLEM, has_half_pair
from attribution.types import Document, Turn

Text = Annotated[str, Field(max_length=LIMITS.request)]
RequestedSettings = Annotated[
    dict[str, JsonValue],
    Field(
        max_length=len(Settings.model_fields),
        description="Any other setting of a run that clients choose or lower, see docs/settings.md",
    ),
]


class Body(BaseModel):
    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)

    @model_validator(mode="before")
    @classmethod
    def _refuse_half_characters(cls, value: object) -> object:
        if isinstance(value, bytes):  # without that header, FastAPI parses nothing
            raise ValueError("expected JSON, sent with the header Content-Type: application/json")
        if has_half_pair(value):
            raise ValueError(PROBLEM)
        return value


class GivenDocument(Body):
    """A client's own source, as text."""

    name: str = Field(min_length=1, max_length=LIMITS.name)
    text: Text


class AnswerBody(Body):
    question: Text = ""
    turns: Text | Annotated[list[JsonValue], Field(max_length=LIMITS.turns)] = ""
    answer: Text
    segmenter: Address | None = None

    @property
    def context(self) -> tuple[Turn, ...]:
        """The earlier turns of the conversation. Raises BadInput if they cannot be read."""
        try:
            return turns_of(self.turns)
        except BadInput as error:
            raise BadInput(f"turns: {error}") from None


class AnalyzeBody(AnswerBody):
    sources: list[Address] = Field(["library"], max_length=LIMITS.sources)
    documents: list[GivenDocument] = Field([], max_length=LIMITS.documents)
    verifier: Address | None = None
    settings: RequestedSettings = {}


class GivenPassage(Body):
    """A text with the address and the title of its page, which identify its source."""

    text: Text
    url: Address | None = None
    title: Annotated[str, Field(max_length=LIMITS.address)] | None = None


class JudgeBody(Body):
    claim: Text
    passages: list[Text | GivenPassage] = Field(min_length=1, max_length=LIMITS.passages)
    verifier: Address | None = None
    settings: RequestedSettings = {}


class Problem(BaseModel):
    type: str
    message: str


class Refused(BaseModel):
    """The reply in place of a result."""

    error: Problem


REFUSALS: dict[int | str, dict[str, Any]] = {
    status: {"model": Refused} for status in (400, 401, 404, 413, 422, 429, 500, 502, 503)
}


def documents(given: Sequence[GivenDocument]) -> tuple[Document, ...]:
    """Return the client's own sources."""
    return tuple(
        Document(one.name, one.text.encode("utf-8", "replace"), "text/plain") for one in given
    )


def settings(
    operator: Settings,
    requested: Mapping[str, object],
    segmenter: str | None = None,
    verifier: str | None = None,
    sources: Sequence[str] | None = None,
    with_documents: bool = False,
) -> Settings:
    """Return the operator's settings with the client's choices.

    Raises:
        BadInput: A choice is not allowed.
    """
    choices = dict(requested)
    if segmenter is not None:
        choices["segmenter"] = segmenter
    if verifier is not None:
        choices["verifier"] = verifier
    if sources is not None:
        names = [checked_source(name) for name in sources]
        if with_documents:
            names.append("documents")
        if not names:
            raise BadInput(
                "sources: the list is empty and there are no documents; name library, web or a URL"
            )
        choices["sources"] = tuple(names)
    return demanded(choices, operator)


def check_compared(texts: Iterable[str]) -> None:
    """Raise BadInput for more text than one request may compare, which would take minutes."""
    characters = sum(len(text) for text in texts)
    if characters > LIMITS.compared:
        raise BadInput(
            f"{characters:,} characters of claims and passages, at most {LIMITS.compared:,} are "
            "compared at once: send them in several"
        )


def checked_source(name: str) -> str:
    """Return the name if clients may use it: library, search engine or web address."""
    source = Source.of(name)
    if source.kind not in ("library", "address") and source.name not in SEARCHERS:
        raise BadInput(
            f"source {name[:80]!r}: expected library, web, the name of a search engine or an "
            "http(s) address; send texts of your own as documents"
        )
    if source.kind == "address" and not name.startswith(WEB_ADDRESS):
        raise BadInput(f"source {name[:80]!r}: only http and https addresses can be fetched")
    return name


Line = dict[str, object]
NAMES: dict[type[Event], str] = {  # of the events that are sent to clients
    Queued: "queued",
    RunStarted: "started",
    StageStarted: "stage",
    Progress: "progress",
    ClaimsReady: "claims",
    PageReady: "page",
    VerdictReady: "verdict",
    Failed: "failure",
    Finished: "finished",
}
_log = logging.getLogger(__name__)


def as_line(event: Event) -> Line | None:
    """Return an event as sent to clients; None if it is not sent."""
    name = NAMES.get(type(event))
    if name is None:
        return None
    match event:
        case RunStarted(run_id):
            fields: Line = {"run": run_id}
        case PageReady(page):
            fields = {"page": page.model_dump(mode="json", exclude={"text"})}
        case Finished(report):
            fields = {"report": json.loads(report.to_json())}
        case _:
            fields = to_jsonable_python(vars(event))
    return {"event": name, **fields}


def problem(error: Exception) -> dict[str, str]:
    """Return an error as sent to clients; of an unexpected one only that the server failed."""
    error = setup_error(error) or error
    if isinstance(error, AttributionError):
        return {"type": type(error).__name__, "message": error.public()}
    return {"type": "InternalError", "message": "the server failed; its log says more"}


async def lines(events: AsyncGenerator[Event]) -> AsyncGenerator[bytes]:
    """Yield the events as JSON lines."""
    try:
        async with aclosing(events):
            async for event in events:
                line = as_line(event)
                if line is not None:
                    yield _encode(line)
    except Exception as error:  # ends the stream, not the server
        if not isinstance(error, AttributionError):
            _log.error("a run failed", exc_info=error)
        yield _encode({"event": "error", "error": problem(error)})


def _encode(line: Line) -> bytes:
    return json.dumps(line, ensure_ascii=False).encode("utf-8", "replace") + b"\n"
