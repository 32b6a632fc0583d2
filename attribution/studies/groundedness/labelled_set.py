"""Labelled responses: read from JSON Lines with their splits (T24 4.3), or made (T24 4.2).

To make a set, a language model reads question, context and a grounded answer, and writes the answer
again with one error.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import Literal, get_args

from pydantic import BaseModel

from attribution.conversation import as_text, transcript, turns_of
from attribution.errors import BadInput, LlmFailed
from attribution.llm import prompts
from attribution.llm.client import Llm, Question
from attribution.llm.replies import unquoted
from attribution.pipeline.experiment import Fields, attempt
from attribution.studies.groundedness import Given, joined
from attribution.text_files import Row
from attribution.types import Frozen, content_id

Split = Literal["training", "development", "test"]
SPLITS: tuple[Split, ...] = get_args(Split)
EXPECTED = (
    '{"question": "…", "context": "…" or ["…", …], "response": "…", "grounded": true or false}'
)
# The fields of a row that hold text.
REQUIRED = ("response",)
OPTIONAL = ("question", "error_type", "split", "group")


class LabelledRow(Frozen):
    """A response with its context, and people's label.

    Attributes:
        question: With the conversation before it, if there is one.
        grounded: Whether the context supports the response.
        error_type: Of an ungrounded response, several parted by “;”; empty if unknown.
        group: Rows of one group are in one split.
    """

    id: str
    line: int
    question: str
    context: tuple[str, ...]
    response: str
    grounded: bool
    error_type: str = ""
    group: str = ""
    split: Split = "test"

    @property
    def error_types(self) -> list[str]:
        names = (name.strip() for name in self.error_type.split(";"))
        return [name for name in names if name]

    @property
    def given(self) -> Given:
        """The part of a row that methods may read."""
        return Given(self.question, self.context, self.response)


class LabelledSet(Frozen):
    """The usable rows of a file, and (line, problem) for the others."""

    rows: tuple[LabelledRow, ...]
    problems: tuple[tuple[int, str], ...] = ()
    name: str = ""  # of the file

    def of(self, split: Split) -> list[LabelledRow]:
        return [row for row in self.rows if row.split == split]


def labelled_set(rows: Sequence[Row], name: str = "") -> LabelledSet:
    """Read the labelled responses of a file.

    The `split` field divides the rows if there is one. Otherwise half of the groups, drawn at
    random, are development, always the same ones; rows with the same question form a group, or,
    without a question, rows with the same context. A row that can't be used, or repeats an id,
    becomes a problem.

    Raises:
        BadInput: No row can be used.
    """
    labelled_rows: dict[str, LabelledRow] = {}
    problems: list[tuple[int, str]] = []
    has_splits = any(row.fields.get("split") for row in rows)
    for row in rows:
        try:
            labelled = labelled_row(row, has_splits)
            if labelled.id in labelled_rows:
                line = labelled_rows[labelled.id].line
                raise BadInput(f"the same id, or the same texts, as in line {line}")
            labelled_rows[labelled.id] = labelled
        except BadInput as error:
            problems.append((row.line, str(error)))
    if not labelled_rows:
        first = f"; line {problems[0][0]}: {problems[0][1]}" if problems else ""
        raise BadInput(f"found no labelled response; expected lines of {EXPECTED}{first}")
    usable = tuple(labelled_rows.values())
    usable = usable if has_splits else divided(usable)
    return LabelledSet(rows=usable, problems=tuple(problems), name=name)


def divided(rows: Sequence[LabelledRow]) -> tuple[LabelledRow, ...]:
    """Put half of the groups in the development split, always the same ones."""
    groups = sorted({row.group for row in rows})
    random.Random(0).shuffle(groups)
    development = set(groups[: (len(groups) + 1) // 2])
    divided_rows: list[LabelledRow] = []
    for row in rows:
        split = "development" if row.group in development else "test"
        divided_rows.append(row.model_copy(update={"split": split}))
    return tuple(divided_rows)


def labelled_row(row: Row, has_splits: bool = False) -> LabelledRow:
    """Parse a row. Raises BadInput with the problem."""
    if row.error:
        raise BadInput(row.error)
    fields = row.fields
    question, response = str(fields.get("question") or ""), str(fields["response"])
    turns = turns_of(fields.get("turns"))
    question = transcript(question, turns) if question.strip() else as_text(turns)
    context = _context(fields.get("context"))
    grounded = fields.get("grounded")
    if not isinstance(grounded, int) or grounded not in (0, 1):
        raise BadInput(f'"grounded" is {str(grounded)[:40]!r}; expected true or false')
    named = str(fields.get("split") or "")
    split = next((known for known in SPLITS if known == named.lower()), None)
    if has_splits and split is None:
        raise BadInput(f'"split" is {named[:40]!r}; expected one of {", ".join(SPLITS)}')
    subject = " ".join(question.casefold().split()) or "\x1f".join(context)
    error_type = " ".join(str(fields.get("error_type") or "").split())
    return LabelledRow(
        id=str(fields.get("id") or "") or content_id(question, *context, response),
        line=row.line,
        question=question,
        context=context,
        response=response,
        grounded=bool(grounded),
        error_type="" if grounded else error_type,
        group=str(fields.get("group") or "") or content_id(subject),
        split=split or "test",
    )


def _context(value: object) -> tuple[str, ...]:
    texts = [value] if isinstance(value, str) else value
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise BadInput(f'"context" is missing, or neither text nor texts; expected {EXPECTED}')
    passages = tuple(text for text in texts if text.strip())
    if not passages:
        raise BadInput('"context" is empty')
    return passages


# --- evoked errors ---


BATCH = 16  # answers asked about at once
SHOWN_CHARACTERS = 12_000  # of the context in a prompt
LEAST_LIKENESS = 0.5  # of an answer and its twin, from 0 to 1


class AlteredAnswer(BaseModel):
    """The reply of the language model."""

    text: str

    @classmethod
    def from_words(cls, text: str) -> dict[str, object] | None:
        """Read the answer, which small models repeat within the marks of the prompt."""
        answer = text.rpartition("<data>")[2].partition("</data>")[0]
        return {"text": unquoted(answer)} if answer else None


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
    """Return a grounded answer to alter. Raises BadInput with the problem."""
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
    )


def _with_twin(answer: LabelledRow, reply: AlteredAnswer | LlmFailed, made_by: str) -> Evoked:
    """Return the rows of the labelled set. A twin has the same group, so both are in one split."""
    fields = answer.model_dump(include={"id", "question", "context", "response", "grounded"})
    fields |= {"context": list(answer.context), "group": answer.id}
    problem = str(reply) if isinstance(reply, LlmFailed) else _problem(answer, reply.text)
    if isinstance(reply, LlmFailed) or problem:
        failed = {"of": answer.id, "line": answer.line, "error": problem}
        return fields, failed
    twin = {
        **fields,
        "id": f"{answer.id}~altered",
        "response": reply.text,
        "grounded": False,
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
