"""Read the text that an HTML tree shows, block by block."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING

from attribution.fetching import table_text

if TYPE_CHECKING:
    from lxml.etree import _Element

BLOCK_TAGS = frozenset(
    "address article aside blockquote body caption center dd details dialog dir div dl dt fieldset "
    "figcaption figure footer form h1 h2 h3 h4 h5 h6 header hgroup hr html legend li main menu nav "
    "ol p pre section summary table tbody td tfoot th thead tr ul".split()
)
UNREAD_TAGS = frozenset(
    "head script style template noscript svg iframe audio video canvas object rt rp title "
    "select".split()
)
LINE_BREAK = "\x01"  # within a block that is being read
MAX_CELL = 400  # characters: a table with longer cells is a layout
MAX_SPAN = 100  # columns or rows
_AROUND_BREAK = re.compile(f" ?{LINE_BREAK} ?")
_ITEM = re.compile(r"(?:^|\n)- |\n")
_NOTE_LINK = re.compile(r"\b(?:noteref|(?:footnote-?|fn)ref)\b")


@dataclass
class _Table:
    rows: list[list[str]] = field(default_factory=list)  # cells
    head_count: int = 0


def read_text(tree: _Element) -> str:
    """Return the text of a tree that shows nothing else."""
    write_out(tree)
    return read_blocks(tree)


def read_blocks(tree: _Element) -> str:
    """Return the paragraphs, headings and items of a tree, without white space that does not show.

    A blank line stands between them; the items of a list stand on lines.
    """
    reader = _BlockReader()
    reader.read(tree, tree)
    reader.end_block()
    return reader.text


def text_length(element: _Element) -> int:
    """Return the number of characters in an element."""
    return len("".join(element.itertext()))


def tag_of(element: _Element) -> str:
    """Return an element's name in lower case without its namespace; empty for a comment."""
    return _local_name(element.tag)


@lru_cache(1_000)
def _local_name(tag: object) -> str:
    return tag.rpartition("}")[2].lower() if isinstance(tag, str) else ""


def remove(elements: Iterable[_Element]) -> None:
    """Remove elements, but not the text that follows them."""
    for element in list(elements):
        parent, previous = element.getparent(), element.getprevious()
        if parent is None:
            continue
        tail = element.tail or ""
        if previous is not None:
            previous.tail = (previous.tail or "") + tail
        else:
            parent.text = (parent.text or "") + tail
        parent.remove(element)


class _BlockReader:
    def __init__(self) -> None:
        self.text = ""
        self._parts: list[str] = []
        self._is_after_item = False

    def end_block(self) -> None:
        """End the block that is being read."""
        block = " ".join("".join(self._parts).split())
        block = _AROUND_BREAK.sub("\n", block).strip()
        self._parts.clear()
        if block in ("", "-"):
            return
        is_item = block.startswith("- ")
        if self.text:
            self.text += "\n" if is_item and self._is_after_item else "\n\n"
        self.text += block
        self._is_after_item = is_item

    def read(self, element: _Element, block: _Element) -> None:
        """Read an element within a block."""
        tag = tag_of(element)
        if not tag or tag in UNREAD_TAGS:
            return
        is_block = tag in BLOCK_TAGS
        if is_block:
            self.end_block()
            block = element
        if tag == "li":
            self._parts.append("- ")
        if tag == "br":
            self._parts.append(LINE_BREAK)
        line_end = LINE_BREAK if tag_of(block) == "pre" else "\n"
        self._parts.append((element.text or "").replace("\n", line_end))
        for child in element:
            self.read(child, block)
            self._parts.append((child.tail or "").replace("\n", line_end))
        if is_block:
            self.end_block()


# --- tables ---


def _write_table(element: _Element) -> None:
    """Replace a table of data by a paragraph for each row; a layout stays as it is."""
    table = _parse_table(element)
    if table is None or max(map(len, table.rows), default=0) < 2:
        return
    lines = [read_blocks(caption) for caption in element.iter("{*}caption")]
    above = lines[-1] if lines else _text_above(element)
    lines += table_text.lines(table.rows, table.head_count or None, above)
    element.clear(keep_tail=True)
    element.tag = "div"
    for line in lines:
        paragraph = element.makeelement("p")
        paragraph.text = line
        element.append(paragraph)


def _text_above(element: _Element) -> str:
    """Return the text of the element before this one, or before the one it begins."""
    first: _Element | None = element
    while first is not None and first.getprevious() is None:
        first = first.getparent()
    previous = first.getprevious() if first is not None else None
    return "".join(previous.itertext()) if previous is not None else ""


def _parse_table(element: _Element) -> _Table | None:
    """Return the cells of a table, with those that span rows or columns; None for a layout."""
    table = _Table()
    from_above: dict[tuple[int, int], str] = {}  # cells by row and column
    for number, row in enumerate(element.iter("{*}tr")):
        cells = [cell for cell in row if tag_of(cell) in ("td", "th")]
        is_head = number == table.head_count and _is_head(row, cells)
        table.head_count += is_head
        texts: list[str] = []
        for cell in cells:
            while (number, len(texts)) in from_above:
                texts.append(from_above[number, len(texts)])
            text = _ITEM.sub(" ", read_blocks(cell)).strip()
            if len(text) > MAX_CELL:
                return None
            for below in range(1, _span(cell, "rowspan")):
                from_above[number + below, len(texts)] = text
            columns = _span(cell, "colspan")
            texts += [text] + [text if is_head else ""] * (columns - 1)
        while (number, len(texts)) in from_above:
            texts.append(from_above[number, len(texts)])
        table.rows.append(texts)
    return table


def _is_head(row: _Element, cells: list[_Element]) -> bool:
    parent = row.getparent()
    if parent is not None and tag_of(parent) == "thead":
        return True
    heads = [tag_of(cell) == "th" or cell.get("role") == "columnheader" for cell in cells]
    return len(cells) > 1 and all(heads)


def _span(cell: _Element, name: str) -> int:
    value = cell.get(name) or "1"
    if not (value.isascii() and value.isdigit() and len(value) < 6):
        return 1
    return min(max(int(value), 1), MAX_SPAN)


# --- elements that show more or less than their text ---


def write_out(tree: _Element) -> None:
    """Replace raised figures, quotations, formulas and tables by their text."""
    for element in list(tree.iter("{*}sup", "{*}a", "{*}q", "{*}math")):
        text = _shown_text(element, tag_of(element))
        if text is not None:
            element.clear(keep_tail=True)
            element.tag = "span"
            element.text = text
    for table in list(tree.iter("{*}table")):
        if next(table.iterdescendants("{*}table"), None) is None:
            _write_table(table)


def _shown_text(element: _Element, tag: str) -> str | None:
    """Return what an element shows; None for its text as it is."""
    text = "".join(element.itertext())
    if tag == "sup":
        return raised(_text_before(element), text)
    if tag == "q":
        return f"“{text}”"
    if tag == "math":
        return f" {formula(element) or '[formula]'} "
    is_note = _NOTE_LINK.search(" ".join(element.values()))
    return raised("", text) if is_note else None


def _text_before(element: _Element) -> str:
    previous, parent = element.getprevious(), element.getparent()
    if previous is not None:
        return "".join(previous.itertext()) + (previous.tail or "")
    return (parent.text or "") if parent is not None else ""


_POWER_BASE = re.compile(
    r"""(?: (?<![\d.,]) 10          # 10^6
          | (?<![\w.,]) \d          # 2^n
          | (?<![^\W\d_]) [^\W\d_]{1,2}  # km², x^n
          | \)                      # (a + b)^2
        )$""",
    re.VERBOSE,
)
_POWER = re.compile(r"[+\-−–]?\d{1,3}|[a-z]")
_NOTE_MARK = re.compile(r"\d{1,3}(?:\s*[,–-]\s*\d{1,3})*|[*†‡§]+")
_SQUARES = {"2": "²", "3": "³"}


def raised(before: str, text: str) -> str:
    """Return a superscript as text after the text `before` it.

    It is a power ("10^6", "km²"), a note's mark ("1878[3]"), or letters ("1st").
    """
    text = text.strip()
    last = before[-1:]
    is_power = _POWER.fullmatch(text) and _POWER_BASE.search(before[-8:])
    if is_power and not (text.isalpha() and last.isalpha()):
        if last.isalpha() and text in _SQUARES:
            return _SQUARES[text]
        return text if last.isdigit() and text.isalpha() else f"^{text}"
    is_number = _NOTE_MARK.fullmatch(text) and text.strip("*†‡§")
    return f"[{text}]" if is_number else text


_FORMULA_FORMS = {"up": "{0}^{1}", "ub": "{0}_{1}", "frac": "{0}/{1}", "f": "{0}/{1}"}


def formula(element: _Element) -> str:
    """Return a formula of MathML or Office on one line: "Q=1.84 b h", "10^6", "√(a/b)"."""
    name = tag_of(element)
    if name in ("", "annotation", "annotation-xml", "deg") or name.endswith("pr"):
        return ""
    if not len(element):
        return " ".join((element.text or "").split())
    parts = [part for part in map(formula, element) if part]
    if name in ("msqrt", "mroot", "rad"):
        return f"√({''.join(parts)})"
    form = _FORMULA_FORMS.get(name.lstrip("ms"), "")  # of msup and sSup, msub and sSub
    return form.format(*parts) if form and len(parts) == 2 else "".join(parts)
