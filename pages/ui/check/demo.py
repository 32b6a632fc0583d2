"""The steps of the demo, made from the verdicts of the run that it explains."""

from __future__ import annotations

from typing import NamedTuple

from attribution.reports.cards import headline
from attribution.reports.claim_rows import ClaimRow, claim_rows, verdict_sentence
from attribution.reports.html import plural
from attribution.reports.looks import look
from attribution.types import Report


class DemoStep(NamedTuple):
    """A step: its words, what it points at, and what it does (see check.js)."""

    title: str
    text: str
    target: str = ".st-key-stage"
    action: str = ""


# What a step says of the first claim of each group, before and after what the source says
OF_GROUP = {
    "wrong": (
        "Wrong",
        "The value that differs is boxed in the answer and in its source.",
    ),
    "check": (
        "For you to decide",
        "Read the sentence, then press c for contradicted or s for supported: your verdict counts "
        "everywhere, and the model's stays beside it. x takes yours back.",
    ),
    "none": (
        "No source",
        "No source mentions it: add one, or search the web.",
    ),
    "ok": (
        "OK",
        "Supported claims have a thin line, so that you can pass over them.",
    ),
}


def demo_steps(report: Report) -> list[DemoStep]:
    """Return the steps for a finished run, each about a claim that is really there."""
    first: dict[str, ClaimRow] = {}
    for claim in claim_rows(report):
        first.setdefault(claim.group, claim)
    opening = (
        f"{plural(len(report.claims), 'claim')} of this answer: {headline(report)}. Press a group "
        "above the answer to see only its claims, and n for the next claim to review."
    )
    steps = [DemoStep("An answer with errors", opening)]
    for group, (title, advice) in OF_GROUP.items():
        row = first.get(group)
        if row:
            says = verdict_sentence(row, len(report.pages))
            text = f"Claim {row.number}, {look(row.badge).word.lower()}: {says} {advice}"
            steps.append(DemoStep(title, text, action=f"claim:{row.number}"))
    revised = (
        "The answer with a footnote for each claim that a source supports, and a mark at each one "
        "that none does. Copy it, or leave those sentences out."
    )
    steps.append(DemoStep("The revised answer", revised, action="tab:revised"))
    end = "Export has the files and the link. New starts a check of your own answer."
    steps.append(DemoStep("Keep and share it", end, ".st-key-header", "tab:claim"))
    return steps
