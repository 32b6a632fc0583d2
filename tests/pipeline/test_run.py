import json
import threading
from typing import Any

import pytest

from attribution import events
from attribution.errors import BadInput, Unavailable
from attribution.pipeline.estimate import estimate
from attribution.pipeline.run import run
from attribution.settings import Settings
from attribution.store.store import Store
from attribution.types import Document, Report
from tests import make
from tests.llm_server import error, llm_server, llm_settings
from tests.make import check_claims, labels

QUESTION = "When was the Eiffel Tower finished?"
ANSWER = (
    "# The tower\n\nThe **Eiffel Tower** was completed in 1889. It was finished in 1925 by Thomas "
    "Edison.\n\n"
    "- I think it is beautiful.\n- The Eiffel Tower stands in Paris.\n\nLet me know if you need "
    "more!"
)
COMPLETED = "The Eiffel Tower was completed in 1889."
NOTE = Document(
    "tower.txt",
    b"The Eiffel Tower in Paris was completed in 1889. Gustave Eiffel's company built it.",
)


def finished(settings: Settings, store: Store, answer: str = ANSWER, **more: Any) -> Report:
    """The report of a run, with the library unless there are documents."""
    if "documents" in more:
        settings = settings.model_copy(update={"sources": ("documents", *more.pop("sources", ()))})
    return make.finished(run(QUESTION, answer, settings, store, **more))


def check_report(report: Report) -> None:
    """What every report promises: verbatim quotes at their place, a verdict for each claim."""
    pages = {page.id: page for page in report.pages}
    check_claims(report.answer, report.claims)
    assert {claim.id for claim in report.claims} == {v.claim_id for v in report.verdicts}
    for piece in report.evidence:
        start, end = piece.sentence
        assert pages[piece.page_id].text[piece.start : piece.end] == piece.text
        assert piece.start <= start < end <= piece.end


def test_a_document_supports_what_it_says_and_the_rest_is_told_apart(
    settings: Settings, store: Store
) -> None:
    report = finished(settings, store, documents=[NOTE])
    check_report(report)
    found = labels(report)
    assert found[COMPLETED] == "supported"
    assert found["I think it is beautiful."] == "not_checked"
    assert found["Let me know if you need more!"] == "not_checked"
    assert found["It was finished in 1925 by Thomas Edison."] != "supported"
    (page,) = report.pages
    assert page.url == "document:tower.txt"
    assert page.sha256
    assert page.fetched_at
    piece = next(e for e in report.evidence if e.relation == "entailed")
    assert page.text[slice(*piece.sentence)] == "The Eiffel Tower in Paris was completed in 1889."


def test_the_library_is_searched_and_provenance_is_whole(settings: Settings, store: Store) -> None:
    report = finished(settings, store)
    check_report(report)
    assert any(page.url == "library:eiffel-tower.md" for page in report.pages)
    assert {piece.searcher for piece in report.evidence} == {"library"}
    assert all(piece.query and piece.rank >= 1 for piece in report.evidence)
    assert store.runs.load(report.id) == report


def test_the_same_run_again_computes_nothing_and_says_the_same(
    settings: Settings, store: Store
) -> None:
    first, second = finished(settings, store), finished(settings, store)
    assert second.usage.cached_pairs == second.usage.pairs == first.usage.pairs > 0
    assert first.evidence == second.evidence
    assert first.verdicts == second.verdicts
    assert first.claims == second.claims


def test_events_come_in_order_and_every_claim_ends_with_a_verdict(
    settings: Settings, store: Store
) -> None:
    seen = list(run(QUESTION, ANSWER, settings, store))
    names = [type(event).__name__ for event in seen]
    assert names[0] == "RunStarted"
    assert seen[0].run_id == seen[-1].report.id
    assert names.index("Finished") == len(names) - 1
    assert names.index("ClaimsReady") < names.index("VerdictReady")
    report = seen[-1].report
    last = {e.verdict.claim_id: e.verdict for e in seen if isinstance(e, events.VerdictReady)}
    assert tuple(last[claim.id] for claim in report.claims) == report.verdicts


def test_a_stopped_run_keeps_what_it_has_and_says_so(settings: Settings, store: Store) -> None:
    stop = threading.Event()
    seen = []
    for event in run(QUESTION, ANSWER, settings, store, stop=stop):
        seen.append(event)
        if isinstance(event, events.ClaimsReady):
            stop.set()
    report = seen[-1].report
    assert report.stopped
    assert len(report.verdicts) == len(report.claims)
    stopped = [v.label for v in report.verdicts if "stopped" in v.reason]
    assert stopped
    assert set(stopped) == {"not_reached"}
    assert "missing" not in {v.label for v in report.verdicts}


def test_bad_pages_cost_no_more_than_themselves(settings: Settings, store: Store) -> None:
    sources = ("http://10.0.0.1/secret.html", "http://records.invalid/x", "file:///etc/passwd")
    broken = Document("broken.pdf", b"%PDF-1.4 nothing")
    report = finished(settings, store, documents=[NOTE, broken], sources=sources)
    kinds = {failure.subject: failure.kind for failure in report.failures}
    assert kinds == {
        "http://10.0.0.1/secret.html": "blocked_address",
        "http://records.invalid/x": "unreachable",
        "file:///etc/passwd": "bad_address",
        "broken.pdf": "unreadable",
    }
    assert labels(report)[COMPLETED] == "supported"


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ("", "empty"),
        (" \n", "empty"),
        ("x" * 20_001, "20,001 characters"),
        ("\x00\x01\x02\x03" * 10, "40 control characters"),
        ("Half \ud83d of a pair.", "not text"),
    ],
)
def test_input_that_is_no_answer_is_refused_before_anything_runs(
    settings: Settings, answer: str, message: str
) -> None:
    with pytest.raises(BadInput, match=message):
        run(QUESTION, answer, settings)
    with pytest.raises(BadInput, match=message):
        estimate(QUESTION, answer, settings)


def test_a_model_that_cannot_be_used_ends_a_run(
    settings: Settings, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    def gone(*_: object) -> None:
        raise Unavailable("the model is gone")

    monkeypatch.setattr("attribution.verifiers.reader.Reader.verify", gone)
    with pytest.raises(Unavailable, match="the model is gone"):
        finished(settings, store, documents=[NOTE])


def test_a_claim_the_verifier_refuses_costs_only_itself(settings: Settings, store: Store) -> None:
    long = f"The Eiffel Tower, {'which is tall and wide and old, ' * 60}was completed in 1889."
    report = finished(settings, store, f"{long}\n\n{ANSWER}", documents=[NOTE])
    assert labels(report)[COMPLETED] == "supported"
    assert [(f.stage, f.kind) for f in report.failures] == [("verify", "verifier_failed")]
    assert [label for text, label in labels(report).items() if len(text) > 1_000] == ["not_reached"]


def test_a_language_model_that_fails_leaves_sentences_and_rules_in_its_place(store: Store) -> None:
    with llm_server(lambda _: error(401, "bad key")) as served:
        chosen = llm_settings(served, segmenter="direct", worthiness="llm", llm_retries=0)
        report = finished(chosen, store, COMPLETED, documents=[NOTE])
    messages = {f.stage: f.message for f in report.failures if f.kind == "llm_failed"}
    assert "the sentences are kept as they are" in messages["segment"]
    assert "the result of the rules is kept" in messages["worthiness"]
    assert labels(report) == {COMPLETED: "supported"}


def test_claims_are_resolved_into_the_turns_before_the_question(
    settings: Settings, store: Store
) -> None:
    turns = (("user", "What is the Eiffel Tower?"), ("assistant", "An iron tower in Paris."))
    answer = "It was completed in 1889."
    report = finished(settings, store, answer, documents=[NOTE], context=turns)
    (claim,) = report.claims
    assert claim.enriched == COMPLETED
    assert labels(report) == {answer: "supported"}
    assert store.runs.load(report.id) == report
    assert json.loads(report.to_json())["context"] == [list(turn) for turn in turns]
