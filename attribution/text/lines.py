"""Join the lines of a paragraph, whatever broke them: a page's width, an e-mail, quotation marks,
subtitles.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise

from attribution.text.characters import composed

BROKEN = "\ufffe"  # what pdfium writes for a hyphen at the end of a line; \x02 in older versions
_ITEM = re.compile(
    r"\s*(?:[-*+•⁃–▪◦]|\(?(?:\d{1,3}|[a-z])[.)\]]|\[\d{1,3}\]|#{1,6}|[-*_=~]{3,}|\.\.|:\w+:)(?:\s|$)|\s*(?:```|~~~)"
)
_CAPTION = re.compile(r"\s*(?:Table|Figure|Fig\.) \d{1,3}[.:] ")
_FENCE = re.compile(r"\s*(?:```|~~~)")
_CODE = re.compile(
    r"^(?:[})\]]|//|/\*|#!|>>>|\$ |def |class |import |from \w+ import |return\b)|\t| {3}|[;{}=\\)]$"
)
_QUOTED = re.compile(r"[ \t]*(?:(?:>[ \t]?)+|\|[ \t]?(?!.*\|))")
_TIMES = re.compile(r"(?:\d+\n)?[\d:]*\d\d:\d\d[.,]\d{3} --> .*\n?|\A\ufeff?WEBVTT.*\n")
_CLOCK = re.compile(
    r"^[\[(]?(?:\d{1,2}:)?\d{1,2}:\d\d[\])]?[ \t]*\n", re.MULTILINE
)  # above each line of a transcript
_TIMED = re.compile(
    r"^[\[(](?:\d{1,2}:)?\d{1,2}:\d\d(?:\.\d+)?[\])][ \t]*", re.MULTILINE
)  # before it
_FROM_ZERO = re.compile(r"^[\[(]0{1,2}:", re.MULTILINE)  # a programme of the day begins later
_HARD = re.compile(r"(?<=[\w.,;:!?’”])\\\n")  # Markdown's break of a line
_LEAST_CUES = 2
# lines of a sentence that stand apart, as the <div> of a page do
_APART = re.compile(r"^[^\n]++(?:(?<=[^\s.!?:;…`])\n\n(?=[a-z])[^\n]++){2,}+", re.MULTILINE)
_CUE_TAG = re.compile(r"</?(?:[ibucv]|lang)(?:[ .][^<>\n]{0,80})?>|<[\d:.]{9,12}>")
SHORTEST, SHORT = (
    30,
    0.6,
)  # characters, and share of the page's usual line: a shorter line was not wrapped
_NARROWEST = 20  # characters: a narrower paragraph is a list
_WORDS = 8  # lines of a word each, which are a list
_WIDE = 50  # characters: lines of a wider one may also end where a clause does
_DENSE = 0.7  # share of lines that the next word would have made too long: less in verse
_FLOWING = 0.3  # share of lines that go on in lower case, in texts that were wrapped
_STOPPED = re.compile(r"[.!?:;…。！？][\"'”’)\]]*$")
# the end of a line that is no end of a sentence, and the beginning of one that is no beginning
_DANGLES = re.compile(
    r"\b(?:an?|the|of|and|or|in|on|at|to|by|for|from|with|as|than|is|are|was|were|its|their|his|her)$"
)
_HANGS = re.compile(
    r"[ap]\.m\.|(?:of|and|or|in|on|at|to|by|for|from|with|but|than|that|which|who|was|were|is|are|had|has)\b"
)
_BEGINS = re.compile(
    r"(?:The|An?|It|He|She|They|We|In|On|At|This|These|There|But|And|Then|When|After|Before|Its|His|Her)\b"
)
_VERSE = 3  # lines, all of which begin with a capital
_CODED = 0.25  # share of lines that look like code
FRONT_MATTER = re.compile(
    r"---[ \t]*\n(.{0,4000}?)\n---[ \t]*(?:\n|$)", re.DOTALL
)  # YAML before Markdown


def join_lines(text: str, ragged: bool = False) -> str:
    """The text with a paragraph on a line; lists, headings, verse and code keep theirs. A hyphen at
    an end is U+FFFE.

    `ragged`: the lines are of a page, whose letters differ in width.
    """
    if "\n" not in text:
        return text
    if front := FRONT_MATTER.match(text):
        return front[0] + join_lines(text[front.end() :], ragged)
    if text.count(" --> ") >= _LEAST_CUES:
        cues = [" ".join(cue.split()) for cue in _TIMES.split(_CUE_TAG.sub("", text))]
        text = "".join(
            f"\n{cue}" if cue.startswith("-") else f" {cue}" for cue in cues if cue
        ).strip()
    if len(_CLOCK.findall(text)) >= max(_LEAST_CUES, text.count("\n") // 4):
        text = " ".join(_CLOCK.sub("", text).split())
    goes_on = [_goes_on(text[time.end() : time.end() + 1]) for time in _TIMED.finditer(text)]
    if (
        len(goes_on) >= _LEAST_CUES
        and _FROM_ZERO.search(text)
        and sum(goes_on) >= _FLOWING * len(goes_on)
    ):
        text = _TIMED.sub("", text)
    if not ragged:
        text = _APART.sub(lambda found: found[0].replace("\n\n", "\n"), text)
    blocks = list(_blocks(_HARD.sub("\n", text).split("\n")))
    lines = [line.strip() for _, block in blocks for line in block]
    lengths = sorted(len(line) for line in lines if line)
    usual = lengths[len(lengths) * 3 // 4] if lengths else 0
    follow = [_goes_on(later) for kept, block in blocks if not kept for later in block[1:]]
    flowing = sum(follow) >= _FLOWING * len(follow)
    pieces: list[str] = []
    for kept, block in blocks:
        soft = (
            [False] * len(block)
            if kept or len(block) == 1
            else [*(_ragged if ragged else _soft)(block, usual, flowing), False]
        )
        for number, line in enumerate(block):
            joins = number > 0 and soft[number - 1]
            line = line.strip() if joins or ragged or soft[number] else line
            if joins and pieces[-1].endswith("-") and pieces[-1][-2:-1].isalnum():
                pieces[-1] = pieces[-1][:-1] + BROKEN
            elif pieces:
                wide = joins and _is_wide(pieces[-1][-1:]) and _is_wide(line[:1])
                pieces.append("" if wide else " " if joins else "\n")
            pieces.append(line)
    return "".join(pieces).strip()


def _blocks(lines: Sequence[str]) -> Iterator[tuple[bool, list[str]]]:
    """Yield lines that stand together, without their quotation marks; True: as they are, blank or
    between fences.
    """

    def marked() -> Iterator[tuple[bool, str, str]]:
        fenced = False
        for line in lines:
            fence = _FENCE.match(line) is not None
            quoted = None if fenced or fence else _QUOTED.match(line)
            yield fenced or fence, quoted[0] if quoted else "", line
            fenced ^= fence

    for (kept, quoted, blank), rows in groupby(
        marked(), lambda r: (r[0], r[1].strip(), len(r[1]) >= len(r[2].rstrip()))
    ):
        block = [(mark, line) for _, mark, line in rows]
        bare = quoted and (blank or len(block) > 1)
        yield kept or blank, [line[len(mark) :] if bare else line for mark, line in block]


def _ragged(block: Sequence[str], usual: int, flowing: bool) -> Iterator[bool]:
    for line, later in pairwise(block):
        begins = _ITEM.match(later) or _CAPTION.match(later) and _STOPPED.search(line)
        yield len(line.strip()) >= max(SHORTEST, SHORT * usual) and not begins


def _soft(block: Sequence[str], usual: int, flowing: bool) -> Iterator[bool]:
    """Yield for each line but the last whether only the width ended it: the next word would have
    been too much.
    """
    lines = [line.strip() for line in block]
    width = max(map(len, lines))
    if len(lines) < 4:
        width = max(width, usual)
    full = [
        len(line) + 1 + len(later.split(maxsplit=1)[0]) > width for line, later in pairwise(lines)
    ]
    coded = sum(bool(_CODE.search(line)) for line in lines) > _CODED * len(lines)
    stopped = [bool(_STOPPED.search(line)) for line in lines]
    bound = [
        bool(not stop and _DANGLES.search(line) or _HANGS.match(later))
        for stop, (line, later) in zip(stopped[:-1], pairwise(lines), strict=True)
    ]
    typical = sorted(map(len, lines))[len(lines) // 2]
    of_words = sum(" " in line for line in lines) * 2 <= len(lines)
    prose = stopped[-1] or any(bound) and not of_words  # else a list
    narrow = width < _NARROWEST or lines[0][:1].islower() and all(map(_goes_on, lines))
    listed = (
        coded or not prose and narrow or of_words and len(lines) >= _WORDS and typical < _NARROWEST
    )
    verse = len(lines) >= _VERSE and not all(full) and not any(map(_goes_on, lines[1:]))
    dense = sum(full) >= _DENSE * len(full)
    within = [
        goes or _goes_on(later)
        for goes, stop, later in zip(bound, stopped[:-1], lines[1:], strict=True)
        if not stop
    ]
    running = sum(within) * 2 >= max(1, len(within))  # most lines end within a sentence
    hanging = False  # in an item whose further lines are indented
    for number, ((line, later), fits) in enumerate(zip(pairwise(lines), full, strict=True)):
        hanging = hanging or bool(_ITEM.match(line))
        if hanging and not coded and block[number + 1][:1].isspace() and not _ITEM.match(later):
            yield True
        elif listed or _ITEM.match(later) or line.startswith("#"):
            yield False
        elif _goes_on(later):
            yield not stopped[number] and prose or dense or width >= _WIDE
        elif verse or stopped[number]:
            yield flowing and fits and not verse
        else:
            begins = _BEGINS.match(later) or len(line) < SHORT * typical
            yield (
                flowing
                and fits
                and (width >= _NARROWEST or not begins)
                or running
                and (bound[number] or not begins)
            )


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
    "twenty thirty forty fifty sixty seventy eighty ninety one two three four five six seven eight nine ten half well "
    "ill self non ex so all high low long short old new mid cross vice semi anti post pre pro quasi world first second "
    "third full part north south east west left right e co".split()
)


def unbroken(texts: Sequence[str]) -> list[str]:
    """Words that a line's end parts, whole again: with their hyphen if they are compounds, as
    elsewhere in the text.
    """
    if not any(BROKEN in text for text in texts):
        return list(texts)
    whole = "\n".join(texts).lower()
    compounds, words = set(_COMPOUND.findall(whole)), set(_WORD.findall(whole))

    def mended(match: re.Match[str]) -> str:
        first, last = match[1] or "", match[2] or ""
        compound = (
            f"{first}-{last}".lower() in compounds or not first.isalpha() or not last[:1].islower()
        )
        known = (first + last).lower() in words
        return f"{first}-" if compound or not known and first.lower() in _FIRST_PARTS else first

    return [_AT_BREAK.sub(mended, text) for text in texts]


def readable(text: str) -> str:
    """Return a passage that was given as it stands, with its paragraphs and characters as those of
    a page.
    """
    return paragraphs([composed(text)])[0]


def paragraphs(texts: Sequence[str]) -> list[str]:
    """Parts of one text, each with a paragraph on a line and its broken words whole."""
    return unbroken([join_lines(text) for text in texts])
