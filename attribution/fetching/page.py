"""Turn what a reader found in a file into a page."""

from __future__ import annotations

import hashlib
import re
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Literal

from attribution.errors import FetchFailed
from attribution.text.genres import genre_of
from attribution.text.lines import bounded
from attribution.text.words import composed
from attribution.types import Failure, Page, content_id

_LINE_ENDS = re.compile(r"\r\n?|[\f\v\x85\u2028\u2029]")
UNWANTED = re.compile(r"[\x00-\x08\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]")
PLACEHOLDER = re.compile(  # a title that a program made
    r"""about:\w+
      | (?:untitled|unnamed|unbenannt|document|presentation|slide|title)[ _-]?\d*
      | (?:sheet|tabelle|feuil|hoja|foglio|blad)\ ?\d*
      | untitled\ \w+
      | powerpoint[ -]presentation
      | microsoft\ (?:word|excel|powerpoint)\ -\ .*
      | [^ ]+\.(?:docx?|pptx?|xlsx?|pdf|indd|qxd|tex|dvi|e?ps|rtf|odt|html?)""",
    re.IGNORECASE | re.VERBOSE,
)
_BLANK_LINES = re.compile(r"\n(?:[ \t]*\n){2,}")
MAX_LINE = 300  # characters of a title or name


@dataclass(frozen=True)
class Extracted:
    """The text of a page and its metadata, empty where unknown.

    Attributes:
        published: ISO date.
        breaks: Offset of each page of a PDF.
        types: schema.org types of its markup.
        unread: Names the parts that could not be read, as "page 3".
        url: The address of the original, where the file names it.
    """

    title: str
    text: str
    published: str = ""
    site: str = ""
    breaks: tuple[int, ...] = ()
    types: tuple[str, ...] = ()
    unread: str = ""
    url: str = ""


def make_page(
    url: str, kind: Literal["web", "library", "document"], extracted: Extracted, reference: str = ""
) -> Page:
    """Return the page with its genre, its content hash, its id and the current time."""
    title, text = extracted.title, extracted.text
    genre = genre_of(url, title, text, extracted.types)
    sha256 = hashlib.sha256(text.encode("utf-8")).hexdigest()
    return Page(
        id=content_id(url, sha256),
        url=url,
        title=title or url,
        site=extracted.site,
        kind=kind,
        fetched_at=datetime.now(UTC).isoformat(timespec="seconds"),
        sha256=sha256,
        published=extracted.published,
        text=text,
        reference=reference,
        breaks=extracted.breaks,
        genre=genre,
        unread=extracted.unread,
    )


def partly_read(page: Page, name: str) -> list[Failure]:
    """Return the failure of the parts of a file that could not be read; none where all could."""
    if not page.unread:
        return []
    message = (
        f"{name} was read in part: without {page.unread}; "
        "check the file, or add what is missing as a document"
    )
    return [FetchFailed("left_out", message, name).as_failure("fetch")]


def clean(text: str) -> str:
    r"""Normalise line ends to \n, drop control characters, compose letters, and keep at most one
    blank line in a row.
    """
    lines = _LINE_ENDS.sub("\n", composed(bounded(text)))
    return _BLANK_LINES.sub("\n\n", UNWANTED.sub("", lines)).strip()


def one_line(text: str) -> str:
    """Return a title or name on one line, cut to 300 characters."""
    return " ".join(clean(text).split())[:MAX_LINE]


def valid_date(text: str) -> str:
    """Return the ISO date at the start of a text; empty if it is invalid or in the future."""
    # somewhere on Earth it is tomorrow already
    tomorrow = datetime.now(UTC).date() + timedelta(days=1)
    with suppress(ValueError):
        day = date.fromisoformat(text.strip()[:10])
        return day.isoformat() if day <= tomorrow else ""
    return ""
