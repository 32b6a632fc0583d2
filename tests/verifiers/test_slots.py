import pytest

from attribution.models import mpnet
from attribution.settings import Settings
from attribution.text.words import shared_words
from attribution.types import Judgement, Pair, Probabilities
from attribution.verifiers.embedded_base import EmbeddedBase
from attribution.verifiers.slots import settle


class BlindToValues:
    """Entails what shares its words with the passage, whatever numbers stand there, as neural
    verifiers do.
    """

    def verify(self, pairs: list[Pair]) -> list[Judgement]:
        return [self._judge(*pair[:2]) for pair in pairs]

    def _judge(self, claim: str, passage: str) -> Judgement:
        entailed = 0.9 if shared_words(claim, passage) >= 0.6 else 0.05
        return Judgement(
            Probabilities(entailed=entailed, contradicted=0.0, no_relation=1 - entailed),
            (0, len(passage)),
            against=0.0,
        )


def settled(claim: str, passage: str) -> Judgement:
    verifier = BlindToValues()
    pair = (claim, passage)
    return settle([(pair, verifier.verify([pair])[0])], verifier)[0]


@pytest.mark.parametrize(
    ("claim", "passage", "mine", "its"),
    [
        ("The wall is 12 feet high.", "The wall is 12 metres high.", "12 feet", "12 metres"),
        ("The plant made 10 GWh.", "The plant made 10 MWh.", "10 GWh", "10 MWh"),
        (
            "Unpaid loans rose by 2 percentage points.",
            "Unpaid loans rose by 2 %.",
            "2 percentage points",
            "2 %",
        ),
        (
            "The dose is taken twice a day.",
            "The dose is taken once a day.",
            "twice a day",
            "once a day",
        ),
        (
            "Each village has over 900 people.",
            "Each of the villages has 820 or 960 people.",
            "over 900",
            "820",
        ),
    ],
)
def test_another_value_in_the_slot_contradicts(
    claim: str, passage: str, mine: str, its: str
) -> None:
    found = settled(claim, passage)
    assert found.probabilities.contradicted == 0.9 and found.probabilities.entailed == 0
    assert found.difference == f"the claim says “{mine}”, the source “{its}”"


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("The dam cost 1.2 billion dollars.", "The dam cost $1,200 million."),
        ("The bridge was opened after 1955.", "The bridge was opened on 4 May 1962."),
        ("The flight takes 90 minutes.", "The flight takes an hour and a half."),
        ("No runner needed more than 50 minutes.", "The runners needed 41, 43 and 47 minutes."),
    ],
)
def test_a_value_that_implies_the_claims_supports(claim: str, passage: str) -> None:
    assert settled(claim, passage).probabilities.entailed == 0.9


def test_a_value_of_another_slot_changes_nothing() -> None:
    claim, passage = (
        "The firm was dissolved in 1948.",
        "The firm was dissolved in 1948. It merged with a rival in 1899.",
    )
    assert settled(claim, passage).probabilities.entailed == 0.9


def test_a_price_that_can_vary_contradicts_no_other() -> None:
    assert (
        settled(
            "A meal can range from 3,900 kroner.", "A meal costs 2,000 kroner."
        ).probabilities.contradicted
        == 0
    )


def test_profit_is_not_revenue() -> None:
    found = settled(
        "Brightwell made a profit of £48 million.", "Brightwell made a revenue of £620 million."
    )
    assert found.probabilities.contradicted == 0


@pytest.mark.skipif(not mpnet.installed(), reason=mpnet.STEP)
def test_a_deadline_of_another_length_is_a_contradiction(own_data_folder: None) -> None:
    claim = "Report breaches: You have 30 days to tell the regulator about a serious leak."
    passage = (
        "Enforcement is national. An organisation must report a serious data breach to its supervisory authority "
        "within 72 hours of becoming aware of it. Fines can reach 20 million euros."
    )
    verifier = EmbeddedBase(Settings())
    pair = (claim, passage, "The General Data Protection Regulation")
    (before,) = verifier.verify([pair])
    (after,) = settle([(pair, before)], verifier)
    assert before.probabilities.contradicted < 0.5 < after.probabilities.contradicted
    assert "72 hours" in passage[slice(*after.sentence)]
