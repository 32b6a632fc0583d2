"""Read files that are ZIP archives of XML: DOCX, EPUB and XLSX."""

from __future__ import annotations

import html
import io
import posixpath
import re
import zipfile
from collections.abc import Iterator
from typing import TYPE_CHECKING
from urllib.parse import unquote

from attribution.errors import FetchFailed
from attribution.fetching import tables
from attribution.fetching.blocks import formula, join_blocks, read_blocks
from attribution.fetching.content_type import decode
from attribution.fetching.html import parse, remove_hidden, visible_characters
from attribution.fetching.page import Extracted

if TYPE_CHECKING:
    from lxml.etree import _Element

MAX_MEMBER = 50_000_000  # bytes of one unpacked member
MAX_TOTAL = 100_000_000  # bytes of all members that are read
_UTF_8_NAME = 0x800  # flag of a member whose name is UTF-8; Info-ZIP writes such names without it
_ENCRYPTED = 0x1
_OLE_SIGNATURE = b"\xd0\xcf\x11\xe0"  # of an Office file with a password
_TITLE = "{http://purl.org/dc/elements/1.1/}title"


class Package:
    """An open package.

    Raises:
        FetchFailed: encrypted, or wrong_type where the bytes are not a ZIP archive.
    """

    def __init__(self, content: bytes, name: str) -> None:
        self.name = name
        self._bytes_left = MAX_TOTAL
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(content))
        except zipfile.BadZipFile:
            if content.startswith(_OLE_SIGNATURE):
                raise self._encrypted() from None
            kind = name.rpartition(".")[2][:8].upper()
            message = f"{name} is not a {kind} file; save it again"
            raise FetchFailed("wrong_type", message, name) from None
        self.members = {_member_name(info): info for info in self._zip.infolist()}

    def read(self, member: str) -> bytes:
        """Return a member's bytes, counted while unpacking: the declared size may be a lie.

        Raises:
            FetchFailed: unreadable (no such member), encrypted or too_large.
        """
        info = self.members.get(member)
        if info is None:
            message = f"{self.name} lacks its part {member[:80]!r}; save it again"
            raise FetchFailed("unreadable", message, self.name)
        if info.flag_bits & _ENCRYPTED:
            raise self._encrypted()
        limit = min(MAX_MEMBER, self._bytes_left)
        with self._zip.open(info) as stream:
            data = stream.read(limit + 1)
        if len(data) > limit:
            message = f"{self.name} unpacks to more than {limit:,} bytes; split it"
            raise FetchFailed("too_large", message, self.name)
        self._bytes_left -= len(data)
        return data

    def xml(self, member: str) -> _Element:
        """Return a member's root element.

        Raises:
            FetchFailed: unreadable where it declares entities, of which bombs are made.
        """
        root = _parse_xml(self.read(member))
        declarations = root.getroottree().docinfo.internalDTD
        if declarations is not None and any(True for _ in declarations.iterentities()):
            message = f"{self.name} declares XML entities, which are not read"
            raise FetchFailed("unreadable", message, self.name)
        return root

    def _encrypted(self) -> FetchFailed:
        message = f"{self.name} is encrypted; save it without a password"
        return FetchFailed("encrypted", message, self.name)


def _member_name(info: zipfile.ZipInfo) -> str:
    if info.flag_bits & _UTF_8_NAME:
        return info.filename
    try:
        return info.filename.encode("cp437").decode()
    except UnicodeError:
        return info.filename


def _parse_xml(content: bytes) -> _Element:
    import lxml.etree

    parser = lxml.etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, remove_comments=True
    )
    root: _Element = lxml.etree.fromstring(content, parser)
    return root


# --- EPUB ---

_OPF = "{http://www.idpf.org/2007/opf}"
_CHAPTER_TYPE = re.compile("html|svg")
_NAMED_ENTITY = re.compile(r"&(?!(?:amp|lt|gt|quot|apos);)([A-Za-z]\w{1,30});")
_XML_DECLARATION = re.compile(r"^\s*<\?xml[^>]*\?>")
_IMAGE_SIGNATURES = (b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"RIFF")


def read_epub(content: bytes, media_type: str, name: str) -> Extracted:
    """Read the title and the chapters of a book, then documents that these show or link to.

    Raises:
        FetchFailed: encrypted for a book with rights management.
    """
    package = Package(content, name)
    if "META-INF/rights.xml" in package.members:
        message = f"{name} is encrypted (rights management); add an unprotected copy"
        raise FetchFailed("encrypted", message, name)
    container = package.xml("META-INF/container.xml")
    root = next(container.iter("{*}rootfile")).get("full-path") or ""
    book = package.xml(root)
    items = {item.get("id"): item for item in book.iter(f"{_OPF}item")}
    chapters = list(dict.fromkeys(_spine(book, items, root)))
    texts = []
    absent = []
    for chapter in chapters:  # grows while it is read
        if chapter not in package.members:
            absent.append(posixpath.basename(chapter)[:60])
            continue
        text, links = _read_chapter(package.read(chapter), name)
        texts.append(text)
        for item in items.values():
            path = _resolve(root, item.get("href"))
            is_linked = any(_resolve(chapter, link) == path for link in links)
            if is_linked and _is_document(item) and path not in chapters:
                chapters.append(path)
    unread = ", ".join(absent[:5])
    if len(absent) > 5:
        unread += f" and {len(absent) - 5} more chapters"
    title = book.findtext(f".//{_TITLE}") or ""
    return Extracted(title, "\n\n".join(filter(None, texts)), unread=unread)


def _spine(book: _Element, items: dict[str | None, _Element], root: str) -> Iterator[str]:
    """Yield the paths of the chapters in order."""
    for reference in book.iter(f"{_OPF}itemref"):
        item = items.get(reference.get("idref"))
        if item is None:
            continue
        media_type = item.get("media-type") or ""
        fallback = items.get(item.get("fallback"))  # EPUB 3.3, 3.5.1
        if fallback is not None and not _CHAPTER_TYPE.search(media_type):
            yield _resolve(root, fallback.get("href"))
        elif "svg" in media_type or not media_type.startswith("image/"):
            yield _resolve(root, item.get("href"))


def _is_document(item: _Element) -> bool:
    return "html" in (item.get("media-type") or "")


def _resolve(part: str, link: str | None) -> str:
    """Return the member that a part of a book names."""
    path = unquote((link or "").partition("#")[0])
    return posixpath.normpath(posixpath.join(posixpath.dirname(part), path))


def _read_chapter(content: bytes, name: str) -> tuple[str, list[str]]:
    """Return the text of a chapter and the addresses in it.

    It is read as XML where it is well formed, else as a web page.
    """
    import lxml.etree

    if content.startswith(_IMAGE_SIGNATURES):
        return "", []
    markup = visible_characters(decode(content))
    xml = _XML_DECLARATION.sub("", markup)
    xml = _NAMED_ENTITY.sub(lambda match: html.unescape(match[0]), xml)
    try:
        tree = _parse_xml(xml.encode())
    except lxml.etree.XMLSyntaxError:
        tree = parse(markup, name)
    remove_hidden(tree)
    for drawing in list(tree.iter("{*}svg")):
        lines = _drawn_lines(drawing)
        if lines:
            drawing.clear(keep_tail=True)
            drawing.tag, drawing.text = "pre", "\n".join(lines)
    return join_blocks(read_blocks(tree)), tree.xpath("//@href | //@src | //@data")


def _drawn_lines(drawing: _Element) -> list[str]:
    """Return the lines of text in an SVG drawing."""
    for part in drawing.iter("{*}tspan"):
        if part.get("x") and (part.get("y") or part.get("dy")):
            part.text = f"\u2028{part.text or ''}"
    lines = []
    for text in drawing.iter("{*}text"):
        lines += "".join(text.itertext()).split("\u2028")
    return [" ".join(line.split()) for line in lines]


# --- DOCX ---

_NOTES = {"footnoteReference": "footnotes", "endnoteReference": "endnotes"}
_CHARACTERS = {"tab": " ", "ptab": " ", "noBreakHyphen": "-", "softHyphen": ""}
_BREAKS = ("br", "cr")
_UNREAD = frozenset(
    "del moveFrom instrText delText rPr pPr sectPr rt Fallback delInstrText".split()
)
_FALSE = ("0", "false", "off")
_HIDING = ("vanish", "webHidden", "strike", "dstrike")
_TEXT_PROPERTIES = (*_HIDING, "vertAlign")
MAX_STYLES = 20  # based on one another
MAX_SPAN = 100  # columns
_SYMBOL_FONT = (  # from 0x20 on, by Adobe's encoding; a space where Unicode has no character
    " !∀#∃%&∋()∗+,−./0123456789:;<=>?≅ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ[∴]⊥_‾αβχδεφγηιϕκλμνοπθρστυϖωξψζ{|}∼ "
    + " " * 32
    + "€ϒ′≤⁄∞ƒ♣♦♥♠↔←↑→↓°±″≥×∝∂•÷≠≡≈…⏐⎯↵ℵℑℜ℘⊗⊕∅∩∪⊃⊇⊄⊂⊆∈∉∠∇®©™∏√⋅¬∧∨⇔⇐⇑⇒⇓◊〈®©™∑⎛⎜⎝⎡⎢⎣⎧⎨⎩⎪ 〉∫⌠⎮⌡⎞⎟⎠⎤⎥⎦⎫⎬⎭ "
)
_Properties = dict[str, str]  # properties of a text by name


def read_docx(content: bytes, media_type: str, name: str) -> Extracted:
    """Read title and text as a reader sees them, by way of HTML; notes stand at the end."""
    from lxml.etree import Element

    package = Package(content, name)
    mains = [path for kind, path in _related_parts(package, "") if kind == "officeDocument"]
    main = mains[0] if mains else "word/document.xml"
    parts = [
        (kind, path) for kind, path in _related_parts(package, main) if path in package.members
    ]
    styles = [package.xml(path) for kind, path in parts if kind == "styles"]
    body = Element("body")
    converter = _DocxConverter(_read_styles(styles[0]) if styles else {})
    converter.add_blocks(package.xml(main), body)
    for kind, path in parts:
        if kind in _NOTES.values():
            converter.add_notes(kind, package.xml(path), body)
    title = ""
    if "docProps/core.xml" in package.members:
        title = package.xml("docProps/core.xml").findtext(_TITLE) or ""
    return Extracted(title, join_blocks(read_blocks(body)))


def _related_parts(package: Package, part: str) -> Iterator[tuple[str, str]]:
    """Yield the kind and the member of each part that a part names."""
    folder, name = posixpath.split(part)
    relations = posixpath.join(folder, "_rels", f"{name}.rels")
    if relations not in package.members:
        return
    for relation in package.xml(relations):
        path = posixpath.join("/", folder, relation.get("Target") or "")
        kind = (relation.get("Type") or "").rpartition("/")[2]
        yield kind, posixpath.normpath(path).lstrip("/")


def _local_name(element: _Element) -> str:
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""


def _attribute(element: _Element | None, name: str = "val") -> str:
    """Return an attribute by its local name: the namespace of Strict files differs."""
    for key, value in element.items() if element is not None else ():
        if key.rpartition("}")[2] == name:
            return str(value)
    return ""


def _properties(element: _Element | None) -> _Properties:
    """Return the properties below an element; those that are switched off have a false value."""
    if element is None:
        return {}
    return {_local_name(child): _attribute(child) for child in element}


def _is_on(properties: _Properties, name: str) -> bool:
    return properties.get(name, "0") not in _FALSE


def _read_styles(styles: _Element) -> dict[str, _Properties]:
    """Return the text properties of each style with those it is based on; "": without a style."""
    by_id = {_attribute(style, "styleId"): style for style in styles.iter("{*}style")}
    default = _properties(styles.find("{*}docDefaults/{*}rPrDefault/{*}rPr"))
    read = {"": default}
    for name, style in by_id.items():
        properties: _Properties = {}
        ancestor: _Element | None = style
        for _ in range(MAX_STYLES):
            if ancestor is None:
                break
            properties = _properties(ancestor.find("{*}rPr")) | properties
            ancestor = by_id.get(_attribute(ancestor.find("{*}basedOn")))
        is_paragraph = _attribute(style, "type") == "paragraph"
        read[name] = default | properties if is_paragraph else properties
        if is_paragraph and _attribute(style, "default") not in ("", *_FALSE):
            read[""] = read[name]
    return read


class _DocxConverter:
    """Adds the parts of a document to an HTML tree."""

    def __init__(self, styles: dict[str, _Properties]) -> None:
        self._styles = styles
        self._notes: dict[tuple[str, str], int] = {}  # numbers by kind and id
        self._paragraph_style: _Properties = {}
        self._text_boxes: list[_Element] = []  # of the paragraph that is being read

    def add_blocks(self, element: _Element, parent: _Element) -> None:
        """Add the paragraphs and tables below an element."""
        for child in element:
            name = _local_name(child)
            if name == "p":
                self._add_paragraph(child, parent)
            elif name == "tbl":
                self._add_table(child, parent)
            elif name not in _UNREAD:
                self.add_blocks(child, parent)

    def add_notes(self, kind: str, notes: _Element, parent: _Element) -> None:
        """Add the notes that the text refers to, each with its number."""
        for note in notes:
            number = self._notes.get((kind, _attribute(note, "id")))
            if number is not None:
                before = len(parent)
                self.add_blocks(note, parent)
                for paragraph in parent[before : before + 1]:
                    paragraph.text = f"[{number}] {(paragraph.text or '').lstrip()}"

    def _add_paragraph(self, paragraph: _Element, parent: _Element) -> None:
        from lxml.etree import SubElement

        style = _attribute(paragraph.find("{*}pPr/{*}pStyle"))
        self._paragraph_style = self._styles.get(style, self._styles.get("", {}))
        self._add_inline(paragraph, SubElement(parent, "p"))
        boxes, self._text_boxes = self._text_boxes, []
        for box in boxes:
            self.add_blocks(box, parent)

    def _add_inline(self, element: _Element, parent: _Element) -> None:
        from lxml.etree import SubElement

        for child in element:
            name = _local_name(child)
            if name == "r":
                self._add_run(child, parent)
            elif name in _BREAKS:
                SubElement(parent, "br")
            elif name == "txbxContent":
                self._text_boxes.append(child)
            elif name not in _UNREAD:
                text = self._inline_text(child, name)
                if text is None:
                    self._add_inline(child, parent)
                else:
                    _append_text(parent, text)

    def _inline_text(self, element: _Element, name: str) -> str | None:
        """Return the text that an element stands for; None where its children do."""
        if name == "t":
            return "".join(map(_symbol, element.text or ""))
        if name == "sym":
            return _symbol(chr(int(_attribute(element, "char") or "20", 16)))
        if name == "oMath":
            return formula(element)
        if name in _NOTES:
            key = (_NOTES[name], _attribute(element, "id"))
            return f"[{self._notes.setdefault(key, len(self._notes) + 1)}]"
        return _CHARACTERS.get(name)

    def _add_run(self, run: _Element, parent: _Element) -> None:
        from lxml.etree import SubElement

        own = _properties(run.find("{*}rPr"))
        character = self._styles.get(own.get("rStyle", ""), {}) if "rStyle" in own else {}
        for name in _HIDING:
            # what both styles say cancels out (ECMA-376-1, 17.7.3)
            in_styles = _is_on(character, name) != _is_on(self._paragraph_style, name)
            if _is_on(own, name) if name in own else in_styles:
                return
        align = (self._paragraph_style | character | own).get("vertAlign")
        is_note = any(_local_name(child) in _NOTES for child in run)
        is_raised = align == "superscript" and not is_note
        self._add_inline(run, SubElement(parent, "sup") if is_raised else parent)

    def _add_table(self, table: _Element, parent: _Element) -> None:
        from lxml.etree import SubElement

        new_table = SubElement(parent, "table")
        above: dict[int, _Element] = {}  # the last cell of each column
        for row in _nested(table, "tr"):
            properties = _properties(row.find("{*}trPr"))
            if _is_on(properties, "hidden") or _is_on(properties, "del"):
                continue
            is_head = _is_on(properties, "tblHeader") or (not len(new_table) and _is_bold(row))
            new_row = SubElement(new_table, "tr")
            column = 0
            for cell in _nested(row, "tc"):
                merge = _properties(cell.find("{*}tcPr"))
                columns = min(int(merge.get("gridSpan") or 1), MAX_SPAN)
                if merge.get("vMerge", "restart") != "restart" and column in above:
                    rows = int(above[column].get("rowspan", "1"))
                    above[column].set("rowspan", str(rows + 1))
                else:
                    new_cell = SubElement(new_row, "th" if is_head else "td")
                    new_cell.set("colspan", str(columns))
                    self.add_blocks(cell, new_cell)
                    above[column] = new_cell
                column += columns


def _nested(element: _Element, name: str) -> list[_Element]:
    """Return the rows of a table or cells of a row, not those of tables within it."""
    own = element.tag
    descendants = element.iter(f"{{*}}{name}")
    return [child for child in descendants if next(child.iterancestors(own)) is element]


def _is_bold(row: _Element) -> bool:
    runs = [run for run in row.iter("{*}r") if "".join(run.itertext()).strip()]
    return bool(runs) and all(_is_on(_properties(run.find("{*}rPr")), "b") for run in runs)


def _append_text(parent: _Element, text: str) -> None:
    if len(parent):
        parent[-1].tail = (parent[-1].tail or "") + text
    else:
        parent.text = (parent.text or "") + text


def _symbol(character: str) -> str:
    """Return a character of the font Symbol in Unicode, and any other as it is."""
    if not "\uf020" <= character <= "\uf0ff":
        return character
    place = ord(character) - 0xF020
    return _SYMBOL_FONT[place].strip() if place < len(_SYMBOL_FONT) else ""


# --- XLSX ---


def read_xlsx(content: bytes, media_type: str, name: str) -> Extracted:
    """Read the rows of each visible sheet, with values as they were last calculated."""
    import openpyxl

    package = Package(content, name)
    for member in package.members:  # fails where one is encrypted or too large
        package.read(member)
    book = openpyxl.load_workbook(io.BytesIO(content), read_only=True, data_only=True)
    texts = []
    for sheet in book.worksheets:
        if sheet.sheet_state != "visible":
            continue
        rows = [
            [_cell_text(cell.value, cell.number_format) for cell in row]
            for row in sheet.iter_rows()
        ]
        lines = tables.lines(rows)
        if lines and len(book.worksheets) > 1:
            lines.insert(0, sheet.title)
        texts += lines
    return Extracted(book.properties.title or "", "\n\n".join(texts))


MAX_EXACT = 1e15  # a larger float has no decimals
_CONDITION = re.compile(r"[<>]|\[=")  # a number format for some of the values
_MARKS = re.compile(r'\[\$([^\]-]*)[^\]]*\]|\[[^\]]*\]|[_*].|[\\"]')  # "[$€-407]", "[Red]", "_)"
_NUMBER_FORMAT = re.compile(
    r"""([^#0?@]*)            # what stands before the number
        ([#0?,]*[#0])         # its places
        (?:\.([#0?]+))?       # its decimals
        ((?!,)[^#0?@]*)       # what stands after it""",
    re.VERBOSE,
)


def _cell_text(value: object, number_format: str) -> str:
    """Return a value as the sheet shows it, with its unit, grouping and decimals.

    Dates and times are written as "1987-05-14 07:40".
    """
    if value is None:
        return ""
    if hasattr(value, "isoformat"):
        written = str(value.isoformat()).removesuffix("T00:00:00")
        return written.replace("T", " ").removesuffix(":00")
    if not isinstance(value, int | float) or isinstance(value, bool):
        return str(value)
    if abs(value) >= MAX_EXACT or _CONDITION.search(number_format):
        return str(value)
    form = _MARKS.sub(r"\1", number_format[:100].partition(";")[0])
    match = _NUMBER_FORMAT.fullmatch(form)
    before, places, decimals, after = match.groups("") if match else ("", "", "", "")
    factor = 100 if "%" in before + after else 1
    number = round(abs(value) * factor, 6)
    least = decimals.count("0")
    figures = f"{number:,.{least}f}" if round(number, least) == number else f"{number:,}"
    if "," not in places:
        figures = figures.replace(",", "")
    sign = "-" if value < 0 < number else ""
    return f"{sign}{before.lstrip()}{figures}{after.rstrip()}"
