"""Would several sentences decide what no single one does? The best K of a claim’s passages, until silence rises.

    python -m benchmarks.several DATA [--sets NAME …] [--limit N]

InFusE's rule (Zhang et al. 2024): the sentences are ranked by entailment and read together in their order, one more at
a time, as long as the probability of no relation does not rise. For each threshold the printout says how many undecided
claims would become *supported*, how many of these are right, and the processor time beside that of the verdicts.
"""

from __future__ import annotations

import argparse
import time
import zlib
from pathlib import Path

from attribution.settings import Settings
from attribution.text.sentences import sentences
from attribution.types import Label, Probabilities
from attribution.verifiers.embedded_base import PassageReading, reader
from benchmarks.evaluation_sets import held_out
from benchmarks.verdicts import SETS, LabelledClaim, judged_by

UNDECIDED: tuple[Label, ...] = ("unclear", "no_relation")
MOST, MOST_RANKED = 7, 40  # sentences read together, and ranked
THRESHOLDS = (0.5, 0.6, 0.7, 0.8)


def several(claim: LabelledClaim, passages: list[str]) -> Probabilities | None:
    """Read a claim with the best sentences of its passages; None where one sentence alone is best."""
    found = dict.fromkeys(text[a:b].strip() for text in passages for a, b in sentences(text))
    texts = list(filter(None, found))[:MOST_RANKED]

    def read(text: str) -> Probabilities:
        return PassageReading(reader(), claim.given.text, text).plain().probabilities

    alone = [read(text) for text in texts]
    order = sorted(range(len(texts)), key=lambda i: -alone[i].entailed)[:MOST]
    best, grown = alone[order[0]] if order else None, False
    for k in range(2, len(order) + 1):
        more = read(" ".join(texts[i] for i in sorted(order[:k])))
        if best is None or more.no_relation > best.no_relation:
            break
        best, grown = more, True
    return best if grown else None


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, help="the folder that holds eval/ and nli/")
    parser.add_argument("--sets", nargs="+", default=["wice_claim_dev", "expertqa_val", "cg2c_doc"], choices=SETS)
    parser.add_argument("--limit", type=int, default=400, help="held-out claims of each set, drawn by a hash")
    args = parser.parse_args(argv)
    settings = Settings.from_environment(verifier="embedded-base")
    for name in args.sets:
        claims = [c for c in SETS[name](args.data) if held_out(c.answer)]
        claims = sorted(claims, key=lambda c: zlib.crc32(c.given.text.encode()))[: args.limit]
        started = time.process_time()
        judged = judged_by("embedded-base", claims, settings)
        between = time.process_time()
        supported = [c.supported for c, j in zip(claims, judged, strict=True) if j.verdict.label == "supported"]
        undecided = [(c, j) for c, j in zip(claims, judged, strict=True) if j.verdict.label in UNDECIDED]
        read = [(c, several(c, [e.text for e in j.evidence])) for c, j in undecided]
        spent = (time.process_time() - between) / (between - started)
        print(f"{name}: supported {sum(map(bool, supported))} of {len(supported)} right, {len(undecided)} undecided")
        for least in THRESHOLDS:
            gained = [bool(c.supported) for c, found in read if found and found.entailed >= least]
            print(f"  from {least} on: {sum(gained)} of {len(gained)} more right")
        print(f"  {spent:.0%} more processor time")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
