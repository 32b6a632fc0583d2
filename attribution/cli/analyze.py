"""Commands on one answer, `analyze` and `segment`, and on its report."""

from __future__ import annotations

import argparse
from pathlib import Path

from attribution.cli import options
from attribution.cli.options import (
    Add,
    new_file,
    print_json,
    progress,
    read_text,
    report_failure,
    write_file,
)
from attribution.errors import BadInput
from attribution.reports import FORMATS, Exported, export, file_name
from attribution.settings import Settings

REPORT = "a report.json, or the id of a saved run"


def commands(add: Add) -> None:
    """Add the commands."""
    p = add("analyze", "check the claims of an answer against sources", analyze)
    options.add_answer(p)
    options.add_run(p)
    p.add_argument("--out", type=new_file, required=True, metavar="report.json")

    p = add("segment", "split an answer into claims", segment)
    options.add_answer(p)
    p.add_argument("--segmenter", help="see: list segmenters")
    options.add_settings(p)

    p = add("revise", "write the answer of a report with marks and footnotes", revise)
    p.add_argument("--input", type=Path, required=True, metavar="report.json")
    p.add_argument("--out", type=new_file, required=True, metavar="revised.md")

    p = add("export", "write a finished run in another format", export_run)
    p.add_argument("report", metavar="REPORT", help=REPORT)
    p.add_argument("--format", required=True, choices=FORMATS)
    p.add_argument(
        "--out", type=new_file, metavar="FILE", help="by default named after the question"
    )

    p = add("citations", "check the answer's own citations against their sources", citations)
    p.add_argument("report", metavar="REPORT", help=REPORT)
    p.add_argument("--out", type=new_file, required=True, metavar="citations.json")


def analyze(args: argparse.Namespace) -> int:
    """Write the report; exit status 1 if a source could not be read at all."""
    from attribution import events
    from attribution.evidence.sources import unread
    from attribution.pipeline.run import run
    from attribution.reports.cards import headline

    settings = options.settings(args)
    question, answer = read_text(args.question), read_text(args.answer)
    lost: list[str] = []
    for event in run(question, answer, settings):
        match event:
            case events.StageStarted(stage):
                progress(f"{stage} …")
            case events.Progress(stage, done, total):
                progress(f"{stage} {done}/{total}")
            case events.Failed(failure):
                report_failure(failure)
            case events.Finished(report):
                write_file(args.out, export("json", Exported(report)))
                progress(headline(report))
                lost = unread(settings, report.failures)
    for source in lost:
        progress(f"attribution: the source {source} could not be read; the lines above say why")
    return int(bool(lost))


def segment(args: argparse.Namespace) -> None:
    """Print the claims of an answer with their spans and check-worthiness."""
    from attribution.claims import worthiness
    from attribution.pipeline import claims
    from attribution.pipeline.estimate import check_input

    settings = options.settings(args)
    question, answer = read_text(args.question), read_text(args.answer)
    check_input(question, answer, settings)
    segmented = claims.segment(question, answer, settings)
    for failure in segmented.failures:
        report_failure(failure)
    classified = worthiness.classify(segmented.claims, answer)
    shown = {"id", "text", "spans", "worthiness"}
    print_json([claim.model_dump(include=shown, mode="json") for claim in classified])


def revise(args: argparse.Namespace) -> None:
    """Write the answer of a report with marks and footnotes."""
    from attribution.review.revision import revise

    text = revise(finished_run(str(args.input)).report)
    write_file(args.out, text.encode("utf-8", "surrogatepass"))


def finished_run(subject: str) -> Exported:
    """Return the run of a report file, or the saved one with that id.

    Raises:
        BadInput: There is neither.
    """
    from attribution.reports import report_json

    path = Path(subject)
    if path.is_file():
        try:
            return report_json.read(path.read_bytes())
        except BadInput as error:
            raise BadInput(f"{path}: {error}") from None
    store = options.open_store()
    report = store.runs.load(subject)
    if report is None:
        raise BadInput(f"{subject}: no report file of that name, and no saved run of that id")
    about = store.history.description(subject)
    return Exported(report, about.title, about.note)


def export_run(args: argparse.Namespace) -> None:
    """Write a finished run in another format."""
    exported = finished_run(args.report)
    path = args.out or Path(file_name(args.format, exported))
    write_file(path, export(args.format, exported))


def citations(args: argparse.Namespace) -> None:
    """Write how the answer's citations support its claims."""
    from attribution.pipeline.permissions import of_saved_run
    from attribution.review.citations import check

    store = options.open_store()
    report = store.cache.with_texts(finished_run(args.report).report)
    settings = of_saved_run(report.settings, Settings.from_environment(), "sources", "model")
    result = check(report, settings, store)
    write_file(args.out, (result.to_json() + "\n").encode())
    figures = result.figures
    progress(f"{figures.supported} of {figures.claims} claims are supported by their citations")
