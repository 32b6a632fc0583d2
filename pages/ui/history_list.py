"""Show the runs of the history: filters, list, details, comparison of two runs, export and import."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import streamlit as st

from attribution.errors import AttributionError
from attribution.reports import html
from attribution.reports.html import Child, Node, badge, el, look, plural, scrolling, table
from attribution.reports.provenance import date
from attribution.snapshots.file import FILE_LIMIT
from attribution.store.history import MAX_NOTE, MAX_TITLE, HistoryQuery, HistoryRow, Order, State
from attribution.store.summaries import SOURCES
from attribution.studies.answers.run_changes import ClaimChange, RunChanges, counts, run_changes
from attribution.types import LABELS, Report
from pages.ui import choices, history, run_results, state
from pages.ui.choices import FORM
from pages.ui.frame import note, plot, section, show, small, status_line
from pages.ui.slot import store

STATES: dict[State, str] = {
    "all": "All",
    "finished": "Finished",
    "unfinished": "Not finished",
    "deleted": "Deleted",
}
ORDERS: dict[Order, str] = {"newest": "Newest first", "oldest": "Oldest first", "title": "By title"}


def filters(tags: Sequence[str]) -> HistoryQuery:
    """Draw the filters and return the query for the list."""
    with st.container(key="history_filters", horizontal=True, vertical_alignment="bottom"):
        words = st.text_input(
            "Search",
            key=history.key("words"),
            placeholder="Words of the question, answer, claims, title, tags or note",
            help="Runs in which all of these words occur.",
            on_change=history.from_start,
        )
        with st.popover(
            "Filters", key="history_popover", help="Narrow the list by verdict, source, tag, date and state."
        ):
            verdict = _choice(
                "Has a claim that is", "verdict", {k: look(k).word for k in LABELS}, "Runs with such a verdict."
            )
            source = _choice("Sources", "source", {k: SOURCE_WORDS[k] for k in SOURCES}, "Where pages came from.")
            tag = _choice("Tag", "tag", {tag: tag for tag in tags}, "Tags that you gave.")
            days = st.date_input(
                "Days",
                [],
                key=history.key("days"),
                on_change=history.from_start,
                format="YYYY-MM-DD",
                help="When the run was started: the first and the last day.",
            )
            order = st.selectbox(
                "Order",
                list(ORDERS),
                format_func=ORDERS.__getitem__,
                key=history.key("order"),
                help="Of the list.",
                on_change=history.from_start,
            )
            st.button("Clear all filters", on_click=history.clear_filters, key="history_clear")
    shown = st.segmented_control(
        "Show",
        list(STATES),
        default="all",
        format_func=STATES.__getitem__,
        key=history.key("state"),
        help="Unfinished runs can be continued, deleted ones restored for a day.",
        on_change=history.from_start,
        label_visibility="collapsed",
    )
    since, until = (*days, None, None)[:2] if isinstance(days, tuple) else (days, days)
    return HistoryQuery(
        words=words or "",
        tag=tag,
        verdict=verdict,
        source=source,
        since=since,
        until=until,
        state=shown or "all",
        order=order,
        offset=history.first_row(),
        limit=history.PER_PAGE,
    )


def _choice(label: str, name: str, options: dict[str, str], help: str) -> str:
    """Draw a choice of one option; empty for any."""
    return st.selectbox(
        label,
        ["", *options],
        format_func=lambda option: options.get(option, "Any"),
        key=history.key(name),
        on_change=history.from_start,
        help=help,
    )


def is_narrowed(query: HistoryQuery) -> bool:
    """Return True if the query may leave runs out."""
    return any(
        (query.words.strip(), query.tag, query.verdict, query.source, query.since, query.until, query.state != "all")
    )


@st.dialog("Title, tags and note", width="medium")
def details_dialog(row: HistoryRow) -> None:
    """Edit a run's title, tags and note; only this browser sees them."""
    with st.form("history_details", border=False):
        title = st.text_input(
            "Title",
            row.title,
            key=f"title-{row.id}",
            max_chars=MAX_TITLE,
            placeholder=row.name[:80],
            help="Shown in the list in place of the question.",
        )
        tags = st.multiselect(
            "Tags",
            sorted({*store().tags(), *row.tags}),
            list(row.tags),
            key=f"tags-{row.id}",
            accept_new_options=True,
            placeholder="Choose, or type a new one and press Enter",
            help="Words to find runs by; the list can be narrowed to one.",
        )
        text = st.text_area(
            "Note",
            row.note,
            key=f"note-{row.id}",
            max_chars=MAX_NOTE,
            height=140,
            help="Anything to remember. Search finds its words, and exports contain it.",
        )
        saved = st.form_submit_button("Save", type="primary", help="Keep title, tags and note with the run.")
    if saved:
        try:
            store().describe(row.id, title, tags, text)
        except AttributionError as error:
            note("Not saved", str(error), label="contradicted")
            return
        st.rerun()


_STATIC = Path(__file__).parent / "static"
_runs = st.components.v2.component(
    "attribution.history",
    html='<ul class="root"></ul>',
    css=html.tokens_css(".root") + (_STATIC / "history.css").read_text("utf-8"),
    js=html.NODES_JS + (_STATIC / "history.js").read_text("utf-8"),
)
SOURCE_WORDS = {"library": "Library", "web": "Web", "collection": "Collection", "documents": "Documents"}


def runs(rows: Sequence[HistoryRow], running: Callable[[str], bool], *, key: str) -> Any:
    """Draw the list. The result has the run to `open`, and the `picked` ones."""

    def ignore() -> None:  # without a callback Streamlit reports no click
        pass

    data = {"rows": [line(row, running(row.id)) for row in rows]}
    return _runs(data=data, key=key, default={"picked": []}, on_open_change=ignore, on_picked_change=ignore)


def picked(result: Any, rows: Sequence[HistoryRow]) -> list[HistoryRow]:
    """Return the selected rows of the list, in order."""
    ids = result.picked if isinstance(result.picked, list) else []
    return [row for row in rows if row.id in ids]


def requested(result: Any, rows: Sequence[HistoryRow]) -> str:
    """Return the id of the run to open; empty if there is none, or it is not listed."""
    return next((row.id for row in rows if row.id == result.open), "")


def line(row: HistoryRow, running: bool) -> dict[str, Any]:
    """Return a run as plain data for the component."""
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
    """Describe a run: when it was made, its sources, number of claims and state."""
    return [
        when(row.created_at),
        ", ".join(SOURCE_WORDS.get(source, source) for source in row.sources),
        plural(row.claims, "claim") if row.claims else "",
        "edited" if row.version > 1 else "",
        "private" if row.private else "",
        f"deleted {when(row.deleted_at)}" if row.deleted_at else "",
    ]


def when(iso: str) -> str:
    """Format day and time, UTC."""
    try:
        return f"{date(iso)}, {datetime.fromisoformat(iso):%H:%M} UTC"
    except ValueError:
        return iso[:20]


FILE = "attribution-history.zip"


def transfer(total: int) -> None:
    """Draw export and import, folded."""
    with st.expander("Export and import"):
        small(
            "A file with your runs: reports, earlier versions, pages, titles, tags and notes. Runs that did not finish "
            "are in it as stopped ones."
        )
        st.download_button(
            "Export all runs",
            history.exporter(),
            FILE,
            "application/zip",
            on_click="ignore",
            key="history_export",
            disabled=not total,
        )
        uploaded = st.file_uploader(
            "Import a file",
            ["zip"],
            help="A file made by the export, here or elsewhere.",
            key=history.key("file"),
            max_upload_size=FILE_LIMIT // 1_000_000,
        )
        st.button(
            "Import the file",
            on_click=history.import_file,
            args=(uploaded,),
            disabled=uploaded is None,
            key="history_import",
        )
    result = history.imported()
    if isinstance(result, str):
        note("Nothing was imported", result, label="contradicted")
    elif result:
        known = f" {plural(result.known, 'run')} of the file {'is' if result.known == 1 else 'are'} here already."
        note(f"{plural(len(result.ids), 'run')} imported", known if result.known else "They are in the list.")


NAMES = {
    **FORM,
    "threshold": "Threshold for support",
    "contradiction_threshold": "Threshold for contradiction",
    "top_k": "Passages for each claim",
    "chunker": "Chunker",
    "embedder": "Embedding model",
}


def comparison(reports: Sequence[Report]) -> None:
    """Draw the comparison of two runs, with a way back to the list."""
    st.button("Back to the list", on_click=history.compare, args=((),), key="history_back")
    if len(reports) != 2:
        note("These runs cannot be compared", "One of them was deleted, or was started by another browser.")
        return
    before, after = reports
    changes = run_changes(before, after)
    show(heading(before, after))
    status_line(summary(changes))
    if before.verdicts and after.verdicts:
        named = [("Before", before), ("After", after)]
        plot(run_results.bars(named, state.is_dark()), "history_bars", summary(changes))
    for title, some in groups(changes):
        section(f"{title} · {plural(len(some), 'claim')}")
        show(el("section", *map(change_node, some), class_="ax-runs"))
    if (same := unchanged(changes)) and len(same.children) > 1:
        show(same)
    if rows := differences(changes):
        section("What the runs were made with")
        show(scrolling(table(("", "Before", "After"), rows), "Settings that differ"))


def summary(changes: RunChanges) -> str:
    """State in a sentence how many verdicts changed."""
    changed, same, new, gone = counts(changes.claims)
    parts = [f"{plural(changed, 'verdict')} changed", f"{same} stayed the same"]
    parts += [f"{plural(new, 'claim')} only in the second run"] if new else []
    parts += [f"{plural(gone, 'claim')} only in the first run"] if gone else []
    return ", ".join(parts) + "."


def heading(before: Report, after: Report) -> Node:
    """Show the two runs with date, text and method."""

    def one(word: str, report: Report) -> Node:
        about = " ".join((report.question or report.answer).split())[:200]
        return el(
            "div",
            el("h3", f"{word}: {when(report.created_at)}"),
            el("p", about, dir="auto"),
            el("p", choices.method(report), class_="facts"),
        )

    return el("div", one("Before", before), one("After", after), class_="ax-two ax-runs-heads")


def groups(changes: RunChanges) -> list[tuple[str, list[ClaimChange]]]:
    """Group the claims that differ, in the order of display."""
    named = [
        ("The verdict changed", [c for c in changes.claims if c.changed]),
        ("Only in the second run", [c for c in changes.claims if c.before is None]),
        ("Only in the first run", [c for c in changes.claims if c.after is None]),
    ]
    return [(title, some) for title, some in named if some]


def change_node(change: ClaimChange) -> Node:
    """Show a claim with its verdicts, and the reasons for a change."""
    claim = change.after or change.before
    text = claim.statement if claim else ""
    badges: list[Child] = [badge(change.now if change.after else change.was)]
    if change.changed:
        arrow = el("span", " → ", aria_hidden="true")
        badges = [badge(change.was), arrow, badge(change.now)]
    causes = [el("li", cause.text, dir="auto") for cause in change.causes]
    return el(
        "article",
        el("p", *badges, class_="badges"),
        el("p", text, dir="auto", class_="claim"),
        el("ul", *causes) if causes else None,
    )


def unchanged(changes: RunChanges) -> Node:
    """Show the claims with the same verdict, folded."""
    same = [c for c in changes.claims if c.before and c.after and not c.changed]
    title = f"The same verdict · {plural(len(same), 'claim')}"
    return el("details", el("summary", title), *map(change_node, same), class_="ax-runs")


def differences(changes: RunChanges) -> list[tuple[str, str, str]]:
    """Return the settings and versions that differ, as rows."""
    rows = [(NAMES.get(name, name), _shown(a), _shown(b)) for name, a, b in changes.settings]
    return rows + [(f"Version: {name}", a or "none", b or "none") for name, a, b in changes.versions]


def _shown(value: object) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value)) or "none"
    return "none" if value is None or value == "" else str(value)
