"""`citations`: the answer's own citations, held against the sources they name."""

from __future__ import annotations

import argparse
from pathlib import Path

from attribution.cli import options
from attribution.cli.console import check_output, progress, write_file
from attribution.cli.reports import finished_run
from attribution.errors import BadInput


def add(p: argparse.ArgumentParser) -> None:
    """Its arguments."""
    p.add_argument("report", metavar="REPORT", help="a report.json, or the id of a saved run")
    p.add_argument("--listed", type=Path, metavar="FILE", help="sources that the answer does not list, one a line")
    p.add_argument("--out", type=Path, required=True, metavar="citations.json")
    options.add_verifier(p)
    options.add_settings(p, "page_days=0")
    p.set_defaults(work=work)


def work(args: argparse.Namespace) -> None:
    from attribution.citations.check import check
    from attribution.citations.report import CitationReport
    from attribution.settings import Settings
    from attribution.storage.store import Store

    check_output(args.out)
    store = Store.open(Settings.from_environment().database_url)
    report = store.with_texts(finished_run(args.report).report)
    settings = options.settings_within(report.settings, args)
    for event in check(report, settings, store, listed=_text(args.listed), save=False):
        if isinstance(event, CitationReport):
            write_file(args.out, (event.to_json() + "\n").encode())
            figures = event.figures
            progress(
                f"{args.out}: {len(event.marks)} marks; {figures.supported} of {figures.claims} claims are supported "
                f"by their citations, {figures.useful} of {figures.citations} citations support a claim"
            )
        else:
            progress(f"{event.stage} {event.done}/{event.total}")


def _text(path: Path | None) -> str:
    if path is None:
        return ""
    try:
        return path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadInput(f"{path} is not UTF-8 (byte {error.start}): save it as UTF-8") from None
