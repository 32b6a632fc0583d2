"""Read many answers from a file (CSV, XLSX or JSON Lines) or from a pasted text."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from attribution.errors import BadInput, FetchFailed
from attribution.fetching.sandbox import FileReader
from attribution.settings import LIMITS
from attribution.store.history import clean_tags
from attribution.text_files import Row, parse_rows
from attribution.types import Document

MOST = 1_000  # answers of one file
ROWS = 2_000  # of a sheet, blank ones included
SEPARATOR = re.compile(r"(?:^|\n[^\S\n]*)\n={3,}[ \t]*\n")  # not the line below a heading
_PARTS = re.compile(r"[;\n]")  # of a cell with several sources or tags
SHEET = b"PK\x03\x04"  # how a workbook begins


@dataclass(frozen=True)
class NewAnswer:
    """An answer to check.

    Without sources of its own, it is checked against those chosen for all.
    """

    answer: str
    question: str = ""
    title: str = ""
    sources: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    documents: tuple[Document, ...] = ()

    def beside(self, documents: Sequence[Document]) -> NewAnswer:
        """Return the answer with these documents, unless it names sources of its own."""
        return self if self.sources else replace(self, documents=tuple(documents))


class AnswerFile(NamedTuple):
    """The answers of a file, and what is wrong with its other rows."""

    answers: tuple[NewAnswer, ...]
    problems: tuple[str, ...] = ()  # each names its row


def pasted_answers(text: str) -> AnswerFile:
    """Return the answers of a text, which a line of three or more equals signs separates.

    Raises:
        BadInput: There is no answer in it.
    """
    rows = []
    for number, part in enumerate(SEPARATOR.split(f"\n{text}\n"), 1):
        if part.strip():
            rows.append(Row(number, {"answer": part}))
    return _checked(rows)


def read_answers(content: bytes, reading: FileReader) -> AnswerFile:
    """Return the answers of a file with a column or field "answer", one a row.

    "question", "title", "sources" and "tag" are optional; several sources or tags are separated by
    semicolons. A bad row leaves the others unaffected.

    Raises:
        BadInput: The file cannot be read, or has no answer.
    """
    if content.startswith(SHEET):
        try:
            lines = reading.rows(content, "the workbook", ROWS)
        except FetchFailed as error:
            raise BadInput(f"{error}, or save it as CSV") from error
        return _checked(_table_rows(iter(lines)))
    beginning = content.lstrip(b"\xef\xbb\xbf \r\n\t")
    if beginning.startswith(b"{"):
        return _checked(parse_rows(content, ["answer"]))
    return _checked(_table_rows(_csv_lines(content)))


def _csv_lines(content: bytes) -> Iterator[list[str]]:
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadInput(f"not UTF-8 (byte {error.start}): save the file as UTF-8") from None
    head = text.partition("\n")[0]
    delimiter = max(",;\t", key=head.count)
    file = io.StringIO(text, newline="")
    try:
        yield from csv.reader(file, delimiter=delimiter, strict=True)
    except csv.Error as error:
        raise BadInput(f"the file is no CSV ({error}): save it again") from None


def _table_rows(lines: Iterator[list[str]]) -> Iterator[Row]:
    """Yield a row for each line below the heads; blank lines are left out."""
    heads = [head.strip().casefold() for head in next(lines, [])]
    if "answer" not in heads:
        raise BadInput("the file has no column “answer”: name it in the first row")
    for number, cells in enumerate(lines, 2):
        if any(cell.strip() for cell in cells):
            yield Row(number, dict(zip(heads, cells, strict=False)))


def _checked(rows: Iterable[Row]) -> AnswerFile:
    """Return the answers of rows, and the problems of those that have none."""
    answers: list[NewAnswer] = []
    problems: list[str] = []
    for row in rows:
        try:
            answer = _answer(row)
        except BadInput as error:
            problems.append(f"Row {row.line}: {error}")
            continue
        answers.append(answer)
        if len(answers) > MOST:
            raise BadInput(f"more than {MOST:,} answers: split the file")
    if not answers:
        raise BadInput(problems[0] if problems else "there is no answer in it")
    return AnswerFile(tuple(answers), tuple(problems))


def _answer(row: Row) -> NewAnswer:
    if row.error:
        raise BadInput(row.error)
    answer = _text(row.fields, "answer")
    if not answer:
        raise BadInput("the answer is empty")
    if len(answer) > LIMITS.answer:
        raise BadInput(f"the answer has more than {LIMITS.answer:,} characters: shorten it")
    return NewAnswer(
        answer,
        question=_text(row.fields, "question"),
        title=_text(row.fields, "title"),
        sources=tuple(_listed(row.fields, "sources")),
        tags=tuple(clean_tags(_listed(row.fields, "tag"))),
    )


def _text(fields: Mapping[str, object], name: str) -> str:
    """Return a cell. Raises BadInput for JSON that is not text."""
    value = fields.get(name) or ""
    if not isinstance(value, str):
        raise BadInput(f"“{name}” is not text")
    return value.strip()


def _listed(fields: Mapping[str, object], name: str) -> list[str]:
    """Return the parts of a cell, or of a list in JSON."""
    value = fields.get(name) or ""
    parts = value if isinstance(value, list) else _PARTS.split(str(value))
    stripped = [str(part).strip() for part in parts]
    return [part for part in stripped if part]
