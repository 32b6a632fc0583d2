"""What became of a run's pages, on a server of this machine."""

from __future__ import annotations

from functools import partial

from attribution.changes import changes
from attribution.fetching import fetch
from attribution.settings import Settings
from attribution.types import Report
from tests.make import claim, evidence, page
from tests.servers import http_server

THEN = "The tower is 300 metres tall. It stands in Paris. It was finished in 1889."


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
        report = Report(
            id="r", created_at="", question="", answer="", settings={}, versions={}, pages=tuple(pages),
            evidence=tuple(deciding),
        )  # fmt: skip
        found = list(changes(report, settings, partial(fetch, allow=lambda address: True)))
    assert [c.state for c in found] == ["unchanged", "changed", "gone", "unread", "unread"]
    edited = found[1]
    assert edited.removed == ("The tower is 300 metres tall.",)
    assert edited.added == ("The tower is 330 metres tall.", "It is brown.")
    assert edited.evidence_lost == ("The tower is 300 metres tall.",)
    assert "500" in found[3].message and [c.url for c in found] == [p.url for p in pages]
