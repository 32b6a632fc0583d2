"""Parse Markdown into a tree of elements whose texts keep their positions in the source.

Blocks are parsed by markdown-it-py (CommonMark with tables and strikethrough). HTML, indented lines
and underlined
lines are plain text, so that no text of an answer is lost.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Literal

from markdown_it import MarkdownIt
from markdown_it.common.utils import MD_TRIM_CHARS
from markdown_it.parser_inline import ParserInline
from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline, link
from markdown_it.rules_inline.state_inline import Scanned
from markdown_it.token import Token
from markdown_it.tree import SyntaxTreeNode
from markdown_it.utils import EnvType

from attribution.text.marks import Found, marks
from attribution.types import Span

__all__ = ["Element", "Written", "escape_markdown", "read"]

_BREAK = re.compile(r"\r\n?|\n")
_PREFIX = re.compile(r"(?:[ \t]|>|(?:[-*+]|\d{1,9}[.)])(?=[ \t]))*")
_BULLET = re.compile(r"^([ \t>]*)[•◦▪‣](?=[ \t])", re.M)
_YEAR = re.compile(
    r"^((?:[ \t>]|[-*+•][ \t])*\d{4,9})[.)](?=[ \t])", re.M
)  # "1975. It was a year." opens no list
_PIPE = re.compile(r"(?<!\\)\|")
_MARKS = re.compile(r"([\\`*_{}\[\]<>#|~$&!])")
_NOTE = re.compile(r"\[\^[^\]\s]{1,40}\]:|\[[^\[\]\n]{1,80}\]:[ \t]*<?https?://", re.I)


def escape_markdown(text: str) -> str:
    """Put a text on one line and escape it, so that Markdown finds no markup in it."""
    return escape_marks(" ".join(text.split()))


def escape_marks(text: str) -> str:
    """Escape a part of a line, keeping its white space."""
    return _MARKS.sub(r"\\\1", text)


@lru_cache(maxsize=32)
def read(source: str) -> Element:
    """Parse a document into an element without a tag."""
    # replace list markers character by character, so that offsets stay valid
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
    """Match the definition of a footnote or link, up to an empty line or the next definition (a
    block rule).
    """

    def line(number: int) -> str:
        return state.src[state.bMarks[number] + state.tShift[number] : state.eMarks[number]]

    if not _NOTE.match(line(start)):
        return False
    if not silent:
        state.line = start + 1
        while (
            state.line < end and not state.isEmpty(state.line) and not _NOTE.match(line(state.line))
        ):
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
        self.held: set[int] = set()  # lines that belong to a block

    def document(self, nodes: Sequence[SyntaxTreeNode]) -> Element:
        blocks = [self.block(node) for node in nodes]
        rest = []  # lines nested too deeply for the parser
        for line, (start, end) in enumerate(zip(self.starts, self.ends, strict=False)):
            match = _PREFIX.match(self.source, start, end)
            if (
                match
                and line not in self.held
                and any(c.isalnum() for c in self.source[match.end() : end])
            ):
                rest.append(Element("p", self.inline.parse(range(match.end(), end))))
        if rest:
            blocks = sorted([*blocks, *rest], key=lambda e: next((t.start for t in e.texts()), -1))
        return Element("", tuple(blocks))

    def block(self, node: SyntaxTreeNode) -> Element:
        if node.type not in ("paragraph", "heading", "note", "fence", "hr", "table"):
            number = node.info if node.type == "list_item" else str(node.attrs.get("start", ""))
            return Element(
                node.tag, tuple(self.block(child) for child in node.children), number=number
            )
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
        """Return the source position of each character of a paragraph, whose lines are the ends of
        source lines.
        """
        written = [text.strip(MD_TRIM_CHARS) for text in content.split("\n")]
        ranges = [(self.starts[n], self.ends[n]) for n in range(first, last)]
        ranges = [(a, b) for a, b in ranges if self.source[a:b].strip(MD_TRIM_CHARS + ">")]
        places: list[int] = []
        stop = end = 0
        for text, (start, line_end) in zip(
            [text for text in written if text], ranges, strict=False
        ):
            if places:  # the line break, with the spaces before it, which may make it a hard one
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

    def _code(self, line: int, content: str) -> Iterator[Written]:
        for number, text in enumerate(content.split("\n")[:-1], line):
            start, stop = (
                max(self.starts[number], self.ends[number] - len(text)),
                self.starts[number + 1],
            )
            if start < stop:
                yield Written(self.source[start:stop], start, stop)

    def _rows(self, part: SyntaxTreeNode) -> Element:
        tag = "th" if part.tag == "thead" else "td"
        rows = [(row.map or (0, 0))[0] for row in part.children]
        return Element(
            part.tag, tuple(Element("tr", tuple(self._cells(n, tag, part.level))) for n in rows)
        )

    def _cells(self, line: int, tag: str, level: int) -> Iterator[Element]:
        """Yield all cells of a line, even beyond the columns of the table's head."""
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


_TICKS = re.compile(r"`+")
_LINE_BREAK = re.compile(r"<br\s*/?>", re.I)
_DEPTH = 12
_TAGS = {"s": "del"}


Role = Literal["", "note", "tight"]


@dataclass(frozen=True)
class Written:
    """A text as displayed, from `source[start:end]`: the same characters, except for escapes and
    entities.
    """

    text: str
    start: int
    end: int

    @property
    def verbatim(self) -> bool:
        return len(self.text) == self.end - self.start


@dataclass(frozen=True)
class Element:
    """A block or inline element by its HTML tag; `cite` is a citation mark."""

    tag: str
    children: tuple[Tree, ...] = ()
    href: str = ""  # of a link or an image; unchecked
    number: str = ""  # of an item, or the first of a list
    role: Role = ""  # of a paragraph: it defines a footnote, or is the bare text of an item
    mark: Found | None = None  # of a citation mark

    @property
    def elements(self) -> tuple[Element, ...]:
        return tuple(child for child in self.children if isinstance(child, Element))

    def texts(self) -> Iterator[Written]:
        """Yield all texts, in order."""
        for child in self.children:
            if isinstance(child, Written):
                yield child
            else:
                yield from child.texts()


Tree = Element | Written


class InlineParser:
    """A parser for the inline content of a source."""

    def __init__(self, source: str) -> None:
        self.source = source
        parts = [
            (span, mark) for mark in marks(source) for span in mark.hidden if span[0] < span[1]
        ]
        self.hidden = [span for span, _ in parts]
        self.found = [mark for _, mark in parts]

    def parse(self, places: Sequence[int]) -> tuple[Tree, ...]:
        """Parse the text whose characters have these positions; a carriage return is a line break."""
        text = "".join("\n" if self.source[p] == "\r" else self.source[p] for p in places)
        parser = _inline_parser()
        open_: list[tuple[Token, list[Tree]]] = []
        trees: list[Tree] = []
        deeper = 0  # depth of marks nested below _DEPTH
        for token in parser.inline.parse(text, parser, {"marks": self._marks(places)}, []):
            if token.nesting == 1 and len(open_) < _DEPTH:
                open_.append((token, trees))
                trees = []
            elif token.nesting == -1 and not deeper:
                opening, outer = open_.pop()
                tag = _TAGS.get(opening.tag, opening.tag)
                href, mark = (
                    str(opening.attrs.get("href", "")),
                    self._found(opening, places) if tag == "cite" else None,
                )
                trees = [*outer, Element(tag, tuple(trees), href=href, mark=mark)]
            elif token.nesting:
                deeper += token.nesting
            else:
                for leaf in self._leaf(token, text, places):
                    _add(trees, leaf)
        return tuple(trees)

    def _marks(self, places: Sequence[int]) -> list[Span]:
        """Return the parts of citation marks that are among these positions, as spans of their
        text.
        """
        if not places:
            return []
        first = bisect_right(self.hidden, places[0], key=lambda span: span[1])
        last = bisect_right(self.hidden, places[-1], key=lambda span: span[0])
        found = [
            (bisect_left(places, start), bisect_left(places, end))
            for start, end in self.hidden[first:last]
        ]
        return [(start, end) for start, end in found if start < end]

    def _found(self, token: Token, places: Sequence[int]) -> Found:
        return self.found[
            bisect_right(self.hidden, places[token.meta["at"]], key=lambda span: span[0]) - 1
        ]

    def _leaf(self, token: Token, text: str, places: Sequence[int]) -> Iterator[Tree]:
        at: int = token.meta["at"]
        if token.type == "text_special":
            yield Written(token.content, places[at], places[at + len(token.markup) - 1] + 1)
        elif token.type == "code_inline":
            at += len(token.markup)
            closing = next(
                (m.start() for m in _TICKS.finditer(text, at) if m[0] == token.markup), at
            )
            if closing - at > len(token.content):
                at += 1  # "`` a ``": one space on either side is not displayed
            yield Element("code", tuple(self._texts(places[at : at + len(token.content)])))
        elif token.type == "hardbreak":
            last = places[at + max(len(token.content), 2) - 1] if text[at] in "\\<" else places[at]
            yield Element("br", (Written("\n", places[at], last + 1),))
        else:
            yield from self._texts(
                places[at : at + (1 if token.type == "softbreak" else len(token.content))]
            )

    def _texts(self, places: Sequence[int]) -> Iterator[Written]:
        """Yield a text for each contiguous range of the source."""
        start = 0
        for i in range(1, len(places) + 1):
            if i == len(places) or places[i] != places[i - 1] + 1:
                first, last = places[start], places[i - 1] + 1
                yield Written(self.source[first:last], first, last)
                start = i


def _add(trees: list[Tree], leaf: Tree) -> None:
    """Append a leaf, joined to the text before it if both are verbatim and adjacent."""
    last = trees[-1] if trees else None
    if (
        isinstance(last, Written)
        and isinstance(leaf, Written)
        and last.end == leaf.start
        and last.verbatim
        and leaf.verbatim
    ):
        trees[-1] = Written(last.text + leaf.text, last.start, leaf.end)
    else:
        trees.append(leaf)


@cache
def _inline_parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False})
    parser.inline = _Inline()
    parser.inline.ruler.disable(["linkify", "html_inline"])
    parser.inline.ruler.at("image", _image)
    parser.inline.ruler.at("text", _text)
    parser.inline.ruler.before("text", "cite", _cite)
    parser.inline.ruler.before("autolink", "br", _br)
    parser.inline.ruler2.disable("fragments_join")  # joined texts would share one position
    parser.validateLink = lambda url: True  # type: ignore[method-assign]  # the page decides what may be opened
    parser.normalizeLinkText = lambda link: link  # type: ignore[method-assign]
    return parser


class _Inline(ParserInline):
    def parse(self, src: str, md: MarkdownIt, env: EnvType, tokens: list[Token]) -> list[Token]:
        state = _State(src, md, env, tokens)
        self.tokenize(state)
        for rule in self.ruler2.getRules(""):
            rule(state)
        return state.tokens


class _State(StateInline):
    """Inline state that records each token's start in its meta; rules push tokens before they
    advance.
    """

    _pending_at = 0

    def append_pending(self, text: str) -> None:
        if not self.pending:
            self._pending_at = self.pos
        super().append_pending(text)

    def pushPending(self) -> Token:
        token = super().pushPending()
        token.meta["at"] = self._pending_at
        return token

    def push(self, ttype: str, tag: str, nesting: Literal[-1, 0, 1]) -> Token:
        token = super().push(ttype, tag, nesting)
        last = self.tokens[-2] if len(self.tokens) > 1 else None
        token.meta["at"] = self.pos
        if (
            ttype == "text" and last and last.type == "text"
        ):  # "**" is pushed as two tokens from one position
            token.meta["at"] = max(self.pos, last.meta["at"] + len(last.content))
        elif ttype == "text" and last and last.info == "auto":  # "<https://…>"
            token.meta["at"] += 1
        return token

    def scanDelims(self, start: int, canSplitWord: bool) -> Scanned:
        """Scan as CommonMark does, with two exceptions.

        A mark opens before and closes after any character but white space ("**Term:**text", Chinese
        text), and a star
        between letters or digits is a literal star ("5*3").
        """
        found = super().scanDelims(start, canSplitWord)
        before = self.src[start - 1] if start else " "
        after = self.src[start + found.length] if start + found.length < self.posMax else " "
        if self.src[start] == "_":
            return found
        if (
            found.length == 1
            and before.isascii()
            and before.isalnum()
            and after.isascii()
            and after.isalnum()
        ):
            return Scanned(False, False, 1)
        return Scanned(not after.isspace(), not before.isspace(), found.length)


def _text(state: StateInline, silent: bool) -> bool:
    """Match plain text up to the next sign of Markdown or citation mark."""
    ahead = state.env["marks"]
    sign = state.md.inline.terminator_re.search(state.src, state.pos, state.posMax)
    mark = next((a for a, _ in ahead[bisect_left(ahead, (state.pos,)) :][:1]), state.posMax)
    end = min(sign.start() if sign else state.posMax, mark, state.posMax)
    if not silent:
        state.append_pending(state.src[state.pos : end])
    start, state.pos = state.pos, end
    return end > start


def _cite(state: StateInline, silent: bool) -> bool:
    """Match a citation mark; inside it is Markdown, such as a link."""
    ahead, most = state.env["marks"], state.posMax
    at = bisect_left(ahead, (state.pos,))
    if at == len(ahead) or ahead[at][0] != state.pos or ahead[at][1] > most:
        return False
    end = ahead[at][1]
    if not silent:
        state.env["marks"], state.posMax = [], end
        state.push("cite_open", "cite", 1)
        state.md.inline.tokenize(state)
        state.push("cite_close", "cite", -1)
        state.env["marks"], state.posMax = ahead, most
    state.pos = end
    return True


def _br(state: StateInline, silent: bool) -> bool:
    match = _LINE_BREAK.match(state.src, state.pos, state.posMax)
    if match and not silent:
        state.push("hardbreak", "br", 0).content = match[0]
    state.pos = match.end() if match else state.pos
    return match is not None


def _image(state: StateInline, silent: bool) -> bool:
    """Parse an image's description as formatted text. markdown-it's own rule parses it again,
    without a depth limit.
    """
    start, before = state.pos, len(state.tokens)
    if not state.src.startswith("![", start):
        return False
    state.pos += 1
    if not link(state, silent):
        state.pos = start
        return False
    if not silent:
        next(t for t in state.tokens[before:] if t.type == "link_open").tag = "img"
    return True
