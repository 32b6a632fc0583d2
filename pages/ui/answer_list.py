"""The rows of the list of answers: counts, what was reviewed, and the state of the queue."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from attribution.pipeline.queued_runs import QueueWorker
from attribution.reports.looks import group_data
from attribution.searchers import source_label
from attribution.store.history import HistoryRow
from attribution.tables import DOCUMENT
from pages.ui import background

NAMED = 2  # sources that a row names


class RowState(NamedTuple):
    """What a row shows in place of its counts, and the button beside it."""

    words: str
    strong: str = ""  # in front of the words
    share: float | None = None  # that is done
    left: str = ""  # time
    action: str = ""
    label: str = ""  # of the button


def row_data(row: HistoryRow, worker: QueueWorker) -> dict[str, object]:
    """Return a run as plain data for the component."""
    state = row_state(row, worker)
    return {
        "id": row.id,
        "title": row.name or "Untitled",
        "beginning": " ".join(row.beginning.split()),
        "sources": source_words(row.sources),
        "at": row.created_at,
        "edited": row.version > 1,
        "tags": list(row.tags),
        "note": " ".join(row.note.split())[:200],
        "groups": group_data(row.verdicts),
        "done": row.reviewed,
        "total": row.checked,
        "state": state and state._asdict(),
    }


def row_state(row: HistoryRow, worker: QueueWorker) -> RowState | None:
    """Return what is to be said of a run that has no whole result; None for a finished one."""
    done, total = sum(row.verdicts.values()), row.claims
    working = worker.current
    if working and working.run_id == row.id:
        left = working.seconds_left()
        return _running(working.done, working.total, background.time_left(left) if left else "")
    if background.find(row.id):
        return _running(done, total, "")
    if row.problem:
        return RowState(row.problem, "Not checked:", action="retry", label="Try again")
    if row.queued:
        return RowState("Waiting in the queue", action="remove", label="Remove")
    done -= row.verdicts.get("not_reached", 0)
    if row.finished and done >= total:
        return None
    words = f"after {done} of {total} claims" if total else "before its claims were known"
    strong = "Stopped" if row.finished else "Interrupted"
    return RowState(words, strong, action="retry", label="Continue")


def _running(done: int, total: int, left: str) -> RowState:
    if not total:
        return RowState("", "Reading the answer …", 0.0, action="stop", label="Stop")
    strong = f"Claim {min(done + 1, total)} of {total}"
    return RowState("", strong, done / total, left, "stop", "Stop")


def source_words(sources: Sequence[str]) -> str:
    """Name the sources of a run; the first ones where there are many."""
    names = []
    for source in sources:
        is_document = source.startswith(DOCUMENT)
        name = source.removeprefix(DOCUMENT) if is_document else source_label(source)
        names.append(name if is_document else name[:1].upper() + name[1:])
    if len(names) > NAMED:
        names[NAMED:] = [f"{len(names) - NAMED} more"]
    return ", ".join(names)


def is_busy(rows: Sequence[Mapping[str, object]]) -> bool:
    """Return True if the state of a row changes by itself."""
    states = [row["state"] for row in rows]
    return any(
        isinstance(state, dict) and state["action"] in ("stop", "remove") for state in states
    )
