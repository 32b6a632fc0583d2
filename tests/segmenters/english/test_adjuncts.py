from __future__ import annotations

import pytest

from attribution.segmenters.english.modifiers import is_certain, split_adjuncts, split_nationality
from tests.segmenters.parses import repaired, token, whole, written


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("She was a French chemist.", ["She was a chemist.", "She was French."]),
        ("It was a small planet.", ["It was a small planet."]),
        ("She met a French chemist.", ["She met a French chemist."]),
    ],
)
def test_nationality_is_a_statement_of_its_own(text: str, expected: list[str]) -> None:
    doc = repaired(text)
    assert written(doc, split_nationality(doc, whole(doc))) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("He died in Paris in 1980.", ["He died in Paris.", "He died in 1980."]),
        ("He died in 1980.", ["He died in 1980."]),
        ("He did not die in Paris in 1980.", ["He did not die in Paris in 1980."]),
        ("He lived in Rome and Paris in 1980.", ["He lived in Rome and Paris in 1980."]),
    ],
)
def test_dates_and_places_are_separated(text: str, expected: list[str]) -> None:
    doc = repaired(text)
    assert written(doc, split_adjuncts(doc, whole(doc))) == expected


@pytest.mark.parametrize(
    ("text", "certain"),
    [("He died in 1980.", True), ("He died in Paris.", True), ("He died in May.", True), ("He died in bed.", False)],
)
def test_dates_and_names_are_certain(text: str, certain: bool) -> None:
    assert is_certain(token(repaired(text), "in")) is certain
