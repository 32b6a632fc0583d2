"""Does a passage say a claim word for word? Models are unsure of long sentences compared with themselves."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from attribution.text.inline import CITATION
from attribution.types import Span

_EDGES = '*_`#.,;:!…()"“”„«»'  # not signs that belong to a value: "-5", "$5", "5%"
_MIN_WORDS = 3
_QUOTATION, _QUESTION = re.compile(r"\s*[“\"„«]"), re.compile(r"[?？]\W*$")


def verbatim(claim: str, text: str, sentences: Sequence[Span]) -> Span | None:
    """Where one or more whole sentences of the text are the claim word for word, or None.

    Case, white space, citation marks and punctuation at the edges of words do not count. A quotation is not what the
    text itself says, and neither is a question.
    """
    wanted = _words(claim)
    if len(wanted) < _MIN_WORDS:
        return None
    for i, (start, _) in enumerate(sentences):
        said: tuple[str, ...] = ()
        for _, end in sentences[i:]:
            said = _words(text[start:end])
            if len(said) >= len(wanted) or said != wanted[: len(said)]:
                break
        if said == wanted and _states(text[start:end], claim):
            return start, end
    return None


def _states(said: str, claim: str) -> bool:
    quoted, asked = ([bool(pattern.search(text)) for text in (said, claim)] for pattern in (_QUOTATION, _QUESTION))
    return quoted[0] <= quoted[1] and asked[0] <= asked[1]


@lru_cache(maxsize=8192)
def _words(text: str) -> tuple[str, ...]:
    words = (word.strip(_EDGES) for word in CITATION.sub(" ", text).replace("’", "'").casefold().split())
    return tuple(word for word in words if word)
