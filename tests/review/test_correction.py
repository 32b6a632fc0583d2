from collections.abc import Sequence

import pytest

from attribution.review.correction import CONFIRMED, is_confirmed, proposed_corrections
from attribution.types import Judgement, Label, Pair, Probabilities, Report
from attribution.verdicts import DecisionPolicy
from tests.make import claim, evidence, judged, page

TOWER = "The tower is 330 metres tall."
MEASURED = "When it was measured, the tower stood 312 metres tall."


def contradicted(text: str, sentence: str, label: Label = "contradicted") -> Report:
    """A run with one claim, whose source has the sentence behind another one."""
    source = page(f"It is 450 metres from the river. {sentence}")
    start = source.text.index(sentence)
    made = claim(text)
    piece = evidence(
        made,
        0.02,
        0.95,
        "contradicted",
        page_id=source.id,
        end=len(source.text),
        text=source.text,
        sentence=(start, len(source.text)),
    )
    return judged((made, label), answer=text, pages=(source,), evidence=(piece,))


@pytest.mark.parametrize(
    ("text", "sentence", "expected"),
    [
        (TOWER, MEASURED, ["The tower is 312 metres tall."]),
        (
            "Applications are due on 5 September.",
            "Applications are due on 15 September.",
            ["Applications are due on 15 September."],
        ),
        ("Revenue grew by 4 %.", "Revenue grew by 2 million, it says.", []),  # another unit
        ("Turnout was 61 %.", "Turnout was 62 percent.", []),  # it would lose its unit
        ("The canal was dug in 1825.", "The canal was begun on 4 July 1817.", []),  # a day
        ("They won by 15 seats.", "They won 34 seats, the others 19 seats.", []),  # computed
        ("It fell by 4 %.", "It fell by 12 % in towns and by 9 % elsewhere.", []),  # which one?
        ("It is 430 metres away.", "Nobody has measured the tower.", []),  # not in this sentence
    ],
)
def test_a_claim_gets_the_value_that_its_deciding_sentence_clearly_has_in_its_place(
    text: str, sentence: str, expected: list[str]
) -> None:
    proposed = proposed_corrections(contradicted(text, sentence))
    assert [correction.claim.text for correction in proposed] == expected


@pytest.mark.parametrize("label", ["supported", "conflicting", "unclear"])
def test_only_a_contradicted_claim_is_corrected(label: Label) -> None:
    assert proposed_corrections(contradicted(TOWER, MEASURED, label)) == []


class Reader:
    """Supports every claim by a passage to one degree, and by a single sentence to another."""

    def __init__(self, by_passage: float, by_sentence: float) -> None:
        self.by_passage, self.by_sentence = by_passage, by_sentence

    def verify(self, pairs: Sequence[Pair]) -> list[Judgement]:
        return [self._judgement(pair[1]) for pair in pairs]

    def _judgement(self, text: str) -> Judgement:
        support = self.by_sentence if text == MEASURED else self.by_passage
        p = Probabilities(entailed=support, contradicted=1 - support, no_relation=0.0)
        return Judgement(p)


@pytest.mark.parametrize(
    ("by_passage", "by_sentence", "expected"),
    [
        (CONFIRMED, CONFIRMED, True),
        (CONFIRMED - 0.01, 0.99, False),
        (0.99, CONFIRMED - 0.01, False),
    ],
)
def test_a_correction_is_confirmed_by_passage_and_sentence(
    by_passage: float, by_sentence: float, expected: bool
) -> None:
    run = contradicted(TOWER, MEASURED)
    (correction,) = proposed_corrections(run)
    reader = Reader(by_passage, by_sentence)
    assert is_confirmed(correction, run, reader, DecisionPolicy()) is expected
