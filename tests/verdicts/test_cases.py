"""The hand-made cases: complete pairs of the promised form, and the badges they get from recorded
judgements.
"""

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any, get_args

import pytest

from attribution.settings import Settings
from attribution.types import Label
from benchmarks.verdict_cases import judged, read_recorded, recorded

PAIRS = {
    "cases": {"target": 30, "time": 20, "told": 30, "slot": 20, "heading": 20},
    "seen": {"target": 15, "time": 12, "told": 15, "slot": 9, "heading": 9},
    "fresh": {"target": 10, "time": 8, "told": 10, "slot": 6, "heading": 6},
}


def rows(name: str) -> list[dict[str, Any]]:
    return [
        json.loads(line)
        for line in Path(__file__).with_name(f"{name}.jsonl").read_text("utf-8").splitlines()
    ]


FILES = {name: rows(name) for name in PAIRS}
CASES = [case for cases in FILES.values() for case in cases]
NEEDED = {"id", "kind", "pair", "claim", "passages", "expect", "never", "why"}


def test_every_pair_is_complete_and_there_are_enough_of_each_kind() -> None:
    assert len({case["id"] for case in CASES}) == len(CASES)
    sides = Counter(case["pair"] for case in CASES)
    assert sorted(case["id"] for case in CASES) == sorted(
        pair + side for pair in sides for side in "ab"
    )
    for name, least in PAIRS.items():
        kinds = Counter(case["kind"] for case in FILES[name] if case["id"].endswith("a"))
        assert kinds.keys() == least.keys() and kinds >= Counter(least)


def test_cases_have_the_promised_form() -> None:
    labels = set(get_args(Label))
    for case in CASES:
        assert case.keys() >= NEEDED and case.keys() <= NEEDED | {"question", "heading", "lead"}
        assert case["pair"] == case["id"][:-1] and re.fullmatch(
            rf"(?:fresh-|seen-)?{case['kind']}-\d\d", case["pair"]
        )
        assert case["passages"] and all(
            {"text"} <= p.keys() <= {"text", "title", "heading"} for p in case["passages"]
        )
        assert case["expect"] and case["never"] and {*case["expect"], *case["never"]} <= labels
        assert not {*case["expect"]} & {*case["never"]}


@pytest.mark.parametrize(
    ("name", "right", "plainly_wrong"), [("cases", 219, 8), ("seen", 79, 19), ("fresh", 58, 11)]
)
def test_the_badges_of_what_the_models_said_are_no_worse(
    name: str, right: int, plainly_wrong: int
) -> None:
    """Reservations, relevance, differences and the decision, without a model. Better figures go in
    here.
    """
    settings = Settings(verifier="embedded-base", database_url="sqlite://")
    with recorded(read_recorded()) as verifier:
        outcomes = Counter(outcome for *_, outcome in judged(FILES[name], verifier, settings))
    assert outcomes["right"] >= right and outcomes["plainly wrong"] <= plainly_wrong
