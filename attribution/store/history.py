"""List, search, describe and delete the runs of one owner; those of others are never touched."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import sqlalchemy as sa

from attribution.errors import BadInput
from attribution.settings import LIMITS
from attribution.store import database as t
from attribution.store.database import Database, Row
from attribution.store.rights import Rights
from attribution.store.runs import searchable
from attribution.text.passages import beginning

State = Literal["all", "to_review", "reviewed", "finished", "unfinished"]
MAX_TITLE = 200  # characters
MAX_TAGS = 400  # characters of all tags of a run
MAX_NOTE = 10_000  # characters
MAX_WORDS = 12  # of a search that count
MAX_SEARCH = LIMITS.line  # characters of a search that count
BEGINNING = 160  # characters of an answer that serve as a title

RUN = t.runs.c


@dataclass(frozen=True)
class HistoryQuery:
    """A query for an owner's runs; every condition given must hold."""

    words: str = ""  # each must occur in the question, answer, claims, title, tags or note
    tag: str = ""
    state: State = "all"
    oldest_first: bool = False
    limit: int = 50


class HistoryRow(NamedTuple):
    """One run in the list.

    Attributes:
        title: As given; see `name`.
        beginning: Of the answer.
        version: The one that is shown. 0: the run isn't finished; more than 1: it was edited.
        claims: Their number.
        verdicts: The number of claims by badge; the analyst's assessment replaces the model's.
        checked: The number of claims that were compared with the sources.
        reviewed: The number of claims that the analyst has assessed.
        sources: As in the settings; documents are named, as document:NAME.
        queued: It waits in the queue or was begun there.
        problem: Why it could not be finished in the queue.
    """

    id: str
    created_at: str
    title: str
    question: str
    beginning: str
    tags: tuple[str, ...]
    note: str
    version: int
    claims: int
    verdicts: dict[str, int]
    checked: int
    reviewed: int
    sources: list[str]
    queued: bool
    problem: str

    @property
    def finished(self) -> bool:
        return self.version > 0

    @property
    def name(self) -> str:
        """The title, or the question, or the beginning of the answer, on one line."""
        name = self.title or self.question or beginning(self.beginning)
        return " ".join(name.split())


COLUMNS = [column for column in RUN if column.name in (*HistoryRow._fields, "listed")]


class Description(NamedTuple):
    """Title, tags and note that a run's owner has written."""

    title: str = ""
    tags: tuple[str, ...] = ()
    note: str = ""


class HistoryPage(NamedTuple):
    rows: tuple[HistoryRow, ...]  # the first ones
    total: int


def clean_tags(tags: Sequence[str]) -> list[str]:
    """Normalise tags: lower case, each once, sorted; a comma separates two.

    Raises:
        BadInput: They are too long together.
    """
    cleaned = sorted({searchable(tag) for tag in ",".join(tags).split(",")} - {""})
    length = len("".join(cleaned))
    if length > MAX_TAGS:
        raise BadInput(f"{length:,} characters of tags; at most {MAX_TAGS} are saved: shorten them")
    return cleaned


class History:
    """Queries and changes of the runs of the token that the store was opened with."""

    def __init__(self, database: Database, rights: Rights) -> None:
        self._database = database
        self._rights = rights
        self._is_own = RUN.owner == rights.owner

    def find(self, query: HistoryQuery) -> HistoryPage:
        """Return the owner's runs that meet the conditions, newest first, and how many do."""
        conditions = [self._is_own, *_conditions(query)]
        count = sa.select(sa.func.count()).select_from(t.runs).where(*conditions)
        beginning = sa.func.substr(RUN.answer, 1, BEGINNING).label("beginning")
        rows = sa.select(*COLUMNS, beginning).where(*conditions)
        order = RUN.created_at if query.oldest_first else RUN.created_at.desc()
        rows = rows.order_by(order, RUN.id).limit(query.limit)
        listed = tuple(_row(row) for row in self._database.all(rows))
        return HistoryPage(listed, self._database.scalar(count) or 0)

    def totals(self) -> dict[str, int]:
        """Count the owner's runs by state, and their `checked_claims` and `reviewed_claims`."""
        counts = [sa.func.count().filter(*_STATES[state]).label(state) for state in _STATES]
        for column in (RUN.checked, RUN.reviewed):
            counts.append(sa.func.sum(column).label(f"{column.name}_claims"))
        query = sa.select(*counts).select_from(t.runs).where(self._is_own)
        (row,) = self._database.all(query)
        return {name: number or 0 for name, number in row._asdict().items()}

    def next_to_review(self, besides: str = "") -> str | None:
        """Return the newest run with a claim that the owner has not assessed.

        Args:
            besides: The id of a run to pass over.

        Returns:
            Its id; None if there is no such run.
        """
        rows = self.find(HistoryQuery(state="to_review", limit=2)).rows
        return next((row.id for row in rows if row.id != besides), None)

    def tags(self) -> list[str]:
        """Return all tags of the owner's runs, sorted."""
        tags: set[str] = set()
        tagged = sa.select(RUN.tags).where(self._is_own)
        for row in self._database.all(tagged.distinct()):
            tags.update(json.loads(row.tags))
        return sorted(tags)

    def describe(self, run_id: str, title: str, tags: Sequence[str], note: str) -> None:
        """Set title, tags and note.

        Args:
            run_id: A run of the owner.
            title: On one line; the first `MAX_TITLE` characters are kept.
            tags: In any order, also repeated.
            note: The first `MAX_NOTE` characters are kept.

        Raises:
            BadInput: The tags are too long together.
            NotYours: The run is another owner's.
        """
        title = " ".join(title.split())[:MAX_TITLE]
        note = note.strip()[:MAX_NOTE]
        cleaned = clean_tags(tags)
        self._rights.change(
            run_id,
            title=title,
            tags=json.dumps(cleaned, ensure_ascii=False),
            note=note,
            search_text=searchable(title, *cleaned, note),
        )

    def description(self, run_id: str) -> Description:
        """Return the values set by `describe`; empty for another owner's run."""
        query = sa.select(RUN.title, RUN.tags, RUN.note).where(RUN.id == run_id, self._is_own)
        for title, tags, note in self._database.all(query):
            return Description(title, tuple(json.loads(tags)), note)
        return Description()


_STATES: dict[State, tuple[sa.ColumnElement[bool], ...]] = {
    "all": (),
    "to_review": (RUN.version > 0, RUN.reviewed < RUN.checked),
    "reviewed": (RUN.version > 0, RUN.checked > 0, RUN.reviewed >= RUN.checked),
    "finished": (RUN.version > 0,),
    "unfinished": (RUN.version == 0,),
}


def _conditions(query: HistoryQuery) -> list[sa.ColumnElement[bool]]:
    words = searchable(query.words[:MAX_SEARCH]).split()[:MAX_WORDS]
    conditions = list(_STATES[query.state])
    texts = RUN.claims_text.concat(" ").concat(RUN.search_text)
    conditions += [texts.contains(word, autoescape=True) for word in words]
    if query.tag:  # JSON of strings: quotation marks delimit a whole name
        quoted = json.dumps(query.tag, ensure_ascii=False)
        conditions.append(RUN.tags.contains(quoted, autoescape=True))
    return conditions


def _row(row: Row) -> HistoryRow:
    values = row._asdict()
    values["tags"] = tuple(json.loads(row.tags))
    values["queued"] = row.queued > 0
    values |= json.loads(values.pop("listed"))
    return HistoryRow(**values)
