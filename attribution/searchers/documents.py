"""The user's own documents as sources: read once, held against every claim."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import PurePosixPath

from attribution.errors import FetchFailed
from attribution.extraction import extract, make_page
from attribution.media import SUFFIXES
from attribution.types import Document, Page, SearchHit

NAME = "documents"
SITE = "Your documents"
MAX_BYTES = 50_000_000
MAX_NAME = 120


class Documents:
    """Returns all its pages for every query, in their order: which passage fits is for the retrieval to say."""

    name = NAME

    def __init__(self, pages: Sequence[Page]) -> None:
        self._pages = tuple(pages)

    def search(self, query: str, k: int) -> list[SearchHit]:
        """Every document, also beyond k: what the user gave is never left out."""
        return [
            SearchHit(page.url, page.title, rank, NAME, query, page=page) for rank, page in enumerate(self._pages, 1)
        ]


def read_document(document: Document, max_bytes: int = MAX_BYTES) -> Page:
    """The page of a TXT, Markdown, HTML or PDF document. Raises FetchFailed with the document's name as subject."""
    name = safe_name(document.name)
    if (size := len(document.content)) > max_bytes:
        raise FetchFailed("too_large", f"{name} has {size:,} bytes, at most {max_bytes:,} are read; split it", name)
    suffix = PurePosixPath(name).suffix.lower()
    # The suffix decides over what a browser says, which often knows no Markdown; without either the bytes decide.
    extracted = extract(document.content, SUFFIXES.get(suffix, document.media_type), name)
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
