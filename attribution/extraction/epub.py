"""EPUB: the chapters in the order of the spine, each by the extraction of HTML (EPUB 3.3, section 5)."""

from __future__ import annotations

import posixpath
from urllib.parse import unquote

from attribution.errors import FetchFailed
from attribution.extraction.content_type import HTML
from attribution.extraction.html import extract
from attribution.extraction.package import Package

MAX_CHAPTERS = 2_000
_OPF = "{http://www.idpf.org/2007/opf}"


def read_epub(content: bytes, name: str) -> tuple[str, str]:
    """Title and text. FetchFailed(unreadable) for a book with rights management."""
    package = Package(content, name)
    if "META-INF/rights.xml" in package.members:
        raise FetchFailed("unreadable", f"{name} is encrypted (rights management); add a free copy", name)
    container = package.xml("META-INF/container.xml")
    root = next(container.iter("{*}rootfile")).get("full-path")
    book = package.xml(root)
    items = {item.get("id"): item.get("href", "") for item in book.iter(f"{_OPF}item")}
    spine = [items.get(ref.get("idref"), "") for ref in book.iter(f"{_OPF}itemref")]
    if len(spine) > MAX_CHAPTERS:
        raise FetchFailed("too_large", f"{name} has {len(spine):,} chapters, at most {MAX_CHAPTERS:,} are read", name)
    texts = []
    for href in filter(None, spine):
        member = posixpath.normpath(posixpath.join(posixpath.dirname(root), unquote(href.partition("#")[0])))
        try:
            texts.append(extract(package.read(member), HTML, name).text)
        except FetchFailed as error:
            if error.kind != "no_text":  # a cover or an empty page is no failure of the book
                raise
    return book.findtext(".//{http://purl.org/dc/elements/1.1/}title") or "", "\n\n".join(texts)
