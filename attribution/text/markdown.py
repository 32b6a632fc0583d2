"""The Markdown reader: a text as a tree of elements whose texts know where they were written.

Blocks are markdown-it-py's (CommonMark with tables and strikethrough). HTML, indented lines and underlined lines are
plain text, because nothing an answer says may be lost.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache

from markdown_it import MarkdownIt
from markdown_it.common.utils import MD_TRIM_CHARS
from markdown_it.rules_block import StateBlock
from markdown_it.tree import SyntaxTreeNode

from attribution.text.inline import Element, InlineParser, Role, Text

__all__ = ["Element", "Text", "escape_markdown", "read"]

_BREAK = re.compile(r"\r\n?|\n")
_PREFIX = re.compile(r"(?:[ \t]|>|(?:[-*+]|\d{1,9}[.)])(?=[ \t]))*")
_BULLET = re.compile(r"^([ \t>]*)[•◦▪‣](?=[ \t])", re.M)
_YEAR = re.compile(r"^((?:[ \t>]|[-*+•][ \t])*\d{4,9})[.)](?=[ \t])", re.M)  # "1975. It was a year." opens no list
_PIPE = re.compile(r"(?<!\\)\|")
_MARKS = re.compile(r"([\\`*_{}\[\]<>#|~$&!])")
_NOTE = re.compile(r"\[\^[^\]\s]{1,40}\]:|\[[^\[\]\n]{1,80}\]:[ \t]*<?https?://", re.I)


def escape_markdown(text: str) -> str:
    """A text on one line in which Markdown finds no marks."""
    return escape_marks(" ".join(text.split()))


def escape_marks(text: str) -> str:
    """A part of a line in which Markdown finds no marks, its white space as it is."""
    return _MARKS.sub(r"\\\1", text)


@lru_cache(maxsize=32)
def read(source: str) -> Element:
    """The document: an element without a tag."""
    # what decides whether a line opens a list is replaced character by character, so that places stay
    prepared = _YEAR.sub(r"\1_", _BULLET.sub(r"\1-", source))
    reader = _Reader(source)
    return reader.document(SyntaxTreeNode(_parser().parse(prepared)).children)


@cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False}).enable("table")
    parser.disable(["reference", "code", "lheading", "inline", "text_join"])
    parser.block.ruler.before("paragraph", "note", _note, {"alt": ["paragraph"]})
    return parser


def _note(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Block rule: the definition of a footnote or a link, up to an empty line or the next one."""

    def line(number: int) -> str:
        return state.src[state.bMarks[number] + state.tShift[number] : state.eMarks[number]]

    if not _NOTE.match(line(start)):
        return False
    if not silent:
        state.line = start + 1
        while state.line < end and not state.isEmpty(state.line) and not _NOTE.match(line(state.line)):
            state.line += 1
        token = state.push("note", "p", 0)
        token.map = [start, state.line]
        token.content = "\n".join(line(n) for n in range(start, state.line))
    return True


class _Reader:
    def __init__(self, source: str) -> None:
        self.source = source
        breaks = list(_BREAK.finditer(source))
        self.starts = [0, *(m.end() for m in breaks), len(source)]
        self.ends = [*(m.start() for m in breaks), len(source)]
        self.inline = InlineParser(source)
        self.held: set[int] = set()  # lines that are in a block

    def document(self, nodes: Sequence[SyntaxTreeNode]) -> Element:
        blocks = [self.block(node) for node in nodes]
        rest = []  # lines nested deeper than the parser goes
        for line, (start, end) in enumerate(zip(self.starts, self.ends, strict=False)):
            match = _PREFIX.match(self.source, start, end)
            if match and line not in self.held and any(c.isalnum() for c in self.source[match.end() : end]):
                rest.append(Element("p", self.inline.parse(range(match.end(), end))))
        if rest:
            blocks = sorted([*blocks, *rest], key=lambda e: next((t.start for t in e.texts()), -1))
        return Element("", tuple(blocks))

    def block(self, node: SyntaxTreeNode) -> Element:
        if node.type not in ("paragraph", "heading", "note", "fence", "hr", "table"):
            number = node.info if node.type == "list_item" else str(node.attrs.get("start", ""))
            return Element(node.tag, tuple(self.block(child) for child in node.children), number=number)
        first, last = node.map or (0, 0)
        self.held.update(range(first, last))
        if node.type == "table":
            return Element("table", tuple(self._rows(part) for part in node.children))
        if node.type == "fence":
            return Element("pre", (Element("code", tuple(self._code(first + 1, node.content))),))
        if node.type == "hr":
            return Element("hr")
        if node.type == "heading":
            places = self._heading(first, len(node.markup), node.children[0].content)
            return Element(node.tag, self.inline.parse(places))
        content = node.content if node.type == "note" else node.children[0].content
        role: Role = "note" if node.type == "note" else "tight" if node.hidden else ""
        return Element("p", self.inline.parse(self._lines(first, last, content)), role=role)

    def _lines(self, first: int, last: int, content: str) -> list[int]:
        """Where the characters of a paragraph stand: each of its lines is the end of a line of the source."""
        written = [text.strip(MD_TRIM_CHARS) for text in content.split("\n")]
        ranges = [(self.starts[n], self.ends[n]) for n in range(first, last)]
        ranges = [(a, b) for a, b in ranges if self.source[a:b].strip(MD_TRIM_CHARS + ">")]
        places: list[int] = []
        stop = end = 0
        for text, (start, line_end) in zip([text for text in written if text], ranges, strict=False):
            if places:  # blanks at the end of the line before, which may break it, and its end
                places += range(stop, end + 1)
            end = line_end
            stop = start + len(self.source[start:end].rstrip(MD_TRIM_CHARS))
            places += range(stop - len(text), stop)
        return places

    def _heading(self, line: int, level: int, content: str) -> Sequence[int]:
        start = self.source.find("#", self.starts[line], self.ends[line]) + level
        while start < self.ends[line] and self.source[start] in MD_TRIM_CHARS:
            start += 1
        return range(start, start + len(content))

    def _code(self, line: int, content: str) -> Iterator[Text]:
        for number, text in enumerate(content.split("\n")[:-1], line):
            start, stop = max(self.starts[number], self.ends[number] - len(text)), self.starts[number + 1]
            if start < stop:
                yield Text(self.source[start:stop], start, stop)

    def _rows(self, part: SyntaxTreeNode) -> Element:
        tag = "th" if part.tag == "thead" else "td"
        rows = [(row.map or (0, 0))[0] for row in part.children]
        return Element(part.tag, tuple(Element("tr", tuple(self._cells(n, tag, part.level))) for n in rows))

    def _cells(self, line: int, tag: str, level: int) -> Iterator[Element]:
        """All cells of a line, also those beyond the columns that the table's head has."""
        start, end = self.starts[line], self.ends[line]
        prefix = _PREFIX.match(self.source, start, end)
        start = prefix.end() if prefix and level > 1 else start
        bars = [m.start() for m in _PIPE.finditer(self.source, start, end)]
        edges = [start - 1, *bars, end]
        if bars and not self.source[start : bars[0]].strip():
            edges = edges[1:]
        if bars and not self.source[bars[-1] + 1 : end].strip():
            edges = edges[:-1]
        for a, b in zip(edges, edges[1:], strict=False):
            text = self.source[a + 1 : b]
            first, last = a + 1 + len(text) - len(text.lstrip()), a + 1 + len(text.rstrip())
            places = [i for i in range(first, last) if self.source[i : i + 2] != "\\|"]
            yield Element(tag, self.inline.parse(places))
