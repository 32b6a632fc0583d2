"""Read labelled responses from JSON Lines, with their splits (T24 4.3)."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Literal

from attribution.conversation import as_text, transcript, turns_of
from attribution.errors import BadInput
from attribution.studies.groundedness import Given
from attribution.text_files import Row
from attribution.types import Frozen, content_id

Split = Literal["training", "development", "test"]
SPLITS: dict[str, Split] = {
    "training": "training",
    "train": "training",
    "development": "development",
    "dev": "development",
    "validation": "development",
    "test": "test",
}
EXPECTED = (
    '{"question": "…", "context": "…" or ["…", …], "response": "…", "grounded": true or false}'
)
# The fields of a row that hold text.
REQUIRED = ("response",)
OPTIONAL = ("question", "error_type", "split", "group")
ERROR_TYPES = {  # T24 Table 5
    "factual_inaccuracy": "A number, date, name or property is wrong.",
    "misattribution": "Something is ascribed to the wrong person, body, place or source.",
    "contextual_misinterpretation": (
        "Something is carried beyond the condition, part or degree that the source gives."
    ),
    "procedural_error": "Steps, deadlines or their order are wrong.",
    "reasoning_error": "A cause or a conclusion does not follow from the source.",
    "terminological_error": (
        "A term is used in another sense than the source's, or in the place of another term."
    ),
}


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


def labelled_set(rows: Sequence[Row], seed: int = 0, name: str = "") -> LabelledSet:
    """Read the labelled responses of a file.

    The `split` field divides the rows if there is one. Otherwise half of the groups, drawn by the
    seed, are development; rows with the same question form a group, or, without a question, rows
    with the same context. A row that can't be used, or repeats an id, becomes a problem.

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
    usable = usable if has_splits else divided(usable, seed)
    return LabelledSet(rows=usable, problems=tuple(problems), name=name)


def divided(rows: Sequence[LabelledRow], seed: int) -> tuple[LabelledRow, ...]:
    """Put half of the groups in the development split, the same ones for the same seed."""
    groups = sorted({row.group for row in rows})
    random.Random(seed).shuffle(groups)
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
    split = str(fields.get("split") or "")
    if has_splits and split.lower() not in SPLITS:
        raise BadInput(f'"split" is {split[:40]!r}; expected one of {", ".join(SPLITS)}')
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
        split=SPLITS[split.lower()] if has_splits else "test",
    )


def _context(value: object) -> tuple[str, ...]:
    texts = [value] if isinstance(value, str) else value
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise BadInput(f'"context" is missing, or neither text nor texts; expected {EXPECTED}')
    passages = tuple(text for text in texts if text.strip())
    if not passages:
        raise BadInput('"context" is empty')
    return passages
