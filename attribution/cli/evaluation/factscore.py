"""`factscore`: the share of an answer's facts that a knowledge source supports, by decomposer and verifier."""

from __future__ import annotations

import argparse
from pathlib import Path

from attribution.cli import options
from attribution.cli import snapshot as snapshot_command
from attribution.cli.console import progress
from attribution.errors import BadInput
from attribution.text.json_lines import read_rows


def add_arguments(p: argparse.ArgumentParser) -> None:
    p.add_argument("--input", type=Path, required=True, help='JSON Lines of {"question", "answer", "system"}')
    p.add_argument("--decomposers", nargs="+", default=["sentences"], help="one to six; see: list segmenters")
    p.add_argument("--verifiers", nargs="+", default=["auto"], help="one to six; see: list verifiers")
    options.add_sources(p)
    p.add_argument("--snapshot", type=Path, metavar="run.zip", help="take the pages of this snapshot as the sources")
    p.add_argument("--gamma", type=float, default=10, help="length penalty below so many facts; 0: none (default: 10)")
    p.add_argument("--out", type=Path, required=True, metavar="FOLDER")
    options.add_settings(p, "coherence=0")


def factscore(args: argparse.Namespace) -> int:
    """Writes tables and a line of factscore.jsonl for each answer; those already there are not scored again."""
    from attribution.evaluation.factscore.experiment import FILE, run

    if args.gamma < 0:
        raise BadInput(f"--gamma {args.gamma:g}: expected 0 (no penalty) or a number of facts")
    if args.snapshot and args.sources:
        raise BadInput("--snapshot and --sources: give one of the two, since the snapshot is the source")
    settings = options.settings(args)
    rows = read_rows(args.input, ["answer"], ["question", "system"])
    snapshot = snapshot_command.read(args.snapshot) if args.snapshot else None
    failed = 0
    for done, total, problem in run(rows, settings, args.decomposers, args.verifiers, args.out, args.gamma, snapshot):
        failed += bool(problem)
        progress(f"factscore {done}/{total}" + (f": {problem}" if problem else ""))
    progress(f"{args.out}: {len(rows) - failed} scored, {failed} failed; tables.md, CSV tables, {FILE}")
    return int(failed > 0)
