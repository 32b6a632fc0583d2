"""Bytes → readable text: HTML by trafilatura, PDF by pypdf, plain text and Markdown as they are."""

from __future__ import annotations

import hashlib
import io
import logging
import re
import time
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Literal
from urllib.parse import urlsplit

from attribution.errors import AttributionError, FetchFailed, Unavailable
from attribution.extraction.content_type import HTML, MARKDOWN, PDF, actual_type, decode
from attribution.extraction.paywalls import why_so_little
from attribution.types import Page, content_id

MAX_PDF_PAGES = 500
PDF_SECONDS = 30.0
MAX_ELEMENTS = 200_000
MAX_SCRIPT = 100_000  # characters of JSON metadata kept; trafilatura searches it with slow patterns
FAST_ELEMENTS = 10_000  # from here on without trafilatura's second opinion, whose time grows with the square
_LINE_ENDS = re.compile(r"\r\n?|[\f\v\x85\u2028\u2029]")
_UNWANTED = re.compile(r"[\x00-\x08\x0e-\x1f\x7f-\x9f\ud800-\udfff]")
_BLANK_LINES = re.compile(r"\n(?:[ \t]*\n){2,}")
for _name in ("trafilatura", "htmldate", "pypdf", "charset_normalizer"):
    logging.getLogger(_name).addHandler(logging.NullHandler())  # a hostile page must not fill the terminal


@dataclass(frozen=True)
class Extracted:
    """The text of a page, with what is known about it; empty where unknown."""

    title: str
    text: str
    published: str = ""  # ISO date
    site: str = ""
    breaks: tuple[int, ...] = ()  # where each page of a PDF begins in the text


def extract(content: bytes, media_type: str, url_or_name: str) -> Extracted:
    """The readable text. `media_type` is a Content-Type and may carry a charset.

    Raises FetchFailed: wrong_type, unreadable, encrypted, too_large, paywall, needs_javascript or no_text.
    """
    kind = actual_type(media_type, content, url_or_name)
    breaks: tuple[int, ...] = ()
    try:
        if kind == PDF:
            (title, text, published, site), breaks = _pdf(content, url_or_name)
        elif kind == HTML:
            title, text, published, site = _html(decode(content, media_type), url_or_name)
        else:
            text = decode(content, media_type)
            heading = re.search(r"^#[ \t]+(\S.*)$", text[:5000], re.MULTILINE) if kind == MARKDOWN else None
            title, published, site = heading[1] if heading else "", "", ""
    except (AttributionError, MemoryError):
        raise
    except Exception as error:  # parsers fail in many ways on hostile input, and none may end a run
        raise FetchFailed(
            "unreadable",
            f"{url_or_name} is damaged or built in a way that cannot be read ({type(error).__name__}); "
            "paste its text as a document instead",
            url_or_name,
        ) from error
    text = clean(text)
    if not text:
        likely = "; scanned PDFs look like this" if kind == PDF else ""
        raise FetchFailed(
            "no_text", f"no text was found in {url_or_name}{likely}. Paste the text as a document", url_or_name
        )
    return Extracted(one_line(title), text, valid_date(published), one_line(site), breaks)


def make_page(url: str, kind: Literal["web", "library", "document"], extracted: Extracted, reference: str = "") -> Page:
    """The page with its content hash, its id and the time of now."""
    sha256 = hashlib.sha256(extracted.text.encode("utf-8")).hexdigest()
    return Page(
        id=content_id(url, sha256),
        url=url,
        title=extracted.title or url,
        site=extracted.site,
        kind=kind,
        fetched_at=datetime.now(UTC).isoformat(timespec="seconds"),
        sha256=sha256,
        published=extracted.published,
        text=extracted.text,
        reference=reference,
        breaks=extracted.breaks,
    )


def clean(text: str) -> str:
    """One kind of line end, no control characters, at most one blank line in a row."""
    return _BLANK_LINES.sub("\n\n", _UNWANTED.sub("", _LINE_ENDS.sub("\n", text))).strip()


def one_line(text: str, limit: int = 300) -> str:
    """A title or name on one line."""
    return " ".join(clean(text).split())[:limit]


def valid_date(text: str) -> str:
    """The ISO date that a text begins with, where there is such a day and it is not still to come; else nothing."""
    found = re.match(r"\s*(\d{4}-\d{2}-\d{2})(?!\d)", text)
    try:
        day = date.fromisoformat(found[1]) if found else None
    except ValueError:
        return ""
    tomorrow = datetime.now(UTC).date() + timedelta(days=1)  # it may be tomorrow there already
    return day.isoformat() if day and day <= tomorrow else ""


def _html(text: str, url_or_name: str) -> tuple[str, str, str, str]:
    try:
        import lxml.html  # type: ignore[import-untyped]
        from trafilatura import bare_extraction
    except ImportError as error:
        raise Unavailable(f"web pages cannot be read: {error}; pip install trafilatura lxml_html_clean") from error
    if not text.strip():
        return "", "", "", ""
    parser = lxml.html.HTMLParser(encoding="utf-8", remove_comments=True, remove_pis=True, collect_ids=False)
    tree = lxml.html.document_fromstring(text.encode("utf-8", "replace"), parser=parser)
    if any("depth" in entry.message for entry in parser.error_log):
        raise FetchFailed(
            "unreadable",
            f"{url_or_name} is nested too deeply to be read; paste its text as a document instead",
            url_or_name,
        )
    size = sum(1 for _ in tree.iter())
    if size > MAX_ELEMENTS:
        raise FetchFailed(
            "too_large",
            f"{url_or_name} has {size:,} HTML elements, at most {MAX_ELEMENTS:,} are read; add the part you need",
            url_or_name,
        )
    wall = why_so_little(tree)
    scripts = 0
    for script in tree.iter("script"):
        metadata = "json" in script.get("type", "")
        scripts += len(script.text or "") if metadata else 0
        if not metadata or scripts > MAX_SCRIPT:
            script.text = None
    host = urlsplit(url_or_name).hostname or ""
    found = bare_extraction(
        tree,
        url=url_or_name if host else None,
        fast=size > FAST_ELEMENTS,
        with_metadata=True,
        include_comments=False,
        include_tables=True,
        date_extraction_params={"original_date": True, "extensive_search": False},
    )
    if found is None or isinstance(found, dict):
        found = None
    text = (found.text or "") if found else ""
    if failure := wall(text, url_or_name):
        raise failure
    return (found.title or "", text, found.date or "", found.sitename or host) if found else ("", "", "", host)


def _pdf(content: bytes, name: str) -> tuple[tuple[str, str, str, str], tuple[int, ...]]:
    """Title, text, nothing, host; and where each page begins, an empty one where the next one does."""
    from pypdf import PdfReader

    end = time.monotonic() + PDF_SECONDS
    reader = PdfReader(io.BytesIO(content))
    if reader.is_encrypted and not reader.decrypt(""):
        raise FetchFailed(
            "encrypted", f"{name} is encrypted; save it without a password and add it as a document", name
        )
    if (count := len(reader.pages)) > MAX_PDF_PAGES:
        raise FetchFailed(
            "too_large", f"{name} has {count} pages; at most {MAX_PDF_PAGES} are read, cut out the part", name
        )
    text, breaks = "", []
    for page in reader.pages:
        if time.monotonic() > end:
            raise FetchFailed(
                "too_large", f"{name} takes longer than {PDF_SECONDS:g} s to read; cut out the part", name
            )
        own = clean(page.extract_text())
        breaks.append(len(text) + 2 if text and own else len(text))
        text += ("\n\n" if text and own else "") + own
    for i in range(len(breaks) - 2, -1, -1):  # an empty page begins where the next one does
        if breaks[i + 1] - breaks[i] == 2 and text[breaks[i] : breaks[i + 1]] == "\n\n":
            breaks[i] = breaks[i + 1]
    title = reader.metadata.title if reader.metadata else ""
    return (str(title or ""), text, "", urlsplit(name).hostname or ""), tuple(breaks)
