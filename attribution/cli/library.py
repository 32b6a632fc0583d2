"""`python -m attribution collections …`: add, list, remove."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from attribution.cli.options import open_store, print_json, progress, report_failure
from attribution.errors import BadInput
from attribution.settings import Settings

if TYPE_CHECKING:  # imported where it is used: --help stays fast
    from attribution.library.ingest import Item


def commands(p: argparse.ArgumentParser) -> None:
    """Add the subcommands."""
    group = p.add_subparsers(dest="action", required=True, metavar="ACTION")
    q = group.add_parser("add", help="add files, folders and web pages that are new or changed")
    q.add_argument("name", metavar="NAME", help="the collection, created if it does not exist")
    q.add_argument("sources", nargs="+", metavar="PATH|URL")
    q.set_defaults(work=add)
    q = group.add_parser("list", help="list the collections, or the documents of one")
    q.add_argument("name", nargs="?", metavar="NAME")
    q.set_defaults(work=list_)
    q = group.add_parser("remove", help="remove a document, or a whole collection")
    q.add_argument("name", metavar="NAME")
    q.add_argument("document", nargs="?", metavar="DOCUMENT")
    q.set_defaults(work=remove)


def add(args: argparse.Namespace) -> None:
    """Add documents to a collection and print what became of them."""
    from attribution.library import ingest
    from attribution.library.collection_store import DocumentStore, check_name

    check_name(args.name)
    items, unsupported = _items(args)
    if not items:
        raise BadInput("nothing to add: give files, folders or http(s) addresses")
    settings = Settings.from_environment()
    store = open_store(settings)
    DocumentStore(store.database).create(args.name)
    counts = dict.fromkeys(("added", "changed", "unchanged", "failed"), 0)
    failures = []
    for done, result in enumerate(ingest.add(store, args.name, items, settings), 1):
        counts[result.state] += 1
        if result.failure:
            failures.append(result.failure.model_dump(include={"subject", "kind", "message"}))
            report_failure(result.failure)
        progress(f"add {done}/{len(items)}")
    print_json({"collection": args.name, **counts, "left_out": unsupported, "failures": failures})
    if counts["failed"] == len(items):
        raise BadInput(f"none of the {len(items)} could be read; the lines above say why")


def _items(args: argparse.Namespace) -> tuple[list[Item], int]:
    """Return the documents to add, and how many files of other formats are left out."""
    from attribution.library.ingest import from_addresses, from_paths

    addresses = [source for source in args.sources if "://" in source]
    paths = [Path(source) for source in args.sources if "://" not in source]
    items, unsupported = from_paths(paths)
    return items + from_addresses(addresses), unsupported


def list_(args: argparse.Namespace) -> None:
    """Print the collections, or the documents of one."""
    from attribution.library.collection_store import DocumentStore

    settings = Settings.from_environment()
    documents = DocumentStore(open_store(settings).database)
    if args.name is not None:
        return print_json(documents.documents(args.name))
    print_json([vars(summary) for summary in documents.collections()])


def remove(args: argparse.Namespace) -> None:
    """Remove a document, or a whole collection."""
    from attribution.library.collection_store import DocumentStore

    documents = DocumentStore(open_store().database)
    print_json({"collection": args.name, "removed": documents.remove(args.name, args.document)})
