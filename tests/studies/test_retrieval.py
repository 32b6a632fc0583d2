import shutil
import threading
from pathlib import Path

import pytest
import sqlalchemy as sa

from attribution import events
from attribution.errors import Unavailable
from attribution.pipeline.run import run
from attribution.pipeline.snapshot import Snapshot
from attribution.settings import Settings
from attribution.store import schema
from attribution.store.store import Store
from attribution.studies.retrieval import (
    CHUNKINGS,
    OUTCOMES,
    Cell,
    CellChoice,
    choices,
    compute_cell,
    differences,
    load_grid,
    outcome,
    save_grid,
    scratch,
    shares,
)
from attribution.types import Claim, Report, Verdict
from tests.make import both, claim, evidence, page

ANSWER = "The Eiffel Tower was completed in 1889. The Eiffel Tower stands in Rome. I like it."


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory: pytest.TempPathFactory, warm_database: Path) -> Snapshot:
    path = shutil.copy(warm_database, tmp_path_factory.mktemp("run"))
    made_in = Settings(
        database_url=f"sqlite:///{path}", top_k=3, pages_per_claim=1, verifier="embedded-small"
    )
    store = Store.open(made_in.database_url)
    *_, last = run("When?", ANSWER, made_in, store)
    assert isinstance(last, events.Finished)
    return Snapshot.of(store, last.report.id)


@pytest.fixture(scope="module")
def cells(snapshot: Snapshot) -> tuple[Cell, ...]:
    chosen = choices(snapshot, ["fixed 256", "sentence windows"], ["minilm"])
    with scratch() as shared:
        return tuple(
            filter(
                None,
                (compute_cell(snapshot, choice, threading.Event(), shared) for choice in chosen),
            )
        )


def test_cells_hold_the_same_claims_against_the_same_pages(
    snapshot: Snapshot, cells: tuple[Cell, ...], store: Store
) -> None:
    assert [c.choice for c in cells] == [
        CellChoice(n, "minilm", True) for n in ("fixed 256", "sentence windows")
    ]
    for cell in cells:
        assert (
            cell.report.pages == snapshot.report.pages
            and cell.report.claims == snapshot.report.claims
        )
        assert tuple(cell.shares) == OUTCOMES and sum(cell.shares.values()) == pytest.approx(
            1, abs=1e-3
        )
        assert cell.seconds > 0
        assert cell.report.settings["chunk_size"] == CHUNKINGS[cell.choice.chunking]["chunk_size"]
        assert store.runs.load(cell.report.id) is None
    texts = {p.id: p.text for p in snapshot.report.pages}
    for d in differences(cells[0].report, cells[1].report):
        assert d.left or d.right
        assert all(texts[e.page_id][e.start : e.end] == e.text for e in (*d.left, *d.right))
    assert differences(cells[0].report, cells[0].report) == []


def test_cells_share_vectors_and_judgements_with_each_other_and_with_their_run(
    snapshot: Snapshot,
) -> None:
    def computed(chunking: str) -> list[int]:
        assert compute_cell(
            snapshot, CellChoice(chunking, "minilm", True), threading.Event(), shared
        )
        with shared.database.engine.connect() as db:
            return [
                db.scalar(sa.select(sa.func.count()).select_from(t)) or 0
                for t in (schema.vectors, schema.judgements)
            ]

    with scratch() as shared:
        own = computed("fixed 512")  # as the run was made
        assert own[1] == 0
        other = computed("fixed 256")
        assert other[0] > own[0] and computed("fixed 256") == other


def test_enriched_claims_are_also_tried_as_they_were(snapshot: Snapshot) -> None:
    first, *others = snapshot.report.claims
    better = first.model_copy(
        update={"enriched": "The Eiffel Tower in Paris was completed in the year 1889."}
    )
    enriched = Snapshot(
        snapshot.report.model_copy(update={"claims": (better, *others)}),
        snapshot.provenance,
        {},
        {},
    )
    chosen = choices(enriched, ["fixed 512"], ["minilm"])
    assert [c.enriched for c in chosen] == [True, False]
    with scratch() as shared:
        with_it, without = (
            compute_cell(enriched, choice, threading.Event(), shared) for choice in chosen
        )
    assert with_it and without
    usage = without.report.usage
    assert (
        usage.cached_pairs >= usage.pairs / 2 > 0
    )  # which the cell before, or the run, has judged
    assert with_it.report.claims[0].enriched and without.report.claims[0].enriched is None
    assert with_it.report.evidence[0].similarity != without.report.evidence[0].similarity


def test_a_stopped_cell_is_none_and_a_missing_model_says_so(snapshot: Snapshot) -> None:
    stop = threading.Event()
    stop.set()
    with scratch() as shared:
        assert compute_cell(snapshot, CellChoice("fixed 512", "minilm", True), stop, shared) is None
        with pytest.raises(Unavailable, match="hf download"):
            compute_cell(
                snapshot,
                CellChoice("fixed 512", "sentence_transformer", True),
                threading.Event(),
                shared,
            )


def test_outcomes_are_one_prediction_a_claim() -> None:
    a, b, c = (claim(f"Claim {n} is here.") for n in "abc")
    pieces = (
        evidence(a, 0.7, 0.1, "entailed"),
        evidence(a, 0.05, 0.9, "contradicted"),
        evidence(b, 0.1, 0.1, "no_relation"),
    )
    from attribution.verdicts import decide

    def verdict(c: Claim) -> Verdict:
        return decide(c, [e for e in pieces if e.claim_id == c.id], both(0.45))

    report = Report(
        id="r",
        created_at="",
        question="",
        answer="",
        settings={},
        versions={},
        claims=(a, b, c),
        pages=(page("x"),),
        evidence=pieces,
        verdicts=tuple(map(verdict, (a, b, c))),
    )
    assert [outcome(x.id, report) for x in (a, b, c)] == ["contradicted", "no_relation", "missing"]
    found = {
        "entailed": 0,
        "contradicted": 0.3333,
        "unclear": 0,
        "no_relation": 0.3333,
        "missing": 0.3333,
    }
    assert shares(report) == found
    undecided = evidence(b, 0.3, 0.1, "no_relation", about=True)
    unclear = decide(b, [undecided], both(0.45))
    report = report.model_copy(
        update={"verdicts": (report.verdicts[0], unclear, report.verdicts[2])}
    )
    assert outcome(b.id, report) == "unclear"


def test_a_saved_grid_comes_back_whole(cells: tuple[Cell, ...], store: Store) -> None:
    save_grid(store, "0123456789abcdef", cells)
    assert load_grid(store, "0123456789abcdef") == cells and all(
        p.text for c in cells for p in c.report.pages
    )
    assert load_grid(store, "unknown") is None
