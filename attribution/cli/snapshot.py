"""`python -m attribution snapshot …`: export, import, replay, changes, warc."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from attribution.errors import BadInput
from attribution.settings import Settings

if TYPE_CHECKING:  # imported where they are used: --help stays fast
    from attribution.snapshots.snapshot import Snapshot
    from attribution.storage.store import Store
    from attribution.types import Report

Choose = Callable[[argparse.Namespace], dict[str, object]]


def _store() -> Store:
    from attribution.storage.store import Store

    return Store.open(Settings.from_environment().database_url)


def _run(run_id: str) -> Snapshot:
    from attribution.snapshots.snapshot import Snapshot

    return Snapshot.of(_store(), run_id)


def _write(path: Path, content: bytes) -> None:
    """All of it or nothing: a killed process leaves no half file under that name."""
    partial = path.with_name(path.name + ".part")
    partial.write_bytes(content)
    os.replace(partial, path)
    print(f"{path}: {len(content):,} bytes", file=sys.stderr)


def read(path: Path) -> Snapshot:
    """The snapshot in a file."""
    from attribution.snapshots.file import FILE_LIMIT, load

    if path.is_file() and path.stat().st_size > FILE_LIMIT:
        raise BadInput(f"{path} has {path.stat().st_size:,} bytes; a snapshot may have {FILE_LIMIT:,}")
    return load(path.read_bytes())


def export(args: argparse.Namespace) -> None:
    from attribution.snapshots.file import dump

    _write(args.out, dump(_run(args.run)))


def warc(args: argparse.Namespace) -> None:
    from attribution.snapshots.warc import warc as written
    from attribution.storage.http_responses import kept

    report = _run(args.run).report
    _write(args.out, written(report, kept(_store(), [page.id for page in report.pages])))


def import_(args: argparse.Namespace) -> None:
    snapshot = read(args.file)
    print(json.dumps({"run": keep(snapshot, _store())}))


def keep(snapshot: Snapshot, store: Store) -> str:
    """Save the run of a snapshot, so that it can be opened; its id, or a new one where that is another run's."""
    from attribution.pipeline.run_record import new_run_id

    known = store.load_run(snapshot.report.id)
    if known == snapshot.report:
        return known.id
    free = known is None and _is_id(snapshot.report.id)
    report = snapshot.report if free else snapshot.report.model_copy(update={"id": new_run_id()})
    store.save_run(report, snapshot.provenance, frozen=True)
    return report.id


def _is_id(text: str) -> bool:
    return len(text) == 16 and all(c in "0123456789abcdef" for c in text)


def replay(args: argparse.Namespace) -> None:
    from attribution import events
    from attribution.pipeline.run import run

    snapshot = read(args.file)
    settings = snapshot.settings(**args.choose(args))
    source = snapshot.recomputed() if args.recompute else snapshot
    report: Report | None = None
    for event in run(snapshot.report.question, snapshot.report.answer, settings, source=source):
        match event:
            case events.Progress(stage, done, total):
                print(f"{stage} {done}/{total}", file=sys.stderr, flush=True)
            case events.Finished(report):
                pass
    if report is not None:
        _write(args.out, (report.to_json() + "\n").encode("utf-8"))


def changed(args: argparse.Namespace) -> None:
    from attribution.snapshots.page_changes import changes

    report = _run(args.run).report
    for change in changes(report, Settings.from_environment()):
        print(change.model_dump_json(), flush=True)


def add(p: argparse.ArgumentParser, choose: Choose) -> None:
    """The sub-commands; `choose` reads --segmenter, --verifier and --set."""
    commands = p.add_subparsers(dest="snapshot", required=True, metavar="WHAT")

    def command(name: str, does: str, work: Callable[[argparse.Namespace], None], subject: str) -> None:
        made = commands.add_parser(name, help=does, description=does)
        made.set_defaults(work=work, choose=choose)
        if subject == "RUN_ID":
            made.add_argument("run", metavar=subject, help="the id of a saved run: `id` in its report")
        else:
            made.add_argument("file", type=Path, metavar=subject)
        if work in (export, warc, replay):
            made.add_argument("--out", type=Path, required=True, metavar="FILE")
        if work is replay:
            made.add_argument("--segmenter", help="see: list segmenters")
            made.add_argument("--verifier", help="see: list verifiers")
            made.add_argument("--set", action="append", metavar="KEY=VALUE", help="any other setting")
            made.add_argument("--recompute", action="store_true", help="ask the models again for what is carried along")

    command("export", "write all that a run used into one file", export, "RUN_ID")
    command("import", "check a file and keep its run, to be opened in the app", import_, "FILE")
    command("replay", "run again on the frozen pages, without a network", replay, "FILE")
    command("changes", "fetch a run's pages again and say what has changed", changed, "RUN_ID")
    command("warc", "write a run's page texts as a WARC file", warc, "RUN_ID")
