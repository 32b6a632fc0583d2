"""The pipeline against plain recipes, in turn in one run: seconds and memory.

    python -m benchmarks.pipeline [--claims 10 30] [--documents DATA] [--growth 100] [--runs 5]
        [--out FILE.json]
    python -m benchmarks.pipeline --profile [--documents DATA]

The recipe `whole` reads whole passages with a small cross-encoder, and `bf16` does so in bf16 where
the processor has it. Ratios hold for the processor that is printed with them; those of processor
seconds hold on a machine that has other work, too. Pages of the web are made by script, for each
number of --claims. For the first of them documents are read from disk as well: articles of
DATA/eval/wice_claim_dev.jsonl.gz, or the library's. --growth is a number of claims for the pipeline
alone, --book numbers of pages of one document. --profile prints only what the networks cost.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from benchmarks import arguments, publish
from benchmarks.processes import BF16, machine

MACHINE = machine()
RECIPES = ("whole", "bf16") if BF16 & set(MACHINE["features"]) else ("whole",)
RUNS = (*RECIPES, "cold", "warm")
Figures = dict[str, Any]


def measured(recipe: str, claims: int, choices: Sequence[str], *more: str) -> Figures:
    command = [
        sys.executable,
        "-m",
        "benchmarks.pipeline.measure",
        recipe,
        "--claims",
        str(claims),
        *more,
    ]
    command += [part for choice in choices for part in ("--set", choice)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    result: Figures = json.loads(done.stdout.splitlines()[-1])
    return result


def compared(claims: int, runs: int, choices: Sequence[str], documents: str = "") -> Figures:
    """Measure the recipes and the pipeline in turn."""
    work = ("--documents", documents) if documents else ()
    results: dict[str, list[Figures]] = {name: [] for name in (*RECIPES, "pipeline")}
    for _ in range(runs):
        for recipe in RECIPES:
            results[recipe].append(measured(recipe, claims, [*choices, "shortlist=0"], *work))
        results["pipeline"].append(measured("pipeline", claims, choices, *work))
    return summary(claims, results)


def summary(claims: int, results: Mapping[str, Sequence[Figures]]) -> Figures:
    """Medians over the runs."""

    def median(values: Iterator[float]) -> float:
        return statistics.median(values)

    ours = results["pipeline"]
    of_run = {name: results[name] for name in RECIPES} | {
        name: [o[name] for o in ours] for name in ("cold", "warm")
    }
    figures: Figures = {
        "claims": claims,
        "pages": ours[0]["cold"]["pages"],
        "chunks": ours[0]["cold"]["chunks"],
    }
    for name, of_name in of_run.items():
        for what in ("seconds", "cpu", "first verdict"):
            figures[f"{name}, {what}"] = median(r[what] for r in of_name)
        stages = of_name[0]["stages"]
        figures[f"{name}, stages"] = {
            s: median(r["stages"].get(s, 0.0) for r in of_name) for s in stages
        }
    for name, of_name in results.items():
        figures[f"{name}, peak MB"] = median(r["memory"] for r in of_name)
    for name in ("cold", "warm"):
        for recipe in RECIPES:
            turns = list(zip(of_run[recipe], of_run[name], strict=True))
            figures[f"{name}, times faster than {recipe}"] = median(
                p["seconds"] / o["seconds"] for p, o in turns
            )
            figures[f"{name}, times less processor time than {recipe}"] = median(
                p["cpu"] / o["cpu"] for p, o in turns
            )
    figures["first verdict, share of the cold run"] = (
        figures["cold, first verdict"] / figures["cold, seconds"]
    )
    figures["failures"] = ours[0]["cold"]["failures"]
    return figures


def growth(few: int, many: int, choices: Sequence[str]) -> Figures:
    """Measure many claims, time and memory, as multiples of few."""
    one = measured("pipeline", few, choices)
    other = measured("pipeline", many, choices)
    figures = {f"{many} claims, peak MB": other["memory"]}
    for name in ("seconds", "cpu"):
        ratio = other["cold"][name] / one["cold"][name]
        figures[f"{many} claims, times the {name} of {few}"] = ratio
    return figures


def books(sizes: Sequence[int], claims: int, choices: Sequence[str]) -> Figures:
    """Measure one document of so many pages, for the pipeline alone."""
    figures: Figures = {}
    for pages in sizes:
        result = measured("pipeline", claims, choices, "--documents", str(pages))
        figures[f"{pages} pages"] = {
            "chunks": result["cold"]["chunks"],
            "cpu": result["cold"]["cpu"],
            "peak MB": result["memory"],
        }
    return figures


def table(sizes: Mapping[str, Figures]) -> str:
    some = next(iter(sizes.values()))
    lines = [f"{'':48}" + "".join(f"{name:>24}" for name in sizes)]
    for name in (name for name, value in some.items() if isinstance(value, int | float)):
        lines.append(f"{name:48}" + "".join(f"{size[name]:24.3f}" for size in sizes.values()))
    for run in RUNS:
        for stage in some[f"{run}, stages"]:
            values = [size[f"{run}, stages"].get(stage, 0.0) for size in sizes.values()]
            lines.append(f"{f'{run}: {stage}':48}" + "".join(f"{value:24.3f}" for value in values))
    return "\n".join(lines)


def main(argv: list[str] | None = None) -> int:
    parser = arguments(__doc__)
    parser.add_argument("--claims", type=int, nargs="+", default=[10, 30])
    parser.add_argument(
        "--documents",
        default="library",
        metavar="DATA",
        help="folder with eval/ (default: the library)",
    )
    parser.add_argument("--growth", type=int, metavar="CLAIMS")
    parser.add_argument("--book", type=int, nargs="+", default=[], metavar="PAGES")
    parser.add_argument("--profile", action="store_true", help="what the networks cost, no more")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    args = parser.parse_args(argv)
    few = args.claims[0]
    if args.profile:
        result = measured("pipeline", few, args.set, "--documents", args.documents)
        publish({"machine": MACHINE, **result["profile"]}, args.out)
        return 0
    sizes = {
        f"web, {claims} claims": compared(claims, args.runs, args.set) for claims in args.claims
    }
    sizes[f"documents, {few} claims"] = compared(few, args.runs, args.set, args.documents)
    print("\n".join(f"{name}: {value}" for name, value in MACHINE.items()))
    print(table(sizes))
    figures: Figures = {"machine": MACHINE, **sizes}
    if args.book:
        figures["book"] = books(args.book, few, args.set)
    if args.growth:
        figures["growth"] = growth(few, args.growth, args.set)
    publish(figures, args.out)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
