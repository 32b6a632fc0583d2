"""The parts of the Retrieval page: the job, its saved state, the grid."""

from __future__ import annotations

import textwrap
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from attribution.embedders import EMBEDDERS
from attribution.errors import StoreError
from attribution.reports.html import LOOKS, RELATIONS, Child, Node, badge, el, plural, scrolling, table, told
from attribution.snapshots.file import load as load_snapshot
from attribution.snapshots.snapshot import Snapshot
from attribution.store.history import HistoryQuery
from attribution.store.runs import new_run_id
from attribution.studies.retrieval import OUTCOMES, Cell, Choice, Difference, choices, grid, load_grid, save_grid
from attribution.types import UNCHECKED, Evidence, Label, Report
from pages.ui import background, state
from pages.ui import run as run_state
from pages.ui.choices import explain
from pages.ui.run_results import CLEAR, FONT, graph_objects
from pages.ui.slot import Slot, store

Compute = Callable[[Snapshot, Sequence[Choice], threading.Event], Iterator[Cell]]


@dataclass(frozen=True)
class GridProgress(background.Progress):
    """A grid at one moment."""

    cells: tuple[Cell, ...] = ()  # those that are done
    choices: tuple[Choice, ...] = ()  # all of them
    failures: tuple[tuple[Choice, str, str], ...] = ()  # cells that could not be computed: the reason, its details


class GridJob(background.Job[GridProgress]):
    """Opens the snapshot, which takes long too, then computes the cells one by one; one that fails costs itself.

    The cells are saved under the id of the grid as they are done.
    """

    def __init__(
        self,
        id: str,
        open_snapshot: Callable[[], Snapshot],
        cuts: Sequence[str],
        embedders: Sequence[str],
        compute: Compute,
        save: Callable[[Sequence[Cell]], None],
    ) -> None:
        self.id = id

        def work(stop: threading.Event, update: Callable[..., GridProgress]) -> None:
            snapshot = open_snapshot()
            now = update(choices=tuple(choices(snapshot, cuts, embedders)))
            for choice in now.choices:
                try:
                    for cell in compute(snapshot, [choice], stop):
                        now = update(cells=(*now.cells, cell))
                        save(now.cells)
                except StoreError:
                    raise
                except Exception as error:  # a model that breaks costs its own cells
                    now = update(failures=(*now.failures, (choice, *explain(error))))
                if stop.is_set():
                    return

        super().__init__("grid", GridProgress(), work)
        background.register(id, self)


RUNS = 50  # to choose from
RESULT = Slot[GridJob, GridProgress]("grid")
is_running, notice = RESULT.is_running, RESULT.notice


def saved_run(run_id: str) -> Callable[[], Snapshot]:
    """Reads a run that this browser may read, in any thread."""
    return partial(Snapshot.of, store(), run_id)


def finished_runs() -> dict[str, str]:
    """The names of this browser's newest finished runs, by id; the session's own comes first."""
    own = last_run()
    rows = store().history(HistoryQuery(state="finished", limit=RUNS)).rows
    first = {own.id: own.question.strip() or own.answer.strip()} if own else {}
    return first | {row.id: row.name for row in rows if row.id not in first}


def last_run() -> Report | None:
    """The session's last run, once it is saved."""
    last = run_state.current()
    return last.report if last and not last.running and last.report.id else None


def start(snapshot: bytes | None, run_id: str, cuts: Sequence[str], embedders: Sequence[str]) -> None:
    """Compute the grid of an uploaded snapshot, or of a saved run."""
    source = partial(load_snapshot, snapshot) if snapshot else saved_run(run_id)
    id = new_run_id()
    RESULT.start(GridJob(id, source, cuts, embedders, grid, partial(save_grid, store(), id)))


def load(id: str) -> None:
    """Show the grid in the address, saved or in progress; `notice` says why where it cannot be shown."""
    if not RESULT.running(id) and (cells := RESULT.saved(lambda database: load_grid(database, id))):
        RESULT.show(GridProgress(cells, tuple(cell.choice for cell in cells), running=False))


def current() -> GridProgress | None:
    """The grid to show: the last one that was started, else the one in the address."""
    job = RESULT.job()
    if job is None:
        return RESULT.shown()
    state.show_address(grid=job.id)
    return job.progress()


if TYPE_CHECKING:
    from plotly.graph_objects import Figure

LABELS: dict[str, Label] = {
    "entailed": "supported", "contradicted": "contradicted", "unclear": "unclear", "no_relation": "no_relation",
    "missing": "missing",
}  # fmt: skip
SHOWN, LONGEST = 30, 600  # claims of a comparison; characters of a passage
NARROW = 12  # characters per line of a row's name: on a telephone the figures need the room
DEEPEST, DEEPEST_DARK = 0.5, 0.35  # of the way from tint to ink: deeper would hide the figures


def names(choices: Sequence[Choice]) -> list[str]:
    """Each cell in as few words as distinguish it from the others."""
    several, both = len({c.embedder for c in choices}) > 1, len({c.enriched for c in choices}) > 1
    result = []
    for choice in choices:
        embedder = EMBEDDERS[choice.embedder].label if choice.embedder in EMBEDDERS else choice.embedder
        wording = "enriched" if choice.enriched else "as written"
        result.append(" · ".join([choice.chunking, *([embedder] if several else []), *([wording] if both else [])]))
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
    looks = [LOOKS[LABELS[outcome]] for outcome in OUTCOMES]
    count, scale = len(looks), []
    for column, look in enumerate(looks):  # one stretch of a common scale for each outcome
        ink, tint = (look.dark_ink, look.dark_tint) if dark else (look.ink, look.tint)
        scale += [[column / count, tint], [(column + 1) / count, _mix(tint, ink, DEEPEST_DARK if dark else DEEPEST)]]
    labels = [
        [line for part in name.split(" · ") for line in textwrap.wrap(part, NARROW, break_long_words=False)]
        for name in names([c.choice for c in cells])
    ]
    figure: Figure = go.Figure(
        go.Heatmap(
            x=[f"{look.icon}<br>{look.word.replace(' ', '<br>')}" for look in looks],
            y=["<br>".join(lines) for lines in labels],
            z=[[column + 0.999 * c.shares.get(outcome, 0.0) for column, outcome in enumerate(OUTCOMES)] for c in cells],
            text=[[f"{_count(c, outcome)} of {_checked(c)}" for outcome in OUTCOMES] for c in cells],
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
    heads = ["Passages", *(LOOKS[LABELS[o]].word for o in OUTCOMES), "Time", "Memory", "Chunks", "Pairs"]
    rows = (
        [
            name,
            *(f"{_count(c, o)} of {_checked(c)}" for o in OUTCOMES),
            f"{c.seconds:.1f} s",
            "not measured" if c.megabytes is None else f"+{c.megabytes:.0f} MB",
            f"{c.report.usage.chunks:,}",
            f"{c.report.usage.pairs:,}",
        ]
        for c, name in zip(cells, names([c.choice for c in cells]), strict=True)
    )
    return scrolling(table(heads, rows, "ax-table wide"), "Figures of the cells")


def failure_table(choices: Sequence[Choice], failures: Sequence[tuple[Choice, str, str]]) -> Node:
    """The cells that could not be computed, of all that were chosen."""
    labels = dict(zip(choices, names(choices), strict=True))
    rows = ((labels[choice], told(reason, detail)) for choice, reason, detail in failures)
    return table(("Not computed", "Why"), rows)


def difference_list(differences: Sequence[Difference], left: Cell, right: Cell) -> Node:
    """The claims whose passages differ, those with another verdict first, with the passages of one cell only."""
    if not differences:
        return el("p", "Both found the same passages for every claim.", class_="ax-quiet")
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


def _difference(difference: Difference, left: Cell, right: Cell, titles: Sequence[str]) -> Node:
    sides = [
        el("div", el("h4", title), _only(pieces, cell.report))
        for title, pieces, cell in zip(titles, (difference.left, difference.right), (left, right), strict=True)
    ]
    labels = _label(difference, left), _label(difference, right)
    verdicts: list[Child] = [badge(labels[0])]
    if labels[0] != labels[1]:
        verdicts += [" → ", badge(labels[1])]
    text = el("span", difference.claim.text[:LONGEST], dir="auto")
    return el("details", el("summary", *verdicts, " ", text), el("div", *sides, class_="ax-two"))


def _label(difference: Difference, cell: Cell) -> Label | None:
    return next((v.label for v in cell.report.verdicts if v.claim_id == difference.claim.id), None)


def _only(pieces: Sequence[Evidence], report: Report) -> Node:
    if not pieces:
        return el("p", "No passage that the other did not find.", class_="ax-quiet")
    titles = {page.id: page.title for page in report.pages}
    return el("ul", *(_piece(e, titles.get(e.page_id, "")) for e in pieces))


def _piece(piece: Evidence, title: str) -> Node:
    label, word = RELATIONS[piece.relation]
    mark = badge(label, getattr(piece.probabilities, piece.relation), word)
    text, first, last = piece.text[:LONGEST], piece.sentence[0] - piece.start, piece.sentence[1] - piece.start
    passage = [el("span", text[:first]), el("strong", text[first:last]), el("span", text[last:])]
    return el("li", mark, el("em", f" {title[:120]} ", dir="auto"), el("p", *passage, dir="auto"))
