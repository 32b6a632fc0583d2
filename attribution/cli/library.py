"""`python -m attribution collections …`: add, list, remove."""

from __future__ import annotations

import argparse
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from attribution.cli.options import print_json, progress, report_failure
from attribution.errors import BadInput
from attribution.settings import Settings

if TYPE_CHECKING:  # imported where they are used: --help stays fast
    from attribution.library.ingest import Item
    from attribution.library.store import DocumentStore
    from attribution.store.store import Store

PROGRESS_INTERVAL = 1.0  # seconds


def _open() -> tuple[Settings, Store, DocumentStore]:
    from attribution.library.store import DocumentStore
    from attribution.store.store import Store

    settings = Settings.from_environment()
    store = Store.open(settings.database_url)
    return settings, store, DocumentStore(store.database)


def add(args: argparse.Namespace) -> None:
    from attribution.library import ingest
    from attribution.library.search import local_embedder
    from attribution.library.store import check_name

    check_name(args.name)
    items, unsupported = _items(args)
    if not items:
        raise BadInput("nothing to add: give files, folders, http(s) addresses or --urls FILE")
    settings, store, documents = _open()
    documents.create(args.name)
    states: Counter[str] = Counter()
    failures = []
    last_progress = time.monotonic()
    for done, result in enumerate(ingest.add(store, args.name, items, settings), 1):
        states[result.state] += 1
        if result.failure:
            failures.append(result.failure.model_dump(include={"subject", "kind", "message"}))
            report_failure(result.failure)
        if time.monotonic() - last_progress >= PROGRESS_INTERVAL or done == len(items):
            last_progress = time.monotonic()
            progress(f"add {done}/{len(items)}")
    for embedded, total in ingest.embed(store, args.name, local_embedder(settings)):
        progress(f"embed {embedded}/{total}")
    print_json(
        {"collection": args.name}
        | {state: states[state] for state in ("added", "changed", "unchanged", "failed")}
        | {"left_out": unsupported, "failures": failures}
    )
    if states["failed"] == len(items):
        raise BadInput(f"none of the {len(items)} could be read; the lines above say why")


def _items(args: argparse.Namespace) -> tuple[list[Item], int]:
    from attribution.library.ingest import from_addresses, from_paths

    items, unsupported = from_paths([Path(s) for s in args.sources if "://" not in s])
    lines: list[str] = []
    if args.urls:
        try:
            lines = args.urls.read_text(encoding="utf-8-sig").splitlines()
        except UnicodeDecodeError:
            raise BadInput(
                f"{args.urls} is not UTF-8 text: expected one web address per line"
            ) from None
    return items + from_addresses([*(s for s in args.sources if "://" in s), *lines]), unsupported


def list_(args: argparse.Namespace) -> None:
    from attribution.library.search import local_embedder

    settings, _, documents = _open()
    if args.name is not None:
        print_json(documents.documents(args.name))
    else:
        print_json(
            [vars(summary) for summary in documents.collections(local_embedder(settings).version)]
        )


def remove(args: argparse.Namespace) -> None:
    _, _, documents = _open()
    print_json({"collection": args.name, "removed": documents.remove(args.name, args.document)})


def commands(p: argparse.ArgumentParser) -> None:
    """Add the subcommands."""
    group = p.add_subparsers(dest="action", required=True, metavar="ACTION")
    q = group.add_parser(
        "add", help="add files, folders and web pages; again: those that are new or have changed"
    )
    q.add_argument("name", metavar="NAME", help="the collection, created if it does not exist")
    q.add_argument("sources", nargs="*", metavar="PATH|URL")
    q.add_argument(
        "--urls", type=Path, metavar="FILE", help="a text file with one web address per line"
    )
    q.set_defaults(work=add)
    q = group.add_parser("list", help="list the collections, or the documents of one")
    q.add_argument("name", nargs="?", metavar="NAME")
    q.set_defaults(work=list_)
    q = group.add_parser("remove", help="remove a document, or a whole collection")
    q.add_argument("name", metavar="NAME")
    q.add_argument("document", nargs="?", metavar="DOCUMENT")
    q.set_defaults(work=remove)
