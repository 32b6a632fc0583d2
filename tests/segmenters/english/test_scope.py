import pytest

from attribution.segmenters.english.scope import is_reliable
from attribution.text.parse import parse
from tests.segmenters.parses import made


@pytest.mark.parametrize(
    "text", ["Ann sings and dances.", "Ann, who sings, dances.", "Ann left because it rained."]
)
def test_ordinary_sentences_are_reliable(text: str) -> None:
    assert is_reliable(parse(text))


@pytest.mark.parametrize(
    "rows",
    [
        [
            "Ann NNP nsubj 1",
            "sings VBZ ROOT 1",
            "songs NNS dobj 1",
            "made VBD conj 1",
        ],  # no conjunction
        [
            "Ben NNP ROOT 0",
            "and CC cc 0",
            "arias NNS conj 0",
            "of NN compound 2",
            "sung VBN acl 2",
            ", , punct 0",
        ],
        [
            "born VBN ROOT 0",
            "in RP prep 0",
            "Lima NNP pobj 1",
            "Peru NNP conj 2",
            "and CC cc 0",
            "physics NN conj 0",
        ],
        [
            "list VBP ROOT 0",
            "fever NN dobj 0",
            ", , punct 0",
            "passing VBG advcl 0",
            "stones NNS dobj 3",
            ", , punct 3",
            "and CC cc 3",
            "pain NN conj 3",
        ],
    ],
    ids=["conjunction", "participle", "list without and", "gerund"],
)
def test_signs_that_the_parser_lost_its_way(rows: list[str]) -> None:
    assert not is_reliable(made(*rows))
