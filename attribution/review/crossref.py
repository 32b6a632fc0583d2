"""Ask Crossref for the title of a DOI, and for the notices that retract, correct or doubt the work."""

from __future__ import annotations

from urllib.parse import quote

from pydantic import BaseModel, Field, ValidationError

from attribution.errors import FetchFailed
from attribution.fetching.http import parsed, send
from attribution.fetching.network import Allow, Clock, is_public
from attribution.settings import Settings
from attribution.text.identifiers import Identifier
from attribution.types import FailureKind, Frozen

ADDRESS = "https://api.crossref.org/works/"
MAX_BYTES = 2_000_000  # a record lists the references of its work
OF_ONE_RECORD: tuple[FailureKind, ...] = ("unreadable", "too_large")
MAX_TITLE = 300  # characters of a title that are kept


class CitedWork(Frozen):
    """The work that a cited source names, as far as Crossref knows it; only DOIs are asked for."""

    source: str  # key of the cited source
    identifier: Identifier
    title: str = ""
    notices: tuple[str, ...] = ()  # such as "retraction (2010): 10.1016/…"
    problem: str = ""  # why nothing is known


class _Update(BaseModel):
    type: str = Field(max_length=60)
    DOI: str = Field(default="", max_length=300)
    updated: dict[str, object] = {}

    def words(self) -> str:
        parts = self.updated.get("date-parts")
        first = parts[0] if isinstance(parts, list) and parts and isinstance(parts[0], list) else ()
        year = f" ({first[0]})" if first and isinstance(first[0], int) else ""
        return f"{self.type.replace('_', ' ').replace('-', ' ')}{year}" + (
            f": {self.DOI}" if self.DOI else ""
        )


class _Message(BaseModel):
    title: list[str] = []
    updated_by: list[_Update] = Field(default=[], alias="updated-by")
    update_to: list[_Update] = Field(default=[], alias="update-to")


class _Record(BaseModel):
    message: _Message


def look_up(
    source: str, doi: Identifier, settings: Settings, allow: Allow = is_public
) -> CitedWork:
    """Return what Crossref knows of a DOI. Raises FetchFailed; the kinds OF_ONE_RECORD say nothing
    of other DOIs.
    """
    clock = Clock(settings.page_timeout)
    url = parsed(f"{ADDRESS}{quote(doi.value, safe='')}")
    reply = send(
        url, settings, allow, clock, headers={"Accept": "application/json"}, limit=MAX_BYTES
    )
    work = CitedWork(source=source, identifier=doi)
    if reply.status == 404:
        return work.model_copy(update={"problem": "Crossref has no work with this DOI."})
    if reply.status != 200:
        kind: FailureKind = (
            "server_error" if reply.status == 429 or reply.status >= 500 else "unreadable"
        )
        raise FetchFailed(kind, f"it answered with HTTP {reply.status}", str(url), reply.status)
    try:
        message = _Record.model_validate_json(reply.content).message
    except ValidationError as error:
        raise FetchFailed(
            "unreadable", "its reply is not the record of a work", str(url), detail=error
        ) from None
    notices = [update.words() for update in message.updated_by]
    notices += [f"it is itself the notice of a {update.words()}" for update in message.update_to]
    title = " ".join(" ".join(message.title[:1]).split())[:MAX_TITLE]
    return work.model_copy(update={"title": title, "notices": tuple(dict.fromkeys(notices))[:10]})
