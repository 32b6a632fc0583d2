"""A language model reads the whole answer and the question, and lists independent claims (V24
5.1.2).
"""

from __future__ import annotations

import threading
from collections.abc import Sequence

from attribution.errors import LlmFailed
from attribution.llm import prompts
from attribution.llm.client import Llm, Question
from attribution.segmenters.alignment import aligned_claim, merge
from attribution.segmenters.llm import Claims, as_rewrite
from attribution.segmenters.sentences import Sentences
from attribution.settings import Settings
from attribution.types import Claim, Failure, LlmUsage, Segmented, Span

PART = 6000  # characters sent at once: a small model misses claims in longer texts


class Direct:
    """Segmenter `direct`."""

    def __init__(self, settings: Settings) -> None:
        self.llm, self.prompt = Llm(settings), prompts.load("direct.v1", settings)
        self.version = f"{self.prompt.version}/{self.llm.version}"
        self._sentences = Sentences(settings)

    def segment(self, question: str, answer: str, stop: threading.Event | None = None) -> Segmented:
        """Return claims in the order of the answer; if the reply for a part fails, its sentences
        stay claims.
        """
        self.llm.stop = stop or self.llm.stop
        parts = self._parts(question, answer)
        replies = self.llm.map([self._question(question, answer, p) for p in parts], Claims)
        sentences = [span for part in parts for claim in part for span in claim.spans]
        claims: list[Claim] = []
        failures: list[Failure] = []
        for part, reply in zip(parts, replies, strict=True):
            rewrite = as_rewrite(reply)
            claims += [aligned_claim(t, answer, sentences, question) for t in rewrite.texts] or part
            if rewrite.problem:
                message = (
                    rewrite.problem
                    if rewrite.texts
                    else f"{rewrite.problem}; the sentences are kept as they are"
                )
                failure = LlmFailed(message, detail=rewrite.detail)
                failures.append(failure.as_failure("segment", answer[slice(*_extent(part))][:200]))
        claims.sort(
            key=lambda c: c.spans[0][0] if c.spans else len(answer)
        )  # what is not in the answer comes last
        return Segmented(merge(claims), tuple(failures), self.llm.usage, self.version)

    def estimate(self, question: str, answer: str) -> LlmUsage:
        """Estimate the usage of segmenting, without a request."""
        parts = self._parts(question, answer)
        tokens = sum(len(c.text) for p in parts for c in p) // 3 // max(1, len(parts))
        return self.llm.estimate(
            [self._question(question, answer, p) for p in parts], Claims, tokens
        )

    def _parts(self, question: str, answer: str) -> list[list[Claim]]:
        """Group the sentences into parts of at most PART characters."""
        parts: list[list[Claim]] = []
        for sentence in self._sentences.segment(question, answer).claims:
            if parts and sentence.spans[0][1] - parts[-1][0].spans[0][0] <= PART:
                parts[-1].append(sentence)
            else:
                parts.append([sentence])
        return parts

    def _question(self, question: str, answer: str, part: Sequence[Claim]) -> Question:
        text = answer[slice(*_extent(part))]
        return Question.of(self.prompt, question=question or "(not known)", answer=text)


def _extent(part: Sequence[Claim]) -> Span:
    return part[0].spans[0][0], max(c.spans[0][1] for c in part)
