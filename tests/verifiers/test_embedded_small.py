from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from attribution.errors import BadInput
from attribution.settings import Settings
from attribution.types import Probabilities
from attribution.verdicts import relation
from attribution.verifiers.embedded_small import EmbeddedSmall, by_sentence, windows
from tests.make import both

FACT = "Alfred Hitchcock was born in Leytonstone, then part of Essex, on 13 August 1899."
FILLER = "The harbour was quiet that morning and the boats had not yet come in. "


@pytest.fixture(scope="module")
def embedded() -> EmbeddedSmall:
    return EmbeddedSmall(Settings())


@pytest.mark.parametrize(
    ("claim", "expected"),
    [
        ("Hitchcock was born in 1899.", "entailed"),
        ("Alfred Hitchcock was born in 1925.", "contradicted"),
        ("The price of copper rose in Chile.", "no_relation"),
    ],
)
def test_plain_cases(embedded: EmbeddedSmall, claim: str, expected: str) -> None:
    assert relation(embedded.verify([(claim, FACT)])[0].probabilities, both(0.5)) == expected


def test_a_pair_alone_and_in_a_batch_gives_the_same(embedded: EmbeddedSmall) -> None:
    pairs = [
        ("Hitchcock was born in 1899.", FACT),
        ("Boats came in.", FILLER * 5),
        ("A.", "B c d."),
        ("x" * 50, FACT * 9),
    ] * 3
    together = embedded.verify(pairs)
    for pair, judged in zip(pairs, together, strict=True):
        alone = embedded.verify([pair])[0].probabilities
        assert abs(alone.entailed - judged.probabilities.entailed) < 0.01
        assert abs(alone.contradicted - judged.probabilities.contradicted) < 0.01


def test_a_fact_at_the_end_of_a_long_premise_is_read(embedded: EmbeddedSmall) -> None:
    judged = embedded.verify([("Hitchcock was born in 1899.", FILLER * 60 + FACT)])[0]
    evidence = FILLER * 60 + FACT
    assert evidence[slice(*judged.sentence)] == FACT
    assert judged.signals["passage_entailed"] > 0.5


class ByText:
    """An encoder whose readings are given for each sentence."""

    def __init__(self, found: dict[str, tuple[float, float]]) -> None:
        self.found = found

    def encode(self, text: str) -> tuple[list[int], list[tuple[int, int]]]:
        return [ord(c) for c in text], []

    def read(self, premise: list[int], claim: list[int]) -> SimpleNamespace:
        entailed, contradicted = self.found["".join(map(chr, premise)).strip()]
        return SimpleNamespace(entailed=entailed, contradicted=contradicted)


def test_a_contradiction_has_to_hold_for_a_sentence_and_against_the_others() -> None:
    first, second, third = "The tower is tall.", "The tower was sold in 1990.", "It rained."
    claim, text = "The tower was sold.", f"{first} {second} {third}"

    def read(
        passage: tuple[float, float], found: dict[str, tuple[float, float]]
    ) -> tuple[Probabilities, str]:
        entailed, contradicted = passage
        whole = Probabilities(
            entailed=entailed, contradicted=contradicted, no_relation=1 - entailed - contradicted
        )
        read, span, signals = by_sentence(ByText(found), claim, text, whole, (0, 1))
        assert signals["sentence_entailed"] == max(e for e, _ in found.values())
        return read, text[slice(*span)].strip()

    read_again, sentence = read((0.3, 0.6), {first: (0.0, 0.2), second: (0.5, 0.1)})
    assert read_again.contradicted == pytest.approx(
        0.2 * 0.5
    ) and read_again.entailed == pytest.approx(0.4)
    assert sentence == second
    assert (
        read((0.0, 0.8), {first: (0.0, 0.2), second: (0.1, 0.1)})[1] == text[0]
    )  # nothing decides: as it was
    read_again, sentence = read((0.0, 0.9), {first: (0.0, 0.95), second: (0.0, 0.1)})
    assert read_again.contradicted == pytest.approx(0.9) and sentence == first
    assert read_again.no_relation == pytest.approx(0.1)


def test_a_passage_of_one_sentence_is_read_once() -> None:
    whole = Probabilities(entailed=0.9, contradicted=0.05, no_relation=0.05)
    assert by_sentence(ByText({}), "A tower fell.", "The tower fell.", whole, (0, 3)) == (
        whole,
        (0, 3),
        {},
    )


@pytest.mark.parametrize(
    ("claim", "evidence", "message"),
    [
        ("", FACT, "claim is empty"),
        ("Claim.", " \n", "evidence is empty"),
        ("word " * 20_000, FACT, "at most"),
        ("é " * 500, FACT, "tokens"),
        ("Claim.", "x" * 300_000, "at most"),
    ],
)
def test_what_cannot_be_judged_is_a_typed_error(
    embedded: EmbeddedSmall, claim: str, evidence: str, message: str
) -> None:
    with pytest.raises(BadInput, match=message):
        embedded.verify([(claim, evidence)])


@hypothesis_settings(max_examples=25)
@given(claim=st.text(min_size=1, max_size=60), evidence=st.text(min_size=1, max_size=300))
def test_any_text_gets_a_relation_or_a_typed_error(claim: str, evidence: str) -> None:
    try:
        judged = EmbeddedSmall(Settings()).verify([(claim, evidence)])[0]
    except BadInput:
        return
    assert 0 <= judged.sentence[0] <= judged.sentence[1] <= len(evidence)


@given(st.lists(st.integers(1, 60), min_size=1, max_size=40), st.integers(20, 200))
def test_windows_hold_every_token_and_fit(lengths: list[int], room: int) -> None:
    offsets, spans, at = [], [], 0
    for n in lengths:
        spans.append((at, at + 2 * n))
        offsets += [(at + 2 * i, at + 2 * i + 1) for i in range(n)]
        at += 2 * n
    made = windows(offsets, spans, room)
    assert all(0 < b - a <= room for a, b in made)
    assert {i for a, b in made for i in range(a, b)} == set(range(len(offsets)))
    assert len(made) <= 2 + 2 * len(offsets) // room * 3
