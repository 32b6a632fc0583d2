"""A run's pages as a WARC file for archives (ISO 28500), by warcio.

The bytes a server sent are not kept, so these are `conversion` records, the extracted text, and say so: no record
claims to be a response. The report goes along as a `metadata` record.
"""

from __future__ import annotations

import io
import uuid
from datetime import UTC, datetime

from attribution.errors import Unavailable
from attribution.types import Page, Report

_NAMES = uuid.UUID("5f1d2f2e-6f0a-4a35-9e58-0f3d7a4f2c11")  # ids are made of content: the same run, the same file


def warc(report: Report) -> bytes:
    """A gzipped WARC 1.1 file of a report with its pages' texts."""
    try:
        from warcio.warcwriter import WARCWriter
    except ImportError as error:
        raise Unavailable("WARC files need warcio: pip install warcio") from error
    out = io.BytesIO()
    writer = WARCWriter(out, gzip=True, warc_version="WARC/1.1")

    def add(kind: str, uri: str, day: str, media_type: str, content: str, **more: str) -> None:
        headers = {
            "WARC-Record-ID": f"<urn:uuid:{uuid.uuid5(_NAMES, f'{report.id} {kind} {uri} {content}')}>",
            "WARC-Date": day,
            "Content-Type": media_type,
            **{name.replace("_", "-"): value for name, value in more.items() if value},
        }
        body = content.encode("utf-8")
        record = writer.create_warc_record(
            uri, kind, payload=io.BytesIO(body), length=len(body), warc_headers_dict=headers
        )
        writer.write_record(record)

    about = (
        "software: attribution-explorer\r\nformat: WARC File Format 1.1\r\ncontent: extracted text, no responses\r\n"
    )
    add("warcinfo", "", _utc(report.created_at), "application/warc-fields", about)
    for page in report.pages:
        add("conversion", _uri(page), _utc(page.fetched_at), "text/plain; charset=utf-8", page.text)
        facts = page.model_dump_json(exclude={"text"})
        add("metadata", _uri(page), _utc(page.fetched_at), "application/json", facts)
    add("metadata", f"urn:attribution-run:{report.id}", _utc(report.created_at), "application/json", report.to_json())
    return out.getvalue()


def _uri(page: Page) -> str:
    """The address; of a page that has none on the web, its content's name."""
    plain = page.url.isascii() and page.url.isprintable() and " " not in page.url
    return page.url if page.kind == "web" and plain else f"urn:sha256:{page.sha256}"


def _utc(moment: str) -> str:
    """An ISO time as WARC wants it; the start of 1970 where it is none."""
    try:
        given = datetime.fromisoformat(moment)
    except ValueError:
        given = datetime.fromtimestamp(0, UTC)
    return given.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
