"""Corrections by a language model: the smallest change after which the passage supports the claim.

The task is that of RARR's editor (Gao et al. 2023, section 3.2): one claim, one passage, and only what disagrees is
changed.
"""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import BaseModel, ConfigDict

from attribution.contrast.subject import keeps_subject
from attribution.corrections.correction import changed_words, word_spans
from attribution.llm import prompts
from attribution.llm.client import Llm, Question
from attribution.settings import Settings
from attribution.types import LlmUsage

LONGEST = 600  # characters of a claim
MOST_CHANGED = 0.5  # share of the claim's words; a wording that changes more is another claim


class CorrectionReply(BaseModel):
    model_config = ConfigDict(extra="ignore")

    claims: list[str]


class LlmCorrector:
    """Corrector `llm`."""

    def __init__(self, settings: Settings) -> None:
        """Unavailable where no endpoint is configured."""
        self._llm = Llm(settings)
        self._prompt = prompts.load("correction.v1")
        self.version = f"{self._prompt.version}/{self._llm.version}"

    @property
    def usage(self) -> LlmUsage:
        """What the prompts cost so far."""
        return self._llm.usage

    def candidates(self, claim: str, passage: str, right: Sequence[str] = ()) -> list[str]:
        """At most three wordings. Raises LlmFailed where the model did not answer."""
        question = Question(self._prompt.render(claim=claim, passage=passage), self._prompt.version)
        reply = self._llm.ask(question, CorrectionReply)
        words = max(1, len(word_spans(claim)))
        lines = dict.fromkeys(" ".join(text.split()) for text in reply.value.claims[:3])
        small = (t for t in lines if t and len(t) <= LONGEST and 0 < changed_words(claim, t) <= MOST_CHANGED * words)
        return [text for text in small if keeps_subject(claim, text)]
