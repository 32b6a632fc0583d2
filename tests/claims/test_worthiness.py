from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, balanced_accuracy_score, f1_score

from attribution.claims.context import dependence_reason
from attribution.claims.worthiness import classify, classify_text
from attribution.types import Claim, Worthiness
from tests.make import claim

LABELLED = Path(__file__).parent.parent / "data" / "worthiness.jsonl"
FACTUAL = """
According to [1], the Nile is 6,650 km long.
[1] says that the Nile is 6,650 km long.
The site https://a.org was launched in 2001.
Great questions were raised by Kant in 1781.
I can’t give you medical advice, but the drug was approved in 1999.
The height of Kibo is 5,895 m.
Paris is the capital of France.
The bridge opened in 1937 and cost 35 million dollars.
Critics consider it the best film of its decade.
He argued that the law was unjust.
It is widely believed that the fire began in a bakery.
Kilimanjaro | 5,895 m | Tanzania
Employers must pay at least the minimum wage.
The court held that the suspect should have been warned.
Many historians regard the treaty as a turning point.
Early life: He was born in Leytonstone.
She personally signed the letter.
The law took effect in May 2018, not in 2016.
The two meet in the capital.
It is important to note that the vaccine does not contain live virus.
Note that the figure excludes Greenland.
According to the survey, the peak is 8,849 m high.
The river was called sacred by the people who lived there.
Its author thought the play a failure.
If water boils, its temperature stays constant.
Do Carmo was the first governor.
Watching the film, Truffaut wrote to its director.
Consumption fell by a third.
Aspirin should not be given to children under 16 because of Reye's syndrome.
The most beautiful stadium prize went to Lisbon in 2004.
Takes place every four years in July.
Source: The screenplay was written by Robert Bloch.
""".strip().splitlines()
NOT_A_CLAIM = """
Make sure to bring water.
Boil the water for ten minutes.
Sources: Encyclopaedia Britannica and https://a.org/x
[1] https://en.wikipedia.org/wiki/Nile
[2]: The Nile, Britannica. https://b.com/nile
[^3] Smith, J. (2010). The Nile. Cambridge.
4. https://a.org
Would you like to know more?
Let me know if you have any other questions!
I hope this helps.
Feel free to ask for more detail.
Certainly!
Here are the main reasons:
The advantages include:
Please consult a qualified physician.
If you like, I can also summarise the later years.
If you have a particular case in mind, let me know.
What is the height of the tower?
Please note that this is general information and not legal advice.
I'd be happy to explain further.
Hello!
Great question!
That's a really good question about mills.
Excellent question — let's look at it.
Let's look at the evidence.
""".strip().splitlines()
OPINION = """
I think it is the finest of his films.
In my opinion, the second half is better.
Insulin is still one of the great stories of medicine.
You should visit it in spring.
It is arguably the most important book of the century.
The view from the top is breathtaking.
Personally, the ending left me cold.
It's best to book early.
We recommend starting with the first chapter.
Nobody should miss this film.
It is definitely worth a visit.
It is one of the most fascinating stories of all.
What a wonderful river!
Whether one prefers the original is a matter of taste.
""".strip().splitlines()
OTHER = """
Sorry, I could not find the document.
I can't help with that.
I'm just an AI.
I cannot offer any legal advice.
I can't give you medical advice.
My knowledge ends in 2021.
I don't have access to real-time data.
I'm not a lawyer, but this is how it usually goes.
As an AI language model, I have no access to recent events.
Irritability
https://example.org/page
Imagine a ship of a thousand tons
Appropriate labels
print(x)
""".strip().splitlines()

CASES: list[tuple[str, Worthiness]] = [
    *((t, "factual") for t in FACTUAL),
    *((t, "not_a_claim") for t in NOT_A_CLAIM),
    *((t, "opinion") for t in OPINION),
    *((t, "other") for t in OTHER),
]


@pytest.mark.parametrize(("text", "expected"), CASES)
def test_each_kind_of_sentence(text: str, expected: Worthiness) -> None:
    assert classify_text(text)[0] == expected


@given(st.text(max_size=200))
def test_any_text_is_classified_and_all_but_facts_have_a_reason(text: str) -> None:
    worthiness, reason = classify_text(text)
    assert bool(reason) == (worthiness != "factual")


def test_claims_keep_everything_else() -> None:
    before = claim("I think so.", None)
    (after,) = classify([before])
    assert after.worthiness == "opinion" and after.worthiness_reason
    assert after.model_copy(update={"worthiness": None, "worthiness_reason": ""}) == before


@pytest.mark.parametrize("half", ["tune", "test"])
def test_sentences_of_real_answers_labelled_by_hand(half: str) -> None:
    rows = [json.loads(line) for line in LABELLED.read_text(encoding="utf-8").splitlines()]
    own = [(r["label"] == "factual", classify_text(r["text"])[0] == "factual") for r in rows if r["half"] == half]
    gold, guess = zip(*own, strict=True)
    assert len(own) == 150 and accuracy_score(gold, guess) >= max(0.85, sum(gold) / len(gold) + 0.1)
    assert balanced_accuracy_score(gold, guess) >= 0.8 and f1_score(gold, guess, average="macro") >= 0.8


@pytest.mark.parametrize("row", ["Film: Psycho; Year: 1960", "Planet: Mars; Moons: two", "Mars | two", "a|b"])
def test_a_table_row_is_factual_but_not_independent(row: str) -> None:
    assert classify_text(row) == ("factual", "")
    assert dependence_reason(row).startswith("A table row: ")


@pytest.mark.parametrize("text", ["Mars: two moons", "He said: yes; no", "Two moons; small ones"])
def test_a_colon_alone_is_no_table_row(text: str) -> None:
    assert not dependence_reason(text).startswith("A table row: ")


def test_the_rules_decide_nothing_about_an_answer_in_another_language() -> None:
    answer = "ナイル川は北に流れる。地中海に注ぐ。全長は約6650キロメートルである。"
    claims = [Claim(id=t, text=t, spans=()) for t in ("ナイル川は北に流れる。", "地中海に注ぐ。")]
    assert {c.worthiness for c in classify(claims)} != {"factual"}  # what the rules for English would make of them
    assert {c.worthiness for c in classify(claims, answer)} == {"factual"}
