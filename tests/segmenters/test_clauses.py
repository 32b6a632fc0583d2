import pytest

from attribution.segmenters.clauses import Clauses
from attribution.settings import Settings

CLAUSES = Clauses(Settings())


def texts(answer: str) -> list[str]:
    return [c.text for c in CLAUSES.segment("", answer).claims]


SPLIT = """
She likes tea and cake. -> She likes tea. She likes cake.
The river and the lake contain fish. -> The river contains fish. The lake contains fish.
Ann and Ben have eaten. -> Ann has eaten. Ben has eaten.
Cats and dogs eat fish and rice. -> Cats eat fish. Cats eat rice. Dogs eat fish. Dogs eat rice.
He saw the nature and size of the town. -> He saw the nature of the town. He saw the size of the town.
He wrote of his grief and curiosity about it. -> He wrote of his grief. He wrote of his curiosity about it.
Symptoms include fever, cough, and a sore throat. -> Symptoms include fever. Symptoms include cough. Symptoms include a sore throat.
They sell drinks such as tea or milk. -> They sell drinks such as tea. They sell drinks such as milk.
He is known as a writer and a painter. -> He is known as a writer. He is known as a painter.
It was built and sold. -> It was built. It was sold.
He wrote and directed several films. -> He wrote several films. He directed several films.
The firm can survive and pay its debts. -> The firm can survive. The firm can pay its debts.
He won the race, but was later disqualified. -> He won the race. He was later disqualified.
He reportedly sold the house and left. -> He reportedly sold the house. He reportedly left.
Patients can take it with water, milk or juice and should rest. -> Patients can take it with water, milk or juice. Patients should rest.
In 1990, Ann moved to Rome, and Ben left Paris. -> In 1990, Ann moved to Rome. In 1990, Ben left Paris.
If it rains, the river rises, and the bridge is closed. -> If it rains, the river rises. If it rains, the bridge is closed.
Critics say that it is slow and that it bores viewers. -> Critics say that it is slow. Critics say that it bores viewers.
Ann Berg, a painter born in Leeds, made 50 films, won the G. May Award, and died in Rome. -> Ann Berg, a painter born in Leeds, made 50 films. Ann Berg won the G. May Award. Ann Berg died in Rome.
Ann Berg, a painter, won the prize and moved to Rome. -> Ann Berg, a painter, won the prize. Ann Berg moved to Rome.
eBay grew fast, and eBay sold shares. -> eBay grew fast. eBay sold shares.
No surprises were found and the repair is finished. -> No surprises were found. The repair is finished.
"""


@pytest.mark.parametrize("row", SPLIT.strip().splitlines())
def test_each_claim_says_one_thing_and_together_they_say_all(row: str) -> None:
    sentence, _, claims = row.partition(" -> ")
    assert " ".join(texts(sentence)) == claims


WHOLE = """
He did not eat and drink.
She does not like tea and cake.
No doctor and no nurse saw him.
Not only Anna but also Ben came and won.
Only Norway and Iceland signed the treaty.
The drug neither lowers blood pressure nor affects sleep.
The minister denied that he had taken money.
It is false that the dam broke in 1923.
It is unlikely that the comet will return and that the probe will reach it.
He came or left.
The drug may cause dizziness, headaches, or nausea.
The bridge closes and the ferry stops if it rains.
The law bans smoking in trains unless a separate room is provided.
The valve opens only when the pressure exceeds 4 bar and the temperature stays below 90 degrees.
Directors who made films died.
People who smoke and drink die early.
By reading and writing, children learn.
The town lies between Rome and Milan.
It is a mix of sand and clay.
The plan combined speed and safety.
She is taller than Ben and Carl.
Lena and Tom married in 1990.
Ann and Ben are doctors.
The largest islands of the chain are Oahu, Maui, and Kauai.
She likes tea, cake and so on.
They learn by trial and error.
He led the Department of Health and Labor.
He took part in the student and worker protests.
They were seen in the blasts of M1, M2, and M4 leukemias.
The employer pays for commuting to and from work.
Trade fell, which led to riots.
Bulk analysis gives a measurement of the sample, which can hide differences.
She left, since it had rained.
A style that promotes trust, encourages sharing, and is fair would best suit the team.
They focus on new authors, as well as classic and established writers in the genre.
The reason is because the axis is tilted.
“He came and saw”, she said and left.
Did he come and go?
Join us and see new places and people.
"""


@pytest.mark.parametrize("sentence", WHOLE.strip().splitlines())
def test_what_its_parts_do_not_say_stays_whole(sentence: str) -> None:
    assert texts(sentence) == [sentence]


def test_two_lists_make_at_most_six_claims() -> None:
    many = "Tables, chairs, lamps, and shelves are sold in Rome, Paris, London, Madrid, and Oslo."
    assert 4 <= len(texts(many)) <= 6


def test_a_label_stands_before_each_claim() -> None:
    answer = "Cost: The mill was built in 1880 and sold in 1920."
    claims = CLAUSES.segment("", answer).claims
    assert [c.text for c in claims] == [
        "Cost: The mill was built in 1880.",
        "Cost: The mill was sold in 1920.",
    ]
    assert all(answer[slice(*c.spans[0])].startswith("Cost: ") for c in claims)


def test_the_spans_are_the_words_of_the_claim() -> None:
    answer = "She **was** born in Rome [1] and died in Paris."
    claims = CLAUSES.segment("", answer).claims
    assert [[answer[a:b] for a, b in c.spans] for c in claims] == [
        ["She **was** born in Rome"],
        ["She", "died in Paris"],
    ]
    assert {c.sentence for c in claims} == {(0, len(answer))}
