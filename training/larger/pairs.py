"""All pairs that the adapter is trained on, and what is drawn from them."""

from __future__ import annotations

import random
import zlib
from pathlib import Path

from training import data, drawing, in_domain
from training.claims import questions
from training.larger import development

PORTION = 16_000  # pairs to draw from at a time, so that a start soon gets to work
# How much more or less often than others the pairs of a source are drawn. Those made from questions repeat the words of
# their passage, answers seldom do
OFTEN = {"questions": 0.12, "fever_nli": 2.0}
REAL = 4  # times as often as others: claims with passages of real pages


def digest(pairs: list[data.Pair]) -> str:
    """CRC-32 of what the pairs say."""
    texts = sorted(f"{p.source}|{p.premise}|{p.hypothesis}|{p.target}" for p in pairs)
    return f"{zlib.crc32(chr(10).join(texts).encode()):08x}"


class Data:
    """All pairs to train on, and what is drawn from them."""

    def __init__(self, folder: Path, made: Path | None) -> None:
        train, held_out = data.load(folder / "nli", data.evaluation_keys(folder / "eval"))
        self.train = train + data.by_rule(train, 13)
        if made is not None:
            asked, asked_held_out = questions.load(made)
            self.train += asked
            held_out += asked_held_out
        self.real, real_development = in_domain.load(folder / "eval")
        self.around = drawing.surroundings(self.train)
        held_out = [p for p in held_out if p.source in development.SIZES]
        xnli = development.xnli(folder / "eval" / "xnli_en_dev.jsonl.gz")
        self.development = development.sample(xnli + held_out + real_development)

    @property
    def digest(self) -> str:
        """Tells one selection of pairs to train on from another."""
        return digest(self.train + self.real)

    def portion(self, seed: int) -> list[data.Pair]:
        """About `PORTION` pairs, each source by its share, in random order."""
        rng = random.Random(seed)
        share = min(1.0, PORTION / len(self.train))
        drawn = [p for p in self.train if rng.random() < share * OFTEN.get(p.source, 1.0)]
        pairs = drawing.one_pass(drawn, seed, self.around)
        pairs += [p for p in self.real * REAL if rng.random() < share]
        rng.shuffle(pairs)
        return pairs
