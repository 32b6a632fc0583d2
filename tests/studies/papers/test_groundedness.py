import json
import random
from collections import Counter
from pathlib import Path

import pytest
from sklearn.metrics import accuracy_score, precision_recall_fscore_support

from attribution.cli.main import main
from attribution.files import Row
from attribution.studies.groundedness.labelled_set import labelled_set
from attribution.studies.papers.groundedness import divided, macro


def response(n: int, grounded: bool, **fields: object) -> dict[str, object]:
    context = f"The permit number {n} is valid for two years and costs ten euros."
    text = context if grounded else f"Bicycles must be parked behind the {n}th house."
    return {
        "question": f"Question {n}?",
        "context": context,
        "response": text,
        "grounded": grounded,
        **fields,
    }


@pytest.mark.parametrize("seed", range(5))
def test_macro_figures_are_scikit_learns(seed: int) -> None:
    draw = random.Random(seed)
    gold, found = ([draw.random() < 0.6 for _ in range(40)] for _ in range(2))
    expected = precision_recall_fscore_support(gold, found, average="macro", zero_division=0)[:3]
    assert macro(gold, found) == pytest.approx((*expected, accuracy_score(gold, found)), abs=1e-4)
    one_class = precision_recall_fscore_support(
        gold, [True] * 40, average="macro", zero_division=0
    )[:3]
    assert macro(gold, [True] * 40)[:3] == pytest.approx(one_class, abs=1e-4)


def test_groups_are_divided_seventy_ten_twenty_and_named_splits_are_kept() -> None:
    rows = labelled_set([Row(n, response(n // 2, n % 2 == 0)) for n in range(200)]).rows
    split = divided(rows, {})
    assert Counter(split.values()) == {"Training": 140, "Development": 20, "Testing": 40}
    assert all(len({split[r.id] for r in rows if r.group == row.group}) == 1 for row in rows)
    assert divided(rows, {rows[0].id: "Testing"})[rows[0].id] == "Testing"


def write(folder: Path) -> Path:
    rows = [
        response(
            n,
            n % 2 == 0,
            split=("train", "dev", "test")[n % 3],
            error_type="terminological_error; misattribution",
        )
        for n in range(24)
    ]
    path = folder / "set.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.mark.parametrize("number", ["T24.T1", "T24.T3", "T24.T4"])
def test_tables_and_plots_of_a_labelled_set(tmp_path: Path, number: str) -> None:
    out = tmp_path / "out"
    command = ["reproduce", number, "--input", str(write(tmp_path)), "--out", str(out)]
    assert main([*command, "--set", "verifier=embedded-small", "--set", "embedder=minilm"]) == 0
    made = json.loads((out / "table.json").read_text())
    if number == "T24.T1":
        assert made["ours"] == {
            "Training": [8, 8, 8],
            "Development": [8, 8, 8],
            "Testing": [8, 8, 8],
            "Total": [24, 24, 24],
        }
    elif number == "T24.T3":
        assert made["ours"]["COS_SIM"] == [1.0] * 8 and {
            "QUIP",
            "GC-large",
            "SCGPT (ContextNLI)",
        } <= set(made["ours"])
        assert (
            "LYNX v1.1" in {one["setting"] for one in made["stood_in"]}
            and (out / "F2.html").is_file()
        )
        assert any("COS_SIM: " in note and "seconds a response" in note for note in made["notes"])
    else:
        assert (
            made["ours"]["Terminological Errors"] == [0, 4, 0.0] == made["ours"]["Misattributions"]
        )
        assert (out / "F3.html").is_file()
