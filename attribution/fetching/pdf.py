"""Read the text layer of a PDF with pdfium, and draw its pages.

Words and raised figures are found by their positions, tables by their columns.
"""

from __future__ import annotations

import base64
import ctypes
import io
import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import median
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

from attribution.errors import FetchFailed
from attribution.fetching.blocks import raised
from attribution.fetching.page import Extracted
from attribution.fetching.page_layout import PageLine, Part, lay_out
from attribution.text.lines import BROKEN

if TYPE_CHECKING:
    from pypdfium2 import PdfDocument, PdfPage, PdfTextPage

MAX_PAGES = 500
MAX_UNKNOWN = 0.5  # share of characters whose font says nothing about them
OCR = "make its text readable with `ocrmypdf --force-ocr` and add it again"
_CODES_ARE_UNICODE = re.compile(rb"/ToUnicode\s*/Identity-[HV]\b")  # pdfium takes it for an error


class _Character(NamedTuple):
    text: str
    x: float
    y: float
    right: float
    size: float  # the height of its font as it is drawn


class _Page(NamedTuple):
    lines: list[PageLine]
    characters: int = 0
    unknown: int = 0  # of these


def read_pdf(content: bytes, media_type: str, name: str) -> Extracted:
    """Read the text and each page's offset.

    An empty page has the offset of the next, and so has a damaged one, which is named.

    Raises:
        FetchFailed: encrypted, too_large, or unreadable where fonts do not say which characters
            they draw.
    """
    pdf = open_pdf(content, name)
    count = len(pdf)
    if count > MAX_PAGES:
        message = (
            f"{name} has {count:,} pages, at most {MAX_PAGES} are read; add only what you need"
        )
        raise FetchFailed("too_large", message, name)
    if pdf.get_formtype():
        pdf.init_forms()
    pages = [_read_page(pdf, number) for number in range(count)]
    damaged = [str(number) for number, page in enumerate(pages, 1) if page is None]
    readable = [page or _Page([]) for page in pages]
    unknown = sum(page.unknown for page in readable)
    total = sum(page.characters for page in readable)
    if unknown > MAX_UNKNOWN * total and not _CODES_ARE_UNICODE.search(content):
        message = (
            f"the characters of {name} cannot be read, since its fonts do not name them; {OCR}"
        )
        raise FetchFailed("unreadable", message, name)
    extracted = lay_out([page.lines for page in readable])
    unread = f"page{'s' if len(damaged) > 1 else ''} {', '.join(damaged)}" if damaged else ""
    title = pdf.get_metadata_value("Title")
    return replace(extracted, title=title, site=urlsplit(name).hostname or "", unread=unread)


def open_pdf(content: bytes, name: str) -> PdfDocument:
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
            message = f"{name} is encrypted; save it without a password and add it as a document"
            raise FetchFailed("encrypted", message, name) from error
        raise


def _read_page(pdf: PdfDocument, number: int) -> _Page | None:
    """Return a page, or None if it is damaged."""
    import pypdfium2

    try:
        page = pdf[number]
        characters, unknown = _read_characters(page)
    except pypdfium2.PdfiumError:
        return None
    _, low, _, high = page.get_cropbox()
    height = (high - low) or 1.0
    lines = []
    for line in _lines(characters):
        margin = min(line.y - low, high - line.y) / height
        lines.append(line._replace(margin=margin))
    if pdf.formenv:
        for field in _fields(pdf, page):
            lines += [PageLine((), -1.0), PageLine((Part(field),), -1.0)]
    page.close()
    return _Page(lines, len(characters), unknown)


def _read_characters(page: PdfPage) -> tuple[list[_Character], int]:
    """Return the characters of a page, and how many of them are unknown."""
    import pypdfium2.raw as raw

    text = page.get_textpage()
    x, y, box = ctypes.c_double(), ctypes.c_double(), raw.FS_RECTF()
    characters = []
    unknown = 0
    high_surrogate = 0
    for n in range(text.count_chars()):
        code = raw.FPDFText_GetUnicode(text, n)
        if 0xD800 <= code < 0xDC00:
            high_surrogate = code
            continue
        if 0xDC00 <= code < 0xE000:
            code = 0x10000 + ((high_surrogate - 0xD800) << 10) + code - 0xDC00
        raw.FPDFText_GetCharOrigin(text, n, x, y)
        raw.FPDFText_GetLooseCharBox(text, n, box)
        unknown += _is_unknown(text, n, chr(code))
        height = box.top - box.bottom
        characters.append(_Character(chr(code), x.value, y.value, box.right, height))
    text.close()
    return characters, unknown


def _is_unknown(text: PdfTextPage, n: int, character: str) -> bool:
    """Return True where a font doesn't say what it draws, except for a letter or figure of Type 3.

    Type 3 glyphs, in figures and older papers, have any names; their codes are those of the
    characters.
    """
    import pypdfium2.raw as raw

    if raw.FPDFText_HasUnicodeMapError(text, n) != 1:
        return "\ue000" <= character < "\uf900" or character == "\ufffd"
    size = ctypes.c_size_t()
    font = raw.FPDFTextObj_GetFont(raw.FPDFText_GetTextObject(text, n))
    raw.FPDFFont_GetFontData(font, None, 0, size)
    has_font_file = bool(size.value)  # Type 3 alone has none
    return has_font_file or not character.isalnum()


def _fields(pdf: PdfDocument, page: PdfPage) -> Iterator[str]:
    """Yield the fields of a form that have a text, as "Name of the keeper: Hannah Moss"."""
    import pypdfium2.raw as raw

    with_text = (
        raw.FPDF_FORMFIELD_TEXTFIELD,
        raw.FPDF_FORMFIELD_COMBOBOX,
        raw.FPDF_FORMFIELD_LISTBOX,
    )
    for n in range(raw.FPDFPage_GetAnnotCount(page)):
        field = raw.FPDFPage_GetAnnot(page, n)
        if raw.FPDFAnnot_GetFormFieldType(pdf.formenv, field) in with_text:
            value = _field_text(pdf, field, raw.FPDFAnnot_GetFormFieldValue)
            label = _field_text(pdf, field, raw.FPDFAnnot_GetFormFieldAlternateName)
            label = label or _field_text(pdf, field, raw.FPDFAnnot_GetFormFieldName)
            if value:
                yield f"{label}: {value}" if label else value
        raw.FPDFPage_CloseAnnot(field)


def _field_text(pdf: PdfDocument, field: Any, read: Callable[..., int]) -> str:
    size = read(pdf.formenv, field, None, 0)
    buffer = ctypes.create_string_buffer(size)
    read(pdf.formenv, field, ctypes.cast(buffer, ctypes.POINTER(ctypes.c_ushort)), size)
    return buffer.raw.decode("utf-16-le", "replace").rstrip("\0").strip()


# --- characters to lines ---

RAISED_SIZE = 0.85  # of raised figures: share of the size beside them …
RAISED_BY = 0.15  # … and share of it above the line
WIDE_GAP = 1.5  # ems between the cells of any row
NARROW_GAP = 0.7  # ems between the cells of a row whose cells stand below others
WORD_GAP = 0.15  # ems that words are farther apart than letters which are set singly
MIN_LETTERS = 5  # of a line that is set in single letters …
MIN_SINGLE = 0.7  # … and their share of its words
FAR_BELOW = 6.0  # heights of the letters, from a line to the next
_HYPHENS = ("\x02", BROKEN)  # at the end of a line


def _lines(characters: Sequence[_Character]) -> Iterator[PageLine]:
    """Yield the lines of a page as pdfium ends them.

    After a raised figure, where pdfium ends a line too, the line goes on.
    """
    line: list[_Character] = []
    has_ended = False
    for character in characters:
        if character.text in "\r\n":
            has_ended = True
            continue
        if line and has_ended and not _goes_on(line, character):
            yield from _line(line)
            line = []
        elif len(line) > 1 and _is_elsewhere(line, character):
            yield from _line([*line[:-1], line[-1]._replace(text="-")])
            line = []
        has_ended = False
        line.append(character)
    yield from _line(line)


def _goes_on(line: Sequence[_Character], character: _Character) -> bool:
    """Return True if a character stands behind a raised figure, or is one, within a line."""
    last = next((c for c in reversed(line) if not c.text.isspace()), character)
    size = max(last.size, character.size)
    is_small = min(last.size, character.size) < RAISED_SIZE * size
    is_beside = abs(character.x - last.right) < 0.5 * size
    return is_small and is_beside and abs(character.y - last.y) < 0.7 * size


def _is_elsewhere(line: Sequence[_Character], character: _Character) -> bool:
    """Return True if a head or foot follows a line-final hyphen, which ends no line of pdfium."""
    *_, last, hyphen = line
    if not (last.text.isalpha() and hyphen.text in _HYPHENS):
        return False
    heights_down = (last.y - character.y) / (last.size or 1.0)
    return heights_down > FAR_BELOW or (heights_down < 0 and not character.text.islower())


def _line(characters: Sequence[_Character]) -> Iterator[PageLine]:
    """Yield a line with its parts: "10^6", "1878[3]"."""
    drawn = [c for c in characters if not c.text.isspace()]
    if not drawn:
        return
    base = max(drawn, key=lambda c: c.size)
    words = "".join(c.text for c in characters).split()
    single = sum(len(word) == 1 and word.isalpha() for word in words)
    if single > max(MIN_LETTERS, MIN_SINGLE * len(words)):
        spaced = Part(_join_letters(drawn), drawn[0].x, drawn[-1].right)
        yield PageLine((spaced,), base.y, base.size)
        return
    parts: list[Part] = []
    text = superscript = ""
    is_wide = True
    left = drawn[0].x
    last: _Character | None = None
    for character in characters:
        is_space = character.text.isspace()
        gap = character.x - last.right if last and not is_space else 0.0
        if last and gap > NARROW_GAP * base.size:
            is_wide = is_wide and gap > WIDE_GAP * base.size
            parts.append(_part(text, superscript, left, last.right))
            text = superscript = ""
            left = character.x
        is_small = character.size < RAISED_SIZE * base.size
        is_up = character.y > base.y + RAISED_BY * base.size
        if is_small and is_up and not is_space:
            superscript += character.text
        else:
            text += raised(text, superscript) + character.text
            superscript = ""
        last = last if is_space else character
    parts.append(_part(text, superscript, left, drawn[-1].right))
    yield PageLine(tuple(parts), drawn[0].y, drawn[0].size, is_wide=is_wide)


def _part(text: str, superscript: str, left: float, right: float) -> Part:
    whole = (text + raised(text, superscript)).replace("\x02", BROKEN)
    return Part(" ".join(whole.split()), left, right)


def _join_letters(letters: Sequence[_Character]) -> str:
    """Return the words of letters that are set singly, which are farther apart."""
    gaps = [later.x - letter.right for letter, later in pairwise(letters)]
    size = letters[0].size
    limit = min(median(gaps) + WORD_GAP * size, size)  # labels of a chart are far apart
    text = letters[0].text
    for gap, letter in zip(gaps, letters[1:], strict=True):
        text += f" {letter.text}" if gap > limit else letter.text
    return text


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
        page = open_pdf(content, name)[number - 1]
        scale = min(MAX_SCALE, MAX_SIDE / max(1.0, *page.get_size()))
        image = page.render(scale=scale).to_pil()
    except (pypdfium2.PdfiumError, IndexError) as error:
        message = f"page {number} of {name} is damaged and cannot be drawn"
        raise FetchFailed("unreadable", message, name, detail=error) from None
    png = io.BytesIO()
    image.save(png, "PNG")
    encoded = base64.b64encode(png.getvalue()).decode("ascii")
    width, height = image.size
    return Picture(encoded, width, height, tuple(_boxes(page, sentence, width, height)))


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
