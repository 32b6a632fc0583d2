"""One claim a sentence, list item or table row (V24 4.1)."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from itertools import pairwise

from attribution.segmenters import WithoutLlm
from attribution.segmenters.english.drafts import segment
from attribution.text.parse import parse
from attribution.text.passages import AnswerPassage
from attribution.text.sentences import trimmed
from attribution.types import Segmented, Span


class Sentences(WithoutLlm):
    """Segmenter `sentences`."""

    def _spans(self, passage: AnswerPassage) -> Iterable[Span]:
        """Return the sentences of a passage."""
        return passage.sentences()

    def segment(self, question: str, answer: str, stop: threading.Event | None = None) -> Segmented:
        """Return claims in the order of the answer."""
        return segment(answer, lambda sentence: [], spans=self._spans)


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
            if start < end:
                yield start, end
