"""Claims of a rule-based segmenter, reworded by a language model, as W24 (section 3) does for PredPatt."""

from __future__ import annotations

import threading
from collections.abc import Sequence

from attribution.errors import LlmFailed
from attribution.llm import prompts
from attribution.llm.client import Llm, Question, Reply
from attribution.segmenters.alignment import merge
from attribution.segmenters.llm import Claims, clean
from attribution.settings import Settings
from attribution.types import Claim, Failure, LlmUsage, Segmented, Span

KEPT = "the claims keep the wording of the rules"
TOKENS_PER_CLAIM = 20  # about; for estimates


class Fluent:
    """Rewording with one prompt per sentence. Only the wording changes: the spans stay those of the rules."""

    def __init__(self, settings: Settings) -> None:
        """Raises Unavailable if no endpoint is configured."""
        self.llm, self.prompt = Llm(settings), prompts.load("predpatt_fluent.v1")
        self.version = f"{self.prompt.version}/{self.llm.version}"

    def reword(self, answer: str, claims: Sequence[Claim], stop: threading.Event | None = None) -> Segmented:
        """Reword the claims sentence by sentence, in order; if a reply fails, the rules' wording is kept."""
        self.llm.stop = stop or self.llm.stop
        groups = list(_groups(claims).items())
        replies = self.llm.map([self._question(answer, span, group) for span, group in groups], Claims)
        wordings: dict[str, str] = {}
        failures: list[Failure] = []
        for (span, group), reply in zip(groups, replies, strict=True):
            try:
                wordings |= zip((c.id for c in group), _wordings(reply, len(group)), strict=True)
            except LlmFailed as error:
                subject = answer[slice(*span)][:200]
                failures.append(LlmFailed(f"{error}; {KEPT}", detail=error.detail).as_failure("segment", subject))
        reworded = [c.model_copy(update={"text": wordings.get(c.id, c.text)}) for c in claims]
        return Segmented(merge(reworded), tuple(failures), self.llm.usage, self.version)

    def estimate(self, answer: str, claims: Sequence[Claim]) -> LlmUsage:
        """Estimate the usage of rewording, without a request."""
        groups = _groups(claims)
        tokens = TOKENS_PER_CLAIM * sum(map(len, groups.values())) // max(1, len(groups))
        return self.llm.estimate([self._question(answer, s, g) for s, g in groups.items()], Claims, tokens)

    def _question(self, answer: str, span: Span, group: Sequence[Claim]) -> Question:
        statements = "\n".join(c.text for c in group)
        return Question(self.prompt.render(sentence=answer[slice(*span)], statements=statements), self.prompt.version)


def _groups(claims: Sequence[Claim]) -> dict[Span, list[Claim]]:
    """Group the claims by sentence, for the sentences that were split."""
    groups: dict[Span, list[Claim]] = {}
    for claim in claims:
        if claim.sentence is not None and claim.spans != (claim.sentence,):
            groups.setdefault(claim.sentence, []).append(claim)
    return groups


def _wordings(reply: Reply[Claims] | LlmFailed, expected: int) -> list[str]:
    """Return one wording for each claim. Raises LlmFailed if the number differs."""
    if isinstance(reply, LlmFailed):
        raise reply
    texts = [clean(text) for text in reply.value.claims]
    if len(texts) != expected or not all(texts):
        raise LlmFailed(f"the language model wrote {len(texts)} claims where {expected} were expected")
    return texts
