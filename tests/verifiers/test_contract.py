"""Every verifier that needs no download: one judgement for each pair, in order, with a sentence of the evidence."""

from __future__ import annotations

import pytest

from attribution.errors import BadInput
from attribution.registry import build
from attribution.settings import Settings
from attribution.verifiers import VERIFIERS, Verifier

NAMES = [name for name, entry in VERIFIERS.items() if not entry.needs]
EVIDENCE = "The harbour was quiet. The Eiffel Tower was completed in 1889. It stands in Paris, France."
PAIRS = [
    ("The Eiffel Tower was completed in 1889.", EVIDENCE),
    ("Der Turm steht in Paris. 😀", EVIDENCE, "Eiffel Tower"),
    ("x", "y"),
    ("The tower is red.", "One. " * 400),
]


@pytest.fixture(scope="module", params=NAMES)
def verifier(request: pytest.FixtureRequest) -> Verifier:
    built: Verifier = build(VERIFIERS, request.param, Settings(), "verifier")
    return built


def test_each_pair_gets_probabilities_and_a_sentence_of_its_evidence(verifier: Verifier) -> None:
    judgements = verifier.verify(PAIRS)
    assert len(judgements) == len(PAIRS) and verifier.version
    for pair, judgement in zip(PAIRS, judgements, strict=True):
        assert sum(judgement.probabilities.model_dump().values()) == pytest.approx(1)
        start, end = judgement.sentence
        assert 0 <= start < end <= len(pair[1])
    assert verifier.verify(PAIRS[:1])[0].probabilities == judgements[0].probabilities
    assert verifier.verify([]) == []


@pytest.mark.parametrize("pair", [("", EVIDENCE), ("A claim.", " \n")])
def test_an_empty_text_is_refused(verifier: Verifier, pair: tuple[str, str]) -> None:
    with pytest.raises(BadInput, match="empty"):
        verifier.verify([pair])
