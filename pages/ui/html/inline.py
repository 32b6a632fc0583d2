"""Emphasis, code and links within a block of Markdown; every text keeps its place in the source."""

from __future__ import annotations

import re

from pages.ui.html.render import Text, Tree, el, safe_url

_INLINE = re.compile(
    r"(?P<escape>\\[!-/:-@\[-`{-~])"
    r"|(?P<ticks>`+)(?P<code>[^`](?:.*?[^`])??)(?P=ticks)(?!`)"
    r"|!?\[(?P<label>(?:[^\[\]\n]|\[[^\[\]\n]*\])*)\]"
    r"\([ ]*<?(?P<url>[^\s<>()]*(?:\([^\s<>()]*\)[^\s<>()]*)*)>?(?:[ ]+\"[^\"\n]*\")?[ ]*\)"
    r"|(?P<break><br[ ]?/?>)"
    r"|(?P<mark>\*\*\*|\*\*|\*|___|__|_|~~)(?=\S)",
    re.S,
)
_MARKS = {
    "***": ("strong", "em"),
    "___": ("strong", "em"),
    "**": ("strong",),
    "__": ("strong",),
    "*": ("em",),
    "_": ("em",),
    "~~": ("del",),
}
_DEPTH = 8


def inline(source: str, ranges: list[tuple[int, int]]) -> list[Tree]:
    """Texts and their emphasis; the ranges are the lines of a block, joined by their line breaks."""
    places: list[int] = []
    for number, (start, end) in enumerate(ranges):
        if number:
            places.append(ranges[number - 1][1])  # a line break, or the blank before it
        places.extend(range(start, max(start, end)))
    joined = "".join(source[p] for p in places)
    return _spans(source, joined, places, 0, len(joined), 0)


def _text(source: str, places: list[int], start: int, end: int, out: list[Tree]) -> None:
    """The characters from start to end, a text for each stretch that is unbroken in the source."""
    while start < end:
        stop = start + 1
        while stop < end and places[stop] == places[stop - 1] + 1:
            stop += 1
        last = out[-1] if out else None
        piece = source[places[start] : places[stop - 1] + 1]
        if isinstance(last, Text) and last.end == places[start]:
            out[-1] = Text(last.text + piece, last.start)
        else:
            out.append(Text(piece, places[start]))
        start = stop


def _spans(source: str, text: str, places: list[int], i: int, end: int, depth: int) -> list[Tree]:
    out: list[Tree] = []
    plain = i
    hopeless: set[str] = set()  # marks that are closed nowhere further on
    while match := _INLINE.search(text, i, end):
        made: list[Tree] | None = None
        stop = match.end()
        if match["escape"]:
            made = []
            _text(source, places, match.start() + 1, stop, made)
        elif match["ticks"]:
            code: list[Tree] = []
            _text(source, places, match.start("code"), match.end("code"), code)
            made = [el("code", *code)]
        elif match["label"] is not None:
            if url := safe_url(match["url"]):
                made = _spans(source, text, places, match.start("label"), match.end("label"), depth + 1)
                made.append(
                    el(
                        "a",
                        "↗",
                        href=url,
                        class_="out",
                        target="_blank",
                        rel="noopener noreferrer",
                        aria_label="Open the link of the answer",
                    )
                )
        elif match["break"]:
            made = [el("br")]
        elif depth < _DEPTH and match["mark"] not in hopeless:
            close = _close(text, match, end)
            if close < 0:
                hopeless.add(match["mark"])
            elif close:
                made = _spans(source, text, places, match.end(), close, depth + 1)
                for tag in reversed(_MARKS[match["mark"]]):
                    made = [el(tag, *made)]
                stop = close + len(match["mark"])
        if made is None:  # the characters stand for themselves
            i = match.start() + (len(match["mark"]) if match["mark"] else 1)
            if match["label"] is not None:
                i = stop
            continue
        _text(source, places, plain, match.start(), out)
        out += made
        plain = i = stop
    _text(source, places, plain, end, out)
    return out


def _close(text: str, match: re.Match[str], end: int) -> int:
    """Where emphasis ends; 0 if it does not start here, -1 if nothing closes it."""
    mark, start = match["mark"], match.end()
    if mark[0] == "_" and match.start() and text[match.start() - 1].isalnum():
        return 0
    position = start
    while (position := text.find(mark, position + 1, end)) >= 0:
        after = position + len(mark)
        run_on = after < end and text[after] == mark[0] and len(mark) < 3
        if run_on and len(mark) == 1:
            position = after  # part of a longer mark
            continue
        if run_on and len(mark) == 2:
            position, after = position + 1, after + 1  # *** closes the inner one first
        if text[position - 1].isspace() or (mark[0] == "_" and after < end and text[after].isalnum()):
            continue
        return position
    return -1
