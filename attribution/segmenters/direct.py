"""A language model reads question and answer together, and lists independent claims (V24 5.1.2)."""

from __future__ import annotations

import threading

from attribution.errors import LlmFailed
from attribution.llm import prompts
from attribution.llm.client import CHARACTERS_PER_TOKEN, Llm, Question
from attribution.segmenters.alignment import aligned_claim, merge
from attribution.segmenters.llm_segmenters import Claims, as_rewrite
from attribution.segmenters.sentence_by_sentence import Sentences
from attribution.settings import Settings
from attribution.types import Failure, LlmUsage, Segmented, Span


class Direct:
    """Segmenter `direct`."""

    def __init__(self, settings: Settings) -> None:
        self.llm = Llm(settings)
        self.prompt = prompts.load("direct.v1", settings)
        self.version = f"{self.prompt.version}/{self.llm.version}"
        self._sentences = Sentences(settings)

    def segment(self, question: str, answer: str, stop: threading.Event | None = None) -> Segmented:
        """Return claims in the order of the answer; those that are not in it come last.

        Without a usable reply, its sentences are the claims.
        """
        self.llm.stop = stop or self.llm.stop
        sentences = self._sentences.segment(question, answer).claims
        (reply,) = self.llm.map([self._question(question, answer)], Claims)
        rewrite = as_rewrite(reply)
        spans: list[Span] = []
        for sentence in sentences:
            spans += sentence.spans
        claims = [aligned_claim(text, answer, spans, question) for text in rewrite.texts]
        end = len(answer)
        claims.sort(key=lambda claim: claim.spans or ((end, end),))
        failures: list[Failure] = []
        if rewrite.problem:
            kept = "" if claims else "; the sentences are kept as they are"
            failure = LlmFailed(rewrite.problem + kept, detail=rewrite.detail)
            failures.append(failure.as_failure("segment", answer[:200]))
        ordered = merge(claims) if claims else sentences
        return Segmented(ordered, tuple(failures), self.llm.usage, self.version)

    def estimate(self, question: str, answer: str) -> LlmUsage:
        """Estimate the usage of segmenting, without a request."""
        tokens = len(answer) // CHARACTERS_PER_TOKEN
        return self.llm.estimate([self._question(question, answer)], Claims, tokens)

    def _question(self, question: str, answer: str) -> Question:
        return Question.of(self.prompt, question=question or "(not known)", answer=answer)
