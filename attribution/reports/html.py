"""Build HTML from nodes. Only this module turns foreign text into HTML, and it escapes all of it.

A view is a tree of nodes whose tags and attributes come from two short lists. `html` escapes every
text in it; `data` returns the same tree for a component, which builds it with createElement and
textContent.
"""

from __future__ import annotations

import html as _html
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote, urlsplit

from attribution.reports.looks import look, style_class

_UNSAFE = re.compile(
    r"[\x00-\x20\x7f-\x9f\\<>\"'`{}|^\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]"
)


def safe_url(url: str) -> str | None:
    """Return the address if a browser may follow it (http or https with a host), else None."""
    url = url.strip(" \t\r\n").replace("'", "%27")  # as in titles of wikis
    if _UNSAFE.search(url):
        return None
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        return None
    if parts.scheme.lower() not in ("http", "https") or not parts.hostname or "@" in parts.netloc:
        return None
    return url


def link_to_sentence(url: str, sentence: str) -> str | None:
    """Add a text fragment that opens an address at a sentence.

    Args:
        url: The address.
        sentence: A long one is given by its first and last words.

    Returns:
        None for an address that a browser may not follow.
    """
    address = safe_url(url)
    words = sentence.split()
    if address is None or not words:
        return address
    whole = " ".join(words)
    if len(whole) <= 120 or len(words) < 8:
        ends = [whole]
    else:
        ends = [" ".join(words[:4]), " ".join(words[-4:])]
    # `-`, `,` and `&` have a meaning in a text fragment.
    directive = ",".join(quote(end, safe="").replace("-", "%2D") for end in ends)
    base, _, fragment = address.partition("#")
    return f"{base}#{fragment.partition(':~:')[0]}:~:text={directive}"


BLOCKS = frozenset(
    "p h2 h3 h4 h5 h6 ul ol li table thead tbody tr th td blockquote pre hr div section article "
    "dl dt dd details summary".split()
)
INLINE = frozenset("span strong em del code a br progress button sup".split())
ATTRIBUTES = frozenset(
    "class href target rel title role value max dir type id tabindex aria-label aria-hidden "
    "aria-pressed data-claim data-span data-page data-at data-edit".split()
)
_TAGS = BLOCKS | INLINE
_VOID = frozenset(("br", "hr"))
_OWN_PLACE = re.compile(r"#[a-z]+-\d+")  # a link to one of our ids
STATIC = Path(__file__).parent / "static"
NODES_JS = (STATIC / "nodes.js").read_text("utf-8")  # builds a tree of nodes in the browser
VERDICTS_CSS = (STATIC / "verdicts.css").read_text("utf-8")  # the colours of badges and groups


class Text(NamedTuple):
    """A text, and its start in the text it comes from (-1: our own text)."""

    text: str
    start: int = -1
    written: int = 0  # number of source characters, if they differ (an escape or entity)

    @property
    def end(self) -> int:
        return self.start + (self.written or len(self.text))


class Node(NamedTuple):  # faster to create than a frozen dataclass; a page has 20,000
    tag: str
    attributes: tuple[tuple[str, str], ...] = ()
    children: tuple[Tree, ...] = ()

    def with_children(self, children: list[Tree]) -> Node:
        return self._replace(children=tuple(children))


Tree = Node | Text
Child = Tree | str | None


def el(tag: str, *children: Child, **attributes: str | int | None) -> Node:
    """Build a node.

    Args:
        tag: One of BLOCKS or INLINE.
        children: Nodes and texts; None is left out.
        attributes: Of ATTRIBUTES. In their names, a trailing underscore is dropped, others become
            `-`. Empty ones and unsafe hrefs are left out.

    Raises:
        ValueError: A tag or an attribute is not on the list.
    """
    if tag not in _TAGS:
        raise ValueError(f"tag {tag!r} is not on the list")
    nodes = [Text(c) if isinstance(c, str) else c for c in children if c is not None]
    return Node(tag, _safe(attributes) if attributes else (), tuple(nodes))


def _safe(attributes: Mapping[str, str | int | None]) -> tuple[tuple[str, str], ...]:
    safe: list[tuple[str, str]] = []
    for key, value in attributes.items():
        name = _attribute(key)
        text = "" if value is None else str(value)
        if name == "href" and not _OWN_PLACE.fullmatch(text):
            text = safe_url(text) or ""
        if text:
            safe.append((name, text))
    return tuple(safe)


@cache
def _attribute(key: str) -> str:
    name = key.rstrip("_").replace("_", "-")
    if name not in ATTRIBUTES:
        raise ValueError(f"attribute {name!r} is not on the list")
    return name


def html(tree: Tree) -> str:
    """Return the escaped HTML of a tree."""
    if isinstance(tree, Text):
        return _html.escape(tree.text, quote=True)
    attributes = "".join(
        f' {name}="{_html.escape(value, quote=True)}"' for name, value in tree.attributes
    )
    if tree.tag in _VOID:
        return f"<{tree.tag}{attributes}>"
    return f"<{tree.tag}{attributes}>{''.join(map(html, tree.children))}</{tree.tag}>"


def data(tree: Tree) -> object:
    """Return a tree as JSON: a text is a string, a node is [tag, attributes or 0, child, …]."""
    if isinstance(tree, Text):
        return tree.text
    children = [c.text if isinstance(c, Text) else data(c) for c in tree.children]
    return [tree.tag, dict(tree.attributes) or 0, *children]


def texts(tree: Tree) -> Iterator[Text]:
    """Yield all texts of a tree, in order."""
    if isinstance(tree, Text):
        yield tree
    else:
        for child in tree.children:
            yield from texts(child)


# --- parts of pages ---


def badge(label: str | None, word: str = "", is_own: bool = False) -> Node:
    """Build a badge.

    Args:
        label: A label or a weak badge; None while a claim is being checked.
        word: In place of the label's own.
        is_own: It is the analyst's, which is filled.
    """
    style = look(label)
    icon = el("span", style.icon, class_="icon", aria_hidden="true")
    words = el("span", word or style.word)
    classes = f"badge {style_class(label)}{' own' * is_own}"
    return el("span", icon, words, class_=classes, title=style.help)


def plural(count: int, noun: str) -> str:
    """Return a count with its noun."""
    return f"{count:,} {noun}{'s' * (count != 1)}"


_NAME = re.compile(r"\S*[./_\d]\S")


def as_sentence(message: str) -> str:
    """Return a message with a capital letter and a full stop.

    The name of a file or an address at its beginning stays as it is.
    """
    first = message if _NAME.match(message) else message[:1].upper() + message[1:]
    return first + "." * (message[-1:].isalnum() or message[-1:] in tuple("”)`"))


def with_detail(message: str, detail: str) -> Node:
    """Show a problem as a sentence, with the details folded."""
    return el("div", *with_code(as_sentence(message)), folded(detail))


def with_code(text: str) -> list[Child]:
    """Return the text with what stands between backticks as code."""
    parts = text.split("`")
    return [
        el("code", part) if n % 2 and n < len(parts) - 1 else part for n, part in enumerate(parts)
    ]


def folded(detail: str) -> Node | None:
    """Fold the details in the words of another library or a server; None if there are none."""
    if not detail:
        return None
    return el("details", el("summary", "Details"), el("p", detail, dir="auto"), class_="ax-detail")


def link(text: str, address: str, class_: str, label: str = "") -> Node:
    """Build a link that opens a new tab.

    Args:
        text: What it shows.
        address: Where it leads.
        class_: Its CSS class.
        label: A longer text for screen readers.
    """
    return el(
        "a",
        text,
        href=address,
        aria_label=label,
        target="_blank",
        rel="noopener noreferrer",
        class_=class_,
    )


def scrolling(wide: Node, label: str) -> Node:
    """Wrap a wide table so that it scrolls, also by keyboard."""
    return el("div", wide, class_="ax-scroll", role="region", tabindex=0, aria_label=label)


def table(heads: Sequence[str], rows: Iterable[Sequence[Child]], class_: str = "ax-table") -> Node:
    """Build a table. Cells keep the direction of their text.

    Args:
        heads: A text for each column.
        rows: As many cells as there are heads.
        class_: Its CSS class.
    """
    head = el("tr", *(el("th", name) for name in heads))
    body: list[Node] = []
    for row in rows:
        body.append(el("tr", *(el("td", cell, dir="auto") for cell in row)))
    return el("table", el("thead", head), el("tbody", *body), class_=class_)


_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"


def document(title: str, css: str, body: Node) -> str:
    """Return a whole HTML file.

    Its policy keeps browsers from running or loading anything, whatever it contains.

    Args:
        title: Also the heading.
        css: Our own styles.
        body: What follows the heading.
    """
    heading = html(Text(title))
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        '<meta name="referrer" content="no-referrer">\n'
        f"<title>{heading}</title>\n<style>\n{css}\n</style>\n</head>\n"
        f'<body>\n<main class="root">\n<h1 dir="auto">{heading}</h1>\n'
        f"{html(body)}\n</main>\n</body>\n</html>\n"
    )
