"""What differs between a claim and a sentence: the numbers, names and words of one that the other lacks."""

from __future__ import annotations

import re

from attribution.text.lexical import NUMBER_WORDS, STOP_WORDS
from attribution.types import Probabilities, Span
from attribution.verdicts import LOWEST_THRESHOLD

_TOKEN = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d_]+(?:['’-][^\W\d_]+)*")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_NAME = re.compile(r"(?:(?!\d)[^\W_a-z][\w'’-]+)(?:[ ](?:[A-Z]\.[ ])?(?!\d)[^\W_a-z][\w'’-]+)*")
_NEGATION = re.compile(
    r"\b(?:not|no|never|none|neither|nor|without|nobody|nothing|cannot)\b|\w+n['’]t\b", re.IGNORECASE
)
_NOT_NAMES = STOP_WORDS | NUMBER_WORDS.keys()
LONGEST = 60  # characters of what is quoted


def differing_spans(text: str, other: str) -> list[Span]:
    """Numbers and names of one text that the other lacks, where it has one of that kind to set against.

    Where more than two of a kind differ, the texts are about different things and nothing is returned.
    """
    mine, theirs = _tokens(text), _tokens(other)
    spans: list[Span] = []
    for here, there in zip(_numbers_and_names(text), _numbers_and_names(other), strict=True):
        lacking = [m for m in here if not _tokens(m[0]) & theirs]
        against = [m for m in there if not _tokens(m[0]) & mine]
        if 0 < len(lacking) <= 2 and 0 < len(against) <= 2:
            spans += [m.span() for m in lacking]
    return sorted(spans)


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
    in_claim, in_sentence = _NEGATION.search(claim), _NEGATION.search(sentence)
    if in_claim and not in_sentence:
        return f"only the claim says “{in_claim[0]}”"
    if in_sentence and not in_claim:
        return f"only the source says “{in_sentence[0]}”"
    own, its = (_quoted(a, _other_words(a, b)) for a, b in ((claim, sentence), (sentence, claim)))
    if own and its:
        return f"the claim says {own}, the source {its}"
    return "both use the same words in another order"


def _normal(token: str) -> str:
    return token.replace(",", "") if token[0].isdigit() else token.casefold().removesuffix("'s").removesuffix("’s")


def _tokens(text: str) -> set[str]:
    return {_normal(token) for token in _TOKEN.findall(text)}


def _numbers_and_names(text: str) -> tuple[list[re.Match[str]], list[re.Match[str]]]:
    """Words of a name that follow each other are one."""
    names = (m for m in _NAME.finditer(text) if m[0][0].isupper() and len(m[0]) > 1)
    return list(_NUMBER.finditer(text)), [m for m in names if m[0].casefold() not in _NOT_NAMES]


def _other_words(text: str, other: str) -> list[Span]:
    """The longest run of words that the other text lacks, without stop words at its ends."""
    theirs = _tokens(other)
    runs: list[list[re.Match[str]]] = [[]]
    for match in _TOKEN.finditer(text):
        word = _normal(match[0])
        if word in theirs and word not in STOP_WORDS:
            runs.append([])
        elif runs[-1] or word not in STOP_WORDS:
            runs[-1].append(match)
    for run in runs:
        while run and _normal(run[-1][0]) in STOP_WORDS:
            run.pop()
    longest = max(runs, key=len)
    return [(longest[0].start(), longest[-1].end())] if longest else []


def _quoted(text: str, spans: list[Span]) -> str:
    parts = [text[start:end] for start, end in spans]
    return " and ".join(
        f"“{part if len(part) <= LONGEST else part[:LONGEST].rsplit(' ', 1)[0] + ' …'}”" for part in parts
    )
