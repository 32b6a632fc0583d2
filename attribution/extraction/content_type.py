"""What bytes are, whatever they say they are, and the text they stand for."""

from __future__ import annotations

import codecs
import re

from attribution.errors import FetchFailed

PDF = "application/pdf"
HTML = "text/html"
PLAIN = "text/plain"
MARKDOWN = "text/markdown"
SUFFIXES = {
    ".txt": PLAIN,
    ".text": PLAIN,
    ".md": MARKDOWN,
    ".markdown": MARKDOWN,
    ".html": HTML,
    ".htm": HTML,
    ".xhtml": HTML,
    ".pdf": PDF,
}
EXPECTED = "expected HTML, PDF, Markdown or plain text"

_UNNAMED = (
    "",
    "application/octet-stream",
    "binary/octet-stream",
    "application/x-download",
    "application/force-download",
)
_SAME_AS = {
    "application/xhtml+xml": HTML,
    "text/x-markdown": MARKDOWN,
    "application/x-pdf": PDF,
    HTML: HTML,
    PLAIN: PLAIN,
    MARKDOWN: MARKDOWN,
    PDF: PDF,
}
_SIGNATURES = (
    (b"\x89PNG\r\n", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF8", "a GIF image"),
    (b"PK\x03\x04", "a ZIP archive or an Office file"),
    (b"\x1f\x8b\x08", "a gzip archive"),
    (b"\xd0\xcf\x11\xe0", "an old Office file"),
    (b"{\\rtf", "an RTF file"),
)
_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_CONTROLS = bytes(set(range(32)) - set(b"\t\n\r\f\v\x1b"))
_CHARSET = re.compile(r"charset\s*=\s*[\"']?\s*([\w.:-]{1,40})", re.IGNORECASE)
_TAG = re.compile(rb"<(script|style)\b.{0,20000}?</\1|<[^>]{0,2000}>", re.IGNORECASE | re.DOTALL)
_SCRIPTS = [  # of pages that are not in Latin letters
    "cp1251", "koi8_r", "cp1253", "cp1255", "cp1256", "cp874", "gb18030", "big5", "shift_jis", "euc_jp", "euc_kr",
]  # fmt: skip
# Python has codecs that are no charsets of the web, some of them slow on purpose-made input.
_KNOWN_CHARSET = re.compile(
    r"utf|us-ascii|ascii|windows-|cp\d|iso-?(8859|2022)|latin|koi8|gb|big5|euc|shift|sjis|mac|tis|x-sjis", re.IGNORECASE
)
_HTML_START = re.compile(
    rb"\s*(?:<\?xml[^>]{0,200}>\s*)?(?:<!--.{0,500}?-->\s*)?<(?:!doctype html|html|head|body)\b", re.I | re.S
)


def check_declared(media_type: str, subject: str) -> None:
    """FetchFailed(wrong_type) where a Content-Type cannot be read, before anything is downloaded."""
    kind = _essence(media_type)
    if kind not in _SAME_AS and kind not in _UNNAMED:
        raise FetchFailed("wrong_type", f"{subject} says it is {kind[:60]}; {EXPECTED}", subject)


def actual_type(media_type: str, content: bytes, subject: str) -> str:
    """What the content is by its first bytes, or FetchFailed(wrong_type) where it is not what it says."""
    check_declared(media_type, subject)
    declared = _SAME_AS.get(_essence(media_type), "")
    head = content[:2048]
    if head.lstrip().startswith(b"%PDF-") or (declared in ("", PDF) and b"%PDF-" in head[:1024]):
        return PDF
    found = next((name for signature, name in _SIGNATURES if head.startswith(signature)), "")
    controls = len(head) - len(head.translate(None, _CONTROLS))
    charset = _charset(media_type).lower()
    wide = charset.startswith(("utf-16", "utf-32")) or any(head.startswith(bom) for bom, _ in _BOMS)
    if not found and not wide and controls > max(3, len(head) // 50):
        found = "binary data"
    if not found and declared == PDF:
        found = "a web page" if _HTML_START.match(head) else "no PDF" if content else ""
    if found:
        raise FetchFailed(
            "wrong_type", f"{subject} says it is {declared or 'a file'} but is {found}; {EXPECTED}", subject
        )
    return HTML if _HTML_START.match(head) and declared != MARKDOWN else declared or PLAIN


def decode(content: bytes, media_type: str = "") -> str:
    """Text by BOM, as UTF-8, by the charset in the Content-Type or in the HTML, else by its letters."""
    for bom, name in _BOMS:
        if content.startswith(bom):
            return content.decode(name, "replace").lstrip("\ufeff")
    named = [_charset(media_type), _charset(content[:4096].decode("latin-1"))]
    # Latin charsets are often named where UTF-8 is sent; a NUL or ESC betrays one that only looks like ASCII.
    first = [] if b"\0" in content or b"\x1b" in content else ["utf-8"]
    for name in [*first, *(name for name in named if _KNOWN_CHARSET.match(name)), "utf-8"]:
        try:
            return content.decode(name)
        except (LookupError, UnicodeError):
            continue
    text = content.decode("utf-8", "replace")
    if text.count("\ufffd") * 50 < sum(c > "\x7f" for c in text):  # UTF-8 with a few broken bytes
        return text
    name = _likely(content)
    # as browsers do: a byte that windows-1252 leaves open is a control character, and goes with the others
    return _open_bytes(content) if name == "windows-1252" else content.decode(name, "replace")


def _open_bytes(content: bytes) -> str:
    return "".join(
        c if c != "\ufffd" else chr(b) for c, b in zip(content.decode("cp1252", "replace"), content, strict=True)
    )


def _likely(content: bytes) -> str:
    """The charset of bytes that are not in the one they are said to be in, judged by their letters.

    In a text of Latin letters few bytes are beyond ASCII; where most are, the script is another one.
    """
    words = _TAG.sub(b" ", content[:200_000])
    beyond = re.sub(rb"[\x00-\x7f]+", b" ", words)
    if 2 * sum(map(len, beyond.split())) < len(re.findall(rb"[A-Za-z]", words)) or len(beyond) < 20:
        return "windows-1252"
    from charset_normalizer import from_bytes

    found = from_bytes(words[:20_000], cp_isolation=_SCRIPTS).best()
    return found.encoding if found else "windows-1252"


def _essence(media_type: str) -> str:
    return media_type.partition(";")[0].strip().lower()


def _charset(text: str) -> str:
    found = _CHARSET.search(text)
    return found[1] if found else ""
