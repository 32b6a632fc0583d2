"""Bytes of a document → its text, by media type; what is in no table goes to the extraction of web pages."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import PurePosixPath

from attribution.errors import FetchFailed
from attribution.extraction.content_type import SUFFIXES
from attribution.extraction.docx import read_docx
from attribution.extraction.epub import read_epub
from attribution.extraction.html import Extracted, clean, extract, one_line

READERS: dict[str, Callable[[bytes, str], tuple[str, str]]] = {".docx": read_docx, ".epub": read_epub}
READABLE = frozenset((*SUFFIXES, *READERS))


def read(content: bytes, name: str, media_type: str = "") -> Extracted:
    """Title and text. FetchFailed: wrong_type, unreadable (also encrypted), too_large or no_text."""
    if not content:
        raise FetchFailed("no_text", f"{name} is empty", name)
    suffix = PurePosixPath(name).suffix.lower()
    reader = READERS.get(suffix)
    if reader is None:
        return extract(content, SUFFIXES.get(suffix, media_type), name)
    try:
        title, text = reader(content, name)
    except FetchFailed:
        raise
    except Exception as error:  # zip and XML parsers fail in many ways on hostile input
        raise FetchFailed("unreadable", f"{name} is damaged ({type(error).__name__}); save it again", name) from error
    if not (text := clean(text)):
        raise FetchFailed("no_text", f"{name} holds no text; paste its text instead", name)
    return Extracted(one_line(title), text)
