from __future__ import annotations

import pytest
import sqlalchemy as sa

from attribution.storage.http_responses import Response, load, save
from attribution.storage.store import Store


def response(page_id: str, body: bytes) -> Response:
    headers = (("Content-Type", "text/html"), ("Set-Cookie", "a=1"), ("Set-Cookie", "b=2"))
    return Response(page_id, "https://example.org/", "2026-11-01T12:00:00+00:00", 200, headers, body)


def test_the_last_response_of_a_page_is_kept_byte_for_byte(store: Store) -> None:
    assert load(store, ["one"]) == {}
    first, second, other = response("one", b"first"), response("one", bytes(range(256))), response("two", b"")
    for each in (first, other, second):
        save(store, each)
    assert load(store, ["one", "two", "three"]) == {"one": second, "two": other}


def test_saving_looks_for_no_table(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sa, "inspect", lambda *_: pytest.fail("the tables were listed"))
    save(store, response("one", b""))
    assert load(store, ["one"])
