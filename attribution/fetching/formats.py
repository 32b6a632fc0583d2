"""Read files and pages of every kind into text, by media type or suffix."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
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


def read_mhtml(content: bytes, media_type: str, name: str) -> Extracted:
    """The page that a browser saved with its pictures: its first part of HTML. FetchFailed as for
    HTML, or no_text.
    """
    from email import message_from_bytes

    for part in message_from_bytes(content).walk():
        body = part.get_payload(decode=True)
        if part.get_content_type() in (media.HTML, "application/xhtml+xml") and isinstance(
            body, bytes
        ):
            return read_html(body, str(part.get("Content-Type", media.HTML)), name)
    raise FetchFailed(
        "no_text", f"{name} is a saved page without HTML; save the page again as HTML", name
    )


# characters, about one and a half times War and Peace: more would fill memory when it is searched
MAX_TEXT = 5_000_000
_NO_MEMORY = 2  # what lxml's XMLSyntaxError has as code where memory ran out
_COMMENT = re.compile(r"(`[^`\n]*`)|<!--.*?-->", re.DOTALL)
_TITLE = re.compile(r"""^title:[ \t]*["']?(\w[^\n]*?)["']?[ \t]*$""", re.MULTILINE)
_HEADING = re.compile(r"^#[ \t]+(\S.*)$", re.MULTILINE)
_STRUCK = re.compile(r"(?<![~\\])~~(?!\s)[^~\n]+(?<!\s)~~(?!~)")


def read_plain(content: bytes, media_type: str, name: str) -> Extracted:
    """The text as it is. Form feeds divide it into pages, as in what `pdftotext` writes."""
    text = decode(content, media_type)
    pages = text.split("\f")
    return (
        join_pages(paragraphs([clean(page) for page in pages]))
        if 1 < len(pages) <= MAX_PAGES
        else Extracted("", text)
    )


def read_markdown(content: bytes, media_type: str, name: str) -> Extracted:
    """The Markdown without comments and what it strikes out, titled by its front matter or its
    first heading.
    """
    text = decode(content, media_type)
    front = FRONT_MATTER.match(text)
    title = front and _TITLE.search(front[1]) or _HEADING.search(text[:5000])
    closed = text.rfind("-->") + 1
    text = _COMMENT.sub(r"\1", text[: closed + 2]) + text[closed + 2 :] if closed else text
    return Extracted(title[1] if title else "", tables.without_pipes(_STRUCK.sub("", text)))


def read_csv(content: bytes, media_type: str, name: str) -> Extracted:
    """The rows of a table of comma- or tab-separated values."""
    separator = "\t" if name.lower().endswith((".tsv", ".tab")) else ""
    return Extracted("", "\n\n".join(tables.delimited(decode(content, media_type), separator)))


def read_again(content: bytes, media_type: str, name: str) -> Extracted:
    """The text and fields that were read from a file before, as `to_read_again` wrote them."""
    fields = json.loads(content)
    title, text, published, site, unread = (
        str(fields[n]) for n in ("title", "text", "published", "site", "unread")
    )
    return Extracted(title, text, published, site, tuple(map(int, fields["breaks"])), unread=unread)


def to_read_again(name: str, page: Page) -> Document:
    """The document of a run, under its name and with its pages: a run keeps what was read, not the
    file.
    """
    fields = page.model_dump(include={"title", "text", "published", "site", "breaks"}) | {
        "unread": page.unread
    }
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
    """The media type by which bytes are read, and the declared one, which may carry a charset.

    FetchFailed: wrong_type, or no_text where there are none.
    """
    if document and media_type == media.READ:
        return media.READ, media.READ
    if document:
        named = media.SUFFIXES.get(PurePosixPath(name).suffix.lower(), media_type)
        if (
            media_type != media.PLAIN
            or named not in (media.PDF, *media.PACKAGED)
            or content.startswith(_PACKED)
        ):
            media_type = named  # else a client of the API sends the text of a file under its name
    if not content:
        raise FetchFailed("no_text", f"{name} is empty", name)
    as_declared = document and media_type in media.PACKAGED
    return media_type if as_declared else actual_type(media_type, content, name), media_type


def extract(content: bytes, media_type: str, name: str, document: bool = False) -> Extracted:
    """The readable text. `media_type` is a Content-Type and may carry a charset; the suffix of a
    `document`'s name
    overrides it.

    FetchFailed: wrong_type, unreadable, encrypted, too_large, paywall, needs_javascript or no_text.
    """
    kind, media_type = reader_of(content, media_type, name, document)
    try:
        extracted = READERS[kind](content, media_type, name)
    except (AttributionError, MemoryError):
        raise
    except Exception as error:  # parsers fail in many ways on hostile input
        if getattr(error, "code", 0) == _NO_MEMORY:
            raise MemoryError from error
        message = f"{name} is damaged or malformed; paste its text as a document instead"
        raise FetchFailed("unreadable", message, name, detail=repr(error)) from error
    text = clean(extracted.text)
    if not extracted.breaks:  # those of a PDF are joined by its widths
        (text,) = paragraphs([text])
    if not text:
        advice = (
            f"it may be scanned: {OCR}" if kind == media.PDF else "paste its text as a document"
        )
        raise FetchFailed("no_text", f"no text was found in {name}; {advice}", name)
    if len(text) > MAX_TEXT:
        message = (
            f"{name} has {len(text):,} characters of text, at most {MAX_TEXT:,} are read; split it"
        )
        raise FetchFailed("too_large", message, name)
    published = valid_date(extracted.published)
    title = one_line(extracted.title)
    if kind in (media.PDF, *media.PACKAGED) and is_placeholder(title):
        title = ""
    return replace(
        extracted, title=title, text=text, published=published, site=one_line(extracted.site)
    )
