"""The report as Markdown: the answer with a footnote for each claim, its sentence and its source.

The answer is written anew from its passages: its headings, items and paragraphs stay, and
everything in them is text.
"""

from __future__ import annotations

import re

from attribution.reports import Exported
from attribution.reports.bibliography import http_address, one_line, web_address
from attribution.reports.claim_rows import ClaimRow, claim_rows, verdict_sentence
from attribution.reports.looks import counted, look
from attribution.review.judgements import agreement
from attribution.text.markdown import escape_markdown, escape_marks
from attribution.text.passages import AnswerPassage, passages
from attribution.types import Label, Page, Report
from attribution.verifiers.calibration import badges

_BLANK_LINES = re.compile(r"\n{3,}")
_LINE_START = re.compile(r"^([^\S\n]*)([-+=:]|\d{1,9}(?=[.)]))", re.MULTILINE)


def write(exported: Exported) -> str:
    """Write title, note, counts, the answer, and a footnote for each claim."""
    report = exported.report
    parts = [f"# {_text(exported.heading)}"]
    if report.question and exported.title:
        parts.append(f"Question: {_text(report.question)}")
    parts.append(_paragraphs(exported.note))
    parts.append(", ".join(counted(badges(report))))
    parts.append(_answer(report))
    rows = claim_rows(report)
    sources = len(report.pages)
    notes = [_footnote(row, row.claim.id in exported.corrected, sources) for row in rows]
    parts.append("\n".join(notes))
    made = f"Checked on {report.created_at[:10]}" if report.created_at else "Checked"
    verifier = escape_markdown(report.versions.get("verifier", "an unknown verifier"))
    parts.append(f"{made} with {verifier}. {agreement([report]).words}".rstrip())
    return "\n\n".join(part for part in parts if part) + "\n"


def _text(foreign: str) -> str:
    """Foreign text on one line, without marks."""
    return escape_markdown(one_line(foreign))


def _paragraphs(foreign: str) -> str:
    lines = [escape_marks(one_line(line)) for line in foreign.split("\n")]
    return _BLANK_LINES.sub("\n\n", "\n".join(map(_line, lines))).strip()


def _line(escaped: str) -> str:
    """Escape what would open a list, heading or rule at the start of a line."""

    def escape(match: re.Match[str]) -> str:
        space, mark = match.groups()
        return f"{space}{mark}\\" if mark[0].isdigit() else f"{space}\\{mark}"

    return _LINE_START.sub(escape, escaped)


def _footnote(row: ClaimRow, is_corrected: bool, sources: int) -> str:
    parts = [_bold("", row.badge)]
    if row.own:
        parts.append(_bold("The analyst's verdict; the model's: ", row.model_badge))
    if not row.claim.spans or row.claim.enriched:
        parts.append(f"Checked as: {_text(row.claim.statement)}")
    if is_corrected:
        parts.append("Edited by hand.")
    parts.append(_text(verdict_sentence(row, sources)))
    if row.piece:
        reading = "To read: " if row.verdict and row.verdict.label == "unclear" else ""
        parts.append(f"{reading}“{_text(row.piece.deciding_sentence)}”")
        parts.append(_source(row.page, row.piece.sentence[0]) if row.page else "")
    if row.note:
        parts.append(f"Note: {_text(row.note)}")
    return f"[^{row.number}]: {' '.join(part for part in parts if part)}"


def _bold(words: str, badge: str | Label) -> str:
    style = look(badge)
    return f"**{words}{style.icon} {style.word}.**"


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


# --- the answer ---


def _answer(report: Report) -> str:
    """Write the answer's passages as it reads, with a footnote mark where a claim ends."""
    ends: dict[int, list[int]] = {}
    loose: list[str] = []
    for number, claim in enumerate(report.claims, 1):
        if claim.spans:
            ends.setdefault(max(end for _, end in claim.spans), []).append(number)
        else:
            loose.append(f"{_text(claim.text)}[^{number}]")
    blocks = [_block(passage, ends) for passage in passages(report.answer)]
    left = [number for numbers in ends.values() for number in numbers]
    blocks.append("".join(f"[^{number}]" for number in left))
    if loose:
        blocks += ["Claims without a place in the text:", *loose]
    return "\n\n".join(block for block in blocks if block)


def _block(passage: AnswerPassage, ends: dict[int, list[int]]) -> str:
    """Write a passage; the marks of the claims that end in it are taken out of `ends`."""
    pieces: list[str] = []
    position = 0
    for end in sorted(end for end in ends if passage.start < end <= passage.end):
        place = sum(start < end for start, _ in passage.places)
        marks = "".join(f"[^{number}]" for number in ends.pop(end))
        pieces += [escape_marks(_blank(passage.text[position:place])), marks]
        position = place
    text = _line("".join([*pieces, escape_marks(_blank(passage.text[position:]))]))
    match passage.kind:
        case "heading":
            return f"## {text}"
        case "item":
            return f"{passage.number}. {text}" if passage.number else f"- {text}"
    return text


def _blank(text: str) -> str:
    """Keep the space between a footnote mark and what follows it."""
    line = one_line(text)
    return f" {line}" if text[:1].isspace() and line else line
