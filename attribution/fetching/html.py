"""Read web pages: their visible text, and the article within it."""

from __future__ import annotations

import logging
import re
from collections import Counter
from dataclasses import replace
from functools import lru_cache
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
MAX_SUBSET = 20_000  # characters within which a document type with declarations ends
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
    if document is None:
        extracted = Extracted("", "", site=host)
    else:
        site = document.sitename or ""
        extracted = Extracted(
            title=unescape(document.title or ""),
            text=_article(blocks, document.text or ""),
            published=document.date or "",
            site=unescape(site).lstrip("@") or host,
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

_CHARACTER_REFERENCE = re.compile(r"&#(?:(\d{1,7})|[xX]([0-9a-fA-F]{1,6}));?")
_SUBSET = re.compile(
    r"""\s*(?:<\?xml[^>]{0,200}>\s*)?
        (?:<!--.{0,500}?-->\s*)?
        <!doctype[^<>\[]{0,500}
        (\[[^\]]*+\]\s*)>   # declarations, which the HTML parser takes for text""",
    re.IGNORECASE | re.DOTALL | re.VERBOSE,
)


def parse(markup: str, name: str) -> _Element:
    """Return the tree of a page.

    Raises:
        FetchFailed: unreadable or too_large.
    """
    import lxml.html

    subset = _SUBSET.match(markup[:MAX_SUBSET])
    if subset:
        if "<!entity" in subset[1].lower():
            message = f"{name} declares XML entities, which are not read: paste its text"
            raise FetchFailed("unreadable", message, name)
        markup = markup[: subset.start(1)] + markup[subset.end(1) :]
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
    plain = _CHARACTER_REFERENCE.sub(_visible_reference, markup)
    return UNWANTED.sub("", plain.replace("\v", " ").replace("\f", " "))


def _visible_reference(match: re.Match[str]) -> str:
    code = int(match[1]) if match[1] else int(match[2], 16)
    if code in (11, 12):
        return " "
    is_windows_1252 = 0x80 <= code < 0xA0  # as browsers read these references
    if code in (9, 10, 13) or code >= 0x110000 or is_windows_1252:
        return match[0]
    return "" if code < 32 or UNWANTED.match(chr(code)) else match[0]


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
_AT_RULE = re.compile(r"@[^{}@;]*(?:;|\{(?:[^{}]|\{[^{}]*\})*\})|/\*.*?\*/", re.DOTALL)
_STYLE_RULE = re.compile(r"([^{}]+)\{([^{}]*)\}")
_SIMPLE_SELECTOR = re.compile(r"(?:[a-z][\w-]*)?[.#][\w-]+", re.IGNORECASE)
MAX_SHARE = 0.3  # of a page's prose: scripts will show parts alike that hold more
MAX_STYLE = 300_000  # characters of style sheets that are searched
_HEADINGS = frozenset("h1 h2 h3 h4 h5 h6 summary".split())


def remove_hidden(tree: _Element) -> None:
    """Remove what a page strikes out or hides, except the parts that scripts will show."""
    remove(list(tree.iter("{*}del", "{*}s", "{*}strike", "{*}template")))
    remove([button for button in tree.iter("{*}button") if _is_label(button)])
    selectors = _hiding_selectors(tree)
    styled = tree.xpath("//*[@hidden or @style or @class or @id]")
    hidden = [element for element in styled if _is_hidden(element, selectors)]
    if not hidden:
        return
    prose = sum(map(text_length, tree.iter("{*}p"))) or text_length(tree)
    length_alike: Counter[str] = Counter()
    for element in hidden:
        length_alike[_kind(element)] += text_length(element)
    for element in hidden:
        is_later_shown = len(element) and length_alike[_kind(element)] > MAX_SHARE * prose
        if not is_later_shown and text_length(element) < prose:
            remove([element])


def _is_label(button: _Element) -> bool:
    in_heading = any(tag_of(ancestor) in _HEADINGS for ancestor in button.iterancestors())
    return not in_heading and not _ends_sentence("".join(button.itertext()))


def _hiding_selectors(tree: _Element) -> set[str]:
    """Return the simple selectors that the page's style sheets hide."""
    sheets = "".join(style.text or "" for style in tree.iter("{*}style"))[:MAX_STYLE]
    is_hiding: dict[str, bool] = {}  # the last rule counts
    for selectors, rules in _STYLE_RULE.findall(_AT_RULE.sub("", sheets)):
        for selector in map(str.strip, selectors.split(",")):
            if _SIMPLE_SELECTOR.fullmatch(selector):
                is_hiding[selector] = _hides(rules)
    return {selector for selector, hides in is_hiding.items() if hides}


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
MIN_REPEATED = 12  # words of a block that is left out where it repeats others
MAX_REPEATED = 0.9  # share of its shingles
MIN_COVERED = 0.85  # share of the main text that the page's blocks must hold


def _article(blocks: list[Block], main_text: str) -> str:
    """Return the blocks of the main text that trafilatura found, and those it left out within it.

    The main text itself is returned where it doesn't come from the blocks.
    """
    shingles = [set(_shingles(block.raw)) for block in blocks]
    main_shingles = set(_shingles(main_text))
    known = main_shingles.union(*(_shingles(line) for line in main_text.split("\n")))
    if "\n" not in main_text:  # a short page on one line with its headings
        known.update(_shingles(main_text, 2), _shingles(main_text, 1))
    is_main = [2 * len(own & known) >= len(own) > 0 for own in shingles]
    found = " ".join(block.raw for block, main in zip(blocks, is_main, strict=True) if main)
    if len(main_shingles.intersection(_shingles(found))) <= MIN_COVERED * len(main_shingles):
        return main_text.replace("\n", "\n\n")
    article = _Article(blocks, is_main)
    allowed = Counter(_shingles(main_text))
    used: Counter[int] = Counter()
    chosen: list[Block] = []
    for number, block in enumerate(blocks):
        if not article.contains(number):
            continue
        told = sum(used[shingle] >= max(1, allowed[shingle]) for shingle in shingles[number])
        is_long = len(block.raw.split()) >= MIN_REPEATED
        if is_long and told > MAX_REPEATED * len(shingles[number]):
            continue
        chosen.append(block)
        used.update(shingles[number])
    return join_blocks(chosen)


def _shingles(text: str, size: int = SHINGLE) -> list[int]:
    """Return the hashes of runs of words; of a shorter text, that of the whole."""
    words = _WORD.findall(text.lower())
    size = min(size, len(words))
    return [hash(tuple(words[n : n + size])) for n in range(len(words) - size + 1) if size]


class _Article:
    """Where the main text of a page begins and ends, and what stands beside it."""

    def __init__(self, blocks: list[Block], is_main: list[bool]) -> None:
        self._blocks, self._is_main = blocks, is_main
        main = [n for n in range(len(blocks)) if is_main[n]]
        prose = [n for n in main if _is_sentence(blocks[n].raw)] or main or [0]
        titles = [n for n in range(prose[0]) if tag_of(blocks[n].element) == "h1"]
        self._first = titles[-1] if titles else prose[0]
        self._last = prose[-1]
        self._elements: set[_Element] = set()  # that hold main text
        for number in (self._first, *prose):
            element = blocks[number].element
            self._elements.update((element, *element.iterancestors()))

    def contains(self, number: int) -> bool:
        """Return True if a block belongs to the article."""
        block, is_main = self._blocks[number], self._is_main[number]
        is_within = self._first <= number <= self._last
        if is_main and is_within:
            return True
        if not (is_main or _is_prose(block)):
            return False
        container = self._container(block)
        if container is None:
            return False
        return is_main or is_within or container == "aside"

    def _container(self, block: Block) -> str | None:
        """Return the tag of the outermost element around a block without main text.

        None where it is navigation, a link, a form or the like.
        """
        tag = ""
        for element in (block.element, *block.element.iterancestors()):
            if element in self._elements:
                return tag
            tag = tag_of(element)
            marks = f"{element.get('class') or ''} {element.get('id')} {element.get('role')}"
            if tag in _BOILERPLATE_TAGS or _is_boilerplate(marks):
                return None
        return None


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


@lru_cache(5_000)
def _is_boilerplate(marks: str) -> bool:
    return _BOILERPLATE.search(_JOINT.sub(" ", marks)) is not None
