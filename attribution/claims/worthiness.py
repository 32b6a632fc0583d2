"""Classify check-worthiness (V24 4.2): factual, opinion, not a claim, or other. The first match
decides.

The patterns are in data/worthiness.yaml; a parse then separates instructions and fragments from
statements.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from attribution.claims.rules import compile_any, is_cell, load
from attribution.claims.short_answers import completes_question
from attribution.text.parse import SUBJECTS, VERBAL, has_subject, is_table_row, parse, root
from attribution.text.sentences import is_english
from attribution.types import Claim, Worthiness

if TYPE_CHECKING:
    from spacy.tokens import Doc

_WORDS = re.compile(r"[^\W\d_]+")
_NAMED = re.compile(r"\w(?::| –) [A-Z]")  # "Capital: Paris"


Class = tuple[Worthiness, str]  # with the reason in an analyst's words
FACTUAL: Class = ("factual", "")


@dataclass(frozen=True)
class Rule:
    """A pattern of data/worthiness.yaml.

    Attributes:
        worthiness: The class of a text in which the pattern occurs.
        reason: Why, in an analyst's words.
        pattern: The pattern.
        unless: The rule does not apply where this occurs.
    """

    worthiness: Worthiness
    reason: str
    pattern: re.Pattern[str]
    unless: re.Pattern[str]


@cache
def _rules() -> tuple[Rule, ...]:
    """Return the rules in the order in which they are tried."""
    rules: list[Rule] = []
    for rule in load("worthiness")["rules"]:
        unless = compile_any([rule.get("unless", "(?!)")], flags=0)  # "(?!)" matches nowhere
        pattern = compile_any(rule["patterns"])
        rules.append(Rule(rule["worthiness"], rule["reason"], pattern, unless))
    return tuple(rules)


def classify(claims: Sequence[Claim], answer: str = "") -> list[Claim]:
    """Classify claims.

    A fragment below a heading, a lead or a question states something together with it.

    Args:
        claims: Claims with their `context`.
        answer: The answer that they are from. The rules are for English: in any other language,
            every claim counts as factual.

    Returns:
        The claims with `worthiness` and, if it is not factual, the reason.
    """
    english = is_english(answer)
    result: list[Claim] = []
    for claim in claims:
        worthiness, reason = classify_text(claim.text) if english else FACTUAL
        is_fragment = worthiness == "other" and bool(claim.context)
        if is_fragment or completes_question(claim):
            worthiness, reason = FACTUAL
        update = {"worthiness": worthiness, "worthiness_reason": reason}
        result.append(claim.model_copy(update=update))
    return result


def classify_text(text: str) -> Class:
    """Return the class of a text and, in an analyst's words, the reason; factual if no rule
    applies.
    """
    text = " ".join(text.replace("’", "'").split())
    for rule in _rules():
        if rule.pattern.search(text) and not rule.unless.search(text):
            return rule.worthiness, rule.reason
    if is_table_row(text) or is_cell(text) or not _WORDS.search(text):
        return FACTUAL
    return _classify_by_parse(text)


def _classify_by_parse(text: str) -> Class:
    if text.endswith(":") and not has_subject(root(parse(text[:-1]))):
        return "not_a_claim", "It only announces what follows."
    if _is_fragment(text, parse(text)):
        return "other", "A fragment: it states nothing that could be checked."
    body = text
    for introduction in load("worthiness")["introductions"]:
        body = re.sub(introduction, "", body, count=1)
    doc = parse(body)
    if body and _is_instruction(doc):
        return "not_a_claim", "An instruction."
    if len(doc) and _states_nothing(doc, text):
        return "other", "A fragment: a phrase without a statement of its own."
    return FACTUAL


def _is_instruction(doc: Doc) -> bool:
    """Return True if the sentence begins with a verb in its base form and has no subject."""
    verb = root(doc)
    if verb.tag_ != "VB" or verb.i > 1:
        return False
    if verb.lower_ in ("note", "notice", "recall", "let", "cost"):
        return False
    return not any(token.dep_ in ("aux", *SUBJECTS) for token in verb.children)


def _states_nothing(doc: Doc, text: str) -> bool:
    """Return True for a noun phrase or participle with its modifiers, without a figure, name or
    past tense.

    In a whole sentence a clause modifies a noun by its pronoun alone: "The planet Neptune has
    rings." is none.
    """
    top = root(doc)
    has_digit = any(c.isdigit() for c in text)
    if has_subject(top) or has_digit or len(list(doc.sents)) > 1:
        return False
    if top.tag_ == "VBG":
        return top.i == 0 and not any(t.dep_ == "aux" for t in top.children)
    relative: set[int] = set()
    for child in top.children:
        has_pronoun = any(token.tag_ in ("WDT", "WP", "WRB") for token in child.subtree)
        if child.dep_ == "relcl" and (has_pronoun or text[-1] != "."):
            relative.update(token.i for token in child.subtree)
    if top.pos_ != "NOUN" or not relative:
        return False
    return all(t.i in relative and t.tag_ != "VBD" for t in doc if t.pos_ in VERBAL)


def _is_fragment(text: str, doc: Doc) -> bool:
    """Return True if the text has few words, no figure and no verb."""
    words = len(_WORDS.findall(text))
    has_digit = any(c.isdigit() for c in text)
    is_sentence = words > 3 and text[-1] in ".!"
    if words > 7 or has_digit or is_sentence or _NAMED.search(text):
        return False
    return not any(token.pos_ in VERBAL for token in doc)
