import pytest
from hypothesis import given
from hypothesis import strategies as st

from attribution.types import Judgement, Probabilities
from attribution.verifiers.roles import difference_in_roles, in_its_role, tells_the_same


@pytest.mark.parametrize(
    ("entailed", "contradicted", "after"), [(0.7, 0.2, 0.9), (0.2, 0.1, 0.8), (0.05, 0.05, 0.05)]
)
def test_a_sentence_with_the_roles_of_the_claim_reversed_contradicts_it(
    entailed: float, contradicted: float, after: float
) -> None:
    passage = "It rained. Poland was invaded by Germany."
    none = 1 - entailed - contradicted
    probabilities = Probabilities(entailed=entailed, contradicted=contradicted, no_relation=none)
    before = Judgement(probabilities, (11, len(passage)))
    found = in_its_role(("Poland invaded Germany.", passage), before)
    assert found.probabilities.contradicted == pytest.approx(after)
    if after > contradicted:
        assert "other way round" in found.difference and found.sentence == before.sentence
    verbatim = Judgement(probabilities, before.sentence, {"verbatim": 1.0})
    assert in_its_role(("Poland invaded Germany.", passage), verbatim) == verbatim


@pytest.mark.parametrize(
    ("claim", "sentence", "said"),
    [
        (
            "Poland invaded Germany in 1939.",
            "Poland was invaded by Germany in 1939.",
            "“Poland” and “Germany”",
        ),
        (
            "Nixon succeeded Gerald Ford.",
            "Nixon resigned in 1974 and was succeeded by Gerald Ford.",
            "“Nixon” and “Gerald Ford”",
        ),
        ("The doctors paid the lawyer.", "The lawyer paid the doctors.", "“doctors” and “lawyer”"),
        (
            "Stefano wrote of Bloch, who influenced Hitchcock.",
            "Hitchcock influenced Bloch and others.",
            "“Bloch” and “Hitchcock”",
        ),
        (
            "The novel inspired the film.",
            "The novel, inspired by the film, sold well.",
            "“novel” and “film”",
        ),
        (
            "Rome defeated Carthage and Corinth.",
            "Rome was defeated by Corinth.",
            "“Rome” and “Corinth”",
        ),
        (
            "Adams preceded Jefferson.",
            "Adams followed Jefferson as president.",
            "“Jefferson” and “Adams”",
        ),
    ],
)
def test_roles_the_other_way_round(claim: str, sentence: str, said: str) -> None:
    assert difference_in_roles(claim, sentence) == f"the source has {said} the other way round"


@pytest.mark.parametrize(
    ("claim", "sentence", "said"),
    [
        (
            "Ms Hale sold the old mill to Otto Brandt.",
            "She bought the old mill from Otto Brandt.",
            "the source has “Otto Brandt” in another role",
        ),
        (
            "Mr Reed opposed the motion.",
            "Mr Lowe opposed the motion.",
            "the claim says “Mr Reed”, the source “Mr Lowe”",
        ),
        (
            "Karl Vogt found the fern in 1911.",
            "Anna Vogt found the fern in 1911; her brother Karl Vogt described it.",
            "the claim says “Karl Vogt”, the source “Anna Vogt”",
        ),
        (
            "The farmers have criticised the plan.",
            "The union has criticised the plan; the farmers support it.",
            "the claim says “farmers”, the source “union”",
        ),
        (
            "Human error caused the flood.",
            "A blocked drain, not human error, caused the flood.",
            "only the source says “not human error”",
        ),
        (
            "The fair is held in Quay Street instead of the Square.",
            "The fair moves from the Square to Quay Street.",
            "",
        ),
        (
            "The money will pay dividends.",
            "The money will reduce debt rather than pay dividends.",
            "only the source says “rather than pay dividends”",
        ),
        (
            "The lake froze over in the winter of 2020.",
            "The lake freezes in most winters; in the winter of 2020 it did not freeze.",
            "only the source says “not”",
        ),
        (
            "The lake did not freeze in 2020.",
            "The lake froze in 2020.",
            "only the claim says “not”",
        ),
        (
            "It was exceeded more often in 2023 than in 2022.",
            "In 2023 it was exceeded less often than in 2022.",
            "the claim says “more”, the source “less”",
        ),
        (
            "The company sold Appel to the Jansen family.",
            "The company bought the cider maker Appel from the Jansen family in May.",
            "the source has “company” and “Jansen family” the other way round",
        ),
        (
            "Samuel Ito retired in June 2022.",
            "The chief surgeon, Dr Ito's wife Mara Ito, retired in June 2022.",
            "the claim says “Samuel Ito”, the source “wife Mara Ito”",
        ),
        (
            "The laundry was handed over to Mensana.",
            "The canteen was handed over to Mensana; the laundry remains with the hospital.",
            "the claim says “laundry”, the source “canteen”",
        ),
        (
            "Norah Tully decided against closing the trail.",
            "The head, Norah Tully, recommended closing the trail; the governor, Dean Askew, decided against it.",
            "the claim says “Norah Tully”, the source “Dean Askew”",
        ),
        (
            "The Lauter plant will be closed at the end of 2025.",
            "The plant in Gotz will be closed at the end of 2025.",
            "the claim says “Lauter plant”, the source “plant in Gotz”",
        ),
        (
            "Farid Amini is the managing director.",
            "The managing director has been Petra Lindqvist since 2018.",
            "the claim says “Farid Amini”, the source “Petra Lindqvist”",
        ),
    ],
)
def test_what_is_said_of_others_or_denied(claim: str, sentence: str, said: str) -> None:
    assert difference_in_roles(claim, sentence) == said


@pytest.mark.parametrize(
    ("claim", "sentence"),
    [
        ("Germany invaded Poland in 1939.", "Poland was invaded by Germany in September 1939."),
        ("Poland was invaded by Germany.", "Germany invaded Poland."),
        ("Germany invaded Poland.", "Germany invaded France, and Russia invaded Poland."),
        ("Ada married William King.", "William King married Ada in 1835."),  # both did
        ("She wrote to Dr. Voss in 1990.", "She wrote to Mr. Kell and to Dr. Voss in 1990."),
        (
            "The hall was designed by Anna Berg.",
            "The hall was designed by Luis Ortega and by Anna Berg.",
        ),
        ("Germany was not invaded by Poland.", "Germany invaded Poland."),
        ("Poland invaded Germany.", "Germany attacked Poland."),  # another verb: for the model
        ("Poland invaded it.", "It invaded Poland."),  # who "it" is, only the context says
        (
            "Rome fought Carthage, and Carthage harmed Rome.",
            "Rome harmed Carthage, and Carthage harmed Rome.",
        ),
        ("Poland was invaded.", "Poland was invaded by Germany."),
        ("Otto Brandt sold the mill to Ms Hale.", "Ms Hale bought the mill from Otto Brandt."),
        ("Drake Bell won a Golden Globe.", "Bell has won a Golden Globe Award."),
        (
            "Mr Reed opposed the motion of 1990.",
            "Mr Lowe opposed the motion of 1991.",
        ),  # another event
        ("The shop only sells some of them.", "The shop does not sell all of them."),
        ("The firm failed to deliver the goods.", "The firm did not deliver the goods."),
        (
            "A drain, not human error, caused the flood.",
            "The flood was caused by a drain and not by human error.",
        ),
        (
            "The north had more than the south in 2022.",
            "The south had fewer than the north in 2022.",
        ),
        ("Pieter Brueghel the Younger died in 1638.", "Brueghel died in Antwerp in 1638."),
        ("The plant in Gotz will be closed.", "The Gotz plant will be closed."),
        (
            "Petra Lindqvist is the managing director.",
            "The managing director is Lindqvist, the head brewer Amini.",
        ),
        (
            "Ann Lee is a nurse at the hospital.",
            "A nurse at the hospital is Petra Lindqvist.",
        ),  # there are several
        ("", ""),
    ],
)
def test_nothing_differs(claim: str, sentence: str) -> None:
    assert difference_in_roles(claim, sentence) == ""


@given(st.text(st.sampled_from("ab was by AB. ,not"), max_size=40), st.text(max_size=40))
def test_any_text_can_be_read(one: str, two: str) -> None:
    assert difference_in_roles(one, one) == ""
    difference_in_roles(one, two)


@pytest.mark.parametrize(
    ("claim", "same"),
    [
        ("A bank bought the mill from Lund in 1987.", True),
        ("The mill was sold to a bank by Lund.", True),
        ("Lund bought the mill from a bank.", False),
        ("Lund never sold the mill to a bank.", None),
        ("Lund sold the mill to a bank in 1990.", None),
    ],
)
def test_the_same_sale_is_told_from_either_side(claim: str, same: bool | None) -> None:
    assert tells_the_same(claim, "In 1987 Lund sold the mill to a bank.") is same


@pytest.mark.parametrize(
    ("claim", "same"),
    [
        ("The Dalga is longer than the Severin.", True),
        ("The Severin is longer than the Dalga.", False),
        ("The Severin is less long than the Dalga.", True),
        ("The Dalga is longer than the Orne.", None),
    ],
)
def test_a_comparison_is_told_from_either_side(claim: str, same: bool | None) -> None:
    assert (
        tells_the_same(claim, "The Severin is shorter than the Dalga, but it carries more water.")
        is same
    )
