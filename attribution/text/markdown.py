"""Markdown answer → passages of plain text that know where each character came from.

Blocks come from markdown-it-py; inline marks are taken out here, because the offsets must survive.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from markdown_it import MarkdownIt

from attribution.types import Span

_PREFIX = re.compile(r"(?:[ \t]*(?:>[ \t]?|[-*+•][ \t]+(?:\[[ xX]\][ \t]+)?|\d{1,9}[.)][ \t]+))*[ \t]*")
_QUOTE = re.compile(r"(?:[ \t]*>[ \t]?)*[ \t]*")
# what is taken out of the text; the named groups stay
_INLINE = re.compile(
    r"(?P<tick>`+)(?P<code>[^`]+?)(?P=tick)(?!`)"
    r"|!?\[(?P<link>[^\[\]]*)\]\([^()\s]*(?:\([^()\s]*\)[^()\s]*)*(?:\s+\"[^\"]*\")?\)"
    r"|[ \t]*\[\^?\d{1,3}(?:\s*[,;–-]\s*\d{1,3})*\](?!\()"  # citation marks
    r"|<br\s*/?>"
    r"|(?<![\w)*])\*{1,3}(?=[^\s*])|(?<=[^\s*])\*{1,3}(?![\w*])"
    r"|(?<![\w_])_{1,3}(?=[^\s_])|(?<=[^\s_])_{1,3}(?![\w_])"
)
_LEAD_IN_WORDS = 6
_BOLD_LINE = re.compile(r"[ \t]*(\*\*|__)(?:(?!\1).)+\1:?[ \t]*")


@dataclass(frozen=True)
class Passage:
    """Text without marks; `places[i]` is where character i stands in the answer. A table row is one claim as it is."""

    text: str
    places: tuple[int, ...]
    row: bool = False

    def span(self, start: int, end: int) -> Span:
        return self.places[start], self.places[end - 1] + 1


def _parser() -> MarkdownIt:
    # raw HTML, indented lines and underlined lines are text in an answer: nothing it says may be lost
    return MarkdownIt("commonmark", {"html": False}).enable("table").disable(["reference", "code", "lheading"])


def passages(answer: str) -> Iterator[Passage]:
    """Paragraphs, list items and table rows; headings, fenced code, rules and lone lead-ins are left out."""
    starts = [0, *(m.end() for m in re.finditer(r"\r\n?|\n", answer)), len(answer)]
    in_head = in_heading = False
    for token in _parser().parse(answer):
        if token.type in ("thead_open", "thead_close"):
            in_head = token.type == "thead_open"
        elif token.type in ("heading_open", "heading_close"):
            in_heading = token.type == "heading_open"
        elif token.map is None or in_head or in_heading:
            continue
        elif token.type == "tr_open":
            yield _row(answer, starts[token.map[0]], starts[token.map[0] + 1])
        elif token.type == "paragraph_open":
            first, last = token.map
            lines = [(starts[n], starts[n + 1]) for n in range(first, last)]
            passage = _clean(answer, [_unmarked(answer, a, b, n == 0) for n, (a, b) in enumerate(lines)])
            if any(c.isalnum() for c in passage.text) and not _lead_in(answer, passage):
                yield passage


def _unmarked(answer: str, start: int, end: int, first: bool) -> Span:
    """A line without list marker, quote marks and end."""
    match = (_PREFIX if first else _QUOTE).match(answer, start, end)
    return match.end() if match else start, end


def _row(answer: str, start: int, end: int) -> Passage:
    line = answer[start:end]
    inner = line.strip().strip("|").strip()
    at = start + line.index(inner) if inner else start
    passage = _clean(answer, [(at, at + len(inner))])
    return Passage(passage.text, passage.places, row=True)


def _clean(answer: str, parts: list[Span]) -> Passage:
    """Inline marks out, every run of white space one space."""
    source = [i for start, end in parts for i in range(start, end)]
    text = "".join(answer[i] for i in source)
    keep = bytearray(b"\x01" * len(text))
    for match in _INLINE.finditer(text):
        keep[match.start() : match.end()] = bytes(match.end() - match.start())
        for group in ("code", "link"):
            if match.group(group):
                a, b = match.span(group)
                inner = _clean(text[a:b], [(0, b - a)]) if group == "link" else None
                for i in inner.places if inner else range(b - a):
                    keep[a + i] = 1
    characters: list[str] = []
    places: list[int] = []
    for i, character in enumerate(text):
        if not keep[i]:
            continue
        if character.isspace() or character in "\u200b\ufeff":
            if not characters or characters[-1] == " ":
                continue
            character = " "
        characters.append(character)
        places.append(source[i])
    while characters and characters[-1] == " ":
        characters.pop()
        places.pop()
    return Passage("".join(characters), tuple(places))


def _lead_in(answer: str, passage: Passage) -> bool:
    """A line that only announces what follows: a bold title, or a few words and a colon."""
    words = passage.text.split()
    if passage.text.endswith(":") and len(words) <= _LEAD_IN_WORDS:
        return True
    start, end = passage.span(0, len(passage.text))
    line_start = max(answer.rfind("\n", 0, start), answer.rfind("\r", 0, start)) + 1
    line_end = next((i for i in range(end, len(answer)) if answer[i] in "\r\n"), len(answer))
    line = answer[line_start:line_end]
    marked = _PREFIX.match(line)
    bold = _BOLD_LINE.fullmatch(line, marked.end() if marked else 0)
    return bool(bold) and passage.text[-1] not in ".!?" and len(words) <= 10
