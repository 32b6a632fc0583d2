"""Numbers and quantifiers that become others."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from attribution.studies.groundedness.evoked.twin import Edit

if TYPE_CHECKING:
    from spacy.tokens import Doc

_NUMBER = re.compile(
    r"(?<![\w.,/:–\-])\d{1,3}(?:,\d{3})+(?:\.\d+)?(?![\w/:–\-])|(?<![\w.,/:–\-])\d+(?:\.\d+)?(?![\w/:–\-])"
)
_WORDS = "two three four five six seven eight nine ten eleven twelve".split()
_WORD = re.compile(r"\b(?:" + "|".join(_WORDS) + r")\b", re.I)
_FIGURE = re.compile(r"\d+(?:[.,]\d+)*")
_SPACED_FIGURE = re.compile(r"\s+\d")
_SPACED_WORD = re.compile(r"\s+[\d£$€a-z]")
_OTHERS = re.compile(r"\bothers?\b", re.I)
_MONTH = re.compile(r"\s+(?:January|February|March|April|May|June|July|August|September|October|November|December)\b")
_AGE_BEFORE = re.compile(r"\b(?:age of|aged|at age|, at) $", re.I)
_AT_LEAST = re.compile(r"\b(?:over|more than|at least|above|exceed\w*|minimum of|or more) (?:[£$€]\s*)?$", re.I)
_AT_MOST = re.compile(r"\b(?:under|less than|fewer than|at most|below|up to|maximum of|only) (?:[£$€]\s*)?$", re.I)
_YEAR = range(1000, 2100)
_LARGE, _HUNDRED = 50, 100
_NEAR = 60  # characters on either side of a word that are looked at
# From what holds of a part to what holds of all: the stronger statement does not follow from the weaker one.
SCOPES = {
    "some": "all", "most": "all", "often": "always", "usually": "always",
    "sometimes": "always", "generally": "always", "typically": "always", "frequently": "always", "partly": "entirely",
    "partially": "entirely", "mostly": "exclusively", "mainly": "exclusively", "primarily": "exclusively",
    "largely": "exclusively", "rarely": "never", "seldom": "never", "at least": "at most", "at most": "at least",
    "more than": "fewer than", "fewer than": "more than", "up to": "at least", "over half": "nearly all",
    "almost all": "almost none", "nearly all": "almost none",
}  # fmt: skip
_SCOPE = re.compile(r"\b(?:" + "|".join(sorted(SCOPES, key=len, reverse=True)) + r")\b", re.I)
_NOT_BEFORE = re.compile(
    r"(?:\b(?:the|not|no|than|for|how|as|so|too|very|even|one of|and|or|,|at|its|their|his|her)\s+)$", re.I
)


def numbers(doc: Doc, known: str, rng: random.Random) -> Iterator[Edit]:
    """Each number once, as another that `known` does not have; not those in names, ranges, dates of a day or labels."""
    taken = set(_FIGURE.findall(known))
    for match in _NUMBER.finditer(doc.text):
        token = next((t for t in doc if t.idx <= match.start() < t.idx + len(t)), None)
        before = doc[token.i - 1] if token is not None and token.i else None
        if token is None or (before is not None and before.pos_ == "PROPN"):
            continue  # "Apollo 11", "May 3"
        for _ in range(20):
            other = _other(match[0], _before(doc.text, match), doc.text[match.end() : match.end() + _NEAR], rng)
            if other not in taken and other != match[0]:
                yield Edit(match.start(), match.end(), other)
                break
    for match in _WORD.finditer(doc.text):
        if "-" in doc.text[max(0, match.start() - 1) : match.end() + 1]:
            continue  # "ten-pin"
        others = [w for w in _WORDS if w not in doc.text.lower() and abs(_WORDS.index(w) - _index(match[0])) > 1]
        if others:
            word = rng.choice(others)
            yield Edit(match.start(), match.end(), word.capitalize() if match[0][0].isupper() else word)


def _before(text: str, match: re.Match[str]) -> str:
    return text[max(0, match.start() - _NEAR) : match.start()]


def _index(word: str) -> int:
    return _WORDS.index(word.lower())


def _other(number: str, before: str, after: str, rng: random.Random) -> str:
    """A number written in the same way, clearly another: a year some years off, else about half or twice as much."""
    value = float(number.replace(",", ""))
    if _MONTH.match(after):
        return str(rng.randint(1, 28))
    places = len(number.partition(".")[2])
    if "," not in number and not places and len(number) == 4 and int(value) in _YEAR:
        return str(int(value) - rng.randint(3, 25))
    if _AGE_BEFORE.search(before) or after.lstrip().startswith(("years old", "year-old")):
        return str(max(1, int(value) + rng.choice((-9, -7, -6, -4, 4, 5, 7))))
    share = after.lstrip().startswith(("%", "percent", "per cent"))
    less, more = (0.3, 0.4, 0.5), (1.8, 2.2, 2.6)
    if _AT_LEAST.search(before):  # "over 20 billion" follows from "over 50 billion"
        factor = rng.choice(more)
    elif _AT_MOST.search(before) or (share and value > _LARGE):
        factor = rng.choice(less)
    else:
        factor = rng.choice(less + more)
    made = min(value * factor, _HUNDRED - 1) if share else value * factor
    if places:
        return f"{made:,.{places}f}" if "," in number else f"{made:.{places}f}"
    digits = len(number.replace(",", "").rstrip("0")) or 1
    size = 10 ** max(0, len(str(int(value))) - digits)  # 300,000 becomes 500,000, not 541,322
    whole = max(1, round(made / size)) * size
    return f"{whole:,}" if "," in number else str(whole)


def scopes(doc: Doc) -> Iterator[Edit]:
    """Quantifiers, frequencies and bounds made stronger than the sentence says."""
    for match in _SCOPE.finditer(doc.text):
        word, before = match[0], _before(doc.text, match)
        token = next(t for t in doc if t.idx <= match.start() < t.idx + len(t))
        other = SCOPES[word.lower()]
        adverb = " " not in word and other != "all"
        if _NOT_BEFORE.search(before) or (adverb and (not token.i or before.rstrip().endswith((".", "!", "?")))):
            continue  # "the most", "not often", "and many"
        bound = " " in word and word.lower() not in ("over half",)
        if bound and not _SPACED_WORD.match(doc.text, match.end()):
            continue
        if doc.text[match.end() : match.end() + _NEAR].lower().startswith((" accepted", " speaking")):
            continue  # "generally accepted accounting principles"
        if other == "all" and _OTHERS.search(doc.text):
            continue  # "some are …, others are …"
        if other == "all" and not (token.dep_ in ("amod", "det", "nummod") and token.head.tag_ in ("NNS", "NNPS")):
            continue  # "most likely", "some of them"
        if word.lower() in ("more than", "fewer than") and not _SPACED_FIGURE.match(doc.text, match.end()):
            continue
        yield Edit(match.start(), match.end(), other.capitalize() if word[0].isupper() else other)
