"""Read the text layer of a PDF with pdfium, and draw its pages.

Raised figures and the cells of a row are found by the positions of characters.
"""

from __future__ import annotations

import base64
import ctypes
import io
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

from attribution.errors import FetchFailed
from attribution.fetching.blocks import raised
from attribution.fetching.page import Extracted
from attribution.fetching.page_layout import PageLine, lay_out
from attribution.text.lines import BROKEN

if TYPE_CHECKING:
    from pypdfium2 import PdfDocument, PdfPage, PdfTextPage

MAX_PAGES = 500
MAX_UNKNOWN = 0.5  # share of characters whose font says nothing about them
OCR = "make its text readable with `ocrmypdf --force-ocr` and add it again"
_CODES_ARE_UNICODE = re.compile(rb"/ToUnicode\s*/Identity-[HV]\b")  # pdfium takes it for an error


class _Character(NamedTuple):
    blank: str  # before it
    text: str
    x: float
    y: float
    right: float
    size: float  # the height of its font as it is drawn
    is_unknown: bool


def read_pdf(content: bytes, media_type: str, name: str) -> Extracted:
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
    total = unknown = 0
    for number in range(count):
        pages.append([])
        try:
            page = pdf[number]
            characters = _read_characters(page)
        except pypdfium2.PdfiumError:
            damaged.append(f"page {number + 1}")
            continue
        pages[number] = _lines(characters, page.get_height())
        total += len(characters)
        unknown += sum(character.is_unknown for character in characters)
        page.close()
    if unknown > MAX_UNKNOWN * total and not _CODES_ARE_UNICODE.search(content):
        raise FetchFailed("unreadable", f"has fonts that do not name their characters; {OCR}")
    title = pdf.get_metadata_value("Title")
    site = urlsplit(name).hostname or ""
    return replace(lay_out(pages), title=title, site=site, unread=", ".join(damaged))


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
    x, y, box = ctypes.c_double(), ctypes.c_double(), raw.FS_RECTF()
    characters = []
    blank = ""
    for n in range(text.count_chars()):
        character = chr(raw.FPDFText_GetUnicode(text, n))
        if character.isspace():
            blank += character
            continue
        raw.FPDFText_GetCharOrigin(text, n, x, y)
        raw.FPDFText_GetLooseCharBox(text, n, box)
        height = box.top - box.bottom
        is_unknown = _is_unknown(text, n, character)
        characters.append(
            _Character(blank, character, x.value, y.value, box.right, height, is_unknown)
        )
        blank = ""
    text.close()
    return characters


def _is_unknown(text: PdfTextPage, n: int, character: str) -> bool:
    """Return True where an embedded font doesn't say what it draws.

    Glyphs of Type 3, in older papers, have no font file; their codes are those of letters.
    """
    import pypdfium2.raw as raw

    if raw.FPDFText_HasUnicodeMapError(text, n) != 1:
        return "\ue000" <= character < "\uf900"
    size = ctypes.c_size_t()
    font = raw.FPDFTextObj_GetFont(raw.FPDFText_GetTextObject(text, n))
    raw.FPDFFont_GetFontData(font, None, 0, size)
    return bool(size.value) or not character.isalnum()


# --- characters to lines ---

RAISED_SIZE = 0.85  # of raised figures: share of the size beside them …
RAISED_BY = 0.15  # … and share of it above the line
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


# --- pictures of pages ---

MAX_SIDE = 1400  # pixels
MAX_SCALE = 3.0  # pixels a point


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
        boxes: One for each line of the sentence; none where it was not found.
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
        image = page.render(scale=scale).to_pil()
    except (pypdfium2.PdfiumError, IndexError) as error:
        message = f"page {number} of {name} is damaged and cannot be drawn"
        raise FetchFailed("unreadable", message, name, detail=error) from None
    png = io.BytesIO()
    image.save(png, "PNG")
    encoded = base64.b64encode(png.getvalue()).decode("ascii")
    width, height = image.size
    boxes = _by_line(_boxes(page, sentence, width, height))
    return Picture(encoded, width, height, tuple(boxes))


def _by_line(boxes: Iterable[Box]) -> list[Box]:
    """Join the boxes of a line: where a text is justified, each word or letter has its own."""
    lines: list[Box] = []
    for box in boxes:
        if lines and _is_beside(lines[-1], box):
            lines[-1] = _around(lines[-1], box)
        else:
            lines.append(box)
    return lines


def _is_beside(one: Box, other: Box) -> bool:
    """Return True if at least half of the lower box is beside the other."""
    top = max(one.top, other.top)
    bottom = min(one.top + one.height, other.top + other.height)
    return bottom - top >= min(one.height, other.height) / 2


def _around(one: Box, other: Box) -> Box:
    left, top = min(one.left, other.left), min(one.top, other.top)
    right = max(one.left + one.width, other.left + other.width)
    bottom = max(one.top + one.height, other.top + other.height)
    return Box(left, top, round(right - left, 4), round(bottom - top, 4))


def _boxes(page: PdfPage, sentence: str, width: int, height: int) -> Iterator[Box]:
    """Yield the rectangles of the first place that has the letters of the sentence in order."""
    import pypdfium2.raw as raw

    text = page.get_textpage()
    place = _find(text, sentence)
    x, y = ctypes.c_int(), ctypes.c_int()
    for n in range(text.count_rects(place.start, len(place)) if place else 0):
        left, bottom, right, top = text.get_rect(n)
        xs, ys = [], []
        for point in ((left, top), (right, bottom)):  # turned and cropped as the page is
            raw.FPDF_PageToDevice(page, 0, 0, width, height, 0, *point, x, y)
            xs.append(x.value / width)
            ys.append(y.value / height)
        box = Box(min(xs), min(ys), max(xs) - min(xs), max(ys) - min(ys))
        yield Box(*(round(value, 4) for value in box))


def _find(text: PdfTextPage, sentence: str) -> range:
    """Return the numbers of the characters that hold the sentence; empty where there are none."""
    import pypdfium2.raw as raw

    letters = ""
    numbers: list[int] = []  # of the character that each letter is from
    for n in range(text.count_chars()):
        code = raw.FPDFText_GetUnicode(text, n)
        character = _letters(chr(code)) if code < 0x110000 else ""
        letters += character
        numbers += [n] * len(character)
    wanted = _letters(sentence)
    start = letters.find(wanted) if wanted else -1
    if start < 0:
        return range(0)
    return range(numbers[start], numbers[start + len(wanted) - 1] + 1)


def _letters(text: str) -> str:
    """Return letters and digits alone.

    Spaces, hyphens and signs differ between a page and the text read from it.
    """
    normal = unicodedata.normalize("NFKC", text).casefold()
    return "".join(filter(str.isalnum, normal))
