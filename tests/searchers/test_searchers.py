import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from attribution.errors import SearchFailed, Unavailable
from attribution.evidence.sources import open_sources
from attribution.searchers import SEARCHERS
from attribution.settings import Settings
from attribution.store.store import Store
from tests.searchers.conftest import Engine
from tests.servers import Answer, Served, http_server

JSON = {"Content-Type": "application/json"}
KEY = "k3y-that-must-not-be-seen"
ROWS = [
    (
        "https://en.wikipedia.org/wiki/Nile",
        "Nile\x00\x1b[31m &amp; Sahara",
        "The Nile\nflows north.",
    ),
    ("javascript:alert(1)", "Bad", ""),
    ("http://[::1", "Unclosed", ""),
    ("https://x.example:port/", "No port", ""),
    ("https://rivers.example/nile?a=1", "Rivers", None),
    (None, None, None),
    ("https://en.wikipedia.org/wiki/Nile", "Again", ""),
    ("http://old.example/", "Old", "o"),
]


def named(**names: str) -> list[dict[str, Any]]:
    return [{names["url"]: u, names["title"]: t, names["text"]: x} for u, t, x in ROWS]


GOOD: dict[str, Any] = {
    "wikipedia": {
        "query": {
            "pages": [
                {"index": 4 - i, "fullurl": u, "title": t}
                for i, (u, t, _) in enumerate((ROWS[7], ROWS[4], ROWS[0]), 1)
            ]
        }
    },
    "searxng": {"results": [*named(url="url", title="title", text="content"), "no object"]},
    "google_cse": {"items": named(url="link", title="title", text="snippet")},
    "brave": {"web": {"results": named(url="url", title="title", text="description")}},
    "tavily": {"results": named(url="url", title="title", text="content")},
}
NOTHING: dict[str, Any] = {
    "wikipedia": {"batchcomplete": True},
    "searxng": {"results": [], "unresponsive_engines": []},
    "google_cse": {"searchInformation": {"totalResults": "0"}},
    "brave": {"type": "search"},
    "tavily": {"results": []},
}
VARIABLES = ("WIKIPEDIA", "SEARXNG", "GOOGLE", "BRAVE", "TAVILY")
KEYS = ("GOOGLE_CSE_KEY", "BRAVE_API_KEY", "TAVILY_API_KEY")
NAMES = list(GOOD)


@pytest.fixture
def engine() -> Engine:
    return Engine((200, JSON, b"{}"))


@pytest.fixture
def server(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> Iterator[Served]:
    with http_server(engine) as served:
        for variable in VARIABLES:
            monkeypatch.setenv(f"ATTRIBUTION_{variable}_URL", served.url("/ask"))
        for variable in (*KEYS, "GOOGLE_CSE_ID"):
            monkeypatch.setenv(variable, KEY if variable in KEYS else "engine-id")
        yield served


def searcher(name: str, total: float = 5.0, **settings: Any) -> Any:
    return SEARCHERS.build(name, Settings(page_timeout=total, **settings))


def failure(search: Callable[[], object]) -> SearchFailed:
    with pytest.raises(SearchFailed) as caught:
        search()
    assert KEY not in str(caught.value)
    assert KEY not in repr(caught.value.as_failure("search"))
    return caught.value


@pytest.mark.parametrize("name", NAMES)
def test_results_are_web_pages_in_order_with_clean_titles(
    name: str, engine: Engine, server: Served
) -> None:
    engine.reply(GOOD[name])
    hits = searcher(name).search("the  Nile", 3)
    assert [(h.rank, h.url) for h in hits] == [
        (1, "https://en.wikipedia.org/wiki/Nile"),
        (2, "https://rivers.example/nile?a=1"),
        (3, "http://old.example/"),
    ]
    assert hits[0].title in ("Nile[31m &amp; Sahara", "Nile[31m & Sahara")
    assert {(h.searcher, h.query, h.page) for h in hits} == {(name, "the  Nile", None)}
    assert len(searcher(name).search("the Nile", 1)) == 1
    assert all(KEY not in path for path in server.paths)


@pytest.mark.parametrize("name", NAMES)
def test_nothing_found_is_no_failure(name: str, engine: Engine, server: Served) -> None:
    engine.reply(NOTHING[name])
    assert searcher(name).search("nothing", 3) == []


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("status", [202, 429])
def test_limits_are_said_after_three_tries(
    name: str, status: int, engine: Engine, server: Served
) -> None:
    engine.answers = [(status, JSON, b"{}")]
    error = failure(lambda: searcher(name).search("q", 3))
    assert error.kind == "search_limited"
    assert "wait" in str(error)
    assert len(server.requests) == 3


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "answer",
    [
        (500, JSON, b""),
        (401, JSON, KEY.encode()),
        (200, JSON, b"<html>"),
        (200, JSON, b"[" * 100_000),
        (302, {"Location": "http://elsewhere.example/"}, b""),
        (200, JSON, b" " * 5_000_000),
        (200, JSON, b'{"error": "busy", "type": "search"}'),
        (200, JSON, b'{"results": "r", "items": {}, "web": {"results": null}, "query": 1}'),
        (200, JSON, b'{"results": [{}], "items": [1], "web": {"results": [{}]}, "query": []}'),
    ],
)
def test_other_answers_are_failures(
    name: str, answer: Answer, engine: Engine, server: Served
) -> None:
    engine.answers = [answer]
    assert failure(lambda: searcher(name).search("q", 3)).kind == "search_failed"


def test_a_wish_to_wait_is_respected_up_to_a_limit(engine: Engine, server: Served) -> None:
    engine.reply(None, GOOD["brave"])
    engine.answers[0] = (429, {**JSON, "Retry-After": "1"}, b"")
    started = time.monotonic()
    assert len(searcher("brave").search("q", 3)) == 3
    assert time.monotonic() - started >= 1


def test_what_each_engine_is_told(engine: Engine, server: Served) -> None:
    for name in NAMES:
        engine.reply(GOOD[name])
        searcher(name, search_language="de").search("how long is the Nile " * 100, 5)
    told = [
        (m, urlsplit(p).path, parse_qs(urlsplit(p).query), h, b) for m, p, h, b in server.requests
    ]
    assert [(m, p) for m, p, *_ in told] == [
        ("GET", "/ask"),
        ("GET", "/ask/search"),
        ("GET", "/ask"),
        ("GET", "/ask"),
        ("POST", "/ask"),
    ]
    wiki, searx, google, brave, tavily = told
    assert len(wiki[2]["gsrsearch"][0]) <= 300
    assert searx[2]["format"] == ["json"]
    assert searx[2]["language"] == ["de"]
    assert google[3]["X-Goog-Api-Key"] == KEY
    assert google[2]["cx"] == ["engine-id"]
    assert brave[3]["X-Subscription-Token"] == KEY
    assert len(brave[2]["q"][0].split()) <= 50
    assert tavily[3]["Authorization"] == f"Bearer {KEY}"
    assert len(json.loads(tavily[4])["query"]) <= 400
    assert all("attribution-explorer" in h["User-Agent"] for *_, h, _ in told)


def test_wikipedia_asks_by_any_word_where_no_article_has_all(
    engine: Engine, server: Served
) -> None:
    engine.reply(NOTHING["wikipedia"], GOOD["wikipedia"])
    assert len(searcher("wikipedia").search('The "Nile" flows -north: intitle:x* in 1902', 3)) == 3
    first, second = (parse_qs(urlsplit(p).query)["gsrsearch"][0] for p in server.paths)
    assert first == "The Nile flows north intitle x in 1902"
    assert second == "The OR Nile OR flows OR north OR intitle OR 1902"
    engine.reply({"error": {"code": "ratelimited", "info": KEY}})
    assert failure(lambda: searcher("wikipedia").search("Nile", 3)).kind == "search_limited"


def test_searxng_whose_engines_are_silent_has_not_found_nothing(
    engine: Engine, server: Served
) -> None:
    engine.reply({"results": [], "unresponsive_engines": [["google", "timeout"]]})
    assert failure(lambda: searcher("searxng").search("q", 3)).kind == "search_failed"


def test_a_key_that_cannot_be_sent_is_not_shown(
    server: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BRAVE_API_KEY", f"{KEY}\r\nX: y")
    with pytest.raises(Unavailable) as caught:
        searcher("brave")
    assert KEY not in str(caught.value)
    assert "BRAVE_API_KEY" in str(caught.value)


def test_an_instance_that_a_source_names_is_on_the_public_web_or_is_not_asked(
    engine: Engine, server: Served, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("attribution.searchers.json_api.RETRIES", 0)
    settings = Settings(
        sources=("library", f"searxng:{server.url('/ask')}"),
        database_url=f"sqlite:///{tmp_path}/kept.sqlite3",
    )
    sources = open_sources(settings, (), Store.open(settings.database_url))
    (instance,) = (s for s in sources.searchers if s.name != "library")
    assert instance.name == f"searxng at 127.0.0.1:{server.port}"
    error = failure(lambda: instance.search("q", 3))
    assert error.kind == "search_failed"
    assert "127.0.0.1" in str(error)
    assert server.requests == []
    engine.reply(GOOD["searxng"])
    assert len(searcher("searxng").search("q", 3)) == 3  # the environment's may be a private one
    assert sources.addresses == []
