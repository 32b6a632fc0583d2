"""Read the text layer of a PDF, by pdfium: words and raised figures by their positions, without
running heads.
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
OCR = "make its text readable with `ocrmypdf --force-ocr` and add it again"
_MOST_UNKNOWN = 0.5  # share of characters whose font says nothing about them
_CODES_ARE_UNICODE = re.compile(
    rb"/ToUnicode\s*/Identity-[HV]\b"
)  # of a font; pdfium reads them so, as an error
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
    size: float = 0.0
    margin: float = 0.0  # from the nearer end of the page, as share of its height
    edges: tuple[float, ...] = (0.0,)  # left and right of each part between its gaps


def read_pdf(content: bytes, media_type: str, name: str) -> Extracted:
    """The text and each page's offset; an empty page has that of the next, and so has a damaged
    one, which is named.

    FetchFailed: encrypted, too_large, or unreadable where fonts do not say which characters they
    draw.
    """
    import pypdfium2

    pdf = open_pdf(content, name)
    if (count := len(pdf)) > MAX_PAGES:
        message = (
            f"{name} has {count:,} pages, at most {MAX_PAGES} are read; add only the part you need"
        )
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
    if unknown > _MOST_UNKNOWN * total and not _CODES_ARE_UNICODE.search(content):
        message = (
            f"the characters of {name} cannot be read, since its fonts do not name them; {OCR}"
        )
        raise FetchFailed("unreadable", message, name)
    pages = _without_running(pages)
    joints = [_joint(*each) for each in pairwise(pages)]
    joined = [join_lines(_written(lines), ragged=True) for lines in pages]
    parted = [n for n, joint in enumerate(joints) if not joint]
    words = [f"{joined[n].split()[-1][:-1]}{BROKEN}{joined[n + 1].split()[0]}" for n in parted]
    whole = unbroken([*joined, *words])
    texts = [clean(text) for text in whole[:count]]
    for n, word in zip(parted, whole[count:], strict=True):
        texts[n] = texts[n].removesuffix("" if word.startswith(texts[n].split()[-1]) else "-")
    title = pdf.get_metadata_value("Title")
    unread = f"page{'s' if len(damaged) > 1 else ''} {', '.join(damaged)}" if damaged else ""
    return replace(
        paged(texts, joints), title=title, site=urlsplit(name).hostname or "", unread=unread
    )


def open_pdf(content: bytes, name: str) -> PdfDocument:
    """Open a document; one that was cut off gets a new trailer, from which pdfium rebuilds the
    table of its objects.
    """
    import pypdfium2

    catalog = _CATALOG.findall(content)
    trailer = b"\ntrailer\n<</Root %b 0 R>>\nstartxref\n0\n%%%%EOF\n" % (
        catalog[-1] if catalog else b"1"
    )
    for candidate in (content, content + trailer):
        try:
            return pypdfium2.PdfDocument(candidate)
        except pypdfium2.PdfiumError as error:
            failure = error
            if "password" in str(error).lower():
                message = (
                    f"{name} is encrypted; save it without a password and add it as a document"
                )
                raise FetchFailed("encrypted", message, name) from error
    raise failure


def _page(pdf: PdfDocument, number: int) -> tuple[list[_Line], int, int]:
    """The lines of a page, and how many of its characters are unknown, and of how many."""
    page = pdf[number]
    characters, unknown = _characters(page)
    _, low, _, high = page.get_cropbox()
    lines = [
        line._replace(margin=min(line.y - low, high - line.y) / (high - low or 1.0))
        for line in _with_columns(list(_lines(characters)))
    ]
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

    Its glyphs, in figures and older papers, are named as one likes, and their codes are those of
    the characters.
    """
    import pypdfium2.raw as raw

    if raw.FPDFText_HasUnicodeMapError(text, n) != 1:
        return "\ue000" <= character < "\uf900" or character == "\ufffd"
    size = ctypes.c_size_t()
    raw.FPDFFont_GetFontData(
        raw.FPDFTextObj_GetFont(raw.FPDFText_GetTextObject(text, n)), None, 0, size
    )
    return bool(size.value) or not character.isalnum()  # Type 3 alone has no font file


def _fields(pdf: PdfDocument, page: PdfPage) -> Iterator[str]:
    """The fields of a form that have a text, as "Name of the keeper: Hannah Moss"."""
    import pypdfium2.raw as raw

    for n in range(raw.FPDFPage_GetAnnotCount(page)):
        annotation = raw.FPDFPage_GetAnnot(page, n)
        kind = raw.FPDFAnnot_GetFormFieldType(pdf.formenv, annotation)
        if kind in (
            raw.FPDF_FORMFIELD_TEXTFIELD,
            raw.FPDF_FORMFIELD_COMBOBOX,
            raw.FPDF_FORMFIELD_LISTBOX,
        ):

            def value(of: Callable[..., Any], field: Any = annotation) -> str:
                size = of(pdf.formenv, field, None, 0)
                buffer = ctypes.create_string_buffer(size)
                of(pdf.formenv, field, ctypes.cast(buffer, ctypes.POINTER(ctypes.c_ushort)), size)
                return buffer.raw.decode("utf-16-le", "replace").rstrip("\0").strip()

            if written := value(raw.FPDFAnnot_GetFormFieldValue):
                label = value(raw.FPDFAnnot_GetFormFieldAlternateName) or value(
                    raw.FPDFAnnot_GetFormFieldName
                )
                yield f"{label}: {written}" if label else written
        raw.FPDFPage_CloseAnnot(annotation)


# --- characters to lines ---

_SMALLER, _HIGHER = (
    0.85,
    0.15,
)  # of raised figures: share of the size beside them, and of it above the line
_GAP, _NARROW = (
    1.5,
    0.7,
)  # ems between the cells of a row, and of one whose cells stand below others
_MAY_PART = "\x1f"  # stands in a line at a narrow gap
_AT_GAP = re.compile(f"([ \xa0]*){_MAY_PART}")
_SAME = 0.3  # ems that the edges of a column may differ
_FAR = 6.0  # heights of the letters, from a line to the next
_HYPHENS = ("\x02", BROKEN)  # at the end of a line
_APART = 0.15  # ems that words are farther apart than letters which are set singly


def _lines(characters: Sequence[_Character]) -> Iterator[_Line]:
    """The lines of a page as pdfium ends them; after a raised figure, where it ends one too, the
    line goes on.
    """
    line: list[_Character] = []
    ended = False
    for character in [*characters, _Character("\n", 0, 0, 0, 0)]:
        if character.text in "\r\n":
            ended = True
            continue
        if ended and line and not _goes_on(line, character):
            yield from _line(line)
            line = []
        elif (
            len(line) > 1
            and line[-2].text.isalpha()
            and line[-1].text in _HYPHENS
            and _is_elsewhere(line[-2], character)
        ):
            yield from _line([*line[:-1], line[-1]._replace(text="-")])
            line = []
        ended = False
        line.append(character)
    yield from _line(line)


def _is_elsewhere(last: _Character, character: _Character) -> bool:
    """True if the character after a hyphen at a line's end, where pdfium ends no line, is that of a
    head or foot.
    """
    down = (last.y - character.y) / (last.size or 1.0)
    return down > _FAR or down < 0 and not character.text.islower()


def _line(line: list[_Character]) -> Iterator[_Line]:
    if drawn := [c for c in line if not c.text.isspace()]:
        wide = _NARROW * max(c.size for c in drawn)
        inner = [
            edge for a, b in pairwise(drawn) if b.x - a.right > wide for edge in (a.right, b.x)
        ]
        edges = (drawn[0].x, *inner, drawn[-1].right)
        yield _Line(_text(line, drawn), drawn[0].y, drawn[0].size, edges=edges)


def _with_columns(lines: Sequence[_Line]) -> Iterator[_Line]:
    """Lines with a tab at narrow gaps too where they are the rows of a table."""
    for parts, group in groupby(lines, lambda line: len(line.edges)):
        rows = list(group)
        sign = "\t" if parts > 2 and _is_table(rows) else r"\1"
        yield from (row._replace(text=_AT_GAP.sub(sign, row.text)) for row in rows)


def _is_table(rows: Sequence[_Line]) -> bool:
    """True if the parts of the rows stand in columns and most below and beside the heads are
    figures.
    """
    cells = [
        cell for row in rows[1:] for cell in row.text.replace("\t", _MAY_PART).split(_MAY_PART)[1:]
    ]
    headed = len(rows) > 2 and any(map(str.isalpha, rows[0].text))
    sides = [*zip(*(row.edges for row in rows), strict=True)]
    for left, right in zip(sides[::2], sides[1::2], strict=True):
        centred = [a + b for a, b in zip(left, right, strict=True)]
        headed = headed and any(
            max(at) - min(at) < _SAME * rows[0].size for at in (left, right, centred)
        )
    apart = all(
        max(right) < min(left) for right, left in zip(sides[1::2], sides[2::2], strict=False)
    )
    return headed and apart and 2 * sum(cell.lstrip()[:1].isdigit() for cell in cells) > len(cells)


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
    if len(words) > 5 and sum(len(word) == 1 and word.isalpha() for word in words) > 0.7 * len(
        words
    ):
        gaps = [right.x - left.right for left, right in pairwise(drawn)]
        if (usual := median(gaps)) < base.size:
            apart = [" " * (gap > usual + _APART * base.size) for gap in gaps]
            return "".join(c.text + space for c, space in zip(drawn, [*apart, ""], strict=True))
    text, above = "", ""
    last: _Character | None = None
    for character in line:
        space = character.text.isspace()
        if not space and last and (gap := character.x - last.right) > _NARROW * base.size:
            text = text.rstrip() + "\t" if gap > _GAP * base.size else text + _MAY_PART
        up = character.y > base.y + _HIGHER * base.size and character.size < _SMALLER * base.size
        if up and not space:
            above += character.text
        else:
            text += (raised(text, above) if above else "") + character.text
            above = ""
        last = last if space else character
    return text + raised(text, above)


def _written(lines: Sequence[_Line]) -> str:
    """Lines as a text, the rows of a table with their heads."""
    out: list[str] = []
    rows: list[list[str]] = []
    for line in [*lines, _Line("", 0)]:
        cells = (
            [" ".join(cell.split()) for cell in line.text.replace("\x02", BROKEN).split("\t")]
            if line.text
            else []
        )
        if rows and len(cells) != len(rows[0]):
            is_table = len(rows) > 2 and sum(map(len, sum(rows, []))) < 30 * len(rows) * len(
                rows[0]
            )
            out += (
                ["", "\n\n".join(tables.lines(rows)), ""]
                if is_table
                else [" ".join(row) for row in rows]
            )
            rows = []
        if len(cells) > 1:
            rows.append(cells)
        else:
            out += cells or [""]
    return "\n".join(out).strip("\n")


# --- lines to pages ---

_FIGURES = re.compile(r"(?<!\d)\d{1,8}(?!\d)|\b[ivxl]+\b")
_COUNTED = re.compile(  # a number that is not the page's
    r"\b(?:answer|appendix|article|case|chapter|chart|day|example|exercise|exhibit|figure|lecture|lesson|letter|module|no"
    r"|part|problem|question|section|session|slide|step|table|task|unit|volume|week)\.? #"
)
_AT_EDGE = re.compile(r"\W*#(?!\w).*|.*\W#\W*")
_ALONE = re.compile(r"\W*(?:page )?#(?: of \d+)?\W*")
_SENTENCE = re.compile(r"(?:\S+ ){5,}.*[.!?]")
_YEARS = 1500  # where they begin
_LONGEST = 200  # characters of a head with a number
_EDGE = 2  # lines at the top and at the bottom of a page
_NEAR = 2  # pages away, a head may stand again: left and right pages have their own
_OFTEN = 2  # lines within pages that are like one at an edge, which is then none of these
_SET_APART, _SPACED = (
    1.6,
    1.25,
)  # distance of a head: in heights of its letters, or in distances of lines
_MARGIN = 0.15  # share of a page's height, of the margin with its heads or feet
_LARGE, _FEW = (
    1.3,
    4,
)  # times the largest other letters of a page, and words: a title may have such letters
_PROSE, _FULL = (
    40,
    0.8,
)  # characters of a line, and share of the width, with which it may go on on the next page


def _without_running(pages: Sequence[Sequence[_Line]]) -> list[list[_Line]]:
    """Pages without their numbers and running heads and feet, each of which stays once, where it
    parts no sentence.
    """
    heads = _Heads(pages)
    running = [heads.of(number) for number in range(len(pages))]
    bodies = [
        [line for line in lines if line not in gone]
        for lines, gone in zip(pages, running, strict=True)
    ]
    seen: set[str] = set()
    for number, gone in enumerate(running):
        for line, head in list(gone.items()):
            first = number - (line.y > bodies[number][0].y)  # of the pages that it stands between
            parts = (
                0 <= first < len(pages) - 1 and _joint(bodies[first], bodies[first + 1]) != "\n\n"
            )
            if not (_ALONE.fullmatch(head) or head in seen or parts):
                seen.add(head)
                del gone[line]
    return [
        [line for line in lines if line not in gone]
        for lines, gone in zip(pages, running, strict=True)
    ]


class _Heads:
    """The running heads and feet of pages: lines at an edge that have a page's number, or that near
    pages have too.

    Without a number, they are set apart from the text. A line that also stands within pages, as a
    refrain does, one in
    larger letters than the text and the head of a table are none.
    """

    def __init__(self, pages: Sequence[Sequence[_Line]]) -> None:
        down = [sorted(lines, key=lambda line: -line.y) for lines in pages]
        self._inwards = [
            (lines, lines[::-1]) for lines in down
        ]  # from the top, and from the bottom
        self._within = Counter(_plain(line) for lines in down for line in lines[_EDGE:-_EDGE])
        self._numbered = Counter(
            each
            for page, edges in enumerate(self._inwards)
            for each in {
                each for lines in edges for line in lines[:_EDGE] for each in _numbered(line, page)
            }
        )
        self._leadings = [
            median(
                [gap for line, lower in pairwise(lines) if (gap := line.y - lower.y) > 1]
                or [math.inf]
            )
            for lines in down
        ]
        self._starts = {start for (_, start), count in self._numbered.items() if count > 1}

    def of(self, page: int) -> dict[_Line, str]:
        """Those of a page, each with "#" for its number."""
        found: dict[_Line, str] = {}
        lines = self._inwards[page][0]
        for edge, inwards in enumerate(self._inwards[page]):
            near = (
                self._inwards[p][edge][:_EDGE]
                for p in range(max(0, page - _NEAR), min(len(self._inwards), page + _NEAR + 1))
                if p != page
            )
            others = {_plain(line) for edges in near for line in edges}
            for place, line in enumerate(inwards[:_EDGE]):
                end = next(
                    (
                        n
                        for n, other in enumerate(inwards[place + 1 :])
                        if _plain(other) not in others
                    ),
                    0,
                )
                limit = min(_SET_APART * line.size, _SPACED * self._leadings[page])
                apart = line.margin < _MARGIN and any(
                    abs(a.y - b.y) > limit for a, b in pairwise(inwards[place : place + end + 2])
                )
                large = len(lines) > 1 and line.size > _LARGE * max(
                    (other.size for other in lines if other != line), default=line.size
                )
                head = self._head(line, page, inwards[place + 1 :][:2], others, apart)
                if not head or large and len(head.split()) < _FEW and not _ALONE.fullmatch(head):
                    break
                found[line] = head
        return found if found.keys() < set(lines) else {}

    def _head(
        self, line: _Line, page: int, inward: Sequence[_Line], others: set[str], apart: bool
    ) -> str:
        for masked, start in _numbered(line, page):
            fits = start in self._starts and apart and _AT_EDGE.fullmatch(masked)
            alone = start == 1 and len(self._inwards) > 1 and _ALONE.fullmatch(masked)
            if self._numbered[masked, start] > 1 or fits or alone:
                return masked
        text = _plain(line)
        is_table = "\t" in text and {other.text.count("\t") for other in inward} == {
            text.count("\t")
        }
        runs = text in others and apart and self._within[text] < _OFTEN and not is_table
        return text if runs and not _SENTENCE.fullmatch(text) else ""


def _plain(line: _Line) -> str:
    return line.text.strip().lower()


def _numbered(line: _Line, page: int) -> Iterator[tuple[str, int]]:
    """A line with "#" for what may be the page's number, and the number that the first page has
    then.

    Years and amounts, and the number of a chapter, are what a page says.
    """
    text = _plain(line)
    for found in _FIGURES.finditer(text) if len(text) < _LONGEST else ():
        masked = f"{text[: found.start()]}#{text[found.end() :]}"
        if not _COUNTED.search(masked) and _number(found[0]) < _YEARS:
            yield masked, _number(found[0]) - page


def _number(figure: str) -> int:
    if figure.isdecimal():
        return int(figure)
    values = [{"i": 1, "v": 5, "x": 10, "l": 50}[letter] for letter in figure]
    return sum(value if value >= later else -value for value, later in pairwise([*values, 0]))


def _joint(lines: Sequence[_Line], later: Sequence[_Line]) -> str:
    """The joint of two pages: a blank where a sentence goes on, nothing within a word, else an
    empty line.
    """
    if not lines or not later or "\t" in lines[-1].text:
        return "\n\n"
    text, following = lines[-1].text.rstrip(), later[0].text.lstrip()
    goes_on = following[:1].islower() or following[:1].isdigit()
    if text[-1:] == "-" and text[-2:-1].isalpha() and following[:1].islower():
        return ""
    prose = (
        len(text) > _PROSE
        and following[:1].isalpha()
        and _is_full(lines[-1], lines)
        and _is_full(later[0], later)
    )
    return " " if text[-1:] == "," or text[-1:].isalnum() and (goes_on or prose) else "\n\n"


def _is_full(line: _Line, lines: Sequence[_Line]) -> bool:
    return line.edges[-1] > _FULL * max(each.edges[-1] for each in lines)


def paged(texts: Sequence[str], joints: Sequence[str] = ()) -> Extracted:
    """Join the texts of pages, none of which has blank lines at its ends; an empty page begins
    where the next does.

    `joints` stand between two pages each, instead of a blank line.
    """
    text, breaks = "", list[int]()
    waiting = 0  # empty pages
    for number, own in enumerate(texts):
        if not own:
            waiting += 1
            continue
        if text:
            text += joints[number - 1] if joints and texts[number - 1] else "\n\n"
        breaks += [len(text)] * (waiting + 1)
        waiting = 0
        text += own
    return Extracted("", text, breaks=(*breaks, *[len(text)] * waiting))
