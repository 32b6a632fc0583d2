"""The report as Markdown: the answer with a footnote for each claim, the deciding sentence and its
source in the note.

The answer is written anew from its tree: its headings, lists, tables, emphasis and http(s) links
stay, and everything
else in it is text.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from attribution.evidence.near_duplicates import nearest_evidence
from attribution.reports import Exported
from attribution.reports.bibliography import http_address, one_line, web_address
from attribution.reports.html import look
from attribution.review.judgements import agreement
from attribution.text.markdown import Element, Written, escape_markdown, escape_marks, read
from attribution.types import BADGES, Page, Report
from attribution.verifiers.calibration import badge_of, badges

if TYPE_CHECKING:
    from attribution.text.markdown import Tree

_BLANK_LINES, _CONTROLS = re.compile(r"\n{3,}"), re.compile(r"[\x00-\x08\x0b-\x1f\x7f\u2028\u2029]")
_LINE_START = re.compile(r"^([^\S\n]*)([-+=:]|\d{1,9}(?=[.)]))", re.MULTILINE)
_TICKS = re.compile(r"`+")
_NOTE = re.compile(r"(?<!\\)\[\^\d+\]")
_EMPHASIS = {"strong": "**", "em": "*", "del": "~~"}


def write(exported: Exported) -> str:
    """Title, note, counts, the answer, and a footnote for each claim."""
    report = exported.report
    parts = [f"# {escape_markdown(one_line(exported.heading))}"]
    if report.question and exported.title:
        parts.append(f"Question: {escape_markdown(one_line(report.question))}")
    parts += [_paragraph(exported.note)] if exported.note.strip() else []
    parts += [_counts(report), _Answer(report).text()]
    parts.append("\n".join(_notes(exported)))
    made = f"Checked on {report.created_at[:10]}" if report.created_at else "Checked"
    verifier = escape_markdown(report.versions.get("verifier", "an unknown verifier"))
    parts.append(f"{made} with {verifier}. {agreement([report]).words}".rstrip())
    return "\n\n".join(part for part in parts if part) + "\n"


def _counts(report: Report) -> str:
    """One line: how many claims have which badge."""
    found = Counter(badges(report))
    return ", ".join(
        f"{look(name).icon} {found[name]} {look(name).noun}" for name in BADGES if found[name]
    )


def _notes(exported: Exported) -> Iterator[str]:
    report = exported.report
    pages = {page.id: page for page in report.pages}
    verdicts = {verdict.claim_id: verdict for verdict in report.verdicts}
    judgements = {judged.claim_id: judged for judged in report.judgements}
    for number, claim in enumerate(report.claims, 1):
        verdict = verdicts.get(claim.id)
        style = look(badge_of(verdict, report))
        parts = [f"**{style.icon} {style.word}.**"]
        if not claim.spans or claim.enriched:
            parts.append(f"Checked as: {escape_markdown(one_line(claim.statement))}")
        parts += ["Corrected by hand."] if claim.id in exported.corrected else []
        parts.append(escape_markdown(one_line(verdict.reason)) if verdict else "")
        if verdict and (other := verdict.other):
            parts.append(
                f"**The {other.reader} reader: {look(other.label).icon} {look(other.label).word}.**"
            )
            parts.append(escape_markdown(one_line(other.reason)))
        found = [e for e in report.evidence if e.claim_id == claim.id]
        if verdict and (piece := nearest_evidence(found, verdict.label, pages)):
            parts.append(
                f"{'To read: ' * (verdict.label == 'unclear')}“{escape_markdown(one_line(piece.deciding_sentence))}”"
            )
            parts.append(_source(pages.get(piece.page_id), piece.sentence[0]))
        if own := judgements.get(claim.id):
            parts.append(
                f"**The analyst's verdict: {look(own.label).icon} {look(own.label).word}.**"
            )
            parts.append(escape_markdown(one_line(own.note)))
        yield f"[^{number}]: {' '.join(filter(None, parts))}"


def _source(page: Page | None, offset: int) -> str:
    if page is None:
        return ""
    title, number = escape_markdown(one_line(page.cited)), page.page_number(offset)
    if facts := http_address(page.facts_from):
        return f"{title}, facts from <{facts}>."
    address = web_address(page)
    named = f"[{title}](<{address}>)" if address else title
    place = [f"page {number}"] if number else []
    return ", ".join([named, *place, f"read {page.fetched_at[:10]}"]) + "."


def _paragraph(text: str) -> str:
    """Foreign text as paragraphs without marks."""
    lines = (one_line(line) for line in text.split("\n"))
    return _BLANK_LINES.sub("\n\n", "\n".join(_line(escape_marks(line)) for line in lines)).strip()


def _line(escaped: str) -> str:
    """Text that begins a line and opens no list, heading or rule there."""
    return _LINE_START.sub(
        lambda m: m[1] + (m[2] + "\\" if m[2][0].isdigit() else "\\" + m[2]), escaped
    )


class _Answer:
    """The answer's tree as Markdown, with the number of each claim where the claim ends."""

    def __init__(self, report: Report) -> None:
        self._root = read(report.answer)
        self._ends: dict[int, list[int]] = {}
        self._loose = []
        for number, claim in enumerate(report.claims, 1):
            if claim.spans:
                self._ends.setdefault(max(end for _, end in claim.spans), []).append(number)
            else:
                self._loose.append(number)

    def text(self) -> str:
        parts = list(self._blocks(self._root.elements))
        left = [*self._loose, *(n for end in sorted(self._ends) for n in self._ends[end])]
        if left:
            parts.append(
                "Claims without a place in the text: " + " ".join(f"[^{n}]" for n in sorted(left))
            )
        return "\n\n".join(part for part in parts if part.strip())

    def _blocks(self, blocks: Iterable[Element]) -> Iterator[str]:
        for block in blocks:
            match block.tag:
                case "ul" | "ol":
                    yield self._list(block)
                case "table":
                    yield self._table(block)
                case "pre":
                    yield self._code(block)
                case "hr":
                    yield "---"
                case "blockquote":
                    yield _prefixed("\n\n".join(self._blocks(block.elements)), "> ", "> ")
                case "p":
                    yield _line(self._inline(block.children)).strip()
                case "h1" | "h2" | "h3" | "h4" | "h5" | "h6":
                    level = min(6, int(block.tag[1]) + 1)  # the first level is the report's
                    yield f"{'#' * level} {' '.join(self._inline(block.children).split())}"
                case _:
                    yield "\n\n".join(self._blocks(block.elements))

    def _list(self, block: Element) -> str:
        items = []
        for number, item in enumerate(
            block.elements, int(block.number) if block.number.isdigit() else 1
        ):
            mark = f"{number}. " if block.tag == "ol" else "- "
            items.append(_prefixed("\n\n".join(self._blocks(item.elements)), mark, " " * len(mark)))
        return "\n".join(items)

    def _table(self, table: Element) -> str:
        rows = [
            [" ".join(self._inline(cell.children).split()) for cell in row.elements]
            for part in table.elements
            for row in part.elements
        ]
        width = max((len(row) for row in rows), default=0)
        lines = [f"| {' | '.join(row + [''] * (width - len(row)))} |" for row in rows]
        return "\n".join([*lines[:1], f"|{'---|' * width}", *lines[1:]])

    def _code(self, block: Element) -> str:
        texts = list(block.texts())
        written = "".join(text.text for text in texts).rstrip("\n")
        fence = "`" * max(3, 1 + max(map(len, _TICKS.findall(written)), default=0))
        numbers = "".join(self._numbers(text.end) for text in texts)
        return "\n".join(filter(None, (fence, written, fence))) + (
            f"\n\n{numbers}" if numbers else ""
        )

    def _inline(self, children: Iterable[Tree]) -> str:
        return "".join(self._leaf(child) for child in children)

    def _leaf(self, child: Tree) -> str:
        if isinstance(child, Written):
            return self._numbered(child)
        if child.tag == "br":
            return "\\\n"
        if child.tag == "code":
            return self._code_span(child)
        inside = self._inline(child.children)
        if child.tag == "a" and (address := http_address(child.href)):
            marks = "".join(_NOTE.findall(inside))  # a link must not hold one
            return f"[{_NOTE.sub('', inside)}](<{address}>){marks}"
        mark = _EMPHASIS.get(child.tag, "")
        words = inside.strip()
        if not mark or not words:
            return inside
        before, after = inside[: len(inside) - len(inside.lstrip())], inside[len(inside.rstrip()) :]
        return f"{before}{mark}{words}{mark}{after}"

    def _code_span(self, span: Element) -> str:
        written = " ".join("".join(text.text for text in span.texts()).split())
        ticks = "`" * (1 + max(map(len, _TICKS.findall(written)), default=0))
        pad = " " if written[:1] == "`" or written[-1:] == "`" else ""
        code = f"{ticks}{pad}{written}{pad}{ticks}" if written else ""
        return code + "".join(self._numbers(text.end) for text in span.texts())

    def _numbered(self, text: Written) -> str:
        """The text, escaped, with the numbers of the claims that end in it."""
        ends = sorted(end for end in self._ends if text.start < end <= text.end)
        if not ends:
            return _escaped(text.text)
        if not text.verbatim:
            return _escaped(text.text) + "".join(map(self._numbers, ends))
        parts, position = [], 0
        for end in ends:
            parts += [_escaped(text.text[position : end - text.start]), self._numbers(end)]
            position = end - text.start
        return "".join([*parts, _escaped(text.text[position:])])

    def _numbers(self, end: int) -> str:
        """The footnote marks of claims that end here; each is written once."""
        return "".join(f"[^{number}]" for number in self._ends.pop(end, ()))


def _escaped(text: str) -> str:
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return "\n".join(escape_marks(_CONTROLS.sub(" ", line)) for line in lines)


def _prefixed(text: str, first: str, others: str) -> str:
    lines = text.split("\n") or [""]
    return "\n".join(
        (first if n == 0 else others if line else others.rstrip()) + line
        for n, line in enumerate(lines)
    )
