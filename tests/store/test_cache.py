from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from attribution.errors import StoreError
from attribution.library.collection_store import DocumentStore
from attribution.store import database as t
from attribution.store.database import now
from attribution.store.store import Store
from attribution.types import Judgement, Probabilities, SearchHit
from tests.make import page, report


@pytest.mark.parametrize("fetched_at", ["2020-01-01T00:00:00+00:00", "2999-01-01T00:00:00+00:00"])
def test_a_page_that_is_too_old_or_of_a_clock_that_was_ahead_is_not_used(
    store: Store, fetched_at: str
) -> None:
    old = page("old text", fetched_at=fetched_at)
    new = page("new text", fetched_at=now())
    store.cache.put_pages([old])
    assert store.cache.page(old.url, days=7) is None
    store.cache.put_pages([old, new])
    assert store.cache.page(old.url, days=7) == new


def test_a_full_cache_drops_what_was_used_longest_ago_and_no_run_needs(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = ["old", "needed", "new"]
    store.cache.put("vector", dict.fromkeys(names, b"x" * 400_000))
    with store.database.transaction() as db:
        is_old = t.cached.c.key.in_(["old", "needed"])
        db.execute(t.cached.update().where(is_old).values(used_on="2020-01-01"))
        use = {"kind": "vector", "key": "needed", "owner_id": "a run"}
        db.execute(t.uses.insert().values(use))
    monkeypatch.setenv("ATTRIBUTION_SHARED_MB", "1")
    store.cache.evict()
    assert set(store.cache.values("vector", names)) == {"needed", "new"}


def test_nothing_new_is_saved_on_a_disk_that_is_nearly_full(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    if store.database.engine.dialect.name != "sqlite":
        pytest.skip("another server's disk is not known")
    monkeypatch.setenv("ATTRIBUTION_FREE_MB", "10000000")
    with pytest.raises(StoreError, match="free some space"):
        store.runs.start(report("An answer."))
    with pytest.raises(StoreError, match="free some space"):
        DocumentStore(store.database).put("c", [])
    store.cache.put("reply", {"key": "a reply"})
    assert store.cache.values("reply", ["key"]) == {}


def test_a_page_is_found_by_every_spelling_of_its_address(store: Store) -> None:
    stored = page("text", "http://www.x.example/p/?utm_source=a", fetched_at=now())
    store.cache.put_pages([stored])
    for spelling in ("https://x.example/p", "https://www.x.example/p#part", stored.url):
        assert store.cache.page(spelling, days=7) == stored
    assert store.cache.page("https://x.example/q", days=7) is None


def test_a_search_is_found_by_its_key_also_without_hits(store: Store) -> None:
    hit = SearchHit("https://example.org", "T", 1, "duckduckgo", "q")
    with_text = replace(hit, rank=2, page=page("The Nile is long."))
    store.cache.put("search", {"a": [hit, with_text], "b": []})
    assert store.cache.search("a", days=1) == [hit, with_text]
    assert store.cache.search("b", days=1) == []
    assert store.cache.search("c", days=1) is None


def test_more_judgements_than_a_query_holds_come_back_as_they_went_in(store: Store) -> None:
    probabilities = Probabilities(entailed=0.5, contradicted=0.25, no_relation=0.25)
    judgement = Judgement(probabilities, (3, 9), {"words": 0.5})
    keys = [f"k{i}" for i in range(1200)]
    store.cache.put("judgement", dict.fromkeys(keys, judgement))
    assert store.cache.values("judgement", [*keys, "unknown"]) == dict.fromkeys(keys, judgement)


def test_many_threads_write_the_same_keys(store: Store) -> None:
    values = {f"k{i}": bytes([i]) for i in range(5)}
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: store.cache.put("vector", values), range(40)))
    assert store.cache.values("vector", list(values)) == values
