from __future__ import annotations

import pytest

from attribution.segmenters.english.listing import opens_list, pieces
from attribution.segmenters.english.tree import conjuncts
from attribution.text.parse import parse
from tests.segmenters.parses import repaired, token


@pytest.mark.parametrize(
    ("text", "opener", "expected"),
    [
        ("Symptoms include fever, cough, and pain.", "include", ["fever", "cough", "pain"]),
        ("Symptoms include fever, cough and pain.", "include", ["fever", "cough", "pain"]),
        ("Tools such as R, SPSS, or Stata help.", "as", ["R", "SPSS", "Stata"]),
        ("It has a strong, persistent urge, fever, and pain.", "has", ["a strong, persistent urge", "fever", "pain"]),
        ("It includes rest; tea, milk; and sleep.", "includes", ["rest", "tea, milk", "sleep"]),
        ("It includes fever.", "includes", []),
        ("INCLUDING", "INCLUDING", []),
        ("It includes fever, cough,", "includes", []),
    ],
)
def test_the_pieces_between_the_commas(text: str, opener: str, expected: list[str]) -> None:
    doc = parse(text)
    found = pieces(doc, token(doc, opener).i + 1, verbal=opener not in {"as"})
    assert [doc[a:b].text for a, b in found] == expected


@pytest.mark.parametrize(
    ("text", "word", "opens"),
    [("They include A.", "include", True), ("Tools such as A help.", "as", True), ("He acts as A.", "as", False),
     ("Tools like R help.", "like", True), ("They like R.", "like", False)],
)  # fmt: skip
def test_words_that_open_a_list(text: str, word: str, opens: bool) -> None:
    assert opens_list(token(parse(text), word)) is opens


def test_a_list_is_chained_wherever_the_parser_attached_its_pieces() -> None:
    doc = repaired("Symptoms can include a burning sensation, passing small amounts of urine, and cloudy urine.")
    assert [t.text for t in conjuncts(token(doc, "sensation"))] == ["sensation", "passing", "urine"]
    assert token(doc, "sensation").head.text == "include"
