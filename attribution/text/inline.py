"""Inline Markdown with places: markdown-it-py's rules, on a state that notes where each token was written."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

from markdown_it import MarkdownIt
from markdown_it.parser_inline import ParserInline
from markdown_it.rules_inline import StateInline, link
from markdown_it.rules_inline.state_inline import Scanned
from markdown_it.token import Token
from markdown_it.utils import EnvType

# [1], [2, 3], [^note]: they say where something is from, and are no part of what is said
CITATION = re.compile(r"\[(?:\^?\d{1,3}(?:\s*[,;–-]\s*\d{1,3})*|\^[\w-]{1,40})\](?!\()")
_LINKED_CITATION = re.compile(r"\[(\[\^?\d{1,3}\])\]\(([^()\s]*)\)")
_TICKS = re.compile(r"`+")
_BREAK = re.compile(r"<br\s*/?>", re.I)
_DEPTH = 12
_TAGS = {"s": "del"}


Role = Literal["", "note", "tight"]


@dataclass(frozen=True)
class Text:
    """What a reader sees of `source[start:end]`: the same characters, unless an escape or an entity was written."""

    text: str
    start: int
    end: int

    @property
    def verbatim(self) -> bool:
        return len(self.text) == self.end - self.start


@dataclass(frozen=True)
class Element:
    """A block or formatting, by its HTML tag; `cite` is a citation mark."""

    tag: str
    children: tuple[Tree, ...] = ()
    href: str = ""  # of a link or an image; unchecked
    number: str = ""  # of an item, or the first of a list
    role: Role = ""  # of a paragraph: it defines a footnote, or is the bare text of an item

    @property
    def elements(self) -> tuple[Element, ...]:
        return tuple(child for child in self.children if isinstance(child, Element))

    def texts(self) -> Iterator[Text]:
        """All texts, in order."""
        for child in self.children:
            if isinstance(child, Text):
                yield child
            else:
                yield from child.texts()


Tree = Element | Text


class InlineParser:
    """Parses stretches of a source."""

    def __init__(self, source: str) -> None:
        self.source = source

    def parse(self, places: Sequence[int]) -> tuple[Tree, ...]:
        """The formatting of the text whose characters stand at these places; a carriage return is a line break."""
        text = "".join("\n" if self.source[p] == "\r" else self.source[p] for p in places)
        parser = _parser()
        open_: list[tuple[Token, list[Tree]]] = []
        trees: list[Tree] = []
        deeper = 0  # marks within more marks than are shown
        for token in parser.inline.parse(text, parser, {}, []):
            if token.nesting == 1 and len(open_) < _DEPTH:
                open_.append((token, trees))
                trees = []
            elif token.nesting == -1 and not deeper:
                opening, outer = open_.pop()
                tag = _TAGS.get(opening.tag, opening.tag)
                trees = [*outer, Element(tag, tuple(trees), href=str(opening.attrs.get("href", "")))]
            elif token.nesting:
                deeper += token.nesting
            else:
                for leaf in self._leaf(token, text, places):
                    _add(trees, leaf)
        return tuple(trees)

    def _leaf(self, token: Token, text: str, places: Sequence[int]) -> Iterator[Tree]:
        at: int = token.meta["at"]
        if token.type == "text_special":
            yield Text(token.content, places[at], places[at + len(token.markup) - 1] + 1)
        elif token.type == "code_inline":
            at += len(token.markup)
            closing = next((m.start() for m in _TICKS.finditer(text, at) if m[0] == token.markup), at)
            if closing - at > len(token.content):
                at += 1  # "`` a ``": one blank on either side is not shown
            yield Element("code", tuple(self._texts(places[at : at + len(token.content)])))
        elif token.type == "hardbreak":
            last = places[at + max(len(token.content), 2) - 1] if text[at] in "\\<" else places[at]
            yield Element("br", (Text("\n", places[at], last + 1),))
        elif token.type == "cite":
            texts = tuple(self._texts(places[at : at + len(token.content)]))
            yield Element("cite", texts, href=str(token.attrs.get("href", "")))
        else:
            yield from self._texts(places[at : at + (1 if token.type == "softbreak" else len(token.content))])

    def _texts(self, places: Sequence[int]) -> Iterator[Text]:
        """A text for each stretch that is unbroken in the source."""
        start = 0
        for i in range(1, len(places) + 1):
            if i == len(places) or places[i] != places[i - 1] + 1:
                first, last = places[start], places[i - 1] + 1
                yield Text(self.source[first:last], first, last)
                start = i


def _add(trees: list[Tree], leaf: Tree) -> None:
    """Joined to the text before it where both are verbatim and nothing stands between them."""
    last = trees[-1] if trees else None
    if isinstance(last, Text) and isinstance(leaf, Text) and last.end == leaf.start and last.verbatim and leaf.verbatim:
        trees[-1] = Text(last.text + leaf.text, last.start, leaf.end)
    else:
        trees.append(leaf)


@cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False})
    parser.inline = _Inline()
    parser.inline.ruler.disable(["linkify", "html_inline"])
    parser.inline.ruler.at("image", _image)
    parser.inline.ruler.before("link", "cite", _cite)
    parser.inline.ruler.before("autolink", "br", _br)
    parser.inline.ruler2.disable("fragments_join")  # joined texts would have one place
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
    """Notes in a token's meta where it begins. A rule pushes its tokens before it moves on."""

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
        if ttype == "text" and last and last.type == "text":  # "**" is pushed as two, from one position
            token.meta["at"] = max(self.pos, last.meta["at"] + len(last.content))
        elif ttype == "text" and last and last.info == "auto":  # "<https://…>"
            token.meta["at"] += 1
        return token

    def scanDelims(self, start: int, canSplitWord: bool) -> Scanned:
        """As CommonMark, but a mark opens before any sign and closes after any ("**Term:**text", Chinese text), and
        a star between letters or figures is a star ("5*3")."""
        found = super().scanDelims(start, canSplitWord)
        before = self.src[start - 1] if start else " "
        after = self.src[start + found.length] if start + found.length < self.posMax else " "
        if self.src[start] == "_":
            return found
        if found.length == 1 and before.isascii() and before.isalnum() and after.isascii() and after.isalnum():
            return Scanned(False, False, 1)
        return Scanned(not after.isspace(), not before.isspace(), found.length)


def _cite(state: StateInline, silent: bool) -> bool:
    linked = _LINKED_CITATION.match(state.src, state.pos, state.posMax)
    match = linked or CITATION.match(state.src, state.pos, state.posMax)
    if match and not silent:
        token = state.push("cite", "cite", 0)
        token.content = linked[1] if linked else match[0]
        if linked:
            token.attrs["href"] = linked[2]
            token.meta["at"] += 1
    state.pos = match.end() if match else state.pos
    return match is not None


def _br(state: StateInline, silent: bool) -> bool:
    match = _BREAK.match(state.src, state.pos, state.posMax)
    if match and not silent:
        state.push("hardbreak", "br", 0).content = match[0]
    state.pos = match.end() if match else state.pos
    return match is not None


def _image(state: StateInline, silent: bool) -> bool:
    """Its description as formatted text. markdown-it's own rule parses it anew, with no limit to how deep."""
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
