"""Words of a text, and cheap comparisons by words: shared words, the deciding sentence, a word
diff.
"""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path

from attribution.text.characters import plain
from attribution.text.remembering import remember
from attribution.text.sentences import sentences
from attribution.types import Span

_WORD = re.compile(r"[^\W_]+")
_CHARACTER = re.compile(r"\s+|\S")
_TERM = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?|\d[\d.,]*\d|\d")
# The verifiers are calibrated with these words: another list needs another calibration.
STOP_WORDS = frozenset(
    (Path(__file__).parent / "data" / "stop_words.txt").read_text("utf-8").split()
)
_CARDINALS = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
]
NUMBER_WORDS = {word: str(value) for value, word in enumerate(_CARDINALS)}
NUMBER_WORDS |= {"first": "1", "second": "2", "third": "3"}
NUMBER_WORDS |= {
    "hundred": "100",
    "thousand": "1000",
    "million": "1000000",
    "billion": "1000000000",
}
_SUFFIXES = (
    "ingly",
    "edly",
    "ments",
    "ment",
    "ings",
    "ing",
    "ies",
    "ied",
    "ers",
    "er",
    "es",
    "ed",
    "ly",
    "s",
)


@cache
def word_lists(path: Path) -> dict[str, frozenset[str]]:
    """Return the lists of a TOML file by name: a string holds words, an array holds phrases."""
    tables = tomllib.loads(path.read_text(encoding="utf-8"))
    return {
        name: frozenset(value.split() if isinstance(value, str) else value)
        for name, value in tables.items()
    }


def words_of(text: str) -> list[str]:
    """Return the runs of letters and digits in lower case, the words of SQLite's full-text search."""
    return _WORD.findall(plain(text).lower())


BEGINNING = 5  # letters that the forms of a word have in common: "withdrew", "withdrawals"


def beginnings(words: Iterable[str]) -> frozenset[str]:
    """Return the first letters of longer words, by which other forms of them are known."""
    return frozenset(word[:BEGINNING] for word in words if len(word) >= BEGINNING)


def occurrences(words: str, text: str) -> Iterator[Span]:
    """Yield the spans at which the words occur in the text, in order; every run of white space
    counts as one blank.
    """
    wanted = " ".join(words.split())
    pieces = list(_CHARACTER.finditer(text))
    flat = "".join(" " if piece[0].isspace() else piece[0] for piece in pieces)
    place = flat.find(wanted) if wanted else -1
    while place >= 0:
        yield pieces[place].start(), pieces[place + len(wanted) - 1].end()
        place = flat.find(wanted, place + len(wanted))


def folded(word: str) -> str:
    """Return the word in lower case, without the possessive ending."""
    return word.lower().removesuffix("'s").removesuffix("’s")


def stem(word: str) -> str:
    """Strip the ending of a folded word. For words without context; verbs of a parsed text have a
    lemma.
    """
    for suffix in _SUFFIXES:
        if word.endswith(suffix) and len(word) - len(suffix) >= 3:
            return word[: -len(suffix)]
    return word[:-1] if word.endswith("e") and len(word) > 4 else word


@remember(8192)
def terms(text: str) -> tuple[frozenset[str], frozenset[str], frozenset[str]]:
    """Return (stems of content words, numbers, names) of a text; names are capitalised words that
    do not open it.
    """
    content, numbers, names = set(), set(), set()
    for i, match in enumerate(_TERM.finditer(plain(text))):
        token = match.group()
        lower = folded(token)
        if token[0].isdigit():
            numbers.add(token.replace(",", "").rstrip("."))
        elif lower in NUMBER_WORDS:
            numbers.add(NUMBER_WORDS[lower])
        elif lower not in STOP_WORDS:
            content.add(stem(lower))
            if i and token[0].isupper():
                names.add(stem(lower))
    return frozenset(content), frozenset(numbers), frozenset(names)


def deciding_sentence(claim: str, evidence: str) -> Span:
    """Return the span of the sentence that shares most with the claim; numbers and names count
    double.
    """
    spans = sentences(evidence)
    if len(spans) < 2:
        return spans[0] if spans else (0, len(evidence))
    content, numbers, names = terms(claim)

    def shared(span: Span) -> tuple[float, int]:
        c, n, m = terms(evidence[span[0] : span[1]])
        return len(content & c) + 2 * len(numbers & n) + len(names & c) - 0.02 * len(c), -span[0]

    return max(spans, key=shared)


def shared_words(claim: str, evidence: str) -> float:
    """Return the share of the claim's content words that occur in the passage; 1 for a claim
    without any.
    """
    wanted = terms(claim)[0]
    return len(wanted & terms(evidence)[0]) / len(wanted) if wanted else 1.0


def uncovered(claim: str, evidence: str) -> list[str]:
    """Return the content words and numbers of a claim that do not occur in the passage, as written,
    each once.
    """
    content, numbers, _ = terms(evidence)
    missing: dict[str, str] = {}
    for match in _TERM.finditer(claim):
        found, counted, _ = terms(match.group())
        if found - content or counted - numbers:
            missing.setdefault(folded(match.group()), match.group())
    return list(missing.values())


def share_terms(claim: str, evidence: str) -> bool:
    """Return True if claim and evidence have a content word or a number in common."""
    (content, numbers, _), (other_content, other_numbers, _) = terms(claim), terms(evidence)
    return not (content.isdisjoint(other_content) and numbers.isdisjoint(other_numbers))


MAX_PAIRS = 20_000_000  # pairs of equal words to look at: a second or two


SAME_WORDS = 6  # in a row, from which on they are more than a common phrase


def shared_runs(text: str, other: str) -> list[Span]:
    """Return the stretches of a text, of at least SAME_WORDS words, that stand word for word in
    another.
    """
    mine, its = (
        list(_WORD.finditer(text)),
        [word.group().casefold() for word in _WORD.finditer(other)],
    )
    blocks = Diff([word.group().casefold() for word in mine], its).get_matching_blocks()
    return [
        (mine[b.a].start(), mine[b.a + b.size - 1].end()) for b in blocks if b.size >= SAME_WORDS
    ]


class Diff(difflib.SequenceMatcher[str]):
    """A word diff. After MAX_PAIRS pairs of words, the rest counts as replaced."""

    a: Sequence[str]  # attributes of difflib, which declares neither
    b2j: dict[str, list[int]]

    def __init__(self, old: Sequence[str], new: Sequence[str]) -> None:
        super().__init__(None, old, new, autojunk=False)
        self._left = MAX_PAIRS

    def find_longest_match(
        self, alo: int = 0, ahi: int | None = None, blo: int = 0, bhi: int | None = None
    ) -> difflib.Match:
        stop = len(self.a) if ahi is None else ahi
        self._left -= sum(1 + len(self.b2j.get(word, ())) for word in self.a[alo:stop])
        return (
            super().find_longest_match(alo, ahi, blo, bhi)
            if self._left >= 0
            else difflib.Match(alo, blo, 0)
        )
