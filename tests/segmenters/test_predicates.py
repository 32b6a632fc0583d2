"""Predicates and arguments: what PredPatt's authors' program (decomp 0.3.2) finds in the same
trees.
"""

import json
from pathlib import Path

import pytest

from attribution.segmenters.english.ud import Word
from attribution.segmenters.predicates import predicates

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
