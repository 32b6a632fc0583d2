from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attribution.verifiers.lexical import deciding_sentence, sentences, signals


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


def test_numbers_names_and_negation_are_told_apart() -> None:
    same = signals("Gustave Eiffel built two towers in 1889.", "In 1889 Gustave Eiffel built 2 towers.", (0, 37))
    assert same["words"] == same["numbers"] == same["names"] == 1.0 and same["negation"] == 0.0
    other = signals("Eiffel did not build it in 1890.", "Eiffel built it in 1889.", (0, 24))
    assert other["numbers"] == 0.0 and other["negation"] == 1.0


@given(st.text(min_size=1, max_size=80), st.text(min_size=1, max_size=200))
def test_any_text_has_signals_and_a_sentence(claim: str, evidence: str) -> None:
    a, b = deciding_sentence(claim, evidence)
    assert 0 <= a <= b <= len(evidence)
    assert all(0 <= v <= 2 for v in signals(claim, evidence, (a, b)).values())
