import pytest

from attribution.segmenters.english.ud import LABELS, to_conllu, to_ud
from attribution.text.parse import parse
from tests.segmenters.test_clauses import WHOLE

EXPECTED = {
    "She is a teacher from Rome.": "nsubj>4 cop>4 det>4 root>0 case>6 nmod>4 punct>4",
    "He is in Paris.": "nsubj>4 cop>4 case>4 root>0 punct>4",
    "It is not good.": "nsubj>4 cop>4 advmod>4 root>0 punct>4",
    "There are two dogs in the garden.": "expl>2 root>0 nummod>4 nsubj>2 case>7 det>7 nmod>4 punct>2",
    "The book was written by Ann in 1990.": "det>2 nsubj:pass>4 aux:pass>4 root>0 case>6 obl:agent>4 case>8 obl>4 punct>4",
    "He gave the book to her.": "nsubj>2 root>0 det>4 obj>2 case>6 obl>2 punct>2",
    "He wants to buy the house of his uncle.": "nsubj>2 root>0 mark>4 xcomp>2 det>6 obj>4 case>9 nmod:poss>9 nmod>6 punct>2",
    "She left without saying goodbye.": "nsubj>2 root>0 mark>4 advcl>2 obj>4 punct>2",
    "He likes tea, cake, and jam.": "nsubj>2 root>0 obj>2 punct>3 conj>3 punct>5 cc>8 conj>3 punct>2",
    "Ann sang and Ben danced, but nobody came.": "nsubj>2 root>0 cc>5 nsubj>5 conj>2 punct>5 cc>9 nsubj>9 conj>2 punct>2",
    "The mice that ate cheese ran out of the room.": "det>2 nsubj>6 nsubj>4 acl:relcl>2 obj>4 root>0 case>10 case>10 det>10 obl>6 punct>6",
}
UNIVERSAL = {
    "acl",
    "advcl",
    "advmod",
    "amod",
    "appos",
    "aux",
    "case",
    "cc",
    "ccomp",
    "compound",
    "conj",
    "cop",
    "csubj",
    "dep",
    "det",
    "discourse",
    "expl",
    "iobj",
    "mark",
    "nmod",
    "nsubj",
    "nummod",
    "obj",
    "obl",
    "parataxis",
    "punct",
    "root",
    "xcomp",
}


@pytest.mark.parametrize(("sentence", "relations"), EXPECTED.items())
def test_each_construction(sentence: str, relations: str) -> None:
    assert " ".join(f"{w.relation}>{w.head}" for w in to_ud(parse(sentence))) == relations


@pytest.mark.parametrize("sentence", [*EXPECTED, *WHOLE.strip().splitlines()])
def test_every_sentence_is_one_tree_of_universal_relations(sentence: str) -> None:
    words = to_ud(parse(sentence))
    assert [w.number for w in words] == list(range(1, len(words) + 1))
    assert [w.relation for w in words].count("root") == 1 == [w.head for w in words].count(0)
    assert {w.relation.partition(":")[0] for w in words} <= UNIVERSAL
    for word in words:  # every word leads to the root
        above, steps = word, 0
        while above.head:
            above, steps = words[above.head - 1], steps + 1
            assert steps < len(words)


def test_lemmas_go_with_the_part_of_speech_and_conllu_has_ten_columns() -> None:
    assert [w.lemma for w in to_ud(parse("The mice were running in Paris."))] == [
        "the",
        "mouse",
        "be",
        "run",
        "in",
        "Paris",
        ".",
    ]
    lines = to_conllu(parse("He wasn't born in 1899.")).splitlines()
    rows = [line.split("\t") for line in lines[1:]]
    assert lines[0].startswith("# text =")
    assert all(len(r) == 10 for r in rows)
    assert "SpaceAfter=No" in rows[1][9]
    assert not {r[7] for r in rows} & set(LABELS)
