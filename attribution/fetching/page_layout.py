"""Turn the lines of pages into text: without line numbers and running heads, notes after the
sentence they part, tables with their heads, sentences whole over pages.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from itertools import accumulate, groupby, pairwise
from typing import NamedTuple

from attribution.fetching import table_text
from attribution.fetching.page import Extracted, clean
from attribution.text.lines import BROKEN, join_lines, unbroken

MIN_LINE = 30  # characters of a line of prose
FULL = 0.8  # of the widest line: share that a line of prose has
SAME_SIZE = 0.92  # share of the text's size that no note or heading has
_STOPPED = re.compile(r"[.!?:;…。！？][\"'”’)\]]*$")


class PageLine(NamedTuple):
    """A line of a page.

    Attributes:
        cells: Its parts between wide gaps.
        y: Its distance from the lower end of the page, in points.
        size: Height of its letters.
        height: The same as share of the page's height.
    """

    cells: tuple[str, ...]
    y: float
    size: float
    height: float

    @property
    def text(self) -> str:
        return " ".join(self.cells)


_Lines = Sequence[PageLine]


def lay_out(pages: Sequence[_Lines]) -> Extracted:
    """Return the text of pages, and each page's offset.

    Joining lines moves every offset, but keeps letters and digits: a page begins after those of the
    pages before it.
    """
    bodies = _without_running_heads([_without_line_numbers(lines) for lines in pages])
    parts: list[str] = []  # what each page adds to the text
    notes: list[str] = []  # that would part a sentence
    for number, lines in enumerate(bodies):
        if not lines:
            parts.append("")
            continue
        body, page_notes = _split_notes(lines)
        notes += page_notes
        text = _page_text(body)
        later = next(filter(None, bodies[number + 1 :]), None)
        if later is None or not _goes_on(body, later[0]):
            text += "\n\n" + "\n".join([*notes, "", ""])
            notes = []
        elif text.endswith("-"):
            text = text[:-1] + BROKEN
        else:
            text += " "
        parts.append(text)
    joined = clean(unbroken([join_lines("".join(parts), ragged=True)])[0])
    letters = list(accumulate(map(str.isalnum, joined)))  # up to each character
    before = accumulate(sum(map(str.isalnum, part)) for part in parts[:-1])
    breaks = [bisect_right(letters, count) for count in before]
    return Extracted("", joined, breaks=(0, *breaks))


def _goes_on(body: _Lines, later: PageLine) -> bool:
    """Return True if the last sentence of a page goes on in the next line."""
    last = body[-1]
    if len(last.cells) > 1 or _STOPPED.search(last.text):
        return False
    widest = max(len(line.text) for line in body)
    return not later.text[:1].isupper() or len(last.text) > max(MIN_LINE, FULL * widest)


# --- lines that are no text ---

MIN_STEPS = 2  # between the numbers of a page
MIN_REGULAR = 0.6  # share of equal steps
MAX_MARGIN = 0.15  # share of a page's height
EDGE_LINES = 2  # at the top and at the bottom of a page
MAX_HEAD = 200  # characters
MIN_GAP = 1.8  # ems between a head and the text
_LINE_NUMBER = re.compile(r"\d{1,4}")
_PAGE_NUMBER = re.compile(r"(?<![\d/.,])(?:1[0-4]\d\d|\d{1,3})(?![\d/,])")  # years are none


def _without_line_numbers(lines: _Lines) -> list[PageLine]:
    """Return lines without the numbers in the margin, most of which are in equal steps."""
    numbered = [line for line in lines if _LINE_NUMBER.fullmatch(line.cells[0])]
    numbers = [int(line.cells[0]) for line in numbered if len(line.text) > MIN_LINE]
    steps = Counter(later - number for number, later in pairwise(numbers))
    step = max(steps, key=steps.__getitem__, default=0)
    is_regular = step > 0 and steps[step] >= max(MIN_STEPS, MIN_REGULAR * steps.total())
    if not is_regular or 2 * len(numbers) < len(numbered):
        return list(lines)
    bare = [line._replace(cells=line.cells[1:]) if line in numbered else line for line in lines]
    return [line for line in bare if line.cells]


def _without_running_heads(pages: Sequence[_Lines]) -> list[list[PageLine]]:
    """Return pages without their numbers and running heads; those above the first page stay.

    A head or foot stands at the edge of another page too, but for the page's number. Titles, which
    are larger, are none.
    """
    usual = _usual_size([line for lines in pages for line in lines])
    edges = [_edge_forms(lines, page, usual) for page, lines in enumerate(pages)]
    repeated = Counter(form for forms in edges for form in set().union(*forms.values()))
    bodies = []
    for lines, forms in zip(pages, edges, strict=True):
        heads = [line for line in forms if any(repeated[form] > 1 for form in forms[line])]
        if lines is pages[0]:
            heads = [line for line in heads if line.height < 0.5]
        bodies.append([line for line in lines if line not in heads] or list(lines))
    return bodies


def _edge_forms(lines: _Lines, page: int, usual: float) -> dict[PageLine, set[str]]:
    """Return what the lines at the edges of a page would be on another page.

    Without a page's number a head is only what stands apart from the text and is no row.
    """
    upwards = sorted(lines, key=lambda line: line.y)
    forms: dict[PageLine, set[str]] = {}
    for inwards in (upwards, upwards[::-1]):
        gaps = [abs(a.y - b.y) for a, b in pairwise(inwards[: EDGE_LINES + 1])]
        for place, line in enumerate(inwards[:EDGE_LINES]):
            is_title = line.size * SAME_SIZE > usual
            if is_title or min(line.height, 1 - line.height) > MAX_MARGIN:
                continue
            text = line.text.lower()[:MAX_HEAD]
            is_apart = max(gaps[place:], default=0.0) > MIN_GAP * line.size
            forms[line] = {text} if is_apart and len(line.cells) < 3 else set()
            for match in _PAGE_NUMBER.finditer(text):
                offset = int(match[0]) - page
                forms[line].add(f"{text[: match.start()]}#{offset}{text[match.end() :]}")
    return forms


def _usual_size(lines: _Lines) -> float:
    sizes: Counter[float] = Counter()
    for line in lines:
        sizes[line.size] += len(line.text)
    return max(sizes, key=sizes.__getitem__, default=0.0)


def _split_notes(lines: _Lines) -> tuple[list[PageLine], list[str]]:
    """Return the text of a page, and the notes below it, which are smaller."""
    limit = SAME_SIZE * _usual_size(lines)
    lowest = min((line.y for line in lines if line.size >= limit), default=0.0)
    body = [line for line in lines if line.size >= limit or line.y > lowest]
    return body, [line.text for line in lines if line not in body]


# --- tables ---

MIN_ROWS = 3
MAX_CELL = 30  # characters of a cell on average


def _page_text(lines: _Lines) -> str:
    """Return lines as a text, the rows of a table with their heads."""
    written: list[str] = []
    above: list[PageLine] = []
    for width, rows_of_width in groupby(lines, key=lambda line: len(line.cells)):
        group = list(rows_of_width)
        if _is_table(group):
            # the head of a table may lack the cell above the names of the rows
            has_head = bool(above) and 1 < len(above[-1].cells) == width - 1
            head = [("", *above[-1].cells)] if has_head else []
            if has_head:
                written.pop()
            rows = head + [line.cells for line in group]
            table = table_text.lines(rows, has_head, "".join(written[-1:]))
            written += ["", "\n\n".join(table), ""]
        else:
            written += _separated(group)
        above = group
    return "\n".join(written).strip("\n")


def _is_table(rows: _Lines) -> bool:
    """Return True for rows of short cells, of which most behind the first are figures."""
    if len(rows) < MIN_ROWS or len(rows[0].cells) < 2:
        return False
    cells = [cell for row in rows for cell in row.cells]
    behind = [cell for row in rows[1:] for cell in row.cells[1:]]
    figures = sum(any(map(str.isdigit, cell)) for cell in behind)
    return len("".join(cells)) < MAX_CELL * len(cells) and 2 * figures > len(behind)


def _separated(lines: _Lines) -> list[str]:
    """Return lines of text, those in letters of another size apart."""
    texts = []
    last = lines[0]
    for line in lines:
        if min(last.size, line.size) < SAME_SIZE * max(last.size, line.size):
            texts.append("")
        texts.append(line.text)
        last = line
    return texts
