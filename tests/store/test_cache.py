from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

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
