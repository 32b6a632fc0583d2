"""Cite the sources behind a run's verdicts as CSL-JSON."""

from __future__ import annotations

import json
import re
import unicodedata
from urllib.parse import quote

from attribution.reports import Exported
from attribution.text.urls import site
from attribution.types import BUILT_IN_LICENCE, Page

_HTTP = re.compile(r"https?://[^\s/]", re.IGNORECASE)
_DATE = re.compile(r"(\d{4})(?:-(0[1-9]|1[0-2])(?:-(0[1-9]|[12]\d|3[01]))?)?(?!\d)")


def write(exported: Exported) -> str:
    """List each source that supports or contradicts a claim, in the order of the report's pages."""
    deciding = {e.page_id for e in exported.report.evidence if e.relation != "no_relation"}
    items = [_item(page) for page in exported.report.pages if page.id in deciding]
    return json.dumps(items, ensure_ascii=False, indent=1) + "\n"


def _item(page: Page) -> dict[str, object]:
    url = web_address(page)
    fields: dict[str, object] = {
        "id": page.id,
        "type": "webpage" if url else "document",
        "title": one_line(page.title) or one_line(page.url),
        "container-title": one_line(page.site) or site(url),
        "URL": url,
    }
    if page.facts_from:  # an article of the built-in library, whose dates are examples
        fields["note"] = f"Facts from {http_address(page.facts_from)}"
        fields["license"] = BUILT_IN_LICENCE
    else:
        fields["issued"] = _date_parts(page.published)
        fields["accessed"] = _date_parts(page.fetched_at)
    return {name: value for name, value in fields.items() if value}


def _date_parts(iso: str) -> dict[str, list[list[int]]]:
    match = _DATE.match(iso)
    if match is None:
        return {}
    return {"date-parts": [[int(part) for part in match.groups() if part]]}


def one_line(text: str) -> str:
    """Remove control characters, and turn white space into single blanks."""
    categories = ("Cc", "Cs", "Zl", "Zp")
    visible = "".join(" " if unicodedata.category(c) in categories else c for c in text)
    return " ".join(visible.split())


def web_address(page: Page) -> str:
    """Return the http(s) address of a page, or of a local text's original; empty without one."""
    return http_address(page.url) or http_address(page.reference)


def http_address(url: str) -> str:
    """Return an http(s) address in ASCII, without characters that could end it; else empty."""
    if not _HTTP.match(url):
        return ""
    return quote(one_line(url), safe="!#$%&'()*+,/:;=?@[]~-._", errors="replace")
