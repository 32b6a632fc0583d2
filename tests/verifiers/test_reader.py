import pytest

from attribution.errors import BadInput
from attribution.settings import Settings
from attribution.verifiers import VERIFIERS
from attribution.verifiers.reader import WINDOW

NAMES = ("embedded-base", "embedded-small")
BRIDGE = "The bridge was opened in 1932. It is 503 metres long."
FILLER = "The library keeps maps, letters and photographs of the harbour. " * 60


@pytest.fixture(scope="module", params=NAMES)
def verifier(request: pytest.FixtureRequest):  # type: ignore[no-untyped-def]
    return VERIFIERS.build(request.param, Settings())


def test_a_pair_has_the_probabilities_of_three_relations(verifier) -> None:  # type: ignore[no-untyped-def]
    (judgement,) = verifier.verify([("The bridge is 503 metres long.", BRIDGE)])
    p = judgement.probabilities
    assert p.entailed + p.contradicted + p.no_relation == pytest.approx(1)
    assert p.entailed > 0.5


def test_a_pair_is_read_the_same_alone_and_among_others(verifier) -> None:  # type: ignore[no-untyped-def]
    pairs = [("The bridge was opened in 1932.", BRIDGE), ("Maps are kept.", FILLER)]
    assert verifier.verify(pairs) == [verifier.verify([pair])[0] for pair in pairs]


def test_a_long_passage_is_read_to_its_end(verifier) -> None:  # type: ignore[no-untyped-def]
    assert len(FILLER.split()) > 2 * WINDOW
    claim = "The bridge was opened in 1932."
    (without,) = verifier.verify([(claim, FILLER)])
    (behind,) = verifier.verify([(claim, FILLER + BRIDGE)])
    assert behind.probabilities.entailed > without.probabilities.entailed


def test_the_title_of_the_page_is_read(verifier) -> None:  # type: ignore[no-untyped-def]
    claim = "The Lorne Bridge was opened in 1932."
    (others,) = verifier.verify([(claim, BRIDGE, "Osen Harbour and its ferries")])
    (own,) = verifier.verify([(claim, BRIDGE, "Lorne Bridge")])
    assert own.probabilities.entailed > others.probabilities.entailed


def test_a_claim_that_leaves_no_room_is_refused(verifier) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(BadInput, match="segment it first"):
        verifier.verify([("word " * 200, BRIDGE)])
