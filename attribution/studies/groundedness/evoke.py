"""Evoke errors in grounded answers, to make a labelled set (T24 4.2).

A language model reads the question, the context and the answer, and changes one sentence so that
the context no longer supports it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict

from attribution.errors import BadInput, LlmFailed
from attribution.files import Row
from attribution.llm import prompts
from attribution.llm.client import Llm, Question, Reply
from attribution.pipeline.experiment import Fields
from attribution.studies.groundedness.labelled_set import ERROR_TYPES
from attribution.types import content_id

BATCH = 16  # answers asked about at once
MAX_CHARACTERS = 200_000  # of a context or a response
SHOWN_CHARACTERS = 12_000  # of the context in a prompt
MAX_GROWTH = 2  # times its length that a changed sentence may have


class Alteration(BaseModel):
    """The reply of the language model."""

    model_config = ConfigDict(extra="ignore")

    original: str
    altered: str
    error_type: str = ""


@dataclass(frozen=True)
class GroundedAnswer:
    """An answer that its context supports.

    Attributes:
        context: One text, or several passages.
    """

    id: str
    question: str
    context: tuple[str, ...]
    response: str

    @property
    def fields(self) -> Fields:
        """The row of the labelled set. A twin has the same group, so both are in one split."""
        context = self.context[0] if len(self.context) == 1 else list(self.context)
        return {
            "id": self.id,
            "group": self.id,
            "question": self.question,
            "context": context,
            "response": self.response,
            "grounded": True,
        }


@dataclass(frozen=True)
class Evoked:
    """The rows made of one line of the input, and what went wrong; empty if nothing did."""

    rows: tuple[Fields, ...]
    problem: str = ""


def read_grounded(row: Row) -> GroundedAnswer:
    """Read a line of `{"question", "context", "response"}`.

    Raises:
        BadInput: The line is marked as not grounded, has no context, or is too long.
    """
    if row.error:
        raise BadInput(row.error)
    if row.fields.get("grounded") not in (None, True):
        raise BadInput('"grounded" is not true: only a grounded answer can be altered')
    context = row.fields.get("context")
    listed = context if isinstance(context, list) else [context]
    passages = [text for text in listed if isinstance(text, str) and text.strip()]
    if not passages or len(passages) < len(listed):
        raise BadInput('"context" is neither a text nor a list of texts')
    question = str(row.fields.get("question") or "")
    response = str(row.fields["response"])
    if max(len("\n\n".join(passages)), len(response)) > MAX_CHARACTERS:
        raise BadInput(f"the context or the response is longer than {MAX_CHARACTERS:,} characters")
    own_id = str(row.fields.get("id") or "") or content_id(question, *passages, response)
    return GroundedAnswer(own_id, question, tuple(passages), response)


def evoke(rows: Sequence[Row], llm: Llm) -> Iterator[Evoked]:
    """Yield for each line the grounded row and its twin, or a row with an `error`."""
    prompt = prompts.load("evoked_error.v3", llm.settings)
    version = f"{prompt.version}/{llm.version}"
    for start in range(0, len(rows), BATCH):
        answers: list[GroundedAnswer | BadInput] = []
        for row in rows[start : start + BATCH]:
            try:
                answers.append(read_grounded(row))
            except BadInput as error:
                answers.append(error)
        usable = [answer for answer in answers if isinstance(answer, GroundedAnswer)]
        replies = iter(llm.map([_question(prompt, answer) for answer in usable], Alteration))
        for row, answer in zip(rows[start : start + BATCH], answers, strict=True):
            if isinstance(answer, BadInput):
                yield Evoked((row.failed(str(answer)),), f"line {row.line}: {answer}")
                continue
            try:
                twin = _twin(answer, next(replies), version)
            except LlmFailed as error:
                failed = {"of": answer.id, "line": row.line, "error": str(error)}
                yield Evoked((answer.fields, failed), f"line {row.line}: {error}")
            else:
                yield Evoked((answer.fields, twin))


def _question(prompt: prompts.Prompt, answer: GroundedAnswer) -> Question:
    context = "\n\n".join(answer.context)[:SHOWN_CHARACTERS]
    return Question.of(
        prompt,
        question=answer.question,
        context=context,
        answer=answer.response,
        types=ERROR_TYPES,
    )


def _twin(answer: GroundedAnswer, reply: Reply[Alteration] | LlmFailed, made_by: str) -> Fields:
    """Make the row of the altered answer; outside `changed` it equals the grounded one."""
    if isinstance(reply, LlmFailed):
        raise reply
    original = reply.value.original.strip()
    altered = " ".join(reply.value.altered.split())
    start = answer.response.find(original)
    if not original or not altered:
        raise LlmFailed("the language model found nothing to alter")
    if start < 0:
        raise LlmFailed(f"the altered sentence is not in the answer: {original[:80]!r}")
    if altered.casefold() == " ".join(original.split()).casefold():
        raise LlmFailed("the language model changed nothing")
    if len(altered) > MAX_GROWTH * len(original) or not altered.isprintable():
        raise LlmFailed("the language model wrote another text in place of the sentence")
    end = start + len(original)
    error_type = reply.value.error_type.strip().lower()
    return {
        **answer.fields,
        "id": f"{answer.id}~altered",
        "response": answer.response[:start] + altered + answer.response[end:],
        "grounded": False,
        "error_type": error_type if error_type in ERROR_TYPES else "",
        "changed": [[start, start + len(altered)]],
        "original": [[start, end]],
        "of": answer.id,
        "made_by": made_by,
    }
