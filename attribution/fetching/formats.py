"""Read HTML, PDF, DOCX, EPUB and plain text into text, by media type or suffix."""

from __future__ import annotations

import io
import logging
import posixpath
import re
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import PurePosixPath
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from attribution.errors import AttributionError, FetchFailed, Unavailable
from attribution.fetching.content_type import DOCX, EPUB, HTML, MARKDOWN, PDF, PLAIN, SUFFIXES, actual_type, decode
from attribution.fetching.page import Extracted, clean, is_placeholder, one_line, read_signs, valid_date

if TYPE_CHECKING:
    from lxml.etree import _Element

MAX_MEMBER = 50_000_000  # bytes of one unpacked member …
MAX_TOTAL = 100_000_000  # … and of all members that are read


class Package:
    """An open package. FetchFailed: encrypted, or wrong_type where the bytes are not a ZIP archive."""

    def __init__(self, content: bytes, name: str) -> None:
        self._name, self._left = name, MAX_TOTAL
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(content))
        except zipfile.BadZipFile:
            if content.startswith(b"\xd0\xcf\x11\xe0"):  # an Office file with a password is an OLE container
                raise self._encrypted() from None
            message = f"{name} is not a {name.rpartition('.')[2][:8].upper()} file; save it again"
            raise FetchFailed("wrong_type", message, name) from None
        self.members = frozenset(self._zip.namelist())

    def read(self, member: str) -> bytes:
        """The member's bytes. They are counted while unpacking, because the size that an archive declares may be a lie.

        FetchFailed: unreadable (no such member), encrypted or too_large.
        """
        if member not in self.members:
            raise FetchFailed("unreadable", f"{self._name} lacks its part {member[:80]!r}; save it again", self._name)
        if self._zip.getinfo(member).flag_bits & 1:
            raise self._encrypted()
        limit = min(MAX_MEMBER, self._left)
        with self._zip.open(member) as stream:
            data = stream.read(limit + 1)
        if len(data) > limit:
            raise FetchFailed("too_large", f"{self._name} unpacks to more than {limit:,} bytes; split it", self._name)
        self._left -= len(data)
        return data

    def xml(self, member: str) -> _Element:
        """The member's root element. FetchFailed(unreadable) for a document type, where entity bombs are declared."""
        import lxml.etree

        parser = lxml.etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False)
        root = lxml.etree.fromstring(self.read(member), parser)
        if root.getroottree().docinfo.internalDTD is not None:
            raise FetchFailed("unreadable", f"{self._name} declares XML entities, which are not read", self._name)
        return root

    def _encrypted(self) -> FetchFailed:
        return FetchFailed("encrypted", f"{self._name} is encrypted; save it without a password", self._name)


MAX_ELEMENTS = 200_000
MAX_SCRIPT = 100_000  # characters of JSON metadata kept; trafilatura searches it with slow patterns
FAST_ELEMENTS = 10_000  # above this, no second opinion of trafilatura's, whose time grows with the square
for _name in ("trafilatura", "htmldate"):
    logging.getLogger(_name).addHandler(logging.NullHandler())  # a hostile page must not fill the terminal


def read_html(content: bytes, media_type: str, name: str) -> Extracted:
    """The main text with its title, date and site. FetchFailed: unreadable, too_large, paywall or needs_javascript."""
    try:
        import lxml.html
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
        tree, url=name if host else None, fast=size > FAST_ELEMENTS, with_metadata=True, include_comments=False,
        include_tables=True, date_extraction_params={"original_date": True, "extensive_search": False},
    )  # fmt: skip
    if document is None or isinstance(document, dict):
        extracted = Extracted("", "", site=host)
    else:
        extracted = Extracted(document.title or "", document.text or "", document.date or "", document.sitename or host)
    if failure := signs.failure(extracted.text, name):
        raise failure
    return extracted


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
    title = reader.metadata.title if reader.metadata else ""
    return replace(paged(texts), title=str(title or ""), site=urlsplit(name).hostname or "")


def paged(texts: Sequence[str]) -> Extracted:
    """Join the texts of pages, none of which has blank lines at its ends; an empty page begins where the next does."""
    text = "\n\n".join(filter(None, texts))
    breaks, start = [], 0
    for own in texts:
        breaks.append(min(start, len(text)))
        start += len(own) + 2 if own else 0
    return Extracted("", text, breaks=tuple(breaks))


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


MAX_TEXT = 5_000_000  # characters, about one and a half times War and Peace: more would fill memory when it is searched
_NO_MEMORY = 2  # what lxml's XMLSyntaxError has as code where memory ran out
_HEADING = re.compile(r"^#[ \t]+(\S.*)$", re.MULTILINE)


def read_plain(content: bytes, media_type: str, name: str) -> Extracted:
    """The text as it is. Form feeds divide it into pages, as in what `pdftotext` writes."""
    text = decode(content, media_type)
    pages = text.split("\f")
    return paged([clean(page) for page in pages]) if 1 < len(pages) <= MAX_PAGES else Extracted("", text)


def read_markdown(content: bytes, media_type: str, name: str) -> Extracted:
    """The Markdown as it is, under its first heading as title."""
    text = decode(content, media_type)
    heading = _HEADING.search(text[:5000])
    return Extracted(heading[1] if heading else "", text)


READERS: dict[str, Callable[[bytes, str, str], Extracted]] = {
    HTML: read_html,
    PDF: read_pdf,
    DOCX: read_docx,
    EPUB: read_epub,
    MARKDOWN: read_markdown,
    PLAIN: read_plain,
}


def reader_of(content: bytes, media_type: str, name: str, document: bool = False) -> tuple[str, str]:
    """The media type by which bytes are read, and the declared one, which may carry a charset.

    FetchFailed: wrong_type, or no_text where there are none.
    """
    if document:
        media_type = SUFFIXES.get(PurePosixPath(name).suffix.lower(), media_type)
    if not content:
        raise FetchFailed("no_text", f"{name} is empty", name)
    packaged = document and media_type in (DOCX, EPUB)
    return media_type if packaged else actual_type(media_type, content, name), media_type


def extract(content: bytes, media_type: str, name: str, document: bool = False) -> Extracted:
    """The readable text. `media_type` is a Content-Type and may carry a charset; the suffix of a `document`'s name
    overrides it.

    FetchFailed: wrong_type, unreadable, encrypted, too_large, paywall, needs_javascript or no_text.
    """
    kind, media_type = reader_of(content, media_type, name, document)
    try:
        extracted = READERS[kind](content, media_type, name)
    except (AttributionError, MemoryError):
        raise
    except Exception as error:  # parsers fail in many ways on hostile input
        if getattr(error, "code", 0) == _NO_MEMORY:
            raise MemoryError from error
        message = f"{name} is damaged or malformed; paste its text as a document instead"
        raise FetchFailed("unreadable", message, name, detail=repr(error)) from error
    text = clean(extracted.text)
    if not text:
        scan = "; scanned PDFs look like this" if kind == PDF else ""
        raise FetchFailed("no_text", f"no text was found in {name}{scan}. Paste its text as a document", name)
    if len(text) > MAX_TEXT:
        message = f"{name} has {len(text):,} characters of text, at most {MAX_TEXT:,} are read; split it"
        raise FetchFailed("too_large", message, name)
    published = valid_date(extracted.published)
    title = one_line(extracted.title)
    if kind in (PDF, DOCX, EPUB) and is_placeholder(title):
        title = ""
    return Extracted(title, text, published, one_line(extracted.site), extracted.breaks)
