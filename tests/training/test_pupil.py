from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.training.test_data import row, write
from training import data, pupil
from training.base import load_base
from training.larger.pairs import Data
from training.losses import losses, taught

TOWNS = ["Ardale", "Borwick", "Carnby", "Dunmere", "Elsworth", "Farholm", "Garside", "Hexley"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rows = [
        row(f"{a} has a harbour that was dug in {1800 + i}.", f"The harbour of {b} is old.", label)
        for i, a in enumerate(TOWNS)
        for b, label in ((a, "entailment"), (TOWNS[i - 1], "neutral"))
    ]
    rows += [row(f"{a} lies on a wide river.", f"{a} is by the water.") for a in TOWNS]
    write(tmp_path / "nli" / "own.jsonl.gz", rows)
    write(tmp_path / "eval" / "xnli_en_dev.jsonl.gz", [row(f"A {a} fell.", f"The {a} fell.") for a in "abcdefghij"])
    return tmp_path


def test_without_a_label_the_teacher_alone_counts() -> None:
    import torch

    logits, opinion = torch.randn(3, 3), torch.randn(3, 3)
    targets = torch.tensor([0, data.NOT_ENTAILMENT, pupil.UNKNOWN])
    labelled, by_teacher = pupil.loss_of(logits, targets, opinion), taught(logits, targets, opinion)
    by_label = losses(logits, targets.clamp(max=data.NOT_ENTAILMENT))
    assert labelled[2] == by_teacher[2]
    assert torch.allclose(labelled[:2], (1 - pupil.TAUGHT) * by_label[:2] + pupil.TAUGHT * by_teacher[:2])


def test_claims_meet_passages_that_nobody_has_labelled(folder: Path) -> None:
    import random

    pairs_of = Data(folder, None)
    labelled = {(p.premise, p.hypothesis) for p in pairs_of.train}
    drawn = pupil.Unlabelled(pairs_of).draw(30, random.Random(1))
    assert drawn and {p.target for p in drawn} == {pupil.UNKNOWN}
    assert any((p.premise, p.hypothesis) not in labelled for p in drawn)


def test_the_shipped_model_is_a_place_to_go_on_from() -> None:
    import torch

    from attribution.verifiers.embedded_small import FOLDER, CrossEncoder

    model, tokenizer = load_base("embedded-small")
    inputs = tokenizer("The tower was built in 1889.", "The tower was built in 1925.", return_tensors="pt")
    with torch.inference_mode():
        whole = torch.softmax(model.eval()(**inputs).logits, -1)[0]
    shipped = CrossEncoder(FOLDER / "model.onnx")
    read = shipped.read(
        shipped.encode("The tower was built in 1889.")[0], shipped.encode("The tower was built in 1925.")[0]
    )
    assert abs(read.entailed - whole[0]) < 0.05 and abs(read.contradicted - whole[2]) < 0.05


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_pupil_learns_from_its_teacher(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    sure = torch.log(torch.tensor([0.98, 0.01, 0.01]))
    monkeypatch.setattr(pupil, "teacher", lambda: lambda pairs: sure.repeat(len(pairs), 1))
    arguments = ["--data", str(folder), "--out", str(folder / "pupil"), "--base", "all-minilm-l6", "--rate", "1e-3"]
    assert pupil.main([*arguments, "--pairs", "96"]) == 0
    summary = json.loads((folder / "pupil" / "summary.json").read_text())
    assert summary["recipe"]["pairs"] >= 96
    model, tokenizer = load_base(str(folder / "pupil" / "model"))
    inputs = tokenizer("Ardale has a harbour that was dug in 1800.", "Borwick is old.", return_tensors="pt")
    with torch.inference_mode():
        assert torch.softmax(model.eval()(**inputs).logits, -1)[0, 0] > 0.6
