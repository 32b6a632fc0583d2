"""What servers sent, kept beside the pages made of it, for archives: the last response of each page, packed."""

from __future__ import annotations

import json
import zlib
from collections.abc import Sequence
from dataclasses import dataclass

import sqlalchemy as sa

from attribution.storage.store import Store, create

_tables = sa.MetaData()
_responses = sa.Table(
    "responses",
    _tables,
    sa.Column("page_id", sa.String(16), primary_key=True),
    sa.Column("url", sa.Text, nullable=False),  # the one that answered, after redirects
    sa.Column("received_at", sa.String(32), nullable=False),
    sa.Column("status", sa.Integer, nullable=False),
    sa.Column("headers", sa.Text, nullable=False),
    sa.Column("body", sa.LargeBinary, nullable=False),  # zlib
)


@dataclass(frozen=True)
class Response:
    """One HTTP response; the body without its transfer and content encoding."""

    page_id: str
    url: str
    received_at: str
    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes


def keep(store: Store, response: Response) -> None:
    """Keep it, in place of an earlier one of the same page."""
    create(store.engine, _tables)
    row = {
        "page_id": response.page_id,
        "url": response.url,
        "received_at": response.received_at,
        "status": response.status,
        "headers": json.dumps(response.headers),
        "body": zlib.compress(response.body),
    }
    store.put(_responses, [row], replace=True)


def kept(store: Store, page_ids: Sequence[str]) -> dict[str, Response]:
    """The responses that are known, by page."""
    create(store.engine, _tables)
    found = {}
    with store.engine.connect() as db:
        for start in range(0, len(page_ids), 500):
            query = sa.select(_responses).where(_responses.c.page_id.in_(page_ids[start : start + 500]))
            for row in db.execute(query):
                headers = tuple((name, value) for name, value in json.loads(row.headers))
                body = zlib.decompress(row.body)
                found[row.page_id] = Response(row.page_id, row.url, row.received_at, row.status, headers, body)
    return found
