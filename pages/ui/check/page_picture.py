"""Show the page of an own PDF as a picture, with the sentence of the opened source boxed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict

from attribution.errors import FetchFailed
from attribution.fetching.sandbox import NEVER, PICTURE_SECONDS, FileReader
from attribution.types import Document, Page, Report
from pages.ui import state
from pages.ui.answer_view import View
from pages.ui.downloads import kept_pdf

PICTURE = "page_picture"


def pictured(data: View, report: Report, click: object) -> View:
    """Add to an opened source its page number in a PDF whose file is at hand, and the picture that
    a click asks for.
    """
    source = data.get("source")
    if not source or not isinstance(click, Mapping):
        return data
    page = next(p for p in report.pages if p.id == source["page"])
    file, number = kept_pdf(report.id, page), page.page_number(source["at"])
    if file is None or number is None:
        return data
    added: View = {"number": number}
    if click.get("picture"):
        sentence = _on_page(page, number, source)
        added["picture"] = state.cached(
            PICTURE, (report.id, page.id, number, sentence), lambda: _drawn(file, number, sentence)
        )
        added["asked"] = [*source["asked"], "picture"]
    return data | {"source": source | added}


def _on_page(page: Page, number: int, source: View) -> str:
    """Return the opened sentence as far as it stands on this page."""
    marks = (mark["at"] for mark in source["marks"])
    start, end = next(
        ((a, b) for a, b in marks if a <= source["at"] < b), (source["at"], source["at"])
    )
    return page.text[start : min(end, *page.breaks[number : number + 1], len(page.text))]


def _drawn(file: Document, number: int, sentence: str) -> dict[str, object]:
    try:
        reading = FileReader(state.browser(), PICTURE_SECONDS, NEVER)
        return asdict(reading.draw(file.content, file.name, number, sentence))
    except FetchFailed as error:
        return {"problem": f"{error}."}
