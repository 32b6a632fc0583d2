import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from attribution.segmenters.sentence_by_sentence import Sentences
from attribution.settings import Settings

SENTENCES = Sentences(Settings())
CASES = [
    json.loads(line)
    for line in Path(__file__).with_name("sentences.jsonl").read_text("utf-8").splitlines()
]


def texts(answer: str) -> list[str]:
    return [c.text for c in SENTENCES.segment("", answer).claims]


@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case["answer"])[:40])
def test_answers_of_every_shape(case: dict[str, Any]) -> None:
    assert texts(case["answer"]) == case["claims"]


def test_a_claim_said_twice_is_one_claim_with_two_spans() -> None:
    answer = "The Nile is long. It is old.\n\n- the  nile is **long**."
    claims = SENTENCES.segment("", answer).claims
    assert [c.text for c in claims] == ["The Nile is long.", "It is old."]
    assert [answer[a:b] for a, b in claims[0].spans] == [
        "The Nile is long.",
        "the  nile is **long**.",
    ]


def test_the_span_is_the_source_of_the_text() -> None:
    answer = "Intro.\n\n- **Early life:** He was *born* in 1899 [1].\n"
    claim = SENTENCES.segment("", answer).claims[1]
    assert claim.text == "He was born in 1899."
    assert [answer[a:b] for a, b in claim.spans] == ["He was *born* in 1899 [1]."]


def test_a_cell_is_claimed_where_it_stands() -> None:
    answer = "| Club | Points | Wins |\n|--|--|--|\n| **Tarn** | 17 | *5* [1] |"
    claims = SENTENCES.segment("", answer).claims
    assert [(c.text, answer[slice(*c.spans[0])]) for c in claims] == [
        ("Tarn: 17 (Points)", "17"),
        ("Tarn: 5 (Wins)", "5"),
    ]


WORDS = st.lists(
    st.sampled_from(["the", "river", "was", "old", "and", "big", "1899", "Paris"]),
    min_size=2,
    max_size=8,
)


@hypothesis_settings(max_examples=60)
@given(
    st.lists(
        st.tuples(st.sampled_from(["", "- ", "> ", "3. ", "**"]), WORDS), min_size=1, max_size=8
    )
)
def test_no_word_of_a_sentence_is_lost(lines: list[tuple[str, list[str]]]) -> None:
    answer = "\n\n".join(
        f"{mark}{' '.join(words)} and so on.{'**' if mark == '**' else ''}" for mark, words in lines
    )
    covered = {
        i for c in SENTENCES.segment("", answer).claims for a, b in c.spans for i in range(a, b)
    }
    lost = "".join(x for i, x in enumerate(answer) if i not in covered and x.isalpha())
    assert lost == ""
