import errno
import threading
from collections.abc import Sequence
from typing import Any

import pytest

from attribution.errors import BadInput, SearchFailed, StoreError, Unavailable
from attribution.evidence import GatherStep
from attribution.evidence.gathering import LiveSources
from attribution.evidence.search import queries
from attribution.evidence.sources import Sources, open_sources
from attribution.network import HOST_CONNECTIONS
from attribution.settings import Settings
from attribution.store.database import now
from attribution.store.store import Store
from attribution.text.urls import canonical
from attribution.types import Claim, Failure, Page, SearchHit
from tests.make import claim, page


class Engine:
    """Answers with those addresses, or fails as told."""

    def __init__(self, name: str, *urls: str, fails: str = "") -> None:
        self.name, self.urls, self.fails = name, urls, fails
        self.asked: list[str] = []

    def search(self, query: str, k: int) -> list[SearchHit]:
        self.asked.append(query)
        if self.fails:
            raise SearchFailed(self.fails, f"{self.name} is down", query)
        return [
            SearchHit(url, url, rank, self.name, query) for rank, url in enumerate(self.urls[:k], 1)
        ]


def fetched(url: str) -> Page:
    return page(f"The text of {url}", url=url, fetched_at=now())


def gather(
    settings: Settings,
    store: Store,
    engines: Sequence[Engine],
    fallback: Sequence[Engine] = (),
    claims: Any = None,
    fetch: Any = fetched,
) -> tuple[list[GatherStep], LiveSources]:
    sources = Sources(searchers=list(engines), fallback=list(fallback))
    gatherer = LiveSources(settings, store, sources, fetch)
    asked = claims or [claim("The Nile is long."), claim("The Nile flows north.")]
    asked = [c.model_copy(update={"independent": True}) for c in asked]
    return list(gatherer.gather(asked, "", threading.Event())), gatherer


def failures(steps: Sequence[GatherStep]) -> set[tuple[str, str]]:
    return {(f.kind, f.message) for step in steps for f in step.failures}


def urls(steps: Sequence[GatherStep]) -> set[str]:
    return {p.url for step in steps for p in step.pages}


def test_the_next_engine_is_asked_in_order_and_every_change_is_said(
    settings: Settings, store: Store
) -> None:
    one, two, three = (
        Engine("one", fails="search_limited"),
        Engine("two", fails="search_failed"),
        Engine("three", "http://a.example/"),
    )
    steps, _ = gather(settings, store, [one], [two, three])
    assert urls(steps) == {"http://a.example/"}
    assert failures(steps) == {
        ("fell_back", "one failed, so two was asked instead: one is down"),
        ("fell_back", "two failed, so three was asked instead: two is down"),
    }
    assert {t.searcher for s in steps for t in s.traces} == {"three"}
    assert len(three.asked) == 2
    assert {c for s in steps if s.failures for c in s.claim_ids} == {
        claim("The Nile is long.").id,
        claim("The Nile flows north.").id,
    }


def test_without_another_engine_the_failure_stays(settings: Settings, store: Store) -> None:
    one = Engine("one", fails="search_limited")
    steps, _ = gather(settings, store, [one], claims=[claim(f"Claim {n}.") for n in range(9)])
    unread = ("source_unread", "one could not be used for any claim: one is down")
    assert failures(steps) == {("search_limited", "one is down"), unread}
    assert len(steps) == 10
    assert len(one.asked) <= HOST_CONNECTIONS  # then it is known to be down


@pytest.mark.parametrize("readable", [True, False])
def test_an_unreadable_document_concerns_claims_only_where_no_other_can_be_read(
    settings: Settings, store: Store, readable: bool
) -> None:
    lost = Failure(stage="fetch", subject="empty.txt", kind="no_text", message="empty.txt is empty")
    sources = Sources(
        pages=[page("The Nile is long.", url="document:a.txt")] * readable, failures=[lost]
    )
    steps = LiveSources(settings, store, sources, fetched).gather(
        [claim("The Nile is long.")], "", threading.Event()
    )
    (step,) = (step for step in steps if step.failures)
    assert step.failures == (lost,)
    assert bool(step.claim_ids) is not readable


@pytest.mark.parametrize(
    ("error", "raised"),
    [
        (StoreError("no space"), StoreError),
        (Unavailable("no model"), Unavailable),
        (OSError(errno.ENOSPC, "No space left on device"), StoreError),
        (ModuleNotFoundError("No module named 'faiss'", name="faiss"), Unavailable),
    ],
)
def test_what_is_wrong_with_the_disk_or_the_installation_ends_the_run(
    settings: Settings, store: Store, error: Exception, raised: type[Exception]
) -> None:
    class Broken(Engine):
        def search(self, query: str, k: int) -> list[SearchHit]:
            raise error

    with pytest.raises(raised):
        gather(settings, store, [Broken("library")])

    def fetch(url: str) -> Page:
        raise error

    with pytest.raises(raised):
        gather(settings, store, [Engine("one", "http://a.example/")], fetch=fetch)


def test_one_page_under_many_addresses_is_fetched_once(settings: Settings, store: Store) -> None:
    a = Engine(
        "a", "http://www.x.example/p?utm_source=a", "https://x.example/p/", "https://y.example/"
    )
    b = Engine("b", "https://www.x.example/p#part")
    steps, gatherer = gather(settings, store, [a, b])
    assert len(urls(steps)) == 2
    assert gatherer.budget.spent == {"queries": 4, "downloads": 2}
    found = {
        (t.claim_id, t.searcher)
        for s in steps
        for t in s.traces
        if "x.example" in next(iter(urls([s])), "x.example")
    }
    assert len(found) == 4  # both claims, by both engines
    again, gatherer = gather(settings, store, [a, b])
    assert {canonical(u) for u in urls(again)} == {canonical(u) for u in urls(steps)}
    assert gatherer.budget.spent == {"queries": 0, "downloads": 0}  # whichever spelling came first


def test_excluded_sites_are_left_out_also_behind_redirects(
    settings: Settings, store: Store
) -> None:
    chosen = settings.model_copy(update={"exclude": ("own.example",), "pages_per_claim": 2})
    engine = Engine(
        "e",
        "https://own.example/a",
        "https://www.own.example/b",
        "https://x.example/",
        "https://moved.example/",
    )

    def fetch(url: str) -> Page:
        return fetched(url).model_copy(
            update={"reference": "https://sub.own.example/c" if "moved" in url else ""}
        )

    steps, _ = gather(chosen, store, [engine], fetch=fetch)
    assert urls(steps) == {"https://x.example/"}
    assert {kind for kind, _ in failures(steps)} == {"excluded"}


@pytest.mark.parametrize(
    ("limit", "kind"), [({"max_queries": 1}, "queries"), ({"max_pages": 1}, "downloads")]
)
def test_a_budget_that_is_spent_is_said(
    settings: Settings, store: Store, limit: dict, kind: str
) -> None:
    steps, gatherer = gather(
        settings.model_copy(update=limit),
        store,
        [Engine("e", "http://a.example/", "http://b.example/")],
    )
    assert gatherer.budget.spent[kind] == 1
    ((found, message),) = failures(steps)
    assert found == "budget_spent"
    assert next(iter(limit)) in message
    assert kind in message


def test_when_the_time_is_over_the_rest_ends_at_once(settings: Settings, store: Store) -> None:
    over = threading.Event()
    hung = Engine("hung", "http://slow.example/1", "http://slow.example/2", "http://slow.example/3")

    def fetch(url: str) -> Page:
        over.wait(20)
        return fetched(url)

    chosen = settings.model_copy(update={"max_seconds": 0.5})
    claims = [claim(f"Claim {n}.") for n in range(3)]
    steps, gatherer = gather(chosen, store, [hung], claims=claims, fetch=fetch)
    over.set()
    assert gatherer.budget.seconds < 5
    assert {kind for kind, _ in failures(steps)} == {"budget_spent"}
    assert {c for s in steps for c in s.complete} == {c.id for c in claims}
    assert steps[-1].done == steps[-1].total


def test_a_slow_host_does_not_take_all_threads(settings: Settings, store: Store) -> None:
    over = threading.Event()
    engine = Engine("e", *(f"http://slow.example/{n}" for n in range(9)), "http://quick.example/")

    def fetch(url: str) -> Page:
        if "slow" in url:
            assert over.wait(10)
        else:
            over.set()
        return fetched(url)

    chosen = settings.model_copy(update={"workers": 4, "pages_per_claim": 10})
    steps, _ = gather(chosen, store, [engine], claims=[claim()], fetch=fetch)
    assert len(urls(steps)) == 10
    assert failures(steps) == set()


def test_what_is_searched_for_a_claim() -> None:
    own = Claim(
        id="c", text="It is long.", spans=(), enriched="The Nile is long.", independent=False
    )
    alone = own.model_copy(update={"independent": True})
    assert queries(own, "Which?", "claim") == ["The Nile is long."]
    assert queries(own, "Which?", "enriched") == ["The Nile is long.", "Which? The Nile is long."]
    assert queries(alone, "Which?", "enriched") == ["The Nile is long."]


def test_fall_backs_are_checked_before_a_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BRAVE_API_KEY", raising=False)

    def opened(**choices: Any) -> Sources:
        chosen = Settings.from_environment(sources="web", **choices)
        return open_sources(chosen, (), Store.open(chosen.database_url))

    assert [e.name for e in opened(fallback="wikipedia, web").fallback] == [
        "wikipedia",
        "duckduckgo",
    ]
    for names, error, says in (
        ("nonsense", BadInput, "nonsense"),
        ("library", BadInput, "source"),
        ("brave", Unavailable, "BRAVE"),
    ):
        with pytest.raises(error, match=says):
            opened(fallback=names)
