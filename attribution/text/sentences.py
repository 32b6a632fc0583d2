"""Split text into sentences by punctuation, without a model, and detect the language of a text.

Thai and Lao separate sentences by white space alone, as they do phrases: there, only a line break
ends a sentence.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from attribution.models.engine import load_once
from attribution.types import Span

if TYPE_CHECKING:
    from py3langid.langid import LanguageIdentifier

_DATA = Path(__file__).parent / "data"
_WORDS: dict[str, str] = tomllib.loads((_DATA / "abbreviations.toml").read_text("utf-8"))

_STOPS = ".!?…؟۔।॥։"
_WIDE_STOPS = "。！？｡።፧፨။។៕"  # no space need follow
_CLOSING = r"\"'”’»)\]」』）"
_CITATIONS = r"(?:[ ]?\[[\d ,–-]{1,24}\])*+(?:\[[^\[\]\n]{1,24}\])*+"  # "[1]", "[citation needed]"
_MARK = re.compile(
    rf"""
    (?<!\.\s)\.(?:[ \u00a0]\.){{2,}}+\s+  # ". . ."
    | (?<![{_STOPS}])[{_STOPS}]++[{_CLOSING}]*+{_CITATIONS}\s+
    | (?<![{_WIDE_STOPS}])[{_WIDE_STOPS}]++[{_CLOSING}]*+{_CITATIONS}\s*
    | (?<=[\u0561-\u0587]):\s+  # Armenian
    | (?<=[\u0370-\u03ff\u1f00-\u1fff])[;\u037e]\s+  # a Greek question
    | (?<=[^\W\d_]{{2}})[.!?](?=[^\W\d_]{{2}})  # "toxic.Cats": a space may be missing
    | \n\s*
    """,
    re.VERBOSE,
)
_WORD_BEFORE = re.compile(r"(?<!\S)[^\W\d_][^\W\d_A-Z]+$")
_WORD_AFTER = re.compile(r"[A-Z\u00c0-\u00de][^\W\d_A-Z]+(?=[\s,;:'’]|$)")
_ITEM = re.compile(
    r"""
    (?<!\S)
    (?: (?P<bullet>[•⁃‣◦▪]?)[ ]?
        (?P<open>\(?)(?:(?P<digits>\d{1,2})|(?P<letter>[a-z]))(?P<close>\.\)|[.)])
        \s+(?=[\"“]?(?P<next>[^\W\d_]))
    | [•⁃‣◦▪])
    """,
    re.VERBOSE,
)
_BEFORE_ITEM = re.compile(r"(?:^|[.:;,!?…\n])\s?$")
# The end of a piece of text that is no end of a sentence: the number of an item, or " . . ."
_UNFINISHED = re.compile(
    r"(?:^|[:;]\s+)[•⁃‣◦▪]?\s?\(?(?:\d{1,2}|[a-z])(?:[.)]|\.\))$|(?<!\.)(?<!\. )[ ]\.[ ]\.[ ]\.$",
    re.VERBOSE,
)
_LAST_WORD = re.compile(r"(?<![\w'’.])(?P<initials>(?:[^\W\d_]{1,2}\.)*)(?P<word>[^\W\d_]+|N°)\.$")
_MIXED_CASE = re.compile(r"[a-z]{1,2}[A-Z]")  # "iPhone sales"
_NUMBER = re.compile(r"[\d(]|[^\W\d_]\b|[IVXLC]+\b")
# "It was", "However, it"; but "He, K." and "An and" are names
_OPENER = re.compile(
    rf"""
    [\"“(]?(?:{"|".join(_WORDS["openers"].split())})
    (?: ,?[ ](?!and[ ]|et[ ]|&[ ]) | \.[ ](?=[A-Z][a-z]) | [’'] )
    """,
    re.VERBOSE,
)
# "am 3. Mai", "im 19. Jahrhundert"
_ORDINAL = re.compile(
    r"(?<!\w)(?:[ai]m|de[rnms]|die|das|vom|zu[mr]|beim|seit|ab|bis|und)[ ]\d{1,2}\.$",
    re.IGNORECASE | re.VERBOSE,
)
_UNIT = re.compile(r"\d[ \u00a0]?(?:[gmlshbt]|°[CF])\.$")  # "It weighs 11 g. Ann …"
_EXCLAMATION_IN_NAME = re.compile(r"(?<=[^\W\d_A-Z] )[A-Z][\w’'-]*!$")  # "at Yahoo! Labs"
_HOUR = re.compile(r"\d ?[ap]\.m\.$", re.IGNORECASE)
# "At 5 a.m. Mr. Smith …", "On Monday at 5 p.m. Ann …", "the 6 p.m. News"
_TIME_OF_CLAUSE = re.compile(
    r"""
    (?: \s*(?:[A-Z]\w+|on|at|by|the|about|from|to|and|of|[\d:]+|[ap]\.m\.),?(?=\s) ){0,8}
    \s*[\d:]+[ ](?i:[ap]\.m)\.\s*$
    | .*\b(?i:an?|the|each|every|this|its|h?er|his|our|their)[ ](?:\w+[ ])?
    [\d:]+[ ](?i:[ap]\.m)\.\s*$
    """,
    re.DOTALL | re.VERBOSE,
)
_ZONE_OR_DAY = re.compile(
    r"""
    [\"“(]?
    (?: [A-Z]{2,5}\b | [A-Z][a-z]*\.?[ ]?\d
    | (?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?\b
    | Eastern|Central|Mountain|Pacific|Atlantic|Greenwich|Universal
    | (?:[A-Z]\w+[ ]){1,3}(?i:time|daylight|standard)\b )
    """,
    re.VERBOSE,
)
_PLURAL_AND_VERB = re.compile(
    r"[A-Z][a-z]+s (?:[a-z]+ed|are|were|have|had|will|would|can|could|may|might|must|do|did)\b"
)
_NEVER_LAST = frozenset((_WORDS["never"] + " " + _WORDS["phrases"]).split())
_BEFORE_NUMBER = frozenset(_WORDS["numbered"].split())
_RARELY_LAST = frozenset(_WORDS["last"].split())
_LAST_BEFORE_PLURAL = frozenset(_WORDS["final"].split())
_NEAR = 40  # characters before a mark that are looked at
_FAR = 200  # and after it


def sentences(text: str, limit: int | None = None, number: int = 0) -> tuple[Span, ...]:
    """Find the sentences of a text. A line break ends a sentence.

    Args:
        text: The text.
        limit: Most characters of a span; a longer sentence is cut between words.
        number: Number of the list item that the text is, which Markdown has taken off.

    Returns:
        The spans in order, trimmed and non-empty; together they cover all but white space.
    """
    items = {*_items(text, 0, len(text), number)}
    ends = sorted(items.union(possible_ends(text)))
    spans: list[Span] = []
    start = 0
    for end in [*ends, len(text)]:
        if end in items or end == len(text) or _is_end(text, start, end):
            spans += _cut(text, trimmed(text, start, end), limit or len(text))
            start = end
    return tuple(spans)


def possible_ends(text: str, start: int = 0, end: int | None = None) -> list[int]:
    """Return where a sentence may end: after any mark, even that of an abbreviation.

    Args:
        text: The text.
        start: Where to begin.
        end: Where to stop; None for the end of the text.

    Returns:
        Places in the text, each behind the white space that follows a mark.
    """
    stop = len(text) if end is None else end
    ends = {*_items(text, start, stop)}
    for match in _MARK.finditer(text, start, stop):
        place = match.start()
        is_spaced = match.end() - place > 1 or match[0] not in ".!?"
        before = text[max(0, place - _NEAR) : place]
        if is_spaced or _WORD_BEFORE.search(before) and _WORD_AFTER.match(text, place + 1):
            ends.add(match.end())
    return sorted(ends - {start})


def _items(text: str, start: int, end: int, number: int = 0) -> Iterator[int]:
    """Yield where an item of a list within a line begins, except the first: "1) … 2) …"."""
    last = {"1.": number, "1)": number} if number else {}
    for match in _ITEM.finditer(text, start, end):
        bullet, opening, digits, letter, closing, following = match.groups("")
        if following.islower():
            continue
        style = opening + ("1" if digits else "a") + closing if closing else "•"
        count = int(digits) if digits else ord(letter) - ord("a") + 1 if letter else 0
        before = text[max(start, match.start() - 3) : match.start()]
        if style in last and count in (0, last[style] + 1):
            yield match.start()
            last[style] = count
        elif (count <= 1 or bullet) and _BEFORE_ITEM.search(before):
            last[style] = count


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
    opens = _OPENER.match(after[:1].upper() + after[1:]) is not None
    if following.islower():
        if opens and head.endswith(".") and not head.endswith(".."):
            return _ends_with_word(head, after, opens=False)  # "closed in 1998. it reopened"
        return head[-1:] in ".!?" and _MIXED_CASE.match(after) is not None
    if _UNFINISHED.search(head):
        return False
    if _UNIT.search(head) or head.endswith(".."):
        return True
    if _ORDINAL.search(head) or _EXCLAMATION_IN_NAME.search(head) and following.isupper():
        return opens
    if _HOUR.search(head):
        opens = opens or not _ZONE_OR_DAY.match(after)
        return opens and not _TIME_OF_CLAUSE.match(text, start, end)
    return _ends_with_word(head, after, opens)


def _ends_with_word(head: str, after: str, opens: bool) -> bool:
    """Return True if the last word is no abbreviation, or one that ends a sentence here.

    Args:
        head: The end of the sentence.
        after: What follows.
        opens: What follows opens a sentence, by its first word.
    """
    last = _LAST_WORD.search(head)
    if not last:  # "…", "?", ".)": no abbreviation
        return True
    word, initials = last["word"], last["initials"]
    if word in _BEFORE_NUMBER:
        return not _NUMBER.match(after)
    if word in _NEVER_LAST or initials + word in _NEVER_LAST:
        return False
    if len(word) > 1 and not initials and word not in _RARELY_LAST:
        return True
    is_followed_by_noun = initials + word in _LAST_BEFORE_PLURAL and _PLURAL_AND_VERB.match(after)
    return opens or bool(is_followed_by_noun)


def trimmed(text: str, start: int, end: int) -> Span:
    """Return a span without the white space at its ends.

    Args:
        text: What the span is of.
        start: Its first character.
        end: Behind its last one.
    """
    piece = text[start:end]
    first = start + len(piece) - len(piece.lstrip())
    return first, max(first, start + len(piece.rstrip()))


def _cut(text: str, span: Span, limit: int) -> Iterator[Span]:
    """Yield a span in parts of at most `limit` characters, cut between words."""
    start, end = span
    while end - start > limit:
        space = max(text.rfind(c, start + 1, start + limit + 1) for c in " \t\u00a0\u3000")
        stop = space if space > start else start + limit
        yield trimmed(text, start, stop)
        start = trimmed(text, stop, end)[0]
    if start < end:
        yield start, end


_CERTAIN = 0.9  # minimum probability; names and figures alone stay below it
_LINES = (_DATA / "languages.txt").read_text("utf-8").splitlines()
LANGUAGES: dict[str, str] = dict(line.split(maxsplit=1) for line in _LINES)


@lru_cache(maxsize=64)
def detect(text: str) -> str | None:
    """Return the code of one of LANGUAGES, or None if the text is too short or too mixed."""
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
