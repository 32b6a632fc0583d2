"""Characters that readers take as the same compare as equal, and offsets stay those of the text."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attribution.fetching.page import clean
from attribution.text.characters import composed, plain
from attribution.text.passages import statements
from attribution.text.words import terms

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


@given(
    st.lists(st.sampled_from([*"ae ﬁ\u00ad\u0301\u0323. ", "[1]", "ﬄ"]), max_size=20).map("".join)
)
def test_claims_of_such_an_answer_point_at_its_characters(text: str) -> None:
    for passage in statements(f"One {text} x."):
        assert len(passage.places) == len(passage.text)
        for character, (start, end) in zip(passage.text, passage.places, strict=True):
            written = f"One {text} x."[start:end]
            assert character == " " or character in composed(unicodedata.normalize("NFKC", written))


def test_a_page_is_read_with_its_letters_composed() -> None:
    assert clean("The oﬃce\u00ad of Rene\u0301 in CO₂") == "The office of René in CO₂"
