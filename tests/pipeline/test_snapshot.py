"""A run from its own frozen pages: the same report, nothing searched, nothing fetched, nothing
leaked.
"""

import shutil
import socket
from pathlib import Path

import pytest

from attribution import events
from attribution.errors import BadInput
from attribution.pipeline.run import run
from attribution.pipeline.snapshot import Snapshot
from attribution.settings import Settings
from attribution.store.store import Store
from attribution.types import Document, Report
from tests.make import comparable

QUESTION = "When was the Eiffel Tower finished?"
ANSWER = (
    "The Eiffel Tower was completed in 1889. It was finished in 1925 by Thomas Edison. I think it is beautiful. "
    "The Eiffel Tower stands in Paris."
)
NOTE = Document(
    "tower.txt",
    b"The Eiffel Tower in Paris was completed in 1889. Gustave Eiffel's company built it.",
)
SOURCES = ("library", "documents", "http://10.0.0.1/secret.html")


def finished(
    settings: Settings, store: Store, frozen: Snapshot | None = None, documents: tuple = ()
) -> Report:
    *_, last = run(QUESTION, ANSWER, settings, store, documents, source=frozen)
    assert isinstance(last, events.Finished)
    return last.report


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory: pytest.TempPathFactory, warm_database: Path) -> Snapshot:
    path = shutil.copy(warm_database, tmp_path_factory.mktemp("run"))
    own = {"sources": SOURCES, "pages_per_claim": 1, "verifier": "embedded-small"}
    made_in = Settings(database_url=f"sqlite:///{path}", **own)
    store = Store.open(made_in.database_url)
    return Snapshot.of(store, finished(made_in, store, documents=(NOTE,)).id)


@pytest.fixture
def other(settings: Settings, tmp_path) -> Store:
    """An empty store, as on another machine."""
    return Store.open(f"sqlite:///{tmp_path}/other.sqlite3")


@pytest.fixture
def offline(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a replay opened a connection")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    monkeypatch.setattr("attribution.library.search.KeywordSearcher.ranked", refuse)


def test_a_replay_gives_the_same_report(snapshot: Snapshot, other: Store, offline: None) -> None:
    assert snapshot.report.evidence
    assert snapshot.report.failures
    assert snapshot.vectors
    assert snapshot.judgements
    again = finished(snapshot.settings(), other, snapshot)
    assert comparable(again) == comparable(snapshot.report)
    assert again.id != snapshot.report.id
    assert other.runs.load(again.id) == again


def test_models_asked_again_come_to_the_same_verdicts(
    snapshot: Snapshot, other: Store, offline: None
) -> None:
    again = finished(snapshot.settings(), other, snapshot.recomputed())
    assert again.verdicts == snapshot.report.verdicts
    assert again.usage.cached_pairs == 0
    for a, b in zip(again.evidence, snapshot.report.evidence, strict=True):
        assert (a.claim_id, a.start, a.text, a.query, a.rank) == (
            b.claim_id,
            b.start,
            b.text,
            b.query,
            b.rank,
        )
        assert a.similarity == pytest.approx(b.similarity, abs=1e-5)


@pytest.mark.parametrize(
    "change",
    [
        {"chunker": "sentence"},
        {"chunk_size": 128},
        {"chunker": "recursive", "top_k": 3},
        {"threshold": 0.99},
    ],
)
def test_other_methods_meet_the_same_pages(
    snapshot: Snapshot, other: Store, offline: None, change: dict
) -> None:
    again = finished(snapshot.settings(**change), other, snapshot)
    assert again.pages == snapshot.report.pages
    assert again.claims == snapshot.report.claims
    assert again.evidence != snapshot.report.evidence
    assert all(
        e.searcher == "documents" or (e.query and e.searcher == "library") for e in again.evidence
    )
    texts = {p.id: p.text for p in again.pages}
    assert all(texts[e.page_id][e.start : e.end] == e.text for e in again.evidence)


def test_frozen_claims_stay_unless_what_makes_them_changes(snapshot: Snapshot) -> None:
    kept = snapshot.claims(QUESTION, ANSWER, snapshot.settings(embedder="minilm", top_k=9))
    assert kept is not None
    assert kept.claims == snapshot.report.claims
    assert snapshot.claims(QUESTION, ANSWER, snapshot.settings(segmenter="other")) is None
    assert snapshot.claims(QUESTION, ANSWER + " More.", snapshot.settings()) is None


def test_nothing_of_a_snapshot_reaches_the_caches(snapshot: Snapshot, other: Store) -> None:
    finished(snapshot.settings(), other, snapshot)
    assert other.cache.vectors(list(snapshot.vectors)) == {}
    assert other.cache.judgements(list(snapshot.judgements)) == {}
    assert all(other.cache.page(p.url, 1e5) is None for p in snapshot.report.pages)


def test_what_cannot_be_frozen_is_said(store: Store, snapshot: Snapshot) -> None:
    with pytest.raises(BadInput, match="no saved run 'nothing'"):
        Snapshot.of(store, "nothing")
    store.runs.save(snapshot.report.model_copy(update={"id": "old"}))
    with pytest.raises(BadInput, match="without all that it used"):
        Snapshot.of(store, "old")
