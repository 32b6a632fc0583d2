from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from training.larger.mean import CONFIG, LAST, STATE, WEIGHTS, main


def adapter(folder: Path, value: float, width: int = 3) -> Path:
    folder.mkdir()
    save_file({"a": np.full((2, width), value, np.float16), "b": np.full(1, -value, np.float16)}, str(folder / WEIGHTS))
    (folder / CONFIG).write_text("{}")
    (folder / STATE).write_text(json.dumps({"pairs": int(value * 10), "seed": 1}))
    return folder


def test_the_mean_of_adapters_says_what_it_is_the_mean_of(tmp_path: Path) -> None:
    folders = [adapter(tmp_path / "one", 1.0), adapter(tmp_path / "two", 3.0)]
    assert main([*(f"--adapter={folder}" for folder in folders), f"--out={tmp_path / 'out'}"]) == 0
    made = load_file(str(tmp_path / "out" / WEIGHTS))
    assert made["a"].dtype == np.float16 and (made["a"] == 2).all() and (made["b"] == -2).all()
    state = json.loads((tmp_path / "out" / STATE).read_text())
    assert state["pairs"] == 30 and [s["pairs"] for s in state["mean_of"]] == [10, 30]
    assert (tmp_path / "out" / CONFIG).exists()


def test_a_temperature_divides_the_last_layer_alone(tmp_path: Path) -> None:
    folder = adapter(tmp_path / "one", 3.0)
    name = f"base_model.model.{LAST}weight"
    save_file({"a": np.ones(2, np.float16), name: np.full((3, 2), 3, np.float16)}, str(folder / WEIGHTS))
    assert main([f"--adapter={folder}", f"--out={tmp_path / 'out'}", "--temperature=1.5"]) == 0
    made = load_file(str(tmp_path / "out" / WEIGHTS))
    assert (made[name] == 2).all() and (made["a"] == 1).all()
    assert json.loads((tmp_path / "out" / STATE).read_text())["temperature"] == 1.5


def test_a_temperature_of_nothing_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = adapter(tmp_path / "one", 1.0)
    assert main([f"--adapter={folder}", f"--out={tmp_path / 'out'}", "--temperature=0"]) == 2
    assert "above 0" in capsys.readouterr().err and not (tmp_path / "out").exists()


@pytest.mark.parametrize("damaged", [False, True])
def test_adapters_that_do_not_fit_or_cannot_be_read_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], damaged: bool
) -> None:
    one, other = adapter(tmp_path / "one", 1.0), adapter(tmp_path / "two", 1.0, width=4)
    if damaged:
        (other / WEIGHTS).write_bytes(b"no tensors")
    assert main([f"--adapter={one}", f"--adapter={other}", f"--out={tmp_path / 'out'}"]) == 2
    assert "training:" in capsys.readouterr().err and not (tmp_path / "out").exists()
