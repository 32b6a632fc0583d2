"""An answer's blocks: headings, list items with their bold terms, table rows, code and paragraphs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_PREFIX = re.compile(
    r"[ \t]*(?:>[ \t]?)*(?P<item>(?:[-*+•]|\d{1,3}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?)?(?P<heading>#{1,6}[ \t]+)?"
)
_MARKS = re.compile(
    r"!?\[([^\[\]]*)\]\([^()\s]*\)|[ \t]*\[\^?\d{1,3}(?:\s*[,;–-]\s*\d{1,3})*\]|\*{1,3}|(?<!\w)_+|_+(?!\w)|`+"
)
_LABEL = re.compile(r"\s*(\*\*|__)(?P<label>[^*_:]{2,60}?)(?::\s*\1|\1\s*:)")
_BOLD = re.compile(r"\s*(\*\*|__)(?P<title>[^*_]{2,80}?):?\1:?\s*")


@dataclass(frozen=True)
class Block:
    """A heading, list item, table row or paragraph: `answer[start:end]`."""

    start: int
    end: int
    kind: str  # heading, item, row, code, text
    label: str  # an item's bold term


def plain(raw: str) -> str:
    """Without Markdown's inline marks, white space single."""
    return " ".join(_MARKS.sub(lambda m: m.group(1) or "", raw).replace("’", "'").split())


def blocks_of(answer: str) -> Iterator[Block]:
    """In their order; lines of one paragraph or item are one block, blank lines none."""
    fenced = False
    last: Block | None = None
    for line in re.finditer(r"[^\n]*(?:\n|$)", answer):
        raw = line.group()
        fence = raw.lstrip().startswith(("```", "~~~"))
        prefix = _PREFIX.match(raw)
        start = line.start() + (prefix.end() if prefix else 0)
        body = answer[start : line.end()].rstrip()
        kind = "text"
        if fence or fenced:
            kind, fenced = "code", fenced != fence
        elif not body:
            kind = ""
        elif prefix and prefix.group("heading") or (_BOLD.fullmatch(body) and not (prefix and prefix.group("item"))):
            kind = "heading"
        elif prefix and prefix.group("item"):
            kind = "item"
        elif body.startswith("|"):
            kind = "row"
        if last and kind == "text" and last.kind in ("text", "item"):
            last = Block(last.start, start + len(body), last.kind, last.label)
            continue
        if last:
            yield last
        label = _LABEL.match(body) if kind in ("item", "text") else None
        last = Block(start, start + len(body), kind, plain(label.group("label")) if label else "") if kind else None
    if last:
        yield last
