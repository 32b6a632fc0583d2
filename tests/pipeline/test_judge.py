"""Verdicts on claims with given passages."""

from __future__ import annotations

import pytest

from attribution.errors import BadInput
from attribution.pipeline.judge import Passage, judge, read_each
from attribution.settings import Settings
from attribution.verifiers import VERIFIERS, Verifier
from tests.evidence.test_judging import Recorder
from tests.make import both

TOWER = "The Eiffel Tower in Paris was completed in 1889."
CLAIM = "The Eiffel Tower was completed in 1889."
BEES = "Honey bees dance to tell each other where the flowers are."


@pytest.fixture(scope="module")
def verifier() -> Verifier:
    return VERIFIERS.build("embedded-small", Settings())


def test_a_claim_gets_the_verdict_of_its_passages(verifier: Verifier) -> None:
    passages = ((BEES, TOWER), (BEES,), ())
    judged = [judge(CLAIM, some, verifier, both(0.45)) for some in passages]
    assert [j.verdict.label for j in judged] == ["supported", "no_relation", "missing"]
    assert [e.text for e in judged[0].evidence] == [BEES, TOWER]
    assert [e.relation for e in judged[0].evidence] == ["no_relation", "entailed"]


def test_pairs_are_read_as_judge_reads_them() -> None:
    pair = ("The **dam** has forty-two gates.", "It has 42 gates since 12.11.2004.[1]")
    recorder = Recorder(gates=0.9)
    judge(pair[0], [pair[1]], recorder, both(0.5))
    (piece,) = read_each([pair], recorder, both(0.5))
    assert getattr(piece, "relation", None) == "entailed"
    assert set(recorder.pairs) == {
        ("The dam has 42 gates.", "It has 42 gates since 12 November 2004.   ")
    }


def test_a_passage_given_twice_counts_once(verifier: Verifier) -> None:
    judged = judge(CLAIM, (TOWER, TOWER), verifier, both(0.45))
    assert len(judged.evidence) == 2
    assert judged.verdict.reason.startswith("1 of 1 passage")


def test_copies_and_passages_of_one_address_are_one_source(verifier: Verifier) -> None:
    against = "The Eiffel Tower was completed in 1925."
    copies = [
        {"text": f"{TOWER} {end}", "url": "https://a.example/tower"}
        for end in ("It is tall.", "A view!", "Go!")
    ]
    judged = judge(CLAIM, [*copies, against], verifier, both(0.45))
    assert len({e.source for e in judged.evidence}) == 2
    assert judged.verdict.label != "supported"


@pytest.mark.parametrize(
    ("passage", "found"),
    [
        (7, "is int"),
        ({"title": "t"}, "has an empty text"),
        (" ", "has an empty text"),
        ({"text": "a", "page": "b"}, "has a wrong 'page'"),
        ({"text": 1}, "has a wrong 'text'"),
    ],
)
def test_a_passage_of_another_form_is_refused(passage: object, found: str) -> None:
    with pytest.raises(BadInput, match=f'a passage {found}: expected "text" or'):
        Passage.of(passage)
