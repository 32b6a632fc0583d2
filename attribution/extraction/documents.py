"""Bytes → text: the readers by media type. Web pages say what they are; documents are what their suffix says."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import PurePosixPath

from attribution.errors import AttributionError, FetchFailed
from attribution.extraction.content_type import DOCX, EPUB, HTML, MARKDOWN, PDF, PLAIN, SUFFIXES, actual_type, decode
from attribution.extraction.docx import read_docx
from attribution.extraction.epub import read_epub
from attribution.extraction.html import read_html
from attribution.extraction.page import Extracted, clean, is_placeholder, one_line, valid_date
from attribution.extraction.pdf import read_pdf

MAX_TEXT = 5_000_000  # characters, about one and a half times War and Peace: more would fill memory when it is searched
_NO_MEMORY = 2  # what lxml's XMLSyntaxError has as code where memory ran out
_HEADING = re.compile(r"^#[ \t]+(\S.*)$", re.MULTILINE)


def read_plain(content: bytes, media_type: str, name: str) -> Extracted:
    return Extracted("", decode(content, media_type))


def read_markdown(content: bytes, media_type: str, name: str) -> Extracted:
    """The Markdown as it is, under its first heading as title."""
    text = decode(content, media_type)
    heading = _HEADING.search(text[:5000])
    return Extracted(heading[1] if heading else "", text)


READERS: dict[str, Callable[[bytes, str, str], Extracted]] = {
    HTML: read_html,
    PDF: read_pdf,
    DOCX: read_docx,
    EPUB: read_epub,
    MARKDOWN: read_markdown,
    PLAIN: read_plain,
}


def reader_of(content: bytes, media_type: str, name: str, document: bool = False) -> tuple[str, str]:
    """The media type by which bytes are read, and the declared one, which may carry a charset.

    FetchFailed: wrong_type, or no_text where there are none.
    """
    if document:
        media_type = SUFFIXES.get(PurePosixPath(name).suffix.lower(), media_type)
    if not content:
        raise FetchFailed("no_text", f"{name} is empty", name)
    packaged = document and media_type in (DOCX, EPUB)
    return media_type if packaged else actual_type(media_type, content, name), media_type


def extract(content: bytes, media_type: str, name: str, document: bool = False) -> Extracted:
    """The readable text. `media_type` is a Content-Type and may carry a charset; the suffix of a `document`'s name
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
    if not text:
        scan = "; scanned PDFs look like this" if kind == PDF else ""
        raise FetchFailed("no_text", f"no text was found in {name}{scan}. Paste its text as a document", name)
    if len(text) > MAX_TEXT:
        message = f"{name} has {len(text):,} characters of text, at most {MAX_TEXT:,} are read; split it"
        raise FetchFailed("too_large", message, name)
    published = valid_date(extracted.published)
    title = one_line(extracted.title)
    if kind in (PDF, DOCX, EPUB) and is_placeholder(title):
        title = ""
    return Extracted(title, text, published, one_line(extracted.site), extracted.breaks)
