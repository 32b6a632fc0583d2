"""The example answers: what they promise, and that they show every verdict and every kind of
failure without a web.
"""

import threading
from typing import Any

import pytest

from attribution.evidence.gathering import LiveSources
from attribution.evidence.sources import open_sources
from attribution.fetching.fetcher import Fetcher
from attribution.settings import Settings
from attribution.store.store import Store
from attribution.types import LABELS
from benchmarks import examples
from pages.ui import state
from tests.make import claim

EXAMPLES = examples()
ALL = state.examples()  # with that of the demo, which comes first


@pytest.mark.parametrize("example", ALL, ids=lambda e: e["id"])
def test_every_claim_of_the_reader_stands_in_its_answer(example: dict[str, Any]) -> None:
    assert {"id", "title", "question", "answer", "sources", "claims"} == set(example)
    at = 0
    for wanted in example["claims"]:
        at = example["answer"].index(wanted["text"], at) + len(wanted["text"])
        assert wanted["verdict"] in LABELS
        assert wanted["note"]


def test_together_they_show_every_verdict() -> None:
    assert {c["verdict"] for e in EXAMPLES for c in e["claims"]} == {*LABELS} - {
        "unclear",
        "not_reached",
    }


def test_together_they_show_a_blocked_page_one_that_is_gone_and_a_failed_search(
    settings: Settings, store: Store
) -> None:
    kinds: dict[str, set[str]] = {}
    for example in EXAMPLES:
        if example["sources"] == ["library"]:
            continue
        chosen = settings.model_copy(update={"sources": tuple(example["sources"])})
        gatherer = LiveSources(
            chosen, store, open_sources(chosen, (), store), Fetcher(chosen).fetch
        )
        asked = [claim(c["text"]) for c in example["claims"] if c["verdict"] != "not_checked"]
        steps = list(gatherer.gather(asked, example["question"], threading.Event()))
        kinds[example["id"]] = {f.kind for step in steps for f in step.failures}
        assert any(
            p.kind == "library" for step in steps for p in step.pages
        )  # the other source goes on
        missing = {claim(c["text"]).id for c in example["claims"] if c["verdict"] == "missing"}
        assert missing <= {c for step in steps if step.failures for c in step.claim_ids}
    assert kinds == {
        "octopus": {"blocked_address", "unreachable"},
        "channel-tunnel": {"search_failed", "source_unread"},
    }
