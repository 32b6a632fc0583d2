"""Read, deduplicate, split and augment NLI pairs.

Every file of the data folder is gzip JSON Lines with `premise, hypothesis, label, source, split`; a label is
entailment, neutral or contradiction, or not_entailment where the source knows only two classes.
"""

from __future__ import annotations

import gzip
import json
import random
import re
import unicodedata
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

LABELS = ("entailment", "neutral", "contradiction")
NOT_ENTAILMENT = len(LABELS)  # target index of a binary negative: its loss is on p(neutral) + p(contradiction)
TARGETS = {**{name: i for i, name in enumerate(LABELS)}, "not_entailment": NOT_ENTAILMENT}


@dataclass(frozen=True)
class Source:
    """How one file is used: share of its pairs drawn for each pass, weight of its loss, splits for either purpose."""

    share: float = 1.0
    weight: float = 1.0
    train: tuple[str, ...] = ("train", "dev")
    dev: tuple[str, ...] = ()


# The licence of each file allows training what is shipped; the model card repeats them. A file that is not in
# the table (a user's own) is used whole with weight 1.
SOURCES = {
    "snli_devtest": Source(train=("dev",), share=0.5),
    "snli_cad": Source(train=("train", "dev", "test"), share=0.4),
    "mnli_taxinli": Source(),
    "mnli_textfooler": Source(),
    "mnli_dev_binary": Source(),
    "fever_nli": Source(train=("train",), dev=("dev",)),
    "conjnli": Source(train=("train",), dev=("dev",), share=0.3, weight=0.7),  # labels made by rule: noisy
    "scifact_rationales": Source(train=("train",), dev=("dev",)),
    "feverous_dev_text": Source(),
    "fool_me_twice_dev": Source(),
    "contract_nli_spans_dev": Source(share=0.5, weight=0.7),  # only 17 hypotheses
    "entailmentbank_steps": Source(train=("train", "dev", "test"), share=0.3),  # one class only
}
DEV_SHARE = 0.04  # of the sources without a development split of their own, by premise


@dataclass(frozen=True)
class Pair:
    premise: str
    hypothesis: str
    target: int  # index in LABELS, or NOT_ENTAILMENT
    source: str
    weight: float = 1.0


def normalised(text: str) -> str:
    """Case, punctuation and spacing do not make a pair new."""
    return " ".join(re.findall(r"\w+", unicodedata.normalize("NFKC", text).lower()))


def read_rows(path: Path) -> Iterator[dict]:
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


def evaluation_keys(folder: Path | None) -> set[str]:
    """Normalised pairs of the evaluation sets, which must not be trained on."""
    keys: set[str] = set()
    for path in sorted(folder.glob("*.jsonl*")) if folder else ():
        for row in read_rows(path):
            claim = row.get("hypothesis") or row.get("claim")
            evidence = row.get("premise") or row.get("evidence")
            if isinstance(claim, str) and isinstance(evidence, str):
                keys.add(f"{normalised(evidence)}|{normalised(claim)}")
    return keys


def load(folder: Path, exclude: set[str] = frozenset()) -> tuple[list[Pair], list[Pair]]:
    """Training and development pairs of a folder, deduplicated; three-way labels win over two-way ones.

    Raises ValueError for a folder without data and for a row with a label that is not known.
    """
    paths = sorted(folder.glob("*.jsonl*"), key=lambda p: ("binary" in p.name, p.name))
    if not paths:
        raise ValueError(f"no *.jsonl or *.jsonl.gz in {folder}: give a folder of NLI pairs")
    seen, train, dev = set(exclude), [], []
    for path in paths:
        name = path.name.split(".")[0]
        source = SOURCES.get(name, Source(train=("train",), dev=("dev",)))
        kept: list[tuple[Pair, str]] = []
        for number, row in enumerate(read_rows(path), 1):
            if row.get("label") not in TARGETS:
                raise ValueError(
                    f"{path.name}, row {number}: label {row.get('label')!r}, expected one of {list(TARGETS)}"
                )
            key = f"{normalised(row['premise'])}|{normalised(row['hypothesis'])}"
            if key in seen:
                continue
            seen.add(key)
            pair = Pair(row["premise"], row["hypothesis"], TARGETS[row["label"]], name, source.weight)
            kept.append((pair, row.get("split") or "train"))
        for pair, split in kept:
            if split in source.dev:
                dev.append(pair)
            elif split in source.train:
                held_out = not source.dev and zlib.crc32(normalised(pair.premise).encode()) % 1000 < DEV_SHARE * 1000
                (dev if held_out else train).append(pair)
    return train, dev


def class_weights(pairs: Iterable[Pair]) -> list[float]:
    """Square root of the inverse frequency, mean 1: rare classes count more, without drowning the rest."""
    counts = Counter(p.target for p in pairs)
    raw = [counts[i] ** -0.5 if counts[i] else 0.0 for i in range(len(LABELS) + 1)]
    mean = sum(raw[i] * counts[i] for i in range(len(raw))) / max(1, sum(counts.values()))
    return [r / mean for r in raw]


# --- pairs made by rule, from the training pairs alone ------------------------------------------------------

_NUMBER = re.compile(r"\b\d[\d,]*(?:\.\d+)?\b")
_COPULA = re.compile(r"\b(is|are|was|were|has|have|had|can|could|will|would|did|does)\b(?! not\b| never\b|n't)")


def changed_number(text: str, rng: random.Random) -> str | None:
    """The text with one of its numbers replaced by another of the same look, or None where it has none."""
    numbers = list(_NUMBER.finditer(text))
    if not numbers:
        return None
    match = rng.choice(numbers)
    digits = [i for i, c in enumerate(match.group()) if c.isdigit()]
    place = rng.choice(digits[-2:])  # a late digit: 1939 becomes 1937, seldom 4939
    old = match.group()[place]
    new = rng.choice([d for d in ("123456789" if place == 0 else "0123456789") if d != old])
    return text[: match.start() + place] + new + text[match.start() + place + 1 :]


def by_rule(pairs: list[Pair], seed: int, numbers: int = 2000, negations: int = 800) -> list[Pair]:
    """Contradictions by a changed number or an added negation."""
    rng = random.Random(seed)
    pool = pairs[:]
    rng.shuffle(pool)
    made: list[Pair] = []
    counts: Counter[str] = Counter()
    for p in pool:
        if p.target != 0:
            continue
        figures = set(_NUMBER.findall(p.hypothesis))
        if counts["numbers"] < numbers and figures and figures <= set(_NUMBER.findall(p.premise)):
            changed = changed_number(p.hypothesis, rng)
            if changed and not set(_NUMBER.findall(changed)) <= set(_NUMBER.findall(p.premise)):
                made.append(replace(p, hypothesis=changed, target=2, weight=0.8))
                counts["numbers"] += 1
                continue
        if counts["negations"] < negations and rng.random() < 0.2:
            negated, n = _COPULA.subn(r"\1 not", p.hypothesis, count=1)
            if n and "did not" not in negated and "does not" not in negated:
                made.append(replace(p, hypothesis=negated, target=2, weight=0.5))
                counts["negations"] += 1
    return made


# --- what a run meets: chunks of pages, most of them near the claim's subject and silent about the claim ------

CHUNK = 500  # characters
COMMON = 0.03  # a word in more premises than this share says little about what they are about
KNOWN = 0.6  # a passage with more of the claim's telling words may well support or contradict it


class Neighbours:
    """The premises of a source that share telling words with a claim, as a search would bring them."""

    def __init__(self, premises: Iterable[str]) -> None:
        self.premises = sorted(set(premises))
        self._words = [frozenset(normalised(text).split()) for text in self.premises]
        self._holding: dict[str, list[int]] = {}
        for i, words in enumerate(self._words):
            for word in words:
                self._holding.setdefault(word, []).append(i)

    def near(self, claim: str, premise: str, most: int = 8) -> list[str]:
        """At most `most` premises about something near, best first, without those that may decide the claim."""
        words = set(normalised(claim).split())
        few = max(3, COMMON * len(self.premises))
        telling = {w for w in words if len(self._holding.get(w, ())) <= few}
        scores: Counter[int] = Counter()
        for word in telling:
            for i in self._holding.get(word, ()):
                scores[i] += 1 / len(self._holding[word]) ** 0.5  # type: ignore[assignment]
        found = []
        for i, _ in sorted(scores.items(), key=lambda item: (-item[1], item[0])):
            text = self.premises[i]
            if text[:40] != premise[:40] and len(telling & self._words[i]) <= KNOWN * len(telling):
                found.append(text)
                if len(found) == most:
                    break
        return found

    def others(self, premise: str, most: int, rng: random.Random) -> list[str]:
        """Premises at random, none of them the given one."""
        drawn = (rng.choice(self.premises) for _ in range(most))
        return [text for text in drawn if text != premise]


def in_chunk(text: str, others: list[str], rng: random.Random) -> str:
    """The text set between others, of `CHUNK` characters or a little less."""
    parts, length = [text], len(text)
    for other in others:
        if length >= CHUNK:
            break
        cut = other[: CHUNK - length]
        parts.insert(rng.randint(0, len(parts)), cut if cut == other else cut.rsplit(" ", 1)[0])
        length += len(other) + 1
    return " ".join(parts)


def neighbours(pairs: list[Pair]) -> dict[str, Neighbours]:
    """For each encyclopaedic source: those of everyday scenes (SNLI, MNLI) are not what pages hold."""
    by_source: dict[str, list[str]] = {}
    for p in pairs:
        if "snli" not in p.source and "mnli" not in p.source:
            by_source.setdefault(p.source, []).append(p.premise)
    return {source: Neighbours(premises) for source, premises in by_source.items()}


def one_pass(
    pairs: list[Pair], seed: int, near: dict[str, Neighbours], longer: float = 0.3, strangers: float = 0.35
) -> list[Pair]:
    """The pairs of one pass: each source by its share, some premises within a chunk of others, and some claims of any
    label against a near passage about something else, so that a claim's wording alone decides nothing."""
    rng = random.Random(seed)
    drawn = []
    for p in pairs:
        if rng.random() >= SOURCES.get(p.source, Source()).share:
            continue
        index = near.get(p.source)
        if index is None or p.source == "entailmentbank_steps":
            drawn.append(p)
            continue
        found = index.near(p.hypothesis, p.premise)
        around = index.others(p.premise, 2, rng)
        if found:
            around.insert(0, rng.choice(found))
        if len(p.premise) < CHUNK - 150 and rng.random() < longer:
            drawn.append(replace(p, premise=in_chunk(p.premise, around, rng)))
        else:
            drawn.append(p)
        if found and rng.random() < strangers:
            stranger = rng.choice(found)
            if rng.random() < 0.5:
                stranger = in_chunk(stranger, around[-2:], rng)
            drawn.append(replace(p, premise=stranger, target=1, weight=0.7 * p.weight))
    return drawn
