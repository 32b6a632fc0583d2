"""Average adapters of one base and rank (model soups: Wortsman et al. 2022, section 3).

python -m training.average ADAPTER ADAPTER … --out ADAPTER
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
from safetensors.numpy import load_file, save_file

from training import command

WEIGHTS, CONFIG, STATE = "adapter_model.safetensors", "adapter_config.json", "state.json"


def main() -> None:
    """Write the mean of the weights, with the states of all adapters."""
    parser = command(__doc__)
    parser.add_argument("adapters", type=Path, nargs="+")
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()

    adapters = [load_file(str(folder / WEIGHTS)) for folder in args.adapters]
    states = [json.loads((folder / STATE).read_text()) for folder in args.adapters]
    halves = {}
    for name in adapters[0]:
        tensors = [adapter[name].astype(np.float32) for adapter in adapters]
        halves[name] = np.mean(tensors, axis=0).astype(np.float16)
    args.out.mkdir(parents=True, exist_ok=True)
    if args.out != args.adapters[0]:
        shutil.copy(args.adapters[0] / CONFIG, args.out / CONFIG)
    save_file(halves, str(args.out / WEIGHTS), metadata={"format": "pt"})
    (args.out / STATE).write_text(json.dumps({"mean_of": states}, indent=1) + "\n")


if __name__ == "__main__":
    main()
