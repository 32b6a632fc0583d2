"""What a passage says word for word it entails. Models are unsure of long sentences compared with themselves."""

from __future__ import annotations

import re
from collections.abc import Sequence

from attribution.text.inline import CITATION
from attribution.types import Judgement, Probabilities, Span

SURE = 0.98  # as support
_EDGES = '*_`#.,;:!…()"“”„«»'  # not signs that belong to a value: "-5", "$5", "5%"
_MIN_WORDS = 3
_QUOTATION, _QUESTION = re.compile(r"[“\"„«]"), re.compile(r"[?？][^\w?？]*$")


def word_for_word(claim: str, text: str, sentences: Sequence[Span]) -> Judgement | None:
    """The judgement of a text of which one or more whole sentences are the claim, or None where none are.

    Case, white space, citation marks and punctuation at the edges of words do not count. A quotation is not what the
    text itself says, and neither is a question.
    """
    wanted = _words(claim)
    if len(wanted) < _MIN_WORDS:
        return None
    said = [(span, words) for span in sentences if (words := _words(text[slice(*span)]))]
    for first, ((start, _), _) in enumerate(said):
        found, last = 0, first
        while last < len(said) and said[last][1] == wanted[found : found + len(said[last][1])]:
            found += len(said[last][1])
            last += 1
        if found == len(wanted) and _states(text[start : said[last - 1][0][1]], claim):
            support = Probabilities(entailed=SURE, contradicted=0.0, no_relation=1 - SURE)
            return Judgement(support, (start, said[last - 1][0][1]), {"verbatim": 1.0})
    return None


def _states(said: str, claim: str) -> bool:
    return all(mark.search(claim) or not mark.search(said) for mark in (_QUOTATION, _QUESTION))


def _words(text: str) -> list[str]:
    words = (word.strip(_EDGES) for word in CITATION.sub(" ", text).replace("’", "'").casefold().split())
    return [word for word in words if word]
