"""Whole answer and question → independent claims with their context (V24, section 4.4)."""

from __future__ import annotations

import threading
from collections.abc import Sequence

from attribution.errors import LlmFailed
from attribution.llm import prompts
from attribution.llm.client import Llm, Question
from attribution.segmenters.alignment import Similarity, align, merged
from attribution.segmenters.llm import Claims, cut_off, tidy
from attribution.segmenters.sentences import Sentences
from attribution.settings import Settings
from attribution.types import Claim, Failure, LlmUsage, Segmented, Span

PART = 6000  # characters sent at once: what a small model can still list without leaving things out


class Direct:
    """Segmenter `direct`."""

    def __init__(
        self, settings: Settings, stop: threading.Event | None = None, similar: Similarity | None = None
    ) -> None:
        self.llm, self.prompt = Llm(settings, stop=stop), prompts.load("direct.v1")
        self.version = f"{self.prompt.version}/{self.llm.version}"
        self._sentences, self._similar = Sentences(settings), similar

    def segment(self, question: str, answer: str, stop: threading.Event | None = None) -> Segmented:
        """Claims in the order of the answer; the sentences of a part that fails stay as the claims they are."""
        self.llm.stop = stop or self.llm.stop
        parts = self._parts(question, answer)
        replies = self.llm.map([self._question(question, answer, p) for p in parts], Claims)
        everywhere = [s for part in parts for c in part for s in c.spans]
        claims: list[Claim] = []
        failures: list[Failure] = []
        for part, reply in zip(parts, replies, strict=True):
            subject = answer[slice(*_extent(part))][:200]
            texts = [] if isinstance(reply, LlmFailed) else [t for t in map(tidy, reply.value.claims) if t]
            if not texts:
                why = str(reply) if isinstance(reply, LlmFailed) else "the language model found no claim"
                failures.append(LlmFailed(f"{why}; the sentences are kept as they are").as_failure("segment", subject))
                claims += part
                continue
            if not isinstance(reply, LlmFailed) and reply.truncated:
                failures.append(cut_off(subject))
            claims += [self._aligned(text, question, answer, everywhere) for text in texts]
        claims.sort(key=lambda c: c.spans[0][0] if c.spans else len(answer))  # what is not in the answer comes last
        return Segmented(merged(claims), tuple(failures), self.llm.usage, self.version)

    def estimate(self, question: str, answer: str) -> LlmUsage:
        """What segmenting would take, without asking."""
        parts = self._parts(question, answer)
        tokens = sum(len(c.text) for p in parts for c in p) // 3 // max(1, len(parts))
        return self.llm.estimate([self._question(question, answer, p) for p in parts], Claims, tokens)

    def _parts(self, question: str, answer: str) -> list[list[Claim]]:
        """The sentences, in runs of at most PART characters."""
        parts: list[list[Claim]] = []
        for sentence in self._sentences.segment(question, answer).claims:
            if parts and sentence.spans[0][1] - parts[-1][0].spans[0][0] <= PART:
                parts[-1].append(sentence)
            else:
                parts.append([sentence])
        return parts

    def _question(self, question: str, answer: str, part: Sequence[Claim]) -> Question:
        text = answer[slice(*_extent(part))]
        return Question(self.prompt.render(question=question or "(not known)", answer=text), self.prompt.version)

    def _aligned(self, text: str, question: str, answer: str, sentences: Sequence[Span]) -> Claim:
        found = align(text, answer, sentences, question, self._similar)
        return Claim(id="-", text=text, spans=found.spans, sentence=found.sentence, alignment=found.confidence)


def _extent(part: Sequence[Claim]) -> Span:
    return part[0].spans[0][0], max(c.spans[0][1] for c in part)
