from __future__ import annotations

from pathlib import Path

from attribution.storage.http_responses import Response, keep, kept
from attribution.storage.store import Store


def response(page_id: str, body: bytes) -> Response:
    headers = (("Content-Type", "text/html"), ("Set-Cookie", "a=1"), ("Set-Cookie", "b=2"))
    return Response(page_id, "https://example.org/", "2026-11-01T12:00:00+00:00", 200, headers, body)


def test_the_last_response_of_a_page_is_kept_byte_for_byte(tmp_path: Path) -> None:
    store = Store.open(f"sqlite:///{tmp_path}/a.sqlite3")
    assert kept(store, ["one"]) == {}
    first, second, other = response("one", b"first"), response("one", bytes(range(256))), response("two", b"")
    for each in (first, other, second):
        keep(store, each)
    assert kept(store, ["one", "two", "three"]) == {"one": second, "two": other}
    assert kept(Store.open(f"sqlite:///{tmp_path}/a.sqlite3"), ["one"]) == {"one": second}
