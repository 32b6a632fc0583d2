from __future__ import annotations

import pytest

from attribution.segmenters.english import modifiers
from attribution.segmenters.english.drafts import to_text
from attribution.segmenters.english.modifiers import is_certain, split_adjuncts, split_nationality
from tests.segmenters.parses import repaired, token, whole, written


@pytest.mark.parametrize(
    ("text", "word", "sentence"),
    [
        ("Hitchcock, who directed films, died.", "directed", "Hitchcock directed films."),
        ("Nash, an American mathematician, won.", "mathematician", "Nash was an American mathematician."),
        ("The egg came first, as it was laid by a reptile.", "laid", "It was laid by a reptile."),
        ("The sum is zero, meaning that the debt is paid.", "meaning", "The debt is paid."),
        ("Directors who made films died.", "made", None),  # restricts its noun
        ("Trade fell, which led to riots.", "led", None),  # about the whole clause
        ("They include an urge, a sensation, and pain.", "sensation", None),  # a list
        ("She left, since it had rained.", "rained", None),  # of time
    ],
)
def test_what_is_said_beside_becomes_a_sentence(text: str, word: str, sentence: str | None) -> None:
    doc = repaired(text)
    draft = modifiers.as_sentence(token(doc, word))
    assert (to_text(doc, draft) if draft else None) == sentence


def test_a_sentence_is_left_without_its_modifiers() -> None:
    doc = repaired("Nash, an American mathematician, won the prize.")
    main, more = modifiers.extract(doc, whole(doc))
    assert written(doc, [main, *more]) == ["Nash won the prize.", "Nash was an American mathematician."]


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


@pytest.mark.parametrize(
    ("rule", "text", "word", "sentence"),
    [
        ("participle", "Hitchcock, widely regarded as a master, died.", "regarded",
         "Hitchcock was widely regarded as a master."),
        ("participle", "The test, given by Ann, was hard.", "given", None),  # works as a preposition
        ("result", "It repels water, making it a good coat.", "making", "It is a good coat."),
        ("result", "It repels water, making them a good coat.", "making", None),  # does not agree
        ("effect", "The glass blocks the light, reducing glare.", "reducing", "The glass reduces glare."),
        ("effect", "The storm blocked the road, leading to delays.", "leading", "The storm led to delays."),
        ("effect", "The drug can block the signal, thereby reducing pain.", "reducing",
         "The drug can reduce pain."),
        ("effect", "It experienced delays, reducing trust.", "reducing", None),  # does nothing to bring it about
        ("effect", "The teacher wrote books, reducing fear.", "reducing", None),  # a person
        ("active", "The tree grows fast, providing shade.", "providing", "The tree provides shade."),
        ("active", "The trees grew fast, providing shade.", "providing", "The trees provided shade."),
        ("active", "The tree may grow fast, providing shade.", "providing", None),
        ("active", "The tree grows fast, hiding birds.", "hiding", None),  # not surely the tree
    ],
)  # fmt: skip
def test_participial_clauses_become_sentences(rule: str, text: str, word: str, sentence: str | None) -> None:
    doc = repaired(text)
    draft = getattr(modifiers, rule)(token(doc, word))
    assert (to_text(doc, draft) if draft else None) == sentence
