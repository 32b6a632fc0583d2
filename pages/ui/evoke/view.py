"""Twins with their changed words marked. Imports no streamlit."""

from __future__ import annotations

import json
from collections.abc import Sequence

from attribution.evaluation.evoked_errors.test_set import Made
from attribution.evaluation.evoked_errors.twin import ERROR_TYPES
from attribution.types import Span
from pages.ui.html.render import Child, Node, el, plural

AROUND = 160  # characters before and after a change


def type_word(name: str) -> str:
    """A type of error in plain words."""
    return name.replace("_", " ").capitalize() if name in ERROR_TYPES else "Not labelled"


def twin(made: Made) -> Node:
    """One twin: the words that were there, and those in their place."""
    assert made.twin is not None
    t = made.twin
    before = el("p", *_marked(made.grounded.response, t.original, "del"), dir="auto")
    after = el("p", *_marked(t.response, t.changed, "strong"), dir="auto")
    head = el("p", el("strong", t.kind.capitalize()), f" · {made.id}", class_="ax-quiet")
    return el("div", head, before, after, class_="ax-twin")


def _marked(text: str, spans: Sequence[Span], tag: str) -> list[Child]:
    """The text around the spans, which are marked."""
    first, last = max(0, spans[0][0] - AROUND), min(len(text), spans[-1][1] + AROUND)
    parts: list[Child] = ["… " if first else ""]
    at = first
    for start, end in spans:
        parts += [text[at:start], el(tag, text[start:end], class_="ax-changed")]
        at = end
    return [*parts, text[at:last], " …" if last < len(text) else ""]


def summary(made: Sequence[Made]) -> str:
    """How many rows of which kind."""
    twins = [m for m in made if m.twin]
    kinds = [m.twin.kind for m in twins if m.twin]
    counts = ", ".join(f"{kinds.count(kind)} {kind}" for kind in dict.fromkeys(kinds))
    grounded = plural(len(made) - len(twins), "grounded answer")
    return f"{grounded}, {plural(len(twins), 'twin')}{f': {counts}' if counts else ''}."


def as_lines(made: Sequence[Made]) -> str:
    """The set as JSON Lines."""
    return "".join(json.dumps(m.fields(), ensure_ascii=False) + "\n" for m in made)
