from __future__ import annotations

import pytest

from attribution.segmenters.english import tree
from attribution.segmenters.english.drafts import to_text
from attribution.text.parse import inflect, lemma, parse
from tests.segmenters.parses import token, word


@pytest.mark.parametrize(
    ("verb", "tag", "form"),
    [("pay", "VBD", "paid"), ("lead", "VBD", "led"), ("emphasize", "VBD", "emphasized"), ("carry", "VBZ", "carries"),
     ("reach", "VBZ", "reaches"), ("play", "VBZ", "plays"), ("make", "VBZ", "makes")],
)  # fmt: skip
def test_verbs_are_inflected_and_reduced_to_their_lemma(verb: str, tag: str, form: str) -> None:
    assert inflect(verb, tag) == form
    assert lemma(form) == verb


@pytest.mark.parametrize(
    ("text", "verb", "finite"),
    [("She sings.", "sings", True), ("She has sung.", "sung", True), ("She wants to sing.", "sing", False),
     ("Singing songs is fun.", "Singing", False)],
)  # fmt: skip
def test_a_verb_is_finite_by_itself_or_by_its_auxiliary(text: str, verb: str, finite: bool) -> None:
    assert tree.is_finite(word(text, verb)) is finite


def test_conjuncts_and_their_own_words() -> None:
    cats = word("Cats, dogs and small birds sleep.", "Cats")
    assert [t.text for t in tree.conjuncts(cats)] == ["Cats", "dogs", "birds"]
    assert [t.text for t in tree.own_words(cats)] == ["Cats"]
    assert tree.subject_of(cats.head) == cats


@pytest.mark.parametrize(
    ("text", "noun", "scoped"),
    [("She never ate fish.", "fish", True), ("She ate fish.", "fish", False), ("If it rains, stay.", "it", True)],
)
def test_negation_and_condition_reach_down(text: str, noun: str, scoped: bool) -> None:
    assert tree.in_negative_scope(word(text, noun)) is scoped


@pytest.mark.parametrize(
    ("text", "inside"),
    [("He met Ann (the doctor) there.", True), ('He said "the doctor left" twice.', True), ("The doctor left.", False)],
)
def test_brackets_and_quotation_marks(text: str, inside: bool) -> None:
    assert tree.in_brackets(word(text, "doctor")) is inside


def test_an_attribute_or_apposition_refers_to_its_subject() -> None:
    assert tree.referent(word("Nash was a mathematician.", "mathematician")).text == "Nash"
    assert tree.referent(word("Nash, a mathematician, won.", "mathematician")).text == "Nash"
    assert tree.referent(word("Nash was not a physicist.", "physicist")).text == "physicist"
    assert tree.is_predicate_noun(word("It is a test used for fever.", "test"))


def test_a_noun_phrase_as_a_subject_is_definite_and_without_its_clauses() -> None:
    doc = parse("She bought a house that burned down.")
    assert to_text(doc, tree.as_subject(token(doc, "house"))) == "The house."


@pytest.mark.parametrize(
    ("text", "verb", "subject", "expected"),
    [("Ann and Ben have eaten.", "eaten", "Ben", "has"), ("Ann and Ben were tired.", "were", "Ben", "was"),
     ("Ann and cats have eaten.", "eaten", "cats", "have")],
)  # fmt: skip
def test_the_verb_agrees_with_the_conjunct_that_became_its_subject(
    text: str, verb: str, subject: str, expected: str
) -> None:
    doc = parse(text)
    draft = tree.agree(tree.parts(doc), token(doc, verb), token(doc, subject))
    assert expected in [part.text for part in draft]


@pytest.mark.parametrize(
    ("text", "noun", "past", "form"),
    [("Cats sleep.", "Cats", False, "are"), ("Cats slept.", "Cats", True, "were"), ("Tom slept.", "Tom", True, "was"),
     ("Tom sleeps.", "Tom", False, "is")],
)  # fmt: skip
def test_be_agrees_in_number_and_tense(text: str, noun: str, past: bool, form: str) -> None:
    assert tree.be(word(text, noun), past).text == form
