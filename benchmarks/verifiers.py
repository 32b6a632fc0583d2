"""Quality, calibration and speed of verifiers, beside cosine similarity and word overlap.

    python -m benchmarks.verifiers DATA [--verifier NAME …] [--held-out] [--out FILE.json] [--plot
    FILE.png]

Three-way sets: accuracy, balanced accuracy, macro F1, expected calibration error (10 bins, top
probability).
Two-way sets: balanced accuracy of support, the threshold on p(entailed) chosen on one half and used
on the other, and
the mean with the other way around.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import balanced_accuracy_score, f1_score

from attribution.embedders.minilm import MiniLM
from attribution.errors import BadInput
from attribution.settings import Settings
from attribution.text.words import shared_words
from attribution.types import RELATIONS, Probabilities
from attribution.verifiers import VERIFIERS, Verifier
from benchmarks import arguments, publish
from benchmarks.evaluation_sets import SETS, Case

BINS = 10


def macro_f1(gold: Sequence[Any], guess: Sequence[Any]) -> float:
    """The mean F1 of the classes that occur in `gold`."""
    return float(f1_score(gold, guess, labels=sorted(set(gold)), average="macro", zero_division=0))


def reliability(confidence: Any, right: Any) -> tuple[float, list[tuple[float, float, int]]]:
    """(expected calibration error, [(mean confidence, accuracy, pairs) of each bin that is not
    empty]).
    """
    confidence, right = np.asarray(confidence), np.asarray(right, dtype=float)
    bins = np.minimum((confidence * BINS).astype(int), BINS - 1)
    rows = [
        (
            float(confidence[bins == b].mean()),
            float(right[bins == b].mean()),
            int((bins == b).sum()),
        )
        for b in range(BINS)
        if (bins == b).any()
    ]
    return sum(n * abs(c - a) for c, a, n in rows) / len(confidence), rows


def best_threshold(scores: Any, gold: Any) -> float:
    """The threshold of highest balanced accuracy, between neighbouring scores."""
    values = np.unique(scores)
    candidates = (values[:-1] + values[1:]) / 2 if len(values) > 1 else values
    if len(candidates) > 400:
        candidates = np.quantile(candidates, np.linspace(0, 1, 400))
    return float(
        max(candidates, key=lambda t: balanced_accuracy_score(list(gold), list(scores >= t)))
    )


def support(cases: Sequence[Case], scores: Any) -> dict[str, float]:
    """Balanced accuracy on the reporting half with the threshold of the choosing half, and the mean
    of that and of the
    other way around: held-out halves are small, and a threshold chosen on a hundred claims is one
    of many."""
    gold = np.array([c.gold for c in cases])
    choose = np.array([c.half == "choose" for c in cases])
    threshold = best_threshold(scores[choose], gold[choose])

    def measured(on: Any, at: float) -> float:
        return float(balanced_accuracy_score(list(gold[on]), list(scores[on] >= at)))

    reported, turned = (
        measured(~choose, threshold),
        measured(choose, best_threshold(scores[~choose], gold[~choose])),
    )
    return {
        "balanced accuracy": reported,
        "either way": (reported + turned) / 2,
        "threshold": threshold,
    }


def flat_pairs(cases: Sequence[Case]) -> list[tuple[str, str]]:
    return [(c.claim, p) for c in cases for p in c.passages]


def highest(cases: Sequence[Case], values: Any) -> Any:
    """The highest score of each case over its passages; `values` has one for each flat pair."""
    out, at = [], 0
    for c in cases:
        out.append(values[at : at + len(c.passages)].max())
        at += len(c.passages)
    return np.array(out)


def cosine(pairs: list[tuple[str, str]]) -> Any:
    embed = MiniLM(Settings()).embed
    return (embed([c for c, _ in pairs]) * embed([e for _, e in pairs])).sum(1)


def overlap(pairs: list[tuple[str, str]]) -> Any:
    return [shared_words(c, e) for c, e in pairs]


def judge(verifier: Verifier, pairs: Sequence[tuple[str, str]]) -> tuple[Any, int]:
    """Probabilities (n, 3) in the order of RELATIONS, and how many pairs were refused (counted as
    no relation).
    """
    out, refused = np.tile([0.0, 0.0, 1.0], (len(pairs), 1)), 0
    for start in range(0, len(pairs), 64):
        part = list(pairs[start : start + 64])
        probabilities: list[Probabilities | None] = []
        try:
            probabilities += [j.probabilities for j in verifier.verify(part)]
        except BadInput:
            for pair in part:
                try:
                    probabilities.append(verifier.verify([pair])[0].probabilities)
                except BadInput:
                    probabilities.append(None)
        for i, p in enumerate(probabilities, start):
            refused += p is None
            if p is not None:
                out[i] = [getattr(p, r) for r in RELATIONS]
        print(f"\r{start + len(part)}/{len(pairs)} ", end="", file=sys.stderr)
    print(file=sys.stderr)
    return out, refused


def selected(
    read: Callable[[Path], list[Case]], data: Path, most: int | None, held_out: bool
) -> list[Case]:
    return [case for case in read(data) if case.held_out or not held_out][:most]


def evaluate(
    name: str, verifier: Verifier, data: Path, most: int | None, held_out: bool
) -> dict[str, Any]:
    results: dict[str, Any] = {}
    for title, (classes, read) in SETS.items():
        cases = selected(read, data, most, held_out)
        if not cases:
            continue
        flat = flat_pairs(cases)
        started = time.perf_counter()
        p, refused = judge(verifier, flat)
        row: dict[str, Any] = {
            "cases": len(cases),
            "refused": refused,
            "pairs/s": len(flat) / (time.perf_counter() - started),
        }
        if classes == 3:
            keep = np.array([c.half == "report" or title != "xnli_en_dev" for c in cases])
            gold = [c.gold for c, k in zip(cases, keep, strict=True) if k]
            p = p[keep]
            guess = [RELATIONS[i] for i in p.argmax(1)]
            right = [a == b for a, b in zip(gold, guess, strict=True)]
            error, rows = reliability(p.max(1), right)
            row |= {
                "accuracy": float(np.mean(right)),
                "balanced accuracy": balanced_accuracy_score(gold, guess),
                "macro F1": macro_f1(gold, guess),
                "ECE": error,
                "bins": rows,
            }
        else:
            scores = highest(cases, p[:, 0])
            row |= support(cases, scores)
            at_half = [bool(s >= 0.5) for s in scores]
            row["ECE"], row["bins"] = reliability(
                np.maximum(scores, 1 - scores),
                [a == c.gold for a, c in zip(at_half, cases, strict=True)],
            )
        results[title] = row
        print(
            f"{name} · {title}: "
            + ", ".join(f"{k} {v:.3f}" for k, v in row.items() if isinstance(v, float)),
            flush=True,
        )
    return results


def baselines(data: Path, most: int | None, held_out: bool) -> dict[str, Any]:
    results: dict[str, Any] = {"cosine": {}, "overlap": {}}
    for title, (classes, read) in SETS.items():
        if classes == 2:
            cases = selected(read, data, most, held_out)
            for name, score in (("cosine", cosine), ("overlap", overlap)):
                results[name][title] = support(
                    cases, highest(cases, np.asarray(score(flat_pairs(cases))))
                )
                print(
                    f"{name} · {title}: balanced accuracy {results[name][title]['balanced accuracy']:.3f}",
                    flush=True,
                )
    return results


def plot(results: dict[str, Any], path: Path) -> None:
    """Reliability of each verifier on the three-way sets: confidence against accuracy."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(5, 5))
    axes.plot([0.3, 1], [0.3, 1], color="#999", linewidth=1)
    for verifier, rows in results.items():
        for title, row in rows.items():
            if "accuracy" in row:
                axes.plot(
                    [b[0] for b in row["bins"]],
                    [b[1] for b in row["bins"]],
                    marker="o",
                    label=f"{verifier}, {title} (ECE {row['ECE']:.3f})",
                )
    axes.set(
        xlabel="probability given", ylabel="share that was right", xlim=(0.3, 1), ylim=(0.3, 1)
    )
    axes.legend(fontsize=8)
    figure.savefig(path, dpi=120, bbox_inches="tight")


def main(argv: list[str] | None = None) -> int:
    parser = arguments(__doc__, data="eval/ and nli/")
    parser.add_argument(
        "--verifier",
        nargs="+",
        default=["embedded-base", "embedded-small"],
        choices=list(VERIFIERS),
    )
    parser.add_argument("--most", type=int, metavar="N", help="the first N cases of each set")
    parser.add_argument(
        "--held-out", action="store_true", help="leave out what the base model was trained on"
    )
    parser.add_argument("--plot", type=Path, metavar="FILE.png")
    args = parser.parse_args(argv)
    if not (args.data / "eval").is_dir():
        print(f"benchmarks: {args.data} has no folder eval", file=sys.stderr)
        return 2
    settings = Settings()
    results = {
        n: evaluate(n, VERIFIERS.build(n, settings), args.data, args.most, args.held_out)
        for n in args.verifier
    }
    if args.plot:
        plot(results, args.plot)
    results |= baselines(args.data, args.most, args.held_out)
    publish(results, args.out)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
