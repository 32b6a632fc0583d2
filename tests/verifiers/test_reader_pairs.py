import pytest

from attribution.errors import BadInput
from attribution.types import Judgement, Pair, Probabilities
from attribution.verifiers.reader import CLAIM_CHARACTERS, check_pairs, one_by_one


class Picky:
    """Refuses texts with an x, as a verifier refuses what is too long."""

    def verify(self, pairs: list[Pair]) -> list[Judgement]:
        for number, pair in enumerate(pairs, 1):
            if "x" in pair[0]:
                raise BadInput(f"pair {number}: an x")
        certain = Probabilities(entailed=1, contradicted=0, no_relation=0)
        return [Judgement(certain) for _ in pairs]


def test_a_refused_pair_does_not_affect_the_others() -> None:
    results = one_by_one(Picky().verify, [("a", "t"), ("x", "t"), ("b", "t")])
    assert [isinstance(result, Judgement) for result in results] == [True, False, True]
    assert str(results[1]) == "an x"


@pytest.mark.parametrize(
    ("pair", "problem"),
    [
        ((" ", "A text."), "the claim is empty"),
        (("A claim.", ""), "the evidence is empty"),
        (("a" * (CLAIM_CHARACTERS + 1), "A text."), "characters of claim"),
    ],
)
def test_what_cannot_be_read_is_named(pair: Pair, problem: str) -> None:
    with pytest.raises(BadInput, match=problem):
        check_pairs([("A claim.", "A text."), pair])
