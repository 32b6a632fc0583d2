"""What every reader returns, and the page that is made of it."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Literal

from attribution.types import Page, content_id

_LINE_ENDS = re.compile(r"\r\n?|[\f\v\x85\u2028\u2029]")
_UNWANTED = re.compile(r"[\x00-\x08\x0e-\x1f\x7f-\x9f\ud800-\udfff]")
_PLACEHOLDER = re.compile(
    r"about:\w+|(?:untitled|unnamed|unbenannt|document|presentation|slide|title)[ _-]?\d*|untitled \w+"
    r"|powerpoint[ -]presentation|microsoft (?:word|excel|powerpoint) - .*"
    r"|[^ ]+\.(?:docx?|pptx?|xlsx?|pdf|indd|qxd|tex|dvi|e?ps|rtf|odt|html?)",
    re.IGNORECASE,
)
_DATE = re.compile(r"\s*(\d{4}-\d{2}-\d{2})(?!\d)")
_BLANK_LINES = re.compile(r"\n(?:[ \t]*\n){2,}")


@dataclass(frozen=True)
class Extracted:
    """The text of a page and its metadata, empty where unknown."""

    title: str
    text: str
    published: str = ""  # ISO date
    site: str = ""
    breaks: tuple[int, ...] = ()  # offset of each page of a PDF


def make_page(url: str, kind: Literal["web", "library", "document"], extracted: Extracted, reference: str = "") -> Page:
    """The page with its content hash, its id and the current time."""
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
    r"""Lines that end in \n, no control characters, at most one blank line in a row."""
    return _BLANK_LINES.sub("\n\n", _UNWANTED.sub("", _LINE_ENDS.sub("\n", text))).strip()


def one_line(text: str, limit: int = 300) -> str:
    """A title or name on one line, at most `limit` characters."""
    return " ".join(clean(text).split())[:limit]


def is_placeholder(title: str) -> bool:
    """Whether a program wrote this title for want of one: "about:blank", "Untitled-1", "Microsoft Word - a.docx"."""
    return _PLACEHOLDER.fullmatch(title) is not None


def valid_date(text: str) -> str:
    """The ISO date at the start of a text; empty for no such day and for one in the future."""
    match = _DATE.match(text)
    try:
        day = date.fromisoformat(match[1]) if match else None
    except ValueError:
        return ""
    tomorrow = datetime.now(UTC).date() + timedelta(days=1)  # somewhere on Earth it is tomorrow already
    return day.isoformat() if day and day <= tomorrow else ""
