"""Read files that are ZIP archives of XML: Office with its workbooks, OpenDocument and EPUB.

Namespaces are removed, since those of Strict files differ.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Sequence
from copy import deepcopy
from string import ascii_lowercase, ascii_uppercase
from typing import TYPE_CHECKING
from urllib.parse import unquote, urljoin

from attribution.errors import FetchFailed
from attribution.fetching import table_text
from attribution.fetching.content_type import decode
from attribution.fetching.html_page import clear, parse, read_text, remove_hidden, write_signs
from attribution.fetching.page import Extracted

if TYPE_CHECKING:
    from lxml.etree import _Element
    from openpyxl.worksheet.worksheet import Worksheet

# --- packages ---


class Package:
    """An open package; what it unpacks to is bounded by the memory of the sandbox.

    Raises:
        FetchFailed: encrypted.
    """

    def __init__(self, content: bytes) -> None:
        if content.startswith(b"\xd0\xcf\x11\xe0"):
            raise FetchFailed("encrypted", "is encrypted; save it without a password")
        # Info-ZIP writes names in UTF-8 and does not say so
        archive = zipfile.ZipFile(io.BytesIO(content), metadata_encoding="utf-8")
        self.members = archive.namelist()
        self.read = archive.read

    def xml(self, member: str) -> _Element:
        """Return a member's root element; entities, of which bombs are made, are not expanded.

        Raises:
            ValueError: There is an entity.
        """
        from lxml.etree import QName, XMLParser, fromstring

        parser = XMLParser(
            resolve_entities=False, no_network=True, remove_comments=True, remove_pis=True
        )
        root: _Element = fromstring(self.read(member), parser)
        for element in root.iter():
            element.tag = QName(element).localname
            for name, value in element.items():
                element.set(QName(name).localname, value)
        return root

    def optional(self, member: str) -> list[_Element]:
        """Return a member's elements; none if there is no such member."""
        return list(self.xml(member)) if member in self.members else []

    def title(self, member: str) -> str:
        """Return the title in a member with metadata; empty if there is none."""
        if member not in self.members:
            return ""
        return str(self.xml(member).xpath("string(//title)"))


# --- documents and presentations ---

_TAGS = {
    "p": "p",
    "h": "h2",
    "tbl": "table",
    "tr": "tr",
    "tc": "td",
    "th": "th",
    "br": "br",
    "cr": "br",
    "sup": "sup",
    "table": "table",
    "table-row": "tr",
    "table-cell": "td",
    "covered-table-cell": "td",
    "line-break": "br",
    "page": "div",
}
_DOCUMENT = re.compile(r"word/document\d*\.xml")
_SLIDE = re.compile(r"ppt/(?:slides/slide|notesSlides/notesSlide)\d+\.xml")
_CHARACTERS = {"tab": " ", "ptab": " ", "s": " ", "noBreakHyphen": "-"}
_ON = "[not(@val='0' or @val='false')]"
_UNREAD = f"""
    //del | //moveFrom | //instrText | //Fallback | //tracked-changes | //annotation | //note
  | //r[rPr[@strike!='noStrike' or *[self::vanish or self::strike or self::dstrike]{_ON}]]
  | //tr[trPr/*[self::hidden or self::del]{_ON}]
  | //sp[.//ph[@type='ftr' or @type='dt' or @type='sldNum']]
"""
_RAISED = """
    //r[rPr[@baseline>0 or vertAlign/@val='superscript']]
       [not(footnoteReference or endnoteReference)]
"""
_NOTES = ("footnoteReference", "endnoteReference")


def read_docx(content: bytes) -> Extracted:
    """Read title and text as a reader sees them; notes stand at the end."""
    package = Package(content)
    root = package.xml(next(filter(_DOCUMENT.fullmatch, package.members)))
    _write_numbers(root, package)
    numbers: dict[str, int] = {}  # of notes, by kind and id
    for reference in root.iter(*_NOTES):
        key = reference.tag.removesuffix("Reference") + reference.get("id")
        number = numbers.setdefault(key, len(numbers) + 1)
        reference.text = f"[{number}]"
    for note in package.optional("word/footnotes.xml") + package.optional("word/endnotes.xml"):
        key = note.tag + note.get("id")
        if key in numbers:
            first = next(note.iter("t"), note)
            first.text = f"[{numbers[key]}] {(first.text or '').lstrip()}"
            root.append(note)
    return Extracted(package.title("docProps/core.xml"), _text(root))


def read_pptx(content: bytes) -> Extracted:
    """Read the slides of a presentation by their numbers, then the speaker's notes."""
    package = Package(content)
    slides = filter(_SLIDE.fullmatch, package.members)
    ordered = sorted(slides, key=lambda member: (len(member), member))
    texts = [_text(package.xml(slide)) for slide in ordered]
    return Extracted(package.title("docProps/core.xml"), "\n\n".join(texts))


def read_odf(content: bytes) -> Extracted:
    """Read a text, sheet or presentation of OpenDocument, without its notes."""
    package = Package(content)
    body = next(package.xml("content.xml").iter("body"))
    return Extracted(package.title("meta.xml"), _text(body, is_mixed=True))


def _text(root: _Element, is_mixed: bool = False) -> str:
    """Return the text of a part that is turned into HTML in its place.

    Args:
        root: What the part holds.
        is_mixed: Text stands in every element, not in `t` alone.
    """
    clear(root.xpath(_UNREAD))
    for run in root.xpath(_RAISED):
        run.tag = "sup"
    for formula in root.iter("oMath"):
        write_signs(formula)
    for box in list(root.iter("txbxContent")):
        paragraph = next(box.iterancestors("p"))
        paragraph.addnext(box)
    for table in root.iter("tbl"):
        _merge_cells(table)
    for element in root.iter():
        name = element.tag
        is_text = name in ("t", *_NOTES)
        text = element.text if is_text else _CHARACTERS.get(name)
        if not is_mixed:
            element.tail = None
        if text is not None or not is_mixed:
            element.text = text
        element.tag = _TAGS.get(name, "span")
    return read_text(root)


def _merge_cells(table: _Element) -> None:
    """Give the cells of a table in Word their spans; one that spans rows is repeated in each."""
    above: dict[int, _Element] = {}  # the last cell of each column
    for row in table.iterchildren("tr"):
        is_head = row.find("trPr/tblHeader") is not None
        column = 0
        for cell in row.iterchildren("tc"):
            merge = cell.find("tcPr/vMerge")
            if merge is not None and merge.get("val") != "restart" and column in above:
                cell[:] = deepcopy(above[column])
            above[column] = cell
            span = cell.xpath("string(tcPr/gridSpan/@val)") or "1"
            cell.set("colspan", span)
            column += int(span)
            if is_head:
                cell.tag = "th"


# --- automatic numbers ---

_ROMAN = "i ii iii iv v vi vii viii ix x xi xii xiii xiv xv xvi xvii xviii xix xx"
_FIGURES: dict[str, Sequence[str]] = {
    "lowerLetter": ascii_lowercase,
    "upperLetter": ascii_uppercase,
    "lowerRoman": _ROMAN.split(),
    "upperRoman": _ROMAN.upper().split(),
}


_LEVELS = "//abstractNum[@abstractNumId=//num[@numId=$id]/abstractNumId/@val]/lvl"


def _write_numbers(root: _Element, package: Package) -> None:
    """Write the numbers that Word gives to paragraphs before their text, as "Article 3"."""
    styles = package.optional("word/styles.xml")
    by_style = {style.get("styleId"): style.find("pPr/numPr") for style in styles}
    numbering = package.optional("word/numbering.xml")
    counts: dict[str, list[int]] = {}  # so far, by list and level
    for paragraph in root.iter("p"):
        place = paragraph.find("pPr/numPr")
        if place is None:
            place = by_style.get(paragraph.xpath("string(pPr/pStyle/@val)"))
        first = next(paragraph.iter("t"), None)
        if place is None or first is None:
            continue
        name = place.xpath("string(numId/@val)")
        depth = int(place.xpath("string(ilvl/@val)") or 0)
        levels = numbering[0].xpath(_LEVELS, id=name) if numbering else []
        if depth < len(levels):
            count = counts.setdefault(name, [0] * len(levels))
            count[depth:] = [count[depth] + 1] + [0] * (len(levels) - depth - 1)
            first.text = f"{_label(levels, count, depth)} {first.text or ''}"


def _label(levels: Sequence[_Element], counts: Sequence[int], depth: int) -> str:
    """Return the number of a paragraph with the words around it, or "-" for a bullet."""
    if levels[depth].xpath("boolean(numFmt[@val='bullet'])"):
        return "-"
    label = str(levels[depth].xpath("string(lvlText/@val)"))
    for place, (level, count) in enumerate(zip(levels, counts, strict=True), 1):
        start = int(level.xpath("string(start/@val)") or 1)
        value = start + max(0, count - 1)
        figures = _FIGURES.get(level.xpath("string(numFmt/@val)"), ())
        figure = figures[value - 1] if 0 < value <= len(figures) else str(value)
        label = label.replace(f"%{place}", figure)
    return label


# --- books ---

_EMPTY_ELEMENT = re.compile(r"<(title|script|style|a|p|div|span|td)(\s[^<>]*)?/>")  # in XHTML


def read_epub(content: bytes) -> Extracted:
    """Read the title and the chapters of a book in their order.

    Raises:
        FetchFailed: encrypted for a book with rights management.
    """
    package = Package(content)
    if "META-INF/rights.xml" in package.members:
        problem = "is encrypted (rights management); add an unprotected copy"
        raise FetchFailed("encrypted", problem)
    root = package.xml("META-INF/container.xml").xpath("string(//rootfile/@full-path)")
    book = package.xml(root)
    texts = []
    for reference in book.iter("itemref"):
        link = book.xpath("string(//item[@id=$id]/@href)", id=reference.get("idref"))
        member = unquote(urljoin(root, link.partition("#")[0]))
        if member in package.members:
            markup = _EMPTY_ELEMENT.sub(r"<\1\2></\1>", decode(package.read(member)))
            tree = parse(markup)
            remove_hidden(tree)
            texts.append(read_text(tree))
    return Extracted(package.title(root), "\n\n".join(texts))


# --- workbooks ---

MAX_NAMED = 5  # formulas without a result
_NEVER_CALCULATED = re.compile(  # a formula without a value
    rb"""<c\ r="(\w+)"[^>]*>\s*<f[^>]*(?:/>|>[^<]*</f>)\s*(?:<v\s*/>|<v></v>)?\s*</c>""",
    re.VERBOSE,
)
_CURRENCY = re.compile(r"[$€£¥]")


def read_xlsx(content: bytes) -> Extracted:
    """Read the rows of each visible sheet, with values as they were last calculated.

    The cells of formulas that were never calculated are named.
    """
    from openpyxl import load_workbook

    package = Package(content)
    empty: list[bytes] = []
    for member in package.members:
        empty += _NEVER_CALCULATED.findall(package.read(member))
    book = load_workbook(io.BytesIO(content), data_only=True)
    texts = []
    for sheet in book.worksheets:
        if sheet.sheet_state != "visible":
            continue
        lines = table_text.lines(_rows(sheet))
        if lines and len(book.worksheets) > 1:
            lines.insert(0, sheet.title)
        texts += lines
    cells = b", ".join(empty[:MAX_NAMED]).decode()
    return Extracted(
        book.properties.title or (book.worksheets[0].title if len(book.worksheets) == 1 else ""),
        "\n\n".join(texts),
        unread=f"the results of formulas that were never calculated, as in {cells}"
        if cells
        else "",
    )


def first_sheet(content: bytes, name: str, rows: int) -> list[list[str]]:
    """Return so many of the first rows of the first sheet, without the formats of their cells."""
    from openpyxl import load_workbook

    book = load_workbook(io.BytesIO(content), read_only=True, data_only=True)
    lines = book.worksheets[0].iter_rows(max_row=rows, values_only=True)
    return [["" if cell is None else str(cell) for cell in line] for line in lines]


def _rows(sheet: Worksheet) -> list[list[str]]:
    """Return the cells of a sheet; a value that spans rows stands in each of them."""
    rows: list[list[str]] = []
    for row in sheet.iter_rows():
        rows.append([_cell_text(cell.value, cell.number_format) for cell in row])
    for merged in sheet.merged_cells.ranges:
        for number in range(merged.min_row, merged.max_row):
            rows[number][merged.min_col - 1] = rows[merged.min_row - 1][merged.min_col - 1]
    return rows


def _cell_text(value: object, number_format: str) -> str:
    """Return a value with its currency, grouping or per cent; dates as "1987-05-14 07:40"."""
    if value is None:
        return ""
    if hasattr(value, "isoformat"):
        written = str(value.isoformat()).removesuffix("T00:00:00")
        return written.replace("T", " ").removesuffix(":00")
    if not isinstance(value, int | float) or isinstance(value, bool):
        return str(value)
    if "%" in number_format:
        return f"{round(value * 100, 6):g}%"
    symbol = _CURRENCY.search(number_format)
    figure = f"{abs(value):,}" if "," in number_format else str(abs(value))
    sign = "-" if value < 0 else ""
    return f"{sign}{symbol[0] if symbol else ''}{figure}"
