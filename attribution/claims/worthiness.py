"""Classify check-worthiness (V24 4.2): factual, opinion, not a claim, or other. The first match
decides.

The patterns are in data/worthiness.yaml; a parse then separates instructions and fragments from
statements.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from attribution.claims.rules import compile_any, is_cell, load
from attribution.claims.short_answers import completes_question
from attribution.text.parse import VERBAL, has_subject, is_table_row, parse, root
from attribution.text.sentences import is_english
from attribution.types import Claim, Worthiness

if TYPE_CHECKING:
    from spacy.tokens import Doc

_WORDS = re.compile(r"[^\W\d_]+")
_NAMED = re.compile(r"\w(?::| –) [A-Z]")  # "Capital: Paris"


@dataclass(frozen=True)
class Rule:
    worthiness: Worthiness
    reason: str
    pattern: re.Pattern[str]
    unless: re.Pattern[str] | None


@cache
def _rules() -> tuple[Rule, ...]:
    data = load("worthiness")
    exceptions: dict[str, re.Pattern[str]] = {}
    for name, pattern in data["exceptions"].items():
        exceptions[name] = compile_any([pattern], flags=0)
    rules: list[Rule] = []
    for rule in data["rules"]:
        unless = exceptions.get(rule.get("unless"))
        pattern = compile_any(rule["patterns"])
        rules.append(Rule(rule["worthiness"], rule["reason"], pattern, unless))
    return tuple(rules)


@cache
def _introductions() -> tuple[re.Pattern[str], ...]:
    return tuple(compile_any([p], flags=0) for p in load("worthiness")["introductions"])


def classify(
    claims: Sequence[Claim], answer: str = "", stop: threading.Event | None = None
) -> list[Claim]:
    """Return the claims with `worthiness` and, if it is not factual, the reason.

    The rules are for English: in an `answer` in another language, every claim counts as factual. A
    fragment below a heading, a lead or a question states something together with it.
    """
    english = is_english(answer)
    result: list[Claim] = []
    for claim in claims:
        is_read = english and not (stop and stop.is_set())
        worthiness, reason = classify_text(claim.text) if is_read else ("factual", "")
        is_fragment = worthiness == "other" and bool(claim.context)
        if is_fragment or completes_question(claim):
            worthiness, reason = "factual", ""
        update = {"worthiness": worthiness, "worthiness_reason": reason}
        result.append(claim.model_copy(update=update))
    return result


def classify_text(text: str) -> tuple[Worthiness, str]:
    """Return the class and, in an analyst's words, the reason; factual if no rule applies."""
    text = " ".join(text.replace("’", "'").split())
    for rule in _rules():
        if rule.pattern.search(text) and not (rule.unless and rule.unless.search(text)):
            return rule.worthiness, rule.reason
    if is_table_row(text) or is_cell(text) or not _WORDS.search(text):
        return "factual", ""
    return _classify_by_parse(text)


def _classify_by_parse(text: str) -> tuple[Worthiness, str]:
    if text.endswith(":") and not has_subject(root(parse(text[:-1]))):
        return "not_a_claim", "It only announces what follows."
    if _is_fragment(text, parse(text)):
        return "other", "A fragment: it states nothing that could be checked."
    body = text
    for introduction in _introductions():
        body = introduction.sub("", body, count=1)
    doc = parse(body)
    if body and _is_instruction(doc):
        return "not_a_claim", "An instruction."
    if len(doc) and _states_nothing(doc, text):
        return "other", "A fragment: a phrase without a statement of its own."
    return "factual", ""


def _is_instruction(doc: Doc) -> bool:
    """Return True if the sentence begins with a verb in its base form and has no subject."""
    verb = root(doc)
    if verb.tag_ != "VB" or verb.i > 1 or verb.lower_ in ("note", "notice", "recall", "let"):
        return False
    return not has_subject(verb) and not any(t.dep_ == "aux" for t in verb.children)


def _states_nothing(doc: Doc, text: str) -> bool:
    """Return True for a noun phrase or participle with its modifiers, without a figure, name or
    past tense.
    """
    top = root(doc)
    if has_subject(top) or any(c.isdigit() for c in text) or len(list(doc.sents)) > 1:
        return False
    if top.tag_ == "VBG":
        return top.i == 0 and not any(t.dep_ == "aux" for t in top.children)
    relative = {t.i for c in top.children if c.dep_ == "relcl" for t in c.subtree}
    verbs = [t for t in doc if t.pos_ in VERBAL]
    return (
        top.pos_ == "NOUN"
        and bool(relative)
        and all(t.i in relative and t.tag_ != "VBD" for t in verbs)
    )


def _is_fragment(text: str, doc: Doc) -> bool:
    """Return True if the text has few words, no figure and no verb."""
    words = len(_WORDS.findall(text))
    if (
        words > 7
        or any(c.isdigit() for c in text)
        or _NAMED.search(text)
        or (words > 3 and text[-1] in ".!")
    ):
        return False
    return not any(t.pos_ in VERBAL for t in doc)
