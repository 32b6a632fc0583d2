"""`python -m attribution library …`: add, list, remove."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from attribution.errors import BadInput
from attribution.settings import Settings

if TYPE_CHECKING:  # imported where they are used: --help stays fast
    from attribution.collections.ingest import Item
    from attribution.collections.store import DocumentStore
    from attribution.storage.store import Store

EVERY = 1.0  # seconds between two lines of progress


def _open() -> tuple[Settings, Store, DocumentStore]:
    from attribution.collections.store import DocumentStore
    from attribution.storage.store import Store

    settings = Settings.from_environment()
    store = Store.open(settings.database_url)
    return settings, store, DocumentStore(store)


def _model(settings: Settings) -> str:
    from attribution.collections.search import embedder

    return embedder(settings).version


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def show(value: object) -> None:
    print(json.dumps(value, ensure_ascii=False, indent=1))


def add(args: argparse.Namespace) -> None:
    from attribution.collections import ingest
    from attribution.collections.search import embedder
    from attribution.collections.store import check_name

    check_name(args.name)
    items, left_out = _items(args)
    if not items:
        raise BadInput("nothing to add: give files, folders, http(s) addresses or --urls FILE")
    settings, store, kept = _open()
    kept.make(args.name)
    states: Counter[str] = Counter()
    failures = []
    told = time.monotonic()
    for done, added in enumerate(ingest.add(store, args.name, items, settings), 1):
        states[added.state] += 1
        if added.failure:
            failures.append(added.failure.model_dump(include={"subject", "kind", "message"}))
            say(f"! {added.failure.subject[:80]}: {added.failure.message}")
        if time.monotonic() - told >= EVERY or done == len(items):
            told = time.monotonic()
            say(f"add {done}/{len(items)}")
    for embedded, documents in ingest.embed(store, args.name, embedder(settings)):
        say(f"embed {embedded}/{documents}")
    show(
        {"collection": args.name}
        | {state: states[state] for state in ("added", "changed", "unchanged", "failed")}
        | {"left_out": left_out, "failures": failures}
    )
    if states["failed"] == len(items):
        raise BadInput(f"none of the {len(items)} could be read; the lines above say why")


def _items(args: argparse.Namespace) -> tuple[list[Item], int]:
    from attribution.collections.ingest import from_addresses, from_paths

    items, left_out = from_paths([Path(s) for s in args.sources if "://" not in s])
    listed: list[str] = []
    if args.urls:
        try:
            listed = args.urls.read_text(encoding="utf-8-sig").splitlines()
        except UnicodeDecodeError:
            raise BadInput(f"{args.urls} is not UTF-8 text: expected one web address a line") from None
    return items + from_addresses([*(s for s in args.sources if "://" in s), *listed]), left_out


def list_(args: argparse.Namespace) -> None:
    settings, _, kept = _open()
    if args.name is not None:
        show(kept.documents(args.name))
        return
    show([vars(collection) for collection in kept.collections(_model(settings))])


def remove(args: argparse.Namespace) -> None:
    _, _, kept = _open()
    show({"collection": args.name, "removed": kept.remove(args.name, args.document)})


def commands(p: argparse.ArgumentParser) -> None:
    """The sub-commands."""
    made = p.add_subparsers(dest="library", required=True, metavar="WHAT")
    q = made.add_parser("add", help="add files, folders and web pages to a collection; again: what is new or changed")
    q.add_argument("name", metavar="NAME")
    q.add_argument("sources", nargs="*", metavar="PATH|URL")
    q.add_argument("--urls", type=Path, metavar="FILE", help="a text file of web addresses, one a line")
    q.set_defaults(work=add)
    q = made.add_parser("list", help="the collections, or the documents of one")
    q.add_argument("name", nargs="?", metavar="NAME")
    q.set_defaults(work=list_)
    q = made.add_parser("remove", help="remove a document by its name, or a whole collection")
    q.add_argument("name", metavar="NAME")
    q.add_argument("document", nargs="?", metavar="DOCUMENT")
    q.set_defaults(work=remove)
