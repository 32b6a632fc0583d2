import threading
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from attribution.settings import Settings
from attribution.studies.groundedness import METHODS, Given, Scores
from attribution.studies.groundedness.methods.local import LENGTHS, shared_ngrams

CONTEXT = (
    "The Nile flows north. It reaches the Mediterranean Sea.",
    "Khartoum is where two rivers meet.",
)
TRUE = "The Nile flows north. It reaches the Mediterranean Sea."
FALSE = "The Nile flows south. It never reaches the Mediterranean Sea."
OFFLINE = [name for name, entry in METHODS.items() if not entry.needs]


def scored(
    name: str, settings: Settings, response: str, context: Sequence[str] = CONTEXT
) -> Scores:
    method = METHODS.build(name, settings)
    return method.score(Given("", tuple(context), response), threading.Event())


@pytest.mark.parametrize("name", OFFLINE)
def test_a_copy_is_more_grounded_than_something_else_and_scores_are_shares(
    name: str, settings: Settings
) -> None:
    true, other = scored(name, settings, TRUE), scored(name, settings, FALSE)
    for reading, score in true.items():
        assert 0 <= other[reading] <= score <= 1
    assert any(true[r] > other[r] for r in true)
    odd = scored(name, settings, "?!")  # nothing to read in it
    assert all(0 <= score <= 1 for score in odd.values())


def test_cos_sim_takes_the_sentence_that_is_farthest_from_the_context(settings: Settings) -> None:
    method: Any = METHODS.build("cos_sim", settings)
    vectors = {"One.": (1, 0), "Two.": (0, 1), "Alpha.": (1, 0), "Beta.": (0.8, 0.6)}

    class Fixed:
        def embed(self, texts: Sequence[str]) -> np.ndarray:
            return np.array([vectors[text] for text in texts], dtype=np.float32)

    method._embedder = Fixed()
    found = method.score(Given("", ("Alpha. Beta.",), "One. Two."), threading.Event())
    assert found == pytest.approx({"": 0.6}, abs=1e-5)


def test_quip_counts_each_ngram_of_each_sentence(settings: Settings) -> None:
    assert shared_ngrams("abcab", "xabc", 3) == pytest.approx(1 / 3)  # abc, bca, cab
    assert shared_ngrams("ababab", "ab", 2) == pytest.approx(3 / 5)  # ab ba ab ba ab
    assert shared_ngrams("ab", "xaby", 21) == 1.0
    found = scored("quip", settings, "The  NILE flows north.")
    assert found == {f"n={n}": 1.0 for n in LENGTHS}  # case and spaces do not count
    assert scored("quip", settings, "The Nile flows north. Zzz!")["n=3"] == 0.0


def test_the_pipeline_checks_what_is_worth_checking(settings: Settings) -> None:
    found = scored("pipeline", settings, "The Nile flows north. I hope this helps!")
    assert found[""] > 0.5
    assert scored("pipeline", settings, "I hope this helps!") == {"": 1.0}


def test_the_pipeline_finds_the_passage_among_many(settings: Settings) -> None:
    filler = [f"Shop number {n} sells paper, pens and other goods on weekdays." for n in range(30)]
    context = (*filler, CONTEXT[0], *filler)
    assert scored("pipeline", settings, "The Nile flows north.", context)[""] > 0.5
