"""Compare: one answer cut by two to four segmenters, over the same evidence."""

from __future__ import annotations

import streamlit as st

from attribution.errors import BadInput
from attribution.evaluation.comparison import MAX_SEGMENTERS, Comparison
from attribution.evaluation.tables import Table, format_cell, tables
from attribution.segmenters import SEGMENTERS
from pages.ui import controls, state
from pages.ui.compare import compare_state
from pages.ui.compare import export as compare_export
from pages.ui.compare.figures import figures, legend, summary
from pages.ui.compare.job import Known, Progress
from pages.ui.compare.view import compare_view
from pages.ui.form import form
from pages.ui.frame import styles
from pages.ui.html.render import Node, el, plural
from pages.ui.run import chart, run_state
from pages.ui.run.cost import cost
from pages.ui.run.results import note, show, slot, status

POLL = 0.5  # seconds between looks at a comparison that is under way


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
    chosen = compare_state.chosen()
    notes = [f"{SEGMENTERS[name].label}: {SEGMENTERS[name].note}" for name in chosen]
    if not 2 <= len(chosen) <= MAX_SEGMENTERS:
        notes = [f"{plural(len(chosen), 'segmenter')} chosen: choose two to four"]
    controls.quiet(". ".join(notes) + ".")
    controls.unready(SEGMENTERS)


def live(polling: bool) -> None:
    """The comparison as it stands."""
    if polling != compare_state.running():
        st.rerun()  # the form has to hear of it too
    now = compare_state.known()
    if now is None:
        show(
            el(
                "p",
                "Compare cuts the answer with each segmenter, searches the sources once for all of them and holds "
                "every claim against the same pages. Sentences whose verdict depends on the cut come first.",
                class_="ax-lead",
            )
        )
    elif now.many:
        _many(now)
    else:
        _one(now)


def _one(now: Known) -> None:
    run, comparison = now.run, now.comparison
    if run.rejected:
        note("This text cannot be compared", run.rejected, label="contradicted")
        return
    if run.broken:
        title = "The comparison could not be finished" if comparison else "The comparison could not start"
        note(title, run.broken, label="contradicted")
    elif comparison and run_state.outdated(comparison.report):
        note("This comparison is of an earlier text", "The question or answer was changed since. Compare again.")
    if run.running:
        status(run, run.report)
        slot(run, run.report)
    elif comparison:
        left = [SEGMENTERS[name].label for name in now.segmenters if name not in {c.segmenter for c in now.cut}]
        early = "" if now.finished else "Stopped early: what was found until then is kept. "
        early += f"Not reached: {', '.join(left)}. " if left else ""
        show(el("p", early + summary(comparison), class_="ax-status"))
        _chart(comparison)
    if run.running or comparison:
        show(figures(now.segmenters, now.cut, comparison, run.running))
    if comparison:
        show(legend(comparison, run.running))
        compare_view(comparison, running=run.running, key="compare_view")
    if comparison and not run.running:
        _take_along(
            compare_export.as_markdown(comparison),
            compare_export.as_csv(comparison),
            compare_export.as_json(comparison),
        )


def _chart(comparison: Comparison) -> None:
    named = [(SEGMENTERS[c.segmenter].label, c.report) for c in comparison.columns]
    st.plotly_chart(
        chart.bars(named, state.dark()),
        config={"displayModeBar": False},
        theme=None,
        key="compare_chart",
        alt=summary(comparison),
    )


def _many(now: Progress) -> None:
    if now.running:
        doing = (
            "Stopping after this answer" if now.stopping else f"{now.done} of {plural(now.total, 'answer')} compared"
        )
        show(el("p", f"{doing} …", class_="ax-status", role="status"))
        share = f"{now.done / now.total:.3f}"
        show(el("progress", class_="ax-bar", value=share, max=1, aria_label="Progress of the comparison"))
    if now.broken:
        note("The comparison could not be finished", now.broken, label="contradicted")
    if now.skipped:
        note("Some answers could not be compared", *now.skipped[:20])
    if now.running or not now.made:
        if not (now.running or now.broken or now.skipped):
            note("Nothing was compared", "It was stopped before the first answer was done.")
        return
    early = f"Stopped after {now.done} of {now.total}. " if now.done < now.total else ""
    show(el("p", f"{early}{plural(len(now.made), 'answer')} compared.", class_="ax-status"))
    made = tables(now.made)
    for table in made:
        with st.expander(table.title, expanded=True):
            show(_html(table))
    _take_along(
        "\n".join(t.markdown() for t in made), compare_export.tables_csv(made), compare_export.tables_json(made)
    )


def _html(table: Table) -> Node:
    body = [el("tr", *(el("td", format_cell(cell)) for cell in row)) for row in table.rows]
    heads = el("thead", el("tr", *(el("th", name) for name in table.columns)))
    return el("div", el("table", heads, el("tbody", *body), class_="ax-table wide"), class_="ax-scroll")


def _take_along(markdown: str, csv: str, json: str) -> None:
    """The result to copy or to download."""
    files = {
        "Markdown": (markdown, "comparison.md", "text/markdown"),
        "CSV": (csv, "comparison.csv", "text/csv"),
        "JSON": (json, "comparison.json", "application/json"),
    }
    with st.expander("Copy as Markdown, CSV or JSON"):
        form = st.segmented_control("Form", list(files), default="Markdown", key="copied", required=True)
        st.code(files[form or "Markdown"][0], language=None, height=320)
    for column, (name, (content, file, kind)) in zip(st.columns(len(files)), files.items(), strict=True):
        data = content.encode("utf-8-sig" if name == "CSV" else "utf-8")  # a spreadsheet asks for the mark
        column.download_button(
            f"Download {name}", data, file, kind, on_click="ignore", key=f"download-{name}", width="stretch"
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
            f"Compare {plural(len(rows), 'answer')}" if rows else "Compare them",
            on_click=compare_state.start_many,
            args=(rows,),
            disabled=running or not rows or not ready,
            key="start_many",
        )


state.begin("compare", run_state.load)
styles()
controls.sidebar(segmenter=False)
polling = compare_state.running()  # asked once, so that form and result agree
chosen = compare_state.chosen()
ready = not isinstance(state.settings(), str) and 2 <= len(chosen) <= MAX_SEGMENTERS
form(
    start="Compare",
    on_start=compare_state.start,
    on_stop=compare_state.stop,
    compact=True,
    running=polling,
    ready=ready,
    choices=segmenters,
    estimate=(lambda: cost(polling, chosen)) if ready else None,
)
st.fragment(live, run_every=POLL if polling else None)(polling)
experiment(polling)
run_state.preload()
