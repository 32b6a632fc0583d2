"""`python -m attribution snapshot …`: export, import, replay."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from attribution.cli import options
from attribution.cli.options import check_output, progress, write_file
from attribution.errors import BadInput
from attribution.settings import Settings

if TYPE_CHECKING:  # imported where they are used: --help stays fast
    from attribution.pipeline.snapshot import Snapshot
    from attribution.store.store import Store
    from attribution.types import Report


def _store() -> Store:
    from attribution.store.store import Store

    return Store.open(Settings.from_environment().database_url)


def _saved(run_id: str) -> Snapshot:
    from attribution.pipeline.snapshot import Snapshot

    return Snapshot.of(_store(), run_id)


def _write(path: Path, content: bytes) -> None:
    write_file(path, content)
    progress(f"{path}: {len(content):,} bytes")


def read(path: Path) -> Snapshot:
    """Read a snapshot file."""
    from attribution.pipeline.snapshot import FILE_LIMIT, load

    if path.is_file() and path.stat().st_size > FILE_LIMIT:
        raise BadInput(
            f"{path} has {path.stat().st_size:,} bytes; the limit for snapshots is {FILE_LIMIT:,}"
        )
    return load(path.read_bytes())


def export(args: argparse.Namespace) -> None:
    from attribution.pipeline.snapshot import dump

    check_output(args.out)
    _write(args.out, dump(_saved(args.run)))


def import_(args: argparse.Namespace) -> None:
    print(json.dumps({"run": import_run(read(args.file), _store())}))


def import_run(snapshot: Snapshot, store: Store) -> str:
    """Save the run of a snapshot under a new id, and return that; a run that is there already stays
    as it is.

    The file's own id may be that of a link to a run which was deleted.
    """
    from attribution.evidence.permissions import as_record
    from attribution.store.runs import new_run_id

    safe = as_record(snapshot.report.settings, Settings.from_environment())
    report = snapshot.report.model_copy(update={"settings": safe})
    if store.runs.load(report.id) == report:
        return report.id
    report = report.model_copy(update={"id": new_run_id()})
    snapshot.over(store).runs.save(report, snapshot.provenance)
    return report.id


def replay(args: argparse.Namespace) -> None:
    from attribution import events
    from attribution.pipeline.run import run
    from attribution.reports import Exported
    from attribution.reports import export as export_as

    check_output(args.out)
    snapshot = read(args.file)
    settings = options.settings_within(snapshot.report.settings, args)
    source = snapshot.recomputed() if args.recompute else snapshot
    report: Report | None = None
    was = snapshot.report
    for event in run(was.question, was.answer, settings, source=source, context=was.context):
        match event:
            case events.Progress(stage, done, total):
                progress(f"{stage} {done}/{total}")
            case events.Finished(report):
                pass
    if report is not None:
        _write(args.out, export_as("json", Exported(report)))


def commands(p: argparse.ArgumentParser) -> None:
    """Add the subcommands."""
    group = p.add_subparsers(dest="action", required=True, metavar="ACTION")

    def command(
        name: str, summary: str, work: Callable[[argparse.Namespace], None], subject: str
    ) -> None:
        q = group.add_parser(name, help=summary, description=summary)
        q.set_defaults(work=work)
        if subject == "RUN_ID":
            q.add_argument("run", metavar=subject, help="a saved run: the `id` of its report")
        else:
            q.add_argument("file", type=Path, metavar=subject)
        if work in (export, replay):
            q.add_argument("--out", type=Path, required=True, metavar="FILE")
        if work is replay:
            q.add_argument("--segmenter", help="see: list segmenters")
            options.add_verifier(q, "top_k=8")
            q.add_argument(
                "--recompute",
                action="store_true",
                help="run the models again instead of using their output",
            )

    command("export", "write everything a run used into one file", export, "RUN_ID")
    command(
        "import", "check a snapshot file and save its run, to open it in the app", import_, "FILE"
    )
    command("replay", "run again on the pages of a snapshot, without a network", replay, "FILE")
