"""Read files that are ZIP archives of XML: Office with its workbooks, OpenDocument and EPUB.

Elements are found by their local names, since the namespaces of Strict files differ.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Sequence
from copy import deepcopy
from itertools import islice
from string import ascii_lowercase, ascii_uppercase
from typing import TYPE_CHECKING
from urllib.parse import unquote, urljoin

from attribution.errors import FetchFailed
from attribution.fetching import table_text
from attribution.fetching.content_type import decode
from attribution.fetching.html_page import (
    clear,
    parse,
    read_text,
    remove_hidden,
    tag_of,
    write_signs,
)
from attribution.fetching.page import Extracted

if TYPE_CHECKING:
    from lxml.etree import _Element
    from openpyxl.worksheet.worksheet import Worksheet

# --- packages ---

MAX_UNPACKED = 100_000_000  # bytes of all members that are read
_OLE_SIGNATURE = b"\xd0\xcf\x11\xe0"  # of an Office file with a password


class Package:
    """An open package.

    Raises:
        FetchFailed: encrypted, or wrong_type where the bytes are not a ZIP archive.
    """

    def __init__(self, content: bytes) -> None:
        self._bytes_left = MAX_UNPACKED
        if content.startswith(_OLE_SIGNATURE):
            raise FetchFailed("encrypted", "is encrypted; save it without a password")
        try:
            # Info-ZIP writes names in UTF-8 and does not say so
            self._zip = zipfile.ZipFile(io.BytesIO(content), metadata_encoding="utf-8")
        except zipfile.BadZipFile:
            problem = "is not the kind of file that its name says; save it again"
            raise FetchFailed("wrong_type", problem) from None
        self.members = self._zip.namelist()

    def read(self, member: str) -> bytes:
        """Return a member's bytes, counted while unpacking: the declared size may be a lie.

        Raises:
            KeyError: There is no such member.
            FetchFailed: too_large.
        """
        with self._zip.open(member) as stream:
            data = stream.read(self._bytes_left + 1)
        if len(data) > self._bytes_left:
            problem = f"unpacks to more than {MAX_UNPACKED:,} bytes; split it"
            raise FetchFailed("too_large", problem)
        self._bytes_left -= len(data)
        return data

    def xml(self, member: str) -> _Element:
        """Return a member's root element; entities, of which bombs are made, are not expanded."""
        import lxml.etree

        parser = lxml.etree.XMLParser(
            resolve_entities=False, no_network=True, remove_comments=True, remove_pis=True
        )
        root: _Element = lxml.etree.fromstring(self.read(member), parser)
        return root

    def optional(self, member: str) -> list[_Element]:
        """Return a member's elements; none if there is no such member."""
        return list(self.xml(member)) if member in self.members else []

    def title(self, member: str) -> str:
        """Return the title in a member with metadata; empty if there is none."""
        for element in self.optional(member):
            for title in element.iter("{*}title"):
                return title.text or ""
        return ""


# --- documents and presentations ---

_TAGS = {
    "p": "p",
    "h": "h2",
    "tbl": "table",
    "tr": "tr",
    "tc": "td",
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
_CHARACTERS = {"tab": " ", "ptab": " ", "s": " ", "nobreakhyphen": "-"}
_ON = "[not(@*[local-name()='val']='0' or @*[local-name()='val']='false')]"
_UNREAD = f"""
    //*[local-name()='del' or local-name()='moveFrom' or local-name()='instrText'
        or local-name()='Fallback' or local-name()='tracked-changes' or local-name()='annotation'
        or local-name()='note']
  | //*[local-name()='r'][*[local-name()='rPr'][@strike!='noStrike'
        or *[local-name()='vanish' or local-name()='strike' or local-name()='dstrike']{_ON}]]
  | //*[local-name()='tr'][*[local-name()='trPr']
        /*[local-name()='hidden' or local-name()='del']{_ON}]
  | //*[local-name()='sp'][.//*[local-name()='ph'][@type='ftr' or @type='dt' or @type='sldNum']]
"""
_RAISED = """
    //*[local-name()='r'][*[local-name()='rPr'][@baseline>0
        or *[local-name()='vertAlign'][@*='superscript']]]
        [not(*[contains(local-name(), 'noteReference')])]
"""


def read_docx(content: bytes) -> Extracted:
    """Read title and text as a reader sees them; notes stand at the end."""
    package = Package(content)
    root = package.xml(next(filter(_DOCUMENT.fullmatch, package.members)))
    _write_numbers(root, package)
    numbers: dict[str, int] = {}  # of notes, by kind and id
    for reference in root.iter("{*}footnoteReference", "{*}endnoteReference"):
        number = numbers.setdefault(_note_key(reference), len(numbers) + 1)
        reference.text = f"[{number}]"
    for note in package.optional("word/footnotes.xml") + package.optional("word/endnotes.xml"):
        key = _note_key(note)
        if key in numbers:
            first = next(note.iter("{*}t"), note)
            first.text = f"[{numbers[key]}] {(first.text or '').lstrip()}"
            root.append(note)
    return Extracted(package.title("docProps/core.xml"), _text(root))


def _note_key(element: _Element) -> str:
    """Return the kind and the number of a note or of the reference to it."""
    return tag_of(element).removesuffix("reference") + _attribute(element, "id")


def read_pptx(content: bytes) -> Extracted:
    """Read the slides of a presentation by their numbers, then the speaker's notes."""
    package = Package(content)
    slides = [member for member in package.members if _SLIDE.fullmatch(member)]
    slides.sort(key=lambda member: (len(member), member))
    texts = [_text(package.xml(slide)) for slide in slides]
    return Extracted(package.title("docProps/core.xml"), "\n\n".join(texts))


def read_odf(content: bytes) -> Extracted:
    """Read a text, sheet or presentation of OpenDocument, without its notes."""
    package = Package(content)
    body = next(package.xml("content.xml").iter("{*}body"))
    return Extracted(package.title("meta.xml"), _text(body, is_mixed=True))


def _attribute(element: _Element | None, name: str = "val") -> str:
    """Return an attribute by its local name; empty if there is none."""
    if element is None:
        return ""
    return str(element.xpath("string(@*[local-name()=$name])", name=name))


def _text(root: _Element, is_mixed: bool = False) -> str:
    """Return the text of a part that is turned into HTML in its place.

    Args:
        root: What the part holds.
        is_mixed: Text stands in every element, not in `t` alone.
    """
    clear(root.xpath(_UNREAD))
    for run in root.xpath(_RAISED):
        run.tag = "sup"
    for formula in root.iter("{*}oMath"):
        write_signs(formula)
    for box in list(root.iter("{*}txbxContent")):
        paragraph = next(box.iterancestors("{*}p"))
        paragraph.addnext(box)
    for table in root.iter("{*}tbl"):
        _merge_cells(table)
    for element in list(root.iter()):
        name = tag_of(element)
        is_text = name == "t" or name.endswith("notereference")
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
    for row in table.iterchildren("{*}tr"):
        is_head = row.find("{*}trPr/{*}tblHeader") is not None
        column = 0
        for cell in row.iterchildren("{*}tc"):
            merge = next(cell.iter("{*}vMerge"), None)
            if merge is not None and _attribute(merge) != "restart" and column in above:
                cell[:] = deepcopy(above[column])
            above[column] = cell
            span = _attribute(next(cell.iter("{*}gridSpan"), None)) or "1"
            cell.set("colspan", span)
            cell.set("role", "columnheader" if is_head else "cell")
            column += int(span)


# --- automatic numbers ---

_NUMBERED = "{*}pPr/{*}numPr"
_ROMAN = "i ii iii iv v vi vii viii ix x xi xii xiii xiv xv xvi xvii xviii xix xx".split()
_FIGURES: dict[str, Sequence[str]] = {
    "lowerLetter": ascii_lowercase,
    "upperLetter": ascii_uppercase,
    "lowerRoman": _ROMAN,
    "upperRoman": [figure.upper() for figure in _ROMAN],
}


def _write_numbers(root: _Element, package: Package) -> None:
    """Write the numbers that Word gives to paragraphs before their text, as "Article 3"."""
    styles = package.optional("word/styles.xml")
    by_style = {_attribute(style, "styleId"): style.find(_NUMBERED) for style in styles}
    lists = _levels(package.optional("word/numbering.xml"))
    counts: dict[str, list[int]] = {}  # so far, by list and level
    for paragraph in root.iter("{*}p"):
        place = paragraph.find(_NUMBERED)
        if place is None:
            place = by_style.get(_attribute(paragraph.find("{*}pPr/{*}pStyle")))
        first = next(paragraph.iter("{*}t"), None)
        if place is None or first is None:
            continue
        name = _attribute(place.find("{*}numId"))
        depth = int(_attribute(place.find("{*}ilvl")) or 0)
        levels = lists.get(name, [])
        if depth < len(levels):
            count = counts.setdefault(name, [0] * len(levels))
            count[depth:] = [count[depth] + 1] + [0] * (len(levels) - depth - 1)
            first.text = f"{_label(levels, count, depth)} {first.text or ''}"


def _levels(numbering: Sequence[_Element]) -> dict[str, list[_Element]]:
    """Return the levels of each list by its id."""
    definitions: dict[str, list[_Element]] = {}
    lists: dict[str, list[_Element]] = {}
    for element in numbering:  # definitions come first
        levels = list(element.iter("{*}lvl"))
        definitions[_attribute(element, "abstractNumId")] = levels
        definition = _attribute(element.find("{*}abstractNumId"))
        lists[_attribute(element, "numId")] = definitions.get(definition, [])
    return lists


def _label(levels: Sequence[_Element], counts: Sequence[int], depth: int) -> str:
    """Return the number of a paragraph with the words around it, or "-" for a bullet."""
    if _attribute(levels[depth].find("{*}numFmt")) == "bullet":
        return "-"
    label = _attribute(levels[depth].find("{*}lvlText"))
    for place, (level, count) in enumerate(zip(levels, counts, strict=True), 1):
        start = int(_attribute(level.find("{*}start")) or 1)
        value = start + max(0, count - 1)
        figures = _FIGURES.get(_attribute(level.find("{*}numFmt")), ())
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
    container = package.xml("META-INF/container.xml")
    root = next(container.iter("{*}rootfile")).get("full-path") or ""
    book = package.xml(root)
    links = {item.get("id"): item.get("href") or "" for item in book.iter("{*}item")}
    texts = []
    for reference in book.iter("{*}itemref"):
        link = links.get(reference.get("idref"), "")
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
        empty += _NEVER_CALCULATED.findall(package.read(member))  # fails where it is too large
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
    """Return so many of the first rows of the first sheet, without the formats of their cells.

    Raises:
        FetchFailed: As `Package` does.
    """
    from openpyxl import load_workbook

    Package(content)  # fails where it is none
    book = load_workbook(io.BytesIO(content), read_only=True, data_only=True)
    lines = islice(book.worksheets[0].iter_rows(values_only=True), rows)
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
