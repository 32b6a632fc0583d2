"""Speed, set-up and memory of the base verifier, in one run with the small one and with its own network in fp32 torch.

python -m benchmarks.speed.base_verifier [--pairs 90] [--out FILE.json]

90 pairs are an answer of 18 claims with five passages each. What the base reads of them, sentences and passages, is
read by the same network in fp32 torch too: batches of 16, sorted by length, padded.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from attribution.models.onnx import SLOW, in_threads
from attribution.settings import Settings
from attribution.verifiers.embedded_base import SEPARATOR, START, CachingReader, EmbeddedBase, Passage, Reader, make
from attribution.verifiers.embedded_small import EmbeddedSmall
from benchmarks import arguments, publish
from benchmarks.pipeline.plain import TorchReader
from benchmarks.speed.verifier import pairs

PAD, BATCH = 1, 16
Window = tuple[list[int], list[int]]  # premise and claim, as token ids

# Each in a process of its own, which prints its seconds, processor seconds and peak memory in MB.
MEASURED = """
import resource, time
started = time.perf_counter()
from attribution.settings import Settings
from attribution.verifiers.embedded_base import EmbeddedBase, make
{work}
used = resource.getrusage(resource.RUSAGE_SELF)
print(time.perf_counter() - started, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)
"""
SET_UP = MEASURED.format(work="make()")
PAIR = ("A claim of a few words.", "The river is long. " * 27)
ALONE = MEASURED.format(work=f"EmbeddedBase(Settings()).verify([{PAIR!r}] * 40)")


class Recorder(CachingReader):
    """Keeps what is read."""

    @property
    def windows(self) -> list[Window]:
        return [(list(premise), list(claim)) for premise, claim in self._found]


def process(code: str, **environment: str) -> list[float]:
    """The output of the code."""
    command, environment = [sys.executable, "-c", code], {**os.environ, **environment}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return [float(figure) for figure in done.stdout.split()]


def timed(work: Callable[[], object]) -> tuple[float, float]:
    """(seconds, processor seconds)"""
    started, used = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - started, time.process_time() - used


def in_torch(reader: TorchReader, windows: Sequence[Window]) -> None:
    import torch

    rows = sorted(([START, *p, SEPARATOR, SEPARATOR, *c, SEPARATOR] for p, c in windows), key=len)
    for at in range(0, len(rows), BATCH):
        batch = rows[at : at + BATCH]
        ids = torch.tensor([row + [PAD] * (len(batch[-1]) - len(row)) for row in batch])
        with torch.inference_mode():
            reader.model(input_ids=ids, attention_mask=(ids != PAD).long())


def main(argv: list[str] | None = None) -> int:
    parser = arguments(__doc__)
    parser.add_argument("--pairs", type=int, default=90)
    args = parser.parse_args(argv)
    with tempfile.TemporaryDirectory() as empty:
        set_up = process(SET_UP, ATTRIBUTION_DATA=empty)
    alone = process(ALONE)
    sample = pairs(args.pairs)
    kinds: dict[str, Any] = {"base": EmbeddedBase, "small": EmbeddedSmall}
    seconds = {}
    for name, kind in kinds.items():
        kind(Settings()).verify(sample[:4])
        seconds[name] = timed(partial(kind(Settings()).verify, sample))
    reader = Reader(make(), unfused=SLOW)
    recorder = Recorder(reader)
    for pair in sample:
        Passage(recorder, *pair).judgement()
    plain = TorchReader()
    in_torch(plain, recorder.windows[:BATCH])
    int8 = timed(lambda: in_threads(lambda window: reader.read(*window), recorder.windows))
    fp32 = timed(lambda: in_torch(plain, recorder.windows))
    figures = {
        "pairs": len(sample),
        "base, s": seconds["base"][0],
        "small, s": seconds["small"][0],
        "times the small one": seconds["base"][0] / seconds["small"][0],
        "times its processor time": seconds["base"][1] / seconds["small"][1],
        "windows read": len(recorder.windows),
        "int8, windows/s": len(recorder.windows) / int8[0],
        "fp32 torch, windows/s": len(recorder.windows) / fp32[0],
        "times faster than fp32": fp32[0] / int8[0],
        "times less processor time than fp32": fp32[1] / int8[1],
        "set-up, s": set_up[0],
        "set-up, processor s": set_up[1],
        "set-up, peak MB": set_up[2],
        "peak of a process that only verifies, MB": alone[2],
    }
    publish(figures, args.out)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
