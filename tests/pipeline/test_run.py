import json
import threading
from pathlib import Path

import pytest

from attribution import events
from attribution.errors import BadInput, Unavailable
from attribution.pipeline.estimate import estimate
from attribution.pipeline.run import run
from attribution.settings import Settings
from attribution.store.store import Store
from attribution.types import Document, Report
from tests.llm_server import error, llm_server, llm_settings

pytestmark = pytest.mark.usefixtures("warm_library")

QUESTION = "When was the Eiffel Tower finished?"
ANSWER = (
    "# The tower\n\nThe **Eiffel Tower** was completed in 1889. It was finished in 1925 by Thomas "
    "Edison.\n\n"
    "- I think it is beautiful.\n- The Eiffel Tower stands in Paris.\n\nLet me know if you need "
    "more!"
)
NOTE = Document(
    "tower.txt",
    b"The Eiffel Tower in Paris was completed in 1889. Gustave Eiffel's company built it.",
)


def finished(settings: Settings, store: Store, answer: str = ANSWER, **more) -> Report:
    *_, last = run(QUESTION, answer, settings, store, **more)
    assert isinstance(last, events.Finished)
    return last.report


def faults(report: Report) -> list[str]:
    """Spans outside the answer, quotes that are not in their page, claims without a verdict,
    duplicates.
    """
    problems = []
    pages = {p.id: p for p in report.pages}
    for claim in report.claims:
        if not claim.text.strip() or not claim.spans:
            problems.append(f"claim {claim.id} is empty or has no span")
        if any(not 0 <= a < b <= len(report.answer) for a, b in claim.spans):
            problems.append(f"claim {claim.id} has a span outside the answer")
    if len({c.text for c in report.claims}) != len(report.claims):
        problems.append("the same claim twice")
    if {c.id for c in report.claims} != {v.claim_id for v in report.verdicts}:
        problems.append("a claim without verdict")
    for piece in report.evidence:
        page, (a, b) = pages[piece.page_id], piece.sentence
        if (
            page.text[piece.start : piece.end] != piece.text
            or not piece.start <= a < b <= piece.end
        ):
            problems.append(f"evidence of {piece.claim_id} is not verbatim in {page.url}")
    return problems


def test_a_document_supports_what_it_says_and_the_rest_is_told_apart(
    settings: Settings, store: Store
) -> None:
    report = finished(
        settings.model_copy(update={"sources": ("documents",)}), store, documents=[NOTE]
    )
    assert faults(report) == []
    labels = {c.text: v.label for c in report.claims for v in report.verdicts if v.claim_id == c.id}
    assert labels["The Eiffel Tower was completed in 1889."] == "supported"
    assert (
        labels["I think it is beautiful."]
        == labels["Let me know if you need more!"]
        == "not_checked"
    )
    assert labels["It was finished in 1925 by Thomas Edison."] != "supported"
    piece = next(e for e in report.evidence if e.relation == "entailed")
    page = next(p for p in report.pages if p.id == piece.page_id)
    assert page.url == "document:tower.txt"
    assert page.sha256
    assert page.fetched_at
    assert page.text[slice(*piece.sentence)] == "The Eiffel Tower in Paris was completed in 1889."


def test_the_library_is_searched_and_provenance_is_whole(settings: Settings, store: Store) -> None:
    report = finished(settings, store)
    assert faults(report) == []
    assert any(p.url == "library:eiffel-tower.md" for p in report.pages)
    assert all(e.query and e.searcher == "library" and e.rank >= 1 for e in report.evidence)
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
    names = [type(e).__name__ for e in seen]
    assert names[0] == "RunStarted"
    assert seen[0].run_id == seen[-1].report.id
    assert names[-1] == "Finished"
    assert names.count("Finished") == 1
    assert names.index("ClaimsReady") < names.index("VerdictReady")
    report = seen[-1].report
    last = {e.verdict.claim_id: e.verdict for e in seen if isinstance(e, events.VerdictReady)}
    assert tuple(last[c.id] for c in report.claims) == report.verdicts


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


def test_bad_pages_cost_no_more_than_themselves(
    settings: Settings, store: Store, tmp_path: Path
) -> None:
    sources = (
        "documents",
        "http://10.0.0.1/secret.html",
        "http://records.invalid/x",
        "file:///etc/passwd",
    )
    broken = Document("broken.pdf", b"%PDF-1.4 nothing")
    report = finished(
        settings.model_copy(update={"sources": sources}), store, documents=[NOTE, broken]
    )
    kinds = {f.subject: f.kind for f in report.failures}
    assert kinds["http://10.0.0.1/secret.html"] == "blocked_address"
    assert kinds["http://records.invalid/x"] == "unreachable"
    assert kinds["file:///etc/passwd"] == "bad_address"
    assert kinds["broken.pdf"] == "unreadable"
    assert any(v.label == "supported" for v in report.verdicts)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ("", "empty"),
        (" \n", "empty"),
        ("x" * 20_001, "20,001 characters"),
        ("\x00\x01\x02\x03" * 9, "not text"),
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
        finished(settings.model_copy(update={"sources": ("documents",)}), store, documents=[NOTE])


def test_a_claim_the_verifier_refuses_costs_only_itself(settings: Settings, store: Store) -> None:
    long = (
        "The Eiffel Tower in Paris, "
        + "which is tall and wide and old and known, " * 40
        + "was completed in 1889."
    )
    report = finished(
        settings.model_copy(update={"sources": ("documents",)}),
        store,
        f"{long}\n\n{ANSWER}",
        documents=[NOTE],
    )
    labels = {c.text: v for c in report.claims for v in report.verdicts if v.claim_id == c.id}
    assert labels["The Eiffel Tower was completed in 1889."].label == "supported"
    assert [(f.stage, f.kind) for f in report.failures] == [("verify", "verifier_failed")]
    assert [v.label for text, v in labels.items() if len(text) > 1000] == ["not_reached"]


def test_a_language_model_that_fails_leaves_a_notice_with_what_was_used_instead(
    store: Store,
) -> None:
    with llm_server(lambda _: error(401, "bad key")) as served:
        chosen = llm_settings(
            served, sources=("documents",), segmenter="direct", worthiness="llm", llm_retries=0
        )
        report = finished(
            chosen, store, "The Eiffel Tower was completed in 1889.", documents=[NOTE]
        )
    notices = {f.stage: f for f in report.failures if f.kind == "llm_fell_back"}
    assert {stage: f.instead for stage, f in notices.items()} == {
        "segment": "the sentences as they are",
        "worthiness": "the rules",
    }
    assert "key" in notices["segment"].message
    assert [v.label for v in report.verdicts] == ["supported"]
    assert '"instead": "the rules"' in report.to_json()


def test_claims_are_resolved_into_the_turns_before_the_question(
    settings: Settings, store: Store
) -> None:
    turns = (("user", "What is the Eiffel Tower?"), ("assistant", "An iron tower in Paris."))
    own = settings.model_copy(update={"sources": ("documents",)})
    *_, last = run(
        "When was it built?", "It was completed in 1889.", own, store, [NOTE], context=turns
    )
    assert isinstance(last, events.Finished)
    (claim,) = last.report.claims
    assert claim.enriched == "The Eiffel Tower was completed in 1889."
    assert last.report.verdicts[0].label == "supported"
    assert store.runs.load(last.report.id) == last.report
    assert last.report.context == turns
    assert json.loads(last.report.to_json())["context"] == [list(turn) for turn in turns]
    assert "context" not in json.loads(finished(own, store, documents=[NOTE]).to_json())
