"""Comparisons of many answers, each saved when it is done, and their tables."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from attribution.claims.enrichment import turns_of
from attribution.errors import BadInput
from attribution.files import Row, replace_text
from attribution.settings import Settings
from attribution.store.store import Store
from attribution.studies.segmenters.comparison import Comparison, ComparisonReady, check_segmenters, compare
from attribution.studies.tables import Table, tables
from attribution.types import content_id

T = TypeVar("T")
_NOT_LETTERS = re.compile(r"[^a-z]+")
_ADAPTER = TypeAdapter(Comparison)
EXCERPT = 80  # characters of an answer that failed


def run(
    rows: Sequence[Row], settings: Settings, segmenters: Sequence[str], folder: Path
) -> Iterator[tuple[int, int, str]]:
    """Compare every answer, append each to `folder/comparisons.jsonl`, then write the tables.

    Yields (answers done, all answers, what is wrong with this one). Answers that an earlier call finished with the same
    settings are not compared again. An answer that fails is an `error` in the file and a row of the last table.
    BadInput, before any work, for segmenters that cannot be compared.
    """
    check_segmenters(segmenters, settings)
    folder.mkdir(parents=True, exist_ok=True)
    path, store = folder / "comparisons.jsonl", Store.open(settings.database_url)
    choices = json.dumps([settings.public(), list(segmenters)], sort_keys=True)
    finished = read_finished(path, "comparison", _ADAPTER)
    comparisons: list[Comparison] = []
    failed: list[tuple[int, str, str]] = []
    with path.open("a", encoding="utf-8") as out:
        for number, row in enumerate(rows, 1):
            question, answer = str(row.fields.get("question") or ""), str(row.fields.get("answer") or "")
            turns = row.fields.get("turns")
            own = (json.dumps(turns),) if turns else ()
            key, problem = content_id(question, answer, choices, *own), row.error
            if not problem and key not in finished:
                try:
                    *_, last = compare(question, answer, settings, segmenters, store, context=turns_of(turns))
                    assert isinstance(last, ComparisonReady)
                    finished[key] = without_page_texts(last.comparison)
                    out.write(json.dumps({"key": key, "comparison": json_data(finished[key])}) + "\n")
                    out.flush()
                except BadInput as error:
                    problem = str(error)
            if problem:
                failed.append(failure(row, problem))
                out.write(json.dumps(row.failed(problem)) + "\n")
            else:
                comparisons.append(finished[key])
            yield number, len(rows), f"line {row.line}: {problem}" if problem else ""
    write_tables(tables(comparisons, failed), folder)


def failure(row: Row, error: str) -> tuple[int, str, str]:
    """A row of the table of failed answers: line, start of the answer, error."""
    return row.line, " ".join(str(row.fields.get("answer") or "").split())[:EXCERPT], error


def without_page_texts(comparison: Comparison) -> Comparison:
    """Without the text of the pages, and with pages and evidence only once, not again in every column."""
    pages = tuple(p.model_copy(update={"text": ""}) for p in comparison.report.pages)
    columns = tuple(
        replace(c, report=c.report.model_copy(update={"pages": (), "evidence": ()})) for c in comparison.columns
    )
    return replace(comparison, report=comparison.report.model_copy(update={"pages": pages}), columns=columns)


def json_data(comparison: Comparison) -> dict[str, Any]:
    """JSON-serialisable form, as in comparisons.jsonl and the page's download."""
    data: dict[str, Any] = _ADAPTER.dump_python(without_page_texts(comparison), mode="json")
    return data


def read_finished(path: Path, field: str, adapter: TypeAdapter[T]) -> dict[str, T]:
    """The results of earlier calls by key; errors and an incomplete line are dropped, to be tried again."""
    finished: dict[str, T] = {}
    if not path.exists():
        return finished
    complete = []
    for line in path.read_text(encoding="utf-8").splitlines():
        try:
            row = json.loads(line)
            finished[row["key"]] = adapter.validate_python(row[field])
        except (ValueError, KeyError, TypeError, ValidationError):
            continue
        complete.append(line)
    replace_text(path, "".join(f"{line}\n" for line in complete))
    return finished


def write_tables(results: Sequence[Table], folder: Path) -> None:
    """The tables as tables.md and a CSV file each."""
    replace_text(folder / "tables.md", "\n".join(t.markdown() for t in results))
    for table in results:
        name = _NOT_LETTERS.sub("-", table.title.partition(":")[0].partition(",")[0].lower()).strip("-")
        replace_text(folder / f"{name}.csv", table.csv())
