import json
import threading
from typing import Any

import pytest

from attribution.claims.llm_annotation import LlmAnnotator
from attribution.errors import Unavailable
from attribution.pipeline.estimate import estimate
from attribution.pipeline.run import run, segment
from attribution.settings import Settings
from attribution.store.store import Store
from attribution.types import Claim, Failure, content_id
from tests.llm_server import llm_server, llm_settings

ANSWER = "Ada Lovelace wrote notes. She died in 1852. Lovely!"
Annotated = tuple[list[Claim], list[Failure]]


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("attribution.retry.FIRST_PAUSE", 0.01)


def claim(text: str, **more: Any) -> Claim:
    start = ANSWER.index(text)
    return Claim(id=content_id(text), text=text, spans=((start, start + len(text)),), **more)


def script(replies: dict[str, str]) -> Any:
    """Reply with the text whose key stands in what was asked last."""

    def reply(body: dict[str, Any]) -> str:
        asked = body["messages"][-1]["content"].rpartition("<data>")[2]
        return next(text for key, text in replies.items() if key in asked)

    return reply


def annotate(annotator: LlmAnnotator, task: str, claims: list[Claim]) -> Annotated:
    return annotator.annotate(task, "Who was she?", claims, ANSWER)


@pytest.mark.parametrize(
    ("task", "reply", "field", "value"),
    [
        ("worthiness", '{"worthiness": "opinion", "reason": "x"}', "worthiness", "opinion"),
        ("worthiness", '{"worthiness": "nice"}', "worthiness", None),
        ("independence", '{"independent": true}', "independent", True),
        ("enrichment", '{"claim": "Ada died in 1852."}', "enriched", "Ada died in 1852."),
        ("enrichment", '{"claim": ""}', "enriched", None),
        ("enrichment", json.dumps({"claim": "word " * 300}), "enriched", None),
        ("enrichment", "I'm sorry, I can't.", "enriched", None),
    ],
)
def test_a_reply_sets_its_field_and_an_unusable_one_leaves_the_rules(
    store: Store, task: str, reply: str, field: str, value: object
) -> None:
    given = claim("She died in 1852.", worthiness="factual", independent=False)
    with llm_server(lambda body: reply) as served:
        annotator = LlmAnnotator(llm_settings(served), store, threading.Event())
        (annotated,), failures = annotate(annotator, task, [given])
    expected = getattr(given, field) if value is None else value
    assert getattr(annotated, field) == expected
    assert [f.kind for f in failures] == ["llm_failed"] * (value is None)


@pytest.mark.parametrize(
    ("task", "reply", "field", "value"),
    [
        ("worthiness", "3", "worthiness", "not_a_claim"),
        ("worthiness", "`4`", "worthiness", "other"),
        ("worthiness", "5", "worthiness", None),
        ("independence", '"not independent"', "independent", False),
        ("independence", "it depends", "independent", None),
        ("enrichment", 'Revised claim: "Ada died in 1852."', "enriched", "Ada died in 1852."),
    ],
)
def test_replies_in_the_papers_form_are_read(
    store: Store, task: str, reply: str, field: str, value: object
) -> None:
    given = claim("She died in 1852.", worthiness="factual", independent=False)
    with llm_server(lambda body: reply) as served:
        chosen = llm_settings(served, prompts="v24", llm_retries=0)
        annotator = LlmAnnotator(chosen, store, threading.Event())
        (annotated,), failures = annotate(annotator, task, [given])
        assert "response_format" not in json.loads(served.requests[-1][3])
    assert getattr(annotated, field) == (getattr(given, field) if value is None else value)
    assert bool(failures) == (value is None)


def test_a_second_annotation_asks_nothing(store: Store) -> None:
    claims = [claim("She died in 1852.")]
    with llm_server(lambda body: '{"worthiness": "factual"}') as served:
        annotator = LlmAnnotator(llm_settings(served), store, threading.Event())
        first, _ = annotator.annotate("worthiness", "", claims)
        again, _ = annotator.annotate("worthiness", "", claims)
        assert len(served.requests) == 1
    assert again == first
    assert annotator.usage["worthiness"].cached == 1
    assert annotator.versions["worthiness"].startswith("worthiness.v3/tiny@")


def test_only_factual_claims_are_asked_about_and_only_dependent_ones_are_rewritten(
    store: Store,
) -> None:
    claims = [
        claim("Ada Lovelace wrote notes.", worthiness="factual"),
        claim("She died in 1852.", worthiness="factual", independent=False),
        claim("Lovely!", worthiness="opinion"),
    ]
    with llm_server(lambda body: '{"independent": true}') as served:
        annotator = LlmAnnotator(llm_settings(served), store, threading.Event())
        annotator.annotate("independence", "User: Who was Ada?", claims)
        assert len(served.requests) == 2
        assert "User: Who was Ada?" in str(served.requests[-1])
    with llm_server(lambda body: '{"claim": "Ada died in 1852."}') as served:
        annotator = LlmAnnotator(llm_settings(served), store, threading.Event())
        annotator.annotate("enrichment", "", claims, ANSWER)
        assert len(served.requests) == 1


def test_without_a_model_nothing_runs(settings: Settings, store: Store) -> None:
    with pytest.raises(Unavailable, match="no language model is configured"):
        list(run("", "The Nile is long.", settings.model_copy(update={"worthiness": "llm"}), store))


def test_an_estimate_counts_every_prompt_that_is_still_to_be_asked(store: Store) -> None:
    answer = "The Eiffel Tower was completed in 1889. It is in Paris. Is it tall?"
    with llm_server(script({"": '{"worthiness": "factual"}'})) as served:
        by_llm = dict.fromkeys(("worthiness", "independence", "enrichment"), "llm")
        chosen = llm_settings(served, input_price=1.0, output_price=2.0, **by_llm)
        before = estimate("Where is it?", answer, chosen, store=store)
        assert served.requests == []
        claims = segment("", answer, chosen).claims
        LlmAnnotator(chosen, store, threading.Event()).annotate(
            "worthiness", "Where is it?", claims
        )
        after = estimate("Where is it?", answer, chosen, store=store)
    calls = {stage: used.calls for stage, used in before.llm.items()}
    assert calls == {"worthiness": 3, "independence": 2, "enrichment": 1}
    assert all(used.prompt_tokens and used.cost for used in before.llm.values())
    assert (after.llm["worthiness"].calls, after.llm["worthiness"].cached) == (0, 3)
