from __future__ import annotations

import gzip
import json
import random
from pathlib import Path

import pytest

from training import data


def write(path: Path, rows: list[dict]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with gzip.open(path, "wt", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)


def row(premise: str, hypothesis: str, label: str = "entailment", split: str = "train") -> dict:
    return {"premise": premise, "hypothesis": hypothesis, "label": label, "source": "s", "split": split}


def test_a_pair_is_kept_once_and_three_way_labels_win(tmp_path: Path) -> None:
    write(
        tmp_path / "a_binary.jsonl.gz",
        [row("One.", "Two.", "not_entailment"), row("Three.", "Four.", "not_entailment")],
    )
    write(tmp_path / "z.jsonl.gz", [row("one", "two!", "contradiction"), row("P", "H", split="dev")])
    train, dev = data.load(tmp_path)
    assert [(p.source, p.target) for p in train] == [("z", 2), ("a_binary", data.NOT_ENTAILMENT)]
    assert [p.premise for p in dev] == ["P"]


def test_evaluation_pairs_are_left_out(tmp_path: Path) -> None:
    (tmp_path / "nli").mkdir()
    (tmp_path / "eval").mkdir()
    write(tmp_path / "nli" / "x.jsonl.gz", [row("One.", "Two."), row("Three.", "Four.")])
    write(tmp_path / "eval" / "y.jsonl.gz", [{"claim": "two", "evidence": "ONE"}])
    train, _ = data.load(tmp_path / "nli", data.evaluation_keys(tmp_path / "eval"))
    assert [p.premise for p in train] == ["Three."]


def test_an_unknown_label_and_an_empty_folder_are_said(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no \\*.jsonl"):
        data.load(tmp_path)
    write(tmp_path / "x.jsonl.gz", [row("a", "b", "perhaps")])
    with pytest.raises(ValueError, match="row 1: label 'perhaps'"):
        data.load(tmp_path)


def test_a_changed_number_is_another_number() -> None:
    rng = random.Random(1)
    for text in ("Born in 1899.", "It has 3 parts and 1,204 screws", "7"):
        for _ in range(20):
            changed = data.changed_number(text, rng)
            assert changed and changed != text and len(changed) == len(text)
    assert data.changed_number("No figures here.", rng) is None


def test_pairs_made_by_rule_contradict() -> None:
    numbered = [
        data.Pair(f"In 19{i} the river was {i} km long.", f"The river was {i} km long.", 0, "s") for i in range(10, 50)
    ]
    plain = [
        data.Pair(f"The {w} is old and the town near.", f"The {w} is old.", 0, "s")
        for w in ("mill", "inn", "pier") * 20
    ]
    pairs = numbered + plain
    made = data.by_rule(pairs, 1)
    assert {p.target for p in made} == {2}
    known = {(p.premise, p.hypothesis) for p in pairs}
    assert all((p.premise, p.hypothesis) not in known for p in made)
    premises = {p.premise for p in pairs}
    assert all(p.premise in premises for p in made)
    assert data.by_rule(pairs, 1) == made
