"""Markdown → nodes whose texts know their place in the source, so that claims can be marked exactly.

Links that are not http(s) show their words alone, images their description.
"""

from __future__ import annotations

from attribution.text.markdown import Element, read
from attribution.text.markdown import Text as Written
from pages.ui.html.links import safe_url
from pages.ui.html.render import Node, Text, Tree, el

_HEADINGS = {f"h{n}": f"h{min(6, n + 1)}" for n in range(1, 7)}  # h1 is the page's


def parse(source: str) -> list[Tree]:
    """The blocks of a text."""
    return _children(read(source))


def _children(element: Element) -> list[Tree]:
    nodes: list[Tree] = []
    for child in element.children:
        if isinstance(child, Written):
            nodes.append(Text(child.text, child.start, 0 if child.verbatim else child.end - child.start))
        elif child.tag in ("cite", "img", "a") or child.role == "tight":
            nodes += [*_children(child), *_link(child.href)]
        else:
            nodes.append(_node(child))
    return nodes


def _node(element: Element) -> Node:
    tag = _HEADINGS.get(element.tag, element.tag)
    if tag in ("br", "hr"):
        return el(tag)
    if tag == "th" and not element.children:
        tag = "td"  # an empty heading of a column says nothing to a screen reader
    number = {"li": "value", "ol": "start"}.get(tag)
    return el(tag, *_children(element), **({number: element.number} if number and element.number.isdigit() else {}))


def _link(href: str) -> list[Tree]:
    """The words of a link are a claim's; an arrow after them opens it."""
    if not safe_url(href):
        return []
    label = "Open the link of the answer"
    return [el("a", "↗", href=href, class_="out", target="_blank", rel="noopener noreferrer", aria_label=label)]
