"""The rows and blocks of a source, each about the thing that it names.

"Alder: Built 1998; Owner Osen" is a row. A name on a line of its own above "Berths: 6" heads a
block. What is said of one thing is not said of its neighbours.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import takewhile
from typing import NamedTuple

from attribution.text.words import STOP_WORDS, words_of

NEAR = 4  # lines below a name in which a label stands
ROW = re.compile(r"[ \t]*(?P<name>[^:;|\n]{2,60}):[ ][^;\n]+;[ ][^\n]+")
HEAD = re.compile(r"^[^:;|\n]{1,60}(?: \| [^:;|\n]{0,60}){1,20}$", re.MULTILINE)
LABELLED = re.compile(r"\W{0,4}[^\W\d_][^:|\n]{0,40}:[ \t]\S")
NAME = re.compile(r"\W{0,8}(?P<name>[^\W_][^:;|.!?\n]{1,58}[^\W_.!?:;|])\W{0,4}")


class Section(NamedTuple):
    """A row or a block of a text, `text[start:end]`."""

    name: str
    start: int
    end: int


def heads_a_block(line: str, following: Sequence[str]) -> bool:
    """Return True for a name above lines such as "Berths: 6"."""
    if not NAME.fullmatch(line) or LABELLED.match(line):
        return False
    has_gap = line.startswith("#") and not "".join(following[:1]).strip()
    block = takewhile(_is_within, following[int(has_gap) :])
    return any(map(LABELLED.match, block))


def _is_within(line: str) -> bool:
    return bool(line.strip()) and not line.startswith("#")


def sections(text: str) -> list[Section]:
    """Return the rows and blocks of a text in order; none if there is only one."""
    found: list[Section] = []
    is_open = False  # the last section goes on
    start = 0
    lines = text.split("\n")
    for number, line in enumerate(lines):
        row = ROW.fullmatch(line)
        is_first = number == 0 or not lines[number - 1].strip() or line.startswith("#")
        name = NAME.fullmatch(line) if is_first else None
        if row:
            found.append(Section(row["name"], start, start + len(line)))
            is_open = False
        elif name and heads_a_block(line, lines[number + 1 : number + 1 + NEAR]):
            found.append(Section(name["name"], start, start + len(line)))
            is_open = True
        elif is_open and line.strip():
            found[-1] = found[-1]._replace(end=start + len(line))
        elif found and line.strip():
            is_open = False
        start += len(line) + 1
    return found if len(found) > 1 else []


def about_named(claim: str, text: str) -> str:
    """Return a source with the rows and blocks of things that a claim leaves out blanked.

    All stay where the claim names none of them. The head of a table, whose words are in its rows,
    is blanked too.
    """
    parts = sections(text)
    words = set(words_of(claim))
    others = [part for part in parts if not _names(words, part)]
    if len(others) == len(parts):
        return text
    for part in others:
        text = text[: part.start] + " " * (part.end - part.start) + text[part.end :]
    return HEAD.sub(lambda head: " " * len(head[0]), text)


def _names(words: set[str], part: Section) -> bool:
    name = set(words_of(part.name)) - STOP_WORDS
    return bool(name) and name <= words
