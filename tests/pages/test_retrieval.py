import threading
from functools import partial
from typing import Any

import pytest

from attribution.errors import BadInput, Unavailable
from attribution.pipeline.snapshot import Snapshot
from attribution.provenance import Provenance
from attribution.reports.html import html
from attribution.store.store import Store
from attribution.studies.retrieval import Cell, CellChoice, CellDifference, save_grid
from attribution.types import Report, Verdict
from pages.retrieval import (
    GridProgress,
    cell_table,
    difference_list,
    failure_table,
    heat_map,
    names,
    summary,
    work,
)
from pages.ui.background import Job
from tests.make import claim, evidence, page
from tests.pages.jobs import ended, opened, until

EVIL = "<script>alert(1)</script>"


def report() -> Report:
    c = claim(f"The Nile is {EVIL}.")
    return Report(
        id="r",
        created_at="",
        question="",
        answer="",
        settings={},
        versions={},
        claims=(c,),
        pages=(page("text"),),
        evidence=(evidence(c, 0.9, 0.05, "entailed"),),
        verdicts=(Verdict(claim_id=c.id, label="supported", confidence=0.9, reason="r"),),
    )


def cell(cut: str) -> Cell:
    shares = {"entailed": 1.0, "contradicted": 0.0, "no_relation": 0.0, "missing": 0.0}
    return Cell(CellChoice(cut, "minilm", True), report(), shares, 1.5)


def frozen() -> Snapshot:
    return Snapshot(report(), Provenance(), {}, {})


def started(*given: Any) -> Job[GridProgress]:
    return Job("grid", GridProgress(), work(*given), "id")


def test_cells_come_one_by_one_and_stop_keeps_them() -> None:
    saved: list[object] = []

    def compute(
        snapshot: Snapshot, chosen: CellChoice, stop: threading.Event, shared: Store
    ) -> Cell | None:
        if chosen.chunking == "fixed 256":
            return cell(chosen.chunking)
        assert stop.wait(5)
        return None

    job = started(frozen, ["fixed 256", "fixed 512"], ["minilm"], compute, saved.append)
    until(lambda: job.progress().cells)
    assert job.progress().running and job.progress().choices and not job.progress().stopping
    job.stop()
    now = ended(job)
    assert len(now.cells) == 1 and not now.error and saved == [now.cells]


@pytest.mark.parametrize(
    ("error", "words"),
    [(BadInput("no snapshot here"), "no snapshot"), (KeyError("x"), "unexpected error")],
)
def test_what_breaks_is_said(error: Exception, words: str) -> None:
    def fail() -> Snapshot:
        raise error

    assert words in ended(started(fail, [], [], lambda *_: iter(()), print)).error


def test_figures_are_drawn_and_foreign_text_is_escaped() -> None:
    cells = [cell("fixed 256"), cell("fixed 512")]
    assert names([c.choice for c in cells]) == ["fixed 256", "fixed 512"]
    assert names([CellChoice("a", "minilm", True), CellChoice("a", "minilm", False)]) == [
        "a · enriched",
        "a · as written",
    ]
    figure = heat_map(cells, dark=False)
    assert figure.data[0].text[0] == ["1 of 1", "0 of 1", "0 of 1", "0 of 1", "0 of 1"]
    columns = [[row[i] for row in figure.data[0].z] for i in range(4)]
    assert all(
        i <= z < i + 1 for i, column in enumerate(columns) for z in column
    )  # each in its own colours
    drawn = html(cell_table(cells))
    assert "1 of 1" in drawn and "fixed 256" in drawn
    same = (
        "Of 1 checked claim, 1 supported and 0 contradicted, however passages are split and found."
    )
    assert summary(cells) == same  # both cells found the same
    piece = report().evidence[0].model_copy(update={"text": EVIL})
    shown = html(difference_list([CellDifference(report().claims[0], (piece,), ())], *cells))
    assert (
        EVIL not in shown
        and "&lt;script&gt;" in shown
        and "Passages differ for 1 claim; 0 of them get another" in shown
    )
    assert "same passages" in html(difference_list([], *cells))


def test_the_page_opens_without_a_run() -> None:
    shown = opened("retrieval")
    assert not shown.exception
    assert [m.label for m in shown.button_group] == ["Chunkers", "Embedders"]
    assert {b.label: b.disabled for b in shown.button} == {
        "Go to Explore": False,
        "Compare": True,
        "Stop": True,
    }


def test_a_finished_grid_is_shown_can_be_drilled_into_and_survives_a_reload(store: Store) -> None:
    made = started(
        frozen,
        ["fixed 256", "fixed 512"],
        ["minilm"],
        lambda snapshot, choice, stop, shared: cell(choice.chunking),
        partial(save_grid, store, "id"),
    )
    assert len(ended(made).cells) == 2
    shown = opened("retrieval", session={"_page_grid": made})
    assert not shown.exception
    assert [s.label for s in shown.selectbox] == ["Evidence of", "against"]
    assert {b.label: b.disabled for b in shown.button} == {
        "Go to Explore": False,
        "Compare": True,
        "Stop": True,
    }
    again = opened("retrieval", grid="id")
    assert not again.exception and [s.label for s in again.selectbox] == ["Evidence of", "against"]


def test_a_failing_cell_costs_itself() -> None:
    def compute(
        snapshot: Snapshot, choice: CellChoice, stop: threading.Event, shared: Store
    ) -> Cell:
        if choice.chunking == "fixed 256":
            raise Unavailable("the model is not there", "OSError: <b>offline</b>")
        return cell(choice.chunking)

    cuts = ["fixed 256", "fixed 512", "recursive 512"]
    now = ended(started(frozen, cuts, ["minilm"], compute, print))
    assert [c.choice.chunking for c in now.cells] == [
        "fixed 512",
        "recursive 512",
    ] and not now.error
    drawn = html(failure_table(now.choices, now.failures))
    assert (
        '<td dir="auto">fixed 256</td><td dir="auto"><div>The model is not there.<details' in drawn
    )
    assert "OSError: &lt;b&gt;offline&lt;/b&gt;" in drawn
