"""What clients may send, and the settings it makes. Nothing here reaches files, endpoints or keys of the server."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from attribution.claims.conversation import turns_of
from attribution.errors import BadInput, BadSetting
from attribution.evidence.sources import Source
from attribution.settings import Settings
from attribution.types import Document, Turn

MAX_BODY = 2_000_000  # bytes of a request
MAX_PAIRS, MAX_DOCUMENTS, MAX_SOURCES = 256, 20, 20
OWN = {  # of the server's owner: they name models, places and endpoints, or limits that protect the server
    "library", "segmenter_model", "embedding_model", "verifier_model", "gc_model", "fallback", "answer_limit",
    "endpoint", "openai_base_url", "openai_api_key", "openai_model", "workers", "page_bytes", "host_connections",
    "database_url", "connect_timeout", "read_timeout", "crawl_delay", "page_timeout", "robots_timeout", "page_days",
    "llm_timeout", "llm_deadline", "llm_retries", "llm_workers", "llm_tokens", "input_price", "output_price",
    "sources", "segmenter", "verifier",
}  # fmt: skip
BUDGETS = ("max_queries", "max_pages", "max_seconds")  # may be lowered
Text = Annotated[str, Field(max_length=MAX_BODY)]


class Body(BaseModel):
    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)


class GivenDocument(Body):
    """A source of the client's own, as text."""

    name: str = Field(min_length=1, max_length=200)
    text: Text


class AnswerBody(Body):
    question: Text = ""
    turns: str | list[JsonValue] = Field("", max_length=MAX_BODY)  # before the question
    answer: Text
    segmenter: str | None = None

    @property
    def context(self) -> tuple[Turn, ...]:
        """The turns. BadInput where they cannot be read."""
        try:
            return turns_of(self.turns)
        except BadInput as error:
            raise BadInput(f"turns: {error}") from None


class AnalyzeBody(AnswerBody):
    """`settings` holds any other setting of a run: top_k, threshold, …"""

    sources: list[str] = Field(["library"], max_length=MAX_SOURCES)
    documents: list[GivenDocument] = Field([], max_length=MAX_DOCUMENTS)
    verifier: str | None = None
    settings: dict[str, JsonValue] = {}


class ClaimPair(Body):
    claim: Text
    evidence: Text


class VerifyBody(Body):
    pairs: list[ClaimPair] = Field(min_length=1, max_length=MAX_PAIRS)
    verifier: str | None = None
    settings: dict[str, JsonValue] = {}


def documents(given: list[GivenDocument]) -> tuple[Document, ...]:
    return tuple(Document(one.name, one.text.encode("utf-8", "replace"), "text/plain") for one in given)


def settings(
    own: Settings,
    asked: dict[str, Any],
    segmenter: str | None = None,
    verifier: str | None = None,
    sources: Sequence[str] | None = None,
    with_documents: bool = False,
) -> Settings:
    """The server's own settings with what a client may choose. BadInput names what it may not."""
    for name in asked:
        if name in OWN:
            raise BadSetting(name, "it cannot be chosen here; leave it out, or see docs/api.md for its own field")
    chosen = dict(asked) | {k: v for k, v in (("segmenter", segmenter), ("verifier", verifier)) if v is not None}
    if sources is not None:
        chosen["sources"] = tuple(checked_sources(sources)) + ("documents",) * with_documents
        if not chosen["sources"]:
            raise BadInput("sources: the list is empty and there are no documents; name library, web or a URL")
    made = Settings.from_environment(**dict(own) | chosen)
    lowered = {name: min(getattr(made, name), getattr(own, name)) for name in BUDGETS}
    return made.model_copy(update=lowered)


def checked_sources(names: Sequence[str]) -> Sequence[str]:
    """Those that a client may name: the library, engines of the web, and addresses. BadInput for any other."""
    for name in names:
        if "://" in name and not name.startswith(("http://", "https://")):
            raise BadInput(f"source {name[:80]!r}: only http and https addresses can be fetched")
        if name in ("library", "web") or name.startswith(("http://", "https://")):
            continue
        try:
            kind = Source.parse(name).kind if name.isidentifier() else "path"
        except BadInput:
            kind = "path"
        if kind != "engine":
            raise BadInput(
                f"source {name[:80]!r}: expected library, web, the name of a search engine or an http(s) address; "
                "send texts of your own as documents"
            )
    return names
