"""Commands that compare, measure and make test sets."""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from attribution.cli import options
from attribution.cli.options import Add, check_output, progress, write_file
from attribution.errors import BadInput
from attribution.files import read_rows

if TYPE_CHECKING:
    from attribution.pipeline.experiment import RowDone

STEPS = 10  # lines of progress for each method


def commands(add: Add) -> None:
    """Add the commands."""
    p = add("compare", "compare segmenters over the same evidence", compare)
    p.add_argument("--input", type=Path, required=True, help='JSON Lines of {"question", "answer"}')
    p.add_argument(
        "--segmenters", nargs="+", required=True, help="two to four; see: list segmenters"
    )
    options.add_sources(p)
    p.add_argument("--out", type=Path, required=True, metavar="FOLDER")
    options.add_verifier(p, "top_k=8")

    p = add("answers", "compare two answers to one question over the same evidence", answers)
    options.add_rows(p, '"question", "first", "second"')
    p.add_argument("--segmenter", help="see: list segmenters")
    options.add_sources(p)
    options.add_verifier(p, "top_k=8")

    p = add(
        "reproduce",
        "compute a table of one of the four papers beside its printed figures",
        reproduce,
    )
    p.add_argument("number", metavar="list | V24.T4", help="list, or the table to compute")
    p.add_argument(
        "--input", type=Path, help="JSON Lines of answers, or of labelled responses for T24"
    )
    p.add_argument("--project", default="", help="an annotation project: R23, V24.T2, V24.T4")
    p.add_argument(
        "--sample",
        type=options.positive,
        default=0,
        metavar="N",
        help="of the answers, drawn at random (default: all)",
    )
    p.add_argument(
        "--models",
        nargs="+",
        default=(),
        metavar="MODEL",
        help="language models in the paper's places",
    )
    options.add_sources(p)
    p.add_argument("--out", type=Path, metavar="FOLDER", help="for table.json and table.md")
    options.add_settings(p, "openai_model=local")

    p = add("evoke", "make a labelled set: grounded answers and twins with one error", evoke)
    options.add_rows(p, '"question", "context", "response"')
    options.add_settings(p, "openai_model=local")

    p = add("benchmark", "measure groundedness methods on labelled responses", benchmark)
    p.add_argument("--input", type=Path, required=True, help="JSON Lines; see docs/groundedness.md")
    p.add_argument(
        "--methods", nargs="+", required=True, metavar="NAME", help="or all; see: list methods"
    )
    p.add_argument("--out", type=Path, required=True, metavar="FOLDER")
    p.add_argument(
        "--seed", type=int, default=0, help="of the division into development and test (default: 0)"
    )
    options.add_verifier(p, "embedder=mpnet")

    p = add("batch", "check many answers; a killed batch resumes where it stopped", batch)
    p.add_argument("--input", type=Path, required=True, help="JSON Lines; see docs/batch.md")
    p.add_argument("--output", type=Path, required=True, metavar="reports.jsonl")
    p.add_argument(
        "--engine", choices=("local", "ray"), default="local", help="this process, or a Ray cluster"
    )
    p.add_argument(
        "--workers",
        type=options.positive,
        metavar="N",
        help="of --engine ray (default: all processors)",
    )
    p.add_argument(
        "--address",
        metavar="HOST:PORT",
        help="of a Ray cluster (default: RAY_ADDRESS, or this machine)",
    )
    p.add_argument("--segmenter", help="see: list segmenters")
    options.add_sources(p)
    options.add_verifier(p, "top_k=8")


def benchmark(args: argparse.Namespace) -> int:
    """Writes rows.jsonl while it runs, then all files; the exit status is 1 if a row or method
    failed.

    Rows that an earlier call finished with the same models are not scored again. After Ctrl-C, the
    figures are those of
    what was done.
    """
    from attribution.studies.groundedness import report
    from attribution.studies.groundedness.evaluation import (
        LeftOut,
        Outcome,
        evaluate,
        read_outcomes,
        run_to_file,
        selected,
    )
    from attribution.studies.groundedness.labelled_set import OPTIONAL, REQUIRED, labelled_set

    settings = options.settings(args)
    labelled = labelled_set(read_rows(args.input, REQUIRED, OPTIONAL), args.seed)
    for line, problem in labelled.problems:
        progress(f"! line {line}: {problem}")
    methods, left_out = selected(args.methods, settings)
    for unready in left_out:
        progress(f"! {unready.method} is left out: {unready.reason}")
    report.prepare(args.out)
    path, total = args.out / report.ROWS, len(labelled.rows)
    outcomes, broken, done, status = list[Outcome](), list[LeftOut](), Counter[str](), 0
    try:
        for one in run_to_file(labelled.rows, methods, settings, path):
            if isinstance(one, LeftOut):
                broken.append(one)
                progress(f"! {one.method} is left out: {one.reason}")
                continue
            outcomes.append(one)
            done[one.method] += 1
            if done[one.method] % max(1, total // STEPS) == 0 or done[one.method] == total:
                progress(f"{one.method} {done[one.method]}/{total}")
    except KeyboardInterrupt:
        status = 130
        progress("stopped: the figures are those of what was done; the same command resumes")
    evaluation, known = (
        evaluate(labelled.rows, outcomes, methods),
        {row.id for row in labelled.rows},
    )
    written = [o for o in read_outcomes(path).values() if o.row in known] if status else outcomes
    lines = report.row_lines(labelled.rows, written, evaluation)
    figures = report.json_report(labelled, evaluation, [*left_out, *broken], settings.public())
    report.write(args.out, lines, figures, evaluation)
    for table in (
        (report.quality_table(evaluation), report.error_table(evaluation))
        if evaluation.figures
        else ()
    ):
        progress("\n" + table.markdown())
    for method, reason in evaluation.unmeasured.items():
        progress(f"! {method} has no figures: {reason}")
    failed = sum(bool(o.error) for o in outcomes)
    progress(
        f"{args.out}: {len(outcomes) - failed} scored, {failed} failed; {report.FIGURES}, {report.ROWS}, {report.PLOT}"
    )
    return status or int(bool(failed or labelled.problems or broken or evaluation.unmeasured))


def compare(args: argparse.Namespace) -> int:
    """Writes tables and a line of comparisons.jsonl for each answer; those already there are not
    compared again.
    """
    from attribution.studies.segmenters.tables import compare_many

    settings, rows = options.settings(args), read_rows(args.input, ["answer"], ["question"])
    failed = _follow("compare", compare_many(rows, settings, args.segmenters, args.out))
    progress(
        f"{args.out}: {len(rows) - failed} compared, {failed} failed; tables.md, CSV tables, comparisons.jsonl"
    )
    return int(failed > 0)


def answers(args: argparse.Namespace) -> int:
    """Writes a line for each pair of answers: their claims, what they have to do with each other,
    and the verdicts.
    """
    from attribution.studies.answers.two_answers import compare_many

    settings = options.settings(args)
    check_output(args.output)
    rows = read_rows(args.input, ["first", "second"], ["question"])
    failed = _follow("answers", compare_many(rows, settings, args.output))
    progress(f"{args.output}: {len(rows) - failed} done, {failed} failed")
    return int(failed > 0)


def batch(args: argparse.Namespace) -> int:
    """Writes a line for each row, prints a summary; the exit status is 1 if any failed."""
    from attribution.pipeline.batch import batch
    from attribution.pipeline.experiment import local
    from attribution.studies.segmenters.tables import summarise

    settings, engine = options.settings(args), local
    if args.engine == "ray":
        from attribution.pipeline.ray_data import OnRay

        engine = OnRay(settings, args.workers or 0, args.address or "").run
    elif args.workers is not None or args.address:
        raise BadInput(
            "--workers and --address are for --engine ray; the engine local is one process"
        )
    check_output(args.output)
    rows = read_rows(args.input, ["answer"], ["question"])
    failed = _follow("batch", batch(rows, settings, args.output, engine))
    progress(f"\n{summarise(args.output).text()}\n\n{args.output}")
    return int(failed > 0)


def _follow(name: str, steps: Iterable[RowDone]) -> int:
    """Print the progress of an experiment, and return how many rows failed."""
    failed = 0
    for step in steps:
        failed = step.failed
        progress(f"{name} {step}")
    return failed


def evoke(args: argparse.Namespace) -> int:
    """Write a grounded row and an altered twin for each answer; exit status 1 if a line failed."""
    from attribution.llm.client import Llm
    from attribution.store.store import Store
    from attribution.studies.groundedness.evoke import evoke as evoke_errors

    settings = options.settings(args)
    check_output(args.output)
    rows = read_rows(args.input, ["response"], ["question"])
    llm = Llm(settings, Store.open(settings.database_url))
    lines: list[str] = []
    failed = 0
    for number, made in enumerate(evoke_errors(rows, llm), 1):
        lines += [json.dumps(row, ensure_ascii=False) + "\n" for row in made.rows]
        failed += bool(made.problem)
        progress(f"evoke {number}/{len(rows)}" + f": {made.problem}" * bool(made.problem))
    write_file(args.output, "".join(lines).encode())
    progress(f"{args.output}: {len(rows) - failed} twins, {failed} failed")
    return int(failed > 0)


def reproduce(args: argparse.Namespace) -> int:
    """Write the table into the folder; exit status 1 if a row failed."""
    from attribution.pipeline.experiment import RowDone
    from attribution.studies.papers.reproduce import MARKDOWN, TableInputs, find, sample, tables
    from attribution.studies.papers.reproduce import reproduce as compute

    if args.number == "list":
        listed = [{"id": one.id, "title": one.title, "needs": one.needs} for one in tables()]
        options.print_json(listed)
        return 0
    table = find(args.number)
    if args.out is None:
        raise BadInput(f"{table.id} needs a folder for its files: give one with --out")
    if table.id.startswith("T24"):
        required, optional = ["response"], ["question", "split"]
    else:
        required, optional = ["answer"], ["question", "system"]
    rows = read_rows(args.input, required, optional) if args.input else []
    rows = sample(rows, args.sample)
    inputs = TableInputs(options.settings(args), args.out, rows, args.project, tuple(args.models))
    steps = (step for step in compute(table.id, inputs) if isinstance(step, RowDone))
    failed = _follow("reproduce", steps)
    progress(f"{args.out / MARKDOWN}: {table.id} {table.title}, {failed} rows failed")
    return int(failed > 0)
