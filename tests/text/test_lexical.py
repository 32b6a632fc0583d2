from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attribution.text.lexical import deciding_sentence, sentences, shared_words


@given(st.text(max_size=300))
def test_sentences_are_trimmed_ordered_and_lose_no_letter(text: str) -> None:
    spans = sentences(text)
    assert all(text[a:b].strip() == text[a:b] != "" for a, b in spans)
    assert all(first[1] <= second[0] for first, second in zip(spans, spans[1:], strict=False))
    inside = {i for a, b in spans for i in range(a, b)}
    assert all(c.isspace() for i, c in enumerate(text) if i not in inside)


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("Dr. Smith met J. R. R. Tolkien. They talked.", 2),
        ("It cost 3.5 million. It was cheap!", 2),
        ("One line\nanother line", 2),
        ("no end", 1),
        ("", 0),
    ],
)
def test_sentence_ends(text: str, count: int) -> None:
    assert len(sentences(text)) == count


def test_the_deciding_sentence_shares_most_with_the_claim() -> None:
    evidence = "The tower stands in Paris. It was finished in 1889. Millions visit it."
    a, b = deciding_sentence("The tower was finished in 1925.", evidence)
    assert evidence[a:b] == "It was finished in 1889."


def test_shared_words_are_a_share_of_the_claim() -> None:
    assert shared_words("Gustave Eiffel built towers.", "The towers were built by Gustave Eiffel.") == 1.0
    assert shared_words("Eiffel built bridges.", "Eiffel wrote letters.") == pytest.approx(1 / 3)
    assert shared_words("It is.", "Anything.") == 1.0


@given(st.text(min_size=1, max_size=80), st.text(min_size=1, max_size=200))
def test_any_text_has_a_share_and_a_sentence(claim: str, evidence: str) -> None:
    a, b = deciding_sentence(claim, evidence)
    assert 0 <= a <= b <= len(evidence)
    assert 0 <= shared_words(claim, evidence) <= 1
