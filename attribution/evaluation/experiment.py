"""Comparisons of many answers, kept as they are made, and their tables."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from attribution.errors import BadInput
from attribution.evaluation.comparison import Compared, Comparison, compare
from attribution.evaluation.tables import Table, tables
from attribution.settings import Settings
from attribution.storage.store import Store
from attribution.types import content_id

_ADAPTER = TypeAdapter(Comparison)


def run(
    rows: Sequence[Mapping[str, Any]], settings: Settings, segmenters: Sequence[str], folder: Path
) -> Iterator[tuple[int, int, str]]:
    """Compare every answer, each as a line of `folder/comparisons.jsonl`, then write the tables.

    Yields (answers done, answers in all, what was wrong with this one). Answers that an earlier call has finished with
    the same choices are taken from its lines. BadInput where no answer could be compared.
    """
    folder.mkdir(parents=True, exist_ok=True)
    path, store = folder / "comparisons.jsonl", Store.open(settings.database_url)
    choices = json.dumps([settings.public(), list(segmenters)], sort_keys=True)
    made = _finished(path)
    found: list[Comparison] = []
    with path.open("a", encoding="utf-8") as out:
        for number, row in enumerate(rows, 1):
            question, answer = str(row.get("question") or ""), str(row["answer"])
            key, problem = content_id(question, answer, choices), ""
            if key not in made:
                try:
                    *_, last = compare(question, answer, settings, segmenters, store)
                    assert isinstance(last, Compared)
                    made[key] = without_texts(last.comparison)
                    out.write(json.dumps({"key": key, "comparison": as_data(made[key])}) + "\n")
                    out.flush()
                except BadInput as error:
                    problem = str(error)
            if key in made:
                found.append(made[key])
            yield number, len(rows), problem
    if not found:
        raise BadInput("no answer could be compared: see what was said of each")
    _write(tables(found), folder)


def without_texts(comparison: Comparison) -> Comparison:
    """Without the pages' texts, and with pages and evidence once instead of once more in every column."""
    pages = tuple(p.model_copy(update={"text": ""}) for p in comparison.report.pages)
    columns = tuple(
        replace(c, report=c.report.model_copy(update={"pages": (), "evidence": ()})) for c in comparison.columns
    )
    return replace(comparison, report=comparison.report.model_copy(update={"pages": pages}), columns=columns)


def as_data(comparison: Comparison) -> dict[str, Any]:
    """It as JSON holds it, here and in a download."""
    data: dict[str, Any] = _ADAPTER.dump_python(without_texts(comparison), mode="json")
    return data


def _finished(path: Path) -> dict[str, Comparison]:
    """What an earlier call has left; a line that was cut off is made again."""
    found: dict[str, Comparison] = {}
    if not path.exists():
        return found
    whole = []
    for line in path.read_text(encoding="utf-8").splitlines():
        try:
            row = json.loads(line)
            found[row["key"]] = _ADAPTER.validate_python(row["comparison"])
        except (ValueError, KeyError, TypeError, ValidationError):
            continue
        whole.append(line)
    partial = path.with_suffix(".part")
    partial.write_text("".join(f"{line}\n" for line in whole), encoding="utf-8")
    partial.replace(path)
    return found


def _write(made: Sequence[Table], folder: Path) -> None:
    (folder / "tables.md").write_text("\n".join(t.markdown() for t in made), encoding="utf-8")
    for table in made:
        name = re.sub(r"[^a-z]+", "-", re.split(r"[,:]", table.title)[0].lower()).strip("-")
        (folder / f"{name}.csv").write_text(table.csv(), encoding="utf-8")
