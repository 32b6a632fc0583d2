"""One claim a sentence, list item or table row (V24, section 4.1), by spaCy's parser."""

from __future__ import annotations

import re
import threading

from attribution.settings import Settings
from attribution.text.markdown import Passage, passages
from attribution.text.nlp import parse
from attribution.types import Claim, LlmUsage, Segmented, Span, content_id

_ENDS = re.compile(r"[.!?…。]+[\"'”’»)\]]*$")
_ABBREVIATION = re.compile(
    r"(?:\b(?:Dr|Mr|Mrs|Ms|Prof|Sr|Jr|St|Mt|Gen|Col|Capt|Lt|Sgt|Rev|Hon|Gov|Sen|Rep|No|Nos|Fig|Figs|Eq|Vol|vol|pp|p|ch|sec|"
    r"Sec|Art|art|para|cf|vs|v|viz|ca|c|approx|est|e\.g|i\.e|a\.m|p\.m|U\.S|U\.K|U\.N|Inc|Ltd|Co|Corp|Bros|al|"
    r"Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept|Sep|Oct|Nov|Dec)|\b[A-Z])\.$"
)
_MARKER = re.compile(r"\s*\(?\d{1,2}[.)](?:\s+|$)")
_CERTAIN = re.compile(r"(?<=[a-z0-9)%”\"’]{2})[.!?]+[\"'”’)\]]*\s+(?=[\"“‘'(\[]?[A-Z])")


def boundaries(text: str) -> list[Span]:
    """Sentences of plain text, trimmed: spaCy's, but only where one can end, and wherever one must."""
    cuts = {sentence.start_char for sentence in parse(text).sents} | {m.end() for m in _CERTAIN.finditer(text)}
    spans: list[Span] = []
    start = 0
    for cut in (*sorted(cuts - {0}), len(text)):
        piece = text[start:cut].rstrip()
        following = text[cut:].lstrip()[:1]
        if cut < len(text) and (not _ENDS.search(piece) or _ABBREVIATION.search(piece) or following.islower()):
            continue
        marker = _MARKER.match(piece)
        if any(c.isalnum() for c in piece[marker.end() if marker else 0 :]):
            first = start + (marker.end() if marker else 0)
            spans.append((first + len(text[first:]) - len(text[first:].lstrip()), start + len(piece)))
        elif marker:
            pass  # the number of a list that runs on within a line
        elif spans:  # a stray mark belongs to the sentence before it
            spans[-1] = (spans[-1][0], start + len(piece))
        start = cut
    return spans


class Sentences:
    """Segmenter `sentences`."""

    def __init__(self, settings: Settings) -> None:
        pass

    def estimate(self, question: str, answer: str) -> LlmUsage | None:
        """None: no language model is used."""
        return None

    def segment(self, question: str, answer: str, stop: threading.Event | None = None) -> Segmented:
        """Claims in the order of the answer; a claim said twice is one claim with two spans."""
        found: dict[str, tuple[str, list[Span]]] = {}
        for passage in passages(answer):
            for text, span in self._pieces(passage):
                found.setdefault(" ".join(text.casefold().split()), (text, []))[1].append(span)
        return Segmented(
            tuple(
                Claim(id=content_id(text, str(spans[0])), text=text, spans=tuple(spans), sentence=spans[0])
                for text, spans in found.values()
            )
        )

    def _pieces(self, passage: Passage) -> list[tuple[str, Span]]:
        if not any(c.isalnum() for c in passage.text):
            return []
        spans = [(0, len(passage.text))] if passage.row else boundaries(passage.text)
        return [(passage.text[a:b], passage.span(a, b)) for a, b in spans]
