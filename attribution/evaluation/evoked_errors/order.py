"""Steps and events in another order."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from attribution.evaluation.evoked_errors.twin import Edit
from attribution.text.nlp import parse

if TYPE_CHECKING:
    from spacy.tokens import Doc

_STEP = re.compile(r"^[ \t]*(\d{1,2})[.)][ \t]+(\S.*\S)[ \t]*$", re.MULTILINE)
_TIMES = {"after": "before", "before": "after", "later": "earlier", "earlier": "later"}
_IDIOMS = {"name", "look", "take", "model", "seek", "call", "go", "come", "bring", "appear", "ask", "pattern"}
_UNITS = {"second", "minute", "hour", "day", "week", "month", "year", "decade", "century", "centuries"}


def steps(answer: str) -> Iterator[tuple[Edit, ...]]:
    """Two neighbours of a numbered list of instructions exchanged; their numbers stay."""
    items = list(_STEP.finditer(answer))
    for one, two in zip(items, items[1:], strict=False):
        if int(two[1]) != int(one[1]) + 1 or answer[one.end() : two.start()].strip():
            continue
        if _instruction(one[2]) and _instruction(two[2]):
            yield Edit(*one.span(2), two[2]), Edit(*two.span(2), one[2])


def _instruction(text: str) -> bool:
    """Whether it tells the reader to do something."""
    first = parse(text.lstrip("*_"))[0]
    return first.tag_ in ("VB", "VBP") or (first.i == first.head.i and first.pos_ == "VERB")


def times(doc: Doc) -> Iterator[Edit]:
    """ "after" and "before" exchanged where they order two events; "two years later" → "two years earlier"."""
    for token in doc:
        other = _TIMES.get(token.lower_)
        if other is None:
            continue
        if token.lower_ in ("later", "earlier"):
            unit = doc[token.i - 1].lower_.rstrip("s") if token.i else ""
            fits = unit in _UNITS and token.dep_ == "advmod"
        else:
            following = [t for t in token.children if t.dep_ in ("pcomp", "pobj")]
            verbal = token.dep_ == "mark" and token.head.dep_ == "advcl"
            named = any(t.pos_ == "PRON" or t.dep_ == "pobj" and t.pos_ == "PROPN" for t in following)
            fits = (verbal or bool(following)) and not named and token.head.lemma_.lower() not in _IDIOMS
            fits = fits and token.head.lower_ not in {f"{w}ed" for w in _IDIOMS} | {"named", "sought", "soon", "day"}
        if fits:
            yield Edit(token.idx, token.idx + len(token), other.capitalize() if token.text[0].isupper() else other)
