from collections.abc import Sequence

import pytest

from attribution.errors import BadInput
from attribution.types import Judgement, Pair, Probabilities
from attribution.verifiers.contrast import contrast

CLAIM = "The bridge was opened by Marcus Weber."
PASSAGE = "It spans the Golden Gate. The bridge was opened by Anna Keller. It was painted orange."
VARIANT = "The bridge was opened by Anna Keller."


def judgement(entailed: float, contradicted: float = 0.0, alone: float | None = None) -> Judgement:
    probabilities = Probabilities(
        entailed=entailed, contradicted=contradicted, no_relation=1 - entailed - contradicted
    )
    return Judgement(probabilities, (0, 5), against=alone)


class Told:
    """Entails as told, for each claim; every sentence by itself contradicts it."""

    def __init__(self, entailed: dict[str, float], alone: float = 0.9) -> None:
        self.entailed, self.alone, self.asked = entailed, alone, list[Pair]()

    def verify(self, pairs: Sequence[Pair]) -> list[Judgement]:
        self.asked += pairs
        return [judgement(self.entailed.get(pair[0], 0.0), 0.0, self.alone) for pair in pairs]


def test_a_passage_that_entails_the_claim_with_its_own_value_contradicts_the_claim() -> None:
    verifier = Told({CLAIM: 0.2, VARIANT: 0.8})
    ((found,),) = contrast([[((CLAIM, PASSAGE, "Bridges"), judgement(0.1, 0.3, 0.7))]], verifier)
    assert found.probabilities.contradicted == pytest.approx(0.8)
    assert PASSAGE[slice(*found.sentence)] == VARIANT
    assert found.signals["variant"] == 0.8
    assert found.difference == "the claim says “Marcus Weber”, the source “Anna Keller”"
    assert verifier.asked == [(CLAIM, VARIANT), (VARIANT, VARIANT), (VARIANT, VARIANT, "Bridges")]


@pytest.mark.parametrize(
    ("before", "entailed"),
    [
        (judgement(0.1, 0.3), {VARIANT: 0.9}),  # a verifier that does not read sentence by sentence
        (judgement(0.1, 0.3, 0.4), {VARIANT: 0.9}),  # no sentence seems to contradict it
        (judgement(0.1, 0.3, 0.7), {VARIANT: 0.4}),  # nor is the variant entailed
        (judgement(0.1, 0.3, 0.7), {VARIANT: 0.8, CLAIM: 0.6}),  # or not much more than the claim
        (judgement(0.1, 0.85, 0.9), {VARIANT: 0.8, CLAIM: 0.1}),  # it was surer before
        (
            judgement(0.6, 0.3, 0.7),
            {VARIANT: 0.8, CLAIM: 0.4},
        ),  # seems supported, and the variant is not sure
        (judgement(0.9, 0.0, 0.0), {VARIANT: 1.0, CLAIM: 0.0}),  # surely supported
    ],
)
def test_it_stays_as_it_was(before: Judgement, entailed: dict[str, float]) -> None:
    assert contrast([[((CLAIM, PASSAGE), before)]], Told(entailed)) == [[before]]


def test_a_passage_that_seems_to_support_the_claim_but_is_sure_of_the_variant_contradicts_it() -> (
    None
):
    verifier = Told({CLAIM: 0.5, VARIANT: 0.95}, alone=0.1)
    ((found,),) = contrast([[((CLAIM, PASSAGE), judgement(0.6, 0.1, 0.1))]], verifier)
    assert found.probabilities.contradicted == pytest.approx(0.95 / 1.45)
    assert found.probabilities.entailed == pytest.approx(0.5 / 1.45)


def test_where_another_passage_supports_the_claim_nothing_is_suspected() -> None:
    reads = [
        ((CLAIM, PASSAGE), judgement(0.1, 0.3, 0.7)),
        ((CLAIM, "Marcus Weber opened it."), judgement(0.9, 0.0, 0.0)),
    ]
    verifier = Told({VARIANT: 0.9})
    assert contrast([reads], verifier) == [[j for _, j in reads]] and not verifier.asked


@pytest.mark.parametrize(
    ("before", "alone"), [(judgement(0.1, 0.3, 0.7), 0.3), (judgement(0.6, 0.05, 0.05), 0.05)]
)
def test_variants_are_only_read_where_the_sentence_itself_speaks_against_the_claim(
    before: Judgement, alone: float
) -> None:
    verifier = Told({VARIANT: 1.0}, alone)
    assert contrast([[((CLAIM, PASSAGE), before)]], verifier) == [[before]]
    assert verifier.asked == [(CLAIM, VARIANT)]


def test_a_variant_must_hold_with_the_title_too() -> None:
    class Doubtful(Told):
        def verify(self, pairs: Sequence[Pair]) -> list[Judgement]:
            return [
                judgement(0.4 if len(pair) == 3 else j.probabilities.entailed, 0.0, self.alone)
                for pair, j in zip(pairs, super().verify(pairs), strict=True)
            ]

    before = judgement(0.1, 0.3, 0.7)
    assert contrast([[((CLAIM, PASSAGE, "Bridges"), before)]], Doubtful({VARIANT: 0.9})) == [
        [before]
    ]


@pytest.mark.parametrize("refused", [CLAIM, VARIANT])
def test_what_the_verifier_refuses_affects_no_other(refused: str) -> None:
    class Refusing(Told):
        def verify(self, pairs: Sequence[Pair]) -> list[Judgement]:
            if any(claim == refused for claim, *_ in pairs):
                raise BadInput("pair 1: the claim is too long")
            return super().verify(pairs)

    before = judgement(0.1, 0.3, 0.7)
    other = "The dam was opened by Marcus Weber."
    reads = [
        [((CLAIM, PASSAGE), before)],
        [],
        [((other, "The dam was opened by Anna Keller."), before)],
    ]
    first, none, (second,) = contrast(
        reads, Refusing({VARIANT: 0.8, "The dam was opened by Anna Keller.": 0.8})
    )
    assert first == [before] and not none
    assert second.probabilities.contradicted == pytest.approx(0.8)
