import pytest
from hypothesis import given
from hypothesis import strategies as st

from attribution.verifiers.variants import MAX_VARIANTS, keeps_subject, variants


@pytest.mark.parametrize(
    ("claim", "sentence", "first"),
    [
        (
            "The record fine was imposed on Amazon.",
            "The record of 1.2 billion euros was imposed on Meta in May 2023.",
            "The record fine was imposed on Meta.",
        ),
        (
            "The screenplay was written by Robert Bloch, who adapted a novel by Joseph Stefano.",
            "Joseph Stefano wrote the screenplay from a novel that Robert Bloch had published.",
            "The screenplay was written by Joseph Stefano, who adapted a novel by Robert Bloch.",
        ),
    ],
)
def test_the_likeliest_variant_comes_first(claim: str, sentence: str, first: str) -> None:
    assert variants(claim, sentence)[0].text == first


def test_a_variant_says_what_differs() -> None:
    (other, *_) = variants("It was built by Ada Roe for Max Poe.", "Max Poe built it for Ada Roe.")
    assert other.difference == "the source has “Ada Roe” and “Max Poe” the other way round"


@pytest.mark.parametrize(
    ("claim", "sentence"),
    [
        ("It opened in 1937.", "The bridge opened in 1937."),
        ("It was painted red.", "It was painted blue."),
        ("The plan was approved.", "The plan was never approved."),
        ("Paris is the largest city.", "London is the largest city."),  # what the claim is about
        (
            "The race was won by Ada Lovelace.",
            "The race was won in Berlin.",
        ),  # no person for a person
    ],
)
def test_nothing_to_set_against_it(claim: str, sentence: str) -> None:
    assert variants(claim, sentence) == []


WORDS = st.lists(
    st.sampled_from(
        "In 1937 1939 30 72 hours days Ada Lovelace Paris and of not € % , . the bridge opened".split()
    ),
    max_size=12,
).map(" ".join)


@given(WORDS, WORDS)
def test_any_text_has_a_few_variants_that_differ_from_it_and_each_other(
    claim: str, sentence: str
) -> None:
    found = [variant.text for variant in variants(claim, sentence)]
    assert len(found) <= MAX_VARIANTS and claim not in found and len(set(found)) == len(found)


def test_another_subject_is_another_claim() -> None:
    assert keeps_subject("Paris is large.", "Paris is small.") and not keeps_subject(
        "Paris is large.", "Rome is large."
    )
