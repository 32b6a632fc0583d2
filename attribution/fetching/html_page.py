"""Read HTML: what it shows, block by block, the article within it, and what its markup says."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from html import unescape
from itertools import product, takewhile
from typing import TYPE_CHECKING, Any

from attribution.errors import FetchFailed
from attribution.fetching import table_text
from attribution.fetching.page import UNWANTED, Extracted
from attribution.text.urls import is_web

if TYPE_CHECKING:
    from lxml.etree import _Element


def read_html(markup: str, url: str = "") -> Extracted:
    """Read the main text of a page with its title, date and site.

    Raises:
        FetchFailed: unreadable, paywall or needs_javascript.
    """
    from trafilatura import bare_extraction
    from trafilatura.htmlprocessing import convert_to_html

    tree = parse(markup)
    item_types = " ".join(tree.xpath("//@itemtype"))
    metadata = "".join(tree.xpath("//script[contains(@type, 'json')]/text()"))
    has_scripts = tree.find(".//script") is not None
    remove_hidden(tree)
    write_out(tree)
    _rename(tree)
    document: Any = bare_extraction(
        tree,
        url=url if is_web(url) else None,
        fast=True,  # the second opinion loses text, and its time grows with the square
        favor_recall=True,
        include_comments=False,
        with_metadata=True,
        date_extraction_params={"extensive_search": False, "original_date": True},
    )
    text = "" if document is None else read_blocks(convert_to_html(document.body))
    _check_text(text, metadata, has_scripts)
    if document is None:
        return Extracted("", "")
    return Extracted(
        unescape(document.title or ""),
        text,
        document.date or "",
        unescape(document.sitename or "").lstrip("@"),
        types=(*_JSON_TYPE.findall(metadata), *_ITEM_TYPE.findall(item_types)),
    )


# --- markup to tree ---

_CONTROL_REFERENCE = re.compile(  # to characters that no parser accepts
    r"&#(?:0{0,5}(?:[0-8]|1[124-9]|2\d|3[01]|127|6553[45])(?!\d)"
    r"|x0{0,5}(?:[0-8bcef]|1[0-9a-f]|7f|d[89a-f][0-9a-f]{2}|fff[ef])(?![0-9a-f]));?",
    re.IGNORECASE,
)


def parse(markup: str) -> _Element:
    """Return the tree of a page.

    Raises:
        FetchFailed: unreadable where it is nested too deeply.
    """
    import lxml.html

    parser = lxml.html.HTMLParser(
        encoding="utf-8", remove_comments=True, remove_pis=True, collect_ids=False
    )
    plain = _CONTROL_REFERENCE.sub("", markup).replace("\v", " ").replace("\f", " ")
    encoded = f"{UNWANTED.sub('', plain)}<p>".encode("utf-8", "replace")  # it may be blank
    tree: _Element = lxml.html.document_fromstring(encoded, parser=parser)
    if any("depth" in entry.message for entry in parser.error_log):
        raise FetchFailed("unreadable", "is nested too deeply to be read; paste its text instead")
    return tree


# --- hidden text ---

_HIDING_RULES = r"""(?x)(?<![\w-])(?:
        display:none
      | visibility:(?:hidden|collapse)
      | font-size:0(?:px|em|rem|pt|%)?(?:;|!|$)
      | (?:left|top|right|text-indent|margin-left):-\d{3,}
      | text-decoration(?:-line)?:line-through
      | clip:rect\((?:0|1px)
      | clip-path:inset\((?:50|100)%
    )"""
MAX_SHARE = 0.3  # of a page's prose: scripts will show parts that hold more


def remove_hidden(tree: _Element) -> None:
    """Remove what a page strikes out or hides, unless it is so much that scripts will show it."""
    clear(tree.iter("del", "s", "strike", "template"))
    hidden = tree.xpath(
        "//*[@hidden or re:test(translate(@style, ' ', ''), $rules, 'i')]",
        namespaces={"re": "http://exslt.org/regular-expressions"},
        rules=_HIDING_RULES,
    )
    hidden_text = "".join(element.text_content() for element in hidden)
    if len(hidden_text) <= MAX_SHARE * len(tree.text_content()):
        clear(hidden)
    for element in hidden:
        element.attrib.clear()


# --- the article within a page ---

_BLOCKS_OF_TEXT = frozenset("aside caption dd div dt figcaption pre td".split())


def _rename(tree: _Element) -> None:
    """Rename elements that extraction drops, with what an article says in them."""
    for element in tree.iter("time", "button"):
        element.tag = "span"
    for element in tree.xpath("//article//* | //main//*"):
        inner_tags = (inner.tag for inner in element.iterdescendants())
        if element.tag in _BLOCKS_OF_TEXT and BLOCK_TAGS.isdisjoint(inner_tags):
            element.tag = "p"
        elif element.tag in ("aside", "figure"):
            element.tag = "div"


# --- markup: schema.org types, and why text may be missing ---

MAX_NOTICE = 300  # characters: a shorter text may be a notice, or the first lines of an article
_JSON_TYPE = re.compile(r'"@type"\s{0,9}:[\s\[]{0,9}"(\w{1,60})"')
_ITEM_TYPE = re.compile(r"/(\w{1,60}+)/?(?!\S)")
_NOT_FREE = re.compile(
    r"""["']?isAccessibleForFree["']?\s*:\s*["']?(?:https?://schema\.org/)?false""", re.IGNORECASE
)
_SUBSCRIBE = re.compile(
    r"""\b(?:subscribe|log\ in|sign\ in|sign\ up|become\ a\ (?:member|subscriber))\b
        .{0,40}\b(?:to\ (?:continue|keep)\ reading|to\ read\ (?:the\ (?:full|rest)|more|on|this)
                   |for\ (?:full|unlimited)\ access)
      | \bfor\ subscribers\ only\b
      | \bto\ continue\ reading\b.{0,40}\b(?:subscribe|log\ in|sign\ in|register)
      | \b(?:subscriber|member)-only\b""",
    re.IGNORECASE | re.DOTALL | re.VERBOSE,
)
_NEEDS_SCRIPTS = re.compile(
    r"""\b(?:enable|turn\ on|activate|requires?|needs?|without)\s+(?:\w+\s+){0,2}java\s?script
      | java\s?script\b.{0,40}\b(?:is\ (?:disabled|required|not\ enabled|turned\ off)
                                  |must\ be\ enabled)""",
    re.IGNORECASE | re.DOTALL | re.VERBOSE,
)


def _check_text(text: str, metadata: str, has_scripts: bool) -> None:
    """Raise FetchFailed where so little text was found that the rest is known to be missing.

    Raises:
        FetchFailed: paywall or needs_javascript.
    """
    advice = "open it in a browser and add its text as a document"
    if len(text) >= MAX_NOTICE:
        return
    if _NOT_FREE.search(metadata) or _SUBSCRIBE.search(text):
        raise FetchFailed("paywall", f"shows its text to subscribers only; {advice}")
    if _NEEDS_SCRIPTS.search(text) or has_scripts and not text:
        problem = f"needs JavaScript to show its text, which is not run; {advice}"
        raise FetchFailed("needs_javascript", problem)


# --- a tree as blocks of text ---

BLOCK_TAGS = frozenset(
    "address article aside blockquote body caption center dd details dialog dir div dl dt fieldset "
    "figcaption figure footer form h1 h2 h3 h4 h5 h6 header hgroup hr html legend li main menu nav "
    "ol p pre section summary table tbody td tfoot th thead tr ul".split()
)
UNREAD_TAGS = frozenset(
    "head script style template noscript svg iframe audio video canvas object rt rp title "
    "select".split()
)
BLOCK_EDGE = "\x01"  # in the text of a tree
LINE_BREAK = "\x02"
MAX_CELL = 400  # characters: a table with longer cells is a layout
_SPAN = re.compile(r"[1-9][0-9]?")  # columns or rows
_AROUND_BREAK = re.compile(f" ?{LINE_BREAK} ?")
_ITEM = re.compile(r"(?:^|\n)- |\n")
_ITEMS = re.compile(r"^(- .+(?:\n.+)*)\n\n(?=- )", re.MULTILINE)
_NOTE_LINK = re.compile(r"\b(?:noteref|(?:footnote-?|fn)ref)\b")


def read_text(tree: _Element) -> str:
    """Return the text of a tree that shows nothing else."""
    write_out(tree)
    return read_blocks(tree)


def read_blocks(tree: _Element) -> str:
    """Return the paragraphs, headings and items of a tree, without white space that does not show.

    A blank line stands between them; the items of a list stand on lines.
    """
    blocks = []
    for part in "".join(_pieces(tree, is_fixed=False)).split(BLOCK_EDGE):
        block = _AROUND_BREAK.sub("\n", " ".join(part.split())).strip()
        if block not in ("", "-"):
            blocks.append(block)
    return _ITEMS.sub(r"\1\n", "\n\n".join(blocks))


def _pieces(element: _Element, is_fixed: bool) -> Iterator[str]:
    """Yield the text of an element, with the edges of blocks and the breaks of lines."""
    tag = element.tag
    if tag in UNREAD_TAGS:
        return
    if tag in BLOCK_TAGS:
        is_fixed = tag == "pre"
        yield BLOCK_EDGE
    if tag in ("li", "br"):
        yield "- " if tag == "li" else LINE_BREAK
    line_end = LINE_BREAK if is_fixed else "\n"
    yield (element.text or "").replace("\n", line_end)
    for child in element:
        yield from _pieces(child, is_fixed)
        yield (child.tail or "").replace("\n", line_end)
    if tag in BLOCK_TAGS:
        yield BLOCK_EDGE


def clear(elements: Iterable[_Element]) -> None:
    """Empty elements, but keep the text that follows them."""
    for element in list(elements):
        element.clear(keep_tail=True)


# --- tables ---


def _write_table(element: _Element) -> None:
    """Replace a table of data by a paragraph for each row; a layout stays as it is."""
    rows = list(element.iter("tr"))
    grid = _grid(rows)
    longest = max((len(cell) for cells in grid for cell in cells), default=0)
    if longest > MAX_CELL or not grid or len(grid[0]) < 2:
        return
    lines = [read_blocks(caption) for caption in element.iter("caption")]
    head_count = len(list(takewhile(_is_head, rows)))
    lines += table_text.lines(grid, head_count, "".join(lines))
    element.clear(keep_tail=True)
    element.tag = "div"
    for line in lines:
        paragraph = element.makeelement("p")
        paragraph.text = line
        element.append(paragraph)


def _grid(rows: Sequence[_Element]) -> list[list[str]]:
    """Return the cells of rows of equal width.

    A cell that spans rows stands in each of them; one that spans columns does so in a head.
    """
    texts: dict[tuple[int, int], str] = {}  # by row and column
    width = 0
    for number, row in enumerate(rows):
        column = 0
        is_head = _is_head(row)
        for cell in row.iterchildren("td", "th"):
            while (number, column) in texts:
                column += 1
            text = _ITEM.sub(" ", read_blocks(cell)).strip()
            span = _span(cell, "colspan")
            for down, right in product(range(_span(cell, "rowspan")), range(span)):
                texts[number + down, column + right] = text if is_head or not right else ""
            column += span
        width = max(width, column)
    return [[texts.get((n, column), "") for column in range(width)] for n in range(len(rows))]


def _is_head(row: _Element) -> bool:
    return bool(row.xpath("boolean(parent::thead or th[2] and not(td))"))


def _span(cell: _Element, name: str) -> int:
    value = cell.get(name) or ""
    return int(value) if _SPAN.fullmatch(value) else 1


# --- elements that show more or less than their text ---


def write_out(tree: _Element) -> None:
    """Replace raised figures, quotations, formulas and tables by their text."""
    for element in list(tree.iter("sup", "a", "q", "math")):
        text = _shown_text(element)
        if text is not None:
            element.clear(keep_tail=True)
            element.tag = "span"
            element.text = text
    for table in tree.xpath(".//table[not(.//table)]"):
        _write_table(table)


def _shown_text(element: _Element) -> str | None:
    """Return what an element shows; None for its text as it is."""
    text = "".join(element.itertext())
    if element.tag == "sup":
        return raised(str(element.xpath("string(preceding::text()[1])")), text)
    if element.tag == "q":
        return f"“{text}”"
    if element.tag == "math":
        write_signs(element)
        return f" {' '.join(''.join(element.itertext()).split())} "
    is_note = _NOTE_LINK.search(" ".join(element.values()))
    return raised("", text) if is_note else None


_POWER_BASE = re.compile(
    r"""(?: (?<![\d.,]) 10          # 10^6
          | (?<![\w.,]) \d          # 2^n
          | (?<![^\W\d_]) [^\W\d_]{1,2}  # km², x^n
          | \)                      # (a + b)^2
        )$""",
    re.VERBOSE,
)
_POWER = re.compile(r"[+\-−–]?\d{1,3}|[a-z]")
_NOTE_MARK = re.compile(r"\d{1,3}(?:\s*[,–-]\s*\d{1,3})*|[*†‡§]+")
_SQUARES = {"2": "²", "3": "³"}


def raised(before: str, text: str) -> str:
    """Return a superscript as text after the text `before` it.

    It is a power ("10^6", "km²"), a note's mark ("1878[3]"), or letters ("1st").
    """
    text = text.strip()
    last = before[-1:]
    is_power = _POWER.fullmatch(text) and _POWER_BASE.search(before[-8:])
    if is_power and not (text.isalpha() and last.isalpha()):
        if last.isalpha() and text in _SQUARES:
            return _SQUARES[text]
        return text if last.isdigit() and text.isalpha() else f"^{text}"
    is_number = _NOTE_MARK.fullmatch(text) and text.strip("*†‡§")
    return f"[{text}]" if is_number else text


_SIGNS = {"msup": "^", "sSup": "^", "msub": "_", "sSub": "_", "mfrac": "/", "f": "/"}
_FIRST_SIGN = "*[last()]/descendant-or-self::*[self::t or self::mi or self::mn or self::mo][1]"


def write_signs(formula: _Element) -> None:
    """Write the signs of a formula of MathML or Office between its parts: "10^6"."""
    clear(formula.iter("annotation", "annotation-xml"))
    for element in formula.iter(*_SIGNS):
        for first in element.xpath(_FIRST_SIGN):
            first.text = f"{_SIGNS[element.tag]}{(first.text or '').strip()}"
