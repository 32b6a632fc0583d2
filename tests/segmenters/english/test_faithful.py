import pytest

from attribution.segmenters.clauses import Clauses
from attribution.segmenters.english.drafts import added, parts
from attribution.segmenters.english.faithful import (
    changed,
    cut_off,
    is_imperative,
    is_sentence,
    is_sound,
)
from attribution.segmenters.predpatt import PredPatt
from attribution.settings import Settings
from attribution.text.parse import parse
from tests.segmenters.parses import made


@pytest.mark.parametrize(
    ("text", "sound"),
    [
        ("Ann sings songs.", True),
        ("Because Ann sings songs.", False),
        ("The singing of songs.", False),
        ("Which was sung by Ann.", False),
        ("Ann sings. Ben dances.", False),
    ],
)
def test_one_whole_sentence_with_a_subject_and_a_finite_verb(text: str, sound: bool) -> None:
    assert is_sentence(text) is sound


@pytest.mark.parametrize(
    ("start", "end", "sound"),
    [(0, 3, True), (0, 2, False), (1, 3, False), (3, 7, False), (4, 7, True), (0, 8, True)],
)
def test_pieces_of_a_sentence(start: int, end: int, sound: bool) -> None:
    doc = parse("Ann sings songs because Ben likes them.")
    assert is_sound(doc, parts(doc[start:end])) is sound


def test_an_added_verb_makes_a_statement() -> None:
    doc = parse("Nash, an American mathematician, won.")
    assert is_sound(doc, (*parts(doc[:1]), *added("was"), *parts(doc[2:5])))
    assert not is_sound(doc, parts(doc[2:5]))


def test_imperatives_have_no_subject() -> None:
    assert is_imperative(next(parse("Press on it.").sents).root)
    assert not is_imperative(next(parse("They press on it.").sents).root)


CASES = {
    # Nothing that the sentence denies, supposes, reports or offers as an alternative.
    "Ines is weighing whether to submit, and the March conference is confirmed as the decision.": {
        "Ines is weighing whether to submit.",
        "The March conference is confirmed as the decision.",
    },
    "No surprises were found and the repair is finished.": {
        "No surprises were found.",
        "The repair is finished.",
    },
    "The drug may cause dizziness, headaches, or nausea.": set(),
    "The minister denied that he had taken money.": set(),
    "The mayor denied that he had taken money or that he knew the builder.": set(),
    "It is false that the dam broke in 1923.": set(),
    "It is unlikely that the comet will return and that the probe will reach it.": set(),
    "The court doubted that the firm knew of the leak.": set(),
    "The drug neither lowers blood pressure nor affects sleep.": set(),
    "Unless the red button is pushed and the power fails the system continues to operate.": set(),
    "The law bans smoking in trains unless a separate room is provided.": set(),
    "The valve opens only when the pressure exceeds 4 bar and the temperature stays below 90 degrees.": set(),
    "He reportedly sold the house and left the country.": set(),
    "The virus rarely spreads through food or water.": set(),
    "Few birds nest on the island or visit it.": set(),
    "Patients can take the tablets with water, milk or juice and should rest.": {
        "Patients can take the tablets with water, milk or juice.",
        "Patients should rest.",
    },
    # What is said of several together.
    "Only Norway and Iceland signed the treaty.": set(),
    "Both the north and the south tower were rebuilt, but only the north tower has a clock.": set(),
    "Most but not all of the villages and none of the towns have a school.": set(),
    "Lena and Tom married in 1990.": set(),
    "The trial compared aspirin, warfarin, and placebo.": set(),
    # Words that the parser would give another head.
    "Angela Merkel was born in Hamburg, Germany, and studied physics at Leipzig.": set(),
    "Charles Babbage was a French mathematician, philosopher, and food critic.": set(),
    "The novel was written by Olga Brandt, translated by Per Lund, and published in 1977.": set(),
    "Mozart composed operas, symphonies, and masses, and died in Vienna, Austria, in 1791.": set(),
    "Symptoms can include a burning sensation, passing small amounts of urine, and cloudy urine.": set(),
    # What is asserted is split.
    "The house was designed by Adam, a Scot, and built by Brown.": {
        "The house was designed by Adam.",
        "The house was built by Brown.",
        "Adam was a Scot.",
    },
    "He won the race, but was later disqualified.": {
        "He won the race.",
        "He was later disqualified.",
    },
    "The lake and the river are frozen.": {"The lake is frozen.", "The river is frozen."},
}


@pytest.mark.parametrize("segmenter", [Clauses, PredPatt])
@pytest.mark.parametrize(("sentence", "claims"), CASES.items())
def test_a_claim_says_only_what_its_sentence_says(
    segmenter: type[Clauses | PredPatt], sentence: str, claims: set[str]
) -> None:
    assert {c.text for c in segmenter(Settings()).segment("", sentence).claims} - claims in (
        set(),
        {sentence},
    )


@pytest.mark.parametrize(("sentence", "claims"), [(s, c) for s, c in CASES.items() if c])
def test_what_is_asserted_is_split(sentence: str, claims: set[str]) -> None:
    assert {c.text for c in Clauses(Settings()).segment("", sentence).claims} == claims


def test_a_kept_word_with_another_head_or_part_of_speech_is_found() -> None:
    doc = made("Ann NNP nsubj 1", "sings VBZ ROOT 1", "songs NNS dobj 1", "loudly RB advmod 2")
    assert [word for word, *_ in changed(doc, parts(doc[i] for i in (0, 1, 3)))] == ["loudly"]
    assert not list(changed(doc, parts(doc[:3])))


@pytest.mark.parametrize(
    ("sentence", "start", "end", "lost"),
    [
        ("They deny that the dam broke.", 3, 6, ["deny"]),
        ("If it rains, the river rises.", 1, 3, ["If"]),
        ("Ann did not sing and Ben danced.", 5, 7, []),
        ("Ann sang or Ben danced.", 0, 2, ["or"]),
    ],
)
def test_what_a_piece_stands_under(sentence: str, start: int, end: int, lost: list[str]) -> None:
    doc = parse(sentence)
    assert list(dict.fromkeys(cut_off(doc, parts(doc[start:end])))) == lost
