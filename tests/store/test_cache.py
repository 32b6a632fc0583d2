from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from attribution.errors import StoreError
from attribution.library.collection_store import DocumentStore
from attribution.store import schema as t
from attribution.store.database import now
from attribution.store.store import Store
from attribution.types import Judgement, Probabilities, SearchHit
from tests.make import page


def test_a_page_is_used_again_until_it_is_too_old(store: Store) -> None:
    old = page("old text", fetched_at="2020-01-01T00:00:00+00:00")
    store.cache.put_pages([old])
    assert store.cache.page(old.url, days=7) is None
    assert store.cache.page(old.url) == old
    new = page("new text", fetched_at=now())
    store.cache.put_pages([old, new])
    assert store.cache.page(old.url, days=7) == new


def test_a_page_of_a_clock_that_was_ahead_is_not_used_for_ever(store: Store) -> None:
    store.cache.put_pages([page("text", fetched_at="2999-01-01T00:00:00+00:00")])
    assert store.cache.page(page("text").url, days=7) is None


def test_a_full_cache_drops_what_was_used_longest_ago_and_no_run_needs(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.cache.put_vectors({name: b"x" * 400_000 for name in ("old", "needed", "new")})
    with store.database.transaction() as db:
        is_old = t.cached.c.key.in_(["old", "needed"])
        db.execute(t.cached.update().where(is_old).values(used_on="2020-01-01"))
        use = {"kind": "vector", "key": "needed", "owner_id": "a run"}
        db.execute(t.uses.insert().values(use))
    monkeypatch.setenv("ATTRIBUTION_SHARED_MB", "1")
    store.cache.evict()
    assert set(store.cache.vectors(["old", "needed", "new"])) == {"needed", "new"}


def test_nothing_new_is_saved_on_a_disk_that_is_nearly_full(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    if store.database.engine.dialect.name != "sqlite":
        pytest.skip("another server's disk is not known")
    monkeypatch.setenv("ATTRIBUTION_FREE_MB", "10000000")
    with pytest.raises(StoreError, match="free some space"):
        store.runs.start("0" * 16, "", "An answer.", {})
    with pytest.raises(StoreError, match="free some space"):
        DocumentStore(store.database).put("c", [])


def test_a_page_is_found_by_every_spelling_of_its_address(store: Store) -> None:
    found = page("text", "http://www.x.example/p/?utm_source=a", fetched_at=now())
    store.cache.put_pages([found])
    for spelling in (
        "http://www.x.example/p/?utm_source=a",
        "https://x.example/p",
        "https://www.x.example/p#part",
    ):
        assert store.cache.page(spelling, days=7) == found
    assert store.cache.page("https://x.example/q", days=7) is None


def test_searches_are_kept_by_engine_query_and_number(store: Store) -> None:
    hit = SearchHit("https://example.org", "T", 1, "duckduckgo", "q")
    with_text = replace(
        hit, rank=2, page=page("The Nile is long.")
    )  # which is read instead of a download
    store.cache.put_search("duckduckgo", "q", 3, [hit, with_text])
    store.cache.put_search("duckduckgo", "q" * 2000, 3, [hit])
    assert store.cache.search("duckduckgo", "q" * 2000, 3, days=1) == [hit]
    assert store.cache.search("duckduckgo", "q" * 2000 + "r", 3, days=1) is None
    store.cache.put_search("duckduckgo", "none", 3, [])
    assert store.cache.search("duckduckgo", "q", 3, days=1) == [hit, with_text]
    assert store.cache.search("duckduckgo", "none", 3, days=1) == []
    assert store.cache.search("duckduckgo", "q", 4, days=1) is None
    assert store.cache.search("other", "q", 3, days=1) is None


def test_vectors_and_judgements_come_back_as_they_went_in(store: Store) -> None:
    judgement = Judgement(
        Probabilities(entailed=0.5, contradicted=0.25, no_relation=0.25),
        (3, 9),
        {"words": 0.5},
    )
    keys = [f"k{i}" for i in range(1200)]
    store.cache.put_judgements(dict.fromkeys(keys, judgement))
    store.cache.put_vectors({"v": b"\x00\x01"})
    assert store.cache.judgements([*keys, "unknown"]) == dict.fromkeys(keys, judgement)
    assert store.cache.vectors(["v", "w"]) == {"v": b"\x00\x01"}


def test_many_threads_write_the_same_keys(store: Store) -> None:
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda i: store.cache.put_vectors({f"k{i % 5}": bytes([i % 5])}), range(80)))
    assert store.cache.vectors([f"k{i}" for i in range(5)]) == {
        f"k{i}": bytes([i]) for i in range(5)
    }
