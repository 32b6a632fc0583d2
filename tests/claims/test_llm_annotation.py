import json
import threading
from typing import Any

import pytest

from attribution.claims.llm_annotation import LlmAnnotator
from attribution.pipeline.claims import segment
from attribution.pipeline.estimate import estimate
from attribution.store.store import Store
from attribution.types import Claim
from tests import make
from tests.llm_server import llm_server, llm_settings

ANSWER = "Ada Lovelace wrote notes. She died in 1852. Lovely!"


def claim(text: str, **more: Any) -> Claim:
    start = ANSWER.index(text)
    return make.claim(text, spans=((start, start + len(text)),), **more)


DIED = "She died in 1852."
ENRICHED = {"enriched": "Ada died in 1852."}


@pytest.mark.parametrize(
    ("prompts", "task", "reply", "expected"),
    [
        ("", "worthiness", '{"worthiness": "opinion"}', {"worthiness": "opinion"}),
        ("", "worthiness", '{"worthiness": "nice"}', {}),
        ("", "independence", '{"independent": true}', {"independent": True}),
        ("", "enrichment", '{"claim": "Ada died in 1852."}', ENRICHED),
        ("", "enrichment", '{"claim": ""}', {}),
        ("", "enrichment", json.dumps({"claim": "word " * 300}), {}),
        ("", "enrichment", "I'm sorry, I can't.", {}),
        ("v24", "worthiness", "3", {"worthiness": "not_a_claim"}),
        ("v24", "worthiness", "`4`", {"worthiness": "other"}),
        ("v24", "worthiness", "5", {}),
        ("v24", "independence", '"not independent"', {"independent": False}),
        ("v24", "independence", "it depends", {}),
        ("v24", "enrichment", 'Revised claim: "Ada died in 1852."', ENRICHED),
    ],
)
def test_a_reply_sets_its_field_and_an_unusable_one_leaves_the_rules(
    store: Store, prompts: str, task: str, reply: str, expected: dict[str, object]
) -> None:
    given = claim(DIED, worthiness="factual", independent=False)
    with llm_server(lambda _: reply) as served:
        chosen = llm_settings(served, prompts=prompts, llm_retries=0)
        annotator = LlmAnnotator(chosen, store, threading.Event())
        (annotated,), failures = annotator.annotate(task, "Who was she?", [given], ANSWER)
        has_schema = "response_format" in json.loads(served.requests[-1][3])
    assert annotated == given.model_copy(update=expected)
    assert [failure.kind for failure in failures] == ([] if expected else ["llm_failed"])
    assert has_schema == (not prompts)


@pytest.mark.parametrize(("task", "asked"), [("independence", 2), ("enrichment", 1)])
def test_only_factual_claims_are_asked_about_and_only_dependent_ones_are_rewritten(
    store: Store, task: str, asked: int
) -> None:
    claims = [
        claim("Ada Lovelace wrote notes.", worthiness="factual"),
        claim(DIED, worthiness="factual", independent=False),
        claim("Lovely!", worthiness="opinion"),
    ]
    with llm_server(lambda _: '{"independent": true, "claim": "Ada died in 1852."}') as served:
        annotator = LlmAnnotator(llm_settings(served), store, threading.Event())
        annotator.annotate(task, "User: Who was Ada?", claims, ANSWER)
        assert len(served.requests) == asked
        assert "User: Who was Ada?" in str(served.requests[-1])


def test_an_estimate_counts_every_prompt_that_is_still_to_be_asked(store: Store) -> None:
    question = "Where is it?"
    answer = "The Eiffel Tower was completed in 1889. It is in Paris. Is it tall?"
    by_llm = dict.fromkeys(("worthiness", "independence", "enrichment"), "llm")
    with llm_server(lambda _: '{"worthiness": "factual"}') as served:
        chosen = llm_settings(served, **by_llm)
        before = estimate(question, answer, chosen, store=store)
        assert served.requests == []
        claims = segment("", answer, chosen).claims
        annotator = LlmAnnotator(chosen, store, threading.Event())
        annotator.annotate("worthiness", question, claims)
        after = estimate(question, answer, chosen, store=store)
    calls = {stage: used.calls for stage, used in before.llm.items()}
    assert calls == {"worthiness": 3, "independence": 2, "enrichment": 1}
    assert all(used.prompt_tokens for used in before.llm.values())
    assert after.llm["worthiness"].calls == 0
    assert after.llm["worthiness"].cached == 3
    assert annotator.versions["worthiness"].startswith("worthiness.v3/tiny@")
