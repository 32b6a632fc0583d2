"""What servers sent, for archives: the last response of each page, compressed."""

from __future__ import annotations

import json
import zlib
from collections.abc import Sequence
from dataclasses import dataclass

from attribution.storage import tables as t
from attribution.storage.database import Database


@dataclass(frozen=True)
class Response:
    """One HTTP response; the body without its transfer and content encoding."""

    page_id: str
    url: str
    received_at: str
    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes


def save(database: Database, response: Response) -> None:
    """Save a response in place of an earlier one of the same page."""
    packed = {"headers": json.dumps(response.headers), "body": zlib.compress(response.body)}
    database.insert(t.responses, [{**vars(response), **packed}], replace=True)


def load(database: Database, page_ids: Sequence[str]) -> dict[str, Response]:
    """The saved responses by page id; pages without one are left out."""
    return {
        page_id: Response(
            page_id,
            row.url,
            row.received_at,
            row.status,
            tuple((name, value) for name, value in json.loads(row.headers)),
            zlib.decompress(row.body),
        )
        for page_id, row in database.rows(t.responses, page_ids).items()
    }
