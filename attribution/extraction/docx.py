"""DOCX: the paragraphs of word/document.xml in order, including those of tables (ECMA-376, part 1, section 17)."""

from __future__ import annotations

from attribution.extraction.package import Package
from attribution.extraction.page import Extracted

_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_BREAKS = {f"{_W}tab": "\t", f"{_W}br": "\n", f"{_W}cr": "\n"}


def read_docx(content: bytes, media_type: str, name: str) -> Extracted:
    """Title and text, one blank line between paragraphs; deleted text of tracked changes is left out."""
    package = Package(content, name)
    paragraphs = []
    for paragraph in package.xml("word/document.xml").iter(f"{_W}p"):
        parts = [(n.text or "") if n.tag == f"{_W}t" else _BREAKS.get(n.tag, "") for n in paragraph.iter()]
        paragraphs.append("".join(parts).strip())
    title = ""
    if "docProps/core.xml" in package.members:
        title = package.xml("docProps/core.xml").findtext("{http://purl.org/dc/elements/1.1/}title") or ""
    return Extracted(title, "\n\n".join(filter(None, paragraphs)))
