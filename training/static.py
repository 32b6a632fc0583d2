"""Train the table that estimates the vectors of the embedder `minilm`, one vector a token.

    python -m training.static --data FOLDER [--out attribution/embedders/minilm]

FOLDER holds nli/ and qa/. The texts of both and of the library, cut as pages are, are embedded by
`minilm`, and the
table is trained so that the weighted mean of a text's token vectors is near its vector. It starts
from the vectors of
single tokens (as Model2Vec does: Tulkens and van Dongen 2024); half of a text's tokens are left out
at random, so that
no token relies on others. Minutes on two cores; the vectors are kept in build/static.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from attribution.chunkers import CHUNKERS
from attribution.embedders.minilm import DIMENSIONS, FILE, FOLDER, HALF, MiniLM, tokenizer
from attribution.models.files import SUMS, digest
from attribution.settings import ROOT, Settings
from attribution.types import Page

QA = ("boolq", "condaqa", "pubmedqa_pqal", "squad1_dev", "squad1_du_test", "squad2_dev_half")
NLI = (
    *(
        "fever_nli",
        "fever_eraser_gold_sameclaims",
        "feverous_dev_text",
        "cg2c_doc",
        "mnli_dev_3way",
    ),
    *(
        "scifact_rationales",
        "paws_wiki_devtest",
        "wikisplit_parts",
        "fool_me_twice_dev",
        "check_covid",
    ),
    "contract_nli_spans_dev",
)
LONG = 300  # characters from which on a premise is a passage
PASSAGES, SENTENCES, HELD_OUT = 70_000, 30_000, 2_000
PASSES, BATCH, RATE, DROPPED, PULL = 4, 512, 2e-3, 0.5, 0.01


def texts(data: Path, rng: random.Random) -> list[str]:
    """Passages, cut as pages are, and sentences, mixed."""
    long, short = set[str](), set[str]()
    for name in QA:
        long |= {row["passage"] for row in rows(data / "qa" / f"{name}.jsonl.gz")}
    for name in NLI:
        for row in rows(data / "nli" / f"{name}.jsonl.gz"):
            (long if len(row["premise"]) > LONG else short).add(row["premise"])
            short.add(row["hypothesis"])
    long |= {
        path.read_text(encoding="utf-8") for path in (ROOT / "examples" / "library").glob("*.md")
    }
    settings = Settings()
    chunker = CHUNKERS.build(settings.chunker, settings)
    empty = Page(id="text", url="", title="", site="", kind="document", fetched_at="", sha256="")
    passages = {
        c.text for text in long for c in chunker.chunk(empty.model_copy(update={"text": text}))
    }
    mixed = rng.sample(sorted(passages), min(PASSAGES, len(passages)))
    mixed += rng.sample(sorted(short), min(SENTENCES, len(short)))
    rng.shuffle(mixed)
    return mixed


def rows(path: Path) -> Iterator[dict[str, str]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def vectors(of: Sequence[str], work: Path) -> npt.NDArray[np.float32]:
    """The vectors of `minilm`, kept in `work` in steps."""
    embedder, step = MiniLM(Settings()), 2000
    done = []
    for start in range(0, len(of), step):
        path = work / f"{start}.npy"
        if not path.exists():
            np.save(path, embedder.embed(of[start : start + step]).astype(np.float16))
            print(f"{start + step} of {len(of)} texts embedded", flush=True)
        done.append(np.load(path).astype(np.float32))
    return np.concatenate(done)


def trained(
    ids: Sequence[npt.NDArray[np.int64]],
    target: npt.NDArray[np.float32],
    first: npt.NDArray[np.float32],
) -> tuple[npt.NDArray[np.float32], ...]:
    """Return token vectors (tokens, 384), token weights (tokens) and the vector added to every mean
    (384).
    """
    import torch

    count = np.bincount(np.concatenate(ids), minlength=len(first))
    share = (count + 1) / (count.sum() + len(first))
    start = torch.tensor(first)
    table = torch.nn.Parameter(start.clone())
    logs = torch.nn.Parameter(torch.tensor(np.log(1e-3 / (1e-3 + share)), dtype=torch.float32))
    added = torch.nn.Parameter(torch.zeros(first.shape[1]))
    groups = [{"params": [table, added], "factor": 1}, {"params": [logs], "factor": 3}]
    optimiser = torch.optim.Adam(groups, lr=RATE)
    wanted = torch.tensor(target)

    def estimated(batch: Sequence[npt.NDArray[np.int64]]) -> torch.Tensor:
        flat = torch.tensor(np.concatenate(batch))
        starts = torch.tensor(np.cumsum([0, *map(len, batch)])[:-1])
        weights = torch.exp(logs[flat])
        sums = torch.nn.functional.embedding_bag(
            flat, table, starts, mode="sum", per_sample_weights=weights
        )
        of = torch.repeat_interleave(
            torch.arange(len(batch)), torch.tensor([len(b) for b in batch])
        )
        return sums / torch.zeros(len(batch)).index_add(0, of, weights)[:, None] + added

    rng = np.random.default_rng(0)
    last = len(ids) - HELD_OUT
    steps, done = PASSES * (last // BATCH), 0
    for number in range(PASSES):
        order = rng.permutation(last)
        for at in range(0, last - BATCH + 1, BATCH):
            places = order[at : at + BATCH]
            batch = [thinned(ids[i], rng) for i in places]
            for part in optimiser.param_groups:
                part["lr"] = part["factor"] * RATE * min(1, done / 100) * (1 - done / steps)
            used = torch.tensor(np.unique(np.concatenate(batch)))
            loss = ((estimated(batch) - wanted[places]) ** 2).sum(1).mean()
            loss = loss + PULL * ((table[used] - start[used]) ** 2).sum() / len(used)
            optimiser.zero_grad()
            torch.autograd.backward(loss)
            optimiser.step()
            done += 1
        with torch.no_grad():
            error = ((estimated(ids[last:]) - wanted[last:]) ** 2).sum(1).mean()
        print(f"pass {number + 1}: squared error on held-out texts {error:.3f}", flush=True)
    return table.detach().numpy(), logs.exp().detach().numpy(), added.detach().numpy()


def thinned(ids: npt.NDArray[np.int64], rng: np.random.Generator) -> npt.NDArray[np.int64]:
    left = ids[rng.random(len(ids)) >= DROPPED]
    return left if len(ids) > 8 and len(left) else ids


def pack(
    table: npt.NDArray[np.float32],
    weights: npt.NDArray[np.float32],
    added: npt.NDArray[np.float32],
    dimensions: int,
) -> Mapping[str, npt.NDArray[np.generic]]:
    """Return the arrays of the file: vectors of `dimensions` that keep most of the table's, in four
    bits a number.

    `table` has shape (tokens, 384), `weights` (tokens,), `added` (384,).
    """
    basis = np.linalg.svd(table * weights[:, None], full_matrices=False)[2][:dimensions]
    rows = table @ basis.T
    scales = np.abs(rows).max(axis=1) / (HALF - 1)
    packed = (np.round(rows / np.maximum(scales, 1e-9)[:, None]) + HALF).astype(np.uint8)
    return {
        "rows": packed[:, ::2] << 4 | packed[:, 1::2],
        "scales": scales.astype(np.float16),
        "weights": weights.astype(np.float16),
        "basis": basis.astype(np.float16),
        "added": (basis @ added).astype(np.float16),
    }


def main() -> None:
    p = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    p.add_argument("--data", type=Path, required=True, metavar="FOLDER")
    p.add_argument("--work", type=Path, default=Path("build/static"))
    p.add_argument("--out", type=Path, default=FOLDER)
    args = p.parse_args()
    args.work.mkdir(parents=True, exist_ok=True)
    rng = random.Random(3)
    of = texts(args.data, rng)
    target = vectors(of, args.work)
    split = tokenizer()
    words = [str(split.id_to_token(i)).removeprefix("##") for i in range(split.get_vocab_size())]
    single = args.work / "tokens"
    single.mkdir(exist_ok=True)
    first = vectors(words, single)
    ids = [
        np.array(e.ids, dtype=np.int64)
        for e in split.encode_batch(list(of), add_special_tokens=False)
    ]
    full = [i for i, one in enumerate(ids) if len(one)]
    table, weights, added = trained([ids[i] for i in full], target[full], first)
    np.savez(args.out / FILE, allow_pickle=False, **pack(table, weights, added, DIMENSIONS))
    print(f"{args.out / FILE}: put its SHA-256, {digest(args.out / FILE)}, into {SUMS}")


if __name__ == "__main__":
    main()
