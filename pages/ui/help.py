"""Explain terms, keys and badges, and a run step by step."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

import yaml

from attribution.reports import html
from attribution.reports.cards import headline
from attribution.reports.claim_rows import ClaimRow, claim_rows, verdict_sentence
from attribution.reports.html import Child, Node, badge, el, plural
from attribution.reports.looks import look
from attribution.settings import ROOT
from attribution.types import LABELS, Report

TEXTS = Path(__file__).parent / "static" / "help.yaml"
GLOSSARY = ROOT / "docs" / "glossary.md"
_ROW = re.compile(
    r"^\| \*\*(?P<term>[^*]+)\*\*(?P<more>[^|]*)\| (?P<meaning>[^|\n]+?) \|(?:[^|\n]*\|)?$",
    re.MULTILINE,
)
_MARKED = re.compile(r"\[([^\[\]]+)\]")


@cache
def terms() -> dict[str, str]:
    """Return the meaning of each term, in the order of the glossary."""
    rows = _ROW.finditer(GLOSSARY.read_text("utf-8"))
    return {row["term"]: row["meaning"].replace("*", "") for row in rows}


@cache
def _by_word() -> dict[str, str]:
    """Index the meanings by every word for a term: a chunk is also called a passage."""
    found = {}
    for row in _ROW.finditer(GLOSSARY.read_text("utf-8")):
        for name in (row["term"], *row["more"].split(",")):
            found[name.strip().casefold()] = row["meaning"].replace("*", "")
    return found


def explained(text: str) -> list[Child]:
    """Explain the terms in brackets in one of our own texts: [claim] and [claims] show the meaning
    of claim.

    Raises KeyError for a term that is not in the glossary.
    """
    parts = _MARKED.split(text)
    return [term(part) if n % 2 else part for n, part in enumerate(parts)]


def term(words: str) -> Node:
    """Show a term with a dotted underline; its meaning appears on hover and focus, and is read
    aloud with it.
    """
    known, word = _by_word(), words.casefold()
    meaning = known[word] if word in known else known[word.removesuffix("s")]
    return el(
        "span",
        words,
        el(
            "span",
            meaning,
            role="tooltip",
            class_="ax-meaning",
        ),
        tabindex=0,
        class_="ax-term",
    )


@cache
def texts() -> dict[str, list[list[str]]]:
    """Return the keys, with what each does."""
    found: dict[str, list[list[str]]] = yaml.safe_load(TEXTS.read_text("utf-8"))
    return found


@cache
def sheet() -> dict[str, object]:
    """Return keys, badges and terms as trees and texts."""
    badges = [el("div", el("dt", badge(name)), el("dd", look(name).help)) for name in LABELS]
    glossary = [el("div", el("dt", name), el("dd", text)) for name, text in terms().items()]
    return {
        **texts(),
        "badges": html.data(el("dl", *badges)),
        "terms": html.data(el("dl", *glossary)),
        "css": html.VERDICTS_CSS,
    }


# --- the demo ---


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
            says = verdict_sentence(row)
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
