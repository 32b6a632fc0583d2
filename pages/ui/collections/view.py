"""Collections: the table, how far adding is, and what could not be read. Imports no streamlit."""

from __future__ import annotations

from collections.abc import Sequence

from attribution.collections.store import CollectionSummary
from attribution.types import Failure
from pages.ui.answer.provenance import date
from pages.ui.collections.job import IngestProgress
from pages.ui.html.render import Child, Node, plural, scrolling, table, told

SHOWN = 200  # failures in the table


def collection_table(collections: Sequence[CollectionSummary]) -> Node:
    """The collections with counts, size and dates."""
    heads = ("Collection", "Documents", "Text", "Searchable by meaning", "Last change")
    rows = (
        (c.name, f"{c.documents:,}", size(c.characters), f"{c.embedded:,}", date(c.changed_at)) for c in collections
    )
    return scrolling(table(heads, rows, "ax-table wide"), "Collections")


def size(characters: int) -> str:
    """1.2 million characters, in words that fit a column."""
    for unit, name in ((1_000_000, "million characters"), (1_000, "thousand characters")):
        if characters >= unit:
            return f"{characters / unit:.1f} {name}"
    return plural(characters, "character")


def status(now: IngestProgress) -> str:
    """What is being done and how far it is, or the result."""
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
    """Of the current step."""
    done, total = now.embedded or (now.done, now.total)
    return done / total if total else 0.0


def failure_table(failures: Sequence[Failure]) -> Node:
    """What could not be read, a row each."""
    rows: list[tuple[Child, Child]] = [(f.subject, told(f.message, f.detail)) for f in failures[:SHOWN]]
    if len(failures) > SHOWN:
        rows.append((f"{len(failures) - SHOWN:,} more", ""))
    return table(("File or address", "Why it was not added"), rows)
