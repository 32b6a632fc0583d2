"""Read files and pages of every kind into text, by media type or suffix."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from email import message_from_bytes
from pathlib import PurePosixPath

from attribution.errors import AttributionError, FetchFailed
from attribution.fetching import content_type as media
from attribution.fetching import tables
from attribution.fetching.content_type import actual_type, decode
from attribution.fetching.html import read_html
from attribution.fetching.packages import read_docx, read_epub, read_xlsx
from attribution.fetching.page import Extracted, clean, is_placeholder, one_line, valid_date
from attribution.fetching.pdf import MAX_PAGES, OCR, join_pages, read_pdf
from attribution.text.lines import FRONT_MATTER, paragraphs
from attribution.types import Document, Page

MAX_TEXT = 5_000_000  # characters, about one and a half times War and Peace
_LXML_NO_MEMORY = 2  # code of an XMLSyntaxError
_MARKDOWN_COMMENT = re.compile(r"(`[^`\n]*`)|<!--.*?-->", re.DOTALL)
_MARKDOWN_TITLE = re.compile(r"""^title:[ \t]*["']?(\w[^\n]*?)["']?[ \t]*$""", re.MULTILINE)
_MARKDOWN_HEADING = re.compile(r"^#[ \t]+(\S.*)$", re.MULTILINE)
_MARKDOWN_STRUCK = re.compile(r"(?<![~\\])~~(?!\s)[^~\n]+(?<!\s)~~(?!~)")


def read_mhtml(content: bytes, media_type: str, name: str) -> Extracted:
    """Read the first HTML part of a page that a browser saved with its pictures.

    Raises:
        FetchFailed: As for HTML, or no_text.
    """
    for part in message_from_bytes(content).walk():
        body = part.get_payload(decode=True)
        is_html = part.get_content_type() in (media.HTML, media.XHTML)
        if is_html and isinstance(body, bytes):
            return read_html(body, str(part.get("Content-Type", media.HTML)), name)
    message = f"{name} is a saved page without HTML; save the page again as HTML"
    raise FetchFailed("no_text", message, name)


def read_plain(content: bytes, media_type: str, name: str) -> Extracted:
    """Read the text as it is. Form feeds divide it into pages, as in what `pdftotext` writes."""
    text = decode(content, media_type)
    pages = text.split("\f")
    if 1 < len(pages) <= MAX_PAGES:
        return join_pages(paragraphs([clean(page) for page in pages]))
    return Extracted("", text)


def read_markdown(content: bytes, media_type: str, name: str) -> Extracted:
    """Read Markdown without comments and what it strikes out.

    The title is that of its front matter or its first heading.
    """
    text = decode(content, media_type)
    front = FRONT_MATTER.match(text)
    title = front and _MARKDOWN_TITLE.search(front[1]) or _MARKDOWN_HEADING.search(text[:5000])
    commented, end, rest = text.rpartition("-->")  # an open comment would be searched to the end
    plain = _MARKDOWN_COMMENT.sub(r"\1", commented + end) + rest
    return Extracted(
        title[1] if title else "", tables.without_pipes(_MARKDOWN_STRUCK.sub("", plain))
    )


def read_csv(content: bytes, media_type: str, name: str) -> Extracted:
    """Read the rows of a table of comma- or tab-separated values."""
    is_tabbed = name.lower().endswith((".tsv", ".tab"))
    rows = tables.delimited(decode(content, media_type), "\t" if is_tabbed else "")
    return Extracted("", "\n\n".join(rows))


_KEPT_FIELDS = ("title", "text", "published", "site", "breaks", "unread")


def read_again(content: bytes, media_type: str, name: str) -> Extracted:
    """Return what was read from a file before, as `to_read_again` wrote it."""
    fields = json.loads(content)
    return Extracted(**fields | {"breaks": tuple(fields["breaks"])})


def to_read_again(name: str, page: Page) -> Document:
    """Return the document of a run, under its name and with its pages.

    A run keeps what was read, not the file.
    """
    fields = {field: getattr(page, field) for field in _KEPT_FIELDS}
    return Document(name, json.dumps(fields).encode(), media.READ)


READERS: dict[str, Callable[[bytes, str, str], Extracted]] = {
    media.HTML: read_html,
    media.MHTML: read_mhtml,
    media.PDF: read_pdf,
    media.DOCX: read_docx,
    media.EPUB: read_epub,
    media.XLSX: read_xlsx,
    media.CSV: read_csv,
    media.TSV: read_csv,
    media.MARKDOWN: read_markdown,
    media.PLAIN: read_plain,
    media.READ: read_again,
}
_PACKED = (b"%PDF-", b"PK\x03\x04", b"\xd0\xcf\x11\xe0")


def reader_of(
    content: bytes, media_type: str, name: str, document: bool = False
) -> tuple[str, str]:
    """Return the media type by which bytes are read, and the declared one with its charset.

    Raises:
        FetchFailed: wrong_type, or no_text where there are no bytes.
    """
    if document and media_type == media.READ:
        return media.READ, media.READ
    if document:
        media_type = _type_by_name(content, media_type, name)
    if not content:
        raise FetchFailed("no_text", f"{name} is empty", name)
    if document and media_type in media.PACKAGED:
        return media_type, media_type
    return actual_type(media_type, content, name), media_type


def _type_by_name(content: bytes, media_type: str, name: str) -> str:
    by_suffix = media.SUFFIXES.get(PurePosixPath(name).suffix.lower(), media_type)
    is_packed_type = by_suffix in (media.PDF, *media.PACKAGED)
    if media_type == media.PLAIN and is_packed_type and not content.startswith(_PACKED):
        return media_type  # a client of the API sends the text of a file under its name
    return by_suffix


def extract(content: bytes, media_type: str, name: str, document: bool = False) -> Extracted:
    """Return the readable text.

    Args:
        content: The bytes of a file or page.
        media_type: A Content-Type, which may carry a charset.
        name: A file's name or a page's address, for messages.
        document: A user's file, whose suffix overrides the media type.

    Raises:
        FetchFailed: wrong_type, unreadable, encrypted, too_large, paywall, needs_javascript or
            no_text.
    """
    kind, media_type = reader_of(content, media_type, name, document)
    try:
        extracted = READERS[kind](content, media_type, name)
    except (AttributionError, MemoryError):
        raise
    except Exception as error:  # parsers fail in many ways on hostile input
        if getattr(error, "code", 0) == _LXML_NO_MEMORY:
            raise MemoryError from error
        message = f"{name} is damaged or malformed; paste its text as a document instead"
        raise FetchFailed("unreadable", message, name, detail=repr(error)) from error
    text = clean(extracted.text)
    if not extracted.breaks:  # the lines of a PDF are joined already
        (text,) = paragraphs([text])
    if not text:
        is_pdf = kind == media.PDF
        advice = f"it may be scanned: {OCR}" if is_pdf else "paste its text as a document"
        raise FetchFailed("no_text", f"no text was found in {name}; {advice}", name)
    if len(text) > MAX_TEXT:
        message = f"{name} has {len(text):,} characters, at most {MAX_TEXT:,} are read; split it"
        raise FetchFailed("too_large", message, name)
    title = one_line(extracted.title)
    if kind in (media.PDF, *media.PACKAGED) and is_placeholder(title):
        title = ""
    published = valid_date(extracted.published)
    site = one_line(extracted.site)
    return replace(extracted, title=title, text=text, published=published, site=site)
