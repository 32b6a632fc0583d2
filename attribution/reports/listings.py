"""The claims of runs and their sources as CSV, XLSX, HTML, Markdown and CSL-JSON."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator, Mapping, Sequence

from attribution.fetching.page import clean
from attribution.reports import Exported
from attribution.reports.claim_rows import claim_rows, verdict_sentence
from attribution.reports.html import document, el, plural, safe_url, table
from attribution.reports.looks import counted, look
from attribution.text.markdown import escape_markdown
from attribution.text.urls import site
from attribution.text_files import Cell, csv_text
from attribution.types import BUILT_IN_LICENCE, Page
from attribution.verifiers.calibration import badges

COLUMNS = (
    "answer",
    "number",
    "claim",
    "checked as",
    "corrected by hand",
    "assessment",
    "verdict",
    "confidence",
    "says",
    "reason",
    "passage",
    "source",
    "address",
    "read",
    "facts after",
    "note",
)
SHOWN = ("answer", "claim", "assessment", "verdict", "says", "passage", "source", "note")
CSS = """
:root { color-scheme: light dark; }
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem; }
table { border-collapse: collapse; }
th, td { text-align: left; vertical-align: top; padding: .4rem 1rem .4rem 0; }
th, td { border-bottom: 1px solid #8886; }
"""
WIDTH = 30  # of a column of the workbook, in characters


def write_csv(*runs: Exported) -> bytes:
    """Write a row for each claim, with the mark by which spreadsheets know UTF-8."""
    return csv_text([COLUMNS, *_rows(runs)]).encode("utf-8-sig", "replace")


def write_xlsx(*runs: Exported) -> bytes:
    """Write the same rows as a workbook; no cell is a formula."""
    from openpyxl import Workbook
    from openpyxl.styles import Alignment
    from openpyxl.utils import get_column_letter

    workbook = Workbook()
    sheet = workbook.active
    sheet.title = "Claims"
    sheet.freeze_panes = "A2"
    sheet.append(list(COLUMNS))
    for number in range(1, len(COLUMNS) + 1):
        sheet.column_dimensions[get_column_letter(number)].width = WIDTH
    for row in _rows(runs):
        sheet.append([clean(cell) if isinstance(cell, str) else cell for cell in row])
        for cell in sheet[sheet.max_row]:
            cell.alignment = Alignment(vertical="top", wrap_text=True)
            if isinstance(cell.value, str):
                cell.data_type = "s"
    content = io.BytesIO()
    workbook.save(content)
    return content.getvalue()


def write_html(*runs: Exported) -> bytes:
    """Write what is read most as one web page that opens without a network."""
    lines = [[str(cell or "") for cell in row] for row in _rows(runs, SHOWN)]
    heads = [name.capitalize() for name in SHOWN]
    title = f"Claims of {plural(len(runs), 'answer')}"
    page = document(title, CSS, el("div", table(heads, lines)))
    return page.encode("utf-8", "replace")


def _rows(runs: Sequence[Exported], names: Sequence[str] = COLUMNS) -> Iterator[list[Cell]]:
    for exported in runs:
        for cells in table_rows(exported):
            yield [cells.get(name) for name in names]


def table_rows(exported: Exported) -> Iterator[dict[str, Cell]]:
    """Yield the cells of each claim by the names of COLUMNS; some are missing without a passage."""
    for row in claim_rows(exported.report):
        cells: dict[str, Cell] = {
            "answer": exported.heading,
            "number": row.number,
            "claim": row.claim.text,
            "checked as": row.claim.enriched,
            "corrected by hand": "yes" if row.is_edited else "",
            "assessment": look(row.own.label).word if row.own else "",
            "verdict": look(row.model_badge).word,
            "says": verdict_sentence(row),
            "note": row.note,
        }
        if row.verdict:
            cells["confidence"] = row.verdict.confidence or None
            cells["reason"] = row.verdict.reason
        if row.piece:
            cells["passage"] = row.piece.deciding_sentence
        if row.page:
            cells |= {
                "source": row.page.cited,
                "address": web_address(row.page) or row.page.url,
                "read": row.page.fetched_at,
                "facts after": row.page.facts_from,
            }
        yield cells


# Formats of the claims of many runs, by their names in FORMATS.
SHEETS: Mapping[str, Callable[..., bytes]] = {
    "xlsx": write_xlsx,
    "csv": write_csv,
    "html": write_html,
}


# --- Markdown ---


def write_markdown(exported: Exported) -> str:
    """Write title, question, note, counts, and an item for each claim."""
    report = exported.report
    parts = [f"# {_text(exported.heading)}"]
    if report.question and exported.title:
        parts.append(f"Question: {_text(report.question)}")
    if exported.note:
        parts.append(f"Note: {_text(exported.note)}")
    parts.append(", ".join(counted(badges(report))))
    parts += map(_markdown_item, table_rows(exported))
    verifier = _text(report.versions.get("verifier", "an unknown verifier"))
    parts.append(f"Checked on {_text(report.created_at[:10])} with {verifier}.")
    return "\n\n".join(part for part in parts if part) + "\n"


def _text(foreign: Cell) -> str:
    """Foreign text on one line, without marks."""
    return escape_markdown(" ".join(str(foreign).split()))


def _markdown_item(row: Mapping[str, Cell]) -> str:
    parts = [f"**{row['assessment'] or row['verdict']}.** {_text(row['claim'])}"]
    if row["assessment"]:
        parts.append(f"By the analyst; the model's verdict: {row['verdict']}.")
    if row["corrected by hand"]:
        parts.append("Edited by hand.")
    parts.append(f"*{_text(row['says'])}*")
    if "passage" in row:
        parts.append(f"“{_text(row['passage'])}”")
    if "source" in row:
        parts.append(_source(row))
    if row["note"]:
        parts.append(f"Note: {_text(row['note'])}")
    return f"{row['number']}. {' '.join(parts)}"


def _source(row: Mapping[str, Cell]) -> str:
    title = _text(row["source"])
    if row["facts after"]:
        return f"{title}, facts from <{safe_url(str(row['facts after']))}>."
    address = safe_url(str(row["address"]))
    linked = f"[{title}](<{address}>)" if address else title
    return f"{linked}, read {_text(str(row['read'])[:10])}."


# --- CSL-JSON ---


def write_sources(exported: Exported) -> str:
    """List each source that supports or contradicts a claim, in the order of the report's pages."""
    deciding = {e.page_id for e in exported.report.evidence if e.relation != "no_relation"}
    items = [_source_item(page) for page in exported.report.pages if page.id in deciding]
    return json.dumps(items, ensure_ascii=False, indent=1) + "\n"


def _source_item(page: Page) -> dict[str, object]:
    url = web_address(page)
    fields: dict[str, object] = {
        "id": page.id,
        "type": "webpage" if url else "document",
        "title": page.name,
        "container-title": page.site or site(url),
        "URL": url,
    }
    if page.facts_from:  # an article of the built-in library, whose dates are examples
        fields["note"] = f"Facts from {page.facts_from}"
        fields["license"] = BUILT_IN_LICENCE
    else:
        fields["accessed"] = {"raw": page.fetched_at[:10]}
        if page.published:
            fields["issued"] = {"raw": page.published[:10]}
    return {name: value for name, value in fields.items() if value}


def web_address(page: Page) -> str:
    """Return the http(s) address of a page, or of a local text's original; empty without one."""
    return safe_url(page.url) or safe_url(page.reference) or ""
