"""The pipeline against the plain recipe, in turn in one run: seconds, first verdict, memory, and whether they agree.

    python -m benchmarks.pipeline [--claims 10 30] [--runs 5] [--out FILE.json] [--plot FILE.png]
    python -m benchmarks.pipeline --floors      # 3 claims once; fails below the floors

With --floors the shares of the machine's peak are left out.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks import arguments, publish

FLOORS = {
    "cold, times faster": 4.0,
    "warm, times faster": 60.0,
    "top passages that agree": 0.7,
    "verdicts that agree": 1.0,
}
SMALL = 3  # claims


def measured(recipe: str, claims: int, choices: Sequence[str], *more: str) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks.pipeline.measure", recipe, "--claims", str(claims), *more]
    command += [part for choice in choices for part in ("--set", choice)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result


def agreement(ours: Sequence[Mapping[str, Any]], theirs: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """Of two lists of the same claims: shares of passages, of relations of common passages, and of verdicts."""
    passages = common = relations = verdicts = 0
    for one, two in zip(ours, theirs, strict=True):
        shared = one["evidence"].keys() & two["evidence"].keys()
        passages += max(len(one["evidence"]), len(two["evidence"]))
        common += len(shared)
        relations += sum(one["evidence"][place] == two["evidence"][place] for place in shared)
        verdicts += one["label"] == two["label"]
    return {
        "top passages that agree": common / passages if passages else 1.0,
        "relations of common passages that agree": relations / common if common else 1.0,
        "verdicts that agree": verdicts / len(ours),
    }


def compared(claims: int, runs: int, choices: Sequence[str]) -> dict[str, Any]:
    """Plain recipe and pipeline take turns; what they find is the same each time and compared once."""
    plain, ours = [], []
    for number in range(runs):
        more = () if number else ("--compare",)
        plain.append(measured("plain", claims, [*choices, "shortlist=0"], *more))
        ours.append(measured("pipeline", claims, choices))
    return summary(claims, plain, ours)


def summary(claims: int, plain: Sequence[Mapping[str, Any]], ours: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Medians over the runs."""

    def median(values: Iterator[float]) -> float:
        return statistics.median(values)

    def stages(results: Sequence[Mapping[str, Any]]) -> dict[str, float]:
        return {name: median(r["stages"].get(name, 0.0) for r in results) for name in results[0]["stages"]}

    cold, warm = [o["cold"] for o in ours], [o["warm"] for o in ours]
    figures: dict[str, Any] = {"claims": claims, "pages": cold[0]["pages"], "chunks": cold[0]["chunks"]}
    for name, results in (("plain", plain), ("cold", cold), ("warm", warm)):
        for what in ("seconds", "cpu", "first verdict"):
            figures[f"{name}, {what}"] = median(r[what] for r in results)
        figures[f"{name}, stages"] = stages(results)
    figures["plain, peak MB"] = median(r["memory"] for r in plain)
    figures["pipeline, peak MB"] = median(r["memory"] for r in ours)
    for name in ("cold", "warm"):
        figures[f"{name}, times faster"] = median(
            p["seconds"] / o[name]["seconds"] for p, o in zip(plain, ours, strict=True)
        )
        figures[f"{name}, times less processor time"] = median(
            p["cpu"] / o[name]["cpu"] for p, o in zip(plain, ours, strict=True)
        )
    figures["first verdict, share of the cold run"] = figures["cold, first verdict"] / figures["cold, seconds"]
    figures |= agreement(cold[0]["results"], plain[0]["results"])
    figures["failures"] = cold[0]["failures"]
    return figures


def table(sizes: Sequence[Mapping[str, Any]]) -> str:
    names = [name for name, value in sizes[0].items() if isinstance(value, int | float)]
    lines = [f"{name:42}" + "".join(f"{size[name]:12.3f}" for size in sizes) for name in names]
    for run in ("plain", "cold", "warm"):
        for stage in sizes[0][f"{run}, stages"]:
            values = [size[f"{run}, stages"].get(stage, 0.0) for size in sizes]
            lines.append(f"{run}: {stage:<36}"[:42].ljust(42) + "".join(f"{value:12.3f}" for value in values))
    return "\n".join(lines)


def plot(sizes: Sequence[Mapping[str, Any]], path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(7, 4))
    runs = ("plain", "cold", "warm")
    for place, run in enumerate(runs):
        values = [size[f"{run}, seconds"] for size in sizes]
        bars = axes.bar([i + (place - 1) * 0.27 for i in range(len(sizes))], values, 0.25, label=run)
        axes.bar_label(bars, labels=[f"{value:.1f}" for value in values], fontsize=8)
    axes.set_yscale("log")
    axes.set_xticks(range(len(sizes)), [f"{size['claims']} claims, {size['pages']} pages" for size in sizes])
    axes.set_ylabel("seconds")
    axes.legend(["plain recipe", "pipeline, cold", "pipeline, warm"])
    figure.tight_layout()
    figure.savefig(path, dpi=120)


def main(argv: list[str] | None = None) -> int:
    parser = arguments(__doc__)
    parser.add_argument("--claims", type=int, nargs="+", default=[10, 30])
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--plot", type=Path, metavar="FILE", help="draw the seconds")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    parser.add_argument("--floors", action="store_true", help=f"{SMALL} claims once; fail below the floors")
    args = parser.parse_args(argv)
    if args.floors:
        args.claims, args.runs = [SMALL], 1
    sizes = [compared(claims, args.runs, args.set) for claims in args.claims]
    print(table(sizes))
    figures: dict[str, Any] = {"sizes": sizes}
    if not args.floors:
        from benchmarks.pipeline.peak import shares

        figures["peak"] = shares()
    publish(figures, args.out)
    if args.plot:
        plot(sizes, args.plot)
    low = [f"{name} {sizes[0][name]:.2f}, floor {floor}" for name, floor in FLOORS.items() if sizes[0][name] < floor]
    if args.floors and low:
        print("below the floor: " + "; ".join(low), file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
