from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attribution.chunkers import Fixed
from attribution.settings import Settings
from tests.make import page

TEXT = st.text(alphabet=st.sampled_from("ab .\n\té😀!?"), max_size=900)


@given(TEXT, st.integers(64, 200))
def test_chunks_are_slices_that_hold_every_word(text: str, size: int) -> None:
    p = page(text)
    chunks = Fixed(Settings(chunk_size=size)).chunk(p)
    covered: set[int] = set()
    for c in chunks:
        assert p.text[c.start : c.end] == c.text == c.text.strip()
        assert 0 < len(c.text) <= size
        assert not covered & set(range(c.start, c.end))
        covered |= set(range(c.start, c.end))
    assert all(c.isspace() for i, c in enumerate(text) if i not in covered)


@pytest.mark.parametrize("size", [256, 512])
def test_words_stay_whole_and_sentences_where_they_can(size: int) -> None:
    text = "The river is long and wide. " * 100
    for chunk in Fixed(Settings(chunk_size=size)).chunk(page(text)):
        assert chunk.text.endswith("wide.") and chunk.text.startswith("The")


def test_a_word_longer_than_a_chunk_is_cut() -> None:
    assert [len(c.text) for c in Fixed(Settings(chunk_size=64)).chunk(page("x" * 150))] == [64, 64, 22]
