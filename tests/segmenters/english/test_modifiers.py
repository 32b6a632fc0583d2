from __future__ import annotations

import pytest

from attribution.segmenters.english import modifiers
from attribution.segmenters.english.drafts import to_text
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
