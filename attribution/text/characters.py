"""One form for characters that readers take as the same, so that words, numbers and names compare
as equal.
"""

from __future__ import annotations

import re
import unicodedata

_UNUSUAL = re.compile(r"[^\x00-\x7f]")
_ALIKE = {
    "\u2212": "-",
    "\u2010": "-",
    "\u2011": "-",
    "\u2018": "'",
    "\u2019": "'",
    "\u2009": "\u202f",
    "\u00a0": "\u202f",
    "\u066b": ".",
    "\u066c": ",",
    "\u00b5": "µ",
    "\u03bc": "µ",
}
_LIGATURES = re.compile(r"[\ufb00-\ufb06\ufb13-\ufb17\ufb50-\ufdfb\ufe70-\ufefc]+")


def composed(text: str) -> str:
    """Return the text as it is read aloud: ligatures as letters, accents in their letters, no soft
    hyphens.
    """
    if text.isascii():
        return text
    whole = _LIGATURES.sub(
        lambda found: unicodedata.normalize("NFKC", found[0]), text.replace("\u00ad", "")
    )
    return unicodedata.normalize("NFC", whole)


def plain(text: str) -> str:
    """Return the text with digits, blanks, hyphens, signs and letters of formulas in usual forms,
    each for its own.
    """
    return text if text.isascii() else _UNUSUAL.sub(_usual, text)


def _usual(found: re.Match[str]) -> str:
    character, code = found[0], ord(found[0])
    if (digit := unicodedata.decimal(character, None)) is not None:
        return str(digit)
    if 0x2080 <= code <= 0x2089:  # "CO₂"
        return str(code - 0x2080)
    if 0xFF01 <= code <= 0xFF5E:
        return chr(code - 0xFEE0)
    if 0x1D400 <= code <= 0x1D7FF:
        return unicodedata.normalize("NFKC", character)
    return _ALIKE.get(character, character)
