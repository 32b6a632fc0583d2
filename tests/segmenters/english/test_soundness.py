from __future__ import annotations

import pytest

from attribution.segmenters.english.drafts import added, parts
from attribution.segmenters.english.scope import is_imperative, is_sentence, is_sound
from attribution.text.parse import parse


@pytest.mark.parametrize(
    ("text", "sound"),
    [
        ("Ann sings songs.", True),
        ("Because Ann sings songs.", False),
        ("The singing of songs.", False),
        ("Which was sung by Ann.", False),
        ("Ann sings. Ben dances.", False),
    ],
)
def test_one_whole_sentence_with_a_subject_and_a_finite_verb(text: str, sound: bool) -> None:
    assert is_sentence(text) is sound


@pytest.mark.parametrize(
    ("start", "end", "sound"), [(0, 3, True), (0, 2, False), (1, 3, False), (3, 7, False), (4, 7, True), (0, 8, True)]
)
def test_pieces_of_a_sentence(start: int, end: int, sound: bool) -> None:
    doc = parse("Ann sings songs because Ben likes them.")
    assert is_sound(doc, parts(doc[start:end])) is sound


def test_an_added_verb_makes_a_statement() -> None:
    doc = parse("Nash, an American mathematician, won.")
    assert is_sound(doc, (*parts(doc[:1]), *added("was"), *parts(doc[2:5])))
    assert not is_sound(doc, parts(doc[2:5]))


def test_imperatives_have_no_subject() -> None:
    assert is_imperative(next(parse("Press on it.").sents).root)
    assert not is_imperative(next(parse("They press on it.").sents).root)
