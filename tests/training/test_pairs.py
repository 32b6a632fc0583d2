import random

import pytest

from training.pairs import (
    CONTRADICTED,
    ENTAILED,
    NEITHER,
    in_one_sentence,
    joined,
    patterns,
    swapped,
)


def test_patterns_are_filled_whole_and_held_out_whole() -> None:
    made = patterns(random.Random(1))
    held = patterns(random.Random(1), held_out=True)
    assert not [pair for pair in made + held if "{" in pair.claim]
    assert not {pair.document for pair in made} & {pair.document for pair in held}
    assert {pair.target for pair in held} == {ENTAILED, NEITHER, CONTRADICTED}


def test_joined_claims_are_as_true_as_their_worse_half() -> None:
    made = joined(random.Random(1))
    held = joined(random.Random(1), held_out=True)
    assert not {pair.document for pair in made} & {pair.document for pair in held}
    assert {(pair.kind, pair.target) for pair in held} == {
        ("EE", ENTAILED),
        ("EN", NEITHER),
        ("EC", CONTRADICTED),
    }


def test_a_claim_in_which_two_things_changed_places_is_not_what_the_passage_says() -> None:
    made = swapped(random.Random(1))
    held = swapped(random.Random(1), held_out=True)
    assert not {pair.document for pair in made} & {pair.document for pair in held}
    for pair in held:
        assert (pair.target == ENTAILED) == (pair.kind == "kept")
        assert pair.kind == "kept" or pair.claim not in pair.premise


@pytest.mark.parametrize(
    ("second", "join", "text"),
    [
        ("The ferry has two decks.", " and {}", "The ferry was built in 1990 and has two decks."),
        (
            "The ferry has two decks.",
            "; {}",
            "The ferry was built in 1990; the ferry has two decks.",
        ),
        ("Oslo owns it.", ", while {}", "The ferry was built in 1990, while Oslo owns it."),
    ],
)
def test_a_subject_is_named_once(second: str, join: str, text: str) -> None:
    assert in_one_sentence("The ferry was built in 1990.", second, join) == text
