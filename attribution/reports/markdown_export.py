"""The report as Markdown: the answer with a footnote for each claim, its sentence and its source.

The answer is written anew from its tree: its headings, lists, tables, emphasis and http(s) links
stay, and everything else in it is text.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from attribution.reports import Exported
from attribution.reports.bibliography import http_address, one_line, web_address
from attribution.reports.claim_rows import ClaimRow, claim_rows
from attribution.reports.html import counted, look
from attribution.review.judgements import agreement
from attribution.text.markdown import Element, Written, escape_markdown, escape_marks, read
from attribution.types import Label, Page, Report
from attribution.verifiers.calibration import badges

if TYPE_CHECKING:
    from attribution.text.markdown import Tree

_BLANK_LINES = re.compile(r"\n{3,}")
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\u2028\u2029]")
_LINE_START = re.compile(r"^([^\S\n]*)([-+=:]|\d{1,9}(?=[.)]))", re.MULTILINE)
_TICKS = re.compile(r"`+")
_NOTE = re.compile(r"(?<!\\)\[\^\d+\]")
_EMPHASIS = {"strong": "**", "em": "*", "del": "~~"}


def write(exported: Exported) -> str:
    """Write title, note, counts, the answer, and a footnote for each claim."""
    report = exported.report
    parts = [f"# {_text(exported.heading)}"]
    if report.question and exported.title:
        parts.append(f"Question: {_text(report.question)}")
    parts.append(_paragraphs(exported.note))
    parts.append(", ".join(counted(Counter(badges(report)))))
    parts.append(_Answer(report).text())
    rows = claim_rows(report)
    notes = [_footnote(row, row.claim.id in exported.corrected) for row in rows]
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


def _footnote(row: ClaimRow, is_corrected: bool) -> str:
    parts = [_bold("", row.badge)]
    if not row.claim.spans or row.claim.enriched:
        parts.append(f"Checked as: {_text(row.claim.statement)}")
    if is_corrected:
        parts.append("Corrected by hand.")
    if row.verdict:
        parts.append(_text(row.verdict.reason))
        if row.verdict.other:
            words = f"The {row.verdict.other.reader} verifier: "
            parts += [_bold(words, row.verdict.other.label), _text(row.verdict.other.reason)]
        if row.piece:
            reading = "To read: " if row.verdict.label == "unclear" else ""
            parts.append(f"{reading}“{_text(row.piece.deciding_sentence)}”")
            parts.append(_source(row.page, row.piece.sentence[0]) if row.page else "")
    if row.own:
        parts += [_bold("The analyst's verdict: ", row.own.label), _text(row.own.note)]
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


class _Answer:
    """The answer's tree as Markdown, with the number of each claim where the claim ends."""

    def __init__(self, report: Report) -> None:
        self._root = read(report.answer)
        self._ends: dict[int, list[int]] = {}
        self._loose: list[int] = []
        for number, claim in enumerate(report.claims, 1):
            if claim.spans:
                end = max(end for _, end in claim.spans)
                self._ends.setdefault(end, []).append(number)
            else:
                self._loose.append(number)

    def text(self) -> str:
        blocks = self._blocks(self._root)
        left = sorted([*self._loose, *(n for numbers in self._ends.values() for n in numbers)])
        if not left:
            return blocks
        marks = " ".join(f"[^{number}]" for number in left)
        return f"{blocks}\n\nClaims without a place in the text: {marks}".strip()

    def _blocks(self, parent: Element) -> str:
        blocks = [self._block(block) for block in parent.elements]
        return "\n\n".join(block for block in blocks if block.strip())

    def _block(self, block: Element) -> str:
        match block.tag:
            case "ul" | "ol":
                return self._list(block)
            case "table":
                return self._table(block)
            case "pre":
                return self._code(block)
            case "hr":
                return "---"
            case "blockquote":
                return _prefixed(self._blocks(block), "> ", "> ")
            case "p":
                return _line(self._inline(block)).strip()
            case "h1" | "h2" | "h3" | "h4" | "h5" | "h6":
                level = min(6, int(block.tag[1]) + 1)  # the first level is the report's
                return f"{'#' * level} {self._one_line(block)}"
        return self._blocks(block)

    def _list(self, block: Element) -> str:
        first = int(block.number) if block.number.isdigit() else 1
        items = []
        for number, item in enumerate(block.elements, first):
            mark = f"{number}. " if block.tag == "ol" else "- "
            items.append(_prefixed(self._blocks(item), mark, " " * len(mark)))
        return "\n".join(items)

    def _table(self, table: Element) -> str:
        rows = []
        for part in table.elements:
            for row in part.elements:
                rows.append([self._one_line(cell) for cell in row.elements])
        width = max((len(row) for row in rows), default=0)
        lines = []
        for texts in rows:
            cells = texts + [""] * (width - len(texts))
            lines.append(f"| {' | '.join(cells)} |")
        return "\n".join([*lines[:1], f"|{'---|' * width}", *lines[1:]])

    def _code(self, block: Element) -> str:
        code = "".join(text.text for text in block.texts()).rstrip("\n")
        fence = "`" * max(3, _longest_ticks(code) + 1)
        lines = [fence, code, fence] if code else [fence, fence]
        numbers = self._numbers_in(block)
        return "\n".join(lines) + (f"\n\n{numbers}" if numbers else "")

    def _one_line(self, element: Element) -> str:
        return " ".join(self._inline(element).split())

    def _inline(self, element: Element) -> str:
        return "".join(self._leaf(child) for child in element.children)

    def _leaf(self, child: Tree) -> str:
        if isinstance(child, Written):
            return self._numbered(child)
        if child.tag == "br":
            return "\\\n"
        if child.tag == "code":
            return self._code_span(child)
        inside = self._inline(child)
        address = http_address(child.href) if child.tag == "a" else ""
        if address:
            marks = "".join(_NOTE.findall(inside))  # a link must not hold one
            return f"[{_NOTE.sub('', inside)}](<{address}>){marks}"
        signs = _EMPHASIS.get(child.tag, "")
        words = inside.strip()
        if not signs or not words:
            return inside
        before, _, after = inside.partition(words)
        return f"{before}{signs}{words}{signs}{after}"

    def _code_span(self, span: Element) -> str:
        code = " ".join("".join(text.text for text in span.texts()).split())
        numbers = self._numbers_in(span)
        if not code:
            return numbers
        ticks = "`" * (_longest_ticks(code) + 1)
        pad = " " if code.startswith("`") or code.endswith("`") else ""
        return f"{ticks}{pad}{code}{pad}{ticks}{numbers}"

    def _numbered(self, text: Written) -> str:
        """Return the text, escaped, with the numbers of the claims that end in it."""
        ends = sorted(end for end in self._ends if text.start < end <= text.end)
        if not text.verbatim:
            return _escaped(text.text) + "".join(map(self._numbers, ends))
        parts = []
        position = 0
        for end in ends:
            parts += [_escaped(text.text[position : end - text.start]), self._numbers(end)]
            position = end - text.start
        return "".join([*parts, _escaped(text.text[position:])])

    def _numbers_in(self, element: Element) -> str:
        """Return the footnote marks of claims that end with a text of an element of code."""
        return "".join(self._numbers(text.end) for text in element.texts())

    def _numbers(self, end: int) -> str:
        """Return the footnote marks of claims that end here; each is written once."""
        return "".join(f"[^{number}]" for number in self._ends.pop(end, ()))


def _longest_ticks(code: str) -> int:
    return max(map(len, _TICKS.findall(code)), default=0)


def _escaped(text: str) -> str:
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return "\n".join(escape_marks(_CONTROLS.sub(" ", line)) for line in lines)


def _prefixed(text: str, first: str, others: str) -> str:
    start, *rest = text.split("\n")
    lines = [first + start]
    for line in rest:
        lines.append(others + line if line else others.rstrip())
    return "\n".join(lines)
