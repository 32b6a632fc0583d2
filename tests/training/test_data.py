from __future__ import annotations

import gzip
import json
import random
from pathlib import Path

import pytest

from training import data


def write(path: Path, rows: list[dict]) -> None:
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


def encyclopaedia() -> list[data.Pair]:
    """Forty towns, each with a river that another shares."""
    return [
        data.Pair(
            f"Town{i} lies on the Rivulet{i // 2} and was founded by settlers long ago, as records show.",
            f"Town{i} was founded on the Rivulet{i // 2} by Person{i}.",
            i % 3,
            "towns",
        )
        for i in range(40)
    ]


def test_neighbours_share_a_telling_word_but_not_the_claim() -> None:
    pairs = encyclopaedia()
    index = data.neighbours(pairs)["towns"]
    found = index.near(pairs[4].hypothesis, pairs[4].premise)
    assert found and found[0].startswith("Town5 ")
    assert not any("Town4 " in text for text in found)
    assert data.neighbours([data.Pair("A man sleeps.", "A man rests.", 0, "snli_cad")]) == {}


def test_a_text_set_in_a_chunk_stays_whole() -> None:
    rng = random.Random(1)
    for _ in range(50):
        made = data.in_chunk("The decisive sentence.", ["Other words " * 30, "Third text. " * 30], rng)
        assert "The decisive sentence." in made and len(made) <= data.CHUNK + 2


def test_a_pass_keeps_labels_and_sets_claims_against_near_passages() -> None:
    pairs = encyclopaedia() * 5
    drawn = data.one_pass(pairs, 1, data.neighbours(pairs), longer=0.5, strangers=0.5)
    own = [p for p in drawn if any(q.premise in p.premise for q in pairs if q.hypothesis == p.hypothesis)]
    strangers = [p for p in drawn if p not in own]
    assert len(own) == len(pairs)
    assert all(p.target == q.target for p, q in zip(own, pairs, strict=True))
    assert 50 < sum(p.premise != q.premise for p, q in zip(own, pairs, strict=True)) < 150
    assert len(strangers) > 50 and all(p.target == 1 and p.weight < 1 for p in strangers)
    assert {p.hypothesis for p in strangers} > {q.hypothesis for q in pairs if q.target == 2 and q in pairs[:9]}
    assert data.one_pass(pairs, 1, {}) == pairs
