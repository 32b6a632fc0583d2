"""The mean of adapters' weights: often better than each of them (Wortsman et al. 2022, model soups, section 3).

    python -m training.larger.mean --adapter FOLDER --adapter OTHER --out FOLDER [--temperature T]

The adapters must be of the same base, rank and classes. A temperature above 1 makes the result less sure of itself
(Guo et al. 2017, section 4.2); `evaluate` says which fits an adapter.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

LAST = "classifier.out_proj."  # the layer that makes the logits
WEIGHTS, CONFIG, STATE = "adapter_model.safetensors", "adapter_config.json", "state.json"


def mean(adapters: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Tensor by tensor, in half precision. ValueError where the adapters do not have the same tensors."""
    first = {name: tensor.shape for name, tensor in adapters[0].items()}
    for other in adapters[1:]:
        if {name: tensor.shape for name, tensor in other.items()} != first:
            raise ValueError("the adapters do not have the same tensors: expected the same base, rank and classes")
    return {name: np.mean([a[name].astype(np.float32) for a in adapters], axis=0).astype(np.float16) for name in first}


def tempered(adapter: dict[str, Any], temperature: float) -> dict[str, Any]:
    """With logits divided by the temperature."""
    return {name: (t / np.float16(temperature) if LAST in name else t) for name, t in adapter.items()}


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--adapter", type=Path, action="append", required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--temperature", type=float, default=1.0)
    args = parser.parse_args(argv)
    from safetensors import SafetensorError
    from safetensors.numpy import load_file, save_file

    if args.temperature <= 0:
        print(f"training: expected a temperature above 0, found {args.temperature}", file=sys.stderr)
        return 2
    try:
        weights = tempered(mean([load_file(str(folder / WEIGHTS)) for folder in args.adapter]), args.temperature)
        states = [json.loads((folder / STATE).read_text(encoding="utf-8")) for folder in args.adapter]
    except (OSError, ValueError, SafetensorError) as error:
        print(f"training: {error}", file=sys.stderr)
        return 2
    args.out.mkdir(parents=True, exist_ok=True)
    if args.out != args.adapter[0]:
        shutil.copy(args.adapter[0] / CONFIG, args.out / CONFIG)
    save_file(weights, str(args.out / WEIGHTS), metadata={"format": "pt"})
    record: dict[str, Any] = {"pairs": max(state["pairs"] for state in states), "mean_of": states}
    if args.temperature != 1:
        record["temperature"] = args.temperature
    (args.out / STATE).write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
