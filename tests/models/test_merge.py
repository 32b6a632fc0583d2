import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from attribution.errors import Unavailable
from attribution.models import files, merge
from attribution.models import mpnet as source
from training import reader_graph as graph

Built = tuple[Path, Path, Any]


def test_int8_is_within_half_a_step() -> None:
    weight = np.random.default_rng(1).normal(size=(50, 7)).astype(np.float32)
    weight[:, 3] = 0
    values, scales = merge.quantised(weight)
    assert values.dtype == np.int8
    assert (np.abs(values * scales - weight) <= scales / 2 + 1e-6).all()
    assert (values[:, 3] == 0).all()


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """(base file, adapter folder with graph, merged torch model) of a tiny MPNet with a random
    adapter.
    """
    import torch
    from safetensors.numpy import save_file
    from transformers import MPNetConfig, MPNetForSequenceClassification

    folder = tmp_path_factory.mktemp("merge")
    torch.manual_seed(1)
    small = {
        "hidden_size": 32,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "intermediate_size": 64,
    }
    config = MPNetConfig(vocab_size=5000, num_labels=3, **small)
    config.save_pretrained(folder)
    state = {k: v.numpy() for k, v in MPNetForSequenceClassification(config).state_dict().items()}
    save_file(
        {k.removeprefix("mpnet."): v for k, v in state.items() if "classifier" not in k},
        str(folder / source.WEIGHTS),
    )
    rng, adapter = np.random.default_rng(2), {}
    for name, value in state.items():
        if "classifier" in name:
            adapter[f"base_model.model.{name}"] = rng.normal(size=value.shape).astype(np.float16)
        elif value.ndim == 2 and "encoder.layer" in name:
            stem = f"base_model.model.{name.removesuffix('.weight')}"
            adapter[f"{stem}.lora_A.weight"] = (
                rng.normal(size=(4, value.shape[1])).astype(np.float16) / 16
            )
            adapter[f"{stem}.lora_B.weight"] = (
                rng.normal(size=(value.shape[0], 4)).astype(np.float16) / 16
            )
    save_file(adapter, str(folder / "adapter_model.safetensors"))
    (folder / "adapter_config.json").write_text(json.dumps({"r": 4, "lora_alpha": 8}))
    weights = merge.Merged(folder / source.WEIGHTS, folder)
    config._attn_implementation = "eager"
    merged = MPNetForSequenceClassification(config).eval()
    tensors = {name: torch.tensor(weights[name]) for name in state if "position_ids" not in name}
    merged.load_state_dict(tensors, strict=False)
    exact = {
        f"{layer} {part}": [1, 5]
        for layer in (0, 1)
        for part in ("attention", "intermediate", "output")
    }
    graph.write(graph.network(config, exact), weights, folder)
    (folder / "tokenizer.json").write_text("{}")
    return folder / source.WEIGHTS, folder, merged


@pytest.mark.parametrize("tokens", [1, 7, 40, 300])
def test_a_built_model_agrees_with_the_merged_one(
    model: Built, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tokens: int
) -> None:
    import onnxruntime
    import torch

    base, folder, merged = model
    monkeypatch.setattr(merge, "base_files", lambda made, names: shutil.copy(base, made))
    path = merge.build(folder, tmp_path / "out")
    ids = np.random.default_rng(3).integers(5, 3000, tokens)
    with torch.inference_mode():
        expected = merged(input_ids=torch.tensor(ids[None])).logits[0].numpy()
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    (found,) = session.run(["logits"], {"ids": ids})
    assert found.shape == (3,)
    assert np.abs(found - expected).max() < 0.05 * np.abs(expected).max()


def test_the_columns_in_float32_are_read_from_a_layout(model: Built) -> None:
    columns = graph.kept_columns(model[1] / merge.LAYOUT)
    assert set(columns) == {
        f"{n} {part}" for n in (0, 1) for part in ("attention", "intermediate", "output")
    }
    assert all(kept == [1, 5] for kept in columns.values())


def test_a_model_of_another_source_is_made_again_and_the_same_is_kept(
    model: Built, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    base, folder, _ = model
    monkeypatch.setattr(merge, "base_files", lambda made, names: shutil.copy(base, made))
    out = tmp_path / "out"
    merge.build(folder, out)
    whole = (out / merge.WEIGHTS).read_bytes()
    (out / merge.WEIGHTS).unlink()
    (out / files.MADE).write_text("another")
    merge.build(folder, out)
    assert (out / merge.WEIGHTS).read_bytes() == whole
    monkeypatch.setattr(merge, "base_files", None)  # not asked for any more
    merge.build(folder, out)


def test_other_weights_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = tmp_path / "other"
    other.write_bytes(b"something else")
    monkeypatch.setattr(source, "installed", lambda: False)
    monkeypatch.setattr("huggingface_hub.hf_hub_download", lambda *_, **__: str(other))
    with pytest.raises(Unavailable, match="expected 78c0197b"):
        source.base_files(tmp_path, ["model.safetensors"])
