"""Commands that compare, measure and make test sets."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING

from attribution.cli import options
from attribution.cli.options import Add, progress, write_file
from attribution.errors import BadInput
from attribution.settings import Settings
from attribution.text_files import Row, json_line, read_rows

if TYPE_CHECKING:
    from attribution.pipeline.experiment import RowDone

ROWS = 20  # between two lines of progress


def commands(add: Add) -> None:
    """Add the commands."""
    p = add("compare", "compare segmenters, or two answers, over the same evidence", compare)
    p.add_argument("--question", default="", help="the question that was asked")
    p.add_argument("--answer", action="append", default=[], help="twice to compare two answers")
    p.add_argument(
        "--input", type=Path, help='JSON Lines of {"question", "answer"}, to compare segmenters'
    )
    p.add_argument("--segmenters", nargs="+", help="two to four; see: list segmenters")
    options.add_run(p)
    p.add_argument("--out", type=Path, required=True, metavar="FOLDER")

    p = add("reproduce", "compute a table of one of the four papers", reproduce)
    p.add_argument("number", metavar="list | V24.T4", help="list, or the table to compute")
    p.add_argument("--input", type=Path, help="JSON Lines of answers, or of responses for T24")
    p.add_argument(
        "--models", nargs="+", default=(), metavar="NAME", help="of all places, or GPT-4=NAME"
    )
    p.add_argument("--out", type=Path, metavar="FOLDER", help="for table.json and table.md")
    options.add_sources(p)
    options.add_verifier(p)

    p = add("evoke", "make a labelled set: grounded answers and twins with one error", evoke)
    options.add_rows(p, '"question", "context", "response"')
    options.add_settings(p)

    p = add("benchmark", "measure groundedness methods on labelled responses", benchmark)
    p.add_argument("--input", type=Path, required=True, help="JSON Lines; see docs/lab.md")
    p.add_argument("--methods", nargs="+", required=True, help="or all; see: list methods")
    p.add_argument("--out", type=Path, required=True, metavar="FOLDER")
    options.add_verifier(p)

    p = add("batch", "check many answers; a killed batch resumes where it stopped", batch)
    options.add_rows(p, '"question", "answer", …')
    p.add_argument(
        "--engine",
        choices=("local", "ray"),
        default="local",
        help="or a Ray cluster, see RAY_ADDRESS",
    )
    options.add_run(p)


def benchmark(args: argparse.Namespace) -> int:
    """Write rows.jsonl, figures and tables; exit status 1 if a row or method failed."""
    from attribution.studies.groundedness import evaluation
    from attribution.studies.groundedness.labelled_set import OPTIONAL, REQUIRED, labelled_set

    settings = options.settings(args)
    labelled = labelled_set(read_rows(args.input, REQUIRED, OPTIONAL))
    for line, problem in labelled.problems:
        progress(f"! line {line}: {problem}")
    methods, left_out = evaluation.selected(args.methods, settings)
    for method in left_out:
        progress(f"! {method.method} is left out: {method.reason}")
    args.out.mkdir(parents=True, exist_ok=True)
    total = len(labelled.rows) * len(methods)
    outcomes: list[evaluation.Outcome] = []
    failures = bool(labelled.problems)
    for outcome in evaluation.run(labelled.rows, methods, settings, Event()):
        if isinstance(outcome, evaluation.LeftOut):
            left_out.append(outcome)
            failures = True
            progress(f"! {outcome.method} is left out: {outcome.reason}")
            continue
        outcomes.append(outcome)
        if len(outcomes) % ROWS == 0 or len(outcomes) == total:
            progress(f"{outcome.method} {len(outcomes)}/{total}")
    measured = evaluation.evaluate(labelled.rows, outcomes, methods)
    lines = evaluation.row_lines(labelled.rows, outcomes, measured)
    figures = evaluation.json_report(labelled, measured, left_out, settings.public())
    evaluation.write(args.out, lines, figures, measured)
    for name, reason in measured.unmeasured.items():
        progress(f"! {name} has no figures: {reason}")
    failed = sum(bool(outcome.error) for outcome in outcomes)
    progress(f"{args.out}: {len(outcomes) - failed} scored, {failed} failed")
    return int(bool(failures or failed or measured.unmeasured))


def compare(args: argparse.Namespace) -> int:
    """Compare segmenters on each answer, or two answers, over the same evidence.

    Segmenters are not compared again on answers that are in the output already.

    Returns:
        The exit status: 1 if a row failed.
    """
    settings = options.settings(args)
    answers = [options.read_text(answer) for answer in args.answer]
    if args.segmenters and (args.input or len(answers) == 1):
        return _compare_segmenters(args, settings, answers)
    if args.segmenters or args.input or len(answers) != 2:
        raise BadInput(
            "give --segmenters A B with --input FILE or one --answer, or --answer twice to compare "
            "two answers"
        )
    from attribution.studies.two_answers import compare_answers, json_data

    args.out.mkdir(parents=True, exist_ok=True)
    first, second = answers
    store = options.open_store(settings)
    result = compare_answers(args.question, first, second, settings, store)
    content = json.dumps(json_data(result), ensure_ascii=False, indent=1)
    write_file(args.out / "answers.json", content.encode())
    return 0


def _compare_segmenters(
    args: argparse.Namespace, settings: Settings, answers: Sequence[str]
) -> int:
    from attribution.studies.segmenter_comparison import compare_many

    rows = [Row(1, {"question": args.question, "answer": answer}) for answer in answers]
    if args.input:
        rows = read_rows(args.input, ["answer"], ["question"])
    failed = _follow("compare", compare_many(rows, settings, args.segmenters, args.out))
    progress(f"{args.out}: {len(rows) - failed} compared, {failed} failed")
    return int(failed > 0)


def batch(args: argparse.Namespace) -> int:
    """Write a line for each row, print a summary; exit status 1 if any failed."""
    from attribution.pipeline.experiment import batch, on_cores, on_ray

    settings = options.settings(args)
    engine = partial(on_ray, settings) if args.engine == "ray" else on_cores
    rows = read_rows(args.input, ["answer"], ["question"])
    failed = _follow("batch", batch(rows, settings, args.output, engine))
    progress(f"{args.output}: {len(rows) - failed} checked, {failed} failed")
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
    from attribution.studies.groundedness.labelled_set import evoke as evoke_errors

    rows = read_rows(args.input, ["response"], ["question"])
    llm = Llm(options.settings(args))
    lines: list[str] = []
    failed = 0
    for number, made in enumerate(evoke_errors(rows, llm), 1):
        lines += map(json_line, made)
        problem = made[-1].get("error", "")
        failed += bool(problem)
        progress(f"evoke {number}/{len(rows)} {problem}".rstrip())
    write_file(args.output, "".join(lines).encode())
    progress(f"{args.output}: {len(rows) - failed} twins, {failed} failed")
    return int(failed > 0)


def reproduce(args: argparse.Namespace) -> int:
    """Write the table into the folder; exit status 1 if a row failed."""
    from attribution.pipeline.experiment import RowDone
    from attribution.studies.papers import reproduce as papers

    if args.number == "list":
        listed = [table.model_dump(include={"id", "title", "needs"}) for table in papers.tables()]
        options.print_json(listed)
        return 0
    table = papers.find(args.number)
    if args.out is None:
        raise BadInput(f"{table.id} needs a folder for its files: give one with --out")
    if args.input is None:
        raise BadInput(f"{table.id} needs {table.needs}: give them with --input")
    rows = read_rows(args.input, [papers.subject(table)], papers.OPTIONAL)
    models = papers.models_of(args.models)
    inputs = papers.TableInputs(options.settings(args), args.out, rows, (), models)
    steps = papers.reproduce(table.id, inputs)
    failed = _follow("reproduce", (step for step in steps if isinstance(step, RowDone)))
    progress(f"{args.out / papers.MARKDOWN}: {table.id} {table.title}, {failed} rows failed")
    return int(failed > 0)
