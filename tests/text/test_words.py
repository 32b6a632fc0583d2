"""Words compare as readers see them, and offsets stay those of the text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attribution.fetching.page import clean
from attribution.text.passages import statements
from attribution.text.words import composed, deciding_sentence, plain, shared_words, terms

FORMS = [
    ("the oﬃce of ﬁve aﬄuent ﬁrms and a ﬂood", "the office of five affluent firms and a flood"),
    ("a cafe\u0301 in Orle\u0301ans", "a café in Orléans"),
    ("the inter\u00adnational com\u00admission", "the international commission"),
    ("of ２１２ ｍetres", "of 212 metres"),
    ("of ٢١٢ metres", "of 212 metres"),
    ("of 𝟕𝟎 million", "of 70 million"),
    ("all CO₂ and H₂O", "all CO2 and H2O"),
    ("a well\u2011known state\u2010owned firm", "a well-known state-owned firm"),
    ("all 38\u00a0firms", "all 38 firms"),
    ("the dog’s ‘bone’", "the dog's 'bone'"),
]


@pytest.mark.parametrize(("written", "usual"), FORMS)
def test_forms_of_a_character_are_the_same_words(written: str, usual: str) -> None:
    assert terms(plain(composed(written))) == terms(composed(written)) == terms(usual)
    assert terms(statements(f"This is {written}.")[0].text) == terms(f"This is {usual}.")


@given(st.text(max_size=40))
def test_the_usual_form_has_as_many_characters_and_composing_ends(text: str) -> None:
    assert len(plain(text)) == len(text)
    assert composed(composed(text)) == composed(text)


def test_a_page_is_read_with_its_letters_composed() -> None:
    assert clean("The oﬃce\u00ad of Rene\u0301 in CO₂") == "The office of René in CO₂"


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
