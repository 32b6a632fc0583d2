"""Retrieval: one finished run through a grid of chunkers and embedders."""

from __future__ import annotations

import textwrap
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from textwrap import shorten
from typing import TYPE_CHECKING

import streamlit as st

from attribution.embedders import EMBEDDERS
from attribution.errors import StoreError
from attribution.pipeline.snapshot import FILE_LIMIT, Snapshot, dump
from attribution.pipeline.snapshot import load as load_snapshot
from attribution.reports.html import (
    LOOKS,
    RELATIONS,
    Child,
    Node,
    badge,
    el,
    plural,
    scrolling,
    table,
    with_detail,
)
from attribution.settings import LIMITS
from attribution.store.history import HistoryQuery
from attribution.store.runs import new_run_id
from attribution.store.store import Store
from attribution.studies.retrieval import (
    CHUNKINGS,
    OUTCOMES,
    Cell,
    CellChoice,
    CellDifference,
    choices,
    compute_cell,
    differences,
    load_grid,
    save_grid,
    scratch,
)
from attribution.types import UNCHECKED, Evidence, Label, Report
from pages.ui import background, frame, run, state
from pages.ui.background import Work, in_turns
from pages.ui.choices import explain
from pages.ui.components import link
from pages.ui.fields import pick_many
from pages.ui.frame import note, plot, show, small, status_line
from pages.ui.job_page import JobPage
from pages.ui.run_results import CLEAR, FONT, graph_objects
from pages.ui.state import store

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

Compute = Callable[[Snapshot, CellChoice, threading.Event, Store], Cell | None]


@dataclass(frozen=True)
class GridProgress(background.JobProgress):
    """A grid at one moment."""

    cells: tuple[Cell, ...] = ()  # those that are done
    choices: tuple[CellChoice, ...] = ()  # all of them
    failures: tuple[
        tuple[CellChoice, str, str], ...
    ] = ()  # cells that could not be computed: the reason, its details

    @property
    def done(self) -> int:
        return len(self.cells) + len(self.failures)

    def doing(self) -> str:
        done, total = self.done, len(self.choices)
        step = names(self.choices)[done] if done < total else "Opening the run"
        return f"{'Stopping after this step' if self.stopping else step}: {done} of {total} done …"

    def share(self) -> float:
        return self.done / len(self.choices) if self.choices else 0.0


def read(database: Store, id: str) -> GridProgress | None:
    """Load a saved grid."""
    cells = load_grid(database, id)
    return (
        GridProgress(cells, tuple(cell.choice for cell in cells), running=False) if cells else None
    )


JOB = JobPage("grid", "grid", read, poll=1.0)


def work(
    open_snapshot: Callable[[], Snapshot],
    cuts: Sequence[str],
    embedders: Sequence[str],
    compute: Compute,
    save: Callable[[Sequence[Cell]], None],
) -> Work[GridProgress]:
    """Open the snapshot, which takes long too, then compute and save the cells one by one."""

    def compute_cells(stop: threading.Event, update: Callable[..., GridProgress]) -> None:
        snapshot = open_snapshot()
        now = update(choices=tuple(choices(snapshot, cuts, embedders)))
        with scratch() as shared:
            for choice in now.choices:
                try:
                    if cell := compute(snapshot, choice, stop, shared):
                        now = update(cells=(*now.cells, cell))
                        save(now.cells)
                except StoreError:
                    raise
                except Exception as error:  # a model that breaks affects only its own cells
                    now = update(failures=(*now.failures, (choice, *explain(error))))
                if stop.is_set():
                    return

    return compute_cells


def start(
    snapshot: bytes | None, run_id: str, cuts: Sequence[str], embedders: Sequence[str]
) -> None:
    """Compute the grid of an uploaded snapshot, or of a saved run."""
    source = partial(load_snapshot, snapshot) if snapshot else saved_run(run_id)
    id, browser = new_run_id(), state.browser()

    def compute(
        snapshot: Snapshot, choice: CellChoice, stop: threading.Event, shared: Store
    ) -> Cell | None:
        cells = (compute_cell(snapshot, one, stop, shared) for one in (choice,))
        return next(in_turns(browser, stop, cells), None)

    JOB.launch(
        GridProgress(), work(source, cuts, embedders, compute, partial(save_grid, store(), id)), id
    )


def saved_run(run_id: str) -> Callable[[], Snapshot]:
    """Return a function that reads a run which this browser may read, in any thread."""
    return partial(Snapshot.of, store(), run_id)


RUNS = 50  # to choose from


def finished_runs() -> dict[str, str]:
    """Return the names of this browser's newest finished runs by id, that of the session first."""
    now = run.current()
    own = now.report if now and not now.running and now.report.id else None
    rows = store().history.find(HistoryQuery(state="finished", limit=RUNS)).rows
    first = {own.id: subject(own)} if own else {}
    return first | {row.id: row.name for row in rows if row.id not in first}


def subject(report: Report) -> str:
    """Return a run in a few words: its question, or else its answer."""
    return shorten(report.question.strip() or report.answer.strip(), 120, placeholder=" …")


# --- the page ---


def form(running: bool) -> None:
    """Draw the run, the rows of the grid, and the buttons."""
    chosen, uploaded = choose_run()
    too_large = uploaded is not None and len(uploaded) > FILE_LIMIT
    if too_large:
        note(
            "The file is too large",
            f"A snapshot has at most {FILE_LIMIT:,} bytes.",
            label="contradicted",
        )
    with st.container(key="form"):
        options, buttons = st.columns([5, 1])
        with options:
            cuts = st.pills(
                "Chunkers",
                list(CHUNKINGS),
                selection_mode="multi",
                default=["fixed 512", "sentence windows"],
                key="grid_cuts",
                wrap=True,
                help="How pages are split into passages.",
            )
            embedders = pick_many(
                "Embedders",
                EMBEDDERS,
                ["minilm"],
                "grid_embedders",
                "How passages and claims become vectors; the nearest are checked.",
            )
        with buttons:
            ready = bool(cuts and embedders and (uploaded or chosen)) and not too_large
            JOB.buttons(
                "Compare", partial(start, uploaded, chosen, cuts, embedders), running, ready
            )


def choose_run() -> tuple[str, bytes | None]:
    """Draw the choice of a run, or of a snapshot in its place."""
    runs, chosen = finished_runs(), ""
    if runs:
        chosen = st.selectbox(
            "Run",
            list(runs),
            format_func=lambda run_id: shorten(runs[run_id], 120, placeholder=" …"),
            key="grid_run",
            help="The newest runs of your history. Claims and pages stay the same; only the passages change.",
        )
    else:
        note(
            "No run yet",
            "Analyse an answer on the Explore page first, or upload the snapshot of a run.",
        )
        if st.button("Go to Explore", key="to_explore"):
            st.switch_page("pages/explore.py")
    with st.expander("Use a snapshot instead" if chosen else "Use a snapshot", expanded=not chosen):
        uploaded = st.file_uploader(
            "Snapshot of a run",
            ["zip"],
            key="grid_file",
            help="Made by `python -m attribution snapshot export`.",
            max_upload_size=LIMITS.file_mb,
        )
        if chosen:
            st.download_button(
                "Download the snapshot of this run",
                partial(snapshot_file, saved_run(chosen)),
                f"run-{chosen}.zip",
                "application/zip",
                on_click="ignore",
                key="snapshot_download",
            )
    return chosen, uploaded.getvalue() if uploaded else None


def snapshot_file(open_snapshot: Callable[[], Snapshot]) -> bytes:
    return dump(open_snapshot())


def result(now: GridProgress) -> None:
    """Draw the cells that are done."""
    if not now.running and now.cells:
        early = (
            f"Stopped after {now.done} of {len(now.choices)}. "
            if now.done < len(now.choices)
            else ""
        )
        status_line(early + summary(now.cells))
    elif not (now.running or now.error or now.failures):
        note("Nothing was compared", "The grid was stopped before the first cell was finished.")
    if now.failures:
        show(failure_table(now.choices, now.failures))
    if not now.cells:
        return
    if not now.running:
        link(
            f"Computed over the run “{subject(now.cells[0].report)}”.",
            **state.address("run", JOB.name),
        )
    plot(heat_map(now.cells, state.is_dark()), f"grid_map_{len(now.cells)}", summary(now.cells))
    with st.expander("Table, with the time", expanded=not now.running):
        show(cell_table(now.cells))
        small(
            "The time is for what neither the run nor a cell before it had computed, with models loaded."
        )
    if not now.running and len(now.cells) > 1:
        compare_cells(now.cells)


def compare_cells(cells: Sequence[Cell]) -> None:
    """Draw two cells side by side: the passages that only one of them found."""
    labels = names([cell.choice for cell in cells])
    left, right = (
        column.selectbox(
            label,
            range(len(cells)),
            place,
            format_func=labels.__getitem__,
            key=f"grid_{label}",
            help="One of the two cells whose passages are compared.",
        )
        for place, (column, label) in enumerate(
            zip(st.columns(2), ("Evidence of", "against"), strict=True)
        )
    )
    a, b = cells[left], cells[right]
    show(difference_list(differences(a.report, b.report), a, b))


# --- drawing ---


LABELS: dict[str, Label] = {
    "entailed": "supported",
    "contradicted": "contradicted",
    "unclear": "unclear",
    "no_relation": "no_relation",
    "missing": "missing",
}
SHOWN, PASSAGE = 30, 600  # claims of a comparison; characters of a passage
NARROW = 12  # characters per line of a row's name: on a telephone the figures need the room
DEEPEST, DEEPEST_DARK = 0.5, 0.35  # of the way from tint to ink: deeper would hide the figures


def names(choices: Sequence[CellChoice]) -> list[str]:
    """Each cell in as few words as distinguish it from the others."""
    several, both = len({c.embedder for c in choices}) > 1, len({c.enriched for c in choices}) > 1
    result = []
    for choice in choices:
        embedder = (
            EMBEDDERS[choice.embedder].label if choice.embedder in EMBEDDERS else choice.embedder
        )
        wording = "enriched" if choice.enriched else "as written"
        result.append(
            " · ".join(
                [choice.chunking, *([embedder] if several else []), *([wording] if both else [])]
            )
        )
    return result


def _checked(cell: Cell) -> int:
    return sum(v.label not in UNCHECKED for v in cell.report.verdicts)


def _count(cell: Cell, outcome: str) -> int:
    return round(cell.shares.get(outcome, 0.0) * _checked(cell))


def summary(cells: Sequence[Cell]) -> str:
    """One sentence that says what the grid shows."""
    parts, same = list[str](), True
    for outcome in ("entailed", "contradicted"):
        counts = [_count(c, outcome) for c in cells]
        low, high = min(counts), max(counts)
        same = same and low == high
        parts.append(f"{low if low == high else f'{low} to {high}'} {LOOKS[LABELS[outcome]].noun}")
    how = "however" if same else "depending on how"
    checked = plural(_checked(cells[0]), "checked claim")
    return f"Of {checked}, {' and '.join(parts)}, {how} passages are split and found."


def _mix(one: str, two: str, share: float) -> str:
    pairs = ((int(one[i : i + 2], 16), int(two[i : i + 2], 16)) for i in (1, 3, 5))
    return "#" + "".join(f"{round(a + (b - a) * share):02x}" for a, b in pairs)


def heat_map(cells: Sequence[Cell], dark: bool) -> Figure:
    """Cells down, outcomes across, each outcome in its verdict's colour, deeper for more claims."""
    go = graph_objects()
    styles = [LOOKS[LABELS[outcome]] for outcome in OUTCOMES]
    count, scale = len(styles), []
    for column, style in enumerate(styles):  # one stretch of a common scale for each outcome
        ink, tint = (style.dark_ink, style.dark_tint) if dark else (style.ink, style.tint)
        scale += [
            [column / count, tint],
            [(column + 1) / count, _mix(tint, ink, DEEPEST_DARK if dark else DEEPEST)],
        ]
    labels = [
        [
            line
            for part in name.split(" · ")
            for line in textwrap.wrap(part, NARROW, break_long_words=False)
        ]
        for name in names([c.choice for c in cells])
    ]
    figure: Figure = go.Figure(
        go.Heatmap(
            x=[f"{style.icon}<br>{style.word.replace(' ', '<br>')}" for style in styles],
            y=["<br>".join(lines) for lines in labels],
            z=[
                [
                    column + 0.999 * c.shares.get(outcome, 0.0)
                    for column, outcome in enumerate(OUTCOMES)
                ]
                for c in cells
            ],
            text=[
                [f"{_count(c, outcome)} of {_checked(c)}" for outcome in OUTCOMES] for c in cells
            ],
            texttemplate="%{text}",
            textfont={"size": 14, "color": "#ffffff" if dark else "#1c1c1a"},
            zmin=0,
            zmax=count,
            colorscale=scale,
            showscale=False,
            hovertemplate="%{y}: %{text} claims<extra></extra>",
            xgap=3,
            ygap=3,
        )
    )
    axis = {"fixedrange": True, "showgrid": False, "automargin": True, "ticks": ""}
    figure.update_layout(
        height=56 + max(42, 16 * max(map(len, labels)) + 4) * len(cells),
        margin={"l": 0, "r": 0, "t": 0, "b": 0},
        paper_bgcolor=CLEAR,
        plot_bgcolor=CLEAR,
        font={"family": FONT, "size": 13, "color": "#d9d9d4" if dark else "#33332f"},
        xaxis={**axis, "side": "top", "tickangle": 0, "tickfont": {"size": 11}},
        yaxis={**axis, "autorange": "reversed"},
    )
    return figure


def cell_table(cells: Sequence[Cell]) -> Node:
    """The same figures with their cost."""
    heads = ["Passages", *(LOOKS[LABELS[o]].word for o in OUTCOMES), "Time", "Chunks", "Pairs"]
    rows = (
        [
            name,
            *(f"{_count(c, o)} of {_checked(c)}" for o in OUTCOMES),
            f"{c.seconds:.1f} s",
            f"{c.report.usage.chunks:,}",
            f"{c.report.usage.pairs:,}",
        ]
        for c, name in zip(cells, names([c.choice for c in cells]), strict=True)
    )
    return scrolling(table(heads, rows, "ax-table wide"), "Figures of the cells")


def failure_table(
    choices: Sequence[CellChoice], failures: Sequence[tuple[CellChoice, str, str]]
) -> Node:
    """The cells that could not be computed, of all that were chosen."""
    labels = dict(zip(choices, names(choices), strict=True))
    rows = ((labels[choice], with_detail(reason, detail)) for choice, reason, detail in failures)
    return table(("Not computed", "Why"), rows)


def difference_list(differences: Sequence[CellDifference], left: Cell, right: Cell) -> Node:
    """The claims whose passages differ, those with another verdict first, with the passages of one
    cell only.
    """
    if not differences:
        return el("p", "Both cells found the same passages for every claim.", class_="ax-quiet")
    verdicts = [d for d in differences if _label(d, left) != _label(d, right)]
    ordered = [*verdicts, *(d for d in differences if d not in verdicts)][:SHOWN]
    more = f" The first {SHOWN} are shown." if len(differences) > SHOWN else ""
    summary = (
        f"Passages differ for {plural(len(differences), 'claim')}; {len(verdicts)} of them "
        f"{'gets' if len(verdicts) == 1 else 'get'} another verdict.{more}"
    )
    titles = names([left.choice, right.choice])
    return el(
        "div",
        el("p", summary, class_="ax-status"),
        *(_difference(d, left, right, titles) for d in ordered),
        class_="ax-differences",
    )


def _difference(difference: CellDifference, left: Cell, right: Cell, titles: Sequence[str]) -> Node:
    sides = [
        el("div", el("h4", title), _only(pieces, cell.report))
        for title, pieces, cell in zip(
            titles, (difference.left, difference.right), (left, right), strict=True
        )
    ]
    labels = _label(difference, left), _label(difference, right)
    verdicts: list[Child] = [badge(labels[0])]
    if labels[0] != labels[1]:
        verdicts += [" → ", badge(labels[1])]
    text = el("span", difference.claim.text[:PASSAGE], dir="auto")
    return el("details", el("summary", *verdicts, " ", text), el("div", *sides, class_="ax-two"))


def _label(difference: CellDifference, cell: Cell) -> Label | None:
    return next((v.label for v in cell.report.verdicts if v.claim_id == difference.claim.id), None)


def _only(pieces: Sequence[Evidence], report: Report) -> Node:
    if not pieces:
        return el("p", "No passages that the other missed.", class_="ax-quiet")
    titles = {page.id: page.title for page in report.pages}
    return el("ul", *(_piece(e, titles.get(e.page_id, "")) for e in pieces))


def _piece(piece: Evidence, title: str) -> Node:
    label, word = RELATIONS[piece.relation]
    mark = badge(label, getattr(piece.probabilities, piece.relation), word)
    text, first, last = (
        piece.text[:PASSAGE],
        piece.sentence[0] - piece.start,
        piece.sentence[1] - piece.start,
    )
    passage = [el("span", text[:first]), el("strong", text[first:last]), el("span", text[last:])]
    return el("li", mark, el("em", f" {title[:120]} ", dir="auto"), el("p", *passage, dir="auto"))


if __name__ == "__main__":
    frame.begin(
        "retrieval",
        "Compare retrieval",
        "Keep the [claims] and [pages] of one run, and compare how [passages] are split and found; nothing is "
        "searched or downloaded.",
        run=run.load,
        grid=JOB.open,
    )
    JOB.draw(form, result)
