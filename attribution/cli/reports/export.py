"""`export`: a finished run in another format."""

from __future__ import annotations

import argparse
from pathlib import Path

from attribution.cli.console import check_output, progress, write_file
from attribution.cli.reports import finished_run
from attribution.exports import FORMATS, export, file_name


def add(p: argparse.ArgumentParser) -> None:
    """Its arguments."""
    p.add_argument("report", metavar="REPORT", help="a report.json, or the id of a saved run")
    p.add_argument("--format", required=True, choices=FORMATS, help="one of the formats")
    p.add_argument("--out", type=Path, metavar="FILE", help="by default named after the question, in this folder")
    p.set_defaults(work=work)


def work(args: argparse.Namespace) -> None:
    exported = finished_run(args.report)
    path = args.out or Path(file_name(args.format, exported))
    check_output(path)
    content = export(args.format, exported)
    write_file(path, content)
    progress(f"{path}: {len(content):,} bytes")
