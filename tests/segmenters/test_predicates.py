"""Predicates and arguments: what PredPatt's authors' program (decomp 0.3.2) finds in the same
trees.
"""

import json
from pathlib import Path

import pytest

from attribution.segmenters.predicates import predicates
from attribution.text.parse import parse
from attribution.text.ud import Word, to_ud

# 200 sentences of this project; of each the words, the tree as tag/head/relation, and the program's
# predicates with the flags of W24 B
REFERENCE = [
    json.loads(line)
    for line in Path(__file__).with_name("predicates.jsonl").read_text("utf-8").splitlines()
]


def tree(row: dict[str, str]) -> list[Word]:
    words = zip(row["words"].split(), (one.split("/") for one in row["tree"].split()), strict=True)
    return [
        Word(n, text, text, upos, "", "_", int(head), relation, True)
        for n, (text, (upos, head, relation)) in enumerate(words, 1)
    ]


def numbers(tokens: list[int]) -> str:
    return ",".join(map(str, sorted(set(tokens))))


@pytest.mark.parametrize("row", REFERENCE, ids=lambda row: str(row["words"])[:40])
def test_predicates_and_arguments_are_those_of_the_authors_program(row: dict[str, str]) -> None:
    made = [
        f"{p.kind} {numbers(p.tokens)} | {'; '.join(numbers(a.tokens) for a in p.arguments)}"
        for p in predicates(tree(row))
    ]
    assert sorted(made) == sorted(row["paper"])


FUNCTION_WORDS = {
    "det": {"DET", "PRON"},
    "cc": {"CCONJ", "ADV", "PART", "SCONJ"},
    "nummod": {"NUM"},
    "cop": {"AUX"},
    "punct": {"PUNCT"},
    "aux": {"AUX"},
}


def follows_guidelines(words: list[Word]) -> bool:
    """Check what UD's validator would: tags of function words, and that nothing depends on them."""
    for word in words:
        relation = word.relation.partition(":")[0]
        if word.upos not in FUNCTION_WORDS.get(relation, {word.upos}):
            return False
        below = [w.relation.partition(":")[0] for w in words if w.head == word.number]
        if below.count("nsubj") > 1 or below.count("obj") > 1:
            return False
        if relation in {"cc", "punct", "aux", "cop"} and below:
            return False
    return True


def test_nearly_all_converted_trees_follow_the_guidelines() -> None:
    trees = [to_ud(parse(row["words"])) for row in REFERENCE]
    assert sum(map(follows_guidelines, trees)) >= 184
