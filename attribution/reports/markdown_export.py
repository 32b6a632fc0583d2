"""The claims of a report as a Markdown list, each with its verdict, its sentence and its source.

Everything foreign in it is text. The answer itself with footnotes is `review.revision`'s.
"""

from __future__ import annotations

from attribution.reports import Exported
from attribution.reports.bibliography import http_address, one_line, web_address
from attribution.reports.claim_rows import ClaimRow, claim_rows, verdict_sentence
from attribution.reports.looks import counted, look
from attribution.review.judgements import agreement
from attribution.text.markdown import escape_markdown
from attribution.types import Page
from attribution.verifiers.calibration import badges


def write(exported: Exported) -> str:
    """Write title, question, note, counts, and an item for each claim."""
    report = exported.report
    parts = [f"# {_text(exported.heading)}"]
    if report.question and exported.title:
        parts.append(f"Question: {_text(report.question)}")
    if exported.note:
        parts.append(f"Note: {_text(exported.note)}")
    parts.append(", ".join(counted(badges(report))))
    for row in claim_rows(report):
        parts.append(_item(row, row.claim.id in exported.corrected, len(report.pages)))
    made = f"Checked on {report.created_at[:10]}" if report.created_at else "Checked"
    verifier = _text(report.versions.get("verifier", "an unknown verifier"))
    parts.append(f"{made} with {verifier}. {agreement([report]).words}".rstrip())
    return "\n\n".join(part for part in parts if part) + "\n"


def _text(foreign: str) -> str:
    """Foreign text on one line, without marks."""
    return escape_markdown(one_line(foreign))


def _item(row: ClaimRow, is_corrected: bool, sources: int) -> str:
    style = look(row.badge)
    parts = [f"**{style.icon} {style.word}.** {_text(row.claim.statement)}"]
    if row.own:
        parts.append(f"By the analyst; the model's verdict: {look(row.model_badge).noun}.")
    if is_corrected:
        parts.append("Edited by hand.")
    parts.append(f"*{_text(verdict_sentence(row, sources))}*")
    if row.piece:
        parts.append(f"“{_text(row.piece.deciding_sentence)}”")
    if row.piece and row.page:
        parts.append(_source(row.page, row.piece.sentence[0]))
    if row.note:
        parts.append(f"Note: {_text(row.note)}")
    return f"{row.number}. {' '.join(parts)}"


def _source(page: Page, offset: int) -> str:
    title = _text(page.cited)
    facts_from = http_address(page.facts_from)
    if facts_from:
        return f"{title}, facts from <{facts_from}>."
    address = web_address(page)
    number = page.page_number(offset)
    parts = [f"[{title}](<{address}>)" if address else title]
    if number:
        parts.append(f"page {number}")
    return f"{', '.join(parts)}, read {page.fetched_at[:10]}."
