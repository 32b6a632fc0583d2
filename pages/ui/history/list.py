"""The list of runs: a line each with its verdicts, to open and to select."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import streamlit as st

from attribution.storage.history import HistoryRow
from attribution.types import LABELS
from pages.ui.answer.provenance import date
from pages.ui.html import render
from pages.ui.html.render import look, plural

_HERE = Path(__file__).parent
_runs = st.components.v2.component(
    "attribution.history",
    html='<ul class="root"></ul>',
    css=render.tokens_css(".root") + (_HERE / "list.css").read_text("utf-8"),
    js=render.NODES_JS + (_HERE / "list.js").read_text("utf-8"),
)
SOURCE_WORDS = {"library": "Library", "web": "Web", "collection": "Collection", "documents": "Documents"}


def runs(rows: Sequence[HistoryRow], running: Callable[[str], bool], *, key: str) -> Any:
    """Draw the list. The result names the run to `open`, and those that are `picked`."""

    def ignore() -> None:  # without a callback Streamlit reports no click
        pass

    data = {"rows": [line(row, running(row.id)) for row in rows]}
    return _runs(data=data, key=key, default={"picked": []}, on_open_change=ignore, on_picked_change=ignore)


def picked(result: Any, rows: Sequence[HistoryRow]) -> list[HistoryRow]:
    """The selected rows among those that are listed, in their order."""
    ids = result.picked if isinstance(result.picked, list) else []
    return [row for row in rows if row.id in ids]


def requested(result: Any, rows: Sequence[HistoryRow]) -> str:
    """The id of a run to open; empty for none and for one that is not listed."""
    return next((row.id for row in rows if row.id == result.open), "")


def line(row: HistoryRow, running: bool) -> dict[str, Any]:
    """What the component draws of a run, as plain data."""
    counts = [(label, row.verdicts[label]) for label in LABELS if label in row.verdicts]
    waiting = max(0, row.claims - sum(count for _, count in counts))
    counts += [("not_reached", waiting)] if waiting and "not_reached" not in row.verdicts else []
    return {
        "id": row.id,
        "name": row.name or "Untitled",
        "meta": " · ".join(filter(None, meta(row))),
        "state": "" if row.finished else "Running now" if running else "Not finished",
        "tags": list(row.tags),
        "note": " ".join(row.note.split())[:200],
        "deleted": bool(row.deleted_at),
        "counts": [
            {"label": label, "icon": look(label).icon, "n": count, "words": f"{count} {look(label).noun}"}
            for label, count in counts
        ],
    }


def meta(row: HistoryRow) -> list[str]:
    """When it was made, against which sources, and what is special about it."""
    return [
        when(row.created_at),
        ", ".join(SOURCE_WORDS.get(source, source) for source in row.sources),
        plural(row.claims, "claim") if row.claims else "",
        "edited" if row.version > 1 else "",
        "private" if row.private else "",
        f"deleted {when(row.deleted_at)}" if row.deleted_at else "",
    ]


def when(iso: str) -> str:
    """Day and time, UTC."""
    try:
        return f"{date(iso)}, {datetime.fromisoformat(iso):%H:%M} UTC"
    except ValueError:
        return iso[:20]
