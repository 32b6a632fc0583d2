"""Passages cut down to what the verifiers read: they take a passage sentence by sentence, and the surest decides."""

from __future__ import annotations

import random
from dataclasses import replace

from attribution.text.lexical import terms
from attribution.text.sentences import sentences
from training.data import LABELS, NOT_ENTAILMENT, Pair

SILENT = (LABELS.index("neutral"), NOT_ENTAILMENT)  # what holds of a passage holds of each of its sentences
LONGEST = 3  # sentences of a part; evidence that is further apart stays whole
ALONE = 0.5  # of silent passages: how often but one sentence stays


def shared(claim: str, text: str) -> int:
    """How many of the claim's content words and numbers a text holds."""
    (content, numbers, _), (held, held_numbers, _) = terms(claim), terms(text)
    return len(content & held) + len(numbers & held_numbers)


def telling_part(claim: str, text: str, longest: int = LONGEST) -> str:
    """The shortest run of at most `longest` sentences that shares as many words with the claim as the whole text does;
    the text itself where none does. Of runs of one length, the first."""
    spans = sentences(text)
    most = shared(claim, text)
    for length in range(1, min(longest, len(spans) - 1) + 1):
        for first in range(len(spans) - length + 1):
            run = text[spans[first][0] : spans[first + length - 1][1]].strip()
            if run and shared(claim, run) >= most:
                return run
    return text


def nearest_sentence(claim: str, text: str) -> str:
    """The sentence that shares most words with the claim, the first of several."""
    parts = [text[start:end].strip() for start, end in sentences(text)]
    return max((part for part in parts if part), key=lambda part: shared(claim, part), default=text)


def cut(pair: Pair, rng: random.Random) -> Pair:
    """The pair with a part of its passage. A title before it stays."""
    title = f"{pair.page}. " if pair.page and pair.premise.startswith(f"{pair.page}. ") else ""
    text = pair.premise[len(title) :]
    alone = pair.target in SILENT and rng.random() < ALONE
    return replace(pair, premise=title + (nearest_sentence if alone else telling_part)(pair.hypothesis, text))
