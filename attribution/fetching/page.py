"""Turn a reader's output into a page, and explain why a page has little text."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, Literal

from attribution.errors import FetchFailed
from attribution.text.genres import genre_of
from attribution.text.words import composed
from attribution.types import Failure, Page, content_id

if TYPE_CHECKING:
    from lxml.html import HtmlElement

_LINE_ENDS = re.compile(r"\r\n?|[\f\v\x85\u2028\u2029]")
UNWANTED = re.compile(r"[\x00-\x08\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]")
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
    types: tuple[str, ...] = ()  # schema.org, of its markup
    reviewed: str = ""  # the claim that a fact check is about, and its verdict
    rating: str = ""
    unread: str = ""  # names the parts that could not be read, as "page 3"


def make_page(
    url: str, kind: Literal["web", "library", "document"], extracted: Extracted, reference: str = ""
) -> Page:
    """Return the page with its genre, its content hash, its id and the current time."""
    title, text = extracted.title or url, extracted.text
    genre = genre_of(url, extracted.title, text, extracted.types)
    if (
        genre == "fact check"
        and extracted.title
        and extracted.title not in text
        and not extracted.breaks
    ):
        # it counts by its headline, which extraction takes for no text
        text = f"{extracted.title}\n\n{text}"
    sha256 = hashlib.sha256(text.encode("utf-8")).hexdigest()
    return Page(
        id=content_id(url, sha256),
        url=url,
        title=title,
        site=extracted.site,
        kind=kind,
        fetched_at=datetime.now(UTC).isoformat(timespec="seconds"),
        sha256=sha256,
        published=extracted.published,
        text=text,
        reference=reference,
        breaks=extracted.breaks,
        genre=genre,
        reviewed=extracted.reviewed,
        rating=extracted.rating,
        unread=extracted.unread,
    )


def partly_read(page: Page, name: str) -> list[Failure]:
    """Return the failure of the parts of a file that could not be read; none where all could."""
    message = f"{name} is damaged: {page.unread} could not be read, the rest was; check the file or export it again"
    return [FetchFailed("left_out", message, name).as_failure("fetch")] if page.unread else []


def clean(text: str) -> str:
    r"""Normalise line ends to \n, drop control characters, compose letters, keep at most one blank
    line in a row."""
    return _BLANK_LINES.sub("\n\n", UNWANTED.sub("", _LINE_ENDS.sub("\n", composed(text)))).strip()


def one_line(text: str) -> str:
    """Return a title or name on one line, cut to 300 characters."""
    return " ".join(clean(text).split())[:300]


def is_placeholder(title: str) -> bool:
    """Return True if a program generated the title: "about:blank", "Untitled-1", "Microsoft Word -
    a.docx".
    """
    return _PLACEHOLDER.fullmatch(title) is not None


def valid_date(text: str) -> str:
    """Return the ISO date at the start of a text; empty if it is invalid or in the future."""
    match = _DATE.match(text)
    try:
        day = date.fromisoformat(match[1]) if match else None
    except ValueError:
        return ""
    tomorrow = datetime.now(UTC).date() + timedelta(
        days=1
    )  # somewhere on Earth it is tomorrow already
    return day.isoformat() if day and day <= tomorrow else ""


TEASER = 1_500  # characters: a shorter text may be only the beginning of an article …
NOTICE = 300  # … and one shorter than this only a notice
_SCANNED = 20_000  # characters of a script that are searched

_NOT_FREE = re.compile(
    r"[\"']?isAccessibleForFree[\"']?\s*:\s*[\"']?(?:https?://schema\.org/)?false", re.IGNORECASE
)
_SUBSCRIBE = re.compile(
    r"\b(?:subscribe|log in|sign in|sign up|become a (?:member|subscriber))\b.{0,40}\b(?:to (?:continue|keep) reading"
    r"|to read (?:the (?:full|rest)|more|on|this)|for (?:full|unlimited) access)|\bfor subscribers only\b"
    r"|\bto continue reading\b.{0,40}\b(?:subscribe|log in|sign in|register)|\b(?:subscriber|member)-only\b",
    re.IGNORECASE | re.DOTALL,
)
_ENABLE = re.compile(
    r"\b(?:enable|turn on|activate|requires?|needs?|without)\s+(?:\w+\s+){0,2}java\s?script|java\s?script\b.{0,40}\b(?:"
    r"is (?:disabled|required|not enabled|turned off)|must be enabled)",
    re.IGNORECASE | re.DOTALL,
)
_SHELLS = {"app", "root", "__next", "__nuxt", "react-root", "svelte", "main-app"}


@dataclass(frozen=True)
class Signs:
    """Signs in a page's markup that its text is paid for or needs scripts."""

    paid: bool = False  # not accessible for free
    scripted: bool = False  # it runs scripts
    needs_scripts: bool = False  # it asks for JavaScript, or is an empty shell that scripts fill

    def failure(self, text: str, address: str) -> FetchFailed | None:
        """Explain why little was extracted, if the text is short and the page shows it: paywall or
        needs_javascript.
        """
        short = text.strip()
        advice = "open it in a browser and add its text as a document"
        if len(short) < TEASER and (self.paid or _SUBSCRIBE.search(short)):
            return FetchFailed(
                "paywall", f"{address} shows its text to subscribers only; {advice}", address
            )
        blank = not short and (self.scripted or self.needs_scripts)
        if blank or len(short) < NOTICE and (self.needs_scripts or _ENABLE.search(short)):
            message = (
                f"{address} shows its text only with JavaScript, which is not run here; {advice}"
            )
            return FetchFailed("needs_javascript", message, address)
        return None


def read_signs(tree: HtmlElement) -> Signs:
    """Read the signs of an lxml tree, before extraction removes the elements that carry them."""
    paid = scripted = needs_scripts = False
    for element in tree.iter("script", "meta", "noscript", "div"):
        if element.tag == "script":
            text = (element.text or "")[:_SCANNED]
            paid = paid or ("json" in (element.get("type") or "") and bool(_NOT_FREE.search(text)))
            scripted = scripted or bool(element.get("src") or text.strip())
        elif element.tag == "meta":
            tier = (element.get("property") or element.get("name") or "").endswith("content_tier")
            paid = paid or (
                tier and (element.get("content") or "").strip().lower() in ("locked", "metered")
            )
        elif element.tag == "noscript":
            needs_scripts = needs_scripts or bool(
                _ENABLE.search("".join(element.itertext())[:_SCANNED])
            )
        elif (
            element.get("id") in _SHELLS and len(element) == 0 and not (element.text or "").strip()
        ):
            needs_scripts = True
    return Signs(paid, scripted, needs_scripts)
