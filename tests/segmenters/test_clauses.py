import pytest

from attribution.segmenters.clauses import Clauses
from attribution.segmenters.predpatt import PredPatt, PublishedPredPatt
from attribution.settings import Settings

CLAUSES = Clauses(Settings())

HITCHCOCK = (
    "Alfred Hitchcock, an English film director born in Leytonstone, made more than 50 feature films, moved to "
    "Hollywood in 1939, won the Irving G. Thalberg Memorial Award, received a knighthood in 1979, and died in Los "
    "Angeles in 1980."
)
NASH = (
    "John Forbes Nash Jr., an American mathematician born in Bluefield, West Virginia, made fundamental contributions "
    "to game theory and differential geometry, shared the 1994 Nobel Prize in Economics with Reinhard Selten and John "
    "Harsanyi, and died in a car crash in New Jersey in 2015."
)


def texts(answer: str) -> list[str]:
    return [c.text for c in CLAUSES.segment("", answer).claims]


def test_a_long_sentence_of_a_biography_is_cut_into_what_it_says() -> None:
    assert texts(HITCHCOCK) == [
        "Alfred Hitchcock made more than 50 feature films.",
        "Alfred Hitchcock moved to Hollywood in 1939.",
        "Alfred Hitchcock won the Irving G. Thalberg Memorial Award.",
        "Alfred Hitchcock received a knighthood in 1979.",
        "Alfred Hitchcock died in Los Angeles.",
        "Alfred Hitchcock died in 1980.",
        "Alfred Hitchcock was a film director.",
        "Alfred Hitchcock was English.",
        "Alfred Hitchcock was born in Leytonstone.",
    ]
    assert texts(NASH) == [
        "John Forbes Nash Jr. made fundamental contributions to game theory.",
        "John Forbes Nash Jr. made fundamental contributions to differential geometry.",
        "John Forbes Nash Jr. shared the 1994 Nobel Prize in Economics with Reinhard Selten.",
        "John Forbes Nash Jr. shared the 1994 Nobel Prize in Economics with John Harsanyi.",
        "John Forbes Nash Jr. died in a car crash.",
        "John Forbes Nash Jr. died in New Jersey.",
        "John Forbes Nash Jr. died in 2015.",
        "John Forbes Nash Jr. was a mathematician.",
        "John Forbes Nash Jr. was American.",
        "John Forbes Nash Jr. was born in Bluefield, West Virginia.",
    ]


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (
            "Critics say that the film is slow and that it bores viewers.",
            ["Critics say that the film is slow.", "Critics say that it bores viewers."],
        ),
        (
            "Marie Curie, who was born in Warsaw, discovered polonium [1] and **radium**.",
            [
                "Marie Curie discovered polonium.",
                "Marie Curie discovered radium.",
                "Marie Curie was born in Warsaw.",
            ],
        ),
        (
            "The firm can survive and pay its debts.",
            ["The firm can survive.", "The firm can pay its debts."],
        ),
        *(
            (one, [one])
            for one in (
                "The decision to extract molars, also known as wisdom teeth, should be based on an assessment.",
                "It began European imperialism and Africa's integration into the economy.",
                "They focus on new authors, as well as classic and established writers in the genre.",
                "It sprouts forth Into a flower and grows.",
                "Join us and see <b>new places</b> and people.",
                "The SM U-30 was a submarine used during World War I.",
            )
        ),
        (
            "Symptoms include fever, cough, and a sore throat.",
            [
                "Symptoms include fever.",
                "Symptoms include cough.",
                "Symptoms include a sore throat.",
            ],
        ),
        (
            "Although it is small, Malta has a long history.",
            ["Malta has a long history.", "It is small."],
        ),
        (
            "Exposure raises the risk of emotional issues like depression and anxiety.",
            [
                "Exposure raises the risk of emotional issues like depression.",
                "Exposure raises the risk of emotional issues like anxiety.",
            ],
        ),
        (
            "You can use tools such as R, SPSS, or Stata.",
            [
                "You can use tools such as R.",
                "You can use tools such as SPSS.",
                "You can use tools such as Stata.",
            ],
        ),
        (
            "If it rains, the river rises, and the bridge is closed.",
            ["If it rains, the river rises.", "If it rains, the bridge is closed."],
        ),
        (
            "It has been signed by 197 countries and ratified by 190.",
            ["It has been signed by 197 countries.", "It has been ratified by 190."],
        ),
        (
            "The story is filled with memorable characters, including the manipulative lawyer Mr. Jaggers, the convict "
            "Abel Magwitch, and the loyal friend Herbert Pocket.",
            [
                "The story is filled with memorable characters, including the manipulative lawyer Mr. Jaggers.",
                "The story is filled with memorable characters, including the convict Abel Magwitch.",
                "The story is filled with memorable characters, including the loyal friend Herbert Pocket.",
            ],
        ),
        (
            "The most common air or gas mixture used in recreational scuba diving is compressed air, which consists of "
            "oxygen.",
            [
                "The most common air or gas mixture used in recreational scuba diving is compressed air.",
                "The most common air or gas mixture used in recreational scuba diving consists of oxygen.",
            ],
        ),
        (
            "Haifeng Wang is a scientist at Baidu Research and his interests include deep learning and vision.",
            [
                "Haifeng Wang is a scientist at Baidu Research.",
                "His interests include deep learning.",
                "His interests include vision.",
            ],
        ),
        (
            "Yesterday, I woke up early and prepared breakfast for my family.",
            ["Yesterday, I woke up early.", "Yesterday, I prepared breakfast for my family."],
        ),
        (
            "The treaty is an agreement on climate change that aims to reduce emissions.",
            [
                "The treaty is an agreement on climate change.",
                "The treaty aims to reduce emissions.",
            ],
        ),
        (
            "The drug helps prevent harm and enables patients to walk.",
            ["The drug helps prevent harm.", "The drug enables patients to walk."],
        ),
        (
            "The egg came first, as it was laid by a reptile.",
            ["The egg came first.", "It was laid by a reptile."],
        ),
        (
            "It works on different devices, screens, and systems.",
            [
                "It works on different devices.",
                "It works on different screens.",
                "It works on different systems.",
            ],
        ),
        (
            "The navy possesses around 352 ships, including one aircraft carrier, 16 destroyers, and a notable fleet of "
            "63 submarines.",
            [
                "The navy possesses around 352 ships.",
                "The navy possesses one aircraft carrier.",
                "The navy possesses 16 destroyers.",
                "The navy possesses a notable fleet of 63 submarines.",
            ],
        ),
        (
            "Treatment options can include detoxification, which helps a person withdraw; outpatient treatment, which "
            "means living offsite, such as in a shelter, and traveling to rehab for treatment; and inpatient treatment, "
            "which means living onsite.",
            [
                "Treatment options can include detoxification, which helps a person withdraw.",
                "Treatment options can include outpatient treatment, which means living offsite, such as in a shelter, and "
                "traveling to rehab for treatment.",
                "Treatment options can include inpatient treatment, which means living onsite.",
            ],
        ),
        (
            "It currently ranks as the fourth-strongest navy globally by fleet strength, following the United States, "
            "China, and India.",
            [
                "It currently ranks as the fourth-strongest navy globally by fleet strength, following the United States.",
                "It currently ranks as the fourth-strongest navy globally by fleet strength, following China.",
                "It currently ranks as the fourth-strongest navy globally by fleet strength, following India.",
            ],
        ),
    ],
)
def test_each_construction(answer: str, expected: list[str]) -> None:
    assert texts(answer) == expected


@pytest.mark.parametrize(
    "answer",
    [
        "He did not eat and drink.",
        "Ann and Ben are doctors.",
        "She likes tea, cake and so on.",
        "They learn by trial and error.",
        "He saw cats, and dogs.",
        "He led the Department of Health and Labor.",
        "He did not sing and dance.",
        "Directors who made films died.",
        "Trade fell, which led to riots.",
        "She left, since it had rained.",
        "It was a small planet.",
        "She met a French chemist.",
        "He did not die in Paris in 1980.",
        "The town lies between Rome and Milan.",
        "It is a mix of sand and clay.",
        "The plan combined speed and safety.",
        "She does not like tea and cake.",
        "He works without pen and paper.",
        "The bridge closes and the ferry stops if it rains.",
        "Not only Anna but also Ben came and won.",
        "No doctor and no nurse saw him.",
        "She is taller than Ben and Carl.",
        "The treaty covers trade between France and Spain.",
        "People who smoke and drink die early.",
        "He came or left.",
        "The largest islands of the chain are Oahu, Maui, and Kauai.",
        "The sum is zero, meaning that the debt is paid.",
        "The tree stands by the gate, providing shade.",
        "“He came and saw”, she said and left.",
        "Did he come and go?",
        "A style that promotes trust, encourages sharing, and is fair would best suit the team.",
        "By reading and writing, children learn.",
        "He took part in the student and worker protests.",
        "The rivers are the Rhine and the Danube, among others.",
        "They were seen in the blasts of M1, M2, and M4 leukemias.",
        "This might result in a less prominent fill and key light on the subject.",
        "The child learns that climbing to access the toy is not the correct method and is encouraged to ask for help.",
        "If the evidence is strong enough and suggests that the risk is still present, services may consider it.",
        "The employer pays for commuting to and from work.",
        "It treats disorders with various causes, such as dehydration.",
        "You need a software that can perform both tasks, such as XLSTAT.",
        "Children experience trauma, leading to anxiety.",
        "It can include a strong, persistent urge, a burning sensation, cloudy, dark, or smelly urine, and pain.",
        "They must pass approval processes, such as those administered by the agency.",
        "Symptoms can include a strong, persistent urge, a burning sensation, passing stones, and cloudy urine.",
        "It measures the effect on properties such as vapor pressure lowering, boiling point elevation, freezing point "
        "depression and osmotic pressure.",
        "The weight and balance system consists of weighing the aircraft, maintaining the records, and loading it.",
    ],
)
def test_what_cannot_be_cut_without_changing_it_stays_whole(answer: str) -> None:
    assert texts(answer) == [answer]


SHORT = """
She likes tea and cake. -> She likes tea. She likes cake.
The river and the lake contain fish. -> The river contains fish. The lake contains fish.
Cats and dogs eat fish and rice. -> Cats eat fish. Cats eat rice. Dogs eat fish. Dogs eat rice.
He saw the nature and size of the town. -> He saw the nature of the town. He saw the size of the town.
It has various tools and methods. -> It has various tools. It has various methods.
It includes maps, even songs, and other texts. -> It includes maps. It includes songs. It includes texts.
It was built and sold. -> It was built. It was sold.
The navy has ships, including carriers. -> The navy has ships. The navy has carriers.
Nash, an American mathematician, won the prize. -> Nash won the prize. Nash was a mathematician. Nash was American.
They include an urge, a sensation, and pain. -> They include an urge. They include a sensation. They include pain.
She was a French chemist. -> She was a chemist. She was French.
He died in Paris in 1980. -> He died in Paris. He died in 1980.
He is known as a writer and a painter. -> He is known as a writer. He is known as a painter.
They sell drinks such as tea or milk. -> They sell drinks such as tea. They sell drinks such as milk.
They are made of steel and contain lead. -> They are made of steel. They contain lead.
The mill, widely known as a ruin, fell in 1980. -> The mill fell in 1980. The mill was widely known as a ruin.
He was crowned in Rome by the pope in 800. -> He was crowned by the pope. He was crowned in Rome. He was crowned in 800.
He was born in Lima; she was born in Rome. -> He was born in Lima. She was born in Rome.
In 1990, Ann moved to Rome, and Ben left Paris. -> In 1990, Ann moved to Rome. In 1990, Ben left Paris.
He wrote and directed several films. -> He wrote several films. He directed several films.
Ann and Ben have eaten. -> Ann has eaten. Ben has eaten.
She treats knee injuries and conditions. -> She treats knee injuries and conditions.
They affect cellular functions and interactions. -> They affect cellular functions and interactions.
He wrote of his grief and curiosity about the truth. -> He wrote of his grief and curiosity about the truth.
The tool is used for web and mobile app development. -> The tool is used for web and mobile app development.
The products are a solution of salt and iron. -> The products are a solution of salt and iron.
Its size, age, and mass are all known. -> Its size is known. Its age is known. Its mass is known.
There are two variables and only one equation. -> There are two variables. There is only one equation.
He made it by picking herbs and drying them. -> He made it by picking herbs and drying them.
Even though he felt sick, he went to work and did his best. -> He went to work. He did his best. He felt sick.
"""


@pytest.mark.parametrize("row", SHORT.strip().splitlines())
def test_a_short_sentence_is_cut_into_what_it_says(row: str) -> None:
    sentence, _, claims = row.partition(" -> ")
    assert " ".join(texts(sentence)) == claims


def test_two_lists_are_told_pair_by_pair_up_to_six_also_where_the_parser_sees_the_second_later() -> (
    None
):
    found = texts(
        "Online resources like UpToDate and Medscape also offer comprehensive and regularly updated advice."
    )
    assert found == [
        "Online resources like UpToDate also offer comprehensive advice.",
        "Online resources like Medscape also offer comprehensive advice.",
        "Online resources like UpToDate also offer regularly updated advice.",
        "Online resources like Medscape also offer regularly updated advice.",
    ]
    many = "Tables, chairs, lamps, and shelves are sold in Rome, Paris, London, Madrid, and Oslo."
    assert 4 <= len(texts(many)) <= 6


def test_a_consequence_is_no_other_name_of_what_stands_before_it() -> None:
    assert not any(
        "is hence" in text
        for text in texts("They ease absorbing and using images, hence their fame.")
    )


def test_the_spans_are_the_words_of_the_claim() -> None:
    answer = "She **was** born in Rome [1] and died in Paris."
    claims = CLAUSES.segment("", answer).claims
    assert [[answer[a:b] for a, b in c.spans] for c in claims] == [
        ["She **was** born in Rome"],
        ["She", "died in Paris"],
    ]
    assert all(c.sentence == (0, len(answer)) for c in claims) and len(claims) == 2


def test_predpatt_leaves_conditions_with_what_they_are_the_condition_of() -> None:
    answer = "If you want to keep a yarn, you must modify its weight, which is high."
    claims = [c.text for c in PredPatt(Settings()).segment("", answer).claims]
    assert not any(c.startswith("You want") or c.startswith("You keep") for c in claims)


def test_predpatt_as_published_makes_a_claim_of_each_predicate() -> None:
    claims = [c.text for c in PublishedPredPatt(Settings()).segment("", NASH).claims]
    assert "The American mathematician was born in Bluefield, West Virginia." in claims
    his = [
        c.text
        for c in PublishedPredPatt(Settings()).segment("", "His sisters sold the house.").claims
    ]
    assert his == ["He had sisters.", "His sisters sold the house."]


def test_a_set_phrase_is_one_thing() -> None:
    assert texts("The film is in black and white.") == ["The film is in black and white."]
    assert texts("Prices follow supply and demand.") == ["Prices follow supply and demand."]
