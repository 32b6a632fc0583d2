"""Join the lines of a paragraph, whatever broke them: a page's width, an e-mail, quotation marks, a
transcript's times.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from textwrap import wrap
from typing import NamedTuple

from attribution.text.words import composed

BROKEN = "\ufffe"  # what pdfium writes for a hyphen at the end of a line; \x02 in older versions
FRONT_MATTER = re.compile(r"---[ \t]*\n(.{0,4000}?)\n---[ \t]*(?:\n|$)", re.DOTALL)  # YAML
_ITEM = re.compile(
    r"""
    \s*(?: [-*+•⁃–▪◦] | \(?(?:\d{1,3}|[a-z])[.)\]] | \[\d{1,3}\] | \#{1,6}
    | [-*_=~]{3,} | \.\. | :\w+: )(?:\s|$)
    | \s*(?:```|~~~)
    """,
    re.VERBOSE,
)
_CAPTION = re.compile(r"\s*(?:Table|Figure|Fig\.) \d{1,3}[.:] ")
_FENCE = re.compile(r"\s*(?:```|~~~)")
_CODE = re.compile(
    r"""
    ^(?: [})\]] | // | /\* | \#! | >>> | \$[ ] | def[ ] | class[ ] | import[ ]
    | from[ ]\w+[ ]import[ ] | return\b )
    | \t | [ ]{3} | [;{}=\\)]$
    """,
    re.VERBOSE,
)
_QUOTED = re.compile(r"[ \t]*(?:(?:>[ \t]?)+|\|[ \t]?(?!.*\|))")
# The times above or before the lines of a transcript
_TIME = re.compile(
    r"""
    ^(?:\d{1,2}:)?\d{1,2}:\d\d[ \t]*+\n
    | ^[\[(](?:\d{1,2}:)?\d{1,2}:\d\d(?:\.\d{1,6})?[\])][ \t]*+\n?
    """,
    re.MULTILINE | re.VERBOSE,
)
_FROM_ZERO = re.compile(r"\W*0{1,2}:")  # a programme of the day begins later
_HARD_BREAK = re.compile(r"(?<=[\w.,;:!?’”])\\\n")  # Markdown's
STOPPED = re.compile(r"[.!?:;…。！？][\"'”’)\]]*$")
# The end of a line that ends no sentence
_DANGLES = re.compile(
    r"""
    \b(?: an?|the|of|and|or|in|on|at|to|by|for|from|with|as|than|is|are|was|were
    | its|their|his|her )$
    """,
    re.IGNORECASE | re.VERBOSE,
)
LONGEST_BLANK = 200  # characters of white space in a row
_BLANK_RUN = re.compile(rf"[^\S\n]{{{LONGEST_BLANK + 1},}}+")
LONGEST_LINE = 10_000  # characters
_LONG_LINE = re.compile(rf"^[^\n]{{{LONGEST_LINE + 1},}}+", re.MULTILINE)
_LEAST_TIMES = 2
_SHORTEST = 30  # characters: a shorter line of a page was not wrapped
_SHORT = 0.6  # nor one of a smaller share of the usual line
_NARROWEST = 20  # characters: a narrower paragraph is a list
_MANY_WORDS = 8  # lines of a word each, which are a list
_FLOWING = 0.3  # share of lines that go on in lower case, in texts that were wrapped
_CODED = 0.25  # share of lines that look like code


@dataclass(frozen=True)
class _Block:
    """Lines that stand together, without their quotation marks."""

    lines: Sequence[str]
    is_fixed: bool  # blank, or between fences


def join_lines(text: str, ragged: bool = False) -> str:
    """Put each paragraph on one line; lists, headings, verse and code keep their lines.

    A hyphen at the end of a line becomes BROKEN.

    Args:
        text: The text.
        ragged: The lines are those of a page, whose letters differ in width.
    """
    if "\n" not in text:
        return text
    front = FRONT_MATTER.match(text)
    if front:
        return front[0] + join_lines(text[front.end() :], ragged)
    lines = _HARD_BREAK.sub("\n", _without_times(text)).split("\n")
    blocks = list(_blocks([line.strip() for line in lines] if ragged else lines))
    lengths = sorted(len(line.strip()) for line in lines if line.strip())
    usual = lengths[len(lengths) * 3 // 4] if lengths else 0
    inner = [line for block in blocks if not block.is_fixed for line in block.lines[1:]]
    is_flowing = sum(map(_goes_on, inner)) >= _FLOWING * len(inner)
    joined: list[str] = []
    for block in blocks:
        if block.is_fixed:
            soft = [False] * (len(block.lines) - 1)
        elif ragged:
            soft = _soft_on_page(block.lines, usual)
        else:
            soft = _soft(block.lines, usual, is_flowing)
        joined += _joined(block.lines, soft)
    return "\n".join(joined).strip()


def _without_times(text: str) -> str:
    """Return the running text of a transcript; any other text as it is."""
    times = _TIME.findall(text)
    if len(times) < max(_LEAST_TIMES, text.count("\n") // 6) or not _FROM_ZERO.match(times[0]):
        return text
    spoken = [" ".join(part.split()) for part in _TIME.split(text)]
    is_flowing = sum(map(_goes_on, spoken)) >= _FLOWING * len(times)
    return " ".join(spoken).strip() if is_flowing else text


class _MarkedLine(NamedTuple):
    is_fenced: bool
    quoted: str  # the mark of a quotation
    is_blank: bool


def _blocks(lines: Sequence[str]) -> Iterator[_Block]:
    marked: list[_MarkedLine] = []
    marks: list[str] = []
    is_fenced = False
    for line in lines:
        is_fence = _FENCE.match(line) is not None
        is_code = is_fenced or is_fence
        match = None if is_code else _QUOTED.match(line)
        mark = match[0] if match else ""
        marks.append(mark)
        marked.append(_MarkedLine(is_code, mark.strip(), len(mark) >= len(line.rstrip())))
        is_fenced ^= is_fence

    for (fenced, quoted, is_blank), group in groupby(range(len(lines)), marked.__getitem__):
        numbers = list(group)
        is_quoted = quoted and (is_blank or len(numbers) > 1)
        bare = [lines[n][len(marks[n]) if is_quoted else 0 :] for n in numbers]
        yield _Block(bare, fenced or is_blank)


def _joined(lines: Sequence[str], soft: Sequence[bool]) -> Iterator[str]:
    """Yield the lines of a block, joined at soft breaks."""
    whole = ""
    for number, line in enumerate(lines):
        joins = number > 0 and soft[number - 1]
        goes_on = number < len(soft) and soft[number]
        line = line.strip() if joins or goes_on else line
        if not joins:
            whole = line
        elif whole[-2:-1].isalnum() and whole.endswith("-"):
            whole = whole[:-1] + BROKEN + line
        elif _is_wide(whole[-1:]) and _is_wide(line[:1]):
            whole += line
        else:
            whole += " " + line
        if not goes_on:
            yield whole


def _soft_on_page(lines: Sequence[str], usual: int) -> list[bool]:
    """Return for each line of a page but the last whether only its width ended it."""
    soft = []
    for line, later in pairwise(lines):
        begins = _ITEM.match(later) or _CAPTION.match(later) and STOPPED.search(line)
        soft.append(len(line) >= max(_SHORTEST, _SHORT * usual) and not begins)
    return soft


def _soft(block: Sequence[str], usual: int, is_flowing: bool) -> list[bool]:
    """Return for each line of a text but the last whether only its width ended it."""
    lines = [line.strip() for line in block]
    lengths = [len(line) for line in lines]
    width = max(lengths) if len(lines) >= 4 else max(*lengths, usual)
    # lines that the next word would have made too long
    full = [len(a) + 1 + len(b.split(maxsplit=1)[0]) > width for a, b in pairwise(lines)]
    is_code = looks_like_code(lines)
    is_list = is_code or _is_list(lines, width)
    is_verse = len(lines) >= 3 and not any(map(_goes_on, lines[1:])) and not all(full)
    wraps = is_flowing and not is_verse and width >= _NARROWEST
    soft = []
    is_hanging = False  # in an item whose further lines are indented
    for number, (line, later) in enumerate(pairwise(lines)):
        is_hanging = is_hanging or _ITEM.match(line) is not None
        if _ITEM.match(later) or line.startswith("#"):
            soft.append(False)
        elif is_hanging and block[number + 1][:1].isspace():
            soft.append(not is_code)
        elif is_list:
            soft.append(False)
        else:
            soft.append(wraps and full[number] or _is_within(line, later))
    return soft


def _is_within(line: str, later: str) -> bool:
    """Return True if a break is within a sentence, by the words around it."""
    if STOPPED.search(line):
        return False
    return _goes_on(later) or _DANGLES.search(line) is not None


def looks_like_code(lines: Sequence[str]) -> bool:
    """Return True if a quarter of the lines look like code."""
    return sum(bool(_CODE.search(line)) for line in lines) > _CODED * len(lines)


def _is_list(lines: Sequence[str], width: int) -> bool:
    """Return True for short lines without a stop, and for many of a word each."""
    words = sum(" " not in line for line in lines)
    if words * 2 >= len(lines) and (len(lines) >= _MANY_WORDS or width < _NARROWEST):
        return True
    is_narrow = width < _NARROWEST or lines[0][:1].islower() and all(map(_goes_on, lines))
    return is_narrow and not STOPPED.search(lines[-1])


def _goes_on(line: str) -> bool:
    """Return True if a line begins as a sentence does not."""
    first = line.lstrip(" \t\"'(“‘[")[:1]
    return first.isalpha() and not first.isupper()


def _is_wide(character: str) -> bool:
    return "\u2e80" <= character <= "\uabff"  # of Chinese and Japanese, which have no blanks


_AT_BREAK = re.compile(rf"(?<![\w’'-])([\w’'-]*+){BROKEN}\s?(?=(\w[\w’'-]*)?)")
_WORD = re.compile(r"\w+")
_COMPOUND = re.compile(r"\b\w++(?:-\w++)++")
_FIRST_PARTS = frozenset(
    """twenty thirty forty fifty sixty seventy eighty ninety one two three four five six seven eight
    nine ten half well ill self non ex so all high low long short old new mid cross vice semi anti
    post pre pro quasi world first second third full part north south east west left right e co
    """.split()
)


def unbroken(texts: Sequence[str]) -> list[str]:
    """Make words whole that a line's end parts; compounds keep their hyphen."""
    if not any(BROKEN in text for text in texts):
        return list(texts)
    whole = "\n".join(texts).lower()
    compounds = set(_COMPOUND.findall(whole))
    words = set(_WORD.findall(whole))

    def first_part(match: re.Match[str]) -> str:
        first, last = match[1], match[2] or ""
        if f"{first}-{last}".lower() in compounds or not first.isalpha() or not last[:1].islower():
            return f"{first}-"
        is_known = (first + last).lower() in words
        return first if is_known or first.lower() not in _FIRST_PARTS else f"{first}-"

    return [_AT_BREAK.sub(first_part, text) for text in texts]


def bounded(text: str) -> str:
    """Cut runs of blanks, and break lines that are longer than any that is written to be read.

    Every foreign text is bounded where it enters: no pattern is asked to read more at once.
    """
    text = _BLANK_RUN.sub(lambda run: run[0][:LONGEST_BLANK], text)
    return _LONG_LINE.sub(_broken, text)


def _broken(line: re.Match[str]) -> str:
    return "\n".join(wrap(line[0], LONGEST_LINE, expand_tabs=False, replace_whitespace=False))


def readable(text: str) -> str:
    """Return a passage that was given as text in the form in which pages are read."""
    return paragraphs([composed(bounded(text))])[0]


def paragraphs(texts: Sequence[str]) -> list[str]:
    """Join the lines of each part of one text, and make its broken words whole."""
    return unbroken([join_lines(text) for text in texts])
