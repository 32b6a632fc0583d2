"""PDF → its text, page by page, by pypdf."""

from __future__ import annotations

import io
import logging
import re
from urllib.parse import urlsplit

from attribution.errors import FetchFailed
from attribution.extraction.page import Extracted, clean

MAX_PAGES = 500
SHORTEST, SHORT = 30, 0.6  # characters, and share of the page's usual line: a shorter line was not wrapped
_HYPHEN = re.compile(r"[a-z]-$")
_ITEM = re.compile(r"\s*(?:[-*•–▪◦]|\(?\d{1,3}[.)\]]|\[\d{1,3}\])\s")
logging.getLogger("pypdf").addHandler(logging.NullHandler())  # a hostile file must not fill the terminal


def read_pdf(content: bytes, media_type: str, name: str) -> Extracted:
    """The text and each page's offset; an empty page has that of the next. FetchFailed: encrypted or too_large."""
    from pypdf import PdfReader

    reader = PdfReader(io.BytesIO(content))
    if reader.is_encrypted and not reader.decrypt(""):
        message = f"{name} is encrypted; save it without a password and add it as a document"
        raise FetchFailed("encrypted", message, name)
    if (count := len(reader.pages)) > MAX_PAGES:
        message = f"{name} has {count:,} pages, at most {MAX_PAGES} are read; add only the part you need"
        raise FetchFailed("too_large", message, name)
    texts = [join_lines(clean(page.extract_text())) for page in reader.pages]
    text = "\n\n".join(filter(None, texts))
    breaks, start = [], 0
    for own in texts:
        breaks.append(min(start, len(text)))
        start += len(own) + 2 if own else 0
    title = reader.metadata.title if reader.metadata else ""
    return Extracted(str(title or ""), text, site=urlsplit(name).hostname or "", breaks=tuple(breaks))


def join_lines(text: str) -> str:
    """The text without the line breaks that a page's width makes; words hyphenated at them are joined.

    A line is wrapped where it is about as long as the others and no item of a list follows.
    """
    lines = [line.strip() for line in text.split("\n")]
    lengths = sorted(len(line) for line in lines if line)
    usual = lengths[len(lengths) * 3 // 4] if lengths else 0
    joined = ""
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        wrapped = following and len(line) >= max(SHORTEST, SHORT * usual) and not _ITEM.match(following)
        if wrapped and _HYPHEN.search(line) and following[0].islower():
            joined += line[:-1]
        else:
            joined += line + (" " if wrapped else "\n")
    return joined.strip()
