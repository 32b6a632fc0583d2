"""One claim a sentence, list item or table row (V24 4.1)."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from itertools import pairwise

from attribution.segmenters import WithoutLlm
from attribution.segmenters.alignment import merge
from attribution.text.parse import parse
from attribution.text.passages import AnswerPassage, statements
from attribution.text.sentences import trimmed
from attribution.types import Claim, Segmented, Span


class Sentences(WithoutLlm):
    """Segmenter `sentences`."""

    def _spans(self, passage: AnswerPassage) -> Iterable[Span]:
        """Return the sentences of a passage."""
        return passage.sentences()

    def segment(self, question: str, answer: str, stop: threading.Event | None = None) -> Segmented:
        """Return claims in the order of the answer.

        A claim said twice is one claim with two spans.
        """
        claims: list[Claim] = []
        for passage in statements(answer):
            for start, end in self._spans(passage):
                span = passage.span(start, end)
                claim = Claim(
                    id="-",
                    text=passage.text[start:end],
                    spans=(span,),
                    sentence=span,
                    context=passage.item_context,
                )
                claims.append(claim)
        return Segmented(merge(claims))


class SpacySentences(Sentences):
    """Segmenter `spacy`: the sentences of spaCy's parse (V24 4.1)."""

    def _spans(self, passage: AnswerPassage) -> Iterator[Span]:
        whole = passage.text
        starts = [0]
        for sentence in parse(whole).sents:
            start = sentence.start_char
            if start and whole[start - 1].isspace():  # none within a word
                starts.append(start)
        for first, last in pairwise([*starts, len(whole)]):
            start, end = trimmed(whole, first, last)
            if any(map(str.isalnum, whole[start:end])):
                yield start, end
