"""The main path: a search engine, pages of a web server, and verdicts on what they say."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler

import pytest

from attribution.evidence.gathering import LiveSources
from attribution.evidence.sources import open_sources
from attribution.fetching.fetcher import Fetcher
from attribution.pipeline.run import run
from attribution.settings import Settings
from attribution.store.store import Store
from attribution.types import Report
from tests.make import finished, labels
from tests.servers import Answer, Served, http_server

TOWER = "The Eiffel Tower in Paris was completed in 1889. Visitors climb it every day."
BRIDGE = "The bridge of Zorb is closed. The bridge of Zorb was opened by the mayor in 1932."
PAGES = {"/tower": TOWER, "/bridge": BRIDGE}
HTML = {"Content-Type": "text/html; charset=utf-8"}
JSON = {"Content-Type": "application/json"}
ANSWER = "The Eiffel Tower was completed in 1889. The bridge of Zorb was opened in 1950."


@dataclass
class Web:
    """A SearXNG instance, and the pages that it finds, on one port of this machine."""

    served: Served

    def finished(self, settings: Settings, store: Store) -> Report:
        """Check the answer by this web, whose private address is allowed."""
        settings = settings.model_copy(update={"sources": ("searxng",)})
        fetcher = Fetcher(settings, allow=lambda address: address == "127.0.0.1")
        sources = open_sources(settings, (), store)
        live = LiveSources(settings, store, sources, fetcher.fetch)
        return finished(run("", ANSWER, settings, store, source=live))


@pytest.fixture
def web(monkeypatch: pytest.MonkeyPatch) -> Iterator[Web]:
    def respond(request: BaseHTTPRequestHandler) -> Answer:
        path = request.path
        if path.startswith("/search"):
            names = ["/tower", "/gone"] if "Eiffel" in path else ["/bridge"]
            results = [{"url": served.url(name), "title": name} for name in names]
            return 200, JSON, json.dumps({"results": results}).encode()
        if path not in PAGES:
            return 404, HTML, b"nothing"
        article = f"<article><h1>{path}</h1><p>{PAGES[path]}</p></article>"
        return 200, HTML, f"<html><body>{article}</body></html>".encode()

    with http_server(respond) as served:
        monkeypatch.setenv("ATTRIBUTION_SEARXNG_URL", served.url())
        yield Web(served)


def test_a_claim_is_searched_for_its_pages_read_and_judged_but_for_one_that_is_gone(
    web: Web, settings: Settings, store: Store
) -> None:
    report = web.finished(settings, store)
    found = labels(report)
    assert found["The Eiffel Tower was completed in 1889."] == "supported"
    assert found["The bridge of Zorb was opened in 1950."] != "supported"
    pages = {page.id: page for page in report.pages}
    assert {page.url for page in pages.values()} == {
        web.served.url("/tower"),
        web.served.url("/bridge"),
    }
    for piece in report.evidence:
        assert pages[piece.page_id].text[piece.start : piece.end] == piece.text
        assert (piece.searcher, piece.rank) == ("searxng", 1)
        assert piece.query
    (failure,) = report.failures
    assert failure.stage == "fetch"
    assert failure.subject == web.served.url("/gone")


def test_the_same_answer_again_asks_the_web_for_nothing_but_what_failed(
    web: Web, settings: Settings, store: Store
) -> None:
    first = web.finished(settings, store)
    assert {"/bridge", "/gone", "/tower"} <= set(web.served.paths)
    asked = len(web.served.paths)
    second = web.finished(settings, store)
    assert second.verdicts == first.verdicts
    assert set(web.served.paths[asked:]) <= {"/gone"}
