"""Markdown → nodes whose texts know their place in the source, so that claims can be marked exactly.

Every text is a verbatim slice of the source. HTML, images and links that are not http(s) stay what they are: text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from pages.ui.html.inline import inline
from pages.ui.html.render import Node, Text, Tree, el, texts

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})([^`]*)$")
_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(.*?)(?:[ \t]+#+)?[ \t]*$")
_RULE = re.compile(r" {0,3}([-*_])(?:[ \t]*\1){2,}[ \t]*$")
_ITEM = re.compile(r"([ \t]*)([-*+•]|\d{1,3}[.)])[ \t]+(?=\S)")
_QUOTE = re.compile(r" {0,3}>[ \t]?")
_DELIMITER = re.compile(r"[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$")
_DEPTH = 8


def plain(source: str) -> str:
    """A short text without its marks, on one line."""
    return " ".join("".join(t.text for node in parse(source) for t in texts(node) if t.start >= 0).split()) or source


@dataclass(frozen=True)
class _Line:
    start: int
    end: int  # without the line break
    stop: int  # with it


def parse(source: str) -> list[Tree]:
    """The blocks of a text."""
    lines, position = [], 0
    for match in re.finditer(r"\r\n|\n|\r", source):
        lines.append(_Line(position, match.start(), match.end()))
        position = match.end()
    lines.append(_Line(position, len(source), len(source)))
    return _Parser(source).blocks(lines, 0)


class _Parser:
    def __init__(self, source: str) -> None:
        self.source = source

    def of(self, line: _Line) -> str:
        return self.source[line.start : line.end]

    def blocks(self, lines: list[_Line], depth: int) -> list[Tree]:
        out: list[Tree] = []
        i = 0
        while i < len(lines):
            text = self.of(lines[i])
            if not text.strip():
                i += 1
            elif fence := _FENCE.match(text):
                i = self._code(lines, i, fence[1], out)
            elif heading := _HEADING.match(text):
                at = lines[i].start
                out.append(
                    el(
                        f"h{min(6, len(heading[1]) + 1)}",
                        *inline(self.source, [(at + heading.start(2), at + heading.end(2))]),
                    )
                )
                i += 1
            elif _RULE.match(text):
                out.append(el("hr"))
                i += 1
            elif depth < _DEPTH and _QUOTE.match(text):
                inside = []
                while i < len(lines) and (quote := _QUOTE.match(self.of(lines[i]))):
                    inside.append(_Line(lines[i].start + quote.end(), lines[i].end, lines[i].stop))
                    i += 1
                out.append(el("blockquote", *self.blocks(inside, depth + 1)))
            elif depth < _DEPTH and _ITEM.match(text):
                i = self._list(lines, i, depth, out)
            elif self._table_at(lines, i):
                i = self._table(lines, i, out)
            else:
                first = i
                i += 1
                while i < len(lines) and not self._starts(lines, i, depth):
                    i += 1
                out.append(el("p", *inline(self.source, [self._trimmed(line) for line in lines[first:i]])))
        return out

    def _starts(self, lines: list[_Line], i: int, depth: int) -> bool:
        """Does a line end the paragraph above it?"""
        text = self.of(lines[i])
        if (
            not text.strip()
            or _FENCE.match(text)
            or _HEADING.match(text)
            or _RULE.match(text)
            or self._table_at(lines, i)
        ):
            return True
        return depth < _DEPTH and bool(_QUOTE.match(text) or _ITEM.match(text))

    def _trimmed(self, line: _Line) -> tuple[int, int]:
        text = self.of(line)
        return line.start + len(text) - len(text.lstrip()), line.start + len(text.rstrip())

    def _code(self, lines: list[_Line], i: int, fence: str, out: list[Tree]) -> int:
        i += 1
        pieces: list[Tree] = []
        while i < len(lines):
            text = self.of(lines[i]).strip()
            if len(text) >= len(fence) and not text.strip(fence[0]):
                i += 1
                break
            pieces.append(Text(self.source[lines[i].start : lines[i].stop], lines[i].start))
            i += 1
        out.append(el("pre", el("code", *pieces)))
        return i

    def _list(self, lines: list[_Line], i: int, depth: int, out: list[Tree]) -> int:
        first = _ITEM.match(self.of(lines[i]))
        assert first
        ordered, indent = first[2][0].isdigit(), len(first[1].expandtabs(4))
        items: list[Tree] = []
        start = first[2][:-1] if ordered else None
        while i < len(lines) and (match := _ITEM.match(self.of(lines[i]))):
            if match[2][0].isdigit() != ordered or len(match[1].expandtabs(4)) != indent:
                break
            inside = [_Line(lines[i].start + match.end(), lines[i].end, lines[i].stop)]
            number = match[2][:-1] if ordered else None
            i += 1
            while i < len(lines):
                text = self.of(lines[i])
                blank = not text.strip()
                deeper = len(text.expandtabs(4)) - len(text.expandtabs(4).lstrip()) > indent
                if blank:
                    following = next((self.of(x) for x in lines[i + 1 : i + 3] if self.of(x).strip()), "")
                    if len(following.expandtabs(4)) - len(following.expandtabs(4).lstrip()) <= indent:
                        break
                elif not deeper and (not self.of_any(inside[-1]) or self._starts(lines, i, depth)):
                    break
                cut = min(len(text) - len(text.lstrip()), match.end())
                inside.append(_Line(lines[i].start + cut, lines[i].end, lines[i].stop))
                i += 1
            content = self.blocks(inside, depth + 1)
            if content and isinstance(content[0], Node) and content[0].tag == "p":
                content[:1] = content[0].children  # a tight item needs no paragraph
            items.append(el("li", *content, value=number))
            while (
                i < len(lines)
                and not self.of(lines[i]).strip()
                and i + 1 < len(lines)
                and _ITEM.match(self.of(lines[i + 1]))
            ):
                i += 1  # loose items belong to one list
        out.append(el("ol" if ordered else "ul", *items, start=start))
        return i

    def of_any(self, line: _Line) -> str:
        return self.of(line).strip()

    def _table_at(self, lines: list[_Line], i: int) -> bool:
        if i + 1 >= len(lines) or "|" not in self.of(lines[i]):
            return False
        below = self.of(lines[i + 1])
        return "|" in below and bool(_DELIMITER.match(below))

    def _table(self, lines: list[_Line], i: int, out: list[Tree]) -> int:
        head = el("thead", self._row(lines[i], "th"))
        rows: list[Tree] = []
        i += 2
        while i < len(lines) and "|" in self.of(lines[i]):
            rows.append(self._row(lines[i], "td"))
            i += 1
        out.append(el("table", head, el("tbody", *rows)))
        return i

    def _row(self, line: _Line, tag: str) -> Node:
        start, end = self._trimmed(line)
        bars = [m.start() + start for m in re.finditer(r"(?<!\\)\|", self.source[start:end])]
        edges = [start - 1, *bars, end]
        if bars and bars[0] == start:
            edges = edges[1:]
        if bars and bars[-1] == end - 1:
            edges = edges[:-1]
        cells = [self._trimmed(_Line(a + 1, b, b)) for a, b in zip(edges, edges[1:], strict=False)]
        return el("tr", *(el(tag, *inline(self.source, [cell])) for cell in cells))
