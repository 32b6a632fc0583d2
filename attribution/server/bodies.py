"""What clients may send, and the settings it makes. Nothing here reaches files, endpoints or keys of the server."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, JsonValue, model_validator

from attribution.claims.conversation import turns_of
from attribution.errors import BadInput, BadSetting
from attribution.evidence.sources import Source
from attribution.evidence.strangers import WEB_ADDRESS, demanded
from attribution.settings import Settings
from attribution.text.characters import PROBLEM, has_half_pair
from attribution.trust import SETTINGS
from attribution.types import Document, Turn

MAX_BODY = 2_000_000  # bytes of a request
MAX_PAIRS, MAX_DOCUMENTS, MAX_SOURCES = 256, 20, 20
FIELDS = ("sources", "segmenter", "verifier")  # of a request, beside its settings
Text = Annotated[str, Field(max_length=MAX_BODY)]
LOWERED = f"These may be lowered, not raised: {', '.join(SETTINGS['limit'])}."
Asked = Annotated[dict[str, JsonValue], Field(description=f"Any other setting of a run: top_k, threshold, … {LOWERED}")]


class Body(BaseModel):
    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)

    @model_validator(mode="before")
    @classmethod
    def _of_whole_characters(cls, value: object) -> object:
        if has_half_pair(value):
            raise ValueError(PROBLEM)
        return value


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
    sources: list[str] = Field(["library"], max_length=MAX_SOURCES)
    documents: list[GivenDocument] = Field([], max_length=MAX_DOCUMENTS)
    verifier: str | None = None
    settings: Asked = {}


class ClaimPair(Body):
    claim: Text
    evidence: Text


class VerifyBody(Body):
    pairs: list[ClaimPair] = Field(min_length=1, max_length=MAX_PAIRS)
    verifier: str | None = None
    settings: Asked = {}


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
    for name in FIELDS:
        if name in asked:
            raise BadSetting(name, "it cannot be chosen here; leave it out, or see docs/api.md for its own field")
    chosen = dict(asked) | {k: v for k, v in (("segmenter", segmenter), ("verifier", verifier)) if v is not None}
    if sources is not None:
        chosen["sources"] = tuple(map(checked_source, sources)) + ("documents",) * with_documents
        if not chosen["sources"]:
            raise BadInput("sources: the list is empty and there are no documents; name library, web or a URL")
    return demanded(chosen, own)


def checked_source(name: str) -> str:
    """A source that a client may name: the library, an engine of the web, or an address. BadInput for any other."""
    source = Source.named(name)
    if source is None or source.kind not in ("library", "engine", "address"):
        raise BadInput(
            f"source {name[:80]!r}: expected library, web, the name of a search engine or an http(s) address; "
            "send texts of your own as documents"
        )
    if source.kind == "address" and not name.startswith(WEB_ADDRESS):
        raise BadInput(f"source {name[:80]!r}: only http and https addresses can be fetched")
    return name
