from collections.abc import Sequence

import pytest

from attribution.evidence.judging import PlacedPassage, Reading, read
from attribution.evidence.steps import spoken
from attribution.types import Judgement, Pair, Probabilities
from attribution.verdicts import DecisionPolicy
from tests.make import claim, page


class Recorder:
    """Says what a test wants of a text, and keeps what it was asked."""

    version = "recorder"

    def __init__(self, **entailed: float) -> None:
        self.entailed = entailed
        self.pairs: list[Pair] = []

    def verify(self, pairs: Sequence[Pair]) -> list[Judgement]:
        self.pairs += pairs
        return [self._judgement(pair[1]) for pair in pairs]

    def _judgement(self, text: str) -> Judgement:
        support = max((p for word, p in self.entailed.items() if word in text), default=0.0)
        p = Probabilities(entailed=support, contradicted=0.0, no_relation=1 - support)
        return Judgement(p)


def case(text: str, statement: str = "The Nile is long.", **fields: object) -> Reading:
    whole = page(text, **fields)
    return Reading(claim(statement), [PlacedPassage(whole, 0, len(text))])


def test_a_passage_is_read_whole_and_once_with_the_title_of_its_page() -> None:
    verifier = Recorder()
    read([case("It is a river. It is in Africa.", title="Nile")], verifier, DecisionPolicy())
    assert verifier.pairs == [("The Nile is long.", "It is a river. It is in Africa.", "Nile")]


@pytest.mark.parametrize(
    ("text", "reads", "marked"),
    [
        ("It is a river. The Nile is quite long. It is in Africa.", 1, "The Nile is quite long."),
        ("The Nile is wide. It is a long river. It is quite long.", 4, "It is quite long."),
    ],
)
def test_the_sentence_that_says_it_is_marked(text: str, reads: int, marked: str) -> None:
    verifier = Recorder(quite=0.9)
    ((piece,),) = read([case(text)], verifier, DecisionPolicy())
    assert piece.relation == "entailed"
    assert piece.deciding_sentence == marked
    assert len(verifier.pairs) == reads  # the passage, and sentences unless one leads clearly
    assert {pair[2] for pair in verifier.pairs} == {"A title"}


def test_a_passage_that_only_leans_shows_the_sentence_that_leans_most() -> None:
    verifier = Recorder(quite=0.55)
    policy = DecisionPolicy(threshold=0.6)
    ((piece,),) = read([case("The Nile is wide.\n\nIt is quite long.")], verifier, policy)
    assert piece.relation == "no_relation"
    assert piece.deciding_sentence == "It is quite long."


def test_the_sentence_of_every_passage_is_one_of_its_own_however_it_was_read() -> None:
    text = "- The city has **two   million** people.[1]\n\nwww.nile.org\n\nThe Nile is quite long."
    shown = PlacedPassage(page(text), 0, len(text))
    ((piece,),) = read([Reading(claim("The Nile is long."), [shown])], Recorder(), DecisionPolicy())
    assert piece.deciding_sentence == "The Nile is quite long."


def test_a_passage_of_nothing_but_addresses_is_read_as_it_stands() -> None:
    verifier = Recorder()
    read([case("www.nile.org", title="")], verifier, DecisionPolicy())
    assert verifier.pairs == [("The Nile is long.", "www.nile.org")]


def test_a_plain_decision_reads_the_passage_alone_and_runs_no_step() -> None:
    policy = DecisionPolicy(decision="plain")
    verifier = Recorder(Nile=0.95)
    repeated = case("The Nile is 6,650 km long.", "The Nile is 6,650 km long.", title="Nile")
    ((piece,),) = read([repeated], verifier, policy)
    assert (piece.relation, piece.steps) == ("entailed", ())
    assert verifier.pairs == [("The Nile is 6,650 km long.", "The Nile is 6,650 km long.")]


def test_headings_that_a_claim_does_not_repeat_are_read_with_it() -> None:
    item = claim("Cost: 5 euros.", context=("Alder Ltd", "Cost"))
    assert spoken(item) == "Alder Ltd: Cost: 5 euros."
