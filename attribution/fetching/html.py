"""Read web pages: their visible text, and the article within it."""

from __future__ import annotations

import logging
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from html import unescape
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from attribution.errors import FetchFailed
from attribution.fetching.blocks import (
    Block,
    join_blocks,
    read_blocks,
    remove,
    tag_of,
    text_length,
    write_out,
)
from attribution.fetching.content_type import decode
from attribution.fetching.markup import MAX_SCRIPT, read_markup
from attribution.fetching.page import UNWANTED, Extracted

if TYPE_CHECKING:
    from lxml.etree import _Element

MAX_ELEMENTS = 200_000
MAX_PROLOG = 20_000  # characters within which a document type ends
for _name in ("trafilatura", "htmldate"):  # a hostile page must not fill the terminal
    logging.getLogger(_name).addHandler(logging.NullHandler())


def read_html(content: bytes, media_type: str, name: str) -> Extracted:
    """Read the main text of a page with its title, date and site.

    Raises:
        FetchFailed: unreadable, too_large, paywall or needs_javascript.
    """
    text = decode(content, media_type)
    if not text.strip():
        return Extracted("", "")
    tree = parse(text, name)
    markup = read_markup(tree)
    _shorten_scripts(tree)
    remove_hidden(tree)
    write_out(tree)
    blocks = read_blocks(tree)  # before extraction, which changes the tree
    host = urlsplit(name).hostname or ""
    document = _extract_document(tree, name if host else None)
    extracted = Extracted("", "", site=host)
    if document is not None:
        extracted = Extracted(
            title=unescape(document.title or ""),
            text=_article(blocks, document.text or ""),
            published=document.date or "",
            site=unescape(document.sitename or "").lstrip("@") or host,
        )
    failure = markup.failure(extracted.text, name)
    if failure is not None:
        raise failure
    return replace(extracted, types=markup.types, reviewed=markup.reviewed, rating=markup.rating)


def _extract_document(tree: _Element, url: str | None) -> Any:
    """Return trafilatura's reading of a page, or None."""
    from trafilatura import bare_extraction

    return bare_extraction(
        tree,
        url=url,
        fast=True,  # the second opinion loses text, and its time grows with the square
        include_comments=False,
        with_metadata=True,
        date_extraction_params={"extensive_search": False, "original_date": True},
    )


def _shorten_scripts(tree: _Element) -> None:
    """Remove the text of scripts other than JSON metadata, and of too much metadata."""
    size = 0
    for script in tree.iter("script"):
        is_metadata = "json" in script.get("type", "")
        size += len(script.text or "") if is_metadata else 0
        if not is_metadata or size > MAX_SCRIPT:
            script.text = None


# --- markup to tree ---

_CONTROL_REFERENCE = re.compile(  # to characters that no parser accepts
    r"&#(?:0{0,5}(?:[0-8]|1[124-9]|2\d|3[01]|127|6553[45])(?!\d)"
    r"|x0{0,5}(?:[0-8bcef]|1[0-9a-f]|7f|d[89a-f][0-9a-f]{2}|fff[ef])(?![0-9a-f]));?",
    re.IGNORECASE,
)
_DECLARATIONS = re.compile(r"(?<=<!doctype html)\s{0,99}\[[^\]]*\]", re.IGNORECASE)


def parse(markup: str, name: str) -> _Element:
    """Return the tree of a page.

    Raises:
        FetchFailed: unreadable or too_large.
    """
    import lxml.html

    if "<!entity" in markup[:MAX_PROLOG].lower():
        message = f"{name} declares XML entities, which are not read: paste its text"
        raise FetchFailed("unreadable", message, name)
    markup = _DECLARATIONS.sub("", markup, count=1)  # the HTML parser takes them for text
    parser = lxml.html.HTMLParser(
        encoding="utf-8", remove_comments=True, remove_pis=True, collect_ids=False
    )
    encoded = visible_characters(markup).encode("utf-8", "replace")
    tree: _Element = lxml.html.document_fromstring(encoded, parser=parser)
    if any("depth" in entry.message for entry in parser.error_log):
        message = f"{name} is nested too deeply to be read; paste its text as a document"
        raise FetchFailed("unreadable", message, name)
    size = int(tree.xpath("count(//*)"))
    if size > MAX_ELEMENTS:
        message = (
            f"{name} has {size:,} HTML elements, at most {MAX_ELEMENTS:,} are read; "
            "add only the part you need"
        )
        raise FetchFailed("too_large", message, name)
    return tree


def visible_characters(markup: str) -> str:
    """Remove control characters, which no parser accepts, and references to them."""
    plain = _CONTROL_REFERENCE.sub("", markup)
    return UNWANTED.sub("", plain.replace("\v", " ").replace("\f", " "))


# --- hidden text ---

_HIDING_RULES = re.compile(
    r"""(?<![\w-])(?:
        display:none
      | visibility:(?:hidden|collapse)
      | font-size:0(?:px|em|rem|pt|%)?(?:;|!|$)
      | (?:left|top|right|text-indent|margin-left):-\d{3,}
      | text-decoration(?:-line)?:line-through
      | clip:rect\((?:0|1px)
      | clip-path:inset\((?:50|100)%
    )""",
    re.VERBOSE,
)
_FADING_RULES = re.compile(r"(?<![\w-])(?:opacity:0?\.?0*(?:;|!|$)|color:transparent)")
_APPEARING_RULES = re.compile(r"transform|transition|animation|clip:text")
_BRACE = re.compile(r"([{}])")
_SIMPLE_SELECTOR = re.compile(r"(?:[a-z][\w-]*)?[.#][\w-]+", re.IGNORECASE)
MAX_SHARE = 0.3  # of a page's prose: scripts will show parts alike that hold more
MAX_STYLE = 300_000  # characters of style sheets that are searched
_HEADINGS = frozenset("h1 h2 h3 h4 h5 h6 summary".split())


def remove_hidden(tree: _Element) -> None:
    """Remove what a page strikes out or hides, except the parts that scripts will show."""
    remove(tree.iter("{*}del", "{*}s", "{*}strike", "{*}template"))
    remove([button for button in tree.iter("{*}button") if _is_label(button)])
    selectors = _hiding_selectors(tree)
    styled = tree.xpath("//*[@hidden or @style or @class or @id]")
    hidden = [element for element in styled if _is_hidden(element, selectors)]
    prose = sum(map(text_length, tree.iter("{*}p"))) or text_length(tree)
    length_alike: Counter[str] = Counter()
    for element in hidden:
        length_alike[_kind(element)] += text_length(element)
    remove([each for each in hidden if length_alike[_kind(each)] <= MAX_SHARE * prose])


def _is_label(button: _Element) -> bool:
    in_heading = any(tag_of(ancestor) in _HEADINGS for ancestor in button.iterancestors())
    return not in_heading and not _ends_sentence("".join(button.itertext()))


def _hiding_selectors(tree: _Element) -> set[str]:
    """Return the simple selectors that the page's style sheets hide."""
    sheets = "".join(style.text or "" for style in tree.iter("{*}style"))[:MAX_STYLE]
    is_hiding: dict[str, bool] = {}  # the last rule counts
    depth = 0
    before = selectors = ""
    for part in _BRACE.split(sheets):
        if part == "{":
            depth += 1
            selectors = before
        elif part == "}":
            is_rule = depth == 1 and "@" not in selectors  # not for print or small screens
            for selector in selectors.split(",") if is_rule else ():
                is_hiding[selector.strip()] = _hides(before)
            selectors = "@"
            depth = max(0, depth - 1)
        before = part
    return {
        selector
        for selector, hides in is_hiding.items()
        if hides and _SIMPLE_SELECTOR.fullmatch(selector)
    }


def _is_hidden(element: _Element, selectors: set[str]) -> bool:
    if element.get("hidden") is not None or _hides(element.get("style") or ""):
        return True
    names = [f".{name}" for name in (element.get("class") or "").split()]
    names.append(f"#{element.get('id')}")
    tag = tag_of(element)
    return any(name in selectors or tag + name in selectors for name in names)


def _hides(rules: str) -> bool:
    rules = "".join(rules.split()).lower()
    if _HIDING_RULES.search(rules):
        return True
    return bool(_FADING_RULES.search(rules) and not _APPEARING_RULES.search(rules))


def _kind(element: _Element) -> str:
    return f"{tag_of(element)} {element.get('class') or ''}"


# --- the article within a page ---

_WORD = re.compile(r"\w+")
_BOILERPLATE = re.compile(
    r"\b(?:nav|menu|share|sharing|social|comments?|related|recommend\w*|promo\w*|newsletter|"
    r"subscri\w+|advert\w*|ads?|sidebar|breadcrumbs?|footer|cookies?|popup|modal|toolbar|"
    r"pagination|tags?|widget|banner|login|signup|teaser|form|outbrain|taboola|byline|author|meta|"
    r"trending|popular|more|cta|action|disclaimer|swiper|slider|carousel|messenger|bio)\b",
    re.IGNORECASE,
)
_BOILERPLATE_TAGS = frozenset("a nav footer form header button select menu dialog".split())
_JOINT = re.compile(r"_|(?<=[a-z])(?=[A-Z])")  # of two words in a class's name
_SENTENCE_END = re.compile(r"[.!?:;…。！？][\"'”’»)\]]*$")
_OPEN_END = re.compile(r"[?:…]$")  # "You may also like …", "Share it:"
SHINGLE = 3  # words
MIN_SENTENCE = 4  # words
MIN_PROSE = 8  # words of a block that doesn't end as a sentence does
MIN_REPEATED = 10  # runs of words of a block that is left out where it repeats others
MAX_REPEATED = 0.9  # share of them
MAX_MISSING = 0.15  # share of the main text's words that the page's blocks don't hold


def _article(blocks: Sequence[Block], main_text: str) -> str:
    """Return the blocks of the main text that trafilatura found, and those it left out within it.

    The main text itself is returned where it doesn't come from the blocks.
    """
    main = _main_blocks(blocks, main_text)
    if not main:
        return main_text.replace("\n", "\n\n")
    prose = [number for number in main if _is_sentence(blocks[number].raw)] or main
    titles = [number for number in range(prose[0]) if tag_of(blocks[number].element) == "h1"]
    first = titles[-1] if titles else prose[0]
    holders: set[_Element] = set()  # elements that hold main text
    for number in (first, *prose):
        element = blocks[number].element
        holders.update((element, *element.iterancestors()))
    repetition = _Repetition(main_text)
    chosen = []
    for number, block in enumerate(blocks):
        is_main = number in main
        is_within = first <= number <= prose[-1]
        if repetition.has(block.raw) or not (is_main or _is_prose(block)):
            continue
        belongs = _belongs(block, holders, is_main or is_within)
        if belongs or (is_main and is_within):
            chosen.append(block)
            repetition.add(block.raw)
    return join_blocks(chosen)


def _main_blocks(blocks: Sequence[Block], main_text: str) -> list[int]:
    """Return the numbers of the blocks of a text; none where they don't hold enough of it."""
    lines = main_text.split("\n")
    known = {shingle for line in (main_text, *lines) for shingle in _shingles(line)}
    missing = set(_WORD.findall(main_text))
    words = len(missing)
    main = []
    for number, block in enumerate(blocks):
        own = set(_shingles(block.raw))
        is_in_line = len(lines) == 1 and block.raw in main_text
        if 2 * len(own & known) >= len(own) > 0 or is_in_line:
            main.append(number)
            missing.difference_update(_WORD.findall(block.raw))
    return main if len(missing) <= MAX_MISSING * words else []


class _Repetition:
    """Tells blocks that repeat others more often than the main text does."""

    def __init__(self, main_text: str) -> None:
        self._allowed = Counter(_shingles(main_text))
        self._used: Counter[int] = Counter()

    def has(self, text: str) -> bool:
        """Return True if most of a block was read before."""
        runs = list(_shingles(text))
        repeated = sum(self._used[run] >= max(1, self._allowed[run]) for run in runs)
        return len(runs) >= MIN_REPEATED and repeated > MAX_REPEATED * len(runs)

    def add(self, text: str) -> None:
        """Count a block as read."""
        self._used.update(_shingles(text))


def _shingles(text: str) -> Iterator[int]:
    """Yield the hashes of runs of words; of a shorter text, that of the whole."""
    words = _WORD.findall(text.lower())
    size = min(SHINGLE, len(words))
    for start in range(len(words) - size + 1 if size else 0):
        yield hash(tuple(words[start : start + size]))


def _belongs(block: Block, holders: set[_Element], is_within: bool) -> bool:
    """Return True if a block stands beside main text and is no navigation, link or form.

    At the end of the article, only an aside does.
    """
    tag = ""
    for element in (block.element, *block.element.iterancestors()):
        if element in holders:
            return is_within or tag == "aside"
        tag = tag_of(element)
        marks = f"{element.get('class') or ''} {element.get('id')} {element.get('role')}"
        if tag in _BOILERPLATE_TAGS or _BOILERPLATE.search(_JOINT.sub(" ", marks)):
            return False
    return False


def _ends_sentence(text: str) -> bool:
    return _SENTENCE_END.search(text.strip()[-9:]) is not None


def _is_sentence(text: str) -> bool:
    return len(text.split()) > MIN_SENTENCE and _ends_sentence(text)


def _is_prose(block: Block) -> bool:
    """Return True for a sentence, a caption or a table that is not mostly links."""
    is_sentence = _ends_sentence(block.raw)
    is_closed = is_sentence and not _OPEN_END.search(block.raw)
    if len(block.raw.split()) < (MIN_SENTENCE if is_closed else MIN_PROSE):
        return False
    if not is_sentence and tag_of(block.element) not in ("figcaption", "table", "pre"):
        return False
    return 4 * sum(map(text_length, block.element.iter("a"))) <= len(block.raw)
