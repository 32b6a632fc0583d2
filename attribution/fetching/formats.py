"""Read files and pages of every kind into text, by media type or suffix."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import PurePosixPath
from urllib.parse import urlsplit

from pydantic import TypeAdapter

from attribution.errors import FetchFailed
from attribution.fetching import content_type as media
from attribution.fetching.content_type import actual_type, decode
from attribution.fetching.html_page import read_html
from attribution.fetching.office import read_docx, read_epub, read_odf, read_pptx, read_xlsx
from attribution.fetching.page import PLACEHOLDER, Extracted, clean, one_line, valid_date
from attribution.fetching.pdf import OCR, read_pdf
from attribution.fetching.plain import read_csv, read_mail, read_markdown, read_plain, read_rtf
from attribution.text.lines import paragraphs
from attribution.types import Document, Page

MAX_TEXT = 5_000_000  # characters, about one and a half times War and Peace
_LXML_NO_MEMORY = 2  # code of an XMLSyntaxError


EXTRACTED = TypeAdapter(Extracted)


def to_read_again(name: str, page: Page) -> Document:
    """Return the document of a run, under its name and with its pages.

    A run keeps what was read, not the file.
    """
    extracted = Extracted(
        page.title, page.text, page.published, page.site, page.breaks, unread=page.unread
    )
    return Document(name, EXTRACTED.dump_json(extracted), media.READ)


READERS: dict[str, Callable[[bytes], Extracted]] = {
    media.MAIL: read_mail,
    media.PDF: read_pdf,
    media.DOCX: read_docx,
    media.EPUB: read_epub,
    media.XLSX: read_xlsx,
    media.PPTX: read_pptx,
    media.ODF: read_odf,
    media.RTF: read_rtf,
    media.READ: EXTRACTED.validate_json,  # what `to_read_again` wrote
}
TEXT_READERS: dict[str, Callable[[str], Extracted]] = {
    media.CSV: read_csv,
    media.MARKDOWN: read_markdown,
    media.PLAIN: read_plain,
}
_SIGNATURES = (b"%PDF-", b"PK\x03\x04", b"\xd0\xcf\x11\xe0")  # the last is of older Office files


def reader_of(content: bytes, media_type: str, name: str, document: bool) -> tuple[str, str]:
    """Return the media type by which bytes are read, and the declared one with its charset.

    Raises:
        FetchFailed: wrong_type, or no_text where there are no bytes.
    """
    if not content:
        raise FetchFailed("no_text", f"{name} is empty", name)
    if document and media_type != media.READ:
        media_type = media.SUFFIXES.get(PurePosixPath(name).suffix.lower(), media_type)
        is_packed = media_type in (media.PDF, *media.PACKAGED)
        if is_packed and not content.startswith(_SIGNATURES):
            media_type = ""  # the text of a file, under its name
    if document and media_type in (media.READ, *media.PACKAGED):
        return media_type, media_type
    return actual_type(media_type, content, name), media_type


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
        if kind in READERS:
            extracted = READERS[kind](content)
        else:
            decoded = decode(content, media_type)
            is_html = kind == media.HTML
            extracted = read_html(decoded, name) if is_html else TEXT_READERS[kind](decoded)
    except FetchFailed as error:
        raise FetchFailed(error.kind, f"{name} {error}", name) from error
    except MemoryError:
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
    if PLACEHOLDER.fullmatch(title):
        title = ""
    published = valid_date(extracted.published)
    site = one_line(extracted.site) or urlsplit(name).hostname or ""
    return replace(extracted, title=title, text=text, published=published, site=site)
