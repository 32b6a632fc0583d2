"""The pairs that the reader is trained on.

`training/data` holds claims that were written by hand for this project. A folder of public data has
`nli/` (entailment sets) and `eval/` (claims with passages of real pages); `training/README.md`
names every file.
"""

from __future__ import annotations

import gzip
import json
import math
import random
import re
import zlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.evaluation_sets import group

RELATIONS = ("entailment", "neutral", "contradiction")  # the order of the reader's outputs
ENTAILED, NEITHER, CONTRADICTED = range(len(RELATIONS))
NOT_ENTAILED = 3  # neither or contradicted: the source doesn't say which
NOT_CONTRADICTED = 4  # entailed or neither
TARGETS = {name: index for index, name in enumerate(RELATIONS)} | {"not_entailment": NOT_ENTAILED}
LETTERS = {"E": ENTAILED, "N": NEITHER, "C": CONTRADICTED, "P": NOT_ENTAILED}

# Share of each kind of pair in what the reader sees. Written claims alone teach it that few shared
# words mean entailment; the other kinds are there against that.
SHARES = {
    "written": 0.15,  # claims by hand, each with the passage that it is about
    "long": 0.21,  # the same, of passages full of facts, or as a search finds them
    "short": 0.05,  # and of passages of a sentence or two
    "plain": 0.08,  # claims in the passage's own words, and such with one difference
    "joined": 0.03,  # two of these claims in one sentence, of which one or both are true
    "siblings": 0.05,  # claims that another passage of the same document settles
    "cut": 0.02,  # passages with and without the sentence that decides
    "patterns": 0.10,  # written patterns, filled in with names and numbers
    "swapped": 0.02,  # true claims and sentences of the passage in which two things change places
    "judged": 0.05,  # claims of real answers with passages that were retrieved for them
    "real": 0.04,  # public claims with passages of real pages
    "replay": 0.20,  # public sets of earlier training
}
WRITTEN = Path(__file__).parent / "data"
FILLS = 12  # of each pattern
JOINS = (", and {}", " and {}", ", while {}", "; {}")
OPENERS = "The A An It Its In On At By This These There They He She His Her".split()
SUBJECT = re.compile(r"(.{3,60}?) (?=(?:was|were|is|are|has|had|can|will) )")
LISTED = re.compile(  # between two things that may stand in any order
    r"[\s,;/–-]*(?:(?:and|or|to|with|&|[x×+=])[\s,;]*)?"
)
EXCHANGED = (  # names, years, other numbers: what a claim is if two of them change places
    (NOT_ENTAILED, re.compile(r"(?<=[a-z,(] )[A-Z][\w’'-]+(?: [A-Z][\w’'-]+)*")),
    (CONTRADICTED, re.compile(r"\b(?:1[0-9]|20)\d\d\b(?![.,]\d)")),
    (CONTRADICTED, re.compile(r"(?<![\d.,])(?!(?:1[0-9]|20)\d\d\b)\d+(?:[.,]\d+)*\b")),
)
MINUTES = ("05", "15", "20", "30", "40", "45")
NUMBER_WORDS = "two three four five six seven eight nine ten eleven twelve".split()
CHOOSING_FOLD = 6  # of ten: what adapters are chosen on
REPORTED_FOLDS = (7, 8, 9)  # what no choice has seen


@dataclass(frozen=True)
class Pair:
    """A claim and a passage.

    Attributes:
        premise: The passage, perhaps after its title.
        claim: The claim, perhaps after a heading.
        target: Index in `RELATIONS`, or `NOT_ENTAILED` or `NOT_CONTRADICTED`.
        source: The set that the pair is from.
        kind: What makes a written claim true or false, such as `computed` or `antonym`.
        document: Pairs of one document are always in the same split.
        weight: How much it counts in the loss.
    """

    premise: str
    claim: str
    target: int
    source: str
    kind: str = ""
    document: str = ""
    weight: float = 1.0


@dataclass(frozen=True)
class Replay:
    """The part of a public set that is replayed.

    Attributes:
        share: Of its pairs.
        weight: Of each of them in the loss.
        splits: Those that are used.
    """

    share: float
    weight: float = 1.0
    splits: tuple[str, ...] = ("train", "dev")


# Sets that the table doesn't name are not replayed.
REPLAY = {
    "mnli_dev_3way": Replay(0.3),
    "mnli_train_sample": Replay(1.0, splits=("train_part",)),
    "snli_devtest": Replay(0.2, 0.5),
    "snli_cad": Replay(0.2, 0.5),
    "paws_wiki_devtest": Replay(0.2, 0.8, splits=("dev", "test")),
    "fever_nli": Replay(1.0, splits=("train",)),
    "fever_eraser_gold_sameclaims": Replay(0.35, splits=("val", "test")),
    "fever_eraser_valtest": Replay(1.0, splits=("val", "test")),
    "scifact_rationales": Replay(1.0, splits=("train",)),
    "check_covid": Replay(1.0),
    "feverous_dev_text": Replay(1.0),
    "fool_me_twice_dev": Replay(1.0),
    "contract_nli_spans_dev": Replay(0.3, 0.7),
    "folio": Replay(0.4, 0.5, splits=("train", "validation")),
    "hans_sampled3k": Replay(0.3, 0.5, splits=("sample",)),
}
PADDED_SHARE = 0.3  # of the pairs whose premise is a sentence or two: others stand around it

# The labels of claims with passages of real pages; other labels are left out.
REAL = {
    "expertqa_val": {
        "Complete": ENTAILED,
        "Incomplete": NOT_ENTAILED,
        "Missing": NOT_ENTAILED,
    },
    "wice_oracle_chunks_dev": {
        "supported": ENTAILED,
        "partially_supported": NOT_ENTAILED,
        "not_supported": NOT_ENTAILED,
    },
    "begin_dev": {"Fully attributable": ENTAILED, "Not fully attributable": NOT_ENTAILED},
    "q2_wow": {"consistent": ENTAILED, "inconsistent": NOT_ENTAILED},
    "faithdial_audit": {"entailment": ENTAILED, "hallucination": NOT_ENTAILED},
    "citation_integrity": {"SUPPORT": ENTAILED, "REFUTE": NOT_ENTAILED, "NEI": NEITHER},
    "factcheck_bench_dev": {
        "completely-support": ENTAILED,
        "partially-support": NOT_CONTRADICTED,
        "refute": CONTRADICTED,
        "irrelevant": NEITHER,
    },
}
UNCUT_CHARS = 900  # a passage up to this length stays whole
WINDOW_CHARS = 600  # of a longer one
WINDOW_STEP = 150  # characters between the windows to choose from
LONGEST_CLAIM = 450  # characters
HEADINGS = ["Overview", "Key facts", "Background", "History", "Details", "Summary", "Problems"]


def read_rows(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the rows of a gzip JSON Lines file."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


def checksum(text: str) -> int:
    """Return a number that is the same in every process."""
    return zlib.crc32(text.encode())


def document_of(passage_id: str) -> str:
    """Return the document of a written passage: `D1-004.2` is the second passage of `D1-004`."""
    return passage_id.split(".")[0]


def is_held_out(document: str) -> bool:
    """Return True for the documents of the development split."""
    return checksum(document) % 8 == 0


def titled(title: str, passage: str, key: str) -> str:
    """Return the passage, for every second key after its title.

    Args:
        title: That of the document; may be empty.
        passage: The passage.
        key: Decides whether the title is put before it, the same way every time.
    """
    if title and checksum(key) % 2:
        return f"{title.rstrip('.')}. {passage}"
    return passage


def headed(title: str, claim: str, key: str) -> str:
    """Return the claim, every second fragment after a heading as answers have them.

    Args:
        title: That of the document, which is one of the headings if it is short.
        claim: The claim.
        key: Decides whether there is a heading, and which.
    """
    if claim.endswith((".", "!", "?")) or checksum(key) % 2:
        return claim
    headings = [title, *HEADINGS] if 0 < len(title) < 60 else HEADINGS
    return f"{headings[checksum(key) // 2 % len(headings)]}: {claim}"


def written() -> list[Pair]:
    """Read the claims written by hand, each with a passage of its document."""
    pairs: list[Pair] = []
    for row in _hand_rows():
        row_id = row["id"]
        document = document_of(row_id)
        for letter, kind, claim in row["claims"]:
            premise = titled(row["title"], row["passage"], row_id + claim)
            if not is_held_out(document):
                claim = headed(row["title"], claim, claim + row_id)
            source = _source(row_id, kind)
            pairs.append(Pair(premise, claim, LETTERS[letter], source, kind, document))
    return pairs


def _hand_rows() -> list[dict[str, Any]]:
    """Return the passages with the claims that were written for them."""
    rows: list[dict[str, Any]] = []
    for name in ("claims", "short", "plain"):
        rows += read_rows(WRITTEN / f"{name}.jsonl.gz")
    return rows


def _split_rows(held_out: bool) -> list[dict[str, Any]]:
    """Return those of the development split, or the others."""
    return [row for row in _hand_rows() if is_held_out(document_of(row["id"])) == held_out]


def _source(row_id: str, kind: str) -> str:
    """Return the name in SHARES that a written claim counts under."""
    if row_id.startswith("X"):
        return "short"
    if row_id.startswith("Y"):
        return "long"
    if row_id.endswith("p"):
        return "plain"
    return "siblings" if kind == "sibling" else "written"


def judged() -> list[Pair]:
    """Read the claims of real answers, each with a passage that was retrieved for it."""
    pairs: list[Pair] = []
    for row in read_rows(WRITTEN / "judged.jsonl.gz"):
        claim = row["claim"]
        premise = titled(row["title"], row["passage"], row["id"])
        pairs.append(Pair(premise, claim, LETTERS[row["label"]], "judged", document=claim))
    return pairs


def _sentences(passage: str) -> list[str]:
    return [part for part in re.split(r"(?<=[.!?])\s+|\n+", passage) if part.strip()]


def _content_words(text: str) -> set[str]:
    """Return numbers and the first five letters of words, so that inflections agree."""
    words = re.findall(r"\d[\d.,]*\d|\d|[^\W\d_]{3,}", text.lower())
    return {word[:5] for word in words}


def cut(rng: random.Random, held_out: bool = False) -> list[Pair]:
    """Make pairs of passages cut at the sentence that decides a claim.

    That sentence, the one that shares the rarest words with the claim, settles it alone; without
    it, the same passage settles nothing. Claims where another sentence comes near it are left out.

    Args:
        rng: Decides which pairs are made.
        held_out: Make those of the development split.
    """
    rows = _split_rows(held_out)
    spread = Counter(word for row in rows for word in _content_words(row["passage"]))

    def shared(claim: set[str], sentence: str) -> float:
        """Return how much the shared words weigh, rare ones most."""
        words = claim & _content_words(sentence)
        return math.fsum(math.log(1 + len(rows) / (1 + spread[word])) for word in words)

    pairs = []
    for row in rows:
        sentences = _sentences(row["passage"])
        if not 2 <= len(sentences) <= 40:
            continue
        document = document_of(row["id"])
        claims = [(claim, LETTERS[letter]) for letter, _, claim in row["claims"]]
        own = [s for s in sentences if s.endswith(".") and 5 <= len(s.split()) <= 30]
        claims += [(sentence, ENTAILED) for sentence in own[:2]]
        for claim, target in claims:
            if target == NOT_ENTAILED or (target == NEITHER and rng.random() < 0.6):
                continue
            words = _content_words(claim)
            ranked = sorted(sentences, key=lambda s: shared(words, s), reverse=True)
            deciding = ranked[0]
            weight = shared(words, deciding)
            if weight < 2 * shared(words, ranked[1]):
                continue
            rest = [sentence for sentence in sentences if sentence != deciding]
            key = claim + row["id"]
            claim = headed(row["title"], claim, key)
            if weight > 0.4 * shared(words, claim):
                alone = titled(row["title"], deciding, key)
                pairs.append(Pair(alone, claim, target, "cut", "alone", document))
            # the rest of the passage, or the sentence of it that is nearest to the claim
            remaining = " ".join(rest) if rng.random() < 0.6 else ranked[1]
            without = titled(row["title"], remaining, key)
            pairs.append(Pair(without, claim, NEITHER, "cut", "without", document))
    return pairs


def joined(rng: random.Random, held_out: bool = False) -> list[Pair]:
    """Make claims of two that were written for one passage.

    Both true is entailed; one false is contradicted; one true and one that the passage doesn't
    settle is neither.

    Args:
        rng: Decides which claims are joined, and how.
        held_out: Make those of the development split.
    """
    pairs = []
    for row in _split_rows(held_out):
        document = document_of(row["id"])
        claims: list[tuple[int, str]] = []
        for letter, _, claim in row["claims"]:
            if claim.endswith(".") and len(claim.split()) <= 20 and letter != "P":
                claims.append((LETTERS[letter], claim))
        rng.shuffle(claims)
        true = [claim for label, claim in claims if label == ENTAILED]
        for target in (ENTAILED, NEITHER, CONTRADICTED):
            others = [claim for label, claim in claims if label == target and claim not in true[:1]]
            if not true or not others:
                continue
            first, second = rng.sample([true[0], others[0]], 2)
            premise = titled(row["title"], row["passage"], row["id"] + others[0])
            text = in_one_sentence(first, second, rng.choice(JOINS))
            pairs.append(Pair(premise, text, target, "joined", "E" + "ENC"[target], document))
    return pairs


def in_one_sentence(first: str, second: str, join: str) -> str:
    """Return two claims as one, the second without its subject if that is the first one's."""
    subjects = [SUBJECT.match(claim) for claim in (first, second)]
    if subjects[0] and subjects[1] and subjects[0][1] == subjects[1][1] and ";" not in join:
        second = second[subjects[1].end() :]
    elif second.split()[0] in OPENERS:
        second = second[0].lower() + second[1:]
    return first.rstrip(".") + join.format(second)


def swapped(rng: random.Random, held_out: bool = False) -> list[Pair]:
    """Make false claims of true ones and of a passage's own sentences.

    Two names, two years or two other numbers change places. After other names a sentence may still
    be true of both, so there only *entailed* is ruled out.

    Args:
        rng: Decides what changes places.
        held_out: Make those of the development split.
    """
    pairs = []
    for row in _split_rows(held_out):
        document = document_of(row["id"])
        true = [claim for letter, _, claim in row["claims"] if letter == "E"]
        for text in [*true, *_sentences(row["passage"])]:
            target, form = rng.choice(EXCHANGED)
            matches = list(form.finditer(text))
            if len(matches) < 2 or len(text.split()) > 40:
                continue
            first, second = sorted(rng.sample(matches, 2), key=lambda match: match.start())
            between = text[first.end() : second.start()]
            if first[0] == second[0] or LISTED.fullmatch(between):
                continue
            claim = text[: first.start()] + second[0] + between + first[0] + text[second.end() :]
            premise = titled(row["title"], row["passage"], row["id"] + claim)
            pairs.append(Pair(premise, claim, target, "swapped", "exchanged", document))
            if rng.random() < 0.4:
                pairs.append(Pair(premise, text, ENTAILED, "swapped", "kept", document))
    return pairs


def patterns(rng: random.Random, held_out: bool = False) -> list[Pair]:
    """Fill in the written patterns, with numbers `{n1}` < `{n2}` < `{n3}`, and years alike.

    Half of the passages stand among sentences of other documents. Patterns are held out whole.

    Args:
        rng: Decides what is filled in.
        held_out: Fill in those of the development split.
    """
    lists = json.loads((WRITTEN / "names.json").read_text(encoding="utf-8"))
    invented = [r for r in read_rows(WRITTEN / "claims.jsonl.gz") if r["source"] == "written here"]
    pairs = []
    for pattern in read_rows(WRITTEN / "patterns.jsonl.gz"):
        if is_held_out(pattern["id"]) != held_out:
            continue
        names = lists[pattern["names"]]
        for _ in range(FILLS):
            values = _values(rng, names, *pattern["numbers"])
            values |= zip("PQ", rng.sample(lists["places"], 2), strict=True)
            values |= _dates_and_times(rng, lists["months"])
            sentences = [_filled(rng.choice(pattern["passages"]), values)]
            if rng.random() < 0.5:
                other = _sentences(rng.choice(invented)["passage"])
                start = rng.randrange(len(other))
                before = rng.randint(0, 2)
                around = other[start : start + rng.randint(2, 6)]
                sentences = [*around[:before], *sentences, *around[before:]]
            premise = " ".join(sentences)
            for letter, claim in pattern["claims"]:
                pair = Pair(
                    premise,
                    _filled(claim, values),
                    LETTERS[letter],
                    source="patterns",
                    kind=pattern["kind"],
                    document=pattern["id"],
                )
                pairs.append(pair)
    return pairs


def _values(rng: random.Random, names: list[str], least: int, most: int) -> dict[str, str]:
    """Return names A to D, numbers n and years y in order, and what follows from two of them.

    These are the difference d and the sum s of two numbers, the span of two years, and a wrong one.
    """
    numbers = sorted(rng.sample(range(least, most + 1), 3))
    years = sorted(rng.sample(range(1750, 2026), 3))
    span = years[1] - years[0]
    values = dict(zip("ABCD", rng.sample(names, min(4, len(names))), strict=False))
    values |= {f"n{place}": f"{number:,}" for place, number in enumerate(numbers, 1)}
    values |= {f"y{place}": str(year) for place, year in enumerate(years, 1)}
    values["d"] = str(numbers[1] - numbers[0])
    values["s"] = str(numbers[0] + numbers[1])
    values["span"] = str(span)
    values["wrong"] = str(span + rng.randint(1, 9))
    return values


def _dates_and_times(rng: random.Random, months: list[str]) -> dict[str, str]:
    """Return two dates and times, and two small numbers.

    Two of each: days a, months m, hours b in the morning, h in the evening, g the latter on a clock
    of twelve hours, numbers k and their words w. One of each: minutes q1, and the first date as
    digits, i1 and j1.
    """
    days, months_at = rng.sample(range(1, 29), 2), rng.sample(range(12), 2)
    mornings, evenings = rng.sample(range(6, 12), 2), rng.sample(range(13, 24), 2)
    small = sorted(rng.sample(range(2, 13), 2))
    values = {"i1": f"{months_at[0] + 1:02}", "j1": f"{days[0]:02}", "q1": rng.choice(MINUTES)}
    for place in (0, 1):
        values |= {
            f"a{place + 1}": str(days[place]),
            f"m{place + 1}": months[months_at[place]],
            f"b{place + 1}": str(mornings[place]),
            f"h{place + 1}": str(evenings[place]),
            f"g{place + 1}": str(evenings[place] - 12),
            f"k{place + 1}": str(small[place]),
            f"w{place + 1}": NUMBER_WORDS[small[place] - 2],
        }
    return values


def _filled(text: str, values: dict[str, str]) -> str:
    filled = text.format(**values)
    return filled[0].upper() + filled[1:]


def fold(source: str, row_id: str) -> int:
    """Return the fold of a row, 0 to 9.

    A claim's chunks and a turn's replies are in one fold.
    """
    return checksum(group(source, row_id)) % 10


def window(text: str, claim: str) -> str:
    """Return the part of a long passage that shares most words with the claim.

    Args:
        text: The passage; up to UNCUT_CHARS it stays whole.
        claim: The claim.

    Returns:
        WINDOW_CHARS at most, cut at spaces, on one line.
    """
    text = " ".join(text.split())
    if len(text) <= UNCUT_CHARS:
        return text
    wanted = set(re.findall(r"[a-z0-9]{3,}", claim.lower()))

    def shared(start: int) -> int:
        part = text[start : start + WINDOW_CHARS].lower()
        return len(wanted & set(re.findall(r"[a-z0-9]{3,}", part)))

    starts = range(0, len(text) - WINDOW_CHARS + WINDOW_STEP, WINDOW_STEP)
    start = text.rfind(" ", 0, max(starts, key=shared) + 1) + 1
    part = text[start : start + WINDOW_CHARS]
    return part if start + WINDOW_CHARS >= len(text) else part.rsplit(" ", 1)[0]


def _labelled(source: str, row: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Yield (claim, passage, the source's label) of a row.

    Args:
        source: The name of the set, whose rows have a form of their own.
        row: One of its rows.
    """
    if source == "expertqa_val":
        for claim in row["claims"]:
            passage = re.sub(r"\[\d+\] \S+\s*", "", "\n".join(claim["evidence"] or ()))
            yield claim["claim"], passage, str(claim["label"])
    elif source == "factcheck_bench_dev":
        for claim in row["claims"]:
            for passage, stance in zip(claim["evidence"], claim["evidence_stance"], strict=False):
                yield claim["claim"], passage, stance
    else:
        evidence = row["evidence"]
        passage = evidence if isinstance(evidence, str) else " ".join(evidence)
        yield row["claim"], passage, row["label"]


def real(folder: Path, folds: frozenset[int]) -> list[Pair]:
    """Read claims with passages of real pages.

    Args:
        folder: The folder `eval/` of the public data.
        folds: Those of rows and groups that are read.
    """
    pairs: list[Pair] = []
    for source, targets in REAL.items():
        for row in read_rows(folder / f"{source}.jsonl.gz"):
            is_reported = checksum(row["id"]) % 10 in REPORTED_FOLDS
            if is_reported or fold(source, row["id"]) not in folds:
                continue
            for claim, passage, label in _labelled(source, row):
                is_short = 0 < len(claim.strip()) <= LONGEST_CLAIM
                if label in targets and is_short and passage.strip():
                    premise = window(passage, claim)
                    pairs.append(Pair(premise, claim.strip(), targets[label], source))
    return pairs


def normalised(text: str) -> str:
    """Return the words of a text in lower case."""
    return " ".join(re.findall(r"\w+", text.lower()))


def replayed(folder: Path, excluded: set[str], rng: random.Random) -> list[Pair]:
    """Read the public sets that earlier training used, so that what they taught isn't lost.

    Args:
        folder: The folder `nli/` of the public data.
        excluded: Pairs and premises that nothing may be trained on, as `evaluation_keys` has them.
        rng: Decides which pairs are read.
    """
    pairs = []
    seen = set(excluded)
    for name, use in REPLAY.items():
        selected = []
        for row in read_rows(folder / f"{name}.jsonl.gz"):
            premise, claim = normalised(row["premise"]), normalised(row["hypothesis"])
            key = f"{premise}|{claim}"
            if key in seen or premise in seen:
                continue
            seen.add(key)
            if (row.get("split") or "train") in use.splits and rng.random() < use.share:
                selected.append(row)
        for row in selected:
            premise = row["premise"]
            if len(premise) < 300 and rng.random() < PADDED_SHARE:
                before = rng.choice(selected)["premise"]
                after = rng.choice(selected)["premise"]
                preceding = rng.sample([before, after], rng.randint(0, 1))
                premise = " ".join([*preceding, premise, after])
            target = TARGETS[row["label"]]
            pairs.append(Pair(premise, row["hypothesis"], target, name, weight=use.weight))
    return pairs


def evaluation_keys(folder: Path) -> set[str]:
    """Return the normalised pairs and premises of sets that nothing may be trained on.

    Args:
        folder: The folder `eval/` of the public data.

    Returns:
        Keys as `replayed` compares them: "premise|claim", and premises alone.
    """
    keys: set[str] = set()
    for path in folder.glob("*.jsonl.gz"):
        for row in read_rows(path):
            claim = row.get("hypothesis") or row.get("claim")
            evidence = row.get("premise") or row.get("evidence")
            if isinstance(claim, str) and isinstance(evidence, str):
                keys.add(f"{normalised(evidence)}|{normalised(claim)}")
            if "premise" in row:
                keys.add(normalised(row["premise"]))
    return keys
