"""Collections drawn: the table, how far adding is, and what could not be read. Imports no streamlit."""

from __future__ import annotations

from collections.abc import Sequence

from attribution.collections.store import CollectionSummary
from attribution.types import Failure
from pages.ui.collections.job import Progress
from pages.ui.html.render import Node, el, plural
from pages.ui.run.cards import moment

SHOWN = 200  # failures in the table


def table(kept: Sequence[CollectionSummary]) -> Node:
    """The collections with counts, size and dates."""
    rows = [
        el(
            "tr",
            el("td", c.name, dir="auto"),
            el("td", f"{c.documents:,}"),
            el("td", size(c.characters)),
            el("td", f"{c.embedded:,}"),
            el("td", moment(c.changed_at)),
        )
        for c in kept
    ]
    heads = ("Collection", "Documents", "Text", "Found by meaning too", "Last change")
    return el("table", el("thead", el("tr", *(el("th", h) for h in heads))), el("tbody", *rows), class_="ax-table")


def size(characters: int) -> str:
    """1.2 million characters, in words that fit a column."""
    for unit, name in ((1_000_000, "million characters"), (1_000, "thousand characters")):
        if characters >= unit:
            return f"{characters / unit:.1f} {name}"
    return plural(characters, "character")


def doing(now: Progress) -> str:
    """One line: what is being done and how far, or what came of it."""
    if not now.running:
        same = now.done - now.new - len(now.failures)
        parts = [f"{plural(now.new, 'document')} added to “{now.collection}”"]
        parts += [f"{same:,} already there"] if same else []
        parts += [f"{len(now.failures):,} could not be read"] if now.failures else []
        parts += [f"stopped before {now.total - now.done:,} more"] if now.done < now.total else []
        return ", ".join(parts) + "."
    if now.stopping:
        return "Stopping after those under way …"
    if now.embedded:
        return f"All can be searched; finding by meaning prepared for {now.embedded[0]:,} of {now.embedded[1]:,} …"
    return f"Adding {now.done:,} of {now.total:,} to “{now.collection}” …"


def share(now: Progress) -> float:
    """Of the step under way."""
    done, total = now.embedded or (now.done, now.total)
    return done / total if total else 0.0


def failures(failed: Sequence[Failure]) -> Node:
    """What could not be read, one row each."""
    rows = [el("tr", el("td", f.subject, dir="auto"), el("td", f.message, dir="auto")) for f in failed[:SHOWN]]
    if len(failed) > SHOWN:
        rows.append(el("tr", el("td", f"{len(failed) - SHOWN:,} more"), el("td", "")))
    head = el("thead", el("tr", el("th", "File or address"), el("th", "Why it was not added")))
    return el("table", head, el("tbody", *rows), class_="ax-table")
