"""EPUB: the chapters in the order of the spine, each read as HTML (EPUB 3.3, section 5)."""

from __future__ import annotations

import posixpath
from urllib.parse import unquote

from attribution.errors import FetchFailed
from attribution.extraction.content_type import HTML
from attribution.extraction.html import read_html
from attribution.extraction.package import Package
from attribution.extraction.page import Extracted, clean

MAX_CHAPTERS = 2_000
_OPF = "{http://www.idpf.org/2007/opf}"


def read_epub(content: bytes, media_type: str, name: str) -> Extracted:
    """Title and text. FetchFailed(encrypted) for a book with rights management."""
    package = Package(content, name)
    if "META-INF/rights.xml" in package.members:
        raise FetchFailed("encrypted", f"{name} is encrypted (rights management); add an unprotected copy", name)
    container = package.xml("META-INF/container.xml")
    root = next(container.iter("{*}rootfile")).get("full-path")
    book = package.xml(root)
    items = {item.get("id"): item.get("href", "") for item in book.iter(f"{_OPF}item")}
    hrefs = [items.get(ref.get("idref"), "").partition("#")[0] for ref in book.iter(f"{_OPF}itemref")]
    # A book must not name a chapter twice (EPUB 3.3, 5.8.2); a hostile one names it two thousand times.
    chapters = dict.fromkeys(
        posixpath.normpath(posixpath.join(posixpath.dirname(root), unquote(href))) for href in hrefs if href
    )
    if len(chapters) > MAX_CHAPTERS:
        message = f"{name} has {len(chapters):,} chapters, at most {MAX_CHAPTERS:,} are read; split it"
        raise FetchFailed("too_large", message, name)
    texts = [clean(read_html(package.read(chapter), HTML, name).text) for chapter in chapters]
    title = book.findtext(".//{http://purl.org/dc/elements/1.1/}title") or ""
    return Extracted(title, "\n\n".join(filter(None, texts)))
