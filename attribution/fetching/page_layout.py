"""Turn the lines of pages into text: without line numbers and running heads, notes after the
paragraph they part, tables with their heads, sentences whole over pages.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise
from statistics import median
from typing import NamedTuple

from attribution.fetching import tables
from attribution.fetching.page import Extracted, clean
from attribution.text.lines import BROKEN, join_lines, unbroken

PARAGRAPH = "\n\n"


class Part(NamedTuple):
    """A part of a line between two gaps."""

    text: str
    left: float = 0.0
    right: float = 0.0


class PageLine(NamedTuple):
    """A line of a page.

    Attributes:
        size: Height of its letters.
        margin: Distance from the nearer end of the page, as share of its height.
        is_wide: Its parts stand so far apart that they are cells.
    """

    parts: tuple[Part, ...]
    y: float
    size: float = 0.0
    margin: float = 0.0
    is_wide: bool = True

    @property
    def text(self) -> str:
        return " ".join(part.text for part in self.parts)


_Lines = Sequence[PageLine]


def lay_out(pages: Sequence[_Lines]) -> Extracted:
    """Return the text of pages, and each page's offset."""
    bodies = _without_line_numbers(pages)
    bodies = _without_running_heads(bodies)
    notes = [_notes(lines) for lines in bodies]
    bodies = [_without(lines, set(found)) for lines, found in zip(bodies, notes, strict=True)]
    joints = [_joint(lines, later) for lines, later in pairwise(bodies)]
    texts = _whole_words([_page_text(lines) for lines in bodies], joints)
    carried: list[PageLine] = []  # notes that would part a sentence
    for number, text in enumerate(texts):
        carried += notes[number]
        if carried and (number == len(texts) - 1 or joints[number] == PARAGRAPH):
            written = clean(join_lines(_page_text(carried), ragged=True))
            texts[number] = f"{text}{PARAGRAPH}{written}" if text else written
            carried = []
    return join_pages(texts, joints)


def join_pages(texts: Sequence[str], joints: Sequence[str] = ()) -> Extracted:
    """Join the texts of pages by the joints between them; an empty page begins with the next."""
    text = ""
    breaks: list[int] = []
    empty_pages = 0
    for number, page in enumerate(texts):
        if not page:
            empty_pages += 1
            continue
        if text:
            text += joints[number - 1] if joints and texts[number - 1] else PARAGRAPH
        breaks += [len(text)] * (empty_pages + 1)
        empty_pages = 0
        text += page
    breaks += [len(text)] * empty_pages
    return Extracted("", text, breaks=tuple(breaks))


def _without(lines: _Lines, removed: set[PageLine]) -> list[PageLine]:
    return [line for line in lines if line not in removed]


# --- numbers of lines and paragraphs in the margin ---

MIN_LINE = 30  # characters of a part that shows where the text begins and ends
MAX_STEP = 10  # between two numbers
MIN_REGULAR = 0.8  # share of numbers that follow each other
_LINE_NUMBER = re.compile(r"\d{1,4}")


def _without_line_numbers(pages: Sequence[_Lines]) -> list[list[PageLine]]:
    bodies = [list(lines) for lines in pages]
    for side in (0, -1):
        numbers = [_line_numbers(lines, side) for lines in bodies]
        values = [value for found in numbers for value in found.values()]
        if not _is_counted(values):
            continue
        for lines, found in zip(bodies, numbers, strict=True):
            for place in sorted(found, reverse=True):
                line = lines[place]
                parts = line.parts[1:] if side == 0 else line.parts[:-1]
                lines[place : place + 1] = [line._replace(parts=parts)] if parts else []
    return bodies


def _line_numbers(lines: _Lines, side: int) -> dict[int, int]:
    """Return the numbers beside the text, by the places of their lines."""
    long_parts = [part for line in lines for part in line.parts if len(part.text) >= MIN_LINE]
    left = min((part.left for part in long_parts), default=-math.inf)
    right = max((part.right for part in long_parts), default=math.inf)
    numbers = {}
    for place, line in enumerate(lines):
        if line.parts and _LINE_NUMBER.fullmatch(line.parts[side].text):
            part = line.parts[side]
            if (part.right < left) if side == 0 else (part.left > right):
                numbers[place] = int(part.text)
    return numbers


def _is_counted(values: Sequence[int]) -> bool:
    """Return True for numbers in equal steps, which may begin again."""
    steps = [later - value for value, later in pairwise(values)]
    forward = Counter(step for step in steps if 0 < step <= MAX_STEP)
    if not forward:
        return False
    (_, count), *_ = forward.most_common(1)
    restarts = sum(step < 0 for step in steps)
    return count + restarts >= MIN_REGULAR * len(steps)


# --- notes at the foot of a page or column ---

NOTE_SIZE = 0.92  # share of the text's size
_NOTE_START = re.compile(r"\[\d{1,3}\]|[*†‡§]|\d{1,3}\.?\s")


def _notes(lines: _Lines) -> list[PageLine]:
    """Return the lines of notes and feet: smaller than the text, below it or with a mark."""
    sizes: Counter[float] = Counter()
    for line in lines:
        sizes[line.size] += len(line.text)
    limit = NOTE_SIZE * max(sizes, key=sizes.__getitem__, default=0.0)
    lowest = min((line.y for line in lines if line.size >= limit), default=0.0)
    notes: list[PageLine] = []
    is_note = False
    for line in lines:
        is_small = 0 < line.size < limit
        begins = _NOTE_START.match(line.text) is not None or 0 < line.y < lowest
        is_note = is_small and (is_note or begins)
        if is_note:
            notes.append(line)
    return notes


# --- running heads and feet ---

_NUMBER = re.compile(r"(?<!\d)\d{1,8}(?!\d)")
_COUNTED = re.compile(  # a number that is not the page's
    r"""\b(?:answer|appendix|article|case|chapter|chart|day|example|exercise|exhibit|figure|lecture
           |lesson|letter|module|no|part|problem|question|section|session|slide|step|table|task
           |unit|volume|week|goal)\.?\ \#""",
    re.VERBOSE,
)
_ALONE = re.compile(r"\W*(?:page )?\d+(?: of \d+)?\W*")
FIRST_YEAR = 1500  # larger numbers count no pages
MAX_HEAD = 200  # characters of a head with a number
EDGE_LINES = 2  # at the top and at the bottom of a page
LINES_APART = 1.25  # distance of a head from the text, in distances of lines
MAX_MARGIN = 0.15  # share of a page's height


def _without_running_heads(pages: Sequence[_Lines]) -> list[list[PageLine]]:
    """Return pages without their numbers and running heads; those above the first page stay.

    A head or foot stands at the edge of another page too, but for the page's number.
    """
    edges = [_edge_forms(lines, page) for page, lines in enumerate(pages)]
    repeated = Counter(form for forms in edges for form in set().union(*forms.values()))
    bodies = []
    for page, lines in enumerate(pages):
        middle = median([line.y for line in lines] or [0.0])
        heads = set()
        for line, forms in edges[page].items():
            stays = not page and line.y > middle and not _ALONE.fullmatch(line.text)
            if not stays and any(repeated[form] > 1 for form in forms):
                heads.add(line)
        bodies.append(_without(lines, heads if heads < set(lines) else set()))
    return bodies


def _edge_forms(lines: _Lines, page: int) -> dict[PageLine, set[str]]:
    """Return what the lines at the edges of a page would be on another page."""
    forms: dict[PageLine, set[str]] = {}
    from_top = sorted(lines, key=lambda line: -line.y)
    for inwards in (from_top, from_top[::-1]):
        gaps = [abs(a.y - b.y) for a, b in pairwise(inwards)]
        leading = median([gap for gap in gaps if gap > 1] or [math.inf])
        for place, line in enumerate(inwards[:EDGE_LINES]):
            is_apart = max(gaps[place:EDGE_LINES], default=0.0) > LINES_APART * leading
            forms[line] = set(_numbered(line, page))
            is_row = len(line.parts) > 2
            if is_apart and line.margin < MAX_MARGIN and not is_row:
                forms[line].add(line.text.lower())
    return forms


def _numbered(line: PageLine, page: int) -> Iterator[str]:
    """Yield the number of the first page and the line with "#", for each number in a line.

    Years and amounts, and the number of a chapter, are what a page says.
    """
    text = line.text.strip().lower()
    for match in _NUMBER.finditer(text[:MAX_HEAD]):
        masked = f"{text[: match.start()]}#{text[match.end() :]}"
        number = int(match[0])
        if number < FIRST_YEAR and not _COUNTED.search(masked):
            yield f"{number - page} {masked}"


# --- tables ---

SAME_EDGE = 0.3  # ems that the edges of a column may differ
MAX_CELLS = 30  # characters of a cell of a table with wide gaps, on average


def _page_text(lines: _Lines) -> str:
    """Return lines as a text, the rows of a table with their heads."""
    groups = [list(group) for _, group in groupby(lines, key=lambda line: len(line.parts))]
    written: list[str] = []
    last: PageLine | None = None
    for number, group in enumerate(groups):
        above = groups[number - 1][-1] if number else None
        has_head = above is not None and written[-1:] == [above.text] and _names(above, group)
        if not _is_table(group, has_head):
            for line in group:
                _add_line(written, line, last)
                last = line
            continue
        last = None
        rows = [[part.text for part in line.parts] for line in group]
        if above is not None and has_head:
            written.pop()
            rows.insert(0, ["", *(part.text for part in above.parts)])
        caption = written[-1] if written else ""
        table = tables.lines(rows, 1 if has_head else None, caption)
        written += ["", PARAGRAPH.join(table), ""]
    return "\n".join(written).strip("\n")


def _add_line(written: list[str], line: PageLine, last: PageLine | None) -> None:
    """Add a line of running text; at the top of the next column, a sentence may go on."""
    joint = _joint([last], [line]) if last and line.y > last.y > 0 else PARAGRAPH
    if joint == PARAGRAPH or not written:
        written.append(line.text)
    elif joint:
        written[-1] += joint + line.text
    else:
        written[-1] = written[-1][:-1] + BROKEN + line.text


def _is_table(rows: _Lines, has_head: bool) -> bool:
    """Return True for rows of short cells far apart, or of cells in columns that are figures."""
    width = len(rows[0].parts)
    if width < 2 or len(rows) + has_head < 3:
        return False
    characters = sum(len(part.text) for row in rows for part in row.parts)
    if all(row.is_wide for row in rows):
        return characters < MAX_CELLS * len(rows) * width
    if width < 3 or not _has_columns(rows):
        return False
    cells = [part.text for row in rows[1:] for part in row.parts[1:]]
    return 2 * sum(cell[:1].isdigit() for cell in cells) > len(cells)


def _has_columns(rows: _Lines) -> bool:
    """Return True if the parts of the rows are aligned and don't overlap."""
    columns = list(zip(*(row.parts for row in rows), strict=True))
    for column, later in pairwise(columns):
        if max(part.right for part in column) >= min(part.left for part in later):
            return False
    tolerance = SAME_EDGE * rows[0].size
    for column in columns:
        lefts = [part.left for part in column]
        rights = [part.right for part in column]
        centres = [part.left + part.right for part in column]
        if all(max(edge) - min(edge) >= tolerance for edge in (lefts, rights, centres)):
            return False
    return True


def _names(line: PageLine, rows: _Lines) -> bool:
    """Return True if the parts of a line stand above all columns of a table but the first."""
    if not 1 < len(line.parts) == len(rows[0].parts) - 1:
        return False
    columns = zip(*(row.parts[1:] for row in rows), strict=True)
    for part, column in zip(line.parts, columns, strict=True):
        is_left = part.right < min(cell.left for cell in column)
        if is_left or part.left > max(cell.right for cell in column):
            return False
    return True


# --- sentences over pages ---

MIN_PROSE = 40  # characters of a line that may go on on the next page …
FULL = 0.8  # … and its share of the width


def _whole_words(texts: Sequence[str], joints: Sequence[str]) -> list[str]:
    """Return the texts of pages with joined lines.

    Words that the end of a line or page parts are whole again; they stand on their first page.
    """
    joined = [join_lines(text, ragged=True) for text in texts]
    parted = [number for number, joint in enumerate(joints) if not joint]
    words = []
    for number in parted:
        first, last = joined[number].split()[-1], joined[number + 1].split()[0]
        words.append(f"{first[:-1]}{BROKEN}{last}")
    whole = unbroken([*joined, *words])
    cleaned = [clean(text) for text in whole[: len(texts)]]
    for number, word in zip(parted, whole[len(texts) :], strict=True):
        keeps_hyphen = word.startswith(cleaned[number].split()[-1])
        cleaned[number] = cleaned[number].removesuffix("" if keeps_hyphen else "-")
    return cleaned


def _joint(lines: _Lines, later: _Lines) -> str:
    """Return what joins two pages: a blank where a sentence goes on, nothing within a word."""
    if not lines or not later or len(lines[-1].parts) > 1:
        return PARAGRAPH
    text, following = lines[-1].text.rstrip(), later[0].text.lstrip()
    if text[-1:] in ("-", BROKEN) and text[-2:-1].isalpha() and following[:1].islower():
        return ""
    if text[-1:] == ",":
        return " "
    if not text[-1:].isalnum():
        return PARAGRAPH
    if following[:1].islower() or following[:1].isdigit():
        return " "
    are_full = _is_full(lines[-1], lines) and _is_full(later[0], later)
    is_prose = len(text) > MIN_PROSE and following[:1].isalpha()
    return " " if are_full and is_prose else PARAGRAPH


def _is_full(line: PageLine, lines: _Lines) -> bool:
    return line.parts[-1].right > FULL * max(
        other.parts[-1].right for other in lines if other.parts
    )
