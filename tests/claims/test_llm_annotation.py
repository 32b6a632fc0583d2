import json
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from attribution.claims.llm_annotation import LlmAnnotator
from attribution.errors import Unavailable
from attribution.events import Event, Finished
from attribution.evidence.search import QUERIES
from attribution.pipeline.estimate import estimate
from attribution.pipeline.run import run, segment
from attribution.pipeline.snapshot import Snapshot
from attribution.settings import Settings
from attribution.store.store import Store
from attribution.tables import LLM
from attribution.types import Claim, Report, content_id
from tests.llm_server import llm_server, llm_settings
from tests.make import comparable
from tests.servers import Answer

ANSWER = "Ada Lovelace wrote notes. She died in 1852. Lovely!"


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("attribution.retry.FIRST_PAUSE", 0.01)


def claim(text: str, **more: Any) -> Claim:
    start = ANSWER.index(text)
    return Claim(id=content_id(text), text=text, spans=((start, start + len(text)),), **more)


def finished(run: Iterator[Event]) -> Report:
    *_, last = run
    assert isinstance(last, Finished)
    return last.report


def script(replies: dict[str, str | Answer]) -> Any:
    """The reply whose key stands in what was asked last."""

    def reply(body: dict[str, Any]) -> str | Answer:
        asked = body["messages"][-1]["content"].rpartition("<data>")[2]
        return next(text for key, text in replies.items() if key in asked)

    return reply


def test_worthiness_is_what_it_says_and_a_bad_reply_leaves_the_rules(store: Store) -> None:
    claims = [
        claim("She died in 1852.", worthiness="opinion"),
        claim("Lovely!", worthiness="factual"),
    ]
    replies = {
        "1852": json.dumps({"worthiness": "factual", "reason": "a date"}),
        "Lovely": '{"worthiness": "nice"}',
    }
    with llm_server(script(replies)) as served:
        asked = LlmAnnotator(llm_settings(served), store, threading.Event())
        (died, lovely), failures = asked.worthiness("Who was she?", claims)
        assert (died.worthiness, died.worthiness_reason) == ("factual", "a date")
        assert lovely.worthiness == "factual"
        assert [f.kind for f in failures] == [
            "llm_failed"
        ] and "the result of the rules is kept" in failures[0].message
        before = len(served.requests)
        again, _ = asked.worthiness("Who was she?", claims[:1])
        assert again == [died] and len(served.requests) == before  # from the store
    assert asked.usage["worthiness"].cached == 1 and asked.versions["worthiness"].startswith(
        "worthiness.v3/tiny@"
    )


def test_only_factual_claims_are_asked_about_and_only_dependent_ones_are_rewritten(
    store: Store,
) -> None:
    claims = [
        claim("Ada Lovelace wrote notes.", worthiness="factual"),
        claim("She died in 1852.", worthiness="factual"),
        claim("Lovely!", worthiness="opinion"),
    ]
    replies = {
        "Ada Lovelace wrote notes.\n</data>": '{"independent": true}',
        "She died": '{"independent": false}',
    }
    with llm_server(script(replies)) as served:
        judged, failures = LlmAnnotator(
            llm_settings(served), store, threading.Event()
        ).independence("", claims)
        assert len(served.requests) == 2 and "conversation" not in str(served.requests)
    assert [c.independent for c in judged] == [True, False, None] and not failures
    with llm_server(script({"She died": '{"claim": "Ada Lovelace died in 1852."}'})) as served:
        enriched, failures = LlmAnnotator(
            llm_settings(served), store, threading.Event()
        ).enrichment("", ANSWER, judged)
        assert len(served.requests) == 1
    assert [c.enriched for c in enriched] == [
        None,
        "Ada Lovelace died in 1852.",
        None,
    ] and not failures


def test_whether_a_claim_is_independent_is_asked_with_the_conversation_before_it(
    store: Store,
) -> None:
    claims = [claim("She died in 1852.", worthiness="factual")]
    with llm_server(
        script({"She died": '{"independent": false, "reason": "which one"}'})
    ) as served:
        asked = LlmAnnotator(llm_settings(served), store, threading.Event())
        judged, failures = asked.independence("User: Who was Ada?", claims)
        assert "User: Who was Ada?" in str(served.requests[-1])
    assert [c.independent for c in judged] == [False] and not failures


@pytest.mark.parametrize(
    "reply", ['{"claim": ""}', json.dumps({"claim": "word " * 300}), "I'm sorry, I can't."]
)
def test_what_is_no_sentence_is_not_taken(store: Store, reply: str) -> None:
    claims = [
        claim(
            "She died in 1852.",
            worthiness="factual",
            independent=False,
            enriched="Ada died in 1852.",
        )
    ]
    with llm_server(script({"She died": reply})) as served:
        kept, failures = LlmAnnotator(llm_settings(served), store, threading.Event()).enrichment(
            "", ANSWER, claims
        )
    assert kept == claims and len(failures) == 1


def test_queries_are_tidied_and_a_claim_without_any_is_searched_itself(store: Store) -> None:
    claims = [
        claim(
            "Ada Lovelace wrote notes.",
            worthiness="factual",
            enriched="Ada Lovelace wrote notes on the engine.",
        ),
        claim("She died in 1852.", worthiness="factual"),
        claim("Lovely!", worthiness="opinion"),
    ]
    replies = {
        "on the engine": json.dumps(
            {"queries": [" Lovelace\nnotes ", "Lovelace notes", "…", "x" * 400, "b", "c"]}
        ),
        "1852": '{"queries": ["", "?!"]}',
    }
    with llm_server(script(replies)) as served:
        asked = LlmAnnotator(llm_settings(served), store, threading.Event())
        written, failures = asked.queries("Who was she?", claims)
        assert len(served.requests) == 2
    assert written == {claims[0].id: ("Lovelace notes", "b")}
    ((failure,),) = (failures,)
    assert (failure.stage, failure.kind, failure.subject) == (
        "queries",
        "llm_failed",
        "She died in 1852.",
    )
    assert "the claim itself is searched" in failure.message
    assert asked.usage["queries"].calls == 2 and asked.usage["queries"].prompt_tokens == 200


@pytest.mark.slow
@pytest.mark.usefixtures("warm_library")
def test_a_run_searches_what_the_model_writes_and_a_replay_keeps_it(store: Store) -> None:
    answer = "The Eiffel Tower was completed in 1889. The Nile is the longest river of Africa."
    replies = {
        "Eiffel": '{"queries": ["Eiffel Tower year of completion"]}',
        "Nile": "I would rather not.",
    }
    with llm_server(script(replies)) as served:
        chosen = llm_settings(served, query="llm")
        report = finished(run("", answer, chosen, store))
        served.requests.clear()
        replayed = finished(run("", answer, chosen, store, source=Snapshot.of(store, report.id)))
        assert served.requests == []
    tower, nile = ({e.query for e in report.evidence if e.claim_id == c.id} for c in report.claims)
    assert "Eiffel Tower year of completion" in tower and report.claims[1].statement in nile
    assert [(f.kind, f.subject) for f in report.failures] == [
        ("llm_failed", report.claims[1].text),
        ("llm_fell_back", "language model"),
    ]
    assert report.failures[1].instead == "the claims themselves"
    assert report.usage.llm["queries"].calls == 2 and report.versions["queries"].startswith(
        "queries.v1/tiny@"
    )
    assert comparable(replayed) == comparable(report)


def test_without_a_model_the_choice_is_named_and_nothing_runs(
    settings: Settings, store: Store
) -> None:
    assert QUERIES["llm"].missing(settings) == LLM.step and not QUERIES["claim"].missing(settings)
    with pytest.raises(Unavailable, match="no language model is configured"):
        list(run("", "The Nile is long.", settings.model_copy(update={"query": "llm"}), store))


def test_an_estimate_counts_every_prompt_that_is_still_to_be_asked(store: Store) -> None:
    answer = "The Eiffel Tower was completed in 1889. It is in Paris. Is it tall?"
    with llm_server(script({"": '{"worthiness": "factual"}'})) as served:
        prices = {"input_price": 1.0, "output_price": 2.0}
        by_llm = dict.fromkeys(("worthiness", "independence", "enrichment", "query"), "llm")
        chosen = llm_settings(served, segmenter="chen", **by_llm, **prices)
        before = estimate("Where is it?", answer, chosen, store=store)
        assert served.requests == []
        claims = [
            claim_.model_copy(update={"worthiness": None})
            for claim_ in before_claims(answer, chosen)
        ]
        LlmAnnotator(chosen, store, threading.Event()).worthiness("Where is it?", claims)
        after = estimate("Where is it?", answer, chosen, store=store)
    calls = {stage: used.calls for stage, used in before.llm.items()}
    assert calls == {
        "segment": 2,
        "worthiness": 3,
        "independence": 2,
        "enrichment": 1,
        "queries": 2,
    }
    assert all(
        used.prompt_tokens and used.completion_tokens and used.cost for used in before.llm.values()
    )
    assert after.llm["worthiness"].calls == 0 and after.llm["worthiness"].cached == 3
    assert after.llm["queries"].calls == 2


def before_claims(answer: str, chosen: Settings) -> tuple[Claim, ...]:
    return segment("", answer, chosen.model_copy(update={"segmenter": "sentences"})).claims


@pytest.mark.parametrize(
    ("task", "reply", "field", "value"),
    [
        ("worthiness", "3", "worthiness", "not_a_claim"),
        ("worthiness", "`4`", "worthiness", "other"),
        ("worthiness", "5", "worthiness", None),
        ("independence", '"not independent"', "independent", False),
        ("independence", "independent.", "independent", True),
        ("independence", "it depends", "independent", None),
        (
            "enrichment",
            'Revised claim: "Ada Lovelace died in 1852."',
            "enriched",
            "Ada Lovelace died in 1852.",
        ),
        ("enrichment", "I'm sorry, I cannot.", "enriched", None),
    ],
)
def test_replies_in_the_papers_form_are_read(
    store: Store, task: str, reply: str, field: str, value: object
) -> None:
    given = claim(
        "She died in 1852.",
        worthiness="factual",
        independent=False if task == "enrichment" else None,
    )
    with llm_server(lambda body: reply) as served:
        asked = LlmAnnotator(
            llm_settings(served, prompts="v24", llm_retries=0), store, threading.Event()
        )
        annotate = {"worthiness": asked.worthiness, "independence": asked.independence}.get(task)
        found, failures = (
            annotate("q", [given])
            if annotate
            else asked.enrichment("q", "She died in 1852.", [given])
        )
        assert "response_format" not in json.loads(served.requests[-1][3])
    assert bool(failures) == (value is None)
    assert getattr(found[0], field) == value or failures
