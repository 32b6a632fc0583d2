"""The small reader in torch is the one that ships, and comes back from it unchanged."""

from pathlib import Path

import onnx
import pytest
import torch

from attribution.verifiers.reader import SMALL, Network
from training import small

PASSAGE, CLAIM = "The bridge was built in 1950 by engineers.", "The bridge was built in 1960."


def test_the_shipped_network_is_trained_further_and_written_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, tokenizer = small.load()
    inputs = tokenizer(PASSAGE, CLAIM, return_tensors="pt")
    with torch.inference_mode():
        (found,) = torch.softmax(model.eval()(**inputs).logits, -1).tolist()
    network = Network(SMALL)
    ids = [network.encode(text)[0] for text in (CLAIM, PASSAGE)]
    assert found == pytest.approx(network.read(*ids), abs=0.05)

    before = onnx.load(small.GRAPH)
    onnx.save(before, tmp_path / "model.onnx")
    monkeypatch.setattr(small, "GRAPH", tmp_path / "model.onnx")
    small.write(model)
    assert onnx.load(tmp_path / "model.onnx") == before
