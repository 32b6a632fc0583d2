"""What differs between a claim and a sentence: values of one that the other lacks, a negation, or other words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Literal

from attribution.text.lexical import STOP_WORDS, folded
from attribution.types import Probabilities, Span
from attribution.verdicts import LOWEST_THRESHOLD

Kind = Literal["year", "month", "day", "number", "unit", "name", "negation"]
KINDS: dict[Kind, str] = {  # as they are called before a reader
    "year": "Date", "month": "Date", "day": "Date", "number": "Number", "unit": "Unit", "name": "Name",
    "negation": "Negation",
}  # fmt: skip
MONTHS = (
    "january february march april may june july august september october november december "
    "jan feb mar apr may jun jul aug sep oct nov dec"
).split()  # fmt: skip
_CARDINALS = (
    "two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen "
    "nineteen twenty thirty forty fifty sixty seventy eighty ninety"
).split()  # fmt: skip
_NUMBER_WORDS = dict(zip(_CARDINALS, map(str, (*range(2, 20), *range(20, 100, 10))), strict=True))
_NTH = "first second third fourth fifth sixth seventh eighth ninth tenth".split()
_ORDINALS = {word: f"#{n}" for n, word in enumerate(_NTH, 1)}
_LINES = (Path(__file__).parent / "data" / "units.txt").read_text("utf-8").splitlines()
UNITS = {word: words.split()[0] for words in _LINES for word in words.split()}
_TOKEN = re.compile(
    r"(?P<number>\d+(?:[.,]\d+)*(?P<ending>st|nd|rd|th|['’]?s)?(?![^\W\d_]))|(?P<sign>[%$€£¥°])"
    r"|(?P<word>[^\W\d_]+(?:['’-][^\W\d_]+)*)"
)
_NEGATION = re.compile(r"(?:not|no|never|none|neither|nor|without|nobody|nothing|cannot|\w+n['’]t)", re.IGNORECASE)
_YEAR = re.compile(r"1\d{3}|20\d\d")
_PLURAL = re.compile(r"\s+(?:[a-z]+s|people|men|women|children)\b")
_JOINED = re.compile(r" (?:[A-Z]\. )?|-")


@dataclass(frozen=True)
class Value:
    """`normal` is the same for two spellings of a value: "9,000" and "9000", "three" and "3"."""

    kind: Kind
    start: int
    end: int
    normal: str

    @property
    def span(self) -> Span:
        return self.start, self.end

    @property
    def words(self) -> frozenset[str]:
        return frozenset(self.normal.split())


@lru_cache(maxsize=4096)
def values(text: str) -> tuple[Value, ...]:
    """All values of a text, in their order."""
    tokens = list(_TOKEN.finditer(text))
    found: list[Value] = []
    for i, token in enumerate(tokens):
        kind, normal = _kind(text, tokens, i)
        if kind is None:
            continue
        before = found[-1] if found else None
        if kind == "name" and before and before.kind == "name" and _JOINED.fullmatch(text[before.end : token.start()]):
            found[-1] = Value("name", before.start, token.end(), f"{before.normal} {normal}")
            continue
        found.append(Value(kind, token.start(), token.end(), normal))
    return tuple(found)


def _kind(text: str, tokens: Sequence[re.Match[str]], i: int) -> tuple[Kind | None, str]:
    token = tokens[i]
    written = token[0]
    word = folded(written)
    near = [tokens[j] for j in (i - 1, i + 1) if 0 <= j < len(tokens) and _beside(text, token, tokens[j])]
    if token["sign"]:
        return ("unit", UNITS[written]) if any(t["number"] for t in near) else (None, "")
    if token["number"]:
        digits = written.removesuffix(token["ending"] or "").replace(",", "")
        if token["ending"] in ("s", "'s", "’s"):
            return "year", f"{digits}s"
        if len(digits) <= 2 and digits.isdigit() and any(_is_month(t[0]) for t in near):
            return "day", str(int(digits))
        if _YEAR.fullmatch(written) and not _counts(text, token):
            return "year", digits
        return "number", f"#{digits}" if token["ending"] else digits
    if _NEGATION.fullmatch(word):
        return "negation", "not"
    if _is_month(written) and (word not in ("may", "march", "mar", "jan", "dec") or any(t["number"] for t in near)):
        return "month", word[:3]
    if word in UNITS and any(_is_number(t) for t in near if t.start() < token.start()):
        return "unit", UNITS[word]
    if word in _NUMBER_WORDS:
        return "number", _NUMBER_WORDS[word]
    if word in _ORDINALS and not (word == "second" and near and folded(near[0][0]) in ("per", "a", "each")):
        return "number", _ORDINALS[word]
    if written[0].isupper() and len(written) > 1 and word not in STOP_WORDS:
        return "name", word
    return None, ""


def _beside(text: str, one: re.Match[str], other: re.Match[str]) -> bool:
    between = text[min(one.end(), other.end()) : max(one.start(), other.start())]
    return between in ("", " ", "-", ", ", " of ", ". ")


def _is_month(word: str) -> bool:
    return word[0].isupper() and word.casefold().rstrip(".") in MONTHS


def _is_number(token: re.Match[str]) -> bool:
    word = folded(token[0])
    return bool(token["number"]) or word in _NUMBER_WORDS or word in UNITS


def _counts(text: str, token: re.Match[str]) -> bool:
    """Whether four digits count something: "1500 soldiers", "1200 km"."""
    following = _TOKEN.match(text, token.end() + 1)
    unit = following is not None and following[0] in UNITS
    return unit or bool(_PLURAL.match(text, token.end())) or text[token.start() - 1 : token.start()] in tuple("$€£¥")


NUMERIC: tuple[Kind, ...] = ("year", "month", "day", "number")
MOST = 2  # values of a kind that differ; where more do, the texts are about different things
LONGEST = 60  # characters of what is quoted
ALIKE = 4.0  # least likeness of the words around two values, where the source has many
_NEAR = 4  # words on either side of a value


@dataclass(frozen=True)
class Contrast:
    """A value of a claim set against the source's; one of the two may be empty for a negation."""

    kind: str  # a word of KINDS
    claim: str
    source: str


def differing_spans(text: str, other: str) -> list[Span]:
    """Numbers, dates and names that the other text lacks, where it has at most two of that kind to set against."""
    spans: list[Span] = []
    for kinds in (NUMERIC, ("name",)):
        mine, theirs = lacking(text, other, kinds), lacking(other, text, kinds)
        if 0 < len(mine) <= MOST and 0 < len(theirs) <= MOST:
            spans += [value.span for value in mine]
    return sorted(spans)


def lacking(text: str, other: str, kinds: Sequence[str]) -> list[Value]:
    """The values of these kinds in a text that the other text does not have; a name that shares a word is there."""
    theirs, words = {(v.kind, v.normal) for v in values(other)}, {folded(t[0]) for t in _TOKEN.finditer(other)}
    return [
        v
        for v in values(text)
        if v.kind in kinds and (v.kind, v.normal) not in theirs and not (v.kind == "name" and v.words & words)
    ]


def contrasts(claim: str, sentence: str) -> tuple[Contrast, ...]:
    """What differs, value by value: the claim's beside the source's of the same kind that stands in similar words."""
    rows: list[Contrast] = []
    for kind in KINDS:
        if kind == "negation":
            continue
        mine, theirs = lacking(claim, sentence, (kind,)), lacking(sentence, claim, (kind,))
        for value in mine if len(mine) <= MOST else ():
            near = max(theirs, key=lambda v: (alike(claim, value, sentence, v), -v.start), default=None)
            if near and (len(theirs) <= MOST or alike(claim, value, sentence, near) >= ALIKE):
                theirs.remove(near)
                rows.append(Contrast(KINDS[kind], claim[slice(*value.span)], sentence[slice(*near.span)]))
    own, its = _negation(claim), _negation(sentence)
    return (*rows, Contrast(KINDS["negation"], own, its)) if bool(own) != bool(its) else tuple(rows)


def _negation(text: str) -> str:
    return next((text[slice(*v.span)] for v in values(text) if v.kind == "negation"), "")


def alike(text: str, value: Value, other: str, its: Value) -> float:
    """How alike the words around two values are: those on the same side count twice, a direct neighbour four times."""
    one, two = _around(text, value), _around(other, its)
    score = float(len({*one[0], *one[1]} & {*two[0], *two[1]}))
    for here, there in zip(one, two, strict=True):
        score += 2.0 * len(set(here) & set(there)) + 2.0 * bool(here and there and here[0] == there[0])
    return score


def _around(text: str, value: Value) -> tuple[list[str], list[str]]:
    """The words before and after a value, the nearest first."""
    before = [folded(t[0]) for t in _TOKEN.finditer(text[: value.start])]
    after = [folded(t[0]) for t in _TOKEN.finditer(text[value.end :])]
    return before[: -_NEAR - 1 : -1], after[:_NEAR]


def difference(claim: str, sentence: str, probabilities: Probabilities) -> str:
    """What sets a claim against a sentence that may contradict it, in words; empty where that is improbable.

    Numbers and names come first, then a negation, then other words.
    """
    if probabilities.contradicted < LOWEST_THRESHOLD:
        return ""
    own = _quoted(claim, differing_spans(claim, sentence))
    its = _quoted(sentence, differing_spans(sentence, claim))
    if own and its:
        return f"the claim says {own}, the source {its}"
    in_claim, in_sentence = _negation(claim), _negation(sentence)
    if bool(in_claim) != bool(in_sentence):
        return f"only the {'claim' if in_claim else 'source'} says “{in_claim or in_sentence}”"
    own, its = (_quoted(a, _other_words(a, b)) for a, b in ((claim, sentence), (sentence, claim)))
    if own and its:
        return f"the claim says {own}, the source {its}"
    return "both use the same words in another order"


def _other_words(text: str, other: str) -> list[Span]:
    """The longest run of words that the other text lacks, without stop words at its ends."""
    theirs = {_normal(m) for m in _TOKEN.finditer(other)}
    runs: list[list[re.Match[str]]] = [[]]
    for match in _TOKEN.finditer(text):
        word = _normal(match)
        if word in theirs and word not in STOP_WORDS:
            runs.append([])
        elif runs[-1] or word not in STOP_WORDS:
            runs[-1].append(match)
    for run in runs:
        while run and _normal(run[-1]) in STOP_WORDS:
            run.pop()
    longest = max(runs, key=len)
    return [(longest[0].start(), longest[-1].end())] if longest else []


def _normal(match: re.Match[str]) -> str:
    return match[0].replace(",", "") if match["number"] else folded(match[0])


def _quoted(text: str, spans: list[Span]) -> str:
    return " and ".join(quoted(text[start:end]) for start, end in spans)


def quoted(part: str) -> str:
    """In quotation marks, cut where it is long."""
    return f"“{part if len(part) <= LONGEST else part[:LONGEST].rsplit(' ', 1)[0] + ' …'}”"
