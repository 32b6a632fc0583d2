"""The context of a claim: the headings above it, and whether it can be verified without any (V24
5.1).
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING

from attribution.claims.enrichment import outward_pronouns
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
    """Put claims under what stands above them in the answer.

    Args:
        claims: Claims of the answer.
        answer: The answer.
        question: The context of a bare "Yes" or "1957".

    Returns:
        The claims with their `context`, the nearest part last.
    """
    blocks = passages(answer)
    asked = question.strip(" ?")
    result: list[Claim] = []
    for claim in claims:
        start = claim.spans[0][0] if claim.spans else -1
        number = bisect_right(blocks, start, key=lambda block: block.start) - 1
        context = blocks[number].context if number >= 0 else ()
        if asked and is_short_answer(claim.text, is_alone=len(claims) == 1):
            context = (f"{asked}?",)
        result.append(claim.model_copy(update={"context": context}))
    return result


def named_by_context(claim: Claim) -> str:
    """Return the context to search with a claim.

    It is empty for a claim that holds a name itself.
    """
    if terms(claim.statement).names:
        return ""
    return " ".join(part.rstrip(" :") for part in claim.context)


_BARE_ROW = "A table row: the headings of its columns and the subject of the table are missing."
_ELLIPTICAL = "A list item without a subject or verb of its own."


@cache
def _patterns() -> list[tuple[re.Pattern[str], str]]:
    """Return the patterns of dependent texts, each with the reason."""
    rules = load("independence")
    return [(compile_any([rule["pattern"]]), rule["reason"]) for rule in rules]


def check_independence(claims: Sequence[Claim]) -> list[Claim]:
    """Return the claims with `independent` and, where it is False, `independence_reason`."""
    result: list[Claim] = []
    for claim in claims:
        reason = "" if completes_question(claim) else dependence_reason(claim.text)
        update = {"independent": not reason, "independence_reason": reason}
        result.append(claim.model_copy(update=update))
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
    for check in CHECKS:
        reason = check(doc)
        if reason:
            return reason
    return ""


def _pronoun(doc: Doc) -> str:
    for token in outward_pronouns(doc):
        return f"“{token.text}” refers to something outside the sentence."
    return ""


def _demonstrative(doc: Doc) -> str:
    """Find “this”, “those” or “such”, unless the words around it say what is meant."""
    for token in doc:
        if token.lower_ not in DEMONSTRATIVES or _is_explained(token):
            continue
        return f"“{token.text}” points to something said before."
    return ""


def _is_explained(token: Token) -> bool:
    """Return True for a conjunction, “those who …” and words of an earlier clause."""
    doc = token.doc
    following = doc[token.i + 1 :][:1].text.lower()
    if token.tag_ in ("IN", "WDT", "WP", "RB") or token.dep_ in ("mark", "advmod"):
        return True
    if following in ("who", "of", "that", "which", "as", "in", "with"):
        return True
    before = doc[: token.i]
    has_clause = any(t.pos_ in VERBAL for t in before)
    noun = ""
    if token.dep_ == "det":
        noun = token.head.lower_.removesuffix("s")
    return has_clause and noun in before.text.lower()


def _elliptical(doc: Doc) -> str:
    """Find a list item without a subject, or without a verb."""
    top = root(doc)
    is_verb = top.pos_ in VERBAL
    is_command = is_verb and top.tag_ == "VB"
    has_verb = is_verb and any(t.dep_ == "nsubj" for t in doc)
    if has_subject(top) or is_command or has_verb:
        return ""
    # in a long sentence the parser may take the verb for a noun
    is_long = len(doc) > 10 and doc[-1].text == "."
    is_sentence = is_long and doc[0].pos_ not in VERBAL
    return "" if is_sentence else _ELLIPTICAL


CHECKS: tuple[Callable[[Doc], str], ...] = (_pronoun, _demonstrative, _elliptical)
