"""The mean of adapters' weights: often better than each of them (Wortsman et al. 2022, model soups, section 3).

    python -m training.larger.mean --adapter FOLDER --adapter OTHER --out FOLDER

The adapters must be of the same base, rank and classes.
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

WEIGHTS, CONFIG, STATE = "adapter_model.safetensors", "adapter_config.json", "state.json"


def mean(adapters: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Tensor by tensor, in half precision. ValueError where the adapters do not have the same tensors."""
    first = {name: tensor.shape for name, tensor in adapters[0].items()}
    for other in adapters[1:]:
        if {name: tensor.shape for name, tensor in other.items()} != first:
            raise ValueError("the adapters do not have the same tensors: expected the same base, rank and classes")
    return {name: np.mean([a[name].astype(np.float32) for a in adapters], axis=0).astype(np.float16) for name in first}


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--adapter", type=Path, action="append", required=True)
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args(argv)
    from safetensors import SafetensorError
    from safetensors.numpy import load_file, save_file

    try:
        weights = mean([load_file(str(folder / WEIGHTS)) for folder in args.adapter])
        states = [json.loads((folder / STATE).read_text(encoding="utf-8")) for folder in args.adapter]
    except (OSError, ValueError, SafetensorError) as error:
        print(f"training: {error}", file=sys.stderr)
        return 2
    args.out.mkdir(parents=True, exist_ok=True)
    if args.out != args.adapter[0]:
        shutil.copy(args.adapter[0] / CONFIG, args.out / CONFIG)
    save_file(weights, str(args.out / WEIGHTS), metadata={"format": "pt"})
    told = {"pairs": max(state["pairs"] for state in states), "mean_of": states}
    (args.out / STATE).write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
