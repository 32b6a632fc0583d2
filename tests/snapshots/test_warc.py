from __future__ import annotations

import io
import json

from warcio.archiveiterator import ArchiveIterator

from attribution.snapshots.warc import warc
from attribution.storage.http_responses import Response
from attribution.types import Report
from tests.make import page


def test_pages_go_out_as_conversions_with_their_facts() -> None:
    web = page("Ein Text 😀.")
    odd = page("Other", url="https://example.org/ü\r\nX: 1")
    own = page("Mine.", url="document:note.txt").model_copy(update={"kind": "document"})
    report = Report(
        id="0123456789abcdef", created_at="2026-11-01T12:00:00+02:00", question="q", answer="a", settings={},
        versions={}, pages=(web, odd, own),
    )  # fmt: skip
    data = warc(report)
    assert data == warc(report)
    records = []
    for record in ArchiveIterator(io.BytesIO(data)):
        headers = record.rec_headers
        records.append(
            (record.rec_type, headers.get("WARC-Target-URI"), headers.get("WARC-Date"), record.content_stream().read())
        )
    assert [r[0] for r in records] == ["warcinfo", *["conversion", "metadata"] * 3, "metadata"]
    assert records[1][1:] == (web.url, "2026-11-01T10:00:00Z", web.text.encode())
    assert json.loads(records[2][3])["sha256"] == web.sha256
    assert records[3][1] == f"urn:sha256:{odd.sha256}" and records[5][1] == f"urn:sha256:{own.sha256}"
    assert json.loads(records[7][3])["id"] == report.id and not any(r[0] == "response" for r in records)


def test_what_the_server_sent_goes_out_as_a_response_and_the_text_refers_to_it() -> None:
    web, own = page("The Nile flows north."), page("Mine.", url="document:note.txt")
    report = Report(
        id="0123456789abcdef", created_at="2026-11-01T12:00:00+02:00", question="q", answer="a", settings={},
        versions={}, pages=(web, own),
    )  # fmt: skip
    body = "<p>The Nile flows north. ü</p>".encode("cp1252")
    headers = (
        ("Content-Type", "text/html; charset=windows-1252"),
        ("content-encoding", "gzip"),
        ("Transfer-Encoding", "chunked"),
        ("X-Odd", "grün"),
        ("Set-Cookie", "a=1"),
        ("Set-Cookie", "b=2"),
    )
    sent = Response(web.id, "https://example.org/final", "2026-11-01T11:00:00+00:00", 200, headers, body)
    data = warc(report, {web.id: sent})
    assert data == warc(report, {web.id: sent})
    records = {}
    for record in ArchiveIterator(io.BytesIO(data), check_digests="raise"):
        payload = record.content_stream().read()
        records.setdefault(record.rec_type, []).append((record, payload))
    ((response, payload),) = records["response"]
    assert payload == body
    assert response.rec_headers.get("WARC-Target-URI") == "https://example.org/final"
    assert response.rec_headers.get("WARC-Date") == "2026-11-01T11:00:00Z"
    assert response.http_headers.get_statuscode() == "200"
    assert response.http_headers.get("Content-Length") == str(len(body))
    assert response.http_headers.get("X-Archive-Orig-content-encoding") == "gzip"
    assert not response.http_headers.get("Transfer-Encoding")
    assert [v for n, v in response.http_headers.headers if n == "Set-Cookie"] == ["a=1", "b=2"]
    refers = [record.rec_headers.get("WARC-Refers-To") for record, _ in records["conversion"]]
    assert refers == [response.rec_headers.get("WARC-Record-ID"), None]
