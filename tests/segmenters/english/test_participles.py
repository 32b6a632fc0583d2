from __future__ import annotations

import pytest

from attribution.segmenters.english import modifiers
from attribution.segmenters.english.drafts import to_text
from tests.segmenters.parses import repaired, token


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
