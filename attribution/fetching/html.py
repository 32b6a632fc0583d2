"""Read HTML: the text that a reader sees, in blocks, of a whole document or of the article within a
page.
"""

from __future__ import annotations

import logging
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from html import unescape
from itertools import compress, takewhile
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from attribution.errors import FetchFailed, Unavailable
from attribution.fetching import tables
from attribution.fetching.content_type import decode
from attribution.fetching.markup import MAX_SCRIPT, read_markup
from attribution.fetching.page import UNWANTED, Extracted, read_signs

if TYPE_CHECKING:
    from lxml.etree import _Element

MAX_ELEMENTS = 200_000
_SUBSET = re.compile(  # of the document type
    r"\s*(?:<\?xml[^>]{0,200}>\s*)?(?:<!--.{0,500}?-->\s*)?<!doctype[^<>\[]{0,500}(\[[^\]]*+\]\s*)>",
    re.I | re.S,
)
MAX_SUBSET = 20_000  # characters in which a document type with declarations ends
FAST_ELEMENTS = (
    10_000  # above this, no second opinion of trafilatura's, whose time grows with the square
)
for _name in ("trafilatura", "htmldate"):
    logging.getLogger(_name).addHandler(
        logging.NullHandler()
    )  # a hostile page must not fill the terminal

_REFERENCE = re.compile(r"&#(?:(\d{1,7})|[xX]([0-9a-fA-F]{1,6}));?")


def read_html(content: bytes, media_type: str, name: str) -> Extracted:
    """The main text with its title, date and site. FetchFailed: unreadable, too_large, paywall or
    needs_javascript.
    """
    try:
        from trafilatura import bare_extraction
    except ImportError as error:
        raise Unavailable(
            "web pages cannot be read: pip install trafilatura lxml_html_clean", error
        ) from error
    text = decode(content, media_type)
    if not text.strip():
        return Extracted("", "")
    tree = parse(text, name)
    signs, markup = read_signs(tree), read_markup(tree)
    scripts = 0
    for script in tree.iter("script"):
        is_json = "json" in script.get("type", "")
        scripts += len(script.text or "") if is_json else 0
        if not is_json or scripts > MAX_SCRIPT:
            script.text = None
    remove_unseen(tree)
    host = urlsplit(name).hostname or ""
    shown = blocks(tree)  # before extraction, which changes the tree
    size = tree.xpath("count(//*)")
    title, published, site = _metadata(tree, name if host else None)
    document = bare_extraction(
        tree, fast=size > FAST_ELEMENTS, include_comments=False, include_tables=True
    )
    article = (
        _article(shown, document.text or "") if document and not isinstance(document, dict) else ""
    )
    extracted = Extracted(title, article, published, site or host)
    if failure := signs.failure(extracted.text, name):
        raise failure
    return replace(extracted, types=markup.types, reviewed=markup.reviewed, rating=markup.rating)


def _metadata(tree: _Element, url: str | None) -> tuple[str, str, str]:
    """Return title, date and name of the site, without the authors, tags and licences that
    trafilatura also reads.
    """
    from htmldate import find_date
    from trafilatura import metadata

    found = metadata.examine_meta(tree)
    with suppress(Exception):  # malformed JSON
        found = metadata.extract_meta_json(tree, found)
    site = (found.sitename or metadata.extract_sitename(tree) or "").lstrip("@")
    date = find_date(tree, original_date=True, extensive_search=False, url=url)
    title = found.title or metadata.extract_title(tree) or ""
    return (
        unescape(title),
        date or "",
        unescape(site if "." in site or site[:1].isupper() else site.title()),
    )


def visible_characters(markup: str) -> str:
    """Return markup without characters that no reader sees and no parser takes, written as such or
    as references.
    """

    def shown(match: re.Match[str]) -> str:
        code = int(match[1]) if match[1] else int(match[2], 16)
        unseen = (
            code < 0x110000 and (code < 32 or UNWANTED.match(chr(code))) and code not in (9, 10, 13)
        )
        return " " if code in (11, 12) else "" if unseen and not 0x80 <= code < 0xA0 else match[0]

    return UNWANTED.sub("", _REFERENCE.sub(shown, markup).replace("\v", " ").replace("\f", " "))


def parse(markup: str, name: str) -> _Element:
    """Return the tree of a page. FetchFailed: unreadable or too_large."""
    import lxml.html

    if subset := _SUBSET.match(markup[:MAX_SUBSET]):  # the parser takes its end for text
        if "<!entity" in subset[1].lower():
            raise FetchFailed(
                "unreadable",
                f"{name} declares XML entities, which are not read: paste its text",
                name,
            )
        markup = markup[: subset.start(1)] + markup[subset.end(1) :]
    parser = lxml.html.HTMLParser(
        encoding="utf-8", remove_comments=True, remove_pis=True, collect_ids=False
    )
    tree: _Element = lxml.html.document_fromstring(
        visible_characters(markup).encode("utf-8", "replace"), parser=parser
    )
    if any("depth" in entry.message for entry in parser.error_log):
        raise FetchFailed(
            "unreadable",
            f"{name} is nested too deeply to be read; paste its text as a document",
            name,
        )
    if (size := int(tree.xpath("count(//*)"))) > MAX_ELEMENTS:
        message = f"{name} has {size:,} HTML elements, at most {MAX_ELEMENTS:,} are read; add only the part you need"
        raise FetchFailed("too_large", message, name)
    return tree


# --- what no reader sees ---

_HIDES = re.compile(
    r"(?<![\w-])(?:display:none|visibility:(?:hidden|collapse)|font-size:0(?:px|em|rem|pt|%)?(?:;|!|$)|"
    r"(?:left|top|right|text-indent|margin-left):-\d{3,}|text-decoration(?:-line)?:line-through|"
    r"clip:rect\((?:0|1px)|clip-path:inset\((?:50|100)%)"
)
_FADES = re.compile(r"(?<![\w-])(?:opacity:0?\.?0*(?:;|!|$)|color:transparent)")
_APPEARS = re.compile(
    r"transform|transition|animation|clip:text"
)  # what fades in, or shows its background
_AT_BLOCK = re.compile(r"@[^{}@;]*(?:;|\{(?:[^{}]|\{[^{}]*\})*\})|/\*.*?\*/", re.DOTALL)
_RULE = re.compile(r"([^{}]+)\{([^{}]*)\}")
_SIMPLE = re.compile(r"([a-z][\w-]*)?([.#][\w-]+)", re.IGNORECASE)
_SHOWN_LATER = 0.3  # share of the text in paragraphs
_LABELS = (
    "//button[not(ancestor::summary | ancestor::h1 | ancestor::h2 | ancestor::h3 | ancestor::h4)]"
)
MAX_STYLE = 300_000  # characters of style sheets that are searched


def remove_unseen(tree: _Element) -> None:
    """Remove what a page strikes out or hides, but not parts alike that hold much of its prose:
    scripts show them.
    """
    hiding: dict[str, bool] = {}
    sheets = "".join(style.text or "" for style in tree.iter("{*}style"))[:MAX_STYLE]
    for selectors, rules in _RULE.findall(_AT_BLOCK.sub("", sheets)):
        if simple := list(
            filter(None, (_SIMPLE.fullmatch(selector.strip()) for selector in selectors.split(",")))
        ):
            hiding |= dict.fromkeys(
                ((one[1] or "").lower() + one[2] for one in simple), _hides(rules)
            )
    hidden = {selector for selector, hides in hiding.items() if hides}
    _drop([*tree.iter("{*}del", "{*}s", "{*}strike", "{*}template")])
    buttons = tree.xpath(_LABELS)
    _drop(
        [
            button
            for button in buttons
            if not _SENTENCE.search("".join(button.itertext()).strip()[-9:])
        ]
    )
    styled = tree.xpath("//*[@hidden or @style]")
    unseen = [e for e in styled if e.get("hidden") is not None or _hides(e.get("style"))]
    unseen += (
        [e for e in tree.xpath("//*[@class or @id]") if not hidden.isdisjoint(_selectors(e))]
        if hidden
        else []
    )
    if not unseen:
        return
    prose = sum(map(_held, tree.iter("{*}p"))) or _held(tree)
    alike: Counter[tuple[str, str]] = Counter()
    for element in unseen:
        alike[_tag(element), element.get("class") or ""] += _held(element)
    much = {kind for kind, size in alike.items() if size > _SHOWN_LATER * prose}
    kept = (len(e) and (_tag(e), e.get("class") or "") in much or _held(e) >= prose for e in unseen)
    _drop(compress(unseen, [not keep for keep in kept]))


def _held(element: _Element) -> int:
    return len("".join(element.itertext()))


def _hides(rules: str) -> bool:
    rules = "".join(rules.split()).lower()
    return bool(_HIDES.search(rules) or (_FADES.search(rules) and not _APPEARS.search(rules)))


def _selectors(element: _Element) -> list[str]:
    names = [
        f"#{element.get('id')}",
        *(f".{name}" for name in (element.get("class") or "").split()),
    ]
    return names + [_tag(element) + name for name in names]


def _drop(elements: Iterable[_Element]) -> None:
    """Remove elements, but not the text that follows them."""
    for element in elements:
        parent, before = element.getparent(), element.getprevious()
        if parent is None:
            continue
        tail = element.tail or ""
        if before is not None:
            before.tail = (before.tail or "") + tail
        else:
            parent.text = (parent.text or "") + tail
        parent.remove(element)


# --- text in blocks ---

_BLOCKS = frozenset(
    "address article aside blockquote body caption center dd details dialog dir div dl dt fieldset figcaption figure "
    "footer form h1 h2 h3 h4 h5 h6 header hgroup hr html legend li main menu nav ol p pre section summary table tbody "
    "td tfoot th thead tr ul optgroup".split()
)
_UNREAD = frozenset(
    "head script style template noscript svg iframe audio video canvas object rt rp title".split()
)
_HARD = re.compile(r" ?\x01 ?")
_LONGEST_CELL = 400  # characters: longer cells are a layout
_MOST_SPANNED = 100  # columns or rows
_SPECIAL = frozenset("a br sup q math img input select".split())
_NOTED = re.compile(r"\b(?:noteref|(?:footnote-?|fn)ref)\b")
_EPUB_TYPE = "{http://www.idpf.org/2007/ops}type"
_INPUTS = ("", "text", "number", "date", "email", "url", "tel", "search")


@dataclass(frozen=True)
class Block:
    """A paragraph, heading, item or table; `raw` is its text without what a table's rows repeat."""

    text: str
    raw: str
    element: _Element


def blocks(tree: _Element) -> list[Block]:
    """The text of a tree in order, each block on its own, without white space that does not show."""
    reader = _Blocks()
    reader.read(tree, tree)
    reader.end(tree)
    return reader.blocks


def joined(shown: Iterable[Block]) -> str:
    """Blocks with a blank line between them, the items of a list on lines."""
    text = ""
    listed = False
    for block in shown:
        item = block.text.startswith("- ")
        text += (("\n" if item and listed else "\n\n") if text else "") + block.text
        listed = item
    return text


class _Blocks:
    def __init__(self) -> None:
        self.blocks: list[Block] = []
        self._parts: list[str] = []

    def end(self, element: _Element) -> None:
        """End the block that is being read."""
        if not self._parts:
            return
        text = " ".join("".join(self._parts).split())
        text = _HARD.sub("\n", text).strip() if "\x01" in text else text
        self._parts.clear()
        if text not in ("", "-"):
            self.blocks.append(Block(text, text, element))

    def read(self, element: _Element, block: _Element) -> None:
        tag = _tag(element)
        if not tag or tag in _UNREAD:
            return
        if tag == "table" and self._table(element, block):
            return
        if tag in _BLOCKS:
            self.end(block)
            block = element
            self._parts += ["- "] if tag == "li" else []
        if tag in _SPECIAL and (special := self._special(element, tag)) is not None:
            self._parts.append(special)
        else:
            line_end = "\x01" if _tag(block) == "pre" else "\n"
            if element.text:
                self._parts.append(element.text.replace("\n", line_end))
            for child in element:
                self.read(child, block)
                if child.tail:
                    self._parts.append(child.tail.replace("\n", line_end))
        if tag in _BLOCKS:
            self.end(block)

    def _special(self, element: _Element, tag: str) -> str | None:
        """The text of an element that does not show its children one after the other; None for any
        other.
        """
        if tag == "br":
            return "\x01"
        if tag == "sup":
            return raised("".join(self._parts[-8:]), "".join(element.itertext()))
        if tag == "a":
            kinds = f"{element.get('class')} {element.get('role')} {element.get('epub:type', element.get(_EPUB_TYPE))}"
            return raised("", "".join(element.itertext())) if _NOTED.search(kinds) else None
        if tag == "q":
            return f"“{''.join(element.itertext())}”"
        if tag == "math":
            return f" {formula(element) or '[formula]'} "
        if tag == "img":
            marks = f"{element.get('class') or ''} {element.get('src') or ''}".lower()
            is_formula = any(word in marks for word in ("latex", "mathtex", "math-", "codecogs"))
            return f" {element.get('alt') or '[formula]'} " if is_formula else ""
        if tag == "input":
            return (
                element.get("value") or "" if (element.get("type") or "").lower() in _INPUTS else ""
            )
        if tag == "select":
            options = list(element.iter("{*}option"))
            chosen = next((o for o in options if o.get("selected") is not None), None)
            return "".join(chosen.itertext()) if chosen is not None else ""
        return None

    def _table(self, table: _Element, block: _Element) -> bool:
        """Read a table of data by its rows; False for a layout, whose cells are read one after the
        other.
        """
        if next(table.iterdescendants("{*}table"), None) is not None:
            return False
        grid: list[list[str]] = []
        spans: dict[tuple[int, int], str] = {}
        heads = 0
        raw: list[str] = []
        for number, row in enumerate(table.iter("{*}tr")):
            cells = [cell for cell in row if _tag(cell) in ("td", "th")]
            parent = row.getparent()
            headed = parent is not None and _tag(parent) == "thead"
            is_head = number == heads and (
                headed or (len(cells) > 1 and all(_tag(cell) == "th" for cell in cells))
            )
            heads += is_head
            out: list[str] = []
            raw.append("")
            for cell in [*cells, None]:
                while (number, len(out)) in spans:
                    out.append(spans[number, len(out)])
                if cell is None:
                    break
                text = " ".join(part.raw.removeprefix("- ") for part in blocks(cell))
                raw[-1] += f" {text}"
                if len(text) > _LONGEST_CELL:
                    return False
                wide, high = _span(cell, "colspan"), _span(cell, "rowspan")
                for column in range(len(out), len(out) + wide):
                    spans |= {
                        (number + below, column): text
                        for below in range(1, high)
                        if column == len(out)
                    }
                out += [text, *([text if is_head else ""] * (wide - 1))]
            grid.append(out)
        if max(map(len, grid), default=0) < 2:
            return False
        self.end(block)
        for caption in table.iter("{*}caption"):
            self.blocks += blocks(caption)
        if rows := "\n\n".join(tables.lines(grid, heads or None)):
            self.blocks.append(Block(rows, "\n".join(raw), table))
        return True


def _span(cell: _Element, name: str) -> int:
    value = cell.get(name) or "1"
    return (
        min(max(int(value), 1), _MOST_SPANNED)
        if value.isascii() and value.isdigit() and len(value) < 6
        else 1
    )


def _tag(element: _Element) -> str:
    return _local(element.tag)


@lru_cache(1_000)
def _local(tag: object) -> str:
    return tag.rpartition("}")[2].lower() if isinstance(tag, str) else ""


# --- what stands raised, and formulas ---

_POWER_BASE = re.compile(r"(?:(?<![\d.,])10|(?<![\w.,])\d|(?<![^\W\d_])[^\W\d_]{1,2}|\))$")
_POWER = re.compile(r"[+\-−–]?\d{1,3}|[a-z]")
_MARK = re.compile(r"\d{1,3}(?:\s*[,–-]\s*\d{1,3})*|[*†‡§]+")


def raised(before: str, text: str) -> str:
    """A superscript after the text `before`: a power ("10^6", "km²"), a note's mark ("1878[3]"), or
    letters ("1st").
    """
    text = text.strip()
    if (
        _POWER.fullmatch(text)
        and _POWER_BASE.search(before)
        and not (text.isalpha() and before[-1:].isalpha())
    ):
        unit = before[-1:].isalpha() and text in ("2", "3")
        return (
            {"2": "²", "3": "³"}[text]
            if unit
            else text
            if before[-1:].isdigit() and text.isalpha()
            else f"^{text}"
        )
    return f"[{text}]" if _MARK.fullmatch(text) and text.strip("*†‡§") else text


_FORMULA = {  # the parts of a formula by the element's name, in MathML and in Office's
    "msup": "{0}^{1}",
    "sSup": "{0}^{1}",
    "msub": "{0}_{1}",
    "sSub": "{0}_{1}",
    "mfrac": "{0}/{1}",
    "f": "{0}/{1}",
    "msqrt": "√({0})",
    "mroot": "√({0})",
    "rad": "√({0})",
}
_UNSHOWN = ("annotation", "annotation-xml", "deg", "rPr", "ctrlPr")


def formula(element: _Element) -> str:
    """A formula on one line: "Q=1.84 b h", "10^6", "a/b"."""
    name = element.tag.rpartition("}")[2] if isinstance(element.tag, str) else "annotation"
    if name in _UNSHOWN or name.endswith("Pr"):
        return ""
    parts = [part for child in element if (part := formula(child))]
    form = _FORMULA.get(name, "")
    if form and len(parts) >= form.count("{"):
        return form.format("".join(parts) if form.count("{") == 1 else parts[0], parts[-1])
    return "".join(parts) if len(element) else " ".join((element.text or "").split())


# --- the article within a page ---

_WORD = re.compile(r"\w+")
_BESIDE = re.compile(
    r"\b(?:nav|menu|share|sharing|social|comments?|related|recommend\w*|promo\w*|newsletter|subscri\w+|advert\w*|ads?|"
    r"sidebar|breadcrumbs?|footer|cookies?|popup|modal|toolbar|pagination|tags?|widget|banner|login|signup|teaser|"
    r"form|outbrain|taboola|byline|author|meta|trending|popular|more|cta|action|disclaimer|swiper|slider|carousel|"
    r"messenger|bio)\b",
    re.IGNORECASE,
)
_HEADINGS = frozenset("h2 h3 h4 h5 h6".split())
_JOINT = re.compile(r"_|(?<=[a-z])(?=[A-Z])")  # of two words in the name of a class
_APART = frozenset("a nav footer form header button select menu dialog".split())
_SENTENCE = re.compile(r"[.!?:;…。！？][\"'”’»)\]]*$")
_UNSTATED = re.compile(r"[?:…]$")  # "You may also like …", "Share it:"
_FEWEST_WORDS, _FEW_WORDS = (
    4,
    8,
)  # of a block that is put back, and of one that does not end with a stop
_LONG, _TOLD = 12, 0.9  # words of a teaser or a copy, and the share of them that was told before
_FOUND = 0.85  # share of the article's words that the page's blocks must hold


def _article(shown: list[Block], main: str) -> str:
    """The blocks of the main text that trafilatura found, and those within it that it left out.

    The main text as it is where it does not come from the blocks, as that of a page's metadata.
    """
    runs = [{*_rows(block.raw)} for block in shown]
    sought = {*_rows(main)}
    found = sought.union(*map(_rows, main.split("\n")))
    if "\n" not in main:  # a short page on one line, its headings too
        found.update(_rows(main, 2), _rows(main, 1))
    kept = [2 * len(own & found) >= len(own) > 0 for own in runs]
    if len(
        sought.intersection(_rows(" ".join(block.raw for block in compress(shown, kept))))
    ) <= _FOUND * len(sought):
        return main.replace("\n", "\n\n")
    sizes = [len(block.raw.split()) for block in shown]
    taken = [n for n, keep in enumerate(kept) if keep]
    prose = (
        [n for n in taken if sizes[n] > _FEWEST_WORDS and _SENTENCE.search(shown[n].raw[-9:])]
        or taken
        or [0]
    )
    first, last = prose[0], prose[-1]
    top = max((n for n in range(first) if _tag(shown[n].element) == "h1"), default=first)
    main_text: set[_Element] = set()  # the elements that hold it
    for n in (top, *prose):
        main_text.update(takewhile(lambda element: element not in main_text, _up(shown[n])))
    left, chosen = defaultdict(lambda: 1, Counter(_rows(main))), []
    headed = {n - 1 for n in prose}
    for n, block in enumerate(shown):
        if not kept[n] or not top <= n <= last:
            heads = n in headed and _tag(block.element) in _HEADINGS
            part = (
                _part(block, main_text) if kept[n] or heads or _is_prose(block, sizes[n]) else None
            )
            lead = top < n < first and sizes[n] >= _FEW_WORDS and block.raw.rstrip()[-1:] in ".!"
            if part is None or not (kept[n] or first < n < last or lead or part == "aside"):
                continue
        if sizes[n] < _LONG or sum(left[run] < 1 for run in runs[n]) <= _TOLD * len(runs[n]):
            chosen.append(block)
            for run in runs[n]:
                left[run] -= 1
    return joined(chosen)


def _rows(text: str, size: int = 3) -> list[int]:
    """The hashes of so many words in a row each; of a shorter text as a whole."""
    words = _WORD.findall(text.lower())
    return [*map(hash, zip(*(words[n:] for n in range(min(size, len(words)))), strict=False))]


def _up(block: Block) -> Iterator[_Element]:
    yield block.element
    yield from block.element.iterancestors()


def _is_prose(block: Block, size: int) -> bool:
    """True for a sentence, a caption or a table that is not mostly links."""
    is_sentence = _SENTENCE.search(block.raw[-9:])
    fewest = _FEW_WORDS if not is_sentence or _UNSTATED.search(block.raw) else _FEWEST_WORDS
    if size < fewest or not (is_sentence or _tag(block.element) in ("figcaption", "table", "pre")):
        return False
    return 4 * sum(map(_held, block.element.iter("a"))) <= len(block.raw)


def _part(block: Block, main_text: set[_Element]) -> str | None:
    """The name of the outermost element around a block without main text; None in navigation,
    links, a form.
    """
    tag = ""
    for element in _up(block):
        if element in main_text:
            return tag
        tag = _tag(element)
        if tag in _APART or _is_beside(
            f"{element.get('class') or ''} {element.get('id')} {element.get('role')}"
        ):
            break
    return None


@lru_cache(5_000)
def _is_beside(marks: str) -> bool:
    return _BESIDE.search(_JOINT.sub(" ", marks)) is not None
