import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, balanced_accuracy_score, f1_score

from attribution.claims.context import dependence_reason
from attribution.claims.worthiness import classify, classify_text
from tests.make import claim

DATA = Path(__file__).parents[1] / "data"


def cases() -> list[tuple[str, str]]:
    """The sentences of worthiness_classes.txt, each with its class."""
    found, label = [], ""
    for line in (DATA / "worthiness_classes.txt").read_text("utf-8").splitlines()[1:]:
        label = line.strip("[]") if re.fullmatch(r"\[[a-z_]+\]", line) else label
        found += [(line, label)] if line and line != f"[{label}]" else []
    return found


@pytest.mark.parametrize(("text", "expected"), cases())
def test_each_kind_of_sentence(text: str, expected: str) -> None:
    assert classify_text(text)[0] == expected


@given(st.text(max_size=200))
def test_any_text_is_classified_and_all_but_facts_have_a_reason(text: str) -> None:
    worthiness, reason = classify_text(text)
    assert bool(reason) == (worthiness != "factual")


def test_claims_keep_everything_else() -> None:
    before = claim("I think so.", None)
    (after,) = classify([before])
    assert after.worthiness == "opinion"
    assert after.worthiness_reason
    assert after.model_copy(update={"worthiness": None, "worthiness_reason": ""}) == before


@pytest.mark.parametrize("half", ["tune", "test"])
def test_sentences_of_real_answers_labelled_by_hand(half: str) -> None:
    lines = (DATA / "worthiness.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [row for row in map(json.loads, lines) if row["half"] == half]
    gold = [row["label"] == "factual" for row in rows]
    guess = [classify_text(row["text"])[0] == "factual" for row in rows]
    assert accuracy_score(gold, guess) >= max(0.85, sum(gold) / len(gold) + 0.1)
    assert balanced_accuracy_score(gold, guess) >= 0.8
    assert f1_score(gold, guess, average="macro") >= 0.8


@pytest.mark.parametrize(
    "row", ["Film: Psycho; Year: 1960", "Planet: Mars; Moons: two", "Mars | two", "a|b"]
)
def test_a_table_row_is_factual_but_not_independent(row: str) -> None:
    assert classify_text(row) == classify_text("Capital: Paris") == ("factual", "")
    assert dependence_reason(row).startswith("A table row: ")


@pytest.mark.parametrize(
    "cell", ["Tarn: 17 (Points)", "Dark mode: Plan A: yes", "Kibo: 5,895 m (Height)"]
)
def test_a_cell_with_its_headings_is_factual_and_independent(cell: str) -> None:
    assert classify_text(cell) == ("factual", "")
    assert dependence_reason(cell) == ""


@pytest.mark.parametrize("text", ["Mars: two moons", "He said: yes; no", "Two moons; small ones"])
def test_a_colon_alone_is_no_table_row(text: str) -> None:
    assert not dependence_reason(text).startswith("A table row: ")


def test_the_rules_decide_nothing_about_an_answer_in_another_language() -> None:
    answer = "ナイル川は北に流れる。地中海に注ぐ。全長は約6650キロメートルである。"
    claims = [claim(text) for text in ("ナイル川は北に流れる。", "地中海に注ぐ。")]
    assert {c.worthiness for c in classify(claims)} != {"factual"}  # by the rules for English
    assert {c.worthiness for c in classify(claims, answer)} == {"factual"}
