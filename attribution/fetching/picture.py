"""Draw a page of a PDF as a picture, with the places of a sentence on it."""

from __future__ import annotations

import base64
import ctypes
import io
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from attribution.errors import FetchFailed
from attribution.fetching.pdf import open_pdf

if TYPE_CHECKING:
    from pypdfium2 import PdfPage, PdfTextPage

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
