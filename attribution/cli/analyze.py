"""`analyze` and `segment`: one answer."""

from __future__ import annotations

import argparse
from collections import Counter

from attribution.cli import options
from attribution.cli.console import check_output, print_json, progress, read_text, report_failure, write_file


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
