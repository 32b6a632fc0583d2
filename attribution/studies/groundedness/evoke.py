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
from attribution.studies.groundedness import joined
from attribution.studies.groundedness.labelled_set import ERROR_TYPES, LabelledRow, labelled_row

BATCH = 16  # answers asked about at once
SHOWN_CHARACTERS = 12_000  # of the context in a prompt
MAX_GROWTH = 2  # times its length that a changed sentence may have


class Alteration(BaseModel):
    """The reply of the language model."""

    model_config = ConfigDict(extra="ignore")

    original: str
    altered: str
    error_type: str = ""


@dataclass(frozen=True)
class Evoked:
    """The rows made of one line of the input, and what went wrong; empty if nothing did."""

    rows: tuple[Fields, ...]
    problem: str = ""


def evoke(rows: Sequence[Row], llm: Llm) -> Iterator[Evoked]:
    """Yield for each line the grounded row and its twin, or a row with an `error`."""
    prompt = prompts.load("evoked_error.v3", llm.settings)
    version = f"{prompt.version}/{llm.version}"
    for start in range(0, len(rows), BATCH):
        batch = rows[start : start + BATCH]
        answers: list[LabelledRow | BadInput] = []
        questions: list[Question] = []
        for row in batch:
            try:
                grounded = _grounded(row)
                questions.append(_question(prompt, grounded))
                answers.append(grounded)
            except BadInput as error:
                answers.append(error)
        replies = iter(llm.map(questions, Alteration))
        for row, answer in zip(batch, answers, strict=True):
            if isinstance(answer, BadInput):
                yield Evoked((row.failed(str(answer)),), f"line {row.line}: {answer}")
                continue
            fields = _fields(answer)
            try:
                twin = _twin(answer, next(replies))
                yield Evoked((fields, {**fields, **twin, "of": answer.id, "made_by": version}))
            except LlmFailed as error:
                failed = {"of": answer.id, "line": row.line, "error": str(error)}
                yield Evoked((fields, failed), f"line {row.line}: {error}")


def _grounded(row: Row) -> LabelledRow:
    """Read a line of `{"question", "context", "response"}`. Raises BadInput with the problem."""
    answer = labelled_row(Row(row.line, {"grounded": True, **row.fields}, row.error))
    if not answer.grounded:
        raise BadInput('"grounded" is not true: only a grounded answer can be altered')
    return answer


def _question(prompt: prompts.Prompt, answer: LabelledRow) -> Question:
    return Question.of(
        prompt,
        question=answer.question,
        context=joined(answer.context)[:SHOWN_CHARACTERS],
        answer=answer.response,
        types=ERROR_TYPES,
    )


def _fields(answer: LabelledRow) -> Fields:
    """Return the row of the labelled set. A twin has the same group, so both are in one split."""
    fields = answer.model_dump(include={"id", "question", "context", "response", "grounded"})
    return {**fields, "context": list(answer.context), "group": answer.id}


def _twin(answer: LabelledRow, reply: Reply[Alteration] | LlmFailed) -> Fields:
    """Return what differs in the altered answer; outside `changed` it equals the grounded one.

    Raises:
        LlmFailed: The reply is no change of one sentence.
    """
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
        "id": f"{answer.id}~altered",
        "response": answer.response[:start] + altered + answer.response[end:],
        "grounded": False,
        "error_type": error_type if error_type in ERROR_TYPES else "",
        "changed": [[start, start + len(altered)]],
        "original": [[start, end]],
    }
