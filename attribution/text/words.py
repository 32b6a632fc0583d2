"""Words of a text in one form, and cheap comparisons by words: shared words, the deciding
sentence.
"""

from __future__ import annotations

import re
import tomllib
import unicodedata
from functools import cache, lru_cache
from pathlib import Path
from typing import NamedTuple

from attribution.text.sentences import sentences
from attribution.types import Span

_WORD = re.compile(r"[^\W_]+")
_TERM = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?|\d[\d.,]*\d|\d")
_UNUSUAL = re.compile(r"[^\x00-\x7f]")
_LIGATURES = re.compile(r"[\ufb00-\ufb06\ufb13-\ufb17\ufb50-\ufdfb\ufe70-\ufefc]+")
_ALIKE = str.maketrans(
    "\u2212\u2010\u2011\u2018\u2019\u2009\u00a0\u066b\u066c\u00b5\u03bc", "---''\u202f\u202f.,µµ"
)
# The verifiers are calibrated with these words: another list needs another calibration.
STOP_WORDS = frozenset(
    (Path(__file__).parent / "data" / "stop_words.txt").read_text("utf-8").split()
)
_CARDINALS = "zero one two three four five six seven eight nine ten eleven twelve".split()
ORDINALS = {"first": "1", "second": "2", "third": "3"}
# Powers of ten
SCALES = {"hundred": 2, "thousand": 3, "million": 6, "billion": 9, "trillion": 12}
NUMBER_WORDS = {word: str(value) for value, word in enumerate(_CARDINALS)} | ORDINALS
NUMBER_WORDS |= {word: str(10**power) for word, power in SCALES.items()}
_SUFFIXES = tuple("ingly edly ments ment ings ing ies ied ers er es ed ly s".split())


class Terms(NamedTuple):
    """Stems of content words, numbers, and names: capitalised words that do not open a text."""

    content: frozenset[str]
    numbers: frozenset[str]
    names: frozenset[str]


def composed(text: str) -> str:
    """Return the text as it is read aloud: ligatures as letters, accents in their letters, no soft
    hyphens.
    """
    if text.isascii():
        return text
    whole = _LIGATURES.sub(
        lambda letters: unicodedata.normalize("NFKC", letters[0]), text.replace("\u00ad", "")
    )
    return unicodedata.normalize("NFC", whole)


def plain(text: str) -> str:
    """Return the text with digits, blanks, hyphens, signs and letters of formulas in usual forms,
    each for its own.
    """
    return text if text.isascii() else _UNUSUAL.sub(_usual, text)


def _usual(match: re.Match[str]) -> str:
    character, code = match[0], ord(match[0])
    digit = unicodedata.decimal(character, None)
    if digit is not None:
        return str(digit)
    is_subscript = 0x2080 <= code <= 0x2089  # "CO₂"
    is_full_width = 0xFF01 <= code <= 0xFF5E
    if is_subscript or is_full_width or 0x1D400 <= code <= 0x1D7FF:
        return unicodedata.normalize("NFKC", character)
    return character.translate(_ALIKE)


@cache
def word_lists(path: Path) -> dict[str, frozenset[str]]:
    """Return the lists of a TOML file by name: a string holds words, an array holds phrases."""
    tables = tomllib.loads(path.read_text(encoding="utf-8"))
    return {
        name: frozenset(value.split() if isinstance(value, str) else value)
        for name, value in tables.items()
    }


def words_of(text: str) -> list[str]:
    """Return the runs of letters and digits in lower case, as SQLite's full-text search."""
    return _WORD.findall(plain(text).lower())


def printable(text: str) -> str:
    """Return a text on one line, without control characters."""
    shown = "".join(c if c.isprintable() else " " for c in text)
    return " ".join(shown.split())


def folded(word: str) -> str:
    """Return the word in lower case, without the possessive ending."""
    return word.lower().removesuffix("'s").removesuffix("’s")


def stem(word: str) -> str:
    """Strip the ending of a folded word. For words without context; verbs of a parsed text have a
    lemma.
    """
    if word.endswith(_SUFFIXES):
        for suffix in _SUFFIXES:
            if word.endswith(suffix) and len(word) - len(suffix) >= 3:
                return word[: -len(suffix)]
    return word[:-1] if word.endswith("e") and len(word) > 4 else word


@lru_cache(maxsize=64)  # a text may be as long as a request
def terms(text: str) -> Terms:
    """Return the terms of a text."""
    content, numbers, names = set(), set(), set()
    for i, match in enumerate(_TERM.finditer(plain(text))):
        token = match[0]
        lower = folded(token)
        if token[0].isdigit():
            numbers.add(token.replace(",", ""))
        elif lower in NUMBER_WORDS:
            numbers.add(NUMBER_WORDS[lower])
        elif lower not in STOP_WORDS:
            content.add(stem(lower))
            if i and token[0].isupper():
                names.add(stem(lower))
    return Terms(frozenset(content), frozenset(numbers), frozenset(names))


def deciding_sentence(claim: str, evidence: str) -> Span:
    """Return the span of the sentence that shares most with the claim; numbers and names count
    double.
    """
    wanted = terms(claim)

    def score(span: Span) -> float:
        present = terms(evidence[slice(*span)])
        words = len(wanted.content & present.content) + len(wanted.names & present.content)
        return words + 2 * len(wanted.numbers & present.numbers) - len(present.content) / 50

    return max(sentences(evidence), key=score, default=(0, len(evidence)))


def shared_words(claim: str, evidence: str) -> float:
    """Return the share of the claim's content words that occur in the passage; 1 for a claim
    without any.
    """
    wanted = terms(claim).content
    return len(wanted & terms(evidence).content) / len(wanted) if wanted else 1.0


def uncovered(claim: str, evidence: str) -> list[str]:
    """Return the content words and numbers of a claim that do not occur in the passage, as written,
    each once.
    """
    covered = terms(evidence)
    missing: dict[str, str] = {}
    for match in _TERM.finditer(claim):
        term = terms(match[0])
        if term.content - covered.content or term.numbers - covered.numbers:
            missing.setdefault(folded(match[0]), match[0])
    return list(missing.values())
