import pytest
from hypothesis import given
from hypothesis import settings as budget
from hypothesis import strategies as st

from attribution.retrieval.chunkers import CHUNKERS, Fixed, Recursive, with_context
from attribution.settings import Settings
from tests.make import page

ALPHABET = "ab .\n\té😀!?A.\u00a0\u0301\u200dשلا؟。」字\x85\u3000👩🏽"
TEXT = st.text(alphabet=st.sampled_from(ALPHABET), max_size=900) | st.text(max_size=300)


@pytest.mark.parametrize("name", CHUNKERS)
@given(TEXT, st.integers(64, 200), st.integers(0, 300))
@budget(max_examples=60)
def test_chunks_are_slices_that_hold_every_word(
    name: str, text: str, size: int, overlap: int
) -> None:
    p = page(text.encode("utf-8", "replace").decode())
    chosen = Settings(chunker=name, chunk_size=size, chunk_overlap=overlap)
    chunks = CHUNKERS.chosen(chosen).chunk(p)
    covered = bytearray(len(p.text))
    for c in chunks:
        assert p.text[c.start : c.end] == c.text == c.text.strip()
        assert 0 < len(c.text) <= size
        assert c.page_id == p.id
        covered[c.start : c.end] = b"\1" * len(c.text)
    assert all(
        character.isspace() for character, seen in zip(p.text, covered, strict=True) if not seen
    )
    starts = [c.start for c in chunks]
    assert starts == sorted(set(starts))
    if name == "fixed":  # they do not overlap
        assert all(a.end <= b.start for a, b in zip(chunks, chunks[1:], strict=False))


@pytest.mark.parametrize("size", [256, 512])
def test_words_stay_whole_and_sentences_where_they_can(size: int) -> None:
    text = "The river is long and wide. " * 100
    for chunk in Fixed(Settings(chunk_size=size)).chunk(page(text)):
        assert chunk.text.endswith("wide.")
        assert chunk.text.startswith("The")


def test_a_word_longer_than_a_chunk_is_cut() -> None:
    assert [len(c.text) for c in Fixed(Settings(chunk_size=64)).chunk(page("x" * 150))] == [
        64,
        64,
        22,
    ]


def test_neighbours_share_no_more_than_the_overlap() -> None:
    text = "The river is long and wide. " * 60
    chunks = Recursive(Settings(chunk_size=256, chunk_overlap=64)).chunk(page(text))
    shared = [a.end - b.start for a, b in zip(chunks, chunks[1:], strict=False)]
    assert max(shared) <= 64
    assert max(shared) > 20


def test_a_chunk_is_read_with_up_to_two_sentences_of_its_line_before_it() -> None:
    text = "A heading\nOne. They met. Their first film was Psycho. It was a success."

    def read_from(place: int) -> str:
        return text[slice(*with_context(text, place, len(text)))]

    assert read_from(text.index("It was")).startswith("They met. Their first")
    assert read_from(text.index("Their")).startswith("One. They met.")
    assert read_from(text.index("first film")).startswith("They met. Their")
    assert read_from(text.index("One.")).startswith("One.")
