"""The share of proposed corrections that restore a claim that was made false, and the fate of true claims.

    python -m benchmarks.corrections DATA [--part report|develop] [--most N] [--verifier NAME] [--out FILE.json]

DATA/nli holds entailed pairs. In the claim of a pair one number, date or name that its passage holds too is replaced by
another one of the same kind from another pair; a name only after the main verb, since what the claim is about stands
before it. The part `report` are pairs that no model was trained on and that nothing here was developed with: the test
split of FEVER, and of the held-out pairs of other files those whose passage has an odd CRC-32; `develop` is the rest.
"""

from __future__ import annotations

import math
import random
import re
import sys
import tempfile
import zlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple

from attribution.errors import BadInput
from attribution.pipeline.judge import GivenClaim, judge
from attribution.review.correction import changes, word_spans
from attribution.review.corrections import CORRECTED, CORRECTORS, Corrector, Premise, best
from attribution.settings import Settings
from attribution.store.store import Store
from attribution.text.parse import parse, with_entities
from attribution.verifiers import VERIFIERS, policy_of
from attribution.verifiers.pairs import CachedVerifier
from benchmarks import arguments, publish
from training.data import load, normalised, read_rows

Part = Literal["report", "develop"]
FEVER = {"report": "test", "develop": "dev"}
NAMES = frozenset(("PERSON", "ORG", "GPE", "LOC", "NORP", "WORK_OF_ART", "FAC", "EVENT"))
PAIRS = 600  # read; the words that are put in come from them
_MONTHS = "January|February|March|April|May|June|July|August|September|October|November|December"
_DATE = re.compile(
    rf"\b(?:1\d{{3}}|20\d\d)\b(?!,\d|['’]?s\b)|\b(?:{_MONTHS})\b(?= \d)|(?<=\d )\b(?:{_MONTHS})\b"
)  # years and months
_NUMBER = re.compile(
    r"(?<![\w.,])\d+(?:[.,]\d+)*(?![\w’']|[.,]\d)|\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)\b"
)
_DAY = re.compile(rf"(?:{_MONTHS}) $"), re.compile(rf" (?:{_MONTHS})\b")


class Pair(NamedTuple):
    passage: str
    claim: str


@dataclass(frozen=True)
class Spot:
    """A number, date or name of a claim, which another one of that type can replace."""

    kind: str
    type: str
    start: int
    end: int


@dataclass(frozen=True)
class FalseClaim:
    kind: str
    passage: str
    true: str
    text: str
    word: str  # that was replaced


def pairs(data: Path, part: Part) -> list[Pair]:
    """Entailed pairs of one part, in a fixed random order."""
    fever = (r for r in read_rows(data / "nli" / "fever_nli.jsonl.gz") if r["split"] == FEVER[part])
    found = [Pair(r["premise"], r["hypothesis"]) for r in fever if r["label"] == "entailment"]
    _, held_out = load(data / "nli")
    odd = part == "report"
    for p in held_out:
        if p.target == 0 and p.source != "fever_nli" and zlib.crc32(normalised(p.premise).encode()) % 2 == odd:
            found.append(Pair(p.premise, p.hypothesis))
    random.Random(1).shuffle(found)
    return found


def spots(claim: str) -> Iterator[Spot]:
    doc = parse(claim)
    verb = next((t.idx for t in doc if t.dep_ == "ROOT"), 0)
    for e in with_entities(doc[:].as_doc()).ents:
        start = e.start_char + 4 * e.text.lower().startswith("the ")
        if e.label_ in NAMES and start > verb and claim[start : start + 1].isupper():
            yield Spot("name", e.label_, start, e.end_char)
    dates = [m.span() for m in _DATE.finditer(claim)]
    for start, end in dates:
        yield Spot("date", "year" if claim[start].isdigit() else "month", start, end)
    for m in _NUMBER.finditer(claim):
        day = _DAY[0].search(claim[: m.start()]) or _DAY[1].match(claim, m.end())
        if not day and not any(start < m.end() and m.start() < end for start, end in dates):
            yield Spot("number", "digits" if m[0][0].isdigit() else "word", *m.span())


def false_claims(given: Sequence[Pair], most: int) -> list[FalseClaim]:
    """At most so many of each kind; a claim can occur once with each."""
    of_claim = [list(spots(pair.claim)) for pair in given]
    others: dict[tuple[str, str], set[str]] = defaultdict(set)
    for pair, found in zip(given, of_claim, strict=True):
        for spot in found:
            others[spot.kind, spot.type].add(pair.claim[spot.start : spot.end])
    made: dict[str, list[FalseClaim]] = defaultdict(list)
    for pair, found in zip(given, of_claim, strict=True):
        rng = random.Random(zlib.crc32(pair.claim.encode()))
        own_words = set(normalised(f"{pair.passage} {pair.claim}").split())
        for kind in ("number", "date", "name"):
            here = [s for s in found if s.kind == kind and _holds(pair.passage, pair.claim[s.start : s.end])]
            if not here or len(made[kind]) >= most:
                continue
            spot = rng.choice(here)
            words = [w for w in sorted(others[kind, spot.type]) if not set(normalised(w).split()) & own_words]
            if words:
                text = pair.claim[: spot.start] + rng.choice(words) + pair.claim[spot.end :]
                word = pair.claim[spot.start : spot.end]
                made[kind].append(FalseClaim(kind, pair.passage, pair.claim, text, word))
    return [claim for kind in made for claim in made[kind]]


def _holds(passage: str, word: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(word)}(?!\w)", passage) is not None


@dataclass(frozen=True)
class Outcome:
    verdict: str
    correction: str  # empty: none is proposed

    def restores(self, claim: FalseClaim) -> bool:
        """Return True if the words that the correction puts in hold the word that was replaced."""
        spans = word_spans(self.correction)
        put = " ".join(
            self.correction[slice(*spans[i])] for _, (a, b) in changes(claim.text, self.correction) for i in range(a, b)
        )
        return set(normalised(claim.word).split()) <= set(normalised(put).split())


def outcomes(
    claims: Iterable[Pair], corrector: Corrector, verifier: CachedVerifier, settings: Settings
) -> Iterator[Outcome]:
    """The verdict on each claim by its passage, and the correction that is proposed."""
    for number, (passage, claim) in enumerate(claims, 1):
        if number % 10 == 0:
            print(f"\r{number} ", end="", file=sys.stderr, flush=True)
        try:
            (judged,) = judge([GivenClaim(claim, (passage,))], verifier, policy_of(settings))
            label, found = judged.verdict.label, None
            if label in CORRECTED:
                right = () if label == "contradicted" else (passage,)
                found = best(claim, [Premise(passage)], corrector, verifier, policy_of(settings), right)
        except BadInput:  # longer than the verifier reads
            yield Outcome("refused", "")
            continue
        yield Outcome(label, found.text if found else "")


def share(hits: int, of: int) -> dict[str, Any]:
    """A share with its Wilson 95 % interval."""
    z, p = 1.96, hits / of if of else 0.0
    middle, half = p + z * z / (2 * of), z * math.sqrt(p * (1 - p) / of + z * z / (4 * of * of))
    low, high = ((middle + sign * half) / (1 + z * z / of) for sign in (-1, 1))
    return {"hits": hits, "of": of, "share": round(p, 3), "interval": [round(low, 3), round(high, 3)]}


def main(argv: list[str] | None = None) -> int:
    parser = arguments(__doc__, data="nli/")
    parser.add_argument("--part", choices=list(FEVER), default="report")
    parser.add_argument("--most", type=int, default=25, metavar="N", help="false claims of each kind; true ones 4 N")
    parser.add_argument("--verifier", default="embedded-base", choices=list(VERIFIERS))
    parser.add_argument("--corrector", default="rule", choices=list(CORRECTORS))
    parser.add_argument("--store", default="", metavar="FILE", help="keep the judgements in this database")
    args = parser.parse_args(argv)
    if not (args.data / "nli").is_dir():
        print(f"benchmarks: {args.data} has no folder nli", file=sys.stderr)
        return 2
    settings = Settings()
    folder = tempfile.TemporaryDirectory()
    store = Store.open(f"sqlite:///{args.store or Path(folder.name) / 'judgements.sqlite3'}")
    verifier = CachedVerifier(VERIFIERS.build(args.verifier, settings), store)
    corrector = CORRECTORS.build(args.corrector, settings)
    given = pairs(args.data, args.part)[:PAIRS]
    false = false_claims(given, args.most)
    true = given[: 4 * args.most]
    found = list(outcomes([Pair(c.passage, c.text) for c in false], corrector, verifier, settings))
    untouched = list(outcomes(true, corrector, verifier, settings))
    figures: dict[str, Any] = {"part": args.part, "verifier": verifier.version, "corrector": corrector.version}
    for kind in ("all", "number", "date", "name"):
        rows = [(c, o) for c, o in zip(false, found, strict=True) if kind in ("all", c.kind)]
        figures[kind] = {
            "restored": share(sum(o.restores(c) for c, o in rows), len(rows)),
            "another correction": share(sum(bool(o.correction) and not o.restores(c) for c, o in rows), len(rows)),
            "exactly the true claim": share(
                sum(normalised(o.correction) == normalised(c.true) for c, o in rows), len(rows)
            ),
            "shown as supported": share(sum(o.verdict == "supported" for _, o in rows), len(rows)),
        }
    supported = [o for o in untouched if o.verdict == "supported"]
    figures["true claims"] = {
        "no correction proposed": share(sum(not o.correction for o in untouched), len(untouched)),
        "supported by the verifier": share(len(supported), len(untouched)),
        "of these, no correction proposed": share(sum(not o.correction for o in supported), len(supported)),
    }
    publish(figures, args.out)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
