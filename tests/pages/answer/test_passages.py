"""Passages: what they say, and where they differ from the claim."""

from __future__ import annotations

from pages.ui.answer.passages import differences


def test_numbers_and_names_that_differ_are_boxed() -> None:
    left, right = "He met David Livingstone in 1864.", "In 1864 he met Richard Burton."
    assert [left[a:b] for a, b in differences(left, right)] == ["David Livingstone"]
    assert [right[a:b] for a, b in differences(right, left)] == ["Richard Burton"]
    assert differences("It has 9,000 banks.", "9000 banks closed in 1933.") == []
    assert differences("It died in 1975.", "It died in 1977.") == [(11, 15)]
