"""List, search, describe, delete and restore the runs of one owner. Other owners' runs are never
touched.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any, Literal, NamedTuple

import sqlalchemy as sa

from attribution.errors import BadInput
from attribution.settings import LIMITS
from attribution.store import schema as t
from attribution.store.database import BATCH, Database, now
from attribution.store.rights import Rights
from attribution.store.runs import Runs, searchable

State = Literal["all", "finished", "unfinished", "deleted"]  # all: except the deleted ones
Order = Literal["newest", "oldest", "title"]
KEPT_HOURS = 24  # hours in which a deleted run can be restored
MAX_TITLE, MAX_TAG, MAX_TAGS, MAX_NOTE = 200, 40, 20, 10_000  # characters, and tags of one run
MAX_WORDS, MAX_SEARCH = 12, LIMITS.line  # words of a search, and its characters
BEGINNING = 160  # characters of an answer that serve as a title


RUN, SUMMARY = t.runs.c, t.run_summaries.c
COLUMNS = ("id", "created_at", "title", "question", "note", "private", "deleted_at", "version")


@dataclass(frozen=True)
class HistoryQuery:
    """A query for an owner's runs; every condition given must hold."""

    words: str = ""  # each must occur in the question, answer, claims, title, tags or note
    tag: str = ""
    verdict: str = ""  # a badge; at least one claim has it
    source: str = ""  # one of source.KINDS
    since: date | None = None  # UTC, inclusive
    until: date | None = None
    state: State = "all"
    order: Order = "newest"
    offset: int = 0
    limit: int = 50


class HistoryRow(NamedTuple):
    """One run in the list."""

    id: str
    created_at: str
    title: str  # as given; see `name`
    question: str
    beginning: str  # of the answer
    tags: tuple[str, ...]
    note: str
    private: bool
    finished: bool
    deleted_at: str  # empty: not deleted
    version: int  # the one that is shown; more than 1: the run was edited
    claims: int
    verdicts: dict[str, int]  # claims by badge; those without one are left out
    sources: tuple[str, ...]

    @property
    def name(self) -> str:
        """The title, or the question, or the beginning of the answer, on one line."""
        return " ".join((self.title or self.question or self.beginning).split())


class Description(NamedTuple):
    """Title, tags and note that a run's owner has written."""

    title: str = ""
    tags: tuple[str, ...] = ()
    note: str = ""


class HistoryPage(NamedTuple):
    rows: tuple[HistoryRow, ...]
    total: int  # rows on all pages


def clean_tags(tags: Sequence[str]) -> list[str]:
    """Normalise the tags for storage: lower case, each once, sorted. Raises BadInput for too many
    or too long ones.
    """
    cleaned = sorted({searchable(tag) for tag in tags} - {""})
    if len(cleaned) > MAX_TAGS:
        raise BadInput(f"{len(cleaned)} tags; a run can have {MAX_TAGS}: remove some")
    for tag in cleaned:
        if len(tag) > MAX_TAG:
            raise BadInput(
                f"the tag “{tag[:MAX_TAG]}…” has {len(tag)} characters; "
                f"a tag can have {MAX_TAG}: shorten it"
            )
    return cleaned


def described(title: str, tags: Sequence[str], note: str) -> dict[str, str]:
    """Return the descriptive columns of a run. Raises BadInput for a text that is too long."""
    title, note = " ".join(title.split()), note.strip()
    for name, text, limit in (("title", title, MAX_TITLE), ("note", note, MAX_NOTE)):
        if len(text) > limit:
            raise BadInput(
                f"the {name} has {len(text):,} characters; it can have {limit:,}: shorten it"
            )
    cleaned = clean_tags(tags)
    return {
        "title": title,
        "tags": json.dumps(cleaned, ensure_ascii=False),
        "note": note,
        "search_text": searchable(title, *cleaned, note),
    }


class History:
    """Queries and changes of the runs of the token that the store was opened with."""

    def __init__(self, database: Database, rights: Rights, runs: Runs) -> None:
        self._database, self._rights, self._runs = database, rights, runs

    def find(self, query: HistoryQuery) -> HistoryPage:
        """Return the owner's runs that meet the conditions, and their number on all pages. Raises
        BadInput for more than MAX_WORDS words.
        """
        is_shown = sa.and_(SUMMARY.run_id == RUN.id, SUMMARY.number == RUN.version)
        table = t.runs.outerjoin(t.run_summaries, is_shown)
        conditions = [RUN.owner == self._rights.owner, *_conditions(query)]
        count = sa.select(sa.func.count()).select_from(table).where(*conditions)
        columns = [
            *(t.runs.c[name] for name in (*COLUMNS, "tags")),
            sa.func.substr(RUN.answer, 1, BEGINNING).label("beginning"),
            SUMMARY.claims,
            SUMMARY.verdicts,
            SUMMARY.sources,
        ]
        rows = sa.select(*columns).select_from(table).where(*conditions)
        rows = rows.order_by(_order(query), RUN.id).limit(query.limit).offset(query.offset)
        found = tuple(_row(row) for row in self._database.all(rows))
        return HistoryPage(found, self._database.scalar(count) or 0)

    def tags(self) -> list[str]:
        """Return all tags of the owner's runs, sorted."""
        is_tagged = (RUN.owner == self._rights.owner, RUN.tags != "[]", RUN.deleted_at == "")
        tags: set[str] = set()
        for row in self._database.all(sa.select(RUN.tags).where(*is_tagged).distinct()):
            tags.update(json.loads(row.tags))
        return sorted(tags)

    def describe(self, run_id: str, title: str, tags: Sequence[str], note: str) -> None:
        """Set title, tags and note. Raises BadInput for a text that is too long, and NotYours for
        another owner's run.
        """
        values = described(title, tags, note)
        with self._database.transaction() as db:
            self._rights.changeable(db, run_id)
            db.execute(t.runs.update().where(RUN.id == run_id).values(**values))

    def description(self, run_id: str) -> Description:
        """Return the values set by `describe`; empty for another owner's run."""
        row = self._database.rows(t.runs, [run_id]).get(run_id)
        if row is None or row.owner != self._rights.owner:
            return Description()
        return Description(row.title, tuple(json.loads(row.tags)), row.note)

    def put_aside(self, run_ids: Sequence[str]) -> None:
        """Delete the owner's runs among these; they can be restored for KEPT_HOURS, but not opened."""
        self._set_deleted(run_ids, now())

    def restore(self, run_ids: Sequence[str]) -> None:
        """Restore the owner's deleted runs among these."""
        self._set_deleted(run_ids, "")

    def _set_deleted(self, run_ids: Sequence[str], at: str) -> None:
        own = t.runs.update().where(RUN.owner == self._rights.owner).values(deleted_at=at)
        with self._database.transaction() as db:
            for start in range(0, len(run_ids), BATCH):
                db.execute(own.where(RUN.id.in_(run_ids[start : start + BATCH])))

    def purge(self) -> None:
        """Remove all owners' runs that were deleted more than KEPT_HOURS ago, with the data that
        only they use.
        """
        limit = (datetime.now(UTC) - timedelta(hours=KEPT_HOURS)).isoformat(timespec="seconds")
        query = sa.select(RUN.id).where(RUN.deleted_at != "", RUN.deleted_at < limit)
        for row in self._database.all(query):
            with self._database.transaction() as db:
                self._runs.remove(db, row.id)


def _conditions(query: HistoryQuery) -> list[sa.ColumnElement[bool]]:
    words = searchable(query.words[: MAX_SEARCH + 1]).split()
    if len(words) > MAX_WORDS or len(query.words) > MAX_SEARCH:
        raise BadInput(
            f"a search can have {MAX_WORDS} words and {MAX_SEARCH} characters: shorten it"
        )
    is_deleted = RUN.deleted_at != ""
    conditions = [is_deleted if query.state == "deleted" else sa.not_(is_deleted)]
    if query.state == "finished":
        conditions.append(RUN.version > 0)
    if query.state == "unfinished":
        conditions.append(RUN.version == 0)
    texts = sa.func.coalesce(SUMMARY.search_text, "").concat(" ").concat(RUN.search_text)
    conditions += [texts.contains(word, autoescape=True) for word in words]
    named = (
        (RUN.tags, query.tag),
        (SUMMARY.verdicts, query.verdict),
        (SUMMARY.sources, query.source),
    )
    for column, name in named:
        if name:  # JSON of strings: quotation marks delimit a whole name
            quoted = json.dumps(name, ensure_ascii=False)
            conditions.append(column.contains(quoted, autoescape=True))
    if query.since:
        conditions.append(RUN.created_at >= query.since.isoformat())
    if query.until:
        conditions.append(RUN.created_at < (query.until + timedelta(days=1)).isoformat())
    return conditions


def _order(query: HistoryQuery) -> sa.ColumnElement[str]:
    if query.order == "title":
        title, question = sa.func.nullif(RUN.title, ""), sa.func.nullif(RUN.question, "")
        return sa.func.lower(sa.func.coalesce(title, question, RUN.answer))
    return RUN.created_at if query.order == "oldest" else RUN.created_at.desc()


def _row(row: sa.Row[*tuple[Any, ...]]) -> HistoryRow:
    return HistoryRow(
        **{name: getattr(row, name) for name in COLUMNS},
        beginning=row.beginning,
        tags=tuple(json.loads(row.tags)),
        finished=row.version > 0,
        claims=row.claims or 0,
        verdicts=json.loads(row.verdicts or "{}"),
        sources=tuple(json.loads(row.sources or "[]")),
    )
