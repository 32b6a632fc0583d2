from collections.abc import Sequence

import pytest

from attribution.evidence.judging import Judged, is_related, judge_pairs, parts_of, reservation
from attribution.pipeline.judge import GivenClaim, judge
from attribution.types import Judgement, Label, Pair, Probabilities
from tests.make import both

TRUE, FALSE = "The Eiffel Tower is in Paris.", "The Eiffel Tower is made of wood."
OTHER, PLAIN = "The choir sang on Sunday evening.", "The Eiffel Tower is tall."
PASSAGES = (
    "The Eiffel Tower stands in Paris.",
    "The Eiffel Tower is made of iron.",
    "The Eiffel Tower has stairs.",
)
SAYS = {
    (TRUE, PASSAGES[0]): (0.9, 0.0),
    (FALSE, PASSAGES[1]): (0.0, 0.9),
    (PLAIN, PASSAGES[0]): (0.8, 0.0),
    (PLAIN, PASSAGES[1]): (0.0, 0.8),
}


class Table:
    version = "table"

    def __init__(self) -> None:
        self.asked: list[Pair] = []

    def verify(self, pairs: Sequence[Pair]) -> list[Judgement]:
        self.asked += pairs
        return [self._judge(*SAYS.get(pair[:2], (0.0, 0.0)), len(pair[1])) for pair in pairs]

    def _judge(self, entailed: float, contradicted: float, length: int) -> Judgement:
        none = 1 - entailed - contradicted
        found = Probabilities(entailed=entailed, contradicted=contradicted, no_relation=none)
        return Judgement(found, (0, length), difference="wood, not iron" if contradicted else "")


@pytest.mark.parametrize(
    ("claim", "parts"),
    [
        (f"{TRUE} {FALSE}", (TRUE, FALSE)),
        (TRUE, (TRUE,)),
        ("Dr. Smith met Shout! Factory in 1999.", ("Dr. Smith met Shout! Factory in 1999.",)),
        (
            "Stop! He had built the tower by then.",
            ("Stop! He had built the tower by then.",),
        ),  # one is no statement
    ],
)
def test_the_parts_of_a_claim_are_its_sentences(claim: str, parts: tuple[str, ...]) -> None:
    assert parts_of(claim) == parts


@pytest.mark.parametrize(
    ("claim", "label", "weakest"),
    [
        (f"{TRUE} {FALSE}", "contradicted", FALSE),
        (f"{FALSE} {TRUE}", "contradicted", FALSE),
        (f"{TRUE} {TRUE[:-1]} today.", "unclear", "today."),  # nothing was found for one of them
        (f"{TRUE} {PLAIN}", "conflicting", PLAIN),
        (f"{FALSE} {PLAIN}", "contradicted", FALSE),
    ],
)
def test_a_claim_of_two_statements_gets_the_verdict_of_the_weaker(
    claim: str, label: Label, weakest: str
) -> None:
    (judged,) = judge([GivenClaim(claim, PASSAGES)], Table(), both(0.5))
    assert judged.verdict.label == label and weakest in judged.verdict.reason


def test_two_statements_that_different_passages_support_are_supported() -> None:
    (judged,) = judge(
        [GivenClaim(f"{TRUE} The Eiffel Tower is tall.", PASSAGES[:1])], Table(), both(0.5)
    )
    assert judged.verdict.label == "supported" and "2 of 2" not in judged.verdict.reason


def test_each_part_is_read_once_with_each_passage_and_a_single_statement_as_it_is() -> None:
    verifier = Table()
    both, one = judge_pairs(
        [(f"{TRUE} {FALSE}", PASSAGES[1], "Title"), (TRUE, PASSAGES[0])], verifier
    )
    assert verifier.asked == [
        (TRUE, PASSAGES[1], "Title"),
        (FALSE, PASSAGES[1], "Title"),
        (TRUE, PASSAGES[0]),
    ]
    assert [p.statement for p in both.parts] == [TRUE, FALSE] and not one.parts
    assert (
        both.judgement.probabilities.contradicted == 0.9
        and one.judgement.probabilities.entailed == 0.9
    )


@pytest.mark.parametrize(
    ("passage", "support", "relevance", "related"),
    [
        (
            "By the landings in Normandy two million doses were ready.",
            0.6,
            -1.5,
            True,
        ),  # in other words
        ("By the landings in Normandy two million doses were ready.", 0.1, 0.5, True),
        ("By D-Day, there were doses over two million in stock.", 0.1, None, True),  # by its words
        ("The choir sang on Sunday.", 0.1, -5.0, False),
        ("The choir sang on Sunday.", 0.1, None, False),
    ],
)
def test_a_passage_is_related_by_words_relevance_or_support(
    passage: str, support: float, relevance: float | None, related: bool
) -> None:
    found = Judgement(
        Probabilities(entailed=support, contradicted=0.0, no_relation=1 - support),
        (0, len(passage)),
    )
    assert (
        is_related(
            ("By D-Day, over two million doses were in stock.", passage), Judged(found), relevance
        )
        is related
    )


def test_a_difference_that_values_decide_is_not_held_back_by_another_value_that_agrees() -> None:
    """“Each has over 900”: 960 agrees, 820 does not."""
    claim, passage = (
        "Each village has over 900 inhabitants.",
        "The villages have 820, 1,140 and 960 inhabitants.",
    )
    settled = Judgement(
        Probabilities(entailed=0.0, contradicted=0.9, no_relation=0.1),
        (0, len(passage)),
        {"slot": 0.9},
        0.9,
        "820",
    )
    assert reservation((claim, passage), Judged(settled)) is None
    unsettled = Judgement(settled.probabilities, settled.sentence, against=0.9)
    assert reservation((claim, passage), Judged(unsettled)) is not None


@pytest.mark.parametrize(
    ("passage", "denied"),
    [
        (f"{TRUE} A myth tells of another.", False),
        (f"Myth 3: {TRUE}", True),
        (f"{TRUE} This is false.", True),
    ],
)
def test_a_sentence_that_stands_in_the_source_is_supported_unless_it_is_denied(
    passage: str, denied: bool
) -> None:
    start = passage.index(TRUE)
    support = Probabilities(entailed=0.99, contradicted=0.0, no_relation=0.01)
    found = Judgement(
        support, (0 if "Myth 3" in passage else start, start + len(TRUE)), {"verbatim": 1.0}
    )
    against = reservation((TRUE, passage, "notes"), Judged(found), ("Staff", "The Brooklyn Bridge"))
    assert (against is not None) is denied


class Entails:
    version = "entails"

    def verify(self, pairs: Sequence[Pair]) -> list[Judgement]:
        support = Probabilities(entailed=0.97, contradicted=0.0, no_relation=0.03)
        return [Judgement(support, (0, len(passage))) for _, passage, *_ in pairs]


@pytest.mark.parametrize(
    ("passage", "label", "words"),
    [
        ("The mill by the river employs 40 weavers.", "supported", "none contradicts it."),
        (
            "The mill by the river employs weavers.",
            "supported",
            "No passage that supports it has “40”.",
        ),
        (
            "The mill by the river employs 60 weavers.",
            "contradicted",
            "the claim says “40”, the source “60”",
        ),
    ],
)
def test_a_value_that_the_passage_lacks_leaves_weak_support_and_another_one_none(
    passage: str, label: Label, words: str
) -> None:
    (judged,) = judge(
        [GivenClaim("The mill by the river employs 40 weavers.", (passage,))], Entails(), both(0.5)
    )
    assert judged.verdict.label == label and words in judged.verdict.reason
    assert bool(judged.verdict.lacks) is ("No passage" in words)
    assert not judged.verdict.lacks or judged.strength == "weak"


@pytest.mark.parametrize(
    ("claim", "passage", "said"),
    [
        (
            "The mill employs 40 weavers.",
            "The mill by the river employs 60 weavers. It has 40 looms.",
            ("40", "60"),
        ),
        ("Ames buys the entire crop.", "Ames buys 70 % of the crop.", ("the entire", "70 %")),
        ("Most of the pupils walk.", "37 % of the pupils walk.", ("Most of", "37 %")),
        ("Most of the pupils walk.", "62 % of the pupils walk.", None),
    ],
)
def test_a_passage_with_another_value_in_the_slot_does_not_support(
    claim: str, passage: str, said: tuple[str, str] | None
) -> None:
    support = Probabilities(entailed=0.97, contradicted=0.0, no_relation=0.03)
    against = reservation((claim, passage), Judged(Judgement(support, (0, passage.index(".") + 1))))
    assert (against.note if against else None) == (
        said and f"the claim says “{said[0]}”, the source “{said[1]}”"
    )


def test_the_label_of_an_item_says_what_its_value_is_of() -> None:
    passage = "The water is kept at 14 °C; in the tropical hall it is 26 °C."
    support = Judged(
        Judgement(Probabilities(entailed=0.9, contradicted=0.0, no_relation=0.1), (0, len(passage)))
    )
    against = reservation(("The water is kept at 14 °C.", passage), support, ("Tropical hall:",))
    assert against is not None and against.note == "the claim says “14 °C”, the source “26 °C”"
    assert reservation(("The water is kept at 14 °C.", passage), support) is None


@pytest.mark.parametrize(
    ("claim", "passage", "said"),
    [
        (
            "The spray is sold without prescription.",
            "The spray is sold on prescription.",
            "“without prescription”",
        ),
        ("The spray is sold without prescription.", "The spray needs no prescription.", ""),
        (
            "All pupils passed the examination.",
            "Of the 120 pupils, 114 passed the examination.",
            "“All”",
        ),
        ("All pupils passed the examination.", "The pupils passed the examination.", ""),
    ],
)
def test_what_the_claim_alone_leaves_out_or_includes_is_not_supported(
    claim: str, passage: str, said: str
) -> None:
    found = Judgement(
        Probabilities(entailed=0.9, contradicted=0.0, no_relation=0.1), (0, len(passage))
    )
    against = reservation((claim, passage), Judged(found))
    assert (against.note if against else "") == (said and f"only the claim says {said}")


@pytest.mark.parametrize(
    ("limit", "stated", "follows"),
    [
        ("below 25 °F", "below 25 °C", False),
        ("at least 21 years", "at least 18 years", False),
        ("over 3.5 kg", "over 3.5 tonnes", False),
        ("under 30 minutes", "under 30 seconds", False),
        ("below 20 °C", "above 20 °C", False),
        ("fewer than 20 acres", "fewer than 20 hectares", False),
        ("more than 100 kg", "more than 120 kg", True),
        ("less than 1 km", "less than 1,000 m", True),
        ("fewer than 1,000 people", "about 900 people", True),
    ],
)
def test_a_limit_that_does_not_follow_from_the_source_s_is_not_supported(
    limit: str, stated: str, follows: bool
) -> None:
    passage = f"It holds for {stated}."
    support = Judgement(
        Probabilities(entailed=0.9, contradicted=0.0, no_relation=0.1), (0, len(passage))
    )
    held = reservation((f"It holds for {limit}.", passage), Judged(support))
    assert (held is None) == follows, held


def test_a_value_that_can_be_computed_does_not_contradict() -> None:
    claim, passage = (
        "The station has a capacity of 340 MW.",
        "The station has four turbines of 85 MW each.",
    )
    found = Judgement(
        Probabilities(entailed=0.0, contradicted=0.9, no_relation=0.1),
        (0, len(passage)),
        {},
        0.9,
        "85 MW",
    )
    against = reservation((claim, passage), Judged(found))
    assert (
        against is not None and against.note == "the claim's value may be computed: “four × 85 MW”"
    )
