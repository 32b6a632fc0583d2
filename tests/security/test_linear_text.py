"""Foreign text takes time in proportion to its length, whatever it is made of."""

from __future__ import annotations

import itertools

from attribution.text.diff import Diff
from attribution.text.prose import prose
from tests.security.patterns import made_within_functions, uses
from tests.security.scaling import is_linear, shapes

WITHIN_FUNCTIONS = {
    "attribution.citations.marks.author",  # a name of at most 61 characters, in 120
    "attribution.citations.reading._is_named",  # a file's name, letter by letter
    "attribution.claims.rules.compile_any",  # of the program's own data; what it makes is measured
}


def test_every_pattern_reads_twice_the_text_in_at_most_two_and_a_half_times_as_long() -> None:
    slow = [
        f"{use.name} on {name}"
        for use in uses()
        for name, shape in shapes().items()
        if not is_linear(use, shape, 2_000)
    ]
    assert not slow


def test_no_pattern_is_made_where_it_is_not_measured() -> None:
    assert set(made_within_functions()) == WITHIN_FUNCTIONS


def test_a_word_of_half_a_megabyte_is_read_like_any_other() -> None:
    for word in ("@", "a", " ", "a@b.", "[1", "“"):
        text = (word * 500_000)[:500_000]
        assert len(prose(text)) == len(text)


def test_texts_that_have_the_same_words_in_many_places_are_compared_only_so_far() -> None:
    old, new = list("ab" * 10_000), list("ba" * 10_000)
    codes = Diff(old, new).get_opcodes()
    assert list(itertools.chain(*(new[c:d] for _, _, _, c, d in codes))) == new
