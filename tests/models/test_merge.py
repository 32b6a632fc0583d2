from __future__ import annotations

import io
import json
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from attribution.errors import Unavailable
from attribution.models import merge
from attribution.models import mpnet as source
from training.larger import graph


def test_parts_are_read_as_one(tmp_path: Path) -> None:
    paths = [tmp_path / str(n) for n in range(3)]
    for n, path in enumerate(paths):
        path.write_bytes(bytes(range(n * 10, n * 10 + 10)))
    with ExitStack() as stack:
        whole = io.BufferedReader(source.Parts(paths, stack))
        assert whole.read() == bytes(range(30))
        whole.seek(-12, io.SEEK_END)
        assert whole.read(5) == bytes(range(18, 23))


def test_int8_is_within_half_a_step() -> None:
    weight = np.random.default_rng(1).normal(size=(50, 7)).astype(np.float32)
    weight[:, 3] = 0
    values, scales = merge.quantised(weight)
    assert values.dtype == np.int8 and (np.abs(values * scales - weight) <= scales / 2 + 1e-6).all()
    assert (values[:, 3] == 0).all()


def test_two_products_fit_into_16_bits() -> None:
    values, _ = merge.quantised(np.random.default_rng(1).normal(size=(50, 7)).astype(np.float32))
    assert np.abs(values).max() == merge.LARGEST and np.iinfo(np.int16).max >= 2 * 255 * merge.LARGEST


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, Any]:
    """(base file, adapter folder with graph, merged torch model) of a tiny MPNet with a random adapter."""
    import torch
    from safetensors.numpy import save_file
    from transformers import MPNetConfig, MPNetForSequenceClassification

    folder = tmp_path_factory.mktemp("merge")
    torch.manual_seed(1)
    small = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 64}
    config = MPNetConfig(vocab_size=5000, num_labels=3, **small)
    config.save_pretrained(folder)
    state = {k: v.numpy() for k, v in MPNetForSequenceClassification(config).state_dict().items()}
    save_file({k.removeprefix("mpnet."): v for k, v in state.items() if "classifier" not in k}, str(folder / "base"))
    rng, adapter = np.random.default_rng(2), {}
    for name, value in state.items():
        if "classifier" in name:
            adapter[f"base_model.model.{name}"] = rng.normal(size=value.shape).astype(np.float16)
        elif value.ndim == 2 and "encoder.layer" in name:
            stem = f"base_model.model.{name.removesuffix('.weight')}"
            adapter[f"{stem}.lora_A.weight"] = rng.normal(size=(4, value.shape[1])).astype(np.float16) / 16
            adapter[f"{stem}.lora_B.weight"] = rng.normal(size=(value.shape[0], 4)).astype(np.float16) / 16
    save_file(adapter, str(folder / "adapter_model.safetensors"))
    (folder / "adapter_config.json").write_text(json.dumps({"r": 4, "lora_alpha": 8}))
    weights = merge.Merged(folder / "base", folder)
    merged = graph.torch_model(weights, folder)
    with pytest.warns():  # torch's exporter warns of tracing and of its own successor
        made = graph.plain_graph(merged)
    graph.strip(made, graph.quantise(made.graph), weights, folder)
    (folder / "tokenizer.json").write_text("{}")
    return folder / "base", folder, merged


def logits(path: Path, ids: Any, mask: Any) -> Any:
    import onnxruntime

    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    return session.run(["logits"], {"input_ids": ids, "attention_mask": mask})[0]


def test_a_built_model_agrees_with_the_merged_one_alone_and_in_a_batch(
    model: tuple[Path, Path, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import torch

    base, folder, merged = model
    monkeypatch.setattr(merge, "base_weights", lambda made, progress: base)
    told: list[float] = []
    path = merge.build(folder, tmp_path / "out", lambda share, what: told.append(share))
    assert told == sorted(told) and told[-1] == 1.0
    ids = np.random.default_rng(3).integers(5, 3000, (2, 40))
    mask = np.ones_like(ids)
    ids[1, 25:], mask[1, 25:] = 1, 0
    with torch.inference_mode():
        expected = merged(input_ids=torch.tensor(ids), attention_mask=torch.tensor(mask)).logits.numpy()
    found = logits(path, ids, mask)
    assert np.abs(found - expected).max() < 0.05 * np.abs(expected).max()
    alone = logits(path, ids[1:, :25], mask[1:, :25])
    assert np.abs(found[1] - alone[0]).max() < 1e-3


def test_a_damaged_model_is_made_again_and_a_whole_one_is_kept(
    model: tuple[Path, Path, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    base, folder, _ = model
    monkeypatch.setattr(merge, "base_weights", lambda made, progress: base)
    out = tmp_path / "out"
    merge.build(folder, out)
    whole = (out / merge.WEIGHTS).read_bytes()
    (out / merge.WEIGHTS).write_bytes(whole[:-5])
    assert not merge.built(folder, out)
    merge.build(folder, out)
    assert merge.built(folder, out) and (out / merge.WEIGHTS).read_bytes() == whole
    monkeypatch.setattr(merge, "base_weights", None)  # not asked for any more
    merge.build(folder, out)


def test_other_weights_are_refused(tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match="expected 78c0197b"):
        source._copy(io.BytesIO(b"something else"), tmp_path / "weights", 14, lambda share, what: None)
