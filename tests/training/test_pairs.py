import random

from training.pairs import CONTRADICTED, ENTAILED, NEITHER, SHARES, patterns


def test_shares_add_up_to_one() -> None:
    assert round(sum(SHARES.values()), 6) == 1


def test_patterns_are_filled_whole_and_held_out_whole() -> None:
    made = patterns(random.Random(1))
    held = patterns(random.Random(1), held_out=True)
    assert not [pair for pair in made + held if "{" in pair.claim]
    assert not {pair.document for pair in made} & {pair.document for pair in held}
    assert {pair.target for pair in held} == {ENTAILED, NEITHER, CONTRADICTED}
