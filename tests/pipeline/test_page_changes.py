"""What has become of a run's pages, on a server of this machine."""

from __future__ import annotations

import threading
import time

import pytest

from attribution.fetching.fetcher import Fetcher
from attribution.pipeline.page_changes import MAX_SENTENCES, Difference, changes, compare
from attribution.settings import Settings
from attribution.types import Report
from tests.make import claim, evidence, page
from tests.servers import http_server

THEN = "The tower is 300 metres tall. It stands in Paris. It was finished in 1889."


def report(*pages, evidence=()) -> Report:
    return Report(
        id="r", created_at="", question="", answer="", settings={}, versions={}, pages=pages, evidence=tuple(evidence)
    )


def test_pages_are_told_apart_and_the_difference_is_in_sentences(settings: Settings) -> None:
    texts = {"/same": THEN, "/edited": THEN.replace("300 metres", "330 metres") + " It is brown."}

    def respond(handler):
        text = texts.get(handler.path)
        return (
            (200, {"Content-Type": "text/plain"}, text.encode())
            if text
            else (404 if "gone" in handler.path else 500, {}, b"")
        )

    with http_server(respond) as server:
        pages = [page(THEN, server.url(path)) for path in ("/same", "/edited", "/gone", "/broken")]
        pages.append(page("x", "document:a.txt").model_copy(update={"kind": "document"}))
        deciding = [
            evidence(claim(), 0.9, 0.0, "entailed").model_copy(update={"page_id": pages[1].id, "sentence": span})
            for span in ((0, 29), (30, 49))
        ]
        fetcher = Fetcher(settings, lambda address: True)
        found = list(changes(report(*pages, evidence=deciding), settings, fetcher.fetch))
        assert server.rules_read == 1  # one fetcher for all: polite
    assert [c.state for c in found] == ["unchanged", "changed", "gone", "unread", "unread"]
    edited = found[1]
    assert edited.differences == (
        Difference(then="The tower is 300 metres tall.", now="The tower is 330 metres tall."),
        Difference(then="", now="It is brown."),
    )
    assert edited.evidence_lost == ("The tower is 300 metres tall.",) and edited.evidence_kept == (
        "It stands in Paris.",
    )
    assert edited.message == "2 differences."
    assert "500" in found[3].message and [c.url for c in found] == [p.url for p in pages]


def test_what_is_stopped_is_not_fetched(settings: Settings) -> None:
    stop = threading.Event()
    stop.set()
    (found,) = changes(report(page(THEN)), settings, lambda url: pytest.fail("fetched"), stop)
    assert found.state == "unread"


def test_another_layout_is_no_other_text_and_a_text_that_was_not_kept_is_said() -> None:
    then = page(THEN)
    same = compare(then, page(THEN.replace(". ", ".\n\n")), report(then))
    assert same.state == "changed" and same.differences == () and "line breaks" in same.message
    lost = compare(then.model_copy(update={"text": ""}), page("New."), report(then))
    assert lost.state == "changed" and "not saved" in lost.message and lost.differences == ()


def test_pages_made_to_take_long_do_not() -> None:
    lines = ["It is so.", "It was so."]
    then = page(" ".join(lines[n % 2] for n in range(3 * MAX_SENTENCES)))
    now = page(" ".join(lines[n % 3 == 0] for n in range(3 * MAX_SENTENCES)))
    started = time.process_time()
    found = compare(then, now, report(then))
    assert time.process_time() - started < 20 and len(found.differences) <= 200
    assert f"first {MAX_SENTENCES:,} sentences" in found.message
