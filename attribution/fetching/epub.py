"""Read the chapters of a book in EPUB."""

from __future__ import annotations

import html
import posixpath
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING
from urllib.parse import unquote

from attribution.errors import FetchFailed
from attribution.fetching.blocks import read_text
from attribution.fetching.content_type import decode
from attribution.fetching.html import parse, remove_hidden, visible_characters
from attribution.fetching.packages import TITLE, Package, parse_xml
from attribution.fetching.page import Extracted

if TYPE_CHECKING:
    from lxml.etree import _Element

MAX_NAMED = 5  # chapters that are absent
_CHAPTER_TYPE = re.compile("html|svg")
_NAMED_ENTITY = re.compile(r"&(?!(?:amp|lt|gt|quot|apos);)([A-Za-z]\w{1,30});")
_XML_DECLARATION = re.compile(r"^\s*<\?xml[^>]*\?>")
_IMAGE_SIGNATURES = (b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"RIFF")


def read_epub(content: bytes, media_type: str, name: str) -> Extracted:
    """Read the title and the chapters of a book in their order.

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
    texts = []
    absent = []
    for chapter in dict.fromkeys(_spine(book, root)):
        if chapter in package.members:
            texts.append(_read_chapter(package.read(chapter), name))
        else:
            absent.append(posixpath.basename(chapter)[:60])
    return Extracted(
        book.findtext(f".//{TITLE}") or "",
        "\n\n".join(filter(None, texts)),
        unread=", ".join(absent[:MAX_NAMED]),
    )


def _spine(book: _Element, root: str) -> Iterator[str]:
    """Yield the members of the chapters in order."""
    items = {item.get("id"): item for item in book.iter("{*}item")}
    for reference in book.iter("{*}itemref"):
        item = items.get(reference.get("idref"))
        if item is None:
            continue
        media_type = item.get("media-type") or ""
        if not _CHAPTER_TYPE.search(media_type):
            item = items.get(item.get("fallback"), item)  # EPUB 3.3, 3.5.1
            media_type = item.get("media-type") or ""
        if media_type.startswith("image/") and "svg" not in media_type:
            continue
        link = unquote((item.get("href") or "").partition("#")[0])
        yield posixpath.normpath(posixpath.join(posixpath.dirname(root), link))


def _read_chapter(content: bytes, name: str) -> str:
    """Read a chapter as XML where it is well formed, else as a web page."""
    import lxml.etree

    if content.startswith(_IMAGE_SIGNATURES):
        return ""
    markup = visible_characters(decode(content))
    xml = _XML_DECLARATION.sub("", markup)
    xml = _NAMED_ENTITY.sub(lambda match: html.unescape(match[0]), xml)
    try:
        tree = parse_xml(xml.encode())
    except lxml.etree.XMLSyntaxError:
        tree = parse(markup, name)
    remove_hidden(tree)
    for drawing in list(tree.iter("{*}svg")):
        for part in drawing.iter("{*}tspan"):
            part.text = f" {part.text or ''}" if part.get("x") else part.text
        lines = ["".join(text.itertext()) for text in drawing.iter("{*}text")]
        drawing.clear(keep_tail=True)
        drawing.tag = "p" if lines else "span"
        drawing.text = " ".join(lines)
    return read_text(tree)
