import threading
import time
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest

from attribution.errors import FetchFailed
from attribution.fetching.fetcher import Fetcher
from attribution.network import AGENT, is_public
from attribution.settings import Settings
from tests.fetching.test_fetcher import HTML, PAGE, always, local
from tests.servers import Answer, http_server, raw_server

QUICK = Settings()


def rules(text: str, status: int = 200, **headers: str) -> dict[str, Any]:
    return {"robots": always(status, {"Content-Type": "text/plain", **headers}, text.encode())}


def kind(fetcher: Fetcher, url: str) -> str:
    try:
        return fetcher.fetch(url).text and "page"
    except FetchFailed as error:
        assert error.subject == url
        assert "document" in str(error)
        return error.kind


@pytest.mark.parametrize(
    ("text", "status", "expected"),
    [
        ("User-agent: *\nDisallow: /", 200, "robots"),
        ("User-agent: *\r\nDisallow: /\r\n", 200, "robots"),
        ("User-agent: *\nDisallow: /private", 200, "page"),
        (f"User-agent: {AGENT}\nDisallow: /\nUser-agent: *\nAllow: /", 200, "robots"),
        (f"User-agent: {AGENT}\nAllow: /\n\nUser-agent: *\nDisallow: /", 200, "page"),
        ("User-agent: somebody-else\nDisallow: /", 200, "page"),
        ("<html>no rules at all</html>", 200, "page"),
        ("", 404, "page"),
        ("", 403, "page"),
        ("", 500, "robots"),
        ("", 503, "robots"),
        ("", 304, "page"),
        ("User-agent: *\nDisallow: /\n" + "# x\n" * 300_000, 200, "robots"),  # cut, but read
        ("User-agent: *\nDisallow: /*" + "a*" * 2_000 + "b$", 200, "page"),
    ],
)
def test_rules(text: str, status: int, expected: str) -> None:
    with http_server(always(200, HTML, PAGE), **rules(text, status)) as server:
        assert kind(Fetcher(QUICK, local), server.url("/" + "a" * 500)) == expected
        assert len(server.requests) == (expected == "page")


def test_names_times_rules_fill_no_memory() -> None:
    names = "".join(f"User-agent: a{i}\n" for i in range(12_000))
    lines = "".join(f"Disallow: /{i}\n" for i in range(12_000))
    with http_server(always(200, HTML, PAGE), **rules(names + lines)) as server:
        started = time.thread_time()
        assert kind(Fetcher(QUICK, local), server.url("/a")) == "page"
        assert time.thread_time() - started < 5


def test_rules_that_never_come_forbid_within_their_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("attribution.fetching.fetcher.ROBOTS_SECONDS", 0.5)
    with raw_server(lambda connection, over: over.wait(5) and None, robots=True) as server:
        started = time.monotonic()
        fetcher = Fetcher(QUICK, local)
        assert [kind(fetcher, server.url(path)) for path in ("/a", "/b")] == ["robots"] * 2
        assert time.monotonic() - started < 2  # asked once


def test_rules_are_fetched_as_safely_as_a_page() -> None:
    with http_server(always(200, HTML, PAGE)) as inside:
        elsewhere = rules("", 302, Location=inside.url("/robots.txt"))
        with http_server(always(200, HTML, PAGE), "127.0.0.2", **elsewhere) as server:
            assert (
                kind(Fetcher(QUICK, lambda address: address == "127.0.0.2"), server.url())
                == "blocked_address"
            )
            assert server.requests == []
            assert inside.rules_read == 0
    assert kind(Fetcher(QUICK, is_public), "http://127.0.0.1/") == "blocked_address"


def test_a_host_gets_the_pause_it_asks_for_up_to_a_limit_and_others_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("attribution.fetching.fetcher.MAX_CRAWL_DELAY", 0.4)
    times: list[float] = []

    def respond(request: BaseHTTPRequestHandler) -> Answer:
        times.append(time.monotonic())
        return 200, HTML, PAGE

    slow = rules("User-agent: *\nCrawl-delay: 30")
    with http_server(respond, **slow) as server, http_server(always(200, HTML, PAGE)) as other:
        fetcher = Fetcher(QUICK, local)
        with ThreadPoolExecutor(3) as pool:
            pool.map(fetcher.fetch, [server.url(f"/{n}") for n in range(3)])
            fetcher.fetch(other.url())
    assert len(times) == 3
    assert (
        0.6 <= times[-1] - times[0] < 10
    )  # two pauses: a request that arrives late shortens the one after it


def test_only_so_many_at_once_from_one_host() -> None:
    now, most, lock = 0, 0, threading.Lock()

    def respond(request: BaseHTTPRequestHandler) -> Answer:
        nonlocal now, most
        with lock:
            now += 1
            most = max(most, now)
        time.sleep(0.1)
        with lock:
            now -= 1
        return 200, HTML, PAGE

    with http_server(respond) as server:
        fetcher = Fetcher(QUICK, local)
        with ThreadPoolExecutor(7) as pool:
            pool.map(fetcher.fetch, [server.url(f"/{n}") for n in range(7)])
    assert most == 2
