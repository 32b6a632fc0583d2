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
from collections.abc import Iterable, Iterator, Set
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

LABELS = ("entailment", "neutral", "contradiction")
NOT_ENTAILMENT = len(LABELS)  # target index of a binary negative: its loss is on p(neutral) + p(contradiction)
NOT_CONTRADICTION = NOT_ENTAILMENT + 1  # of pairs made here: a page does not contradict what it says elsewhere
TARGETS = {**{name: i for i, name in enumerate(LABELS)}, "not_entailment": NOT_ENTAILMENT}


@dataclass(frozen=True)
class Source:
    """The use of one file: share of its pairs drawn for each pass, weight of its loss, splits for either purpose."""

    share: float = 1.0
    weight: float = 1.0
    train: tuple[str, ...] = ("train", "dev")
    dev: tuple[str, ...] = ()
    titled: bool = False  # its premises begin with the title of their page and a full stop
    around: Literal["near", "others", "none"] = "near"  # which premises of the source may stand around a premise


# The licence of each file allows training what is shipped; the model card repeats them. A file that is not in
# the table (a user's own) is used whole with weight 1.
SOURCES = {
    # of one scene by construction: whatever differs contradicts. Without any, English XNLI fell by two points
    "snli_devtest": Source(share=0.2, weight=0.5),
    "snli_cad": Source(share=0.2, weight=0.5),
    "mnli_dev_3way": Source(),
    "mnli_train_sample": Source(train=("train_part",)),
    "mnli_taxinli": Source(),
    "mnli_textfooler": Source(),
    "mnli_dev_binary": Source(),  # whole in mnli_dev_3way
    # a label of 0 is now and then one-way entailment
    "paws_wiki_devtest": Source(share=0.2, train=("dev", "test"), weight=0.8),
    "wikisplit_parts": Source(train=("validation", "test", "tune"), share=0.15, around="others"),
    "fever_nli": Source(train=("train",), dev=("dev",), titled=True),
    "fever_eraser_gold_sameclaims": Source(train=("val", "test"), titled=True, share=0.35),
    "fever_eraser_valtest": Source(train=("val", "test"), titled=True),
    "conjnli": Source(train=("train",), dev=("dev",), share=0.1, weight=0.7),  # labels made by rule: noisy
    "scifact_rationales": Source(train=("train",), dev=("dev",)),
    "feverous_dev_text": Source(),
    "fool_me_twice_dev": Source(),
    "contract_nli_spans_dev": Source(share=0.3, weight=0.7),  # only 17 hypotheses
    "entailmentbank_steps": Source(train=("train", "dev", "test"), share=0.2, around="none"),  # one class only
    "folio": Source(train=("train", "validation"), share=0.4, weight=0.5, around="none"),
    "hans_sampled3k": Source(train=("sample",), share=0.3, weight=0.5, around="none"),
}
TITLE = 60  # characters; a longer beginning is a sentence
DEV_SHARE = 0.04  # of the sources without a development split of their own, by premise


@dataclass(frozen=True)
class Pair:
    premise: str
    hypothesis: str
    target: int  # index in LABELS, NOT_ENTAILMENT or NOT_CONTRADICTION
    source: str
    weight: float = 1.0
    page: str = ""  # the title of the page that the premise is from, where the source tells it


def normalised(text: str) -> str:
    """Case, punctuation and spacing do not make a pair new."""
    return " ".join(re.findall(r"\w+", unicodedata.normalize("NFKC", text).lower()))


def _title(premise: str) -> str:
    title, _, rest = premise.partition(". ")
    return title if rest and len(title) <= TITLE else ""


def read_rows(path: Path) -> Iterator[dict[str, Any]]:
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


def evaluation_keys(folder: Path | None) -> set[str]:
    """Normalised pairs of the evaluation sets, which must not be trained on, and the premises of those in NLI form."""
    keys: set[str] = set()
    for path in sorted(folder.glob("*.jsonl*")) if folder else ():
        for row in read_rows(path):
            claim = row.get("hypothesis") or row.get("claim")
            evidence = row.get("premise") or row.get("evidence")
            if isinstance(claim, str) and isinstance(evidence, str):
                keys.add(f"{normalised(evidence)}|{normalised(claim)}")
            if "premise" in row:
                keys.add(normalised(row["premise"]))
    return keys


def _reserved(paths: list[Path]) -> set[str]:
    """The claims of every split that is not trained on: another file may hold them with other evidence."""
    claims: set[str] = set()
    for path in paths:
        source = SOURCES.get(path.name.split(".")[0], Source())
        claims |= {normalised(r["hypothesis"]) for r in read_rows(path) if r.get("split", "train") not in source.train}
    return claims


def load(folder: Path, exclude: Set[str] = frozenset()) -> tuple[list[Pair], list[Pair]]:
    """Training and development pairs of a folder, deduplicated; three-way labels win over two-way ones.

    Raises ValueError for a folder without data and for a row with a label that is not known.
    """
    paths = sorted(folder.glob("*.jsonl*"), key=lambda p: ("binary" in p.name, p.name))
    if not paths:
        raise ValueError(f"no *.jsonl or *.jsonl.gz in {folder}: give a folder of NLI pairs")
    seen, reserved = set(exclude), _reserved(paths)
    train: list[Pair] = []
    dev: list[Pair] = []
    for path in paths:
        name = path.name.split(".")[0]
        source = SOURCES.get(name, Source(train=("train",), dev=("dev",)))
        selected: list[tuple[Pair, str]] = []
        for number, row in enumerate(read_rows(path), 1):
            if row.get("label") not in TARGETS:
                raise ValueError(
                    f"{path.name}, row {number}: label {row.get('label')!r}, expected one of {list(TARGETS)}"
                )
            premise, hypothesis = normalised(row["premise"]), normalised(row["hypothesis"])
            key = f"{premise}|{hypothesis}"
            if key in seen or premise in seen:
                continue
            seen.add(key)
            split = row.get("split") or "train"
            if hypothesis in reserved and split in source.train:
                continue
            page = row.get("page") or (_title(row["premise"]) if source.titled else "")
            pair = Pair(row["premise"], row["hypothesis"], TARGETS[row["label"]], name, source.weight, page)
            selected.append((pair, split))
        for pair, split in selected:
            if split in source.dev:
                dev.append(pair)
            elif split in source.train:
                held_out = not source.dev and zlib.crc32(normalised(pair.premise).encode()) % 1000 < DEV_SHARE * 1000
                (dev if held_out else train).append(pair)
    return train, dev


def class_weights(pairs: Iterable[Pair]) -> list[float]:
    """Square root of the inverse frequency, mean 1: rare classes count more, without drowning the rest."""
    counts = Counter(p.target for p in pairs)
    raw = [counts[i] ** -0.5 if counts[i] else 0.0 for i in range(NOT_CONTRADICTION + 1)]
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
