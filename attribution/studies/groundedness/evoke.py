"""Evoke errors in grounded answers, to make a labelled set (T24 4.2).

A language model reads the question, the context and the answer, and writes the answer again with
one error: any, or the one that the row's `error_type` names.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

from pydantic import BaseModel

from attribution.errors import BadInput, LlmFailed
from attribution.llm import prompts
from attribution.llm.client import Llm, Question, Reply
from attribution.llm.replies import unquoted
from attribution.pipeline.experiment import Fields, attempt
from attribution.studies.groundedness import joined
from attribution.studies.groundedness.labelled_set import ERROR_TYPES, LabelledRow, labelled_row
from attribution.text_files import Row

BATCH = 16  # answers asked about at once
SHOWN_CHARACTERS = 12_000  # of the context in a prompt
LEAST_LIKENESS = 0.5  # of an answer and its twin, from 0 to 1


class AlteredAnswer(BaseModel):
    """The reply of the language model."""

    text: str

    @classmethod
    def from_words(cls, text: str) -> dict[str, object] | None:
        return {"text": unquoted(text)} if text else None


Evoked = tuple[Fields, ...]  # the rows made of one line of the input


def evoke(rows: Sequence[Row], llm: Llm) -> Iterator[Evoked]:
    """Yield for each line the grounded row and its twin, or a row with an `error`."""
    prompt = prompts.load("evoked_error.v4", llm.settings)
    for start in range(0, len(rows), BATCH):
        batch = rows[start : start + BATCH]
        results = [attempt(_grounded, row) for row in batch]
        answers = [result.value for result in results if result.value]
        replies = iter(llm.map([_question(prompt, one) for one in answers], AlteredAnswer))
        for row, result in zip(batch, results, strict=True):
            if result.value is None:
                yield (row.failed(result.problem),)
            else:
                made_by = f"{prompt.version}/{llm.version}"
                yield _with_twin(result.value, next(replies), made_by)


def _grounded(row: Row) -> LabelledRow:
    """Return a grounded answer with the error to evoke. Raises BadInput with the problem."""
    answer = labelled_row(Row(row.line, {"grounded": True, **row.fields}, row.error))
    if not answer.grounded:
        raise BadInput('"grounded" is not true: only a grounded answer can be altered')
    error_type = str(row.fields.get("error_type") or "")
    if error_type and error_type not in ERROR_TYPES:
        raise BadInput(f'"error_type" is {error_type!r}; expected one of {", ".join(ERROR_TYPES)}')
    return answer.model_copy(update={"error_type": error_type})


def _question(prompt: prompts.Prompt, answer: LabelledRow) -> Question:
    return Question.of(
        prompt,
        question=answer.question,
        context=joined(answer.context)[:SHOWN_CHARACTERS],
        answer=answer.response,
        error=ERROR_TYPES.get(answer.error_type, ""),
    )


def _with_twin(
    answer: LabelledRow, reply: Reply[AlteredAnswer] | LlmFailed, made_by: str
) -> Evoked:
    """Return the rows of the labelled set. A twin has the same group, so both are in one split."""
    fields = answer.model_dump(include={"id", "question", "context", "response", "grounded"})
    fields |= {"context": list(answer.context), "group": answer.id}
    problem = str(reply) if isinstance(reply, LlmFailed) else _problem(answer, reply.value.text)
    if isinstance(reply, LlmFailed) or problem:
        failed = {"of": answer.id, "line": answer.line, "error": problem}
        return fields, failed
    twin = {
        **fields,
        "id": f"{answer.id}~altered",
        "response": reply.value.text,
        "grounded": False,
        "error_type": answer.error_type,
        "of": answer.id,
        "made_by": made_by,
    }
    return fields, twin


def _problem(answer: LabelledRow, altered: str) -> str:
    """Return why a text is no altered answer; empty if it is one."""
    words, altered_words = answer.response.casefold().split(), altered.casefold().split()
    if words == altered_words:
        return "the language model changed nothing"
    if SequenceMatcher(None, words, altered_words, autojunk=False).ratio() < LEAST_LIKENESS:
        return "the language model wrote another text in place of the answer"
    return ""
