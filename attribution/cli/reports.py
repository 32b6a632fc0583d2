"""Commands on a finished run: `export` and `citations`."""

from __future__ import annotations

import argparse
from pathlib import Path

from attribution.cli import options
from attribution.cli.options import Add, check_output, progress, read_file, write_file
from attribution.errors import BadInput
from attribution.reports import FORMATS, Exported, export, file_name
from attribution.settings import Settings


def commands(add: Add) -> None:
    """Add the commands."""
    p = add("export", "write a finished run in another format", export_run)
    p.add_argument("report", metavar="REPORT", help="a report.json, or the id of a saved run")
    p.add_argument("--format", required=True, choices=FORMATS, help="one of the formats")
    p.add_argument("--out", type=Path, metavar="FILE", help="by default named after the question, in this folder")

    p = add("citations", "check the answer's own citations against the sources they name", citations)
    p.add_argument("report", metavar="REPORT", help="a report.json, or the id of a saved run")
    p.add_argument("--listed", type=Path, metavar="FILE", help="sources that the answer does not list, one a line")
    p.add_argument("--out", type=Path, required=True, metavar="citations.json")
    options.add_verifier(p, "page_days=0")


def finished_run(subject: str) -> Exported:
    """The run of a report file, or the saved one with that id. BadInput where there is neither."""
    from attribution.reports import report_json
    from attribution.store.store import Store

    path = Path(subject)
    if path.is_file():
        try:
            return report_json.read(path.read_bytes())
        except BadInput as error:
            raise BadInput(f"{path}: {error}") from None
    store = Store.open(Settings.from_environment().database_url)
    if (report := store.runs.load(subject)) is None:
        raise BadInput(f"{subject}: neither a report file nor the id of a saved run; expected one of both")
    about = store.history.description(subject)
    corrected = frozenset(v.claim_id for v in store.runs.versions(subject) if v.claim_id)
    return Exported(report, about.title, about.note, corrected)


def citations(args: argparse.Namespace) -> None:
    from attribution.review.citations import check
    from attribution.review.support import CitationReport
    from attribution.settings import Settings
    from attribution.store.store import Store

    check_output(args.out)
    store = Store.open(Settings.from_environment().database_url)
    report = store.cache.with_texts(finished_run(args.report).report)
    settings = options.settings_within(report.settings, args)
    for event in check(report, settings, store, listed=read_file(args.listed) if args.listed else "", save=False):
        if isinstance(event, CitationReport):
            write_file(args.out, (event.to_json() + "\n").encode())
            figures = event.figures
            progress(
                f"{args.out}: {len(event.marks)} marks; {figures.supported} of {figures.claims} claims are supported "
                f"by their citations, {figures.useful} of {figures.citations} citations support a claim"
            )
        else:
            progress(f"{event.stage} {event.done}/{event.total}")


def export_run(args: argparse.Namespace) -> None:
    exported = finished_run(args.report)
    path = args.out or Path(file_name(args.format, exported))
    check_output(path)
    content = export(args.format, exported)
    write_file(path, content)
    progress(f"{path}: {len(content):,} bytes")
