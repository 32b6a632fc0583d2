"""List, search, describe, delete and restore the runs of one owner. Other owners' runs are never
touched.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Literal, NamedTuple

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
    cleaned = sorted({tag for tag in map(searchable, tags) if tag})
    if len(cleaned) > MAX_TAGS:
        raise BadInput(f"{len(cleaned)} tags; a run can have {MAX_TAGS}: remove some")
    if long := next((tag for tag in cleaned if len(tag) > MAX_TAG), None):
        raise BadInput(
            f"the tag “{long[:MAX_TAG]}…” has {len(long)} characters; a tag can have {MAX_TAG}: shorten it"
        )
    return cleaned


def described(title: str, tags: Sequence[str], note: str) -> dict[str, str]:
    """Return the descriptive columns of a run. Raises BadInput for a text that is too long."""
    title, cleaned, note = " ".join(title.split()), clean_tags(tags), note.strip()
    for name, text, limit in (("title", title, MAX_TITLE), ("note", note, MAX_NOTE)):
        if len(text) > limit:
            raise BadInput(
                f"the {name} has {len(text):,} characters; it can have {limit:,}: shorten it"
            )
    body = json.dumps(cleaned, ensure_ascii=False)
    return {
        "title": title,
        "tags": body,
        "note": note,
        "search_text": searchable(title, *cleaned, note),
    }


class History:
    """Queries and changes of the runs of the token that the store was opened with."""

    def __init__(self, database: Database, rights: Rights, runs: Runs) -> None:
        self._database, self._rights, self._runs = database, rights, runs

    def find(self, query: HistoryQuery) -> HistoryPage:
        """Return the owner's runs that meet the conditions, and their number on all pages.

        Raises BadInput for more than MAX_WORDS words.
        """
        r, s = t.runs.c, t.run_summaries.c
        joined = t.runs.outerjoin(t.run_summaries, sa.and_(s.run_id == r.id, s.number == r.version))
        where = [r.owner == self._rights.owner, *_conditions(query)]
        title = sa.func.lower(
            sa.func.coalesce(sa.func.nullif(r.title, ""), sa.func.nullif(r.question, ""), r.answer)
        )
        order = {"newest": (r.created_at.desc(),), "oldest": (r.created_at,), "title": (title,)}[
            query.order
        ]
        beginning = sa.func.substr(r.answer, 1, BEGINNING).label("beginning")
        rows = (
            sa.select(
                r.id,
                r.created_at,
                r.title,
                r.question,
                beginning,
                r.tags,
                r.note,
                r.private,
                r.version,
                r.deleted_at,
                s.claims,
                s.verdicts,
                s.sources,
            )
            .select_from(joined)
            .where(*where)
        )
        with self._database.engine.connect() as db:
            total = db.execute(
                sa.select(sa.func.count()).select_from(joined).where(*where)
            ).scalar_one()
            found = db.execute(
                rows.order_by(*order, r.id).limit(query.limit).offset(query.offset)
            ).all()
        return HistoryPage(tuple(map(_row, found)), total)

    def tags(self) -> list[str]:
        """Return all tags of the owner's runs, sorted."""
        r = t.runs.c
        own = (r.owner == self._rights.owner, r.tags != "[]", r.deleted_at == "")
        with self._database.engine.connect() as db:
            lists = db.execute(sa.select(r.tags).where(*own).distinct()).scalars().all()
        return sorted({tag for tags in lists for tag in json.loads(tags)})

    def describe(self, run_id: str, title: str, tags: Sequence[str], note: str) -> None:
        """Set title, tags and note. Raises BadInput for a text that is too long, and for another
        owner's run.
        """
        values = described(title, tags, note)
        with self._database.transaction() as db:
            self._rights.changeable(db, run_id)
            db.execute(t.runs.update().where(t.runs.c.id == run_id).values(**values))

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
        with self._database.engine.begin() as db:
            for start in range(0, len(run_ids), BATCH):
                some = t.runs.c.id.in_(run_ids[start : start + BATCH])
                db.execute(
                    t.runs.update()
                    .where(some, t.runs.c.owner == self._rights.owner)
                    .values(deleted_at=at)
                )

    def purge(self) -> None:
        """Remove all owners' runs that were deleted more than KEPT_HOURS ago, with the data that
        only they use.
        """
        before = (datetime.now(UTC) - timedelta(hours=KEPT_HOURS)).isoformat(timespec="seconds")
        r = t.runs.c
        with self._database.engine.connect() as db:
            ids = (
                db.execute(sa.select(r.id).where(r.deleted_at != "", r.deleted_at < before))
                .scalars()
                .all()
            )
        for run_id in ids:
            with self._database.transaction() as db:
                self._runs.remove(db, run_id)


def _conditions(query: HistoryQuery) -> list[sa.ColumnElement[bool]]:
    r, s = t.runs.c, t.run_summaries.c
    conditions = [r.deleted_at != "" if query.state == "deleted" else r.deleted_at == ""]
    if query.state in ("finished", "unfinished"):
        conditions.append(r.version > 0 if query.state == "finished" else r.version == 0)
    words = searchable(query.words[: MAX_SEARCH + 1]).split()
    if len(words) > MAX_WORDS or len(query.words) > MAX_SEARCH:
        raise BadInput(
            f"a search can have {MAX_WORDS} words and {MAX_SEARCH} characters: shorten it"
        )
    texts = sa.func.coalesce(s.search_text, "").concat(" ").concat(r.search_text)
    conditions += [texts.contains(word, autoescape=True) for word in words]
    for column, wanted in (
        (r.tags, query.tag),
        (s.verdicts, query.verdict),
        (s.sources, query.source),
    ):
        if wanted:  # JSON of strings: quotation marks delimit a whole tag
            conditions.append(
                column.contains(json.dumps(wanted, ensure_ascii=False), autoescape=True)
            )
    if query.since:
        conditions.append(r.created_at >= query.since.isoformat())
    if query.until:
        conditions.append(r.created_at < (query.until + timedelta(days=1)).isoformat())
    return conditions


def _row(row: sa.Row[*tuple[object, ...]]) -> HistoryRow:
    lists = {"tags": tuple(json.loads(row.tags)), "sources": tuple(json.loads(row.sources or "[]"))}
    counts = {"claims": row.claims or 0, "verdicts": json.loads(row.verdicts or "{}")}
    return HistoryRow(**{**row._asdict(), **lists, **counts}, finished=row.version > 0)
