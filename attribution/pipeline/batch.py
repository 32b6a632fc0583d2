"""Many answers, one report each, in a file that a killed batch goes on with."""

from __future__ import annotations

import json
import os
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from attribution.claims.conversation import turns_of
from attribution.errors import BadInput
from attribution.events import Finished
from attribution.pipeline.run import run
from attribution.settings import Settings
from attribution.storage.store import Store
from attribution.text.json_lines import Row
from attribution.types import Document, Label, Report, content_id


@dataclass(frozen=True)
class BatchProgress:
    """After each row: rows done and in all, what is wrong with this one, and what was found so far."""

    done: int
    total: int
    problem: str = ""
    seconds_left: float | None = None  # None until a row has been analysed
    failed: int = 0
    labels: Counter[Label] = field(default_factory=Counter)


def batch(rows: Sequence[Row], settings: Settings, path: Path) -> Iterator[BatchProgress]:
    """Analyse every row's `answer` with its `question`, `documents` and `turns`, and write a line each.

    A line holds the row's other fields, a `key` and the `report`, or an `error`. Rows that an earlier call finished
    with the same settings are not analysed again; in the end the lines stand in the order of the rows. Unavailable is
    raised before any row where a model or key is missing.
    """
    store = Store.open(settings.database_url)
    finished = _finished(path)
    choices = json.dumps(settings.public(), sort_keys=True)
    places: list[tuple[int, int]] = []  # of each row's line: first byte and length
    started, analysed, failed = time.monotonic(), 0, 0
    labels: Counter[Label] = Counter()
    with path.open("ab") as out:
        for number, row in enumerate(rows, 1):
            problem, key = row.error, content_id(json.dumps(row.fields, sort_keys=True), choices)
            if not problem and key not in finished:
                analysed += 1
                try:
                    report = _analyse(row, settings, store)
                    finished[key] = (_append(out, _line(row, key, report)), Counter(v.label for v in report.verdicts))
                except BadInput as error:
                    problem = str(error)
            if problem:
                failed += 1
                places.append(_append(out, row.failed(problem)))
            else:
                place, own = finished[key]
                places.append(place)
                labels.update(own)
            left = (time.monotonic() - started) / analysed * (len(rows) - number) if analysed else None
            note = f"line {row.line}: {problem}" if problem else ""
            yield BatchProgress(number, len(rows), note, left, failed, Counter(labels))
    _rewrite(path, places)


def _analyse(row: Row, settings: Settings, store: Store) -> Report:
    documents = _documents(row)
    if documents:
        settings = settings.model_copy(update={"sources": tuple(dict.fromkeys((*settings.sources, "documents")))})
    question = str(row.fields.get("question") or "")
    context = turns_of(row.fields.get("turns"))
    *_, last = run(question, row.fields["answer"], settings, store, documents, context=context)
    assert isinstance(last, Finished)
    return last.report


def _documents(row: Row) -> tuple[Document, ...]:
    """The row's own sources: texts, or objects with a name and a text."""
    given = row.fields.get("documents") or []
    documents = []
    for number, one in enumerate(given if isinstance(given, list) else [None], 1):
        name, text = (one.get("name"), one.get("text")) if isinstance(one, dict) else (f"Document {number}", one)
        if not isinstance(text, str) or not isinstance(name, str):
            raise BadInput('"documents" is not a list of texts or of objects with "name" and "text"')
        documents.append(Document(name, text.encode(), "text/plain"))
    return tuple(documents)


def _line(row: Row, key: str, report: Report) -> dict[str, Any]:
    kept = {
        name: value for name, value in row.fields.items() if name not in ("question", "answer", "documents", "turns")
    }
    return {**kept, "line": row.line, "key": key, "report": json.loads(report.to_json())}


def _append(out: Any, line: dict[str, Any]) -> tuple[int, int]:
    """Write a line to the end of the file; returns its place."""
    content = json.dumps(line, ensure_ascii=False).encode() + b"\n"
    start = out.seek(0, os.SEEK_END)
    out.write(content)
    out.flush()
    return start, len(content)


def _finished(path: Path) -> dict[str, tuple[tuple[int, int], Counter[Label]]]:
    """The places and verdicts of the reports of earlier calls, by key. What was cut off by a kill is removed."""
    finished: dict[str, tuple[tuple[int, int], Counter[Label]]] = {}
    if not path.exists():
        return finished
    start = 0
    with path.open("rb+") as lines:
        for line in lines:
            if not line.endswith(b"\n"):
                break
            try:
                saved = json.loads(line)
                labels = Counter(v["label"] for v in saved["report"]["verdicts"])
                finished[saved["key"]] = (start, len(line)), labels
            except (ValueError, KeyError, TypeError):
                pass  # an error of an earlier call: the row is analysed again
            start += len(line)
        lines.truncate(start)
    return finished


def _rewrite(path: Path, places: Sequence[tuple[int, int]]) -> None:
    """Put the lines into the order of the rows, and leave out those of rows that are no longer there."""
    partial = path.with_name(path.name + ".part")
    with path.open("rb") as lines, partial.open("wb") as out:
        for start, length in places:
            lines.seek(start)
            out.write(lines.read(length))
    partial.replace(path)
