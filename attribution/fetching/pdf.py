"""Read the text layer of a PDF with pdfium, and draw its pages.

Raised figures and the cells of a row are found by the positions of characters. The text is without
line numbers and running heads, with notes after the sentence they part, the heads of tables in
their rows, and sentences whole over pages.
"""

from __future__ import annotations

import base64
import io
import re
import unicodedata
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, groupby, pairwise
from statistics import median
from typing import TYPE_CHECKING, NamedTuple

from attribution.errors import FetchFailed
from attribution.fetching import table_text
from attribution.fetching.html_page import raised
from attribution.fetching.page import Extracted, clean
from attribution.text.lines import BROKEN, STOPPED, join_lines, unbroken

if TYPE_CHECKING:
    from pypdfium2 import PdfBitmap, PdfDocument, PdfPage

MAX_PAGES = 500
MAX_UNKNOWN = 0.1  # share of characters that are none, since their font does not name them
OCR = "make its text readable with `ocrmypdf --force-ocr` and add it again"


class _Character(NamedTuple):
    blank: str  # before it
    text: str
    x: float
    y: float
    right: float
    size: float  # the height of its font as it is drawn


def read_pdf(content: bytes) -> Extracted:
    """Read the text and each page's offset.

    An empty page has the offset of the next, and so has a damaged one, which is named.

    Raises:
        FetchFailed: encrypted, too_large, or unreadable where fonts do not say which characters
            they draw.
    """
    import pypdfium2

    pdf = open_pdf(content)
    count = len(pdf)
    if count > MAX_PAGES:
        problem = f"has {count:,} pages, at most {MAX_PAGES} are read; add only what you need"
        raise FetchFailed("too_large", problem)
    if pdf.get_formtype():
        pdf.init_forms()
    pages: list[list[PageLine]] = []
    damaged = []
    for number in range(count):
        pages.append([])
        try:
            page = pdf[number]
            characters = _read_characters(page)
        except pypdfium2.PdfiumError:
            damaged.append(f"page {number + 1}")
            continue
        pages[number] = _lines(characters, page.get_height())
        page.close()
    text = "".join(line.text for lines in pages for line in lines)
    unknown = sum(unicodedata.category(character) in ("Cc", "Co") for character in text)
    if unknown > MAX_UNKNOWN * len(text):
        raise FetchFailed("unreadable", f"has fonts that do not name their characters; {OCR}")
    title = pdf.get_metadata_value("Title")
    return replace(lay_out(pages), title=title, unread=", ".join(damaged))


def open_pdf(content: bytes) -> PdfDocument:
    """Open a document.

    Raises:
        FetchFailed: encrypted.
        PdfiumError: It can't be opened.
    """
    import pypdfium2

    try:
        return pypdfium2.PdfDocument(content)
    except pypdfium2.PdfiumError as error:
        if "password" in str(error).lower():
            problem = "is encrypted; save it without a password and add it as a document"
            raise FetchFailed("encrypted", problem) from error
        raise


def _read_characters(page: PdfPage) -> list[_Character]:
    """Return the characters of a page, those in the fields of a form included."""
    import pypdfium2.raw as raw

    if page.formenv:
        page.flatten()
    text = page.get_textpage()
    characters = []
    blank = ""
    for n in range(text.count_chars()):
        character = chr(raw.FPDFText_GetUnicode(text, n))
        if character.isspace():
            blank += character
            continue
        left, bottom, right, top = text.get_charbox(n, loose=True)
        characters.append(_Character(blank, character, left, bottom, right, top - bottom))
        blank = ""
    text.close()
    return characters


# --- characters to lines ---

RAISED_SIZE = 0.85  # of raised figures: share of the size beside them …
RAISED_BY = 0.3  # … and share of it above the line
CELL_GAP = 0.7  # ems between the cells of a row
_HYPHENS = ("\x02", BROKEN)  # at the end of a line


def _lines(characters: Sequence[_Character], height: float) -> list[PageLine]:
    """Return the lines of a page, as pdfium ends them and after each hyphen of its."""
    lines: list[list[_Character]] = []
    for number, character in enumerate(characters):
        last = characters[max(0, number - 1)]
        is_new = last.text in _HYPHENS or "\n" in character.blank
        if not lines or is_new and not _goes_on(last, character):
            lines.append([])
        lines[-1].append(character)
    return [_line(line, height) for line in lines]


def _goes_on(last: _Character, character: _Character) -> bool:
    """Return True if a line goes on: with or after a raised figure, or without a new line."""
    size = max(last.size, character.size)
    is_small = min(last.size, character.size) < RAISED_SIZE * size
    is_beside = abs(character.x - last.right) < 0.5 * size
    return is_small and is_beside and abs(character.y - last.y) < 0.7 * size


def _line(characters: Sequence[_Character], height: float) -> PageLine:
    """Return a line with its cells: "10^6", "1878[3]"."""
    base = max(characters, key=lambda c: c.size)
    cells: list[str] = []
    text = superscript = ""
    last = characters[0]
    for character in characters:
        is_small = character.size < RAISED_SIZE * base.size
        is_raised = is_small and character.y > base.y + RAISED_BY * base.size
        is_apart = character.x - last.right > CELL_GAP * base.size
        if is_apart or character.blank or not is_raised:
            text += raised(text, superscript)
            superscript = ""
        if is_apart:
            cells.append(_cleaned(text))
            text = ""
        text += character.blank
        if is_raised:
            superscript += character.text
        else:
            text += character.text
        last = character
    cells.append(_cleaned(text + raised(text, superscript)))
    size = median(c.size for c in characters)
    y = characters[0].y
    return PageLine(tuple(cells), y, size, y / height)


def _cleaned(cell: str) -> str:
    """Return the text of a cell with blanks as they show, and characters beyond 16 bits whole."""
    whole = cell.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return " ".join(whole.replace("\x02", BROKEN).split())


# --- lines to text ---

MIN_LINE = 30  # characters of a line of prose
FULL = 0.8  # of the widest line: share that a line of prose has
SAME_SIZE = 0.92  # share of the text's size that no note or heading has


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
        if later is None or not _continues(body, later[0]):
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


def _continues(body: _Lines, later: PageLine) -> bool:
    """Return True if the last sentence of a page goes on in the next line."""
    last = body[-1]
    if len(last.cells) > 1 or STOPPED.search(last.text):
        return False
    widest = max(len(line.text) for line in body)
    return not later.text[:1].isupper() or len(last.text) > max(MIN_LINE, FULL * widest)


# --- lines that are no text ---

MIN_STEPS = 2  # between the numbers of a page
MIN_REGULAR = 0.6  # share of equal steps
MAX_MARGIN = 0.15  # share of a page's height
EDGE_LINES = 2  # at the top and at the bottom of a page
MIN_GAP = 1.8  # ems between a head and the text
_LINE_NUMBER = re.compile(r"\d{1,4}")
_PAGE_NUMBER = re.compile(r"(?<![\d/.,])(?:1[0-4]\d\d|\d{1,3})(?![\d/,])")  # years are none


def _without_line_numbers(lines: _Lines) -> list[PageLine]:
    """Return lines without the numbers in the margin, most of which are in equal steps."""
    numbered = [line for line in lines if _LINE_NUMBER.fullmatch(line.cells[0])]
    numbers = [int(line.cells[0]) for line in numbered if len(line.text) > MIN_LINE]
    steps = Counter(later - number for number, later in pairwise(numbers))
    ((step, count),) = steps.most_common(1) or [(0, 0)]
    is_regular = step > 0 and count >= max(MIN_STEPS, MIN_REGULAR * steps.total())
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
    first = next(filter(None, pages), None)
    bodies = []
    for lines, forms in zip(pages, edges, strict=True):
        heads = [line for line in forms if any(repeated[form] > 1 for form in forms[line])]
        if lines is first:
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
            text = line.text.lower()
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


# --- pictures of pages ---

MAX_SIDE = 1400  # pixels
MAX_SCALE = 3.0  # pixels a point
FIRST_WORDS = 4


class Box(NamedTuple):
    """A rectangle, in shares of the picture."""

    left: float
    top: float
    width: float
    height: float


@dataclass(frozen=True)
class Picture:
    """A page as PNG in base64.

    Attributes:
        boxes: One for each line or word of the sentence; none where it was not found.
    """

    png: str
    width: int
    height: int
    boxes: tuple[Box, ...]


def draw(content: bytes, name: str, number: int, sentence: str) -> Picture:
    """Draw a page, numbered from 1.

    Raises:
        FetchFailed: encrypted, or unreadable where there is no such page.
    """
    import pypdfium2

    try:
        page = open_pdf(content)[number - 1]
        scale = min(MAX_SCALE, MAX_SIDE / max(1.0, *page.get_size()))
        bitmap = page.render(scale=scale)
    except (pypdfium2.PdfiumError, IndexError) as error:
        message = f"page {number} of {name} is damaged and cannot be drawn"
        raise FetchFailed("unreadable", message, name, detail=error) from None
    png = io.BytesIO()
    bitmap.to_pil().save(png, "PNG")
    encoded = base64.b64encode(png.getvalue()).decode("ascii")
    boxes = tuple(_boxes(page, bitmap, sentence))
    return Picture(encoded, bitmap.width, bitmap.height, boxes)


def _boxes(page: PdfPage, bitmap: PdfBitmap, sentence: str) -> Iterator[Box]:
    """Yield the rectangles, of lines or words, of the first place that has the sentence.

    Where it is broken or has a note, its first words are looked for.
    """
    text = page.get_textpage()
    words = sentence.split()
    whole = text.search(" ".join(words)).get_next()
    place = whole or text.search(" ".join(words[:FIRST_WORDS])).get_next()
    position = bitmap.get_posconv(page)
    for n in range(text.count_rects(*place) if place else 0):
        left, bottom, right, top = text.get_rect(n)
        corners = [position.to_bitmap(left, bottom), position.to_bitmap(right, top)]
        (x, x_end), (y, y_end) = map(sorted, zip(*corners, strict=True))
        width, height = bitmap.width, bitmap.height
        yield Box(x / width, y / height, (x_end - x) / width, (y_end - y) / height)
