"""Every entry of the five tables keeps its protocol: ready ones run, services are asked on this
machine.

Models that are not here are named, with the way to get them. What chunkers promise is tested in
tests/retrieval.
"""

import importlib
import json
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from attribution import searchers
from attribution.embedders import EMBEDDERS
from attribution.errors import BadInput, Unavailable
from attribution.retrieval.chunkers import CHUNKERS
from attribution.searchers import SEARCHERS
from attribution.segmenters import SEGMENTERS
from attribution.settings import Settings
from attribution.tables import Entry, Table
from attribution.verifiers import VERIFIERS
from tests import llm_server
from tests.make import check_claims
from tests.searchers.test_duckduckgo import GOOD as DUCKDUCKGO
from tests.searchers.test_searchers import GOOD
from tests.servers import Answer, Served, http_server

QUESTION = "Where does the Nile flow?"
QUOTE = "The Nile flows north through Egypt"
ANSWER = f"{QUOTE}. It reaches the Mediterranean Sea, and its delta is fertile."
CLAIMS = ["The Nile flows north.", "The Nile reaches the Mediterranean Sea."]
TABLES: dict[str, Table[Any]] = {
    "segmenter": SEGMENTERS,
    "searcher": SEARCHERS,
    "chunker": CHUNKERS,
    "embedder": EMBEDDERS,
    "verifier": VERIFIERS,
}
NOWHERE = "nobody/no-such-model"


def reply(request: dict[str, Any]) -> Answer:
    """Answer as an OpenAI-compatible endpoint: embeddings, claims, or the relation of a pair."""
    if "input" in request:
        rows = [
            {"index": i, "embedding": [len(text), 1.0]} for i, text in enumerate(request["input"])
        ]
        return 200, {"Content-Type": "application/json"}, json.dumps({"data": rows}).encode()

    asked = json.dumps(request)
    entails = QUOTE in request["messages"][-1]["content"]
    relation = "entailed" if entails else "no_relation"
    if '"confidence"' in asked:
        quote = QUOTE if entails else ""
        verdict = {"reason": "", "quote": quote, "relation": relation, "confidence": 0.9}
        return llm_server.completion(json.dumps(verdict))
    if "no_relation" in asked:  # answered in one word
        return llm_server.completion(relation)
    sentences = [{"number": number, "claims": CLAIMS} for number in (1, 2)]
    body = {"sentences": sentences} if '"sentences"' in asked else {"claims": CLAIMS}
    return llm_server.completion(json.dumps(body))


@pytest.fixture
def endpoint() -> Iterator[Served]:
    with llm_server.llm_server(reply) as served:
        yield served


def settings_for(entry: Entry, served: Served, **choices: Any) -> Settings:
    """An endpoint on this machine; a model of the hub gets a name that no hub has."""
    own = {entry.model_setting: NOWHERE} if entry.model_setting else {}
    return llm_server.llm_settings(served, **{**own, **choices})


@pytest.mark.parametrize("name", SEGMENTERS)
def test_segmenters(name: str, endpoint: Served) -> None:
    entry = SEGMENTERS[name]
    segmenter = SEGMENTERS.build(name, settings_for(entry, endpoint))
    usage = segmenter.estimate(QUESTION, ANSWER)
    assert endpoint.requests == []  # an estimate asks nobody
    if entry.model_setting:
        with pytest.raises(Unavailable, match=NOWHERE):
            segmenter.segment(QUESTION, ANSWER)
        return
    segmented = segmenter.segment(QUESTION, ANSWER)
    assert segmented.claims
    assert bool(endpoint.requests) == bool(usage and usage.calls) == bool(segmented.usage)
    check_claims(ANSWER, segmented.claims)
    asked = len(endpoint.requests)
    stop = threading.Event()
    stop.set()
    stopped = segmenter.segment("Another?", ANSWER.replace("Nile", "Rhine"), stop)
    assert stopped.claims  # the sentences at least
    assert len(endpoint.requests) == asked


def search_reply(name: str) -> Answer:
    """Return a good reply of an engine; a new engine brings its own."""
    if name == "duckduckgo":
        return 200, {"Content-Type": "text/html"}, DUCKDUCKGO
    good = GOOD.get(name)
    if good is None and SEARCHERS[name].target.startswith("attribution.searchers."):
        good = importlib.import_module(f"tests.searchers.test_{name}").GOOD
    return 200, {}, json.dumps(good).encode()


@pytest.mark.parametrize("name", SEARCHERS)
def test_searchers(name: str, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    answer = search_reply(name)
    with http_server(lambda request: answer) as served:
        # Or a request would leave the machine
        for variable in ("GOOGLE", *map(str.upper, SEARCHERS)):
            monkeypatch.setenv(f"ATTRIBUTION_{variable}_URL", served.url("/ask"))
        for need in SEARCHERS[name].needs:
            if not need.variable.endswith("_URL"):
                monkeypatch.setenv(need.variable, "key")
        duckduckgo = "attribution.searchers.duckduckgo"
        here = served.url("/html/").replace("127.0.0.1", "localhost")
        monkeypatch.setattr(f"{duckduckgo}.Duckduckgo.search_url", here)
        monkeypatch.setattr(f"{duckduckgo}.is_public", lambda address: True)
        searcher = SEARCHERS.build(name, settings)
        if name in GOOD:
            assert served.url("/ask") in searchers.key_of(searcher)
        hits = searcher.search("the Nile in Egypt", 2)
    assert 1 <= len(hits) <= 2
    assert [h.rank for h in hits] == list(range(1, len(hits) + 1))
    assert {(h.searcher, h.query) for h in hits} == {(searcher.name, "the Nile in Egypt")}
    assert searcher.name == name
    assert all(h.page.text if h.page else h.url.startswith("http") for h in hits)


@pytest.mark.parametrize("name", EMBEDDERS)
def test_embedders(name: str, endpoint: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", llm_server.KEY)
    entry = EMBEDDERS[name]
    remote = {"embedding_model": "remote"} if name == "openai" else {}
    embedder = EMBEDDERS.build(name, settings_for(entry, endpoint, **remote))
    assert embedder.version
    if entry.model_setting and not remote:
        with pytest.raises(Unavailable, match=NOWHERE):
            embedder.embed(["a text"])
        return
    vectors = embedder.embed(
        ["The Nile flows north.", "Copper prices rose in Chile.", "The Nile flows north."]
    )
    assert vectors.dtype == np.float32
    assert vectors.shape[0] == 3
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    assert np.allclose(vectors[0], vectors[2], atol=1e-5)


@pytest.mark.parametrize("name", VERIFIERS)
def test_verifiers(name: str, endpoint: Served) -> None:
    entry = VERIFIERS[name]
    if name == "embedded-base" and (missing := entry.missing()):
        pytest.skip(missing)
    verifier = VERIFIERS.build(name, settings_for(entry, endpoint))
    pairs = [(CLAIMS[0], ANSWER), (CLAIMS[1], "Copper prices rose in Chile.", "Copper")]
    assert verifier.version
    for empty in (("", ANSWER), (CLAIMS[0], " ")):
        with pytest.raises(BadInput, match="empty"):
            verifier.verify([empty])
    if entry.model_setting:
        with pytest.raises(Unavailable, match=NOWHERE):
            verifier.verify(pairs)
        return
    near, far = verifier.verify(pairs)
    assert near.probabilities.entailed > far.probabilities.entailed
    for judgement, (_, evidence, *_title) in zip((near, far), pairs, strict=True):
        p = judgement.probabilities
        assert p.entailed + p.contradicted + p.no_relation == pytest.approx(1, abs=1e-4)
        assert evidence[slice(*judgement.sentence or (None,))].strip()
    assert verifier.verify([]) == []


@pytest.mark.parametrize(
    ("kind", "name"), [(kind, name) for kind, table in TABLES.items() for name in table]
)
def test_an_entry_says_what_it_needs_and_the_setting_of_its_model(
    kind: str, name: str, settings: Settings
) -> None:
    entry = TABLES[kind][name]
    assert entry.label
    assert entry.note
    assert not (entry.bundled and entry.model_setting)
    assert not entry.model_setting or entry.model_setting in Settings.model_fields
    if missing := entry.missing(settings):
        with pytest.raises(Unavailable, match="not ready") as caught:
            TABLES[kind].build(name, settings)
        assert missing in str(caught.value)
    else:
        assert TABLES[kind].build(name, settings)
