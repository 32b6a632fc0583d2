"""Read the text layer of a PDF with pdfium: words and raised figures by their positions, tables by
their columns, without running heads.
"""

from __future__ import annotations

import ctypes
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby, pairwise
from statistics import median
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

from attribution.errors import FetchFailed
from attribution.fetching import tables
from attribution.fetching.blocks import raised
from attribution.fetching.page import Extracted, clean
from attribution.text.lines import BROKEN, join_lines, unbroken

if TYPE_CHECKING:
    from pypdfium2 import PdfDocument, PdfPage, PdfTextPage

MAX_PAGES = 500
MAX_UNKNOWN = 0.5  # share of characters whose font says nothing about them
OCR = "make its text readable with `ocrmypdf --force-ocr` and add it again"
_CODES_ARE_UNICODE = re.compile(rb"/ToUnicode\s*/Identity-[HV]\b")  # pdfium takes it for an error
_CATALOG = re.compile(rb"(\d+)\s+\d+\s+obj\s*<<(?:[^>]|>(?!>))*/Type\s*/Catalog\b")
PARAGRAPH = "\n\n"


class _Character(NamedTuple):
    text: str
    x: float
    y: float
    right: float
    size: float  # the height of its font as it is drawn


class _PageLine(NamedTuple):
    """A line of a page.

    Attributes:
        text: With a tab at each wide gap.
        margin: Distance from the nearer end of the page, as share of its height.
        edges: Left and right of each part between its gaps.
    """

    text: str
    y: float
    size: float = 0.0
    margin: float = 0.0
    edges: tuple[float, ...] = (0.0,)


class _Page(NamedTuple):
    lines: list[_PageLine]
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
    bodies = _without_running_heads([page.lines for page in readable])
    extracted = join_pages(*_texts_and_joints(bodies))
    unread = f"page{'s' if len(damaged) > 1 else ''} {', '.join(damaged)}" if damaged else ""
    title = pdf.get_metadata_value("Title")
    return replace(extracted, title=title, site=urlsplit(name).hostname or "", unread=unread)


def open_pdf(content: bytes, name: str) -> PdfDocument:
    """Open a document.

    One that was cut off gets a new trailer, from which pdfium rebuilds the table of its objects.

    Raises:
        FetchFailed: encrypted.
        PdfiumError: It can't be opened.
    """
    import pypdfium2

    catalogs = _CATALOG.findall(content)
    root = catalogs[-1] if catalogs else b"1"
    trailer = b"\ntrailer\n<</Root %b 0 R>>\nstartxref\n0\n%%%%EOF\n" % root
    try:
        return pypdfium2.PdfDocument(content)
    except pypdfium2.PdfiumError as error:
        if "password" in str(error).lower():
            message = f"{name} is encrypted; save it without a password and add it as a document"
            raise FetchFailed("encrypted", message, name) from error
    return pypdfium2.PdfDocument(content + trailer)


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
    for line in _with_narrow_columns(list(_lines(characters))):
        margin = min(line.y - low, high - line.y) / height
        lines.append(line._replace(margin=margin))
    if pdf.formenv:
        for field in _fields(pdf, page):
            lines += [_PageLine("", -1.0), _PageLine(field, -1.0)]
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
WIDE_GAP = 1.5  # ems between the cells of a row
NARROW_GAP = 0.7  # ems between the cells of a row whose cells stand below others
FAR_BELOW = 6.0  # heights of the letters, from a line to the next
WORD_GAP = 0.15  # ems that words are farther apart than letters which are set singly
SAME_EDGE = 0.3  # ems that the edges of a column may differ
_NARROW = "\x1f"  # stands in a line at a narrow gap
_AT_NARROW = re.compile(f"([ \xa0]*){_NARROW}")
_HYPHENS = ("\x02", BROKEN)  # at the end of a line


def _lines(characters: Sequence[_Character]) -> Iterator[_PageLine]:
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
    """Return True if a head or foot follows a line-final hyphen, after which pdfium ends no line."""
    *_, last, hyphen = line
    if not (last.text.isalpha() and hyphen.text in _HYPHENS):
        return False
    heights_down = (last.y - character.y) / (last.size or 1.0)
    return heights_down > FAR_BELOW or (heights_down < 0 and not character.text.islower())


def _line(characters: Sequence[_Character]) -> Iterator[_PageLine]:
    drawn = [c for c in characters if not c.text.isspace()]
    if not drawn:
        return
    gap = NARROW_GAP * max(c.size for c in drawn)
    edges = [drawn[0].x]
    for left, right in pairwise(drawn):
        if right.x - left.right > gap:
            edges += [left.right, right.x]
    edges.append(drawn[-1].right)
    text = _spaced_letters(characters, drawn) or _text(characters, drawn)
    yield _PageLine(text, drawn[0].y, drawn[0].size, edges=tuple(edges))


def _spaced_letters(characters: Sequence[_Character], drawn: Sequence[_Character]) -> str:
    """Return the words of letters that are set singly; empty for any other line."""
    words = "".join(c.text for c in characters).split()
    letters = sum(len(word) == 1 and word.isalpha() for word in words)
    if len(words) <= 5 or letters <= 0.7 * len(words):
        return ""
    size = max(c.size for c in drawn)
    usual = median(right.x - left.right for left, right in pairwise(drawn))
    if usual >= size:
        return ""
    text = drawn[0].text
    for left, right in pairwise(drawn):
        is_apart = right.x - left.right > usual + WORD_GAP * size
        text += f" {right.text}" if is_apart else right.text
    return text


def _text(characters: Sequence[_Character], drawn: Sequence[_Character]) -> str:
    """Return the text of a line: "10^6", "1878[3]", a tab at each wide gap."""
    base = max(drawn, key=lambda c: c.size)
    text = ""
    superscript = ""
    last: _Character | None = None
    for character in characters:
        is_space = character.text.isspace()
        gap = character.x - last.right if last and not is_space else 0.0
        if gap > WIDE_GAP * base.size:
            text = text.rstrip() + "\t"
        elif gap > NARROW_GAP * base.size:
            text += _NARROW
        is_small = character.size < RAISED_SIZE * base.size
        is_up = character.y > base.y + RAISED_BY * base.size
        if is_small and is_up and not is_space:
            superscript += character.text
        else:
            text += raised(text, superscript) + character.text
            superscript = ""
        last = last if is_space else character
    return text + raised(text, superscript)


def _with_narrow_columns(lines: Sequence[_PageLine]) -> Iterator[_PageLine]:
    """Yield lines with a tab at narrow gaps too where they are the rows of a table."""
    for parts, group in groupby(lines, lambda line: len(line.edges)):
        rows = list(group)
        separator = "\t" if parts > 2 and _is_table(rows) else r"\1"
        for row in rows:
            yield row._replace(text=_AT_NARROW.sub(separator, row.text))


def _is_table(rows: Sequence[_PageLine]) -> bool:
    """Return True if the parts of the rows stand in columns and most of them are figures.

    The first row is the head; the first column names the rows.
    """
    has_head = len(rows) > 2 and any(map(str.isalpha, rows[0].text))
    if not has_head:
        return False
    sides = list(zip(*(row.edges for row in rows), strict=True))
    lefts, rights = sides[::2], sides[1::2]
    if any(max(a) >= min(b) for a, b in zip(rights[:-1], lefts[1:], strict=True)):
        return False
    tolerance = SAME_EDGE * rows[0].size
    for left, right in zip(lefts, rights, strict=True):
        centre = [a + b for a, b in zip(left, right, strict=True)]
        if all(max(edge) - min(edge) >= tolerance for edge in (left, right, centre)):
            return False
    cells: list[str] = []
    for row in rows[1:]:
        cells += row.text.replace("\t", _NARROW).split(_NARROW)[1:]
    figures = sum(cell.lstrip()[:1].isdigit() for cell in cells)
    return 2 * figures > len(cells)


def _join_rows(lines: Sequence[_PageLine]) -> str:
    """Return lines as a text, the rows of a table with their heads."""
    written: list[str] = []
    for width, group in groupby(map(_cells, lines), len):
        rows = list(group)
        if width <= 1:
            written += [row[0] if row else "" for row in rows]
            continue
        characters = sum(len(cell) for row in rows for cell in row)
        if len(rows) > 2 and characters < 30 * len(rows) * width:
            written += ["", PARAGRAPH.join(tables.lines(rows)), ""]
        else:
            written += [" ".join(row) for row in rows]
    return "\n".join(written).strip("\n")


def _cells(line: _PageLine) -> list[str]:
    text = line.text.replace("\x02", BROKEN)
    return [" ".join(cell.split()) for cell in text.split("\t")]


# --- running heads and feet ---

_NUMBER = re.compile(r"(?<!\d)\d{1,8}(?!\d)|\b[ivxl]+\b")
_COUNTED = re.compile(  # a number that is not the page's
    r"""\b(?:answer|appendix|article|case|chapter|chart|day|example|exercise|exhibit|figure|lecture
           |lesson|letter|module|no|part|problem|question|section|session|slide|step|table|task
           |unit|volume|week)\.?\ \#""",
    re.VERBOSE,
)
_AT_EDGE = re.compile(r"\W*#(?!\w).*|.*\W#\W*")
_ALONE = re.compile(r"\W*(?:page )?#(?: of \d+)?\W*")
_SENTENCE = re.compile(r"(?:\S+ ){5,}.*[.!?]")
FIRST_YEAR = 1500  # larger numbers count no pages
MAX_HEAD = 200  # characters of a head with a number
EDGE_LINES = 2  # at the top and at the bottom of a page
NEAR_PAGES = 2  # on which a head stands again: left and right pages have their own
MAX_WITHIN = 2  # lines within pages like one at an edge, which is then none of these
HEIGHTS_APART = 1.6  # distance of a head from the text, in heights of its letters …
LINES_APART = 1.25  # … or in distances of lines
MAX_MARGIN = 0.15  # share of a page's height
LARGE = 1.3  # times the largest other letters of a page: a title
MAX_TITLE = 4  # words of a title


class _Numbered(NamedTuple):
    """A line with "#" for what may be the page's number, and the first page's number then."""

    text: str
    start: int


def _without_running_heads(pages: Sequence[Sequence[_PageLine]]) -> list[list[_PageLine]]:
    """Return pages without their numbers and running heads and feet.

    Each head stays once, where it parts no sentence.
    """
    finder = _HeadFinder(pages)
    heads = [finder.find(number) for number in range(len(pages))]
    bodies = [_without(lines, gone) for lines, gone in zip(pages, heads, strict=True)]
    seen: set[str] = set()
    for number, gone in enumerate(heads):
        for line, head in list(gone.items()):
            is_above = bool(bodies[number]) and line.y > bodies[number][0].y
            first = number - is_above  # of the two pages that it stands between
            is_between = 0 <= first < len(pages) - 1
            parts = is_between and _joint(bodies[first], bodies[first + 1]) != PARAGRAPH
            if not (_ALONE.fullmatch(head) or head in seen or parts):
                seen.add(head)
                del gone[line]
    return [_without(lines, gone) for lines, gone in zip(pages, heads, strict=True)]


def _without(lines: Sequence[_PageLine], gone: dict[_PageLine, str]) -> list[_PageLine]:
    return [line for line in lines if line not in gone]


class _HeadFinder:
    """Finds lines at an edge that have a page's number, or that near pages have too.

    Without a number, they are set apart from the text. A line that also stands within pages, as a
    refrain does, a title, and the head of a table are none.
    """

    def __init__(self, pages: Sequence[Sequence[_PageLine]]) -> None:
        downwards = [sorted(lines, key=lambda line: -line.y) for lines in pages]
        self._edges = [(lines, lines[::-1]) for lines in downwards]  # from the top, the bottom
        self._within = Counter(
            _plain(line) for lines in downwards for line in lines[EDGE_LINES:-EDGE_LINES]
        )
        self._numbered: Counter[_Numbered] = Counter()
        for page, edges in enumerate(self._edges):
            lines = [line for edge in edges for line in edge[:EDGE_LINES]]
            self._numbered.update({each for line in lines for each in _numbered(line, page)})
        self._starts = {each.start for each, count in self._numbered.items() if count > 1}

    def find(self, page: int) -> dict[_PageLine, str]:
        """Return the heads and feet of a page, each with "#" for its number."""
        heads: dict[_PageLine, str] = {}
        lines = self._edges[page][0]
        for edge, inwards in enumerate(self._edges[page]):
            near = self._near_lines(page, edge)
            for place, line in enumerate(inwards[:EDGE_LINES]):
                head = self._head(page, inwards, place, near)
                is_title = _is_title(line, lines) and len(head.split()) < MAX_TITLE
                if not head or (is_title and not _ALONE.fullmatch(head)):
                    break
                heads[line] = head
        return heads if heads.keys() < set(lines) else {}

    def _near_lines(self, page: int, edge: int) -> set[str]:
        """Return the lines at the same edge of near pages."""
        first = max(0, page - NEAR_PAGES)
        pages = self._edges[first : page + NEAR_PAGES + 1]
        others = [edges[edge] for n, edges in enumerate(pages, first) if n != page]
        return {_plain(line) for lines in others for line in lines[:EDGE_LINES]}

    def _head(self, page: int, inwards: Sequence[_PageLine], place: int, near: set[str]) -> str:
        """Return a line with "#" for its number if it is a head or foot, else nothing."""
        line = inwards[place]
        is_apart = line.margin < MAX_MARGIN and _is_apart(inwards, place, near)
        for each in _numbered(line, page):
            fits = each.start in self._starts and is_apart and _AT_EDGE.fullmatch(each.text)
            is_first = each.start == 1 and len(self._edges) > 1 and _ALONE.fullmatch(each.text)
            if self._numbered[each] > 1 or fits or is_first:
                return each.text
        text = _plain(line)
        if text not in near or not is_apart or self._within[text] >= MAX_WITHIN:
            return ""
        columns = {other.text.count("\t") for other in inwards[place + 1 : place + 3]}
        is_table_head = "\t" in text and columns == {text.count("\t")}
        return "" if is_table_head or _SENTENCE.fullmatch(text) else text


def _is_apart(inwards: Sequence[_PageLine], place: int, near: set[str]) -> bool:
    """Return True if a line at an edge, with heads below it, is set apart from the text."""
    gaps = [abs(a.y - b.y) for a, b in pairwise(inwards)]
    leading = median([gap for gap in gaps if gap > 1] or [math.inf])
    limit = min(HEIGHTS_APART * inwards[place].size, LINES_APART * leading)
    end = place
    while end + 1 < len(inwards) and _plain(inwards[end + 1]) in near:
        end += 1
    return any(gap > limit for gap in gaps[place : end + 1])


def _is_title(line: _PageLine, lines: Sequence[_PageLine]) -> bool:
    others = [other.size for other in lines if other != line]
    return bool(others) and line.size > LARGE * max(others)


def _plain(line: _PageLine) -> str:
    return line.text.strip().lower()


def _numbered(line: _PageLine, page: int) -> Iterator[_Numbered]:
    """Yield the line for each number in it that may be the page's.

    Years and amounts, and the number of a chapter, are what a page says.
    """
    text = _plain(line)
    if len(text) >= MAX_HEAD:
        return
    for match in _NUMBER.finditer(text):
        masked = f"{text[: match.start()]}#{text[match.end() :]}"
        number = _number(match[0])
        if number < FIRST_YEAR and not _COUNTED.search(masked):
            yield _Numbered(masked, number - page)


def _number(figure: str) -> int:
    """Return the value of an Arabic or Roman number."""
    if figure.isdecimal():
        return int(figure)
    values = [{"i": 1, "v": 5, "x": 10, "l": 50}[letter] for letter in figure]
    return sum(value if value >= later else -value for value, later in pairwise([*values, 0]))


# --- lines to pages ---

MIN_PROSE = 40  # characters of a line that may go on on the next page …
FULL = 0.8  # … and its share of the width


def _texts_and_joints(pages: Sequence[Sequence[_PageLine]]) -> tuple[list[str], list[str]]:
    """Return the text of each page, and what stands between two pages.

    Words that the end of a line or page parts are whole again; they stand on their first page.
    """
    joints = [_joint(lines, later) for lines, later in pairwise(pages)]
    texts = [join_lines(_join_rows(lines), ragged=True) for lines in pages]
    parted = [number for number, joint in enumerate(joints) if not joint]
    words = []
    for number in parted:
        first, last = texts[number].split()[-1], texts[number + 1].split()[0]
        words.append(f"{first[:-1]}{BROKEN}{last}")
    whole = unbroken([*texts, *words])
    texts = [clean(text) for text in whole[: len(texts)]]
    for number, word in zip(parted, whole[len(texts) :], strict=True):
        keeps_hyphen = word.startswith(texts[number].split()[-1])
        texts[number] = texts[number].removesuffix("" if keeps_hyphen else "-")
    return texts, joints


def _joint(lines: Sequence[_PageLine], later: Sequence[_PageLine]) -> str:
    """Return what joins two pages: a blank where a sentence goes on, nothing within a word."""
    if not lines or not later or "\t" in lines[-1].text:
        return PARAGRAPH
    text, following = lines[-1].text.rstrip(), later[0].text.lstrip()
    if text[-1:] == "-" and text[-2:-1].isalpha() and following[:1].islower():
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


def _is_full(line: _PageLine, lines: Sequence[_PageLine]) -> bool:
    return line.edges[-1] > FULL * max(other.edges[-1] for other in lines)


def join_pages(texts: Sequence[str], joints: Sequence[str] = ()) -> Extracted:
    """Join the texts of pages, with a joint between two each; an empty page begins with the next."""
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
