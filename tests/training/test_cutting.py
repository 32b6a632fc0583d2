"""What stays of a passage that is trained on."""

from __future__ import annotations

import random
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from attribution.text.sentences import sentences
from training.cutting import LONGEST, cut, nearest_sentence, shared, telling_part
from training.data import Pair

TEXT = (
    "Ada Lovelace was born in London in 1815. She liked riding. Her notes hold a program for the Analytical Engine. "
    "The engine was never finished. It stands in no museum."
)
words = st.lists(st.sampled_from("Lovelace engine museum London 1815 riding whale the".split()), min_size=1, max_size=8)


def test_the_part_shares_as_many_words_as_the_whole() -> None:
    assert telling_part("Lovelace was born in 1815.", TEXT) == "Ada Lovelace was born in London in 1815."
    two = telling_part("Her program was for an engine that was never finished.", TEXT)
    assert two.startswith("Her notes") and two.endswith("finished.")


def test_evidence_that_is_far_apart_stays_whole() -> None:
    assert telling_part("Lovelace, born in London, is in a museum.", TEXT) == TEXT


def test_of_a_passage_about_something_else_the_first_sentence_stays() -> None:
    assert telling_part("Whales sing.", TEXT) == "Ada Lovelace was born in London in 1815."


@given(st.lists(words, min_size=1, max_size=7), words)
def test_a_part_is_verbatim_short_and_loses_no_shared_word(parts: list[list[str]], claim: list[str]) -> None:
    text, said = " ".join(f"{' '.join(p).capitalize()} stays." for p in parts), " ".join(claim)
    part = telling_part(said, text)
    assert part in text and shared(said, part) == shared(said, text)
    assert part == text or len(sentences(part)) <= LONGEST
    assert nearest_sentence(said, text) in text


def test_labels_stay_and_the_title_with_them() -> None:
    page = Pair(f"Ada Lovelace. {TEXT}", "The engine was finished.", 2, "fever_nli", page="Ada Lovelace")
    assert cut(page, random.Random(1)) == replace(page, premise="Ada Lovelace. The engine was never finished.")


def test_a_passage_that_may_support_is_never_cut_to_less_than_it_shares() -> None:
    both = Pair(TEXT, "Her program was for an engine that was never finished.", 0, "x")
    assert {len(sentences(cut(both, random.Random(i)).premise)) for i in range(20)} == {2}
    silent = replace(both, target=1)
    assert {len(sentences(cut(silent, random.Random(i)).premise)) for i in range(20)} == {1, 2}
