"""The language model's judgements of claims, from a scripted server."""

from __future__ import annotations

import json
import threading
from typing import Any

import pytest

from attribution import llm
from attribution.asked import Asked
from attribution.store import Store
from attribution.types import Claim, content_id
from tests.llm_server import llm_server, llm_settings
from tests.servers import Answer

ANSWER = "Ada Lovelace wrote notes. She died in 1852. Lovely!"


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(llm, "FIRST_DELAY", 0.01)


def claim(text: str, **more: Any) -> Claim:
    start = ANSWER.index(text)
    return Claim(id=content_id(text), text=text, spans=((start, start + len(text)),), **more)


def script(replies: dict[str, str | Answer]) -> Any:
    """The reply whose key stands in what was asked last."""

    def reply(body: dict[str, Any]) -> str | Answer:
        asked = body["messages"][-1]["content"].rpartition("<data>")[2]
        return next(text for key, text in replies.items() if key in asked)

    return reply


def test_worthiness_is_what_it_says_and_a_bad_reply_leaves_the_rules(store: Store) -> None:
    claims = [claim("She died in 1852.", worthiness="opinion"), claim("Lovely!", worthiness="factual")]
    replies = {"1852": json.dumps({"worthiness": "factual", "reason": "a date"}), "Lovely": '{"worthiness": "nice"}'}
    with llm_server(script(replies)) as served:
        asked = Asked(llm_settings(served), store, threading.Event())
        (died, lovely), failures = asked.worthiness("Who was she?", claims)
        assert (died.worthiness, died.worthiness_reason) == ("factual", "a date")
        assert lovely.worthiness == "factual"
        assert [f.kind for f in failures] == ["llm_failed"] and "what the rules say stays" in failures[0].message
        before = len(served.requests)
        again, _ = asked.worthiness("Who was she?", claims[:1])
        assert again == [died] and len(served.requests) == before  # from the store
    assert asked.usage.calls == 2 and asked.usage.cached == 1


def test_only_factual_claims_are_asked_about_and_only_dependent_ones_are_rewritten(store: Store) -> None:
    claims = [
        claim("Ada Lovelace wrote notes.", worthiness="factual"),
        claim("She died in 1852.", worthiness="factual"),
        claim("Lovely!", worthiness="opinion"),
    ]
    replies = {"Ada Lovelace wrote notes.\n</data>": '{"independent": true}', "She died": '{"independent": false}'}
    with llm_server(script(replies)) as served:
        judged, failures = Asked(llm_settings(served), store, threading.Event()).independence(claims)
        assert len(served.requests) == 2
    assert [c.independent for c in judged] == [True, False, None] and not failures
    with llm_server(script({"She died": '{"claim": "Ada Lovelace died in 1852."}'})) as served:
        enriched, failures = Asked(llm_settings(served), store, threading.Event()).enrichment("", ANSWER, judged)
        assert len(served.requests) == 1
    assert [c.enriched for c in enriched] == [None, "Ada Lovelace died in 1852.", None] and not failures


@pytest.mark.parametrize("reply", ['{"claim": ""}', json.dumps({"claim": "word " * 300}), "I'm sorry, I can't."])
def test_what_is_no_sentence_is_not_taken(store: Store, reply: str) -> None:
    claims = [claim("She died in 1852.", worthiness="factual", independent=False, enriched="Ada died in 1852.")]
    with llm_server(script({"She died": reply})) as served:
        kept, failures = Asked(llm_settings(served), store, threading.Event()).enrichment("", ANSWER, claims)
    assert kept == claims and len(failures) == 1
