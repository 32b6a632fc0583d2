"""Tell passages that treat a claim as a rumour: they ask whether it is true, or call it a hoax.

Where other pages doubt a claim, a page that states it is weak support: rumours are copied more often than checked. The
words that show doubt are data (`data/doubts.toml`).
"""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

from attribution.evidence.factuality import QUESTION, YES_OR_NO
from attribution.text.sentences import sentences
from attribution.text.words import terms, word_lists, words_of

_WORDS = word_lists(Path(__file__).parent / "data" / "doubts.toml")
ASKS, RUMOUR = "the source asks whether this is true", "the source treats this as a rumour"
REACH = 3  # words before a sign in which it may be denied
SHORT = 4  # words: "Rating: False" need not repeat the claim
ASKED = 0.5  # least share of the claim's words in a question, or of a doubtful question's words in the claim
ONLY = 0.6  # least share of a question's words that are the claim's


def doubt(claim: str, passage: str, title: str = "") -> str:
    """Say how a passage doubts the claim; empty where it does not. Words that the claim has too show nothing.

    The title of its page is read as a sentence of it.
    """
    own, texts = set(words_of(claim)), [title, *(passage[slice(*span)].strip() for span in sentences(passage))]
    if any(
        _asks(claim, text) and not _WORDS["yes"] & set(words_of(after)[:1]) for text, after in pairwise((*texts, ""))
    ):
        return ASKS
    short = len(words_of(passage)) <= SHORT
    return RUMOUR if any(_tells_of_rumour(claim, text, own, short) for text in texts) else ""


def _tells_of_rumour(claim: str, sentence: str, own: set[str], short: bool) -> bool:
    words = words_of(sentence)
    shared = SHORT if short else len(_content(claim) & _content(sentence))
    if shared > 0 and any(
        word in _WORDS["rumour"] and word not in own and not _WORDS["denied"] & set(words[max(0, i - REACH) : i])
        for i, word in enumerate(words)
    ):
        return True
    text = f" {' '.join(words)} "
    return shared > 1 and any(f" {phrase} " in text and not set(phrase.split()) <= own for phrase in _WORDS["phrases"])


def _content(text: str) -> frozenset[str]:
    content, numbers, _ = terms(text)
    return content | numbers


def _asks(claim: str, sentence: str) -> bool:
    """Return True for a question about nothing but the claim, to be answered with yes or no."""
    if not QUESTION.search(sentence):
        return False
    wanted, asked = _content(claim), _content(sentence)
    shared = len(wanted & asked)
    if shared > 1 and shared >= ASKED * len(asked) and _WORDS["doubtful"] & set(words_of(sentence)):
        return True
    return bool(shared >= ASKED * len(wanted) and shared >= ONLY * len(asked) and YES_OR_NO.search(sentence))
