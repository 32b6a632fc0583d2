"""Compare two runs: which verdicts changed."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from attribution.reports.html import Child, Node, badge, el, plural
from attribution.reports.trail import date
from attribution.studies.answers.run_changes import ClaimChange, counts, run_changes
from attribution.types import Report
from pages.ui import choices, run_results, state
from pages.ui.frame import note, plot, section, show, status_line


def comparison(reports: Sequence[Report]) -> None:
    """Draw the comparison of two runs."""
    if len(reports) != 2:
        note(
            "These runs cannot be compared",
            "One of them was deleted, or was started by another browser.",
        )
        return
    before, after = reports
    changes = run_changes(before, after)
    show(heading(before, after))
    status_line(summary(changes))
    if before.verdicts and after.verdicts:
        named = [("Before", before), ("After", after)]
        plot(run_results.bars(named, state.is_dark()), "history_bars", summary(changes))
    for title, some in groups(changes):
        section(f"{title} · {plural(len(some), 'claim')}")
        show(el("section", *map(change_node, some), class_="ax-runs"))
    if (same := unchanged(changes)) and len(same.children) > 1:
        show(same)


def when(iso: str) -> str:
    """Format day and time, UTC."""
    try:
        return f"{date(iso)}, {datetime.fromisoformat(iso):%H:%M} UTC"
    except ValueError:
        return iso[:20]


def summary(changes: Sequence[ClaimChange]) -> str:
    """State in a sentence how many verdicts changed."""
    count = counts(changes)
    parts = [
        f"{plural(count.changed, 'verdict')} changed",
        f"{count.unchanged} stayed the same",
    ]
    if count.only_after:
        parts.append(f"{plural(count.only_after, 'claim')} only in the second run")
    if count.only_before:
        parts.append(f"{plural(count.only_before, 'claim')} only in the first run")
    return ", ".join(parts) + "."


def heading(before: Report, after: Report) -> Node:
    """Show the two runs with date, text and method."""

    def one(word: str, report: Report) -> Node:
        about = " ".join((report.question or report.answer).split())[:200]
        return el(
            "div",
            el("h3", f"{word}: {when(report.created_at)}"),
            el("p", about, dir="auto"),
            el("p", choices.method(report), class_="facts"),
        )

    return el("div", one("Before", before), one("After", after), class_="ax-two ax-runs-heads")


def groups(changes: Sequence[ClaimChange]) -> list[tuple[str, list[ClaimChange]]]:
    """Group the claims that differ, in the order of display."""
    named = [
        ("The verdict changed", [c for c in changes if c.is_changed]),
        ("Only in the second run", [c for c in changes if c.before is None]),
        ("Only in the first run", [c for c in changes if c.after is None]),
    ]
    return [(title, some) for title, some in named if some]


def change_node(change: ClaimChange) -> Node:
    """Show a claim with its verdicts."""
    claim = change.after or change.before
    text = claim.statement if claim else ""
    was, now = change.badges
    badges: list[Child] = [badge(now if change.after else was)]
    if change.before and change.after and was != now:
        badges.insert(0, el("span", badge(was), el("span", " → ", aria_hidden="true")))
    return el(
        "article",
        el("p", *badges, class_="badges"),
        el("p", text, dir="auto", class_="claim"),
    )


def unchanged(changes: Sequence[ClaimChange]) -> Node:
    """Show the claims with the same verdict, folded."""
    same = [c for c in changes if c.is_in_both and not c.is_changed]
    title = f"The same verdict · {plural(len(same), 'claim')}"
    return el("details", el("summary", title), *map(change_node, same), class_="ax-runs")
