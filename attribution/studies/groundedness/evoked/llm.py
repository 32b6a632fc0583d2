"""Make alterations and name error types with language models."""

from __future__ import annotations

import re
from collections.abc import Sequence

from pydantic import BaseModel, ConfigDict

from attribution.errors import LlmFailed
from attribution.llm import prompts
from attribution.llm.client import Llm, Question
from attribution.studies.groundedness.evoked.twin import ERROR_TYPES, KINDS, Edit, Twin, apply
from attribution.text.sentences import sentences
from attribution.text.words import Diff
from attribution.types import Span

CONTEXT = 12_000  # characters of the source that are shown
LONGEST = 2  # times the length of its original: a longer sentence counts as a different one
_WORD = re.compile(r"\w+|[^\w\s]")


class Alteration(BaseModel):
    model_config = ConfigDict(extra="ignore")

    original: str
    altered: str


class ErrorType(BaseModel):
    model_config = ConfigDict(extra="ignore")

    error_type: str


class LlmTwins:
    """Makes twins with one language model, one request per kind."""

    def __init__(self, llm: Llm) -> None:
        self.llm, self._prompt = llm, prompts.load("evoked_error.v1")
        self.version = f"{self._prompt.version}/{llm.version}"

    def twins(self, answer: str, context: str, kinds: Sequence[str]) -> list[Twin | LlmFailed]:
        """Make a twin for each kind, or say why there is none, in order."""
        questions = [
            Question(
                self._prompt.render(context=context[:CONTEXT], answer=answer, kind=KINDS[kind]), self._prompt.version
            )
            for kind in kinds
        ]
        replies = self.llm.map(questions, Alteration)
        return [
            reply if isinstance(reply, LlmFailed) else self._twin(answer, reply.value, kind)
            for kind, reply in zip(kinds, replies, strict=True)
        ]

    def _twin(self, answer: str, reply: Alteration, kind: str) -> Twin | LlmFailed:
        original, altered = reply.original.strip(), " ".join(reply.altered.split())
        if not original or not altered:
            return LlmFailed("the language model found nothing to alter")
        start = answer.find(original)
        if start < 0:
            return LlmFailed(f"the language model altered a sentence that is not in the answer: {original[:80]!r}")
        if len(altered) > LONGEST * len(original) or not altered.isprintable():
            return LlmFailed("the language model wrote another text in place of the sentence")
        edits = [Edit(start + e.start, start + e.end, e.text) for e in word_edits(original, altered)]
        if not edits:
            return LlmFailed("the language model changed nothing but spaces or capitals")
        return apply(answer, edits, kind, self.version)


def word_edits(before: str, after: str) -> list[Edit]:
    """Return the words that differ as edits of `before`; an inserted or deleted word takes a neighbour with it."""
    old, new = list(_WORD.finditer(before)), list(_WORD.finditer(after))
    matcher = Diff([m[0].casefold() for m in old], [m[0].casefold() for m in new])
    edits: list[Edit] = []
    for operation, a, b, c, d in matcher.get_opcodes():
        if operation == "equal":
            continue
        if a == b or c == d:  # an insertion or deletion: include the word before, or else the one after
            if a and c:
                a, c = a - 1, c - 1
            elif b < len(old) and d < len(new):
                b, d = b + 1, d + 1
            else:
                return []  # all of a text is new
        span = (old[a].start(), old[b - 1].end())
        if edits and span[0] < edits[-1].end:
            return [_whole(before, after)]
        edits.append(Edit(*span, after[new[c].start() : new[d - 1].end()]))
    return edits if _applied(before, edits) == " ".join(after.split()) or not edits else [_whole(before, after)]


def _whole(before: str, after: str) -> Edit:
    return Edit(0, len(before), after)


def _applied(before: str, edits: Sequence[Edit]) -> str:
    return " ".join(apply(before, edits, "scope").response.split())


def agreed_types(models: Sequence[Llm], rows: Sequence[tuple[str, str]]) -> list[tuple[str, ...]]:
    """Name the error in each (source, sentence) by each model; empty where a model failed or made up a name.

    Two models that must agree stand in for the people of T24: a row whose names differ is for a person to settle.
    """
    prompt = prompts.load("error_type.v1")
    questions = [
        Question(prompt.render(context=c[:CONTEXT], sentence=s, types=ERROR_TYPES), prompt.version) for c, s in rows
    ]
    columns = []
    for llm in models:
        replies = llm.map(questions, ErrorType)
        names = ("" if isinstance(r, LlmFailed) else r.value.error_type.strip().lower() for r in replies)
        columns.append([name if name in ERROR_TYPES else "" for name in names])
    return list(zip(*columns, strict=True))


def agreement(names: Sequence[str]) -> str:
    """Return the name that all models gave; empty if they differ or one gave none."""
    return names[0] if names and names[0] and len(set(names)) == 1 else ""


def sentence_around(response: str, changed: Sequence[Span]) -> str:
    """Return the sentences of a twin that contain its changes."""
    spans = [(a, b) for a, b in sentences(response) if any(s < b and a < e for s, e in changed)]
    return response[spans[0][0] : spans[-1][1]] if spans else response
