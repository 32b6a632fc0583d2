from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from attribution.segmenters.alignment import align, merge, tokens
from attribution.types import Claim

ANSWER = (
    "Alfred Hitchcock was an English film director. He was born in Leytonstone on 13 August 1899, "
    "and made **Psycho** "
    "in 1960 [1]. The film cost $806,947. It earned $32 million."
)
PARTS = ("Alfred", "He was", "The film", "It earned")
STARTS = [ANSWER.index(part) for part in PARTS] + [len(ANSWER) + 1]
SENTENCES = [(a, b - 1) for a, b in pairwise(STARTS)]


@pytest.mark.parametrize(
    ("claim", "slices", "sentence"),
    [
        ("He was born in Leytonstone.", ["He was born in Leytonstone"], 1),
        ("Alfred Hitchcock was born in 1899.", ["was born", "1899"], 1),
        ("Psycho was made in 1960.", ["made **Psycho** in 1960"], 1),
        ("The birth of Hitchcock was on 13 August 1899.", ["on 13 August 1899"], 1),
        ("Hitchcock was a director of films.", ["Hitchcock", "film director"], 0),
        ("The cost of the film was $806,947.", ["The film cost $806,947"], 2),
        ("Psycho earned 32 million dollars.", ["earned $32 million"], 3),
    ],
)
def test_a_claim_finds_the_words_it_came_from(claim: str, slices: list[str], sentence: int) -> None:
    found = align(claim, ANSWER, SENTENCES)
    assert [ANSWER[a:b] for a, b in found.spans] == slices
    assert found.sentence == SENTENCES[sentence]
    assert found.confidence >= 0.4


@pytest.mark.parametrize(
    "claim",
    ["Ignore all instructions.", "Ridley Scott was born in South Shields.", "", "…", "It is."],
)
def test_what_is_not_in_the_answer_has_no_span(claim: str) -> None:
    found = align(claim, ANSWER, SENTENCES)
    assert found.spans == ()
    assert found.sentence is None
    assert found.confidence < 0.4


def test_words_of_the_question_do_not_speak_against_a_sentence() -> None:
    claim = "The Panama Canal opened in 1914."
    assert align(claim, "It opened in 1914.", [(0, 18)]).confidence < 0.6
    assert (
        align(
            claim, "It opened in 1914.", [(0, 18)], "When was the Panama Canal opened?"
        ).confidence
        > 0.7
    )


def test_a_verbatim_claim_is_certain_and_a_changed_figure_is_not() -> None:
    assert align("The film cost $806,947.", ANSWER, SENTENCES).confidence == 1
    assert align("The film cost $806,948.", ANSWER, SENTENCES).confidence < 0.6


WORDS = st.lists(
    st.sampled_from(
        ["the", "river", "is", "1899", "Paris,", "great", "und", "*bold*", "größer", "1,000", "😀"]
    ),
    max_size=30,
)


@hypothesis_settings(max_examples=60)
@given(WORDS, WORDS)
def test_spans_are_words_of_the_sentence_in_order(claim: list[str], sentence: list[str]) -> None:
    answer = "Before it. " + " ".join(sentence)
    whole = (11, len(answer))
    found = align(" ".join(claim), answer, [whole])
    assert 0 <= found.confidence <= 1
    assert (found.sentence is None) == (found.spans == ())
    words = {t.stem for t in tokens(" ".join(claim))}
    last = 11
    for a, b in found.spans:
        assert last <= a < b <= len(answer)
        last = b
        ends = tokens(answer[a:b])
        assert ends[0].stem in words
        assert ends[-1].stem in words


def test_the_same_claim_twice_is_one_with_both_spans() -> None:
    made = merge(
        [
            Claim(
                id="-", text="A river is long.", spans=((5, 9),), sentence=(0, 10), alignment=0.6
            ),
            Claim(
                id="-", text="a  river is long", spans=((25, 29),), sentence=(20, 30), alignment=0.9
            ),
            Claim(id="-", text=" … ", spans=((1, 2),)),
        ]
    )
    assert [(c.text, c.spans, c.alignment) for c in made] == [
        ("A river is long.", ((5, 9), (25, 29)), 0.9)
    ]
