from __future__ import annotations

import pytest

from attribution import events
from attribution.errors import BadInput
from attribution.pipeline import run as pipeline
from attribution.pipeline.recheck import ADDED, recheck
from attribution.settings import Settings
from attribution.storage import tables
from attribution.storage.store import Store
from attribution.types import Claim, Document, Report

ANSWER = "The Zorb bridge was opened in 1931. The Zorb bridge is painted green."
FIRST = Document("a.txt", b"The Zorb bridge was opened in 1931 by the mayor of Zorbtown, who walked over it first.")
SECOND = Document("b.txt", b"The Zorb bridge is painted green. Its colour has been the same ever since it was built.")


@pytest.fixture
def run(settings: Settings, store: Store) -> tuple[Report, Settings]:
    chosen = settings.model_copy(update={"sources": ("documents",)})
    *_, last = pipeline.run("", ANSWER, chosen, store, [FIRST])
    assert isinstance(last, events.Finished)
    return last.report, chosen


def test_evidence_added_by_hand_decides_that_claim_and_touches_no_other(
    run: tuple[Report, Settings], store: Store
) -> None:
    report, settings = run
    opened, painted = report.claims
    again = recheck(report, painted, settings, store, [SECOND])
    assert len(again.pages) == 2 and again.claims[0] == opened
    assert [e for e in again.evidence if e.claim_id == opened.id] == [
        e for e in report.evidence if e.claim_id == opened.id
    ]
    assert again.verdicts[0] == report.verdicts[0]
    mine = [e for e in again.evidence if e.claim_id == painted.id]
    assert {e.searcher for e in mine} >= {ADDED}
    texts = {p.id: p.text for p in again.pages}
    assert all(texts[e.page_id][e.start : e.end] == e.text for e in again.evidence)
    assert again.verdicts[1].label == "supported"
    saved = store.load_run(report.id)
    assert saved is not None and saved.verdicts == again.verdicts


def test_a_claim_is_reworded_and_taken_back(run: tuple[Report, Settings], store: Store) -> None:
    report, settings = run
    reworded = report.claims[0].model_copy(update={"enriched": "The Zorb bridge in Zorbtown was opened in 1931."})
    once = recheck(report, reworded, settings, store)
    assert once.claims[0].statement.endswith("1931.") and once.verdicts[0].without_added is not None
    back = recheck(once, report.claims[0].model_copy(update={"enriched": None}), settings, store)
    assert back.verdicts[0].label == report.verdicts[0].label and back.verdicts[0].without_added is None


def test_an_unreadable_document_is_a_failure_and_a_strange_claim_is_refused(
    run: tuple[Report, Settings], store: Store
) -> None:
    report, settings = run
    again = recheck(report, report.claims[0], settings, store, [Document("c.pdf", b"no pdf")])
    assert again.failures and again.verdicts[0].label == report.verdicts[0].label
    with pytest.raises(BadInput, match="not in this run"):
        recheck(report, Claim(id="other", text="x", spans=()), settings, store)


def test_undo_after_a_reload_brings_the_first_verdict_back(run: tuple[Report, Settings]) -> None:
    report, settings = run
    claim = report.claims[0].model_copy(update={"enriched": "The Zorb bridge was opened in 1925."})
    changed = recheck(report, claim, settings, Store.open(settings.database_url))
    reloaded = Store.open(settings.database_url)
    assert reloaded.load_run(report.id) == changed
    assert [v.claim_id for v in reloaded.versions(report.id)] == [claim.id, ""]
    assert reloaded.undo(report.id) == report == reloaded.load_run(report.id)


def test_a_run_has_an_address_from_its_start_and_leaves_nothing_when_it_is_deleted(settings: Settings) -> None:
    store, chosen = Store.open(settings.database_url), settings.model_copy(update={"sources": ("documents",)})
    running = pipeline.run("When?", ANSWER, chosen, None, [FIRST])
    started = next(running)
    assert isinstance(started, events.RunStarted)
    inputs = store.run_inputs(started.run_id)
    assert inputs is not None and (inputs.question, inputs.answer, inputs.finished) == ("When?", ANSWER, False)
    store.set_owner(started.run_id, "a token")
    *_, last = running
    assert isinstance(last, events.Finished) and last.report.id == started.run_id and last.report.evidence
    recheck(last.report, last.report.claims[0], chosen, Store.open(settings.database_url), [SECOND])
    store.delete_run(started.run_id, "a token")
    with store.engine.connect() as db:
        for table in tables.metadata.tables:
            assert db.exec_driver_sql(f"SELECT count(*) FROM {table}").scalar() == 0, table
