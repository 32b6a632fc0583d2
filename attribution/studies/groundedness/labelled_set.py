"""Read labelled responses from JSON Lines, and divide them into a development and a test split."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from attribution.claims.enrichment import as_text, transcript, turns_of
from attribution.errors import BadInput
from attribution.files import Row
from attribution.studies.groundedness import Given
from attribution.types import Frozen, content_id

Split = Literal["development", "test"]
_DEVELOPMENT: Split = "development"
SPLITS: dict[str, Split] = {
    **dict.fromkeys(("development", "dev", "validation"), _DEVELOPMENT),
    "test": "test",
}
EXPECTED = (
    '{"question": "…", "context": "…" or ["…", …], "response": "…", "grounded": true or false}'
)
REQUIRED, OPTIONAL = (
    ("response",),
    ("question", "error_type", "split", "group"),
)  # fields that hold text


class LabelledSentence(Frozen):
    """A sentence of the response with its own label, in characters of the response."""

    start: int
    end: int
    grounded: bool


class LabelledRow(Frozen):
    """A response with its context, and people's label: is it grounded in the context?"""

    id: str
    line: int
    question: str  # with the conversation before it, if there is one
    context: tuple[str, ...]
    response: str
    grounded: bool
    error_type: str = ""  # of an ungrounded response, such as “number”
    sentences: tuple[LabelledSentence, ...] = ()
    group: str = ""  # rows of one group are in one split
    split: Split = "test"

    @property
    def given(self) -> Given:
        """The part of a row that methods may read."""
        return Given(self.question, self.context, self.response)


@dataclass(frozen=True)
class LabelledSet:
    """The usable rows, and (line, problem) for the others."""

    rows: tuple[LabelledRow, ...]
    problems: tuple[tuple[int, str], ...] = ()

    def of(self, split: Split) -> list[LabelledRow]:
        return [row for row in self.rows if row.split == split]


def labelled_set(rows: Sequence[Row], seed: int = 0) -> LabelledSet:
    """Read the labelled responses of a file, divided into two splits.

    A row without a usable label, context or response, or with the id of an earlier row, is left out
    as a problem. The
    `split` field divides the rows if there is one. Otherwise half of the groups, drawn by the seed,
    are development;
    rows with the same question form a group, or, without a question, rows with the same context.
    Raises BadInput if no row can be used.
    """
    read: dict[str, LabelledRow] = {}
    problems = []
    named = any(row.fields.get("split") for row in rows)
    for row in rows:
        try:
            labelled = _row(row, named)
            if labelled.id in read:
                raise BadInput(
                    f"the same id, or the same texts, as in line {read[labelled.id].line}"
                )
            read[labelled.id] = labelled
        except BadInput as error:
            problems.append((row.line, str(error)))
    if not read:
        first = f"; line {problems[0][0]}: {problems[0][1]}" if problems else ""
        raise BadInput(f"found no labelled response; expected lines of {EXPECTED}{first}")
    usable = tuple(read.values())
    return LabelledSet(usable if named else divided(usable, seed), tuple(problems))


def divided(rows: Sequence[LabelledRow], seed: int) -> tuple[LabelledRow, ...]:
    """Put half of the groups in the development split, the same ones for the same seed."""
    groups = sorted(
        {row.group for row in rows}, key=lambda g: hashlib.sha256(f"{seed} {g}".encode()).digest()
    )
    development = set(groups[: (len(groups) + 1) // 2])
    return tuple(
        row.model_copy(update={"split": "development" if row.group in development else "test"})
        for row in rows
    )


def _row(row: Row, named: bool) -> LabelledRow:
    """Parse a row. Raises BadInput with the problem."""
    if row.error:
        raise BadInput(row.error)
    fields = row.fields
    question, response = str(fields.get("question") or ""), str(fields["response"])
    turns = turns_of(fields.get("turns"))
    question = transcript(question, turns) if question.strip() else as_text(turns)
    context, label = _context(fields.get("context")), fields.get("grounded")
    if not isinstance(label, bool) and label not in (0, 1):
        found = "is missing" if "grounded" not in fields else f"is {str(label)[:40]!r}"
        raise BadInput(f'"grounded" {found}; expected true or false')
    split = str(fields.get("split") or "")
    if named and split.lower() not in SPLITS:
        found = f"is {split[:40]!r}" if split else "is missing, though other rows have one"
        raise BadInput(f'"split" {found}; expected development or test')
    same = " ".join(question.casefold().split()) or "\x1f".join(context)
    return LabelledRow(
        id=_id(fields.get("id")) or content_id(question, *context, response),
        line=row.line,
        question=question,
        context=context,
        response=response,
        grounded=bool(label),
        error_type=" ".join(str(fields.get("error_type") or "").split()) if not label else "",
        sentences=_sentences(fields.get("sentences"), response),
        group=str(fields.get("group") or "") or content_id(same),
        split=SPLITS[split.lower()] if named else "test",
    )


def _id(given: object) -> str:
    if given is None or given == "":
        return ""
    if not isinstance(given, str | int):
        raise BadInput('"id" is neither text nor a number')
    return str(given)


def _context(given: object) -> tuple[str, ...]:
    texts = [given] if isinstance(given, str) else given
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        found = "is missing" if given is None else "is neither a text nor a list of texts"
        raise BadInput(f'"context" {found}; expected {EXPECTED}')
    if not any(text.strip() for text in texts):
        raise BadInput('"context" is empty')
    return tuple(text for text in texts if text.strip())


def _sentences(given: object, response: str) -> tuple[LabelledSentence, ...]:
    """Locate sentences, given as texts in the order of the response."""
    if not given:
        return ()
    expected = 'expected a list of {"text": "…", "grounded": true or false}'
    if not isinstance(given, list):
        raise BadInput(f'"sentences" is no list; {expected}')
    found, end = [], 0
    for number, one in enumerate(given, 1):
        if (
            not isinstance(one, dict)
            or not isinstance(one.get("text"), str)
            or one.get("grounded") not in (0, 1)
        ):
            raise BadInput(f'sentence {number} of "sentences" cannot be read; {expected}')
        start = response.find(one["text"], end) if one["text"].strip() else -1
        if start < 0:
            raise BadInput(
                f'sentence {number} of "sentences" is not in the response after the ones before it'
            )
        end = start + len(one["text"])
        found.append(LabelledSentence(start=start, end=end, grounded=bool(one["grounded"])))
    return tuple(found)
