"""The context of a claim: the headings above it, and whether it can be verified without any (V24
5.1).
"""

from __future__ import annotations

import re
import threading
from bisect import bisect_right
from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from attribution.claims.coreference import outward_pronouns
from attribution.claims.rules import compile_any, is_cell, load
from attribution.claims.short_answers import completes_question, is_short_answer
from attribution.text.parse import VERBAL, has_subject, is_table_row, parse, root
from attribution.text.passages import passages
from attribution.text.words import terms
from attribution.types import Claim

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

DEMONSTRATIVES = ("this", "that", "these", "those", "such")


def add_context(claims: Sequence[Claim], answer: str, question: str = "") -> list[Claim]:
    """Return the claims with the `context` that stands above them in the answer, the nearest last.

    The context of a bare "Yes" or "1957" is the question.
    """
    blocks = passages(answer)
    result: list[Claim] = []
    for claim in claims:
        start = claim.spans[0][0] if claim.spans else -1
        number = bisect_right(blocks, start, key=lambda block: block.start) - 1
        context = blocks[number].context if number >= 0 else ()
        if question.strip() and is_short_answer(claim.text, is_alone=len(claims) == 1):
            context = (f"{question.strip(' ?')}?",)
        result.append(claim.model_copy(update={"context": context}))
    return result


def named_by_context(claim: Claim) -> str:
    """Return the context of a claim that holds no name itself, to be searched with it; empty for
    any other.
    """
    is_named = terms(claim.statement).names
    return "" if is_named else " ".join(part.rstrip(" :") for part in claim.context)


_BARE_ROW = "A table row: the headings of its columns and the subject of the table are missing."
_ELLIPTICAL = "A list item without a subject or verb of its own."


class Pattern(NamedTuple):
    expression: re.Pattern[str]
    reason: str


@cache
def _patterns() -> tuple[Pattern, ...]:
    rules = load("independence")
    return tuple(Pattern(compile_any([rule["pattern"]]), rule["reason"]) for rule in rules)


def check_independence(claims: Sequence[Claim], stop: threading.Event | None = None) -> list[Claim]:
    """Set `independent` and, where it is False, `independence_reason`; `stop` ends the work."""
    result: list[Claim] = []
    for claim in claims:
        if not (stop and stop.is_set()):
            reason = "" if completes_question(claim) else dependence_reason(claim.text)
            update = {"independent": not reason, "independence_reason": reason}
            claim = claim.model_copy(update=update)
        result.append(claim)
    return result


def dependence_reason(text: str) -> str:
    """Return why a text cannot be verified on its own, in an analyst's words.

    Empty where it can.
    """
    text = " ".join(text.replace("’", "'").split())
    if not any(c.isalpha() for c in text):
        return "It has no words of its own."
    if is_table_row(text):
        return _BARE_ROW
    for pattern, reason in _patterns():
        match = pattern.search(text)
        if match:
            return reason.format(f"“{match.group().strip(' ,')}”")
    if is_cell(text):
        return ""
    doc = parse(text)
    return next(filter(None, (check(doc) for check in CHECKS)), "")


def _pronoun(doc: Doc) -> str:
    token = next(outward_pronouns(doc), None)
    return f"“{token.text}” refers to something outside the sentence." if token is not None else ""


def _demonstrative(doc: Doc) -> str:
    """Find “this”, “those” or “such”, unless the words around it say what is meant."""
    for token in doc:
        if token.lower_ in DEMONSTRATIVES and not _is_explained(token):
            is_near = token.dep_ == "det" and token.i < token.head.i <= token.i + 3
            phrase = doc[token.i : token.head.i + 1].text if is_near else token.text
            return f"“{phrase}” points to something said before."
    return ""


def _is_explained(token: Token) -> bool:
    """Return True for a conjunction, “those who …”, “such … as” and words of an earlier clause."""
    doc = token.doc
    following = [t.lower_ for t in doc[token.i + 1 : token.i + 6]]
    if token.tag_ in ("IN", "WDT", "WP", "RB") or token.dep_ in ("mark", "advmod"):
        return True
    if following and following[0] in ("who", "of", "that", "which", "as", "in", "with"):
        return True
    if token.lower_ == "such" and "as" in following:
        return True
    before = doc[: token.i]
    noun = token.head.lower_.removesuffix("s") if token.dep_ == "det" else ""
    return any(t.pos_ in VERBAL for t in before) and noun in before.text.lower()


def _elliptical(doc: Doc) -> str:
    """Find a list item without a subject, or without a verb."""
    top = root(doc)
    if doc[0].tag_ in ("VBD", "VBZ") and doc[0].dep_ in ("ROOT", "csubj", "advcl", "amod"):
        return _ELLIPTICAL
    is_command = top.pos_ in VERBAL and top.tag_ == "VB"
    has_verb = top.pos_ in VERBAL and any(t.dep_ == "nsubj" for t in doc)
    if has_subject(top) or is_command or has_verb:
        return ""
    # in a long sentence the parser may take the verb for a noun
    is_sentence = len(doc) > 10 and doc[-1].text == "." and doc[0].pos_ not in VERBAL
    return "" if is_sentence else _ELLIPTICAL


CHECKS: tuple[Callable[[Doc], str], ...] = (
    _pronoun,
    _demonstrative,
    _elliptical,
)
