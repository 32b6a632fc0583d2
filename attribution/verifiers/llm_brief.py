"""Verify with a language model in brief: a short passage, and one word as reply. For models on this
machine.
"""

from __future__ import annotations

import json
import time

from pydantic import BaseModel, field_validator

from attribution.errors import LlmFailed
from attribution.llm.client import CHARACTERS_PER_TOKEN, Llm, Question
from attribution.settings import Settings
from attribution.text.sentences import sentences
from attribution.types import Pair, Relation, Span, content_id
from attribution.verifiers.llm import REPLY_TOKENS as VERDICT_TOKENS
from attribution.verifiers.llm import ByPrompt, LlmVerifier, PairRelation, PairVerifier

CONFIDENCE = 0.8  # of a label without one: enough to decide, never a strong badge
SHORT = 320  # characters of a passage with its neighbours
PATIENCE = 10.0  # seconds that a reply about one claim, with reasons and quotes, may take


class Stated(PairRelation):
    """The reply on what a passage says; "no" is no contradiction: small models do not tell it from
    silence.
    """

    @field_validator("relation")
    @classmethod
    def _no_is_silence(cls, found: Relation) -> Relation:
        return "entailed" if found == "entailed" else "no_relation"


class BriefLlmVerifier(PairVerifier):
    """Reads one pair a prompt. The passage is to be short, since its deciding sentence is the
    quote.
    """

    reads_question = False
    sure = CONFIDENCE
    form = Stated

    def __init__(self, llm: Llm) -> None:
        ByPrompt.__init__(self, llm, "verification_brief.v4")

    def _question(self, pair: Pair) -> Question:
        return Question.of(self._prompt, claim=pair[0], passage="\n".join((*pair[2:], pair[1])))


def neighbourhood(text: str, place: Span) -> str:
    """Return a sentence with the one before and the one after it, as far as they fit into a short
    passage.
    """
    start, end = place
    before = [first for first, last in sentences(text) if last <= start][-1:]
    after = [last for first, last in sentences(text) if first >= end][:1]
    start = next((first for first in before if end - first <= SHORT), start)
    end = next((last for last in after if last - start <= SHORT), end)
    return text[start:end]


class _AnyWords(BaseModel):
    text: str

    @classmethod
    def from_words(cls, text: str) -> dict[str, object]:
        return {"text": text}


def chosen(settings: Settings, passages: int, ask: bool = True) -> LlmVerifier | BriefLlmVerifier:
    """Return the form that suits the model's pace with so many passages. Raises LlmFailed.

    The pace is measured once and kept; until then, and without asking, the full form is expected.
    """
    full = LlmVerifier(settings)
    key = content_id("pace", full.llm.key)
    cache = full.llm.cache
    pace = float(json.loads(stored)) if cache and (stored := cache.reply(key)) else None
    if pace is None and ask:
        pace = _pace(full.llm)
        if cache:
            cache.put_reply(key, json.dumps(pace))
    slow = pace is not None and passages * VERDICT_TOKENS > PATIENCE * pace
    return BriefLlmVerifier(full.llm) if slow else full


def _pace(llm: Llm) -> float:
    """Measure the tokens a second of one short reply, whatever it says. Raises LlmFailed if there
    is none.
    """
    before, written = llm.usage, 0
    question = Question(
        "Write the numbers from 1 to 20, and nothing else.", f"pace/{time.time_ns()}", as_json=False
    )
    try:
        written = len(llm.ask(question, _AnyWords).value.text) // CHARACTERS_PER_TOKEN
    except LlmFailed:
        if not llm.usage.since(before).completion_tokens:
            raise
    used = llm.usage.since(before)
    return max(used.completion_tokens or written, 1) / max(used.seconds, 0.001)
