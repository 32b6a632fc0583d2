"""HTML → its main text, by trafilatura."""

from __future__ import annotations

import logging
from urllib.parse import urlsplit

from attribution.errors import FetchFailed, Unavailable
from attribution.extraction.content_type import decode
from attribution.extraction.page import Extracted
from attribution.extraction.paywalls import read_signs

MAX_ELEMENTS = 200_000
MAX_SCRIPT = 100_000  # characters of JSON metadata kept; trafilatura searches it with slow patterns
FAST_ELEMENTS = 10_000  # above this, no second opinion of trafilatura's, whose time grows with the square
for _name in ("trafilatura", "htmldate"):
    logging.getLogger(_name).addHandler(logging.NullHandler())  # a hostile page must not fill the terminal


def read_html(content: bytes, media_type: str, name: str) -> Extracted:
    """The main text with its title, date and site. FetchFailed: unreadable, too_large, paywall or needs_javascript."""
    try:
        import lxml.html  # type: ignore[import-untyped]
        from trafilatura import bare_extraction
    except ImportError as error:
        raise Unavailable("web pages cannot be read: pip install trafilatura lxml_html_clean", error) from error
    text = decode(content, media_type)
    if not text.strip():
        return Extracted("", "")
    parser = lxml.html.HTMLParser(encoding="utf-8", remove_comments=True, remove_pis=True, collect_ids=False)
    tree = lxml.html.document_fromstring(text.encode("utf-8", "replace"), parser=parser)
    if any("depth" in entry.message for entry in parser.error_log):
        raise FetchFailed("unreadable", f"{name} is nested too deeply to be read; paste its text as a document", name)
    size = sum(1 for _ in tree.iter())
    if size > MAX_ELEMENTS:
        message = f"{name} has {size:,} HTML elements, at most {MAX_ELEMENTS:,} are read; add only the part you need"
        raise FetchFailed("too_large", message, name)
    signs = read_signs(tree)
    scripts = 0
    for script in tree.iter("script"):
        is_json = "json" in script.get("type", "")
        scripts += len(script.text or "") if is_json else 0
        if not is_json or scripts > MAX_SCRIPT:
            script.text = None
    host = urlsplit(name).hostname or ""
    document = bare_extraction(
        tree,
        url=name if host else None,
        fast=size > FAST_ELEMENTS,
        with_metadata=True,
        include_comments=False,
        include_tables=True,
        date_extraction_params={"original_date": True, "extensive_search": False},
    )
    if document is None or isinstance(document, dict):
        extracted = Extracted("", "", site=host)
    else:
        extracted = Extracted(document.title or "", document.text or "", document.date or "", document.sitename or host)
    if failure := signs.failure(extracted.text, name):
        raise failure
    return extracted
