"""Every entry of the five tables keeps its protocol: ready ones run, services are asked on this
machine.

Models that are not here are named, with the way to get them.
"""

import importlib
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from typing import Any

import numpy as np
import pytest

from attribution.embedders import EMBEDDERS
from attribution.errors import Unavailable
from attribution.retrieval.chunkers import CHUNKERS
from attribution.searchers import SEARCHERS
from attribution.segmenters import SEGMENTERS
from attribution.settings import Settings
from attribution.tables import Entry, Table
from attribution.verifiers import VERIFIERS
from tests import llm_server
from tests.make import page
from tests.searchers.test_duckduckgo import GOOD as DUCKDUCKGO
from tests.searchers.test_searchers import GOOD
from tests.servers import Answer, Served, http_server

QUESTION = "Where does the Nile flow?"
ANSWER = "The Nile flows north through Egypt. It reaches the Mediterranean Sea, and its delta is fertile."
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
    """What an OpenAI-compatible endpoint says of claims or embeddings."""
    if "input" in request:
        rows = [
            {"index": i, "embedding": [len(text), 1.0]} for i, text in enumerate(request["input"])
        ]
        return 200, {"Content-Type": "application/json"}, json.dumps({"data": rows}).encode()
    properties = json.dumps(request)
    if "no_relation" in properties and "verdicts" not in properties:  # a pair, answered in one word
        document = request["messages"][-1]["content"].rpartition("Document:")[2]
        return llm_server.completion("entailed" if "Egypt" in document else "no_relation")
    if "verdicts" in properties:
        quote = "The Nile flows north through Egypt"
        found = quote in request["messages"][-1]["content"]
        verdict = {
            "passage": 1,
            "relation": "entailed" if found else "no_relation",
            "quote": quote if found else "",
        }
        return llm_server.completion(json.dumps({"verdicts": [verdict]}))
    if "Document:" in properties:  # a pair, answered in a word
        said = request["messages"][-1]["content"].rpartition("Document:")[2]
        return llm_server.completion(
            "entailed" if "The Nile flows north through Egypt" in said else "no_relation"
        )
    sentences = [{"number": n, "claims": CLAIMS} for n in (1, 2)]
    body = {"sentences": sentences} if '"sentences"' in properties else {"claims": CLAIMS}
    return llm_server.completion(json.dumps(body))


@pytest.fixture
def endpoint() -> Iterator[Served]:
    with llm_server.llm_server(reply) as served:
        yield served


def settings_for(entry: Entry, served: Served, **choices: Any) -> Settings:
    """An endpoint on this machine, and a model name that no hub has where an entry loads one from
    there.
    """
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
    assert segmented.claims and bool(endpoint.requests) == bool(usage and usage.calls) == bool(
        segmented.usage
    )
    for claim in segmented.claims:
        assert claim.text.strip() and all(ANSWER[a:b].strip() for a, b in claim.spans)
        assert claim.sentence is None or ANSWER[slice(*claim.sentence)].strip()
    assert len({c.text.casefold() for c in segmented.claims}) == len(segmented.claims)
    stop, asked = threading.Event(), len(endpoint.requests)
    stop.set()
    assert segmenter.segment(
        "Another?", ANSWER.replace("Nile", "Rhine"), stop
    ).claims  # the sentences at least
    assert len(endpoint.requests) == asked


@pytest.mark.parametrize("name", SEARCHERS)
def test_searchers(name: str, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    html = {"Content-Type": "text/html"}, DUCKDUCKGO

    def respond(request: BaseHTTPRequestHandler) -> Answer:
        kind, body = html if name == "duckduckgo" else ({}, json.dumps(reply).encode())
        return 200, kind, body

    reply = GOOD.get(name)
    if (
        reply is None
        and SEARCHERS[name].target.startswith("attribution.searchers.")
        and name != "duckduckgo"
    ):
        reply = importlib.import_module(
            f"tests.searchers.test_{name}"
        ).GOOD  # a new engine brings its own

    with http_server(respond) as served:
        for variable in (
            "GOOGLE",
            *map(str.upper, SEARCHERS),
        ):  # or a request would leave the machine
            monkeypatch.setenv(f"ATTRIBUTION_{variable}_URL", served.url("/ask"))
        for need in SEARCHERS[name].needs:
            monkeypatch.setenv(
                need.variable, served.url("/ask") if need.variable.endswith("_URL") else "key"
            )
        monkeypatch.setattr("ddgs.engines.duckduckgo.Duckduckgo.search_url", served.url("/html/"))
        searcher = SEARCHERS.build(name, settings)
        hits = searcher.search("the Nile in Egypt", 2)
    assert 1 <= len(hits) <= 2 and [h.rank for h in hits] == list(range(1, len(hits) + 1))
    assert {(h.searcher, h.query) for h in hits} == {
        (searcher.name, "the Nile in Egypt")
    } and searcher.name == name
    assert all(h.page.text if h.page else h.url.startswith("http") for h in hits)


@pytest.mark.parametrize("name", CHUNKERS)
def test_chunkers(name: str, settings: Settings) -> None:
    chunker = CHUNKERS.build(name, settings)
    source = page(" ".join(f"Sentence {n} says where the river bends." for n in range(90)))
    chunks = chunker.chunk(source)
    assert len(chunks) > 1 and all(
        source.text[c.start : c.end] == c.text and c.page_id == source.id for c in chunks
    )
    assert (
        all(0 < len(c.text) <= settings.chunk_size for c in chunks)
        and chunker.chunk(page(" ")) == []
    )


@pytest.mark.parametrize("name", EMBEDDERS)
def test_embedders(name: str, endpoint: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", llm_server.KEY)
    entry = EMBEDDERS[name]
    remote = {"embedding_model": "remote"} if name == "openai" else {}
    embedder = EMBEDDERS.build(name, settings_for(entry, endpoint, **remote))
    assert embedder.version and 0 <= embedder.floor < 1
    if entry.model_setting and not remote:
        with pytest.raises(Unavailable, match=NOWHERE):
            embedder.embed(["a text"])
        return
    vectors = embedder.embed(
        ["The Nile flows north.", "Copper prices rose in Chile.", "The Nile flows north."]
    )
    assert vectors.dtype == np.float32 and vectors.shape[0] == 3
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5) and np.allclose(
        vectors[0], vectors[2], atol=1e-5
    )


@pytest.mark.parametrize("name", VERIFIERS)
def test_verifiers(name: str, endpoint: Served) -> None:
    entry = VERIFIERS[name]
    if name == "embedded-base" and (missing := entry.missing()):
        pytest.skip(missing)
    verifier = VERIFIERS.build(name, settings_for(entry, endpoint))
    pairs = [(CLAIMS[0], ANSWER), (CLAIMS[1], "Copper prices rose in Chile.", "Copper")]
    assert verifier.version
    if entry.model_setting:
        with pytest.raises(Unavailable, match=NOWHERE):
            verifier.verify(pairs)
        return
    near, far = verifier.verify(pairs)
    assert near.probabilities.entailed > far.probabilities.entailed
    for judgement, (_, evidence, *_title) in zip((near, far), pairs, strict=True):
        p = judgement.probabilities
        assert p.entailed + p.contradicted + p.no_relation == pytest.approx(1, abs=1e-4)
        assert evidence[slice(*judgement.sentence)].strip()
    assert verifier.verify([]) == []


@pytest.mark.parametrize(
    ("kind", "name"), [(kind, name) for kind, table in TABLES.items() for name in table]
)
def test_an_entry_says_what_it_needs_and_the_setting_of_its_model(
    kind: str, name: str, settings: Settings
) -> None:
    entry = TABLES[kind][name]
    assert entry.label and entry.note and not (entry.bundled and entry.model_setting)
    assert not entry.model_setting or entry.model_setting in Settings.model_fields
    if missing := entry.missing(settings):
        with pytest.raises(Unavailable, match="not ready") as caught:
            TABLES[kind].build(name, settings)
        assert missing in str(caught.value)
    else:
        assert TABLES[kind].build(name, settings)
