"""Build HTML from nodes. Only this module turns foreign text into HTML, and it escapes all of it.

A view is a tree of nodes whose tags and attributes come from two short lists. `html` escapes every
text in it; `data`
returns the same tree for a component, which builds it with createElement and textContent.
"""

from __future__ import annotations

import html as _html
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote, urlsplit

from attribution.types import BADGES, WEAK, Label, Relation


@dataclass(frozen=True)
class Look:
    """The icon, words and colours (ink on tint, light and dark) of a verdict; `line` is the
    underline of its span.
    """

    icon: str
    word: str
    noun: str  # after a count
    ink: str
    tint: str
    dark_ink: str
    dark_tint: str
    line: str
    help: str
    weak_word: str = ""  # of a badge that is not sure


LOOKS: dict[Label, Look] = {
    "supported": Look(
        "✓",
        "Supported",
        "supported",
        "#116329",
        "#d6f5dc",
        "#7ee2a0",
        "#12351f",
        "solid",
        "A source supports it, and none contradicts it (entailment). Don't rely on it for rumours.",
        "Likely supported",
    ),
    "contradicted": Look(
        "✗",
        "Contradicted",
        "contradicted",
        "#a40e26",
        "#ffe3e1",
        "#ffa198",
        "#471418",
        "double",
        "A source contradicts it, and none supports it (contradiction).",
        "Possibly contradicted",
    ),
    "conflicting": Look(
        "⚡",
        "Conflicting",
        "conflicting",
        "#7a4b00",
        "#ffedc2",
        "#f2c46d",
        "#3d2a05",
        "wavy",
        "Some sources support it, others contradict it.",
    ),
    "unclear": Look(
        "≈",
        "Unclear",
        "unclear",
        "#2f5573",
        "#dfeaf3",
        "#a9cbe6",
        "#1f3547",
        "dotted",
        "Related passages are inconclusive: read them.",
    ),
    "no_relation": Look(
        "○",
        "Nothing related",
        "with nothing related",
        "#444c56",
        "#e6eaef",
        "#b6c0cc",
        "#2b3138",
        "dotted",
        "Passages were found, but none supports or contradicts it (neutral).",
    ),
    "missing": Look(
        "?",
        "Not found",
        "not found",
        "#4a3a78",
        "#ece6fb",
        "#cbb8ff",
        "#2c2349",
        "dashed",
        "No matching passage was found; the claim says why.",
    ),
    "not_reached": Look(
        "◌",
        "Not reached",
        "not reached",
        "#4d5560",
        "#f6f4f1",
        "#aab3bd",
        "#201f1d",
        "dashed",
        "The run ended before this claim was compared with its sources.",
    ),
    "not_checked": Look(
        "–",
        "Not checked",
        "not checked",
        "#57606a",
        "transparent",
        "#9aa4af",
        "transparent",
        "none",
        "An opinion, a question or an offer: there is nothing to verify.",
    ),
}
PALE = "40%"  # of its tint, for a weak badge
PENDING = Look(
    "·",
    "Being checked",
    "being checked",
    "#57606a",
    "#f1efec",
    "#9aa4af",
    "#23211e",
    "none",
    "Not decided yet.",
)
RELATIONS: dict[Relation, tuple[Label, str]] = {
    "entailed": ("supported", "Supports"),
    "contradicted": ("contradicted", "Contradicts"),
    "no_relation": ("no_relation", "Nothing related"),
}


@cache
def look(badge: str | None) -> Look:
    """Return the look of a label or a weak badge; a claim without one is pending."""
    found = next(
        (style for label, style in LOOKS.items() if label == (badge or "").removeprefix(WEAK)),
        PENDING,
    )
    if not badge or not badge.startswith(WEAK) or not found.weak_word:
        return found
    return replace(found, word=found.weak_word, noun=found.weak_word.lower())


def counted(badges: Mapping[str, int]) -> list[str]:
    """Say how many claims have each badge, errors and doubts first: "1 contradicted", "6 likely
    supported".
    """
    return [f"{badges[name]} {look(name).noun}" for name in BADGES if badges.get(name)]


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


def _directive(text: str) -> str:
    """Percent-encode for a text fragment, in which `-`, `,` and `&` have a meaning."""
    return quote(text, safe="").replace("-", "%2D")


_ROW = re.compile(
    r"([^:;|.!?]{1,60}): .*[^.!?]|([^|]+?) \| .*"
)  # as tables are read: "Graz: inhabitants 290,000"


def link_to_sentence(url: str, sentence: str) -> str | None:
    """Add a text fragment that opens an address at the sentence; a long one is given by its first
    and last words.

    The row of a table is given by its first cell and its last word: between them a page has no
    colons.
    """
    safe = safe_url(url)
    if safe is None:
        return None
    words = sentence.split()
    if not words:
        return safe
    whole = " ".join(words)
    if row := _ROW.fullmatch(whole):
        directive = f"{_directive(row[1] or row[2])},{_directive(words[-1])}"
    elif len(whole) <= 120 or len(words) < 8:
        directive = _directive(whole)
    else:
        directive = f"{_directive(' '.join(words[:4]))},{_directive(' '.join(words[-4:]))}"
    base, mark, fragment = safe.partition("#")
    fragment = fragment.partition(":~:")[0]
    return f"{base}#{fragment}:~:text={directive}" if mark else f"{base}#:~:text={directive}"


BLOCKS = frozenset(
    (
        "p",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "ul",
        "ol",
        "li",
        "table",
        "thead",
        "tbody",
        "tr",
        "th",
        "td",
        "blockquote",
    )
    + ("pre", "hr", "div", "section", "article", "dl", "dt", "dd", "details", "summary")
)
INLINE = frozenset(("span", "strong", "em", "del", "code", "a", "br", "progress", "button", "sup"))
ATTRIBUTES = frozenset(
    (
        "class",
        "href",
        "target",
        "rel",
        "title",
        "role",
        "start",
        "value",
        "max",
        "dir",
        "type",
        "id",
        "tabindex",
    )
    + (
        "aria-label",
        "aria-hidden",
        "aria-pressed",
        "data-claim",
        "data-span",
        "data-page",
        "data-at",
        "data-edit",
    )
    + ("data-step", "data-note")
)
_TAGS = BLOCKS | INLINE
_VOID = frozenset(("br", "hr"))
_OWN_PLACE = re.compile(r"#?[a-z]+-\d+")  # in the same document: an id, or a link to it
STATIC = Path(__file__).parent / "static"
NODES_JS = (STATIC / "nodes.js").read_text("utf-8")  # builds a tree of nodes in the browser


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
    """Build a node without unsafe hrefs. In attribute names, a trailing underscore is dropped,
    others become `-`.
    """
    if tag not in _TAGS:
        raise ValueError(f"tag {tag!r} is not on the list")
    nodes = [Text(c) if isinstance(c, str) else c for c in children if c is not None]
    return Node(tag, _safe(attributes) if attributes else (), tuple(nodes))


def _safe(attributes: Mapping[str, str | int | None]) -> tuple[tuple[str, str], ...]:
    safe = []
    for key, value in attributes.items():
        name = _attribute(key)
        if name == "id" and not _OWN_PLACE.fullmatch(str(value)):
            raise ValueError(f"id {value!r} is not on the list")
        if (
            name == "href"
            and value is not None
            and not (str(value)[:1] == "#" and _OWN_PLACE.fullmatch(str(value)))
        ):
            value = safe_url(str(value))
        if value is not None and value != "":
            safe.append((name, str(value)))
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


# --- the looks of the verdicts ---


def tokens_css(selector: str) -> str:
    """Return the colours as CSS variables that follow the theme, and a class for each verdict; weak
    ones are paler.
    """
    names = {**{str(label): style for label, style in LOOKS.items()}, "pending": PENDING}
    variables = [
        f"--{n}-ink:light-dark({v.ink},{v.dark_ink});--{n}-tint:light-dark({v.tint},{v.dark_tint});"
        for n, v in names.items()
    ]
    weak = [n for n, v in names.items() if v.weak_word]
    variables += [
        f"--{n}-pale:color-mix(in srgb,var(--{n}-tint) {PALE},transparent);" for n in weak
    ]
    classes = [
        f".v-{n}{{--ink:var(--{n}-ink);--tint:var(--{n}-tint);--line:{v.line}}}"
        for n, v in names.items()
    ]
    classes += [f".v-{n}.weak{{--tint:var(--{n}-pale)}}" for n in weak]
    return f"{selector}{{{''.join(variables)}}}{''.join(classes)}"


def style_class(badge: str | None) -> str:
    """Return the classes that colour a badge."""
    label = (badge or "pending").removeprefix(WEAK)
    return f"v-{label}{' weak' * (label != (badge or label))}"


def badge(label: str | None, probability: float | None = None, word: str = "") -> Node:
    """Build a badge with icon, word and, if a passage decided, its probability."""
    style = look(label)
    number = el("span", f"{probability:.2f}", class_="num") if probability is not None else None
    return el(
        "span",
        el("span", style.icon, class_="icon", aria_hidden="true"),
        el("span", word or style.word),
        number,
        class_=f"badge {style_class(label)}",
        title=style.help,
    )


def plural(count: int, noun: str) -> str:
    """Return a count with its noun."""
    return f"{count:,} {noun}{'s' * (count != 1)}"


_NAME = re.compile(r"\S*[./_\d]\S")


def as_sentence(message: str) -> str:
    """Return a message with a full stop, and a capital letter unless it begins with a file's name
    or an address.
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


def scrolling(wide: Node, label: str) -> Node:
    """Wrap a wide table so that it scrolls, also by keyboard."""
    return el("div", wide, class_="ax-scroll", role="region", tabindex=0, aria_label=label)


def table(heads: Sequence[str], rows: Iterable[Sequence[Child]], class_: str = "ax-table") -> Node:
    """Build a table; cells keep the direction of their text."""
    body = [el("tr", *(el("td", cell, dir="auto") for cell in row)) for row in rows]
    return el(
        "table",
        el("thead", el("tr", *(el("th", head) for head in heads))),
        el("tbody", *body),
        class_=class_,
    )


_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"


def frame(page: str) -> str:
    """Return a whole HTML file as a frame inside another page, which its styles do not reach. Links
    open new tabs.
    """
    allowed = "allow-popups allow-popups-to-escape-sandbox"
    return (
        f'<iframe srcdoc="{html(Text(page))}" sandbox="{allowed}" title="Report"'
        f' style="width: 100%; height: 640px; border: 0"></iframe>'
    )


def document(title: str, css: str, body: Node) -> str:
    """Return a whole HTML file. Its policy keeps browsers from running or loading anything,
    whatever it contains.
    """
    heading = html(Text(title))
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n<meta name="referrer" content="no-referrer">\n'
        f"<title>{heading}</title>\n<style>\n{css}\n</style>\n</head>\n"
        f'<body>\n<main class="root">\n<h1 dir="auto">{heading}</h1>\n{html(body)}\n</main>\n</body>\n</html>\n'
    )
