"""Compare: one answer cut by two to four segmenters, over the same evidence."""

from __future__ import annotations

import json

import streamlit as st

from attribution.errors import BadInput
from attribution.evaluation.comparison import MOST, Comparison
from attribution.evaluation.tables import Table, tables
from attribution.segmenters import SEGMENTERS
from pages.ui import chart, compare_state, controls, render, run_state, state
from pages.ui.compare_view import as_markdown, compare_view, figures, summary
from pages.ui.form import form
from pages.ui.frame import styles
from pages.ui.render import el, plural
from pages.ui.results import note, show, slot, status

POLL = 0.5


def segmenters() -> None:
    """Which segmenters to compare; what is not ready stands beneath with its reason."""
    ready = [name for name, why in state.missing(SEGMENTERS).items() if not why]
    st.pills(
        "Segmenters, two to four",
        ready,
        selection_mode="multi",
        default=compare_state.chosen(),
        key=state.key(state.COMPARED),
        format_func=lambda name: SEGMENTERS[name].label,
        help="How the answer is cut into claims. All are held against the same pages.",
    )
    notes = [f"{SEGMENTERS[name].label}: {SEGMENTERS[name].note}" for name in compare_state.chosen()]
    controls.quiet(". ".join(notes) + "." if notes else "Choose at least two.")
    controls.unready(SEGMENTERS)


def live(polling: bool) -> None:
    """The comparison as it stands."""
    if polling != compare_state.running():
        st.rerun()
    now, result = compare_state.current(), compare_state.result()
    if now is None or result is None:
        show(
            el(
                "p",
                "Compare cuts the answer with each segmenter, searches the sources once for all of them and holds "
                "every claim against the same pages. Sentences whose verdict depends on the cut come first.",
                class_="ax-lead",
            )
        )
        return
    if now.running:
        if result.many:
            _progress(*now.progress.get("answers", (0, 0)))
        else:
            status(now, now.report)
            slot(now, now.report)
            show(el("p", "Sentences whose verdict depends on the cut will stand here first.", class_="ax-quiet-inline"))
        return
    if now.rejected or now.broken:
        note("This could not be compared", now.rejected or now.broken, label="contradicted")
    if not result.made:
        if not (now.rejected or now.broken):
            note("Nothing was compared", "It was stopped before the first answer was done.")
        return
    if result.many:
        _many(result)
    else:
        _one(result.made[0])


def _progress(done: int, total: int) -> None:
    """Of many answers."""
    text = f"{done} of {plural(total, 'answer')} compared" if total else "Starting …"
    show(el("p", text, class_="ax-status", role="status"))
    show(el("progress", class_="ax-bar", value=f"{done / total if total else 0:.3f}", max=1, aria_label="Progress"))


def _one(comparison: Comparison) -> None:
    if run_state.outdated(comparison.report):
        note("This comparison is of an earlier text", "The question or answer was changed since. Compare again.")
    early = "Stopped early: what was found until then is kept. " if comparison.report.stopped else ""
    show(el("p", early + summary(comparison), class_="ax-status"))
    names = [SEGMENTERS[c.segmenter].label for c in comparison.columns]
    st.plotly_chart(
        chart.bars(list(zip(names, (c.report for c in comparison.columns), strict=True)), state.dark()),
        config={"displayModeBar": False},
        theme=None,
        key="compare_chart",
        alt=summary(comparison),
    )
    show(figures(comparison))
    compare_view(comparison, key="compare_view")
    text = as_markdown(comparison)
    made = tables([comparison])
    with st.expander("Copy as Markdown"):
        st.code(text, language=None)
    _downloads(text, made, {c.segmenter: json.loads(c.report.to_json()) for c in comparison.columns})


def _many(result: compare_state.Result) -> None:
    made = tables(result.made)
    show(el("p", f"{len(result.made)} answers compared.", class_="ax-status"))
    if result.skipped:
        note("Some answers could not be compared", *result.skipped[:20])
    for table in made:
        with st.expander(table.title, expanded=True):
            show(_html(table))
    _downloads("\n".join(t.markdown() for t in made), made, [{"title": t.title, "rows": _rows(t)} for t in made])


def _rows(table: Table) -> list[dict[str, object]]:
    return [dict(zip(table.columns, row, strict=True)) for row in table.rows]


def _html(table: Table) -> render.Node:
    from attribution.evaluation.tables import shown

    body = [el("tr", *(el("td", shown(cell)) for cell in row)) for row in table.rows]
    return el(
        "table",
        el("thead", el("tr", *(el("th", name) for name in table.columns))),
        el("tbody", *body),
        class_="ax-table",
    )


def _downloads(text: str, made: tuple[Table, ...], whole: object) -> None:
    files = (
        ("Markdown", text, "comparison.md", "text/markdown"),
        ("CSV", "\n".join(f"{t.title}\n{t.csv()}" for t in made), "comparison.csv", "text/csv"),
        ("JSON", json.dumps(whole, ensure_ascii=False, indent=1), "comparison.json", "application/json"),
    )
    for column, (name, content, file, kind) in zip(st.columns(len(files)), files, strict=True):
        column.download_button(
            f"Download {name}", content, file, kind, on_click="ignore", key=f"download-{name}", width="stretch"
        )


def experiment(running: bool) -> None:
    """The same over many answers of a file."""
    with st.expander("Many answers at once"):
        upload = st.file_uploader(
            "A JSON Lines file, one {“question”, “answer”} a line", ["jsonl", "json", "txt"], key=compare_state.UPLOAD
        )
        rows: list[tuple[str, str]] = []
        if upload is not None:
            try:
                rows = compare_state.read_answers(upload.getvalue())
            except BadInput as error:
                note("This file cannot be used", str(error), label="contradicted")
        st.button(
            f"Compare {len(rows)} answers" if rows else "Compare them",
            on_click=compare_state.start_many,
            args=(rows,),
            disabled=running or not rows or isinstance(state.settings(), str),
            key="start_many",
        )


state.begin("compare", run_state.load)
styles()
controls.sidebar(segmenter=False)
polling = compare_state.running()
form(
    start="Compare",
    on_start=compare_state.start,
    on_stop=compare_state.stop,
    compact=True,
    running=polling,
    ready=not isinstance(state.settings(), str) and 2 <= len(compare_state.chosen()) <= MOST,
    choices=segmenters,
)
st.fragment(live, run_every=POLL if polling else None)(polling)
experiment(polling)
run_state.preload()
