"""Speed of a DeBERTa-v3 verifier in int8 on ONNX Runtime, in one run with the same model in fp32 torch.

python -m benchmarks.speed.int8 [--size base|large] [--pairs 24] [--out FILE.json]

The weights are random, which takes as long as trained ones; the tokenizer is that of `embedded-small`. Both read one
pair at a time and with all threads; `difference` is the largest between the probabilities of the two.
"""

from __future__ import annotations

import resource
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from attribution.models import export, int8
from attribution.models.onnx import cores, in_threads
from attribution.verifiers.calibration import softmax
from attribution.verifiers.embedded_small import FOLDER
from benchmarks import arguments, publish
from benchmarks.speed.verifier import pairs

SIZES = {"base": (768, 12, 12, 3072), "large": (1024, 24, 16, 4096)}  # width, layers, heads, width of the middle


def model(size: str) -> Any:
    """DeBERTa-v3 as its authors configured it, with random weights."""
    import torch
    from transformers import DebertaV2Config, DebertaV2ForSequenceClassification

    torch.manual_seed(1)
    width, layers, heads, middle = SIZES[size]
    return DebertaV2ForSequenceClassification(
        DebertaV2Config(
            vocab_size=128100, hidden_size=width, num_hidden_layers=layers, num_attention_heads=heads,
            intermediate_size=middle, max_position_embeddings=512, relative_attention=True, position_buckets=256,
            norm_rel_ebd="layer_norm", share_att_key=True, pos_att_type=["p2c", "c2p"], type_vocab_size=0,
            position_biased_input=False, layer_norm_eps=1e-7, num_labels=3,
        )
    ).eval()  # fmt: skip


def main(argv: list[str] | None = None) -> int:
    parser = arguments(__doc__)
    parser.add_argument("--size", choices=SIZES, default="base")
    parser.add_argument("--pairs", type=int, default=24)
    args = parser.parse_args(argv)

    import numpy as np
    import torch
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(FOLDER / "tokenizer.json"))
    tokenizer.no_padding()
    inputs = [np.array([tokenizer.encode(e, c).ids[:512]], dtype=np.int64) for c, e in pairs(args.pairs)]
    in_torch = model(args.size)

    def plain(ids: Any) -> list[float]:
        with torch.inference_mode():
            logits = in_torch(
                input_ids=torch.tensor(ids), attention_mask=torch.ones(ids.shape, dtype=torch.int64)
            ).logits
        return softmax(logits[0].tolist())

    def timed(read: Callable[[], list[list[float]]]) -> tuple[float, list[list[float]]]:
        started = time.perf_counter()
        rows = read()
        return time.perf_counter() - started, rows

    plain(inputs[0])
    torch_seconds, expected = timed(lambda: [plain(ids) for ids in inputs])
    with tempfile.TemporaryDirectory() as folder:
        path, started = Path(folder, int8.GRAPH), time.perf_counter()
        export.export(in_torch, ["input_ids", "attention_mask"], path)
        export_seconds, size = time.perf_counter() - started, path.stat().st_size
        session = int8.open_session(path)

    def quick(ids: Any) -> list[float]:
        return softmax(session.run(None, {"input_ids": ids, "attention_mask": np.ones_like(ids)})[0][0].tolist())

    quick(inputs[0])
    int8_seconds, got = timed(lambda: in_threads(quick, inputs))
    difference = max(abs(a - b) for x, y in zip(expected, got, strict=True) for a, b in zip(x, y, strict=True))
    figures = {
        "pairs": len(inputs),
        "threads": cores(),
        "torch_pairs_per_second": round(len(inputs) / torch_seconds, 2),
        "int8_pairs_per_second": round(len(inputs) / int8_seconds, 2),
        "ratio": round(torch_seconds / int8_seconds, 2),
        "difference": round(difference, 4),
        "export_seconds": round(export_seconds, 1),
        "file_mb": round(size / 1e6),
        "peak_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
    }
    publish(figures, args.out)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
