"""The larger NLI model: all-mpnet-base-v2 with our adapter, made on the user's machine
(training/README.md).

It recognises support best where it reads every sentence by itself; the most probable one decides
(as in SummaC, Laban
et al. 2022, section 4). Sentences that share no word with the claim are not read. Where one says
something of it, the
whole passage counts as well, since a claim may need several sentences. What looks decisive is read
again in its
context, and a contradiction must hold in every context: "he won it in 1962" contradicts much that
is about somebody
else. What a passage says word for word it entails. Long claims are read by the small model too,
which takes a passage
as a whole.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from operator import itemgetter
from pathlib import Path

from attribution.models import files
from attribution.models.engine import SLOW, OnnxModel, in_threads
from attribution.models.files import Progress
from attribution.models.loading import load_once
from attribution.policy import LOWEST_THRESHOLD
from attribution.settings import Settings, models_folder
from attribution.text.sentences import sentences
from attribution.text.words import deciding_sentence
from attribution.types import Judgement, Pair, Probabilities, Span
from attribution.verifiers.antecedents import antecedent
from attribution.verifiers.calibration import log_odds, softmax
from attribution.verifiers.embedded_small import EmbeddedSmall
from attribution.verifiers.pairs import (
    check_claim_tokens,
    check_pairs,
    sharing,
    windows,
    word_for_word,
)

FOLDER = Path(__file__).parent / "base"
ADAPTER = "adapter_model.safetensors"
READING = "12"  # of the rules below and of the int8 weights: part of the version
WINDOW = 256  # tokens of claim and premise together
TITLE_TOKENS = 24
LONG_SENTENCE = 96  # tokens: more are read in parts
NOTICED = 0.1  # a sentence's support from which on the whole passage is read
# how much that counts; both were chosen on the choosing halves and the examples
# (training/README.md)
WHOLE = 0.3
LONG_CLAIM = 20  # words: claims with more are read by the small model too
WEIGHTS = (0.6, 0.5, 0.6)  # of both models' log odds of support, and what is added
KEPT = 4096  # readings: a run makes some hundreds
START, SEPARATOR = 0, 2  # of MPNet's vocabulary


def model_folder() -> Path:
    """The folder that the model is made in."""
    return models_folder() / "embedded-base"


def make(progress: Progress = lambda share, what: None, settings: Settings | None = None) -> Path:
    """Make the model unless it is present and valid. Raises Unavailable without its base, or where
    our part of it
    is damaged."""
    from attribution.models import merge

    files.check_shipped(FOLDER)
    return merge.build(FOLDER, model_folder(), progress)


class Reader(OnnxModel):
    """Three-way NLI on int8 ONNX; logits are entailed, no relation, contradicted."""

    def read(self, premise: Sequence[int], claim: Sequence[int]) -> tuple[float, float]:
        """(entailed, contradicted) of a claim by a premise, as token ids."""
        import numpy as np

        ids = np.array([START, *premise, SEPARATOR, SEPARATOR, *claim, SEPARATOR], dtype=np.int64)
        entailed, _, contradicted = softmax(self.run({"ids": ids})[0])
        return entailed, contradicted


class CachingReader:
    """A reader that reads nothing twice: passages of one page overlap, pages copy each other, and
    what is in doubt is
    asked again."""

    def __init__(self, reader: Reader) -> None:
        self._reader, self.encode = reader, reader.encode
        self._found: dict[tuple[tuple[int, ...], tuple[int, ...]], tuple[float, float]] = {}

    def read(self, premise: Sequence[int], claim: Sequence[int]) -> tuple[float, float]:
        key = tuple(premise), tuple(claim)
        found = self._found.get(key)
        if found is None:
            if len(self._found) >= KEPT:
                self._found.clear()
            found = self._found[key] = self._reader.read(premise, claim)
        return found


@load_once
def reader() -> Reader:
    """The network, made at its first use. Raises Unavailable without its base."""
    return Reader(make(), unfused=SLOW)


class EmbeddedBase:
    """Verifier `embedded-base`."""

    def __init__(self, settings: Settings) -> None:
        self._small = EmbeddedSmall(settings)
        self.version = (
            f"embedded-base/{_adapter_id()}.{READING}+{self._small.version.partition('/')[2]}"
        )
        self._plain = settings.decision == "plain"
        self._caching: CachingReader | None = (
            None  # from the first pair on: making the model takes seconds
        )

    def verify(self, pairs: Sequence[Pair]) -> list[Judgement]:
        """One judgement for each pair. BadInput for a claim or evidence that is empty or too long."""
        check_pairs(pairs)
        caching = self._caching = self._caching or CachingReader(reader())
        passages = in_threads(lambda pair: PassageReading(caching, *pair), pairs)
        if self._plain:
            return in_threads(PassageReading.plain, passages)
        # by sentence: by passage, the last of a few long ones would be read with the other cores
        # idle; the same once
        parts = {
            (pair[0], pair[1][slice(*s)]): (p, s)
            for pair, p in zip(pairs, passages, strict=True)
            for s in p.near
        }
        in_threads(lambda part: part[0].probabilities(*part[1], titled=False), list(parts.values()))
        return self._second_reading(pairs, in_threads(PassageReading.judgement, passages))

    def _second_reading(self, pairs: Sequence[Pair], judged: list[Judgement]) -> list[Judgement]:
        """Have the small model read the long claims that a passage may support and none of its
        sentences denies.
        """
        again = [
            i
            for i, (pair, found) in enumerate(zip(pairs, judged, strict=True))
            if len(pair[0].split()) > LONG_CLAIM
            and found.probabilities.entailed >= NOTICED
            and found.against is not None
            and found.against < LOWEST_THRESHOLD
        ]
        for i, second in zip(again, self._small.verify([pairs[i] for i in again]), strict=True):
            judged[i] = combined(judged[i], second)
        return judged


def combined(first: Judgement, second: Judgement) -> Judgement:
    """Return the first judgement with the support that both models see, weighed as on long claims
    of three sets.
    """
    own, other, shift = WEIGHTS
    support = (
        own * log_odds(first.probabilities.entailed)
        + other * log_odds(second.probabilities.entailed)
        + shift
    )
    entailed = 1 / (1 + math.exp(-support))
    contradicted = min(first.probabilities.contradicted, 1 - entailed)
    signals = first.signals | {"small_entailed": round(second.probabilities.entailed, 4)}
    probabilities = Probabilities(
        entailed=entailed,
        contradicted=contradicted,
        no_relation=max(0.0, 1 - entailed - contradicted),
    )
    return replace(first, probabilities=probabilities, signals=signals)


@cache
def _adapter_id() -> str:
    files.check_shipped(FOLDER, ADAPTER)
    return files.digest(FOLDER / ADAPTER)[:8]


def statements(text: str) -> list[Span]:
    """The sentences of a passage, a question together with the sentence after it: by itself it
    states nothing.
    """
    spans: list[Span] = []
    for start, end in sentences(text):
        if not text[start:end].strip():
            continue
        if spans and text[slice(*spans[-1])].rstrip().endswith("?"):
            spans[-1] = (spans[-1][0], end)
        else:
            spans.append((start, end))
    return spans or [(0, len(text))]


class PassageReading:
    """One passage and one claim while they are read."""

    def __init__(
        self, reader: Reader | CachingReader, claim: str, evidence: str, title: str = ""
    ) -> None:
        self._reader, self._text, self._statement = reader, evidence, claim
        self._claim, _ = reader.encode(claim)
        check_claim_tokens(claim, len(self._claim))
        self._ids, self._offsets = reader.encode(evidence)
        self._title = (
            reader.encode(f"{title}.")[0][:TITLE_TOKENS]
            if title and not evidence.startswith(title)
            else []
        )
        self._room = WINDOW - len(self._claim) - TITLE_TOKENS - 4
        self._read: dict[tuple[int, int, bool], tuple[float, float]] = {}
        self.spans = statements(evidence)
        near = sharing(claim, evidence, self.spans)
        self.whole = self.spans[0][0], self.spans[-1][1]
        self._repeated = word_for_word(claim, evidence, self.spans)
        self.near = [] if self._repeated else near or [self.whole]  # what is read by itself
        names = {span: antecedent(claim, evidence, self.spans, span) for span in self.near}
        self._names = {
            span: reader.encode(f"{name}:")[0][:TITLE_TOKENS]
            for span, name in names.items()
            if name
        }

    def probabilities(self, start: int, end: int, titled: bool) -> tuple[float, float]:
        """(entailed, contradicted) of a part of the evidence, in characters; of the surest window
        of a long one.
        """
        titled = titled and bool(self._title)
        if (start, end, titled) not in self._read:
            first = bisect_right(self._offsets, start, key=itemgetter(1))
            last = bisect_left(self._offsets, end, key=itemgetter(0))
            ids, offsets = self._ids[first:last], self._offsets[first:last]
            before = self._names.get((start, end)) or (self._title if titled else [])
            starts = [s for s in self.spans if start <= s[0] < end]
            room = self._room if len(starts) > 1 else min(self._room, LONG_SENTENCE)
            readings = [
                self._reader.read([*before, *ids[a:b]], self._claim)
                for a, b in windows(offsets, starts, room)
            ]
            self._read[start, end, titled] = max(readings, key=max)
        return self._read[start, end, titled]

    def plain(self) -> Judgement:
        """The model's own probabilities for the whole passage."""
        entailed, contradicted = self.probabilities(*self.whole, titled=False)
        none = max(0.0, 1 - entailed - contradicted)
        return Judgement(
            Probabilities(entailed=entailed, contradicted=contradicted, no_relation=none),
            deciding_sentence(self._statement, self._text),
        )

    def judgement(self) -> Judgement:
        if self._repeated:
            return self._repeated
        spans = self.near
        alone = {span: self.probabilities(*span, titled=False) for span in spans}
        supporting = max(spans, key=lambda span: alone[span][0])
        against = max(spans, key=lambda span: alone[span][1])
        entailed, contradicted = self._support(supporting), alone[against][1]
        for context in self._contexts(against):
            if contradicted >= LOWEST_THRESHOLD:
                contradicted = min(contradicted, self.probabilities(*context, titled=True)[1])
        contradicted = min(contradicted, 1 - entailed)
        none = max(0.0, 1 - entailed - contradicted)
        decisive = max(entailed, contradicted) >= LOWEST_THRESHOLD
        if decisive:
            sentence = supporting if entailed >= contradicted else against
        else:
            sentence = deciding_sentence(self._statement, self._text)
        signals = {
            "sentence_entailed": alone[supporting][0],
            "sentence_contradicted": alone[against][1],
        }
        return Judgement(
            Probabilities(entailed=entailed, contradicted=contradicted, no_relation=none),
            sentence,
            {name: round(value, 4) for name, value in signals.items()},
            round(alone[against][1], 4),
        )

    def _support(self, sentence: Span) -> float:
        """The mean of a sentence by itself and after the title, and the whole passage by a lesser
        share.
        """
        found = self.probabilities(*sentence, titled=False)[0]
        if found < NOTICED:
            return found
        if found >= LOWEST_THRESHOLD:
            found = (found + self.probabilities(*sentence, titled=True)[0]) / 2
        if len(self.spans) == 1:
            return found
        return (1 - WHOLE) * found + WHOLE * self.probabilities(*self.whole, titled=True)[0]

    def _contexts(self, span: Span) -> list[Span]:
        """The passage, and a sentence with its neighbours and by itself: what changes most comes
        first.
        """
        i = self.spans.index(span) if span in self.spans else 0
        last = len(self.spans) - 1
        around = [(0, last), (max(0, i - 1), i), (i, min(last, i + 1)), (i, i)]
        return [(self.spans[a][0], self.spans[b][1]) for a, b in dict.fromkeys(around)]
