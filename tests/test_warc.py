from __future__ import annotations

import io
import json

from warcio.archiveiterator import ArchiveIterator

from attribution.types import Report
from attribution.warc import warc
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
