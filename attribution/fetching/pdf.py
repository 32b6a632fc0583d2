"""Read the text layer of a PDF, by pdfium: words and raised figures by their positions, without running heads."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from statistics import median
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

from attribution.errors import FetchFailed
from attribution.fetching import tables
from attribution.fetching.html import raised
from attribution.fetching.page import Extracted, clean
from attribution.text.lines import BROKEN, join_lines, unbroken

if TYPE_CHECKING:
    from pypdfium2 import PdfDocument, PdfPage, PdfTextPage

MAX_PAGES = 500
OCR = "make its text readable with `ocrmypdf --force-ocr` and add it again"
_MOST_UNKNOWN = 0.5  # share of characters whose font says nothing about them
_CATALOG = re.compile(rb"(\d+)\s+\d+\s+obj\s*<<(?:[^>]|>(?!>))*/Type\s*/Catalog\b")


class _Character(NamedTuple):
    text: str
    x: float
    y: float
    right: float
    size: float  # the height of its font as it is drawn


class _Line(NamedTuple):
    text: str  # with a tab at each wide gap
    y: float


def read_pdf(content: bytes, media_type: str, name: str) -> Extracted:
    """The text and each page's offset; an empty page has that of the next, and so has a damaged one, which is named.

    FetchFailed: encrypted, too_large, or unreadable where fonts do not say which characters they draw.
    """
    import pypdfium2

    pdf = open_pdf(content, name)
    if (count := len(pdf)) > MAX_PAGES:
        message = f"{name} has {count:,} pages, at most {MAX_PAGES} are read; add only the part you need"
        raise FetchFailed("too_large", message, name)
    if pdf.get_formtype():
        pdf.init_forms()
    pages: list[list[_Line]] = []
    damaged: list[str] = []
    unknown = total = 0
    for number in range(count):
        try:
            lines, without, of = _page(pdf, number)
        except pypdfium2.PdfiumError:
            lines, without, of = [], 0, 0
            damaged.append(str(number + 1))
        pages.append(lines)
        unknown, total = unknown + without, total + of
    if unknown > _MOST_UNKNOWN * total:
        message = f"the characters of {name} cannot be read, since its fonts do not name them; {OCR}"
        raise FetchFailed("unreadable", message, name)
    texts = [
        clean(text)
        for text in unbroken([join_lines(_written(lines), ragged=True) for lines in _without_running(pages)])
    ]
    title = pdf.get_metadata_value("Title")
    unread = f"page{'s' if len(damaged) > 1 else ''} {', '.join(damaged)}" if damaged else ""
    return replace(paged(texts, _flows), title=title, site=urlsplit(name).hostname or "", unread=unread)


def open_pdf(content: bytes, name: str) -> PdfDocument:
    """Open a document; one that was cut off gets a new trailer, from which pdfium rebuilds the table of its objects."""
    import pypdfium2

    catalog = _CATALOG.findall(content)
    trailer = b"\ntrailer\n<</Root %b 0 R>>\nstartxref\n0\n%%%%EOF\n" % (catalog[-1] if catalog else b"1")
    for candidate in (content, content + trailer):
        try:
            return pypdfium2.PdfDocument(candidate)
        except pypdfium2.PdfiumError as error:
            failure = error
            if "password" in str(error).lower():
                message = f"{name} is encrypted; save it without a password and add it as a document"
                raise FetchFailed("encrypted", message, name) from error
    raise failure


def _page(pdf: PdfDocument, number: int) -> tuple[list[_Line], int, int]:
    """The lines of a page, and how many of its characters are unknown, and of how many."""
    page = pdf[number]
    characters, unknown = _characters(page)
    lines = list(_lines(characters))
    if pdf.formenv:
        lines += [_Line(text, -1.0) for field in _fields(pdf, page) for text in ("", field)]
    page.close()
    return lines, unknown, len(characters)


def _characters(page: PdfPage) -> tuple[list[_Character], int]:
    import pypdfium2.raw as raw

    text = page.get_textpage()
    x, y, box = ctypes.c_double(), ctypes.c_double(), raw.FS_RECTF()
    found, unknown = [], 0
    for n in range(text.count_chars()):
        code = raw.FPDFText_GetUnicode(text, n)
        raw.FPDFText_GetCharOrigin(text, n, x, y)
        raw.FPDFText_GetLooseCharBox(text, n, box)
        if 0xD800 <= code < 0xDC00:  # the first half of a pair
            high = code
            continue
        if 0xDC00 <= code < 0xE000:
            code = 0x10000 + ((high - 0xD800) << 10) + code - 0xDC00
        unknown += _is_unknown(text, n, chr(code))
        found.append(_Character(chr(code), x.value, y.value, box.right, box.top - box.bottom))
    text.close()
    return found, unknown


def _is_unknown(text: PdfTextPage, n: int, character: str) -> bool:
    """True where a font does not say what it draws, except for a letter or figure of Type 3.

    Its glyphs, in figures and older papers, are named as one likes, and their codes are those of the characters.
    """
    import pypdfium2.raw as raw

    if raw.FPDFText_HasUnicodeMapError(text, n) != 1:
        return "\ue000" <= character < "\uf900" or character == "\ufffd"
    size = ctypes.c_size_t()
    raw.FPDFFont_GetFontData(raw.FPDFTextObj_GetFont(raw.FPDFText_GetTextObject(text, n)), None, 0, size)
    return bool(size.value) or not character.isalnum()  # Type 3 alone has no font file


def _fields(pdf: PdfDocument, page: PdfPage) -> Iterator[str]:
    """The fields of a form that have a text, as "Name of the keeper: Hannah Moss"."""
    import pypdfium2.raw as raw

    for n in range(raw.FPDFPage_GetAnnotCount(page)):
        annotation = raw.FPDFPage_GetAnnot(page, n)
        kind = raw.FPDFAnnot_GetFormFieldType(pdf.formenv, annotation)
        if kind in (raw.FPDF_FORMFIELD_TEXTFIELD, raw.FPDF_FORMFIELD_COMBOBOX, raw.FPDF_FORMFIELD_LISTBOX):

            def value(of: Callable[..., Any], field: Any = annotation) -> str:
                size = of(pdf.formenv, field, None, 0)
                buffer = ctypes.create_string_buffer(size)
                of(pdf.formenv, field, ctypes.cast(buffer, ctypes.POINTER(ctypes.c_ushort)), size)
                return buffer.raw.decode("utf-16-le", "replace").rstrip("\0").strip()

            if written := value(raw.FPDFAnnot_GetFormFieldValue):
                label = value(raw.FPDFAnnot_GetFormFieldAlternateName) or value(raw.FPDFAnnot_GetFormFieldName)
                yield f"{label}: {written}" if label else written
        raw.FPDFPage_CloseAnnot(annotation)


# --- characters to lines ---

_SMALLER, _HIGHER = 0.85, 0.15  # of raised figures: share of the size beside them, and of it above the line
_GAP = 1.5  # ems between the cells of a row
_APART = 0.15  # ems that words are farther apart than letters which are set singly


def _lines(characters: Sequence[_Character]) -> Iterator[_Line]:
    """The lines of a page as pdfium ends them; after a raised figure, where it ends one too, the line goes on."""
    line: list[_Character] = []
    ended = False
    for character in [*characters, _Character("\n", 0, 0, 0, 0)]:
        if character.text in "\r\n":
            ended = True
            continue
        if ended and line and not _goes_on(line, character):
            yield from _line(line)
            line = []
        ended = False
        line.append(character)
    yield from _line(line)


def _line(line: list[_Character]) -> Iterator[_Line]:
    if drawn := [c for c in line if not c.text.isspace()]:
        yield _Line(_text(line, drawn), drawn[0].y)


def _goes_on(line: Sequence[_Character], character: _Character) -> bool:
    """True if a character stands behind a raised figure, or is one, within a line."""
    last = next((c for c in reversed(line) if not c.text.isspace()), character)
    size = max(last.size, character.size)
    small = min(last.size, character.size) < _SMALLER * size
    beside = abs(character.x - last.right) < 0.5 * size
    return small and beside and abs(character.y - last.y) < 0.7 * size


def _text(line: Sequence[_Character], drawn: Sequence[_Character]) -> str:
    """The text of a line: "10^6", "1878[3]", words of letters set singly, a tab at each wide gap."""
    base = max(drawn, key=lambda c: c.size)
    words = "".join(c.text for c in line).split()
    if len(words) > 5 and sum(len(word) == 1 and word.isalpha() for word in words) > 0.7 * len(words):
        gaps = [right.x - left.right for left, right in pairwise(drawn)]
        if (usual := median(gaps)) < base.size:
            apart = [" " * (gap > usual + _APART * base.size) for gap in gaps]
            return "".join(c.text + space for c, space in zip(drawn, [*apart, ""], strict=True))
    text, above = "", ""
    last: _Character | None = None
    for character in line:
        space = character.text.isspace()
        if not space and last and character.x - last.right > _GAP * base.size:
            text = text.rstrip() + "\t"
        up = character.y > base.y + _HIGHER * base.size and character.size < _SMALLER * base.size
        if up and not space:
            above += character.text
        else:
            text += (raised(text, above) if above else "") + character.text
            above = ""
        last = last if space else character
    return text + (raised(text, above) if above else "")


def _written(lines: Sequence[_Line]) -> str:
    """Lines as a text, the rows of a table with their heads."""
    out: list[str] = []
    rows: list[list[str]] = []
    for line in [*lines, _Line("", 0)]:
        cells = [" ".join(cell.split()) for cell in line.text.replace("\x02", BROKEN).split("\t")] if line.text else []
        if rows and len(cells) != len(rows[0]):
            is_table = len(rows) > 2 and sum(map(len, sum(rows, []))) < 30 * len(rows) * len(rows[0])
            out += ["", "\n\n".join(tables.lines(rows)), ""] if is_table else [" ".join(row) for row in rows]
            rows = []
        if len(cells) > 1:
            rows.append(cells)
        else:
            out += cells or [""]
    return "\n".join(out).strip("\n")


# --- lines to pages ---

_FIGURES = re.compile(r"\d+|\b[ivxl]+\b")
_AT_EDGE = re.compile(r"^\W*#|\bpage #|#\W*$")  # where a head has its page number
_NUMBER = re.compile(r"\W*(?:page )?#(?: of #)?\W*")
_SENTENCE = re.compile(r"(?:\S+ ){5,}.*[.!?]")
_EDGE = 2  # lines at the top and at the bottom of a page


def _without_running(pages: Sequence[Sequence[_Line]]) -> list[list[_Line]]:
    """Pages without the heads that the page before has too, the feet that the next has too, and page numbers."""
    edges = []
    for lines in pages:
        ordered = sorted(range(len(lines)), key=lambda n: -lines[n].y)
        top, bottom = ordered[:_EDGE], ordered[_EDGE:][-_EDGE:]
        edges.append([{n: lines[n].text.strip().lower() for n in edge} for edge in (top, bottom)])
    out = []
    for number, lines in enumerate(pages):
        gone: set[int] = set()
        for edge, neighbour, step in ((0, number - 1, 1), (1, number + 1, -1)):
            beside = edges[neighbour][edge].values() if 0 <= neighbour < len(pages) else ()
            for n, own in list(edges[number][edge].items())[::step]:
                runs = not _SENTENCE.fullmatch(own) and any(_is_same_head(own, other) for other in beside)
                if not (runs or len(pages) > 1 and _NUMBER.fullmatch(_FIGURES.sub("#", own))):
                    break
                gone.add(n)
        out.append([line for n, line in enumerate(lines) if n not in gone or len(gone) == len(lines)])
    return out


def _is_same_head(one: str, other: str) -> bool:
    """True for equal lines and for those that differ in a page number alone: years and amounts are what a page says."""
    masked = _FIGURES.sub("#", one)
    if one == other or masked != _FIGURES.sub("#", other):
        return one == other
    changed = [pair for pair in zip(_FIGURES.findall(one), _FIGURES.findall(other), strict=True) if pair[0] != pair[1]]
    counted = all(len(a + b) < 8 and abs(int(a) - int(b)) == 1 for a, b in changed if (a + b).isdecimal())
    return len(changed) == 1 and counted and bool(_AT_EDGE.search(masked))


def _flows(text: str, following: str) -> bool:
    """True where a sentence goes on over the end of a page."""
    return text[-1:].isalnum() and (following[:1].islower() or following[:1].isdigit()) or text[-1:] == ","


def paged(texts: Sequence[str], flows: Callable[[str, str], bool] = lambda text, following: False) -> Extracted:
    """Join the texts of pages, none of which has blank lines at its ends; an empty page begins where the next does."""
    text, breaks, before = "", [], ""
    for own in texts:
        if own:
            text += (" " if flows(before, own) else "\n\n") if text else ""
            before = own
        breaks.append(len(text) if own else -1)
        text += own
    following = len(text)
    for n in range(len(breaks) - 1, -1, -1):
        following = breaks[n] = following if breaks[n] < 0 else breaks[n]
    return Extracted("", text, breaks=tuple(breaks))
