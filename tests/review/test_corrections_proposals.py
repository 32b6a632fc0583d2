import json
import threading
from collections.abc import Sequence
from typing import Any

import pytest

from attribution.errors import BadInput, UnknownName
from attribution.policy import DecisionPolicy
from attribution.review.correction import apply
from attribution.review.corrections import Premise, RuleCorrector, best, correctable, propose
from attribution.settings import Settings
from attribution.store.store import Store
from attribution.types import Judgement, Pair, Probabilities
from attribution.verifiers import policy_of
from tests.llm_server import asked, llm_server, llm_settings
from tests.review.make import claim, report

ANSWER = "The tower was finished in 1890. It is 330 m high."
FALSE, TRUE = (
    claim(ANSWER, words) for words in ("The tower was finished in 1890.", "It is 330 m high.")
)
REPORT = report(ANSWER, (FALSE, "contradicted"), (TRUE, "supported"))


def test_an_edit_that_the_verifier_supports(settings: Settings, store: Store) -> None:
    assert correctable(REPORT) == (FALSE,)
    (proposal,) = propose(REPORT, correctable(REPORT), settings, store)
    correction = proposal.correction
    assert correction and correction.after == "The tower was finished in 1889."
    assert apply(ANSWER, correction.edits) == ANSWER.replace("1890", "1889")
    assert correction.probability >= policy_of(settings).support and correction.verifier.startswith(
        "embedded-small/"
    )
    page = REPORT.pages[0]
    assert (
        page.text[slice(*correction.sentence)]
        == correction.quote
        == "The tower was finished in 1889."
    )


def test_no_edit_that_the_verifier_does_not_support(settings: Settings, store: Store) -> None:
    other = REPORT.pages[0].model_copy(
        update={"text": "Nobody knows why 1889 was a good year for wine."}
    )
    piece = REPORT.evidence[0].model_copy(
        update={"text": other.text, "end": len(other.text), "page_id": other.id}
    )
    made = REPORT.model_copy(update={"pages": (other,), "evidence": (piece,)})
    (proposal,) = propose(made, [FALSE], settings, store)
    assert proposal.correction is None and "No small change" in proposal.reason


def test_no_edit_that_another_passage_contradicts(settings: Settings, store: Store) -> None:
    page = REPORT.pages[0].model_copy(
        update={"id": "q", "text": "The tower was finished in 1875, not in 1889."}
    )
    against = REPORT.evidence[0].model_copy(
        update={"page_id": "q", "text": page.text, "end": len(page.text), "relation": "no_relation"}
    )
    made = REPORT.model_copy(
        update={"pages": (*REPORT.pages, page), "evidence": (REPORT.evidence[0], against)}
    )
    (proposal,) = propose(made, [FALSE], settings, store)
    assert proposal.correction is None or "1889" not in proposal.correction.after


@pytest.mark.parametrize(
    ("claimed", "corrected", "proposed"),
    [(0.1, 0.6, True), (0.1, 0.45, False), (0.35, 0.6, False), (0.35, 0.7, True)],
)
def test_a_correction_must_be_sure_and_far_ahead_of_the_claim(
    claimed: float, corrected: float, proposed: bool
) -> None:
    wording = "The tower was finished in 1889."

    def judgement(entailed: float) -> Judgement:
        return Judgement(
            Probabilities(entailed=entailed, contradicted=0.0, no_relation=1 - entailed), (0, 1)
        )

    class Told:
        def verify(self, pairs: Sequence[Pair]) -> list[Judgement]:
            return [judgement(corrected if pair[0] == wording else claimed) for pair in pairs]

    found = best(
        FALSE.text, [Premise(wording)], RuleCorrector(Settings()), Told(), DecisionPolicy(0.4, 0.54)
    )
    assert (found is not None) == proposed


def test_a_stop_and_bad_input(settings: Settings, store: Store) -> None:
    stop = threading.Event()
    stop.set()
    assert list(propose(REPORT, [FALSE], settings, store, stop=stop)) == []
    with pytest.raises(BadInput, match="not in this run"):
        list(propose(REPORT, [claim("Another.", "Another.", id="x")], settings, store))
    with pytest.raises(UnknownName, match="expected one of rule, llm"):
        list(propose(REPORT, [FALSE], settings, store, "nobody"))


def test_a_language_model_proposes_and_the_verifier_decides(store: Store) -> None:
    def script(body: dict[str, Any]) -> str:
        assert "1889" in asked(body)
        wordings = [
            "The tower was finished in 1891.",
            "The tower was finished in 1889.",
            "The bridge was finished in 1889.",
        ]
        return json.dumps({"claims": wordings})

    with llm_server(script) as served:
        settings = llm_settings(served, verifier="embedded-small")
        (proposal,) = propose(REPORT, [FALSE], settings, store, "llm")
    assert proposal.correction and proposal.correction.after == "The tower was finished in 1889."
    assert proposal.correction.corrector.startswith("correction.v1/tiny@")
