import time
from collections.abc import Callable, Iterator
from urllib.parse import parse_qs

import pytest
from ddgs.engines.duckduckgo import Duckduckgo

from attribution.errors import SearchFailed
from attribution.network import is_public
from attribution.searchers.duckduckgo import DuckDuckGo
from attribution.searchers.json_api import MAX_BYTES
from attribution.settings import Settings
from tests.searchers.conftest import Engine
from tests.servers import Answer, Served, closed_port, http_server, raw_server

HERE = ("127.0.0.1", "::1")
HTML = {"Content-Type": "text/html; charset=UTF-8"}


def result(href: str, title: str = "A title", body: str = "A snippet.") -> str:
    return (
        '<div class="result results_links results_links_deep web-result">'
        '<div class="links_main links_deep result__body">'
        f'<h2 class="result__title"><a rel="nofollow" class="result__a" href="{href}">{title}</a></h2>'
        f'<a class="result__snippet" href="{href}">{body}</a></div></div>'
    )


def page(*results: str) -> bytes:
    links = f'<div id="links">{"".join(results)}</div>'
    return (
        f'<!DOCTYPE html><html><body><form id="search_form"></form>{links}</body></html>'.encode()
    )


GOOD = page(
    result("https://duckduckgo.com/y.js?ad_domain=shop.example", "An advertisement"),
    result(
        "https://en.wikipedia.org/wiki/Nile", "Nile &amp; Sahara", "The <b>Nile</b> flows north."
    ),
    result(
        "//duckduckgo.com/l/?uddg=https%3A%2F%2Frivers.example%2Fnile%3Fa%3D1&amp;rut=abc", "Rivers"
    ),
    result("javascript:alert(1)", "Bad"),
    result("http://[", "Broken"),
    result("https://en.wikipedia.org/wiki/Nile", "Again"),
    result("http://old.example/", "Old"),
)
NOTHING = page(
    '<div class="result results_links result--no-result"><div class="no-results">No results.</div></div>'
)
CHALLENGE = (
    b"<html><body><div class='anomaly-modal__title'>Unfortunately, bots use DuckDuckGo too.</div>"
    b"</body></html>"
)


def allow_this_machine(monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    """Have searches go to an address of this machine, and to no other."""
    monkeypatch.setattr(Duckduckgo, "search_url", url.replace("127.0.0.1", "localhost"))
    monkeypatch.setattr("attribution.searchers.duckduckgo.is_public", HERE.__contains__)


@pytest.fixture
def engine() -> Engine:
    return Engine((200, HTML, GOOD))


@pytest.fixture
def server(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> Iterator[Served]:
    with http_server(engine) as served:
        allow_this_machine(monkeypatch, served.url("/html/"))
        yield served


def searcher(timeout: float = 2.0, total: float = 5.0) -> DuckDuckGo:
    return DuckDuckGo(Settings(read_timeout=timeout, page_timeout=total))


def failure(search: Callable[[], object]) -> SearchFailed:
    with pytest.raises(SearchFailed) as caught:
        search()
    assert "use the library or your own documents meanwhile" in str(caught.value)
    return caught.value


def test_results_keep_their_order_and_are_web_pages(server: Served) -> None:
    hits = searcher().search("the  Nile\n", 3)
    assert [(hit.rank, hit.url) for hit in hits] == [
        (1, "https://en.wikipedia.org/wiki/Nile"),
        (2, "https://rivers.example/nile?a=1"),
        (3, "http://old.example/"),
    ]
    assert hits[0].title == "Nile & Sahara"
    assert {(hit.searcher, hit.query, hit.page) for hit in hits} == {
        ("duckduckgo", "the Nile", None)
    }
    assert len(searcher().search("the Nile", 1)) == 1


def test_the_query_is_sent_trimmed(server: Served) -> None:
    searcher().search("häufig & <b> " + "x" * 1000, 3)
    method, path, _, body = server.requests[0]
    sent = parse_qs(body.decode())["q"][0]
    assert (method, path) == ("POST", "/html/")
    assert sent.startswith("häufig & <b> xx")
    assert len(sent) == 300
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    "answer", [(429, HTML, b""), (202, HTML, CHALLENGE), (200, HTML, CHALLENGE), (403, HTML, b"no")]
)
def test_limits_are_said_after_three_tries(engine: Engine, server: Served, answer: Answer) -> None:
    engine.answers = [answer]
    error = failure(lambda: searcher().search("q", 3))
    assert error.kind == "search_limited"
    assert "wait" in str(error)
    assert error.subject == "q"
    assert len(server.requests) == 3


@pytest.mark.parametrize(
    ("status", "content"),
    [
        (500, b"oops"),
        (404, b""),
        (200, b""),
        (200, b"\x00\xff garbage"),
        (200, b"<html><body>Welcome</body></html>"),
        (200, GOOD + b" " * 2 * MAX_BYTES),
    ],
)
def test_other_answers_are_failures(
    engine: Engine, server: Served, status: int, content: bytes
) -> None:
    engine.answers = [(status, HTML, content)]
    assert failure(lambda: searcher().search("q", 3)).kind == "search_failed"
    assert len(server.requests) == 3


def test_nothing_found_is_no_failure(engine: Engine, server: Served) -> None:
    engine.answers = [(200, HTML, NOTHING)]
    assert searcher().search("q", 3) == []


def test_no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    allow_this_machine(monkeypatch, f"http://127.0.0.1:{closed_port()}/html/")
    error = failure(lambda: searcher().search("q", 3))
    assert error.kind == "search_failed"
    assert "check the network" in str(error)
    assert "Error" not in str(error)
    assert error.detail
    shown = error.as_failure("search")
    assert shown.detail == error.detail
    assert "detail" in shown.model_dump_json()


def test_a_stall_ends_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    with raw_server(lambda connection, over: over.wait(30) and None) as server:
        allow_this_machine(monkeypatch, server.url("/html/"))
        started = time.monotonic()
        error = failure(lambda: searcher(timeout=0.2, total=0.5).search("q", 3))
        assert error.kind == "search_failed"
        assert "in time" in str(error)
        assert time.monotonic() - started < 15


def test_no_search_goes_inside_the_network(server: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("attribution.searchers.duckduckgo.is_public", is_public)
    assert failure(lambda: searcher().search("q", 3)).kind == "search_failed"
    monkeypatch.setattr(Duckduckgo, "search_url", server.url("/html/"))  # numeric
    assert failure(lambda: searcher().search("q", 3)).kind == "search_failed"
    assert not server.requests
