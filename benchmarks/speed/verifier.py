"""Speed and memory of the embedded verifier, compared in one run with the same network in fp32 torch.

python -m benchmarks.speed.verifier [--pairs 120] [--out FILE.json]
"""

from __future__ import annotations

import subprocess
import sys
import time

from attribution.chunkers import Fixed
from attribution.library.folder import FolderSearcher
from attribution.settings import Settings
from attribution.types import Page
from attribution.verifiers.embedded_small import FOLDER, EmbeddedSmall
from benchmarks import arguments, publish
from benchmarks.examples import examples

ALONE = """
import resource, sys, time
started = time.perf_counter()
from attribution.settings import Settings
from attribution.verifiers.embedded_small import EmbeddedSmall
EmbeddedSmall(Settings()).verify([("A claim.", "Some evidence.")])
loaded = time.perf_counter() - started
EmbeddedSmall(Settings()).verify([("A claim of a few words about rivers.", "The river is long and wide. " * 19)] * 40)
print(loaded, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
"""


def pairs(number: int) -> list[tuple[str, str]]:
    """Claims of the example answers, each with 512-character chunks of the page that a search finds for it."""
    settings, sample = Settings(), []
    library, chunker = FolderSearcher(settings), Fixed(settings)
    for example in examples():
        for claim in example["claims"]:
            for hit in library.search(claim["text"], 1):
                assert isinstance(hit.page, Page)
                sample += [(claim["text"], c.text) for c in chunker.chunk(hit.page) if len(c.text) > 400][:2]
    return sample[:number]


def torch_seconds(sample: list[tuple[str, str]]) -> float:
    """The plain recipe: batches of 16, padded, sorted by length, fp32; random weights take as long as trained ones."""
    import torch
    from tokenizers import Tokenizer
    from transformers import BertConfig, BertForSequenceClassification

    tokenizer = Tokenizer.from_file(str(FOLDER / "tokenizer.json"))
    tokenizer.enable_padding()
    size = {"hidden_size": 384, "num_hidden_layers": 12, "num_attention_heads": 12, "intermediate_size": 1536}
    model = BertForSequenceClassification(BertConfig(**size, num_labels=3)).eval()
    ordered = sorted(sample, key=lambda pair: len(pair[1]))
    started = time.perf_counter()
    with torch.inference_mode():
        for at in range(0, len(ordered), 16):
            batch = tokenizer.encode_batch([(e, c) for c, e in ordered[at : at + 16]])
            model(
                input_ids=torch.tensor([b.ids for b in batch]),
                attention_mask=torch.tensor([b.attention_mask for b in batch]),
                token_type_ids=torch.tensor([b.type_ids for b in batch]),
            )
    return time.perf_counter() - started


def main(argv: list[str] | None = None) -> int:
    parser = arguments(__doc__)
    parser.add_argument("--pairs", type=int, default=120)
    args = parser.parse_args(argv)
    alone = subprocess.run([sys.executable, "-c", ALONE], capture_output=True, text=True, check=True)
    loaded, memory = map(float, alone.stdout.split())
    sample = pairs(args.pairs)
    verifier = EmbeddedSmall(Settings())
    verifier.verify(sample[:4])
    started = time.perf_counter()
    verifier.verify(sample)
    ours = time.perf_counter() - started
    plain = torch_seconds(sample)
    figures = {
        "pairs": len(sample),
        "embedded pairs/s": len(sample) / ours,
        "fp32 torch pairs/s": len(sample) / plain,
        "ratio": plain / ours,
        "first judgement of a new process, s": loaded,
        "memory of a process that only verifies, MB": memory,
    }
    publish(figures, args.out)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
