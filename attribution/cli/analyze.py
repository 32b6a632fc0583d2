"""`analyze` and `segment`: one answer; `batch`: many."""

from __future__ import annotations

import argparse
from collections import Counter

from attribution.cli import options
from attribution.cli.console import check_output, print_json, progress, read_text, report_failure, write_file
from attribution.text.json_lines import read_rows


def analyze(args: argparse.Namespace) -> None:
    from attribution import events
    from attribution.pipeline.run import run

    settings = options.settings(args)
    check_output(args.out)
    for event in run(read_text(args.question), read_text(args.answer), settings):
        match event:
            case events.StageStarted(stage):
                progress(f"{stage} …")
            case events.Progress(stage, done, total):
                progress(f"{stage} {done}/{total}")
            case events.Failed(failure):
                report_failure(failure)
            case events.Finished(report):
                write_file(args.out, (report.to_json() + "\n").encode())
                counts = Counter(v.label for v in report.verdicts)
                progress(f"{args.out}: " + (", ".join(f"{n} {label}" for label, n in counts.items()) or "no claims"))


def segment(args: argparse.Namespace) -> None:
    from attribution.pipeline import claims
    from attribution.pipeline import run as pipeline

    settings = options.settings(args)
    question, answer = read_text(args.question), read_text(args.answer)
    pipeline.check_input(question, answer, settings)
    segmented = claims.segment(question, answer, settings)
    for failure in segmented.failures:
        report_failure(failure)
    print_json([{"id": c.id, "text": c.text, "spans": [list(s) for s in c.spans]} for c in segmented.claims])


def batch(args: argparse.Namespace) -> int:
    """Writes a line for each row; the exit status is 1 if any failed."""
    from attribution.pipeline.batch import batch

    settings = options.settings(args)
    check_output(args.output)
    now = None
    for now in batch(read_rows(args.input, ["answer"], ["question"]), settings, args.output):
        left = f", {_time(now.seconds_left)} left" if now.seconds_left else ""
        progress(f"batch {now.done}/{now.total}{left}" + (f": {now.problem}" if now.problem else ""))
    if now is None:
        return 0
    for label, count in now.labels.most_common():
        progress(f"{label:>14} {count:>7} {count / now.labels.total():>6.1%}")
    progress(f"{args.output}: {now.done - now.failed} analysed, {now.failed} failed")
    return int(now.failed > 0)


def _time(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"
