"""Split text into sentences by punctuation, without a model, and detect the language of a text.

Thai and Lao separate sentences by white space alone, as they do phrases: there, only a line break ends a sentence.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from attribution.models.loading import load_once
from attribution.types import Span

_STOPS, _WIDE, _CLOSING = ".!?…؟۔।॥։።", "。！？｡", r"\"'”’»)\]」』）"
_CITED = r"(?:\[[^\[\]\n]{1,24}\])*+"  # "[1]", "[citation needed]"
_MARK = re.compile(
    rf"(?<![{_STOPS}])[{_STOPS}]++[{_CLOSING}]*+{_CITED}\s+"
    rf"|(?<![{_WIDE}])[{_WIDE}]++[{_CLOSING}]*+{_CITED}\s*"
    r"|(?<=[^\W\d_]{2})[.!?](?=[^\W\d_]{2})"  # "toxic.Cats": a space may be missing
    r"|\n\s*"
)
_WORD_BEFORE = re.compile(r"(?<!\S)[^\W\d_][^\W\d_A-Z]+$")
_WORD_AFTER = re.compile(r"[A-Z\u00c0-\u00de][^\W\d_A-Z]+(?=[\s,;:'’]|$)")
_LAST_WORD = re.compile(r"(?<![\w'’])[^\W\d_]+$")
_ITEM_NUMBER = re.compile(r"(?:^|[:;]\s+)\(?\d{1,2}$")
_ABBREVIATIONS = frozenset((Path(__file__).parent / "data" / "abbreviations.txt").read_text("utf-8").split())
_NEAR = 40  # characters before a mark that are looked at
_FAR = 200  # and after it


def possible_ends(text: str, start: int = 0, end: int | None = None) -> Iterator[int]:
    """Yield where a sentence may end, white space included: after any mark, even that of an abbreviation."""
    for match in _MARK.finditer(text, start, len(text) if end is None else end):
        mark = match.start()
        spaced = match.end() - mark > 1 or match[0] not in ".!?"
        if spaced or (_WORD_BEFORE.search(text[max(0, mark - _NEAR) : mark]) and _WORD_AFTER.match(text, mark + 1)):
            yield match.end()


def sentences(text: str, limit: int | None = None) -> tuple[Span, ...]:
    """Return the spans of the sentences in order, trimmed and non-empty; together they cover all but white space.

    A line break ends a sentence. A sentence longer than `limit` characters is cut between words.
    """
    spans: list[Span] = []
    start = 0
    for end in (*possible_ends(text), len(text)):
        if end == len(text) or _is_end(text, start, end):
            span = trimmed(text, start, end)
            spans += _cut(text, span, limit or len(text))
            start = end
    return tuple(spans)


def trimmed(text: str, start: int, end: int) -> Span:
    """Return the span without the white space at its ends."""
    piece = text[start:end]
    first = start + len(piece) - len(piece.lstrip())
    return first, max(first, start + len(piece.rstrip()))


def _is_end(text: str, start: int, end: int) -> bool:
    """Return True if a sentence ends here: no abbreviation or item number before it, no lower-case letter after it."""
    before = text[max(start, end - _NEAR) : end]
    head = before.rstrip()
    if "\n" in before[len(head) :]:
        return True
    following = next((c for c in text[end : end + _FAR] if c.isalnum() or c == "\n"), "\n")
    if following == "\n" or following.islower():  # a stray mark belongs to the sentence before it
        return False
    head = head.removesuffix(".")
    if len(head.rstrip(".")) < len(head) or before.rstrip() == head:
        return True  # "…", "?", ".)": no abbreviation
    word = _LAST_WORD.search(head)
    if word:
        return len(word[0]) > 1 and word[0] not in _ABBREVIATIONS
    return not _ITEM_NUMBER.search(head)


def _cut(text: str, span: Span, limit: int) -> Iterator[Span]:
    start, end = span
    while end - start > limit:
        space = max(text.rfind(c, start + 1, start + limit + 1) for c in " \t\u00a0\u3000")
        stop = space if space > start else start + limit
        yield trimmed(text, start, stop)
        while stop < end and text[stop].isspace():
            stop += 1
        start = stop
    if start < end:
        yield start, end


if TYPE_CHECKING:
    from py3langid.langid import LanguageIdentifier

_CERTAIN = 0.9  # minimum probability; names and figures alone stay below it
_LINES = (Path(__file__).parent / "data" / "languages.txt").read_text("utf-8").splitlines()
LANGUAGES: dict[str, str] = {code: name for code, name in (line.split(maxsplit=1) for line in _LINES)}


@lru_cache(maxsize=64)
def detect(text: str) -> str | None:
    """Return the ISO 639-1 code of one of LANGUAGES, or None if the text is too short or too mixed to tell."""
    code, probability = _identifier().classify(text)
    return str(code) if probability >= _CERTAIN else None


def is_english(text: str) -> bool:
    """Return True if rules for English may be applied: the text is English, or its language is unknown."""
    return detect(text) in (None, "en")


@load_once
def _identifier() -> LanguageIdentifier:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    identifier = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    identifier.set_languages(list(LANGUAGES))
    return identifier
