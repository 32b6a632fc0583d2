"""Show the cards of methods."""

from __future__ import annotations

from collections.abc import Sequence

from attribution.reports.html import Child, Node, el
from attribution.studies.groundedness.cards import Listed, Measure
from attribution.tables import LLM

READY, WAITING = "Ready", "Not ready"


def card(of: Listed, missing: str) -> Node:
    """Draw one card: a description and a list of facts."""
    facts: list[tuple[str, Child]] = []
    if of.card.paper:
        facts.append(("Paper", of.card.paper))
    facts.append(("Needs", _needs(of, missing)))
    facts.append(("Leaves the machine", of.card.leaves))
    facts.append(("Measured here", _measured(of.card.measured)))
    facts.append(("Known failures", el("ul", *(el("li", fact) for fact in of.card.fails))))
    state = el("span", WAITING if missing else READY, class_="ax-quiet") if of.entry else None
    head = el("h3", of.label, " ", el("code", of.name), " ", state)
    terms = (part for term, fact in facts for part in (el("dt", term), el("dd", fact)))
    return el("article", head, el("p", of.card.does), el("dl", *terms), class_="ax-card")


def _needs(of: Listed, missing: str) -> str:
    if missing:
        step = "a language model, under “Language model” in the sidebar of Explore" if missing == LLM.step else missing
        return step[:1].upper() + step[1:]
    needed = of.card.needs or ("What it needs is there." if of.entry and of.entry.needs else "Nothing more.")
    return needed


def _measured(measures: Sequence[Measure]) -> Child:
    shown = [(m, value) for m in measures if (value := m.shown())]
    if not shown:
        return "Not measured here."
    lines = (el("li", el("strong", v), f" {m.what} ", el("span", f"({m.origin})", class_="ax-quiet")) for m, v in shown)
    return el("ul", *lines)


def matches(of: Listed, words: str) -> bool:
    """Return True if a card contains all the words."""
    fields = (of.name, of.label, of.card.does, of.card.paper, of.card.leaves, *of.card.fails)
    text = " ".join(fields).casefold()
    return all(word in text for word in words.casefold().split())
