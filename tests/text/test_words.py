import pytest
from hypothesis import given
from hypothesis import strategies as st

from attribution.text.words import deciding_sentence, shared_words


def test_the_deciding_sentence_shares_most_with_the_claim() -> None:
    evidence = "The tower stands in Paris. It was finished in 1889. Millions visit it."
    a, b = deciding_sentence("The tower was finished in 1925.", evidence)
    assert evidence[a:b] == "It was finished in 1889."


def test_shared_words_are_a_share_of_the_claim() -> None:
    assert (
        shared_words("Gustave Eiffel built towers.", "The towers were built by Gustave Eiffel.")
        == 1.0
    )
    assert shared_words("Eiffel built bridges.", "Eiffel wrote letters.") == pytest.approx(1 / 3)
    assert shared_words("It is.", "Anything.") == 1.0


@given(st.text(min_size=1, max_size=80), st.text(min_size=1, max_size=200))
def test_any_text_has_a_share_and_a_sentence(claim: str, evidence: str) -> None:
    a, b = deciding_sentence(claim, evidence)
    assert 0 <= a <= b <= len(evidence)
    assert 0 <= shared_words(claim, evidence) <= 1
