"""Parse Markdown into a tree of elements whose texts keep their positions in the source.

markdown-it-py parses CommonMark with tables and strikethrough. HTML, indented lines and underlined
lines are plain text, so that no text of an answer is lost.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import pairwise
from typing import Literal, NamedTuple

from markdown_it import MarkdownIt
from markdown_it.common.utils import MD_TRIM_CHARS
from markdown_it.rules_inline import StateInline, link
from markdown_it.rules_inline.state_inline import Scanned
from markdown_it.token import Token
from markdown_it.tree import SyntaxTreeNode

from attribution.text.marks import FoundMark, marks
from attribution.text.sentences import trimmed
from attribution.text.wrappers import unwrapped

Role = Literal["", "note", "tight"]
_BREAK = re.compile(r"\r\n?|\n")
_PREFIX = re.compile(r"(?:[ \t]|>|(?:[-*+]|\d{1,9}[.)])(?=[ \t]))*")
_BULLET = re.compile(r"^([ \t>]*)[•◦▪‣](?=[ \t])", re.MULTILINE)
_DEEP = re.compile(  # more quotations and lists in one line than anyone writes
    r"^(?:[ \t]*(?:>|(?:[-*+]|\d{1,9}[.)])(?=[ \t]))){9,}", re.MULTILINE
)
_NESTED = 100  # blocks within each other, by indented lines
_YEAR = re.compile(  # "1975. It was a year." opens no list
    r"^((?:[ \t>]|[-*+•][ \t])*\d{4,9})[.)](?=[ \t])", re.MULTILINE
)
_PIPE = re.compile(r"(?<!\\)\|")
_SIGNS = re.compile(r"([\\`*_{}\[\]<>#|~$&!])")
_NOTE = re.compile(
    r"\[\^[^\]\s]{1,40}\]: | \[[^\[\]\n]{1,80}\]:[ \t]*<?https?://", re.IGNORECASE | re.VERBOSE
)
_LEAVES = ("paragraph", "heading", "fence", "hr", "table")
_NO_MARK = re.compile(r"\\\Z|\]\([^\s()]*\Z")  # behind an escape, or within a link's target
_FORMAT = re.compile(  # tags within a line, which show nothing themselves
    r"(?i)<(?:(?P<br>br)\s*/?|/?(?:b|em|font|i|mark|s|small|span|strong|sub|u)(?:\s[^<>]{0,200})?)>"
)
_DEEPEST = 12  # elements within each other on a line
_MASK = "\ufe45"  # a punctuation sign, in place of the characters of a citation mark
_TAGS = {"s": "del"}


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

    def continues_in(self, other: Written) -> bool:
        return self.end == other.start and self.verbatim and other.verbatim


@dataclass(frozen=True)
class Element:
    """A block or inline element by its HTML tag; `cite` is a citation mark."""

    tag: str
    children: tuple[Tree, ...] = ()
    href: str = ""  # of a link or an image; unchecked
    number: str = ""  # of an item, or the first of a list
    role: Role = ""  # of a paragraph: it defines a footnote, or is the bare text of an item
    mark: FoundMark | None = None  # of a citation mark

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


def escape_markdown(text: str) -> str:
    """Put a text on one line and escape it, so that Markdown finds no markup in it."""
    return _SIGNS.sub(r"\\\1", " ".join(text.split()))


@lru_cache(maxsize=4)  # whole answers
def read(source: str) -> Element:
    """Parse a document into an element without a tag; an answer in a wrapper is unwrapped."""
    source = unwrapped(source)
    # replace list markers character by character, so that offsets stay valid
    prepared = _BULLET.sub(r"\1-", source)
    prepared = _YEAR.sub(r"\1_", prepared)
    prepared = _DEEP.sub(lambda signs: " " * len(signs[0]), prepared)
    tokens = _block_parser().parse(prepared)
    nodes = SyntaxTreeNode(tokens).children
    return Element("", tuple(_Reader(source).blocks(nodes)))


@cache
def _block_parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False, "maxNesting": _NESTED}).enable("table")
    parser.disable(["reference", "code", "lheading", "inline", "text_join"])
    return parser


class _Reader:
    """The blocks of a source, and the positions of their characters in it."""

    def __init__(self, source: str) -> None:
        self.source = source
        breaks = list(_BREAK.finditer(source))
        self.starts = [0, *(m.end() for m in breaks), len(source)]
        self.ends = [*(m.start() for m in breaks), len(source)]
        self.inline = _Inline(source)

    def blocks(self, nodes: Iterable[SyntaxTreeNode]) -> Iterator[Element]:
        for node in nodes:
            first, last = node.map or (0, 0)
            if node.type in _LEAVES:
                yield from self._leaf(node, first, last)
            else:
                number = node.info or str(node.attrs.get("start", ""))
                yield Element(node.tag, tuple(self.blocks(node.children)), number=number)

    def _leaf(self, node: SyntaxTreeNode, first: int, last: int) -> Iterator[Element]:
        """Read a block that holds no other block, from line `first` to before line `last`."""
        if node.type == "hr":
            yield Element("hr")
        elif node.type == "table":
            parts = [self._rows(part) for part in node.children]
            yield Element("table", tuple(parts))
        elif node.type == "fence":
            code = Element("code", tuple(self._code(first + 1, node.content)))
            yield Element("pre", (code,))
        elif node.type == "heading":
            content = node.children[0].content
            shown = self.source.replace("\0", "\ufffd")  # a NUL as the parser shows it
            start = shown.find(content, self.starts[first])
            places = range(start, start + len(content))
            yield Element(node.tag, self.inline.parse(places))
        else:
            role: Role = "tight" if node.hidden else ""
            yield from self._paragraphs(first, last, node.children[0].content, role)

    def _paragraphs(self, first: int, last: int, content: str, role: Role) -> Iterator[Element]:
        """Read a paragraph, whose lines are the ends of source lines; a definition is its own."""
        texts = []
        for text in content.split("\n"):
            text = text.strip(MD_TRIM_CHARS)
            if text:
                texts.append(text)
        lines = []
        for number in range(first, last):
            start, end = self.starts[number], self.ends[number]
            if self.source[start:end].strip(MD_TRIM_CHARS + ">"):
                lines.append((start, end))
        lines = lines[-len(texts) :]  # without a bullet that stands alone on the first
        places: list[int] = []
        stop = line_end = 0
        for text, (start, end) in zip(texts, lines, strict=False):
            is_note = _NOTE.match(text) is not None
            if is_note and places:
                yield Element("p", self.inline.parse(places), role=role)
                places = []
            if places:  # the line break, with the spaces before it, which may make it a hard one
                places += range(stop, line_end + 1)
            role = "note" if is_note else role
            stop = start + len(self.source[start:end].rstrip(MD_TRIM_CHARS))
            line_end = end
            places += range(stop - len(text), stop)
        yield Element("p", self.inline.parse(places), role=role)

    def _code(self, line: int, content: str) -> Iterator[Written]:
        for number, text in enumerate(content.split("\n")[:-1], line):
            start = max(self.starts[number], self.ends[number] - len(text))
            stop = self.starts[number + 1]
            if start < stop:
                yield Written(self.source[start:stop], start, stop)

    def _rows(self, part: SyntaxTreeNode) -> Element:
        tag = "th" if part.tag == "thead" else "td"
        rows = []
        for row in part.children:
            line = (row.map or (0, 0))[0]
            start, end = self.starts[line], self.ends[line]
            signs = _PREFIX.match(self.source, start, end)  # of quotations and lists
            cells = self._cells(signs.end() if signs else start, end, tag)
            rows.append(Element("tr", tuple(cells)))
        return Element(part.tag, tuple(rows))

    def _cells(self, start: int, end: int, tag: str) -> Iterator[Element]:
        """Yield all cells of a line, even beyond the columns of the table's head."""
        bars = _PIPE.finditer(self.source, start, end)
        edges = [start - 1, *(bar.start() for bar in bars), end]
        for number, (before, after) in enumerate(pairwise(edges)):
            text = self.source[before + 1 : after]
            is_outside = number == 0 or number == len(edges) - 2
            if is_outside and len(edges) > 2 and not text.strip():
                continue
            first, last = trimmed(self.source, before + 1, after)
            places = [i for i in range(first, last) if self.source[i : i + 2] != "\\|"]
            yield Element(tag, self.inline.parse(places))


class _Masked(NamedTuple):
    """A part of a citation mark among the characters of a text."""

    start: int
    end: int
    mark: FoundMark


class _Inline:
    """A parser for the inline content of a source.

    Citation marks are masked for markdown-it; the Markdown inside a mark is parsed by itself.
    """

    def __init__(self, source: str) -> None:
        self.source = source
        self.marks: list[_Masked] = []
        for mark in marks(source):
            for start, end in mark.hidden:
                before = source[max(0, start - 300) : start]
                if start < end and not _NO_MARK.search(before):
                    self.marks.append(_Masked(start, end, mark))

    def parse(self, places: Sequence[int]) -> tuple[Tree, ...]:
        """Parse the text at these positions; a carriage return is a line break."""
        if not places:
            return ()
        first = bisect_right(self.marks, places[0], key=lambda part: part.end)
        last = bisect_right(self.marks, places[-1], key=lambda part: part.start)
        masked: list[_Masked] = []
        for part in self.marks[first:last]:
            start = bisect_left(places, part.start)
            end = bisect_left(places, part.end)
            if start < end:
                masked.append(_Masked(start, end, part.mark))
        return self._trees(places, masked)

    def _trees(self, places: Sequence[int], masked: Sequence[_Masked]) -> tuple[Tree, ...]:
        """Parse characters of the source, where parts of citation marks are masked."""
        characters = [self.source[place] for place in places]
        characters = ["\n" if character == "\r" else character for character in characters]
        for start, end, _ in masked:
            characters[start:end] = _MASK * (end - start)
        parser = _inline_parser()
        text = "".join(characters)
        outer: list[tuple[Token, list[Tree]]] = []
        trees: list[Tree] = []
        too_deep = 0  # levels below _DEEPEST
        state = _State(text, parser, {}, [])
        parser.inline.tokenize(state)
        for rule in parser.inline.ruler2.getRules(""):
            rule(state)
        for token in state.tokens:
            if token.nesting == 1 and len(outer) < _DEEPEST:
                outer.append((token, trees))
                trees = []
            elif token.nesting == -1 and not too_deep:
                opening, above = outer.pop()
                tag = _TAGS.get(opening.tag, opening.tag)
                href = str(opening.attrs.get("href", ""))
                trees = [*above, Element(tag, tuple(trees), href=href)]
            elif token.nesting:
                too_deep += token.nesting
            else:
                for leaf in self._leaf(token, text, places, masked):
                    _add(trees, leaf)
        return tuple(trees)

    def _leaf(
        self, token: Token, text: str, places: Sequence[int], masked: Sequence[_Masked]
    ) -> Iterator[Tree]:
        """Yield the texts and citation marks of a token without children."""
        at: int = token.meta["at"]
        length = len(token.content)
        if token.type == "text_special":
            last = places[at + len(token.markup) - 1]
            yield Written(token.content, places[at], last + 1)
        elif token.type == "code_inline":
            at = text.replace("\n", " ").index(token.content, at + len(token.markup))
            texts = self._texts(places[at : at + length])
            yield Element("code", tuple(texts))
        elif token.type == "hardbreak":
            last = places[at + max(length, 2) - 1] if text[at] in "\\<" else places[at]
            yield Element("br", (Written("\n", places[at], last + 1),))
        else:
            end = at + (1 if token.type == "softbreak" else length)
            first = bisect_left(masked, at, key=lambda part: part.start)
            for part in masked[first:]:
                if part.start >= end:
                    break
                yield from self._texts(places[at : part.start])
                inside = self._trees(places[part.start : part.end], ())
                yield Element("cite", inside, mark=part.mark)
                at = part.end
            yield from self._texts(places[at:end])

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
    if isinstance(last, Written) and isinstance(leaf, Written) and last.continues_in(leaf):
        trees[-1] = Written(last.text + leaf.text, last.start, leaf.end)
    else:
        trees.append(leaf)


@cache
def _inline_parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False}).enable("strikethrough")
    parser.inline.ruler.disable("html_inline")
    parser.inline.ruler.at("image", _image)
    parser.inline.ruler.before("autolink", "format", _format)
    parser.inline.ruler2.disable("fragments_join")  # joined texts would share one position
    # the page decides what may be opened
    parser.validateLink = lambda url: True  # type: ignore[method-assign]
    parser.normalizeLinkText = lambda link: link  # type: ignore[method-assign]
    return parser


class _State(StateInline):
    """Inline state that records each token's start in its meta; rules push tokens before they
    advance.
    """

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
        token.meta["at"] = self.pos
        last = self.tokens[-2] if len(self.tokens) > 1 else None
        if ttype == "text" and last and last.type == "text":  # "**" is pushed as two tokens
            token.meta["at"] = max(self.pos, last.meta["at"] + len(last.content))
        elif ttype == "text" and last and last.info == "auto":  # "<https://…>"
            token.meta["at"] += 1
        return token

    def scanDelims(self, start: int, canSplitWord: bool) -> Scanned:
        """Scan as CommonMark does, with two exceptions.

        A mark opens before and closes after any character but white space ("**Term:**text", Chinese
        text), and a star between letters or digits is a literal star ("5*3").
        """
        scanned = super().scanDelims(start, canSplitWord)
        if self.src[start] == "_":
            return scanned
        before = self.src[start - 1 : start] or " "
        after = self.src[start + scanned.length : self.posMax][:1] or " "
        around = before + after
        if scanned.length == 1 and around.isascii() and around.isalnum():
            return Scanned(False, False, 1)
        return Scanned(not after.isspace(), not before.isspace(), scanned.length)


def _format(state: StateInline, silent: bool) -> bool:
    match = _FORMAT.match(state.src, state.pos, state.posMax)
    if not match:
        return False
    if match["br"] and not silent:
        state.push("hardbreak", "br", 0).content = match[0]
    elif state.pending and not silent:
        state.pushPending()
    state.pos = match.end()
    return True


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
