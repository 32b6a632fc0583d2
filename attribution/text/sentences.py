"""Split text into sentences by punctuation, without a model, and detect the language of a text.

Thai and Lao separate sentences by white space alone, as they do phrases: there, only a line break
ends a sentence.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from functools import lru_cache
from heapq import merge
from pathlib import Path
from typing import TYPE_CHECKING

from attribution.models.loading import load_once
from attribution.types import Span

_STOPS, _WIDE = ".!?…؟۔।॥։", "。！？｡።፧፨။។៕"  # after a wide one there may be no space
_CLOSING, _QUOTED = r"\"'”’»)\]」』）", r"\"”’»\]」』"
_CITED = r"(?: ?\[[\d ,–-]{1,24}\])*+(?:\[[^\[\]\n]{1,24}\])*+"  # "[1]", "[citation needed]"
_PLACE = r"\s\([^\W\d_a-z][^()\n]{0,60} \d[^()\n]{0,20}\)\.?"  # "… met.” (Author 31)"
_QUOTATION = re.compile(
    rf"(?<!\S)[\"“«](?=\S)[^\"“”«»\n]{{1,600}}(?<=\S)[\"”»]{_PLACE}"
)  # "“… . …” (Author 31)"
_MARK = re.compile(
    r"(?<!\.\s)\.(?:[ \u00a0]\.){2,}+\s+"  # ". . ."
    rf"|(?<![{_STOPS}])[{_STOPS}]++[{_CLOSING}]*+(?:(?<=[{_QUOTED}]){_PLACE})?+{_CITED}\s+"
    rf"|(?<![{_WIDE}])[{_WIDE}]++[{_CLOSING}]*+{_CITED}\s*"
    # Armenian, and a Greek question
    r"|(?<=[\u0561-\u0587]):\s+|(?<=[\u0370-\u03ff\u1f00-\u1fff])[;\u037e]\s+"
    rf"|(?<=[{_QUOTED}]){_PLACE}\s+"
    r"|(?<=[^\W\d_]{2})[.!?](?=[^\W\d_]{2})"  # "toxic.Cats": a space may be missing
    r"|\n\s*"
)
_WORD_BEFORE = re.compile(r"(?<!\S)[^\W\d_][^\W\d_A-Z]+$")
_WORD_AFTER = re.compile(r"[A-Z\u00c0-\u00de][^\W\d_A-Z]+(?=[\s,;:'’]|$)")
_ITEM = re.compile(
    r"(?<!\S)([•⁃‣◦▪]?)[ ]?(\(?)(?:(\d{1,2})|([a-z]))(\.\)|[.)])\s+(?=[\"“]?([^\W\d_]))|(?<!\S)[•⁃‣◦▪]"
)
_BEFORE_ITEM = re.compile(r"(?:^|[.:;,!?…\n])\s?$")
_ITEM_NUMBER = re.compile(r"(?:^|[:;]\s+)[•⁃‣◦▪]?\s?\(?(?:\d{1,2}|[a-z])(?:[.)]|\.\))$")
_LAST_WORD = re.compile(r"(?<![\w'’.])((?:[^\W\d_]{1,2}\.)*)([^\W\d_]+|N°)$")
_MIXED = re.compile(r"[a-z]{1,2}[A-Z]")  # "iPhone sales"
_ELLIPSIS = re.compile(r"(?<!\.)(?<!\. ) \. \. \.$")
_NUMBERED = re.compile(r"[\d(]|[^\W\d_]\b|[IVXLC]+\b")
_TABLE = tomllib.loads((Path(__file__).parent / "data" / "abbreviations.toml").read_text("utf-8"))
_NEVER, _PHRASES, _BEFORE_NUMBER, _LAST, _FINAL = (
    frozenset(_TABLE[name].split()) for name in ("never", "phrases", "numbered", "last", "final")
)
# "It was", "However, it"; but "He, K." and "An and" are names
_OPENER = re.compile(
    rf"[\"“(]?(?:{'|'.join(_TABLE['openers'].split())})(?:,? (?!and |et |& )|\. (?=[A-Z][a-z])|[’'])"
)
# "am 3. Mai", "im 19. Jahrhundert"
_ORDINAL = re.compile(
    r"(?<!\w)(?:[ai]m|de[rnms]|die|das|vom|zu[mr]|beim|seit|ab|bis|und) \d{1,2}\.$", re.IGNORECASE
)
_UNIT = re.compile(r"\d[ \u00a0]?(?:[gmlshbt]|°[CF])\.$")  # "It weighs 11 g. Ann …"
# "At 5 a.m. Mr. Smith …", "On Monday at 5 p.m. Ann …", "the 6 p.m. News"; "5 p.m. Eastern"
_TIME = re.compile(
    r"(?:\s*(?:[A-Z]\w+|on|at|by|the|about|from|to|and|of|[\d:]+|[ap]\.m\.),?(?=\s)){0,8}\s*[\d:]+ (?i:[ap]\.m)\.\s*$"
    r"|.*\b(?i:an?|the|each|every|this|its|h?er|his|our|their) (?:\w+ )?[\d:]+ (?i:[ap]\.m)\.\s*$",
    re.DOTALL,
)
_HALF = re.compile(r"\d ?[ap]\.m\.$", re.IGNORECASE)
_ZONE = re.compile(
    r"[\"“(]?(?:[A-Z]{2,5}\b|[A-Z][a-z]*\.? ?\d|(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?\b"
    r"|Eastern|Central|Mountain|Pacific|Atlantic|Greenwich|Universal|(?:[A-Z]\w+ ){1,3}(?i:time|daylight|standard)\b)"
)
_PLURAL = re.compile(
    r"[A-Z][a-z]+s (?:[a-z]+ed|are|were|have|had|will|would|can|could|may|might|must|do|did)\b"
)
_COMMON = re.compile(r"[A-Z][a-z]+ [a-z]")
_NAME = re.compile(r"(?<=[^\W\d_A-Z] )[A-Z][\w’'-]*!$")  # "at Yahoo! Labs"
_NEAR = 40  # characters before a mark that are looked at
_FAR = 200  # and after it


def possible_ends(text: str, start: int = 0, end: int | None = None) -> Iterator[int]:
    """Yield where a sentence may end, white space included: after any mark, even that of an
    abbreviation.
    """
    end = len(text) if end is None else end
    last = start
    for place in merge(_marks(text, start, end), _items(text, start, end)):
        if place > last:
            yield (last := place)


def _marks(text: str, start: int, end: int) -> Iterator[int]:
    for match in _MARK.finditer(text, start, end):
        mark = match.start()
        spaced = match.end() - mark > 1 or match[0] not in ".!?"
        if spaced or (
            _WORD_BEFORE.search(text[max(0, mark - _NEAR) : mark])
            and _WORD_AFTER.match(text, mark + 1)
        ):
            yield match.end()


def _items(text: str, start: int, end: int, number: int = 0) -> Iterator[int]:
    """Yield where an item of a list within a line begins, except the first: "1) … 2) …", "a. … b.
    …", "• … • …".

    `number` is that of the item that the text is, which Markdown has taken off.
    """
    last: dict[tuple[str, ...], int] = {("", stop, "1"): number for stop in ".)" if number}
    for match in _ITEM.finditer(text, start, end):
        bullet, bracket, digits, letter, stop, following = match.groups("")
        if following.islower():
            continue
        kind = (bracket, stop, "1" if digits else "a") if stop else ("•",)
        count = int(digits) if digits else ord(letter) - 96 if letter else 0
        if kind in last and (not stop or count == last[kind] + 1):
            last[kind] = count
            yield match.start()
        elif (count <= 1 or bullet) and _BEFORE_ITEM.search(
            text[max(start, match.start() - 3) : match.start()]
        ):
            last[kind] = count


def sentences(text: str, limit: int | None = None, number: int = 0) -> tuple[Span, ...]:
    """Return the spans of the sentences in order, trimmed and non-empty; together they cover all
    but white space.

    A line break ends a sentence. A sentence longer than `limit` characters is cut between words.
    `number` is that of
    the list's item that the text is.
    """
    spans: list[Span] = []
    start = 0
    items = {*_items(text, 0, len(text), number)}
    cited = [quoted.span() for quoted in _QUOTATION.finditer(text)]
    for end in (*merge(possible_ends(text), sorted(items)), len(text)):
        while cited and cited[0][1] < end:
            del cited[0]
        if end == start or cited and cited[0][0] < end < cited[0][1] - 1:
            continue
        if end == len(text) or end in items or _is_end(text, start, end):
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
    """Return True if a sentence ends here: no abbreviation or item number before it, no lower-case
    letter after it.
    """
    before = text[max(start, end - _NEAR) : end]
    head = before.rstrip()
    if "\n" in before[len(head) :]:
        return True
    after = text[end : end + _FAR]
    following = next((c for c in after if c.isalnum() or c == "\n"), "\n")
    if following == "\n":  # a stray mark belongs to the sentence before it
        return False
    if following.islower():
        return bool(_MIXED.match(after)) and head[-1] in ".!?"
    if _ITEM_NUMBER.search(head) or _ELLIPSIS.search(head):
        return False
    if _NAME.search(head) and following.isupper() and not _OPENER.match(after):
        return False
    if not head.endswith(".") or head.endswith("..") or _UNIT.search(head):
        return True  # "…", "?", ".)": no abbreviation
    if _ORDINAL.search(head):
        return bool(_OPENER.match(after))
    found = _LAST_WORD.search(head[:-1])
    if not found:
        return True
    word = found[2]
    if word in _BEFORE_NUMBER:
        return not _NUMBERED.match(after)
    if word in _NEVER or found[1] + word in _PHRASES:
        return False
    if len(word) > 1 and not found[1] and word not in _LAST:
        return True
    opens = (
        _OPENER.match(after)
        or found[1] + word in _FINAL
        and _PLURAL.match(after)
        or word == "etc"
        and _COMMON.match(after)
        or _HALF.search(head)
        and not _ZONE.match(after)
    )
    return bool(opens) and not _TIME.match(text, start, end)


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
LANGUAGES: dict[str, str] = {
    code: name for code, name in (line.split(maxsplit=1) for line in _LINES)
}


@lru_cache(maxsize=64)
def detect(text: str) -> str | None:
    """Return the ISO 639-1 code of one of LANGUAGES, or None if the text is too short or too mixed."""
    code, probability = _identifier().classify(text)
    return str(code) if probability >= _CERTAIN else None


def is_english(text: str) -> bool:
    """Return True if rules for English may be applied: the text is English, or its language is
    unknown.
    """
    return detect(text) in (None, "en")


@load_once
def _identifier() -> LanguageIdentifier:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    identifier = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    identifier.set_languages(list(LANGUAGES))
    return identifier
