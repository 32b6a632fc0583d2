"""The user's own documents as sources: read in a process of its own, matched with every claim."""

from __future__ import annotations

from dataclasses import replace

from attribution.errors import FetchFailed
from attribution.extraction.page import make_page
from attribution.extraction.sandbox import Reading
from attribution.types import Document, Page

SITE = "Your documents"
MAX_BYTES = 50_000_000
MAX_NAME = 120


def read_document(document: Document, max_bytes: int = MAX_BYTES, reading: Reading | None = None) -> Page:
    """The page of a text, Markdown, HTML, PDF, DOCX or EPUB document; FetchFailed with its name as subject.

    Documents of one run are given the same `reading`.
    """
    name = safe_name(document.name)
    if (size := len(document.content)) > max_bytes:
        raise FetchFailed("too_large", f"{name} has {size:,} bytes, at most {max_bytes:,} are read; split it", name)
    extracted = (reading or Reading()).read(document.content, document.media_type, name, document=True)
    return make_page(f"document:{name}", "document", replace(extracted, title=extracted.title or name, site=SITE))


def safe_name(name: str) -> str:
    """The last component of a file name, on one line, without invisible characters."""
    last = name.replace("\\", "/").rstrip("/ ").rpartition("/")[2]
    visible = "".join(character for character in last if character.isprintable())
    stem, dot, suffix = " ".join(visible.split()).lstrip(". ").rpartition(".")
    if not stem:
        stem, dot, suffix = suffix, "", ""
    suffix = suffix[:20]
    return (stem[: MAX_NAME - len(dot + suffix)] + dot + suffix) or "document"
