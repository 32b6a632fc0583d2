from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pages.ui.html.diff import word_diff


def test_a_pronoun_replaced() -> None:
    assert word_diff("He died in 1980.", "Alfred Hitchcock died in 1980.") == [
        ("removed", "He"),
        ("added", "Alfred Hitchcock"),
        ("same", " died in 1980."),
    ]


@given(st.text(max_size=60), st.text(max_size=60))
def test_nothing_is_lost_on_either_side(before: str, after: str) -> None:
    made = word_diff(before, after)
    assert "".join(t for k, t in made if k != "added") == before
    assert "".join(t for k, t in made if k != "removed") == after
