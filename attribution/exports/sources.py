"""The sources behind the verdicts of a run: pages with a passage that supports or contradicts a claim."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from urllib.parse import quote

from attribution.text.urls import site
from attribution.types import Page, Report

_HTTP = re.compile(r"https?://[^\s/]", re.IGNORECASE)
_DATE = re.compile(r"(\d{4})(?:-(0[1-9]|1[0-2])(?:-(0[1-9]|[12]\d|3[01]))?)?(?!\d)")
_YEAR = re.compile(r"\d{4}")
_WORD = re.compile(r"[a-z0-9]+")


@dataclass(frozen=True)
class Reference:
    """What a bibliography says of a source. Dates are ISO 8601, as precise as they are known."""

    key: str  # ASCII letters and digits, distinct within the run
    title: str
    site: str
    url: str  # http(s), in ASCII; empty for a document of the user's
    published: str
    accessed: str
    facts_from: str = ""  # http(s): what an article of the built-in library was written after


def references(report: Report) -> list[Reference]:
    """The sources in the order of the report's pages."""
    deciding = {e.page_id for e in report.evidence if e.relation != "no_relation"}
    made: dict[str, Reference] = {}
    for page in report.pages:
        if page.id in deciding:
            stem = key = _key(page)
            number = 1
            while key in made:
                number += 1
                key = f"{stem}-{number}"
            made[key] = _reference(key, page)
    return list(made.values())


def one_line(text: str) -> str:
    """The text without control characters, its white space as single blanks."""
    visible = "".join(" " if unicodedata.category(c) in ("Cc", "Cs", "Zl", "Zp") else c for c in text)
    return " ".join(visible.split())


def web_address(page: Page) -> str:
    """The http(s) address of a page, or of the original of a local text, in ASCII; empty where there is none."""
    return http_address(page.url) or http_address(page.reference)


def http_address(url: str) -> str:
    """The address in ASCII, without a character that ends it anywhere; empty if it is not http(s)."""
    if not _HTTP.match(url):
        return ""
    return quote(one_line(url), safe="!#$%&'()*+,/:;=?@[]~-._", errors="replace")


def _reference(key: str, page: Page) -> Reference:
    url = web_address(page)
    return Reference(
        key=key,
        title=one_line(page.title) or one_line(page.url),
        site=one_line(page.site) or site(url),
        url=url,
        published="" if page.facts_from else _date(page.published),  # those of our articles are examples
        accessed="" if page.facts_from else _date(page.fetched_at),
        facts_from=http_address(page.facts_from),
    )


def _date(iso: str) -> str:
    """The year, month and day of a date, as far as it has them."""
    match = _DATE.match(iso)
    return "-".join(part for part in match.groups() if part) if match else ""


def _key(page: Page) -> str:
    """Site, year and first word of the title, as reference managers make it."""
    plain = unicodedata.normalize("NFKD", f"{site(page.url).removeprefix('www.').partition('.')[0]} {page.title}")
    words = _WORD.findall(plain.encode("ascii", "ignore").decode().lower())
    year = _YEAR.match(page.published)
    return "-".join([*words[:3], *([year[0]] if year else [])]) or "source"
