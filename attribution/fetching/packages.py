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
from attribution.fetching.content_type import decode
from attribution.fetching.html import (
    blocks,
    formula,
    joined,
    parse,
    raised,
    remove_unseen,
    visible_characters,
)
from attribution.fetching.page import Extracted

if TYPE_CHECKING:
    from lxml.etree import _Element

MAX_MEMBER = 50_000_000  # bytes of one unpacked member …
MAX_TOTAL = 100_000_000  # … and of all members that are read
_UTF_8_NAME = (
    0x800  # the flag of a member whose name is UTF-8; Info-ZIP writes such names without it
)
_TITLE = "{http://purl.org/dc/elements/1.1/}title"


class Package:
    """An open package. FetchFailed: encrypted, or wrong_type where the bytes are not a ZIP archive."""

    def __init__(self, content: bytes, name: str) -> None:
        self._name, self._left = name, MAX_TOTAL
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(content))
        except zipfile.BadZipFile:
            if content.startswith(
                b"\xd0\xcf\x11\xe0"
            ):  # an Office file with a password is an OLE container
                raise self._encrypted() from None
            message = f"{name} is not a {name.rpartition('.')[2][:8].upper()} file; save it again"
            raise FetchFailed("wrong_type", message, name) from None
        self.members = {_member_name(info): info for info in self._zip.infolist()}

    def read(self, member: str) -> bytes:
        """The member's bytes. They are counted while unpacking, because the size that an archive
        declares may be a lie.

        FetchFailed: unreadable (no such member), encrypted or too_large.
        """
        if member not in self.members:
            raise FetchFailed(
                "unreadable",
                f"{self._name} lacks its part {member[:80]!r}; save it again",
                self._name,
            )
        if self.members[member].flag_bits & 1:
            raise self._encrypted()
        limit = min(MAX_MEMBER, self._left)
        with self._zip.open(self.members[member]) as stream:
            data = stream.read(limit + 1)
        if len(data) > limit:
            raise FetchFailed(
                "too_large",
                f"{self._name} unpacks to more than {limit:,} bytes; split it",
                self._name,
            )
        self._left -= len(data)
        return data

    def xml(self, member: str) -> _Element:
        """The member's root element. FetchFailed(unreadable) where it declares entities, of which
        bombs are made.
        """
        import lxml.etree

        parser = lxml.etree.XMLParser(
            resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False
        )
        root = lxml.etree.fromstring(self.read(member), parser)
        declared = root.getroottree().docinfo.internalDTD
        if declared is not None and any(True for _ in declared.iterentities()):
            raise FetchFailed(
                "unreadable", f"{self._name} declares XML entities, which are not read", self._name
            )
        return root

    def _encrypted(self) -> FetchFailed:
        return FetchFailed(
            "encrypted", f"{self._name} is encrypted; save it without a password", self._name
        )


def _member_name(info: zipfile.ZipInfo) -> str:
    try:
        return (
            info.filename
            if info.flag_bits & _UTF_8_NAME
            else info.filename.encode("cp437").decode()
        )
    except UnicodeError:
        return info.filename


# --- EPUB ---

_OPF = "{http://www.idpf.org/2007/opf}"
_IS_CHAPTER, _IS_IMAGE = re.compile("html|svg"), re.compile(r"image/(?!svg)")
_ENTITY = re.compile(r"&(?!(?:amp|lt|gt|quot|apos);)([A-Za-z]\w{1,30});")


def read_epub(content: bytes, media_type: str, name: str) -> Extracted:
    """Title and the whole text of the chapters that are there, then of the documents that those
    show or link to.

    FetchFailed(encrypted) with rights management.
    """
    package = Package(content, name)
    if "META-INF/rights.xml" in package.members:
        raise FetchFailed(
            "encrypted", f"{name} is encrypted (rights management); add an unprotected copy", name
        )
    container = package.xml("META-INF/container.xml")
    root = next(container.iter("{*}rootfile")).get("full-path") or ""
    book = package.xml(root)
    items = {item.get("id"): item for item in book.iter(f"{_OPF}item")}
    documents = {
        _at(root, item.get("href"))
        for item in items.values()
        if "html" in (item.get("media-type") or "")
    }
    chapters: dict[
        str, None
    ] = {}  # a book must not name one twice (EPUB 3.3, 5.8.2); a hostile one does
    for ref in book.iter(f"{_OPF}itemref"):
        item = items.get(ref.get("idref"))
        for _ in range(
            3
        ):  # what is no chapter may name one instead, through others (EPUB 3.3, 3.5.1)
            if item is not None and not _IS_CHAPTER.search(item.get("media-type") or ""):
                item = items.get(item.get("fallback") or ref.get("idref"), item)
        if item is not None and not _IS_IMAGE.match(item.get("media-type") or ""):
            chapters[_at(root, item.get("href"))] = None
    texts = []
    for chapter in (names := list(chapters)):
        if chapter in package.members:
            text, links = _chapter(package.read(chapter), name)
            texts.append(text)
            shown = dict.fromkeys(_at(chapter, link) for link in links)
            new = [
                c for c in shown if c in documents and c not in chapters and c in package.members
            ]
            names += new
            chapters |= dict.fromkeys(new)
    absent = [
        posixpath.basename(chapter)[:60] for chapter in chapters if chapter not in package.members
    ]
    unread = ", ".join(absent[:5]) + (
        f" and {len(absent) - 5} more chapters" if len(absent) > 5 else ""
    )
    return Extracted(
        book.findtext(f".//{_TITLE}") or "", "\n\n".join(filter(None, texts)), unread=unread
    )


def _at(part: str, link: str | None) -> str:
    """The member that a part of a book names."""
    return posixpath.normpath(
        posixpath.join(posixpath.dirname(part), unquote((link or "").partition("#")[0]))
    )


def _chapter(content: bytes, name: str) -> tuple[str, list[str]]:
    """The text of a chapter, read as XML where it is well formed, else as a web page, and what it
    names.
    """
    import lxml.etree

    markup = visible_characters(decode(content))
    if content.startswith((b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"RIFF")):
        return "", []
    as_xml = _ENTITY.sub(
        lambda found: html.unescape(found[0]), re.sub(r"^\s*<\?xml[^>]*\?>", "", markup)
    )
    parser = lxml.etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, remove_comments=True
    )
    try:
        tree = lxml.etree.fromstring(as_xml.encode(), parser)
    except lxml.etree.XMLSyntaxError:
        tree = parse(markup, name)
    remove_unseen(tree)
    for drawing in [*tree.iter("{*}svg")]:
        if lines := [line for text in drawing.iter("{*}text") for line in _drawn(text) if line]:
            drawing.clear(keep_tail=True)
            drawing.tag, drawing.text = "pre", "\n".join(lines)
    return joined(blocks(tree)), tree.xpath("//@href | //@src | //@data")


def _drawn(text: _Element) -> list[str]:
    """The lines of a text in a drawing."""
    height = text.get("y")
    for part in text.iter("{*}tspan"):
        if part.get("y", height) != height or part.get("dy") and part.get("x"):
            height = part.get("y", height)
            part.text = f"\u2028{part.text or ''}"
    return [" ".join(line.split()) for line in "".join(text.itertext()).split("\u2028")]


# --- DOCX ---

_WRITTEN = {
    "tab": "\t",
    "ptab": "\t",
    "br": "\n",
    "cr": "\n",
    "noBreakHyphen": "-",
    "softHyphen": "",
}
_GONE = frozenset("del moveFrom instrText delText rPr pPr sectPr rt Fallback delInstrText".split())
_NOTES = {"footnoteReference": "footnotes", "endnoteReference": "endnotes"}
_OFF = ("0", "false", "off")
_HIDING = ("vanish", "webHidden", "strike", "dstrike")
_LOOKS = (*_HIDING, "vertAlign")
_MOST_STYLES = 20  # based on one another
_Look = dict[str, str]  # properties of a text by name
# the font Symbol from 0x20 on (Adobe's encoding); a space where it has no character of its own
_SYMBOL = (
    " !∀#∃%&∋()∗+,−./0123456789:;<=>?≅ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ[∴]⊥_‾αβχδεφγηιϕκλμνοπθρστυϖωξψζ{|}∼ "
    + " " * 32
    + "€ϒ′≤⁄∞ƒ♣♦♥♠↔←↑→↓°±″≥×∝∂•÷≠≡≈…⏐⎯↵ℵℑℜ℘⊗⊕∅∩∪⊃⊇⊄⊂⊆∈∉∠∇®©™∏√⋅¬∧∨⇔⇐⇑⇒⇓◊〈®©™∑⎛⎜⎝⎡⎢⎣⎧⎨⎩⎪ 〉∫⌠⎮⌡⎞⎟⎠⎤⎥⎦⎫⎬⎭ "
)


def read_docx(content: bytes, media_type: str, name: str) -> Extracted:
    """Title and text as a reader sees it: rows of tables, notes at the end, no deleted, struck-out
    or hidden text.
    """
    package = Package(content, name)
    main = next(
        (path for kind, path in _related(package, "") if kind == "officeDocument"),
        "word/document.xml",
    )
    parts = list(_related(package, main))
    styles = next(
        (path for kind, path in parts if kind == "styles" and path in package.members), ""
    )
    document = _Document(
        _looks(package.xml(styles)) if styles else {}, {kind: {} for kind in _NOTES.values()}
    )
    document.read(package.xml(main))
    for kind, path in parts:
        if kind in document.notes and path in package.members:
            for note in package.xml(path):
                if number := document.notes[kind].get(_value(note, "id")):
                    before = len(document.paragraphs)
                    document.read(note)
                    for text in document.paragraphs[before : before + 1]:
                        document.paragraphs[before] = f"[{number}] {text}"
    title = (
        package.xml("docProps/core.xml").findtext(_TITLE)
        if "docProps/core.xml" in package.members
        else ""
    )
    return Extracted(title or "", "\n\n".join(document.paragraphs))


def _related(package: Package, part: str) -> Iterator[tuple[str, str]]:
    """The kind and the member of each part that a part names."""
    folder, name = posixpath.split(part)
    if (member := posixpath.join(folder, "_rels", f"{name}.rels")) in package.members:
        for related in package.xml(member):
            path = posixpath.normpath(
                posixpath.join("/", folder, related.get("Target") or "")
            ).lstrip("/")
            yield (related.get("Type") or "").rpartition("/")[2], path


def _local(element: _Element) -> str:
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""


def _value(element: _Element, name: str = "val") -> str:
    return next((value for key, value in element.items() if key.rpartition("}")[2] == name), "")


def _on(properties: _Element | None, *names: str) -> bool:
    return properties is not None and any(
        _local(p) in names and _value(p) not in _OFF for p in properties
    )


def _look(properties: _Element | None) -> _Look:
    return (
        {name: _value(p) for p in properties if (name := _local(p)) in _LOOKS}
        if properties is not None
        else {}
    )


def _looks(styles: _Element) -> dict[str, _Look]:
    """The look that each style gives its text, with the styles that it is based on; "": that
    without a style.
    """
    named = {_value(style, "styleId"): style for style in styles.iter("{*}style")}
    default = _look(styles.find("{*}docDefaults/{*}rPrDefault/{*}rPr"))
    looks = {"": default}
    for name, style in named.items():
        look, above = _Look(), style
        for _ in range(_MOST_STYLES):
            look = _look(above.find("{*}rPr")) | look
            based = above.find("{*}basedOn")
            above = named.get(_value(based)) if based is not None else None
            if above is None:
                break
        is_paragraph = _value(style, "type") == "paragraph"
        looks[name] = default | look if is_paragraph else look
        if is_paragraph and _value(style, "default") not in ("", *_OFF):
            looks[""] = looks[name]
    return looks


class _Document:
    """The paragraphs of parts of a document, whatever their namespace is: that of Strict files
    differs.
    """

    def __init__(self, looks: dict[str, _Look], notes: dict[str, dict[str, int]]) -> None:
        self.paragraphs: list[str] = []
        self.notes = notes
        self._looks, self._look = (
            looks,
            _Look(),
        )  # those of all styles, and that of the paragraph that is being read
        self._boxes: list[_Element] = []  # text boxes of the paragraph that is being read

    def read(self, element: _Element) -> None:
        """Add the paragraphs below an element."""
        for child in element:
            name = _local(child)
            if name == "p":
                self._paragraph(child)
            elif name == "tbl":
                self.paragraphs += tables.lines(*self._table(child))
            elif name not in _GONE:
                self.read(child)

    def _paragraph(self, paragraph: _Element) -> None:
        style = paragraph.find("{*}pPr/{*}pStyle")
        self._look = self._looks.get(
            _value(style) if style is not None else "", self._looks.get("", {})
        )
        text = self._inline(paragraph, "").strip()
        self.paragraphs += [text] if text else []
        boxes, self._boxes = self._boxes, []
        for box in boxes:
            self.read(box)

    def _inline(self, element: _Element, before: str) -> str:
        """The text of a run, link, field or paragraph, after the text `before` it."""
        text = ""
        for child in element:
            name = _local(child)
            if name in _GONE:
                continue
            if name == "t":
                text += "".join(
                    _symbol(ord(c)) if "\uf020" <= c <= "\uf0ff" else c for c in child.text or ""
                )
            elif name == "sym":
                text += _symbol(int(_value(child, "char") or "0", 16))
            elif name in _NOTES:
                numbers = self.notes[_NOTES[name]]
                number = numbers.setdefault(
                    _value(child, "id"), sum(map(len, self.notes.values())) + 1
                )
                text += f"[{number}]"
            elif name == "oMath":
                text += formula(child)
            elif name == "txbxContent":
                self._boxes.append(child)
            elif name == "r":
                text += self._run(child, before + text)
            else:
                text += _WRITTEN[name] if name in _WRITTEN else self._inline(child, before + text)
        return text

    def _run(self, run: _Element, before: str) -> str:
        properties = run.find("{*}rPr")
        own, style = (
            _look(properties),
            properties.find("{*}rStyle") if properties is not None else None,
        )
        character = self._looks.get(_value(style), {}) if style is not None else {}
        for name in _HIDING:  # what both styles say cancels out (ECMA-376-1, 17.7.3)
            said = [own] if name in own else [character, self._look]
            if sum(look.get(name, "0") not in _OFF for look in said) == 1:
                return ""
        text = self._inline(run, before)
        align = (self._look | character | own).get("vertAlign")
        noted = any(_local(part) in _NOTES for part in run)
        return raised(before[-20:], text) if align == "superscript" and not noted else text

    def _table(self, table: _Element) -> tuple[list[list[str]], int | None]:
        """The cells of each row, and the number of rows that are heads, if the table says it."""
        grid: list[list[str]] = []
        heads, bold = 0, False
        for row in (r for r in table.iter("{*}tr") if next(r.iterancestors("{*}tbl")) is table):
            cells: list[str] = []
            for cell in (c for c in row.iter("{*}tc") if next(c.iterancestors("{*}tr")) is row):
                inner = _Document(self._looks, self.notes)
                inner.read(cell)
                properties = cell.find("{*}tcPr")
                merged = (
                    {_local(p): _value(p) for p in properties} if properties is not None else {}
                )
                above = grid[-1][len(cells)] if grid and len(cells) < len(grid[-1]) else ""
                continued = "vMerge" in merged and merged["vMerge"] != "restart"
                cells += [above if continued else " ".join(inner.paragraphs)]
                cells += [""] * (min(int(merged.get("gridSpan") or 1), 100) - 1)
            if not grid:
                runs = [r for r in row.iter("{*}r") if "".join(r.itertext()).strip()]
                bold = bool(runs) and all(
                    any(_on(p, "b") for p in r if _local(p) == "rPr") for r in runs
                )
            properties = row.find("{*}trPr")
            if _on(properties, "hidden", "del"):
                continue
            heads += len(grid) == heads and _on(properties, "tblHeader")
            grid.append(cells)
        return grid, heads or (1 if bold else None)


def _symbol(code: int) -> str:
    place = (code & 0xFF) - 0x20
    return (
        _SYMBOL[place].strip()
        if 0 <= place < len(_SYMBOL) and (code < 0x100 or code >> 8 == 0xF0)
        else ""
    )


# --- XLSX ---


def read_xlsx(content: bytes, media_type: str, name: str) -> Extracted:
    """The rows of each sheet that is shown, below the sheet's name, with values as they were last
    calculated.
    """
    import openpyxl

    package = Package(content, name)  # says what is no ZIP archive, is encrypted or swells
    for member in package.members:
        package.read(member)
    book = openpyxl.load_workbook(io.BytesIO(content), read_only=True, data_only=True)
    texts = []
    for sheet in book.worksheets:
        if sheet.sheet_state != "visible":
            continue
        rows = [
            [_cell(cell.value, cell.number_format) for cell in row] for row in sheet.iter_rows()
        ]
        if shown := tables.lines(rows):
            texts.append("\n\n".join([sheet.title, *shown] if len(book.worksheets) > 1 else shown))
    return Extracted(book.properties.title or "", "\n\n".join(texts))


_EXACT = 1e15  # from which on a float has no decimals
_CONDITION = re.compile(r"[<>]|\[=")  # of a number format, for some of the values
_UNSHOWN = re.compile(
    r'\[\$([^\]-]*)[^\]]*\]|\[[^\]]*\]|[_*].|[\\"]'
)  # of a number format: "[$€-407]", "[Red]", "_)"
_FORMAT = re.compile(r"([^#0?@]*)([#0?,]*[#0])(?:\.([#0?]+))?((?!,)[^#0?@]*)")


def _cell(value: object, form: str) -> str:
    """A value as the sheet shows it: with its unit or sign of money, grouped, and with the decimals
    that it must have;
    dates and times as "1987-05-14 07:40"."""
    if value is None:
        return ""
    if hasattr(value, "isoformat"):
        return (
            str(value.isoformat()).removesuffix("T00:00:00").replace("T", " ").removesuffix(":00")
        )
    if not isinstance(value, int | float) or isinstance(value, bool):
        return str(value)
    if abs(value) >= _EXACT or _CONDITION.search(form):
        return str(value)
    shown = _FORMAT.fullmatch(_UNSHOWN.sub(r"\1", form[:100].partition(";")[0]))
    before, places, decimals, after = shown.groups("") if shown else ("", "", "", "")
    rounded = round(abs(value) * (100 if "%" in before + after else 1), 6)
    least = decimals.count("0")
    fixed = f"{rounded:,.{least}f}" if round(rounded, least) == rounded else f"{rounded:,}"
    figures = fixed if "," in places else fixed.replace(",", "")
    return f"{'-' * (value < 0 < rounded)}{before.lstrip()}{figures}{after.rstrip()}"
