from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest

from attribution.claims.coherence import check_coherence
from attribution.types import Claim
from attribution.verdicts import decide
from tests import make
from tests.make import both

ANSWER = "Ada wrote notes in 1843. She lived in London."
MARKED = "In 1843 she wrote *Notes* and **more**. She [met](https://example.org) Babbage."
TABLE = "| Film | Year |\n|---|---|\n| Psycho | 1960 |\n"


def claim(text: str, answer: str = ANSWER, sentence: str = "") -> Claim:
    """A claim of a sentence, or of several."""
    start = answer.index(sentence)
    place = (start, start + len(sentence)) if sentence else None
    return make.claim(text, spans=((0, 4),), sentence=place)


@dataclass
class Reader:
    """Finds every pair coherent that says the same thing, and notes what it is asked."""

    asked: list[tuple[str, str]] = field(default_factory=list)

    def __call__(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        self.asked += pairs
        return [0.12345 if "prize" in text else 0.9 for text, _ in pairs]


@pytest.mark.parametrize(
    ("answer", "text", "sentence", "premise"),
    [
        (ANSWER, "Ada wrote notes.", ANSWER[:24], ANSWER[:24]),
        (ANSWER, "Ada wrote notes in London.", "", ANSWER),
        (MARKED, "Ada met Babbage.", MARKED[40:], "She met Babbage."),
        (TABLE, "Psycho was released in 1960.", "1960", "Psycho: 1960 (Year)"),
    ],
)
def test_a_claim_is_compared_with_what_its_sentence_says(
    answer: str, text: str, sentence: str, premise: str
) -> None:
    reader = Reader()
    (found,) = check_coherence(answer, [claim(text, answer, sentence)], reader, 0.5)
    assert reader.asked == [(text, premise)]
    assert found.coherence == 0.9
    assert found.coherent


@pytest.mark.parametrize(
    ("answer", "text", "sentence"),
    [
        (ANSWER, "She lived in London.", ANSWER[25:]),
        (MARKED, "In 1843 she wrote Notes and more.", MARKED[:39]),
        (TABLE, "Psycho: 1960 (Year)", "1960"),
    ],
)
def test_a_claim_in_the_words_of_its_sentence_needs_no_check(
    answer: str, text: str, sentence: str
) -> None:
    reader = Reader()
    (found,) = check_coherence(answer, [claim(text, answer, sentence)], reader, 0.5)
    assert reader.asked == []
    assert found.coherence is None
    assert found.checked


def test_a_claim_that_its_sentence_does_not_say_is_left_out_with_the_reason() -> None:
    given = claim("Ada won a prize.", ANSWER, ANSWER[:24])
    (left_out,) = check_coherence(ANSWER, [given], Reader(), 0.5)
    assert left_out.coherence == 0.1235
    assert not left_out.checked
    verdict = decide(left_out, (), both(0.5))
    assert verdict.label == "not_checked"
    assert "0.12" in verdict.reason
    (kept,) = check_coherence(ANSWER, [given], Reader(), 0.0)
    assert kept.checked
