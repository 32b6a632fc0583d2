"""The pages of a run as a WARC file (ISO 28500), written by warcio.

A page that this machine fetched is a `response` record; its extracted text, in which the evidence's offsets count, is a
`conversion` of that; its metadata, and the report, are `metadata` records.
"""

from __future__ import annotations

import io
import uuid
from collections.abc import Mapping
from datetime import UTC, datetime
from http.client import responses as phrases
from typing import TYPE_CHECKING, Any

from attribution.errors import Unavailable
from attribution.storage.http_responses import Response
from attribution.types import Page, Report

if TYPE_CHECKING:
    from warcio.statusandheaders import StatusAndHeaders

_NAMES = uuid.UUID("5f1d2f2e-6f0a-4a35-9e58-0f3d7a4f2c11")  # record ids are hashes: the same run gives the same file
_ABOUT = "software: attribution-explorer\r\nformat: WARC File Format 1.1\r\n"
# Bodies are stored uncompressed, so these no longer apply; archives mark them with the prefix X-Archive-Orig-.
_ORIGINAL = {"content-encoding", "content-length", "transfer-encoding"}


def warc(report: Report, responses: Mapping[str, Response] | None = None) -> bytes:
    """A gzipped WARC 1.1 file of a report with its pages' texts; `responses` by page id."""
    try:
        from warcio.warcwriter import WARCWriter
    except ImportError as error:
        raise Unavailable("WARC files need warcio: pip install warcio") from error
    out = io.BytesIO()
    writer = WARCWriter(out, gzip=True, warc_version="WARC/1.1")

    def add(kind: str, uri: str, day: str, media_type: str, body: bytes, http: Any = None, **more: str) -> str:
        name = f"<urn:uuid:{uuid.uuid5(_NAMES, f'{report.id} {kind} {uri} {len(body)} ' + body.decode('latin-1'))}>"
        headers = {"WARC-Record-ID": name, "WARC-Date": _utc(day), "Content-Type": media_type, **more}
        record = writer.create_warc_record(
            uri, kind, payload=io.BytesIO(body), length=len(body), warc_headers_dict=headers, http_headers=http
        )
        writer.write_record(record)
        return name

    add("warcinfo", "", report.created_at, "application/warc-fields", _ABOUT.encode())
    for page in report.pages:
        source = {}
        if response := (responses or {}).get(page.id):
            media_type, sent = "application/http; msgtype=response", _http(response)
            name = add("response", response.url, response.received_at, media_type, response.body, sent)
            source = {"WARC-Refers-To": name}
        add("conversion", _uri(page), page.fetched_at, "text/plain; charset=utf-8", page.text.encode(), **source)
        facts = page.model_dump_json(exclude={"text"}).encode()
        add("metadata", _uri(page), page.fetched_at, "application/json", facts)
    run = f"urn:attribution-run:{report.id}"
    add("metadata", run, report.created_at, "application/json", report.to_json().encode())
    return out.getvalue()


def _http(response: Response) -> StatusAndHeaders:
    """The status line and headers as received, with those about the transfer renamed."""
    from warcio.statusandheaders import StatusAndHeaders

    headers = [
        (f"X-Archive-Orig-{name}" if name.lower() in _ORIGINAL else name, value) for name, value in response.headers
    ]
    headers.append(("Content-Length", str(len(response.body))))
    return StatusAndHeaders(
        f"{response.status} {phrases.get(response.status, '')}".strip(), headers, protocol="HTTP/1.1"
    )


def _uri(page: Page) -> str:
    """The URL, or for a page without one on the web, a URN of its hash."""
    plain = page.url.isascii() and page.url.isprintable() and " " not in page.url
    return page.url if page.kind == "web" and plain else f"urn:sha256:{page.sha256}"


def _utc(moment: str) -> str:
    """An ISO time as WARC writes it; for anything else, the start of 1970."""
    try:
        time = datetime.fromisoformat(moment)
    except ValueError:
        time = datetime.fromtimestamp(0, UTC)
    return time.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
