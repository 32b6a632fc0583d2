from __future__ import annotations

from attribution.chunkers import Recursive
from attribution.settings import Settings
from tests.make import page


def test_paragraphs_stay_whole_where_they_fit() -> None:
    first, second = "A paragraph of some length. " * 4, "Another paragraph is here. " * 4
    chunks = Recursive(Settings(chunk_size=128, chunk_overlap=0)).chunk(page(f"{first}\n\n{second}"))
    assert [c.text for c in chunks] == [first.strip(), second.strip()]


def test_neighbours_share_no_more_than_the_overlap() -> None:
    text = "The river is long and wide. " * 60
    chunks = Recursive(Settings(chunk_size=256, chunk_overlap=64)).chunk(page(text))
    shared = [a.end - b.start for a, b in zip(chunks, chunks[1:], strict=False)]
    assert max(shared) <= 64 and max(shared) > 20
