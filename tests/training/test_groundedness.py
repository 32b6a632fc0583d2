import json
import threading
from pathlib import Path

import pytest

from attribution.errors import Unavailable
from attribution.settings import Settings
from attribution.studies.groundedness import METHODS, Given
from tests.tiny_models import save_bert
from training import groundedness

WORDS = "the boat has one two three four masts and sails"
NUMBERS = ("one", "two", "three")


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    save_bert(tmp_path / "base", WORDS)
    return tmp_path / "base"


def written(path: Path, copies: int) -> Path:
    """Boats with masts, each with a twin that has four of them: what a tiny model can learn.

    Every fourth is for development, every fourth for the test.
    """
    splits = ("training", "training", "development", "test")
    lines = []
    for n in range(copies):
        right, wrong = NUMBERS[n % 3], "four"
        context = f"the boat has {right} masts"
        for response, grounded in ((context, True), (f"the boat has {wrong} masts", False)):
            row = {
                "id": f"{n}{grounded}",
                "group": str(n),
                "context": context,
                "response": response,
                "split": splits[n % 4],
            }
            lines.append(json.dumps(row | {"grounded": grounded}) + "\n")
    path.write_text("".join(lines), "utf-8")
    return path


def test_a_model_is_trained_and_the_method_takes_it(tmp_path: Path, tiny: Path) -> None:
    path, out = written(tmp_path / "twins.jsonl", 48), tmp_path / "out"
    more = ["--passes", "12", "--rate", "5e-3", "--base", str(tiny)]
    assert groundedness.main(["--input", str(path), "--out", str(out), *more]) == 0
    summary = json.loads((out / "summary.json").read_text())
    assert summary["loss"][-1] < 0.75 * summary["loss"][0]
    assert summary["pairs"] == 48
    settings = Settings(gc_model=str(out / "model"))
    method = METHODS.build("gc", settings)
    right, wrong = (
        method.score(
            Given("", ("the boat has one masts",), f"the boat has {number} masts"),
            threading.Event(),
        )[""]
        for number in ("one", "four")
    )
    assert right > 0.5 > wrong


def test_what_is_missing_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(Unavailable, match="no model.safetensors; see training/README"):
        METHODS.build("gc", Settings(gc_model=str(tmp_path)))
    (tmp_path / "empty.jsonl").write_text('{"response": "a"}\n')
    assert (
        groundedness.main(
            ["--input", str(tmp_path / "empty.jsonl"), "--out", str(tmp_path / "out")]
        )
        == 2
    )
    assert "found no labelled response" in capsys.readouterr().err
