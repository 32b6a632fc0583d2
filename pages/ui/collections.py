"""The parts of the Collections page: adding documents in the background, and the tables."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from attribution.library.ingest import Item, ItemResult
from attribution.library.store import CollectionSummary
from attribution.reports.html import Child, Node, plural, scrolling, table, told
from attribution.reports.provenance import date
from attribution.types import Failure
from pages.ui import background

Add = Callable[[Sequence[Item], threading.Event], Iterator[ItemResult]]
Embed = Callable[[threading.Event], Iterator[tuple[int, int]]]


@dataclass(frozen=True)
class IngestProgress(background.Progress):
    """The progress of adding documents."""

    collection: str
    total: int
    done: int = 0
    new: int = 0  # added or changed
    failures: tuple[Failure, ...] = ()
    embedded: tuple[int, int] | None = None  # documents with a vector, and all; None while adding


class IngestJob(background.Job[IngestProgress]):
    """Adds all documents first, so that they can be searched by their words, then embeds them."""

    def __init__(self, collection: str, items: Sequence[Item], add: Add, embed: Embed) -> None:
        def work(stop: threading.Event, update: Callable[..., IngestProgress]) -> None:
            now = update()
            for added in add(items, stop):
                failures = (*now.failures, added.failure) if added.failure else now.failures
                now = update(done=now.done + 1, new=now.new + (added.state in ("added", "changed")), failures=failures)
            if not stop.is_set():
                for embedded in embed(stop):
                    update(embedded=embedded)

        super().__init__("ingest", IngestProgress(collection, len(items)), work)


SHOWN = 200  # failures in the table


def collection_table(collections: Sequence[CollectionSummary]) -> Node:
    """Return a table of the collections with counts, size and dates."""
    heads = ("Collection", "Documents", "Text", "Searchable by meaning", "Last change")
    rows = (
        (c.name, f"{c.documents:,}", size(c.characters), f"{c.embedded:,}", date(c.changed_at)) for c in collections
    )
    return scrolling(table(heads, rows, "ax-table wide"), "Collections")


def size(characters: int) -> str:
    """Format a number of characters to fit a column, such as 1.2 million characters."""
    for unit, name in ((1_000_000, "million characters"), (1_000, "thousand characters")):
        if characters >= unit:
            return f"{characters / unit:.1f} {name}"
    return plural(characters, "character")


def status(now: IngestProgress) -> str:
    """Describe what is being done and how far it is, or the result."""
    if not now.running:
        same = now.done - now.new - len(now.failures)
        parts = [f"{plural(now.new, 'document')} added to “{now.collection}”"]
        parts += [f"{same:,} already there"] if same else []
        parts += [f"{len(now.failures):,} could not be read"] if now.failures else []
        parts += [f"stopped before {now.total - now.done:,} more"] if now.done < now.total else []
        return ", ".join(parts) + "."
    if now.stopping:
        return "Stopping after the documents in progress …"
    if now.embedded:
        done, total = now.embedded
        return f"All documents can be searched by their words. Preparing search by meaning: {done:,} of {total:,} …"
    return f"Adding {now.done:,} of {now.total:,} to “{now.collection}” …"


def share(now: IngestProgress) -> float:
    """Return the share of the current step that is done."""
    done, total = now.embedded or (now.done, now.total)
    return done / total if total else 0.0


def failure_table(failures: Sequence[Failure]) -> Node:
    """Return a table of the items that could not be read."""
    rows: list[tuple[Child, Child]] = [(f.subject, told(f.message, f.detail)) for f in failures[:SHOWN]]
    if len(failures) > SHOWN:
        rows.append((f"{len(failures) - SHOWN:,} more", ""))
    return table(("File or address", "Why it was not added"), rows)
