"""Detect the media type of bytes, whatever they are declared to be, and decode their text."""

from __future__ import annotations

import re
from contextlib import suppress

from w3lib.encoding import html_to_unicode, read_bom

from attribution.errors import FetchFailed

PDF = "application/pdf"
HTML = "text/html"
XHTML = "application/xhtml+xml"
MAIL = "message/rfc822"
PLAIN = "text/plain"
MARKDOWN = "text/markdown"
DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
EPUB = "application/epub+zip"
XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
PPTX = "application/vnd.openxmlformats-officedocument.presentationml.presentation"
ODF = "application/vnd.oasis.opendocument.text"
RTF = "application/rtf"
CSV = "text/csv"
READ = "application/x-read+json"  # what was read from a file before: the fields of Extracted
PACKAGED = (DOCX, EPUB, XLSX, PPTX, ODF)  # ZIP archives
KINDS = {  # of files, with their suffixes
    "TXT, SRT, VTT": (PLAIN, ".txt .text .srt .vtt"),
    "Markdown": (MARKDOWN, ".md .markdown"),
    "HTML": (HTML, ".html .htm .xhtml"),
    "EML": (MAIL, ".eml"),
    "PDF": (PDF, ".pdf"),
    "DOCX": (DOCX, ".docx"),
    "PPTX": (PPTX, ".pptx"),
    "ODT": (ODF, ".odt .odp .ods"),
    "RTF": (RTF, ".rtf"),
    "EPUB": (EPUB, ".epub"),
    "XLSX": (XLSX, ".xlsx"),
    "CSV, TSV": (CSV, ".csv .tsv .tab"),
}
SUFFIXES = {
    suffix: media_type for media_type, suffixes in KINDS.values() for suffix in suffixes.split()
}
EXPECTED = "expected text, HTML, PDF or an Office file"

_UNNAMED = (
    "",
    "application/octet-stream",
    "binary/octet-stream",
    "application/x-download",
    "application/force-download",
)
_SAME_AS = {
    **{name: name for name in (HTML, MAIL, PLAIN, MARKDOWN, PDF, CSV, RTF)},
    XHTML: HTML,
    "text/tab-separated-values": CSV,
    "text/rtf": RTF,
    "text/vtt": PLAIN,
    "application/x-subrip": PLAIN,
}
_SIGNATURES = {
    b"\x89PNG\r\n": "a PNG image",
    b"\xff\xd8\xff": "a JPEG image",
    b"PK\x03\x04": "a ZIP archive or an Office file",
    b"\xd0\xcf\x11\xe0": "an old Office file",
}
_CONTROLS = bytes(set(range(32)) - set(b"\t\n\r\f\v\x1b"))
_CHARSETS = (  # of other scripts than Latin
    "cp1251 koi8_r cp1253 cp1255 cp1256 cp874 gb18030 big5 shift_jis euc_jp euc_kr".split()
)
_PROLOG = rb"\s*(?:<\?xml[^>]{0,200}>\s*)?(?:<!--.{0,500}?-->\s*)?"
_HTML_START = re.compile(_PROLOG + rb"<(?:!doctype html|html|head|body)\b", re.I | re.S)


def check_declared(media_type: str, subject: str) -> None:
    """Check a Content-Type before anything is downloaded.

    Raises:
        FetchFailed: wrong_type for one that cannot be read.
    """
    kind = _essence(media_type)
    if kind not in _SAME_AS and kind not in _UNNAMED:
        message = f"{subject} is declared as {kind[:60]}; {EXPECTED}"
        raise FetchFailed("wrong_type", message, subject)


def actual_type(media_type: str, content: bytes, subject: str) -> str:
    """Return the media type by the first bytes.

    Raises:
        FetchFailed: wrong_type if they are not of the declared type.
    """
    check_declared(media_type, subject)
    declared = _SAME_AS.get(_essence(media_type), "")
    head = content[:2048]
    if head.lstrip().startswith(b"%PDF-") or declared in ("", PDF) and b"%PDF-" in head[:1024]:
        return PDF
    if head.startswith(b"{\\rtf"):
        return RTF
    unwanted = _unwanted_type(head)
    if unwanted or declared == PDF:
        kind = unwanted or f"no {declared}"
        raise FetchFailed("wrong_type", f"{subject} is {kind}; {EXPECTED}", subject)
    if _HTML_START.match(head) and declared not in (MARKDOWN, CSV):
        return HTML
    return declared or PLAIN


def _unwanted_type(head: bytes) -> str:
    """Return what bytes are that can't be read as text; empty for text."""
    for signature, name in _SIGNATURES.items():
        if head.startswith(signature):
            return name
    controls = len(head) - len(head.translate(None, _CONTROLS))
    is_binary = not read_bom(head)[0] and controls > max(3, len(head) // 50)
    return "binary data" if is_binary else ""


def decode(content: bytes, media_type: str = "") -> str:
    """Decode as UTF-8, whatever is declared, else by BOM, Content-Type, HTML or a guess."""
    with suppress(UnicodeDecodeError):
        return content.decode("utf-8-sig")
    encoding, text = html_to_unicode(media_type, content, auto_detect_fun=_guess)
    return content.decode(_guess(content), "replace") if encoding == "utf-8" else text


def _guess(content: bytes) -> str:
    """Guess the charset of bytes that are not all UTF-8; in Latin script few are beyond ASCII."""
    from charset_normalizer import from_bytes

    sample = content[:20_000]
    text = sample.decode("utf-8", "replace")
    foreign = sum(character > "\x7f" for character in text)
    if text.count("\ufffd") * 50 < foreign:
        return "utf-8"
    if 4 * foreign < len(sample):
        return "cp1252"
    best = from_bytes(sample, cp_isolation=_CHARSETS).best()
    return best.encoding if best else "cp1252"


def _essence(media_type: str) -> str:
    return re.split("[;,]", media_type)[0].strip().lower()  # a comma joins two headers
