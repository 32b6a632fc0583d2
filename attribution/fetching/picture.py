"""Draw a page of a PDF as a picture, with the places of a sentence on it."""

from __future__ import annotations

import base64
import ctypes
import io
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from attribution.errors import FetchFailed
from attribution.fetching.pdf import open_pdf

if TYPE_CHECKING:
    from pypdfium2 import PdfPage

MAX_SIDE = 1400  # pixels
MAX_SCALE = 3.0  # pixels a point

Box = tuple[float, float, float, float]  # left, top, width and height, as shares of the picture


@dataclass(frozen=True)
class Picture:
    """A page as PNG in base64, and a box for each line of the sentence; none where it was not
    found.
    """

    png: str
    width: int
    height: int
    boxes: tuple[Box, ...]


def draw(content: bytes, name: str, number: int, sentence: str) -> Picture:
    """Draw a page, numbered from 1. FetchFailed: encrypted, or unreadable where there is no such
    page.
    """
    import pypdfium2

    try:
        pdf = open_pdf(content, name)
        page = pdf[number - 1]
        scale = min(MAX_SCALE, MAX_SIDE / max(1.0, *page.get_size()))
        image = page.render(scale=scale).to_pil()
    except (pypdfium2.PdfiumError, IndexError) as error:
        message = f"page {number} of {name} is damaged and cannot be drawn"
        raise FetchFailed("unreadable", message, name, detail=error) from None
    width, height = image.size
    png = io.BytesIO()
    image.save(png, "PNG")
    boxes = tuple(_boxes(page, sentence, width, height))
    return Picture(base64.b64encode(png.getvalue()).decode("ascii"), width, height, boxes)


def _boxes(page: PdfPage, sentence: str, width: int, height: int) -> Iterator[Box]:
    """Yield the rectangles of the first place where the letters and digits of the sentence follow
    one another.
    """
    import pypdfium2.raw as raw

    text = page.get_textpage()
    drawn = [
        (letter, n)
        for n in range(text.count_chars())
        if (code := raw.FPDFText_GetUnicode(text, n)) < 0x110000
        for letter in _letters(chr(code))
    ]
    wanted = "".join(_letters(sentence))
    at = "".join(letter for letter, _ in drawn).find(wanted) if wanted else -1
    if at < 0:
        return
    first, last = drawn[at][1], drawn[at + len(wanted) - 1][1]
    x, y = ctypes.c_int(), ctypes.c_int()
    for n in range(text.count_rects(first, last - first + 1)):
        left, bottom, right, top = text.get_rect(n)
        corners = []
        for across, up in ((left, top), (right, bottom)):  # turned and cropped as the page is
            raw.FPDF_PageToDevice(page, 0, 0, width, height, 0, across, up, x, y)
            corners.append((x.value / width, y.value / height))
        (x0, x1), (y0, y1) = (sorted(values) for values in zip(*corners, strict=True))
        yield round(x0, 4), round(y0, 4), round(x1 - x0, 4), round(y1 - y0, 4)


def _letters(text: str) -> Iterator[str]:
    """Yield letters and digits alone: spaces, hyphens and signs differ between a page and the text
    read from it.
    """
    return (c for c in unicodedata.normalize("NFKC", text).casefold() if c.isalnum())
