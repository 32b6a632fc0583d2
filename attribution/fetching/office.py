"""Read documents and presentations of Office and OpenDocument by renaming their elements to HTML's."""

from __future__ import annotations

import copy
import re
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from attribution.fetching.blocks import formula, read_text, remove, tag_of
from attribution.fetching.packages import Package
from attribution.fetching.page import Extracted

if TYPE_CHECKING:
    from lxml.etree import _Element

MAX_STYLES = 20  # based on one another
MAX_SPAN = 100  # columns
_NOTES = {"footnotereference": "footnotes", "endnotereference": "endnotes"}
_TAGS = {
    "p": "p",
    "h": "h2",
    "tbl": "table",
    "tr": "tr",
    "tc": "td",
    "br": "br",
    "cr": "br",
    "table": "table",
    "table-row": "tr",
    "table-cell": "td",
    "line-break": "br",
    "list-item": "div",
    "page": "div",
}
_CHARACTERS = {
    "tab": " ",
    "ptab": " ",
    "s": " ",
    "nobreakhyphen": "-",
    "softhyphen": "",
}
_UNREAD = frozenset(
    "del movefrom instrtext delinstrtext deltext rpr ppr trpr tcpr sdtpr sectpr rt fallback "
    "tracked-changes covered-table-cell annotation nvsppr nvgraphicframepr".split()
)
_SLIDE_FURNITURE = (  # footers, dates and numbers
    "//*[local-name()='ph'][@type='ftr' or @type='dt' or @type='sldNum']"
    "/ancestor::*[local-name()='sp']"
)
_FALSE = ("0", "false", "off", "none")
_HIDING = ("vanish", "webhidden", "strike", "dstrike")
_SYMBOL_FONT = (  # from 0x20 on, by Adobe's encoding; a space where Unicode has no character
    " !∀#∃%&∋()∗+,−./0123456789:;<=>?≅ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ[∴]⊥_‾αβχδεφγηιϕκλμνοπθρστυϖωξψζ{|}∼ "
    + " " * 32
    + "€ϒ′≤⁄∞ƒ♣♦♥♠↔←↑→↓°±″≥×∝∂•÷≠≡≈…⏐⎯↵ℵℑℜ℘⊗⊕∅∩∪⊃⊇⊄⊂⊆∈∉∠∇®©™∏√⋅¬∧∨⇔⇐⇑⇒⇓◊〈®©™∑⎛⎜⎝⎡⎢⎣⎧⎨⎩⎪ 〉∫⌠⎮⌡⎞⎟⎠⎤⎥⎦⎫⎬⎭ "
)
_Properties = dict[str, str]  # of a text or paragraph, by name


def read_docx(content: bytes, media_type: str, name: str) -> Extracted:
    """Read title and text as a reader sees them; notes stand at the end."""
    package = Package(content, name)
    main = package.main_part("word/document.xml")
    parts = {part.kind: part.path for part in package.related(main)}
    styles = _read_styles(package.xml(parts["styles"])) if "styles" in parts else {}
    numbering = _Numbering(package.xml(parts["numbering"]) if "numbering" in parts else None)
    converter = _DocxConverter(styles, numbering)
    body = package.xml(main)
    converter.convert(body)
    for kind in _NOTES.values():
        if kind in parts:
            converter.add_notes(kind, package.xml(parts[kind]), body)
    return Extracted(package.title("docProps/core.xml"), read_text(body))


def read_pptx(content: bytes, media_type: str, name: str) -> Extracted:
    """Read the slides of a presentation in order, each with its speaker's notes."""
    package = Package(content, name)
    texts = []
    for slide in _slides(package):
        notes = [part.path for part in package.related(slide) if part.kind == "notesSlide"]
        for part in (slide, *notes):
            root = package.xml(part)
            remove(root.xpath(_SLIDE_FURNITURE))
            _DocxConverter({}, _Numbering(None)).convert(root)
            texts.append(read_text(root))
    return Extracted(package.title("docProps/core.xml"), "\n\n".join(filter(None, texts)))


def _slides(package: Package) -> list[str]:
    main = package.main_part("ppt/presentation.xml")
    paths = {part.id: part.path for part in package.related(main)}
    if paths:
        shown = package.xml(main).iter("{*}sldId")
        ids = [value for slide in shown for key, value in slide.items() if key.endswith("}id")]
        return [paths[each] for each in ids if each in paths]
    numbers = re.compile(r"ppt/slides/slide(\d+)\.xml")
    matches = filter(None, map(numbers.fullmatch, package.members))
    return [match[0] for match in sorted(matches, key=lambda match: int(match[1]))]


def read_odf(content: bytes, media_type: str, name: str) -> Extracted:
    """Read a text, presentation or workbook of OpenDocument; notes stand at the end."""
    package = Package(content, name)
    root = package.xml("content.xml")
    styles = {}
    for style in root.iter("{*}style"):
        styles[_attribute(style, "name")] = _properties(style.find("{*}text-properties"))
    body = next(root.iter("{*}body"))
    for note in list(body.iter("{*}note")):
        number = "".join(note.find("{*}note-citation").itertext())
        text = note.find("{*}note-body")
        note.clear(keep_tail=True)
        note.text = f"[{number}]"
        for paragraph in list(text.iter("{*}p"))[:1]:
            paragraph.text = f"[{number}] {paragraph.text or ''}"
        body.append(text)
    for cell in list(body.iter("{*}table-cell")):
        _repeat(cell)
    for element in list(body.iter()):
        tag = tag_of(element)
        style = styles.get(_attribute(element, "style-name"), {})
        is_struck = style.get("text-line-through-style", "none") != "none"
        if tag in _UNREAD or is_struck or style.get("display") == "none":
            remove([element])
        is_raised = style.get("text-position", "").startswith("super")
        element.tag = "sup" if is_raised and tag == "span" else _TAGS.get(tag, "span")
        element.text = _CHARACTERS.get(tag, element.text)
    return Extracted(package.title("meta.xml"), read_text(body))


def _repeat(cell: _Element) -> None:
    """Write a cell of a workbook as often as it is repeated; an empty one spans its columns."""
    times = min(int(_attribute(cell, "number-columns-repeated") or 1), MAX_SPAN)
    has_text = any("".join(cell.itertext()).strip())
    cell.set("colspan", _attribute(cell, "number-columns-spanned") or str(times))
    cell.set("rowspan", _attribute(cell, "number-rows-spanned") or "1")
    if has_text and times > 1:
        cell.set("colspan", "1")
        for _ in range(times - 1):
            cell.addnext(copy.deepcopy(cell))


def _attribute(element: _Element | None, name: str = "val") -> str:
    """Return an attribute by its local name: the namespace of Strict files differs."""
    for key, value in element.items() if element is not None else ():
        if key.rpartition("}")[2] == name:
            return str(value)
    return ""


def _properties(element: _Element | None) -> _Properties:
    """Return the properties of a text or paragraph; those switched off have a false value.

    Presentations have them as attributes.
    """
    if element is None:
        return {}
    properties = {key.rpartition("}")[2].lower(): str(value) for key, value in element.items()}
    for child in element:
        properties[tag_of(child)] = _attribute(child)
    numbered = element.find("{*}numPr")
    for child in numbered if numbered is not None else ():
        properties[tag_of(child)] = _attribute(child)
    return properties


def _is_on(properties: _Properties, name: str) -> bool:
    value = properties.get(name, "0")
    return value not in _FALSE and value != "noStrike"


def _read_styles(styles: _Element) -> dict[str, _Properties]:
    """Return the properties of each style with those it is based on; "": without a style."""
    by_id = {_attribute(style, "styleId"): style for style in styles.iter("{*}style")}
    default = _properties(styles.find("{*}docDefaults/{*}rPrDefault/{*}rPr"))
    read = {"": default}
    for name, style in by_id.items():
        properties: _Properties = {}
        ancestor: _Element | None = style
        for _ in range(MAX_STYLES):
            if ancestor is None:
                break
            for part in ("{*}rPr", "{*}pPr"):
                properties = _properties(ancestor.find(part)) | properties
            ancestor = by_id.get(_attribute(ancestor.find("{*}basedOn")))
        is_paragraph = _attribute(style, "type") == "paragraph"
        read[name] = default | properties if is_paragraph else properties
        if is_paragraph and _attribute(style, "default") not in ("", *_FALSE):
            read[""] = read[name]
    return read


# --- automatic numbers ---

_PLACE = re.compile(r"%(\d)")
_ROMAN = (
    "m:1000 cm:900 d:500 cd:400 c:100 xc:90 l:50 xl:40 x:10 ix:9 v:5 iv:4 i:1".split()
)


class _Numbering:
    """The numbers that Word gives to paragraphs."""

    def __init__(self, root: _Element | None) -> None:
        self._levels: dict[str, dict[str, _Properties]] = {}  # by number definition and level
        self._counts: Counter[tuple[str, int]] = Counter()
        abstract = {}
        for definition in root.iter("{*}abstractNum") if root is not None else ():
            levels = {_attribute(level, "ilvl"): _properties(level) for level in definition}
            abstract[_attribute(definition, "abstractNumId")] = levels
        for number in root.iter("{*}num") if root is not None else ():
            link = _attribute(number.find("{*}abstractNumId"))
            self._levels[_attribute(number, "numId")] = abstract.get(link, {})

    def next(self, number: str, level: str) -> str:
        """Count a paragraph and return what stands before it, as "Article 3" or "-"."""
        levels = self._levels.get(number, {})
        form = levels.get(level or "0")
        if form is None:
            return ""
        if form.get("numfmt") == "bullet":
            return "-"
        place = int(level or "0")
        for deeper in range(place + 1, 9):
            self._counts[number, deeper] = 0
        self._counts[number, place] += 1
        return _PLACE.sub(lambda match: self._shown(number, match[1]), form.get("lvltext", ""))

    def _shown(self, number: str, place: str) -> str:
        level = int(place) - 1
        form = self._levels[number].get(str(level), {})
        start = int(form.get("start") or 1)
        value = max(1, self._counts[number, level]) + start - 1
        return _figure(value, form.get("numfmt", "decimal"))


def _figure(value: int, form: str) -> str:
    """Return a number as "3", "iii" or "c"."""
    if form.endswith("Letter"):
        text = chr(ord("a") + (value - 1) % 26) * ((value - 1) // 26 + 1)
    elif form.endswith("Roman"):
        text = ""
        for pair in _ROMAN:
            numeral, _, amount = pair.partition(":")
            text += numeral * (value // int(amount))
            value %= int(amount)
    else:
        text = str(value)
    return text.upper() if form.startswith("upper") else text


# --- paragraphs, runs and tables ---


class _DocxConverter:
    """Turns the XML of Office into HTML in its place."""

    def __init__(self, styles: dict[str, _Properties], numbering: _Numbering) -> None:
        self._styles, self._numbering = styles, numbering
        self._notes: dict[tuple[str, str], int] = {}  # numbers by kind and id

    def convert(self, root: _Element) -> None:
        """Convert an element and all below it."""
        remove(root.iter("{*}Fallback"))  # copies of what stands elsewhere
        for paragraph in root.iter("{*}p"):
            self._convert_paragraph(paragraph)
        for table in list(root.iter("{*}tbl")):
            _convert_table(table)
        for element in list(root.iter()):
            self._rename(element)

    def add_notes(self, kind: str, notes: _Element, body: _Element) -> None:
        """Add the notes that the text refers to, each with its number."""
        for note in list(notes):
            number = self._notes.get((kind, _attribute(note, "id")))
            if number is None:
                continue
            self.convert(note)
            for paragraph in list(note.iter("p"))[:1]:
                paragraph.text = f"[{number}] "
            body.append(note)

    def _convert_paragraph(self, paragraph: _Element) -> None:
        own = _properties(paragraph.find("{*}pPr"))
        style = self._styles.get(own.get("pstyle", ""), self._styles.get("", {}))
        for run in paragraph.iter("{*}r"):
            if next(run.iterancestors(paragraph.tag)) is paragraph:
                self._convert_run(run, style)
        numbered = style | own
        label = self._numbering.next(numbered.get("numid", ""), numbered.get("ilvl", ""))
        shown = paragraph.find("{*}r")
        if label and shown is not None:
            first = shown.makeelement("t")
            first.text = f"{label} "
            paragraph.insert(paragraph.index(shown), first)
        for box in list(paragraph.iter("{*}txbxContent")):
            remove([box])
            paragraph.addnext(box)

    def _convert_run(self, run: _Element, paragraph_style: _Properties) -> None:
        own = _properties(run.find("{*}rPr"))
        character = self._styles.get(own["rstyle"], {}) if "rstyle" in own else {}
        for name in _HIDING:
            # what both styles say cancels out (ECMA-376-1, 17.7.3)
            in_styles = _is_on(character, name) != _is_on(paragraph_style, name)
            if _is_on(own, name) if name in own else in_styles:
                run.clear()
                return
        properties = paragraph_style | character | own
        is_raised = properties.get("vertalign") == "superscript"
        is_raised = is_raised or properties.get("baseline", "0")[:1] in tuple("123456789")
        if is_raised and not any(tag_of(child) in _NOTES for child in run):
            run.tag = "sup"

    def _rename(self, element: _Element) -> None:
        """Rename an element to HTML's; its text is that of `t`, or what it stands for."""
        name = tag_of(element)
        if name in _UNREAD:
            remove([element])
            return
        if name == "omath":
            text = formula(element)
            element.clear()
        else:
            text = self._text(element, name)
        element.text, element.tail = text, None
        if name != "sup":
            element.tag = _TAGS.get(name, "span")

    def _text(self, element: _Element, name: str) -> str:
        if name == "t":
            return "".join(map(_symbol, element.text or ""))
        if name == "sym":
            return _symbol(chr(int(_attribute(element, "char") or "20", 16)))
        if name in _NOTES:
            key = (_NOTES[name], _attribute(element, "id"))
            return f"[{self._notes.setdefault(key, len(self._notes) + 1)}]"
        if name == "fldchar":
            return _form_field(element)
        return _CHARACTERS.get(name, "")


def _form_field(field: _Element) -> str:
    """Return the tick of a box or the choice from a list."""
    box = field.find(".//{*}checkBox")
    if box is not None:
        properties = _properties(box)
        name = "checked" if "checked" in properties else "default"
        value = properties.get(name, "0")
        return "☐" if value in _FALSE else "☒"
    choices = [_attribute(entry) for entry in field.iter("{*}listEntry")]
    chosen = field.find(".//{*}ddList/{*}result")
    number = int(_attribute(chosen) or 0)
    return choices[number] if number < len(choices) else ""


def _convert_table(table: _Element) -> None:
    """Give the cells of a table their spans, its head, and remove hidden rows."""
    above: dict[int, _Element] = {}  # the last cell of each column
    for number, row in enumerate(_nested(table, "tr")):
        properties = _properties(row.find("{*}trPr"))
        if _is_on(properties, "hidden") or _is_on(properties, "del"):
            remove([row])
            continue
        is_head = _is_on(properties, "tblheader") or (number == 0 and _is_bold(row))
        column = 0
        for cell in _nested(row, "tc"):
            row.append(cell)  # out of a control around it
            merge = _properties(cell.find("{*}tcPr")) | _properties(cell)
            columns = min(int(merge.get("gridspan") or 1), MAX_SPAN)
            if merge.get("vmerge", "restart") not in ("restart", "0") and column in above:
                rows = int(above[column].get("rowspan", "1"))
                above[column].set("rowspan", str(rows + 1))
                remove([cell])
            elif merge.get("hmerge") != "1":
                cell.set("colspan", str(columns))
                cell.set("role", "columnheader" if is_head else "cell")
                above[column] = cell
            else:
                remove([cell])
            column += columns


def _nested(element: _Element, name: str) -> Iterator[_Element]:
    """Yield the rows of a table or cells of a row, not those of tables within it."""
    for child in list(element.iter(f"{{*}}{name}")):
        if next(child.iterancestors(element.tag)) is element:
            yield child


def _is_bold(row: _Element) -> bool:
    runs = [run for run in row.iter("{*}r") if "".join(run.itertext()).strip()]
    return bool(runs) and all(_is_on(_properties(run.find("{*}rPr")), "b") for run in runs)


def _symbol(character: str) -> str:
    """Return a character of the font Symbol in Unicode, and any other as it is."""
    if not "\uf020" <= character <= "\uf0ff":
        return character
    place = ord(character) - 0xF020
    return _SYMBOL_FONT[place].strip() if place < len(_SYMBOL_FONT) else ""
