"""`evoke`: a test set of grounded answers and their altered twins."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from attribution.cli import options
from attribution.cli.console import check_output, progress, write_file
from attribution.errors import BadInput
from attribution.text.json_lines import read_rows

KINDS = ("number", "name", "negation", "order", "scope")


def add_arguments(p: argparse.ArgumentParser) -> None:
    source = p.add_mutually_exclusive_group(required=True)
    source.add_argument("--input", type=Path, help='JSON Lines of {"question", "context", "response"}, all grounded')
    source.add_argument("--run", metavar="ID", help="a saved run: its supported sentences with their passages")
    p.add_argument("--kinds", nargs="+", choices=KINDS, default=list(KINDS), help="errors to evoke (default: all)")
    p.add_argument("--seed", type=int, default=0, help="the same seed makes the same twins")
    p.add_argument("--by", choices=("rules", "llm"), default="rules", help="who alters the answers (default: rules)")
    p.add_argument(
        "--judges", nargs=2, metavar="MODEL", help="two language models that must agree on the type of each error"
    )
    p.add_argument("--output", type=Path, required=True, metavar="set.jsonl")
    options.add_settings(p, "openai_model=local")


def evoke(args: argparse.Namespace) -> int:
    """Writes a grounded row and its twins for each answer; the exit status is 1 if a line could not be used."""
    from attribution.evaluation.evoked_errors.test_set import Grounded, make, of_report, read
    from attribution.llm.client import Llm
    from attribution.storage.store import Store

    settings = options.settings(args)
    check_output(args.output)
    store = Store.open(settings.database_url)
    grounded: list[Grounded] = []
    failed = 0
    if args.run:
        report = store.load_run(args.run)
        if report is None:
            raise BadInput(f"there is no saved run {args.run!r}: expected the `id` of a report")
        grounded.append(of_report(report))
    else:
        for row in read_rows(args.input, ["response"], ["question"]):
            try:
                grounded.append(read(row))
            except BadInput as error:
                failed += 1
                progress(f"line {row.line}: {error}")
    llm = Llm(settings, store) if args.by == "llm" else None
    judges = [Llm(settings.model_copy(update={"openai_model": m}), store) for m in args.judges or ()]
    lines: list[str] = []
    twins = 0
    for number, (made, problems) in enumerate(make(grounded, args.kinds, args.seed, llm, judges), 1):
        lines += [json.dumps(m.fields(), ensure_ascii=False) for m in made]
        twins += len(made) - 1
        said = f": {'; '.join(problems)}" if problems else ""
        progress(f"evoke {number}/{len(grounded)}, {len(made) - 1} twins{said}")
    write_file(args.output, "".join(f"{line}\n" for line in lines).encode())
    progress(f"{args.output}: {len(grounded)} grounded answers, {twins} twins, {failed} lines not used")
    return int(failed > 0)
