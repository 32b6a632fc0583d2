"""Foreign text takes time in proportion to its length, whatever it is made of."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from attribution.text.prose import prose, states_nothing
from tests.security.scaling import is_linear, shapes


@pytest.mark.parametrize("work", [states_nothing, prose.__wrapped__])
def test_twice_the_text_takes_at_most_two_and_a_half_times_as_long(work: Callable[[str], object]) -> None:
    slow = [name for name, shape in shapes().items() if not is_linear(work, shape, 4_000)]
    assert not slow


def test_a_word_of_half_a_megabyte_is_read_like_any_other() -> None:
    for word in ("@", "a", " ", "a@b.", "[1", "“"):
        text = (word * 500_000)[:500_000]
        assert len(prose(text)) == len(text)
