"""Compare two runs: which verdicts differ."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from attribution.reports.html import Child, Node, badge, el, plural
from attribution.reports.trail import date
from attribution.studies.answers.run_changes import ClaimChange, counts, run_changes
from attribution.types import Report
from pages.ui import choices
from pages.ui.frame import note, section, show, status_line


def comparison(reports: Sequence[Report]) -> None:
    """Draw the comparison of two runs."""
    if len(reports) != 2:
        reason = "One of them was deleted, or was started by another browser."
        note("These runs cannot be compared", reason)
        return
    before, after = reports
    changes = run_changes(before, after)
    show(heading(before, after))
    status_line(summary(changes))
    for title, claims in groups(changes):
        section(f"{title} · {plural(len(claims), 'claim')}")
        show(el("section", *map(change_node, claims), class_="ax-runs"))


def when(iso: str) -> str:
    """Format day and time, UTC."""
    try:
        return f"{date(iso)}, {datetime.fromisoformat(iso):%H:%M} UTC"
    except ValueError:
        return iso[:20]


def summary(changes: Sequence[ClaimChange]) -> str:
    """State in a sentence how many verdicts changed."""
    count = counts(changes)
    parts = [f"{plural(count.changed, 'verdict')} changed", f"{count.unchanged} stayed the same"]
    if count.only_after:
        parts.append(f"{plural(count.only_after, 'claim')} only in the second run")
    if count.only_before:
        parts.append(f"{plural(count.only_before, 'claim')} only in the first run")
    return f"{', '.join(parts)}."


def heading(before: Report, after: Report) -> Node:
    """Show the two runs with date, text and method."""
    columns = []
    for word, report in (("Before", before), ("After", after)):
        about = " ".join((report.question or report.answer).split())[:200]
        title = el("h3", f"{word}: {when(report.created_at)}")
        method = el("p", choices.method(report), class_="facts")
        columns.append(el("div", title, el("p", about, dir="auto"), method))
    return el("div", *columns, class_="ax-two ax-runs-heads")


def groups(changes: Sequence[ClaimChange]) -> list[tuple[str, list[ClaimChange]]]:
    """Group the claims in the order of display."""
    same = [c for c in changes if c.is_in_both and not c.is_changed]
    named = [
        ("The verdict changed", [c for c in changes if c.is_changed]),
        ("Only in the second run", [c for c in changes if c.before is None]),
        ("Only in the first run", [c for c in changes if c.after is None]),
        ("The same verdict", same),
    ]
    return [(title, claims) for title, claims in named if claims]


def change_node(change: ClaimChange) -> Node:
    """Show a claim with its verdicts."""
    claim = change.after or change.before
    before, after = change.badges
    badges: list[Child] = [badge(after if change.after else before)]
    if change.is_in_both and before != after:
        arrow = el("span", " → ", aria_hidden="true")
        badges.insert(0, el("span", badge(before), arrow))
    text = el(
        "p",
        claim.statement if claim else "",
        dir="auto",
        class_="claim",
    )
    return el("article", el("p", *badges, class_="badges"), text)
