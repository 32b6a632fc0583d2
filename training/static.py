"""Train the static vectors of passages: one vector and one weight per token.

    python -m training.static --data FOLDER

FOLDER holds data sets as JSON Lines (gzip), in any subfolder, with passages, premises and
hypotheses. Their texts are embedded by `minilm`, and the table is trained so that the weighted mean
of a text's token vectors is near its vector. It starts from the vectors of single tokens, as
Model2Vec does (Tulkens and van Dongen 2024). Half of a text's tokens are left out at random, so
that no token relies on others. Takes minutes on two cores.
"""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors.numpy import save_file
from torch.nn.functional import embedding_bag

from attribution.embedders.minilm import FOLDER, MiniLM, tokenizer
from attribution.embedders.static import FILE
from attribution.models.files import SUMS, digest
from attribution.settings import Settings
from training import command

FIELDS = ("passage", "premise", "hypothesis")
LONGEST = 512  # characters of a text
TEXTS = 100_000
DIMENSIONS = 96
PASSES, BATCH, RATE = 4, 512, 2e-3
DROPPED = 0.5  # share of tokens left out
PULL = 0.01  # towards the vectors of single tokens
Floats = NDArray[np.float32]


def sample_texts(data: Path) -> list[str]:
    """Return distinct texts of all data sets in random order.

    Args:
        data: A folder with *.jsonl.gz in any subfolder.

    Returns:
        At most TEXTS, each cut to LONGEST characters.
    """
    texts: set[str] = set()
    for path in sorted(data.rglob("*.jsonl.gz")):
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            for line in lines:
                row = json.loads(line)
                texts.update(row[field][:LONGEST] for field in FIELDS if row.get(field))
    return random.Random(3).sample(sorted(texts), min(TEXTS, len(texts)))


def train(ids: Sequence[torch.Tensor], target: Floats, start: Floats) -> Floats:
    """Return one vector per token, with its weight as length.

    Args:
        ids: The tokens of each text.
        target: The texts' own vectors, of shape (texts, 384).
        start: The vectors of single tokens, of shape (tokens, 384).
    """
    torch.manual_seed(0)
    counts = torch.bincount(torch.cat(list(ids)), minlength=len(start)) + 1
    frequency = counts / counts.sum()
    first, wanted = torch.tensor(start), torch.tensor(target)
    table = torch.nn.Parameter(first.clone())
    logs = torch.nn.Parameter(torch.log(1e-3 / (1e-3 + frequency)))
    optimiser = torch.optim.Adam([table, logs], lr=RATE)
    for number in range(PASSES):
        losses = []
        for batch in torch.split(torch.randperm(len(ids)), BATCH):
            bags = [thin(ids[number]) for number in batch.tolist()]
            flat = torch.cat(bags)
            sizes = torch.tensor([len(bag) for bag in bags])
            starts = sizes.cumsum(0) - sizes
            weights = logs.exp()[flat]
            sums = embedding_bag(flat, table, starts, mode="sum", per_sample_weights=weights)
            numbers = torch.repeat_interleave(torch.arange(len(bags)), sizes)
            totals = torch.zeros(len(bags)).index_add(0, numbers, weights)
            means = sums / totals[:, None]
            used = torch.unique(flat)
            distance = ((means - wanted[batch]) ** 2).sum(1).mean()
            drift = ((table[used] - first[used]) ** 2).sum() / len(used)
            loss = distance + PULL * drift
            optimiser.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            optimiser.step()
            losses.append(float(loss.detach()))
        print(f"pass {number + 1}: loss {np.mean(losses):.3f}", flush=True)
    scaled: Floats = (table * logs.exp()[:, None]).detach().numpy()
    return scaled


def thin(ids: torch.Tensor) -> torch.Tensor:
    """Leave out a random half of a longer text's tokens."""
    rest = ids[torch.rand(len(ids)) >= DROPPED]
    return rest if len(ids) > 8 and len(rest) else ids


def save(table: Floats, path: Path) -> None:
    """Write the table in Model2Vec's format: int8 vectors of fewer dimensions, and weights.

    Args:
        table: A vector for each token, with its weight as length.
        path: The file.
    """
    basis = np.linalg.svd(table, full_matrices=False)[2][:DIMENSIONS]
    rows = table @ basis.T
    weights = np.maximum(np.abs(rows).max(axis=1) / 127, 1e-12).astype(np.float32)
    embeddings = np.round(rows / weights[:, None]).astype(np.int8)
    save_file({"embeddings": embeddings, "weights": weights}, path)


def main() -> None:
    parser = command(__doc__)
    parser.add_argument("--data", type=Path, required=True, metavar="FOLDER")
    args = parser.parse_args()
    vocabulary = tokenizer()
    tokens = [str(vocabulary.id_to_token(i)) for i in range(vocabulary.get_vocab_size())]
    embedder = MiniLM(Settings())
    start = embedder.embed([token.removeprefix("##") for token in tokens])
    texts: list[str] = []
    ids: list[torch.Tensor] = []
    for text in sample_texts(args.data):
        encoding = vocabulary.encode(text, add_special_tokens=False)
        if encoding.ids:
            texts.append(text)
            ids.append(torch.tensor(encoding.ids))
    target = embedder.embed(texts)
    save(train(ids, target, start), FOLDER / FILE)
    print(f"{FOLDER / FILE}: put its SHA-256, {digest(FOLDER / FILE)}, into {SUMS}")


if __name__ == "__main__":
    main()
