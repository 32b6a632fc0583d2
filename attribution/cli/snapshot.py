"""`python -m attribution snapshot …`: export, import, replay."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from attribution.cli import options
from attribution.cli.options import check_output, print_json, progress, write_file
from attribution.errors import BadInput
from attribution.settings import Settings

if TYPE_CHECKING:  # imported where they are used: --help stays fast
    from attribution.pipeline.snapshot import Snapshot
    from attribution.store.store import Store


def commands(p: argparse.ArgumentParser) -> None:
    """Add the subcommands."""
    group = p.add_subparsers(dest="action", required=True, metavar="ACTION")
    q = group.add_parser("export", help="write everything a run used into one file")
    q.add_argument("run", metavar="RUN_ID", help="a saved run: the `id` of its report")
    q.add_argument("--out", type=Path, required=True, metavar="FILE")
    q.set_defaults(work=export)
    q = group.add_parser("import", help="check a snapshot and save its run, to open it in the app")
    q.add_argument("file", type=Path, metavar="FILE")
    q.set_defaults(work=import_)
    q = group.add_parser("replay", help="run again on the pages of a snapshot, without a network")
    q.add_argument("file", type=Path, metavar="FILE")
    q.add_argument("--out", type=Path, required=True, metavar="report.json")
    q.add_argument("--segmenter", help="see: list segmenters")
    q.add_argument("--recompute", action="store_true", help="run the models again")
    options.add_verifier(q, "top_k=8")
    q.set_defaults(work=replay)


def export(args: argparse.Namespace) -> None:
    """Write the snapshot of a saved run."""
    from attribution.pipeline.snapshot import Snapshot, dump

    check_output(args.out)
    write_file(args.out, dump(Snapshot.of(options.open_store(), args.run)))


def import_(args: argparse.Namespace) -> None:
    """Save the run of a snapshot, and print its id."""
    print_json({"run": import_run(read(args.file), options.open_store())})


def replay(args: argparse.Namespace) -> None:
    """Write the report of a run over the pages of a snapshot."""
    from attribution import events
    from attribution.pipeline.run import run
    from attribution.reports import Exported
    from attribution.reports import export as export_as

    check_output(args.out)
    snapshot = read(args.file)
    saved = snapshot.report
    settings = options.settings_within(saved.settings, args)
    source = snapshot.recomputed() if args.recompute else snapshot
    for event in run(saved.question, saved.answer, settings, source=source, context=saved.context):
        match event:
            case events.Progress(stage, done, total):
                progress(f"{stage} {done}/{total}")
            case events.Finished(report):
                write_file(args.out, export_as("json", Exported(report)))


def read(path: Path) -> Snapshot:
    """Read a snapshot file."""
    from attribution.pipeline.snapshot import FILE_LIMIT, load

    size = path.stat().st_size
    if size > FILE_LIMIT:
        raise BadInput(f"{path} has {size:,} bytes; the limit for snapshots is {FILE_LIMIT:,}")
    return load(path.read_bytes())


def import_run(snapshot: Snapshot, store: Store) -> str:
    """Save the run of a snapshot under a new id, unless it is saved already; return its id.

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
