import pytest
from hypothesis import given
from hypothesis import strategies as st

from attribution.evidence.about import is_about, other_subject, other_time

SUEZ = "The Suez Canal was opened on 17 November 1869."


@pytest.mark.parametrize(
    ("claim", "passage", "title", "about"),
    [
        (
            SUEZ,
            "On the Origin of Species was published on 24 November 1859, and opened a debate.",
            "Darwin",
            False,
        ),
        (SUEZ, "The Panama Canal was opened on 15 August 1914.", "Panama Canal", False),
        (
            SUEZ,
            "It was opened in the autumn after ten years of work on the canal.",
            "Suez Canal",
            True,
        ),
        (SUEZ, "The opening of the Suez Canal drew thousands of guests.", "", True),
        (
            "Marie Curie won the Nobel Prize twice.",
            "Marie Smith won a prize at the fair.",
            "",
            False,
        ),
        (
            "Marie Curie won the Nobel Prize twice.",
            "Curie shared the Nobel Prize in 1903 with her husband.",
            "",
            True,
        ),
        (
            "Water boils at lower temperatures on mountains.",
            "On high mountains water boils sooner.",
            "",
            True,
        ),
        ("Water boils at lower temperatures on mountains.", "The choir sang on Sunday.", "", False),
        ("It was so.", "Anything.", "", True),  # there is nothing to tell by
    ],
)
def test_a_passage_is_about_a_claim_if_it_has_its_names_and_words(
    claim: str, passage: str, title: str, about: bool
) -> None:
    assert is_about(claim, passage, title) is about


@given(st.text(max_size=120))
def test_every_text_is_about_itself(text: str) -> None:
    assert is_about(text, text)


@pytest.mark.parametrize(
    ("claim", "passage", "title"),
    [
        (
            "The economist Ola Berg was born in 1951.",
            "Ola Berg, born in 1968, is a paediatrician.",
            "Ola Berg (physician)",
        ),
        ("The Panama Canal opened in 1914.", "The canal opened in 1869.", "Suez Canal"),
        ("Paul Krugman won a prize in 2008.", "John Krugman won a prize in 2010.", ""),
    ],
)
def test_a_passage_about_another_subject_does_not_contradict(
    claim: str, passage: str, title: str
) -> None:
    assert other_subject(claim, passage, title, strict=True)


def test_what_a_passage_does_not_name_is_told() -> None:
    claim, passage = (
        "Fleming, Florey and Heatley shared a prize in 1945.",
        "Fleming, Florey and Chain shared it in 1945.",
    )
    assert (
        other_subject(claim, passage, "Penicillin", strict=True)
        == "it is not confirmed to be about “Heatley”"
    )


@pytest.mark.parametrize(
    ("claim", "title", "other"),
    [
        ("The Kessel K4 kettle holds 2 litres.", "Kessel T2 toaster", "the source is about T2"),
        (
            "The Orbit Z100 weighs 200 grams.",
            "Orbit Z100 Pro: data sheet",
            "the source is about Z100 Pro",
        ),
        ("The Orbit Z100 Pro weighs 200 grams.", "Orbit Z100 Pro: data sheet", ""),
        ("The Orbit Z100 weighs 200 grams.", "Orbit Z100 and Z100 Pro compared", ""),
        ("The Kessel K4 kettle holds 2 litres.", "Kessel kettles", ""),
    ],
)
def test_a_page_about_another_model_is_about_another_thing(
    claim: str, title: str, other: str
) -> None:
    assert other_subject(claim, "It holds 2 litres and weighs 200 grams.", title) == other


def test_a_page_that_names_another_owner_or_no_name_of_the_heading_does_not_support() -> None:
    passage = "The sonata for cello is in G minor."
    assert (
        other_subject("Brahms's cello sonata is in G minor.", passage, "Chopin")
        == "it is not confirmed to be about “Brahms”"
    )
    assert not other_subject("Chopin's cello sonata is in G minor.", passage, "Chopin")
    lead = ("Five countries founded the Nordic Council:",)
    assert other_subject(
        "Turkey was one of them.", "Turkey was one of its founders.", "The Black Sea pact", lead
    )
    assert not other_subject(
        "Iceland was one of them.", "Iceland was a founder.", "The Nordic Council", lead
    )
    fare = ("Flying with us", "The Light fare")
    assert other_subject("It includes one bag.", "It includes one bag.", "Our fares: Classic", fare)


def test_a_passage_that_names_the_subject_in_part_or_in_its_title_is_about_it() -> None:
    assert not other_subject(
        "Marie Curie won a prize in 1911.", "Curie won it for radium in 1910.", "", strict=False
    )
    assert not other_subject(
        "The Suez Canal opened in 1869.", "The canal opened in 1870.", "Suez Canal", strict=True
    )
    assert not other_subject(
        "About 50 million Europeans died.", "50 million of Europe's people died.", "Plague"
    )


def test_a_claim_without_a_name_is_about_its_heading() -> None:
    claim, passage = "Each main cable contains 27,572 wires.", "Each main cable has 5,434 wires."
    assert other_subject(
        claim, passage, "Brooklyn Bridge", ("The Golden Gate Bridge",), strict=True
    )
    assert other_subject(
        "Sales fell.", "Sales fell.", "Industrial division", ("Consumer division",)
    )
    assert not other_subject(
        claim, passage, "Golden Gate Bridge", ("The Golden Gate Bridge",), strict=True
    )
    assert not other_subject(
        claim, passage, "Golden Gate Bridge", ("The Golden Gate Bridge", "History"), strict=True
    )


def test_a_heading_that_names_no_thing_says_nothing_about_the_source() -> None:
    claim, passage = (
        "It was adapted from a novel by Stefano.",
        "The film was adapted from a novel by Robert Bloch.",
    )
    assert not other_subject(
        claim,
        passage,
        "Psycho (1960 film)",
        ("Hitchcock and Psycho", "Making the film"),
        strict=True,
    )
    assert other_subject(
        claim, passage, "Vertigo", ("Hitchcock and Psycho", "Making the film"), strict=True
    )


@pytest.mark.parametrize(
    ("claim", "sentence", "other"),
    [
        ("She won the race in 2015.", "She won the race in 2019.", True),
        ("She was born in 1915.", "She was born in 1919.", False),  # that happens once
        ("The bell was cast in 1478.", "The bell was cast in 1487.", False),
        ("The tower is 330 metres tall.", "In 1889 the tower was 312 metres tall.", True),
        ("The tower is 330 metres tall.", "The tower is 312 metres tall.", False),
        ("The museum closes at 4 in winter.", "The museum closes at 6 in summer.", True),
        ("In 2010 she led the company.", "She led the company from 2005 to 2014.", False),
    ],
)
def test_another_year_or_state_is_another_time_unless_it_happens_once(
    claim: str, sentence: str, other: bool
) -> None:
    assert bool(other_time(claim, sentence, (0, len(sentence)))) == other


@pytest.mark.parametrize(
    "label", ["Short answer", "Bottom line", "Museum", "Key points", "Building"]
)
def test_a_label_that_names_a_side_is_no_subject_that_a_source_must_name(label: str) -> None:
    passage, headings = "It opened in 1889 for the fair.", ("Eiffel Tower", label)
    assert not other_subject("It opened in 1889.", passage, "Eiffel Tower", headings)
    assert other_subject(
        "It opened in 1889.", passage, "Eiffel Tower", ("Eiffel Tower", "Blackpool Tower")
    )
