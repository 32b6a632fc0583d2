"""The context of a claim: the headings above it, and whether it can be verified without any (V24
5.1).
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Collection, Sequence
from functools import cache
from typing import TYPE_CHECKING

from attribution.claims.coreference import outward_pronouns
from attribution.claims.rules import LEXICON, compile_any, load, readable
from attribution.text.names import names
from attribution.text.parse import VERBAL, has_subject, is_table_row, parse, root
from attribution.text.passages import AnswerPassage, passages
from attribution.text.sentences import is_english
from attribution.types import Claim

if TYPE_CHECKING:
    from spacy.tokens import Doc

MAX_LEVEL = 7  # of headings without signs
MAX_CONTEXT = 160  # characters of a heading or lead-in


def add_context(claims: Sequence[Claim], answer: str) -> list[Claim]:
    """Return the claims with the `context` that stands above them in the answer, the nearest last."""
    above = [(passage.start, context) for passage, context in _contexts(answer)]

    def context_of(claim: Claim) -> tuple[str, ...]:
        start = claim.spans[0][0] if claim.spans else -1
        return next((context for first, context in reversed(above) if first <= start), ())

    return [claim.model_copy(update={"context": context_of(claim)}) for claim in claims]


def _contexts(answer: str) -> list[tuple[AnswerPassage, tuple[str, ...]]]:
    """Each passage with the first and the nearest heading above it, the lead-in of its list, and
    its label.
    """
    found: list[tuple[AnswerPassage, tuple[str, ...]]] = []
    headings: list[tuple[int, str]] = []  # levels and texts, outermost first
    lead = ""
    for block in passages(answer):
        if block.kind == "heading":
            level = _level(answer, block.start)
            headings = [h for h in headings if h[0] < level] + [(level, block.text[:MAX_CONTEXT])]
            lead = ""
            continue
        above = [text for _, text in headings]
        label = (block.label,) if block.body else ()
        found.append((block, (*above[:1], *above[1:][-1:], *((lead,) if lead else ()), *label)))
        if block.kind == "text":
            lead = block.text[-MAX_CONTEXT:] if block.text.rstrip().endswith(":") else ""
    return found


def _level(answer: str, start: int) -> int:
    """The number of signs before a heading; more than any for a bold or underlined one."""
    marks = answer[answer.rfind("\n", 0, start) + 1 : start].strip(" *_")
    return len(marks) if marks and not marks.strip("#") else MAX_LEVEL


def named_by_context(claim: Claim) -> str:
    """Return the context of a claim that holds no name itself, to be searched with it; empty for
    any other.
    """
    named = any(claim.statement[: name.start].strip() for name in names(claim.statement))
    return "" if named else " ".join(part.rstrip(" :") for part in claim.context)


_BARE_ROW = "A table row: the headings of its columns and the subject of the table are missing."
_ELLIPTICAL = "A list item without a subject or verb of its own."


@cache
def _patterns() -> tuple[tuple[re.Pattern[str], str], ...]:
    return tuple((compile_any([rule["pattern"]]), rule["reason"]) for rule in load("independence"))


def check_independence(
    claims: Sequence[Claim], before: str = "", stop: threading.Event | None = None
) -> list[Claim]:
    """Claims with `independent` and, where it is False, `independence_reason`; `before` is what was
    said earlier.

    Of a claim that the rules do not read, it stays open.
    """
    introduced = _introduced(before) if before else frozenset()
    reasons = [
        dependence_reason(c.text, introduced) if read else None
        for c, read in readable(claims, stop)
    ]
    return [
        c.model_copy(update={"independent": not reason, "independence_reason": reason})
        if reason is not None
        else c
        for c, reason in zip(claims, reasons, strict=True)
    ]


def dependence_reason(text: str, introduced: frozenset[str] = frozenset()) -> str:
    """The reason why a text cannot be verified on its own, in an analyst's words; empty where it
    can.

    `introduced` are nouns for what the conversation before has brought up: “the physicist” may be
    one of them.
    """
    text = " ".join(text.replace("’", "'").split())
    if not any(c.isalpha() for c in text):
        return "It has no words of its own."
    if is_table_row(text):
        return _BARE_ROW if "|" in text else "A table row: it does not say what the table is about."
    for pattern, reason in _patterns():
        if match := pattern.search(text):
            return reason.format(f"“{match.group().strip(' ,')}”")
    doc = parse(text)
    return next((reason for check in CHECKS if (reason := check(doc))), "") or _definite(
        doc, introduced
    )


def _introduced(text: str) -> frozenset[str]:
    """“a physicist”, “the Golden Gate Bridge”: physicist, bridge. What the article alone makes
    known is not among them
    (“the moon”)."""
    if not is_english(text):
        return frozenset()
    chunks = (chunk for chunk in parse(text).noun_chunks if len(chunk) > 1)
    return frozenset(
        c.root.lower_
        for c in chunks
        if c[0].lower_ in ("a", "an") or (c.root.pos_ == "PROPN" and c.root.text.isalpha())
    )


def _pronoun(doc: Doc) -> str:
    token = next(outward_pronouns(doc), None)
    return f"“{token.text}” refers to something outside the sentence." if token is not None else ""


def _demonstrative(doc: Doc) -> str:
    """This, that, these, those and such, unless the words before or after say what is meant."""
    for token in doc:
        if token.lower_ not in ("this", "that", "these", "those", "such") or token.tag_ in (
            "IN",
            "WDT",
            "WP",
            "RB",
        ):
            continue
        following = doc[token.i + 1].lower_ if token.i + 1 < len(doc) else ""
        if following in ("who", "of", "that", "which", "as", "in", "with") or token.dep_ in (
            "mark",
            "advmod",
        ):
            continue
        if token.lower_ == "such" and any(
            t.lower_ in ("that", "as") for t in doc[token.i : token.i + 6]
        ):
            continue
        head = token.head.lower_.removesuffix("s") if token.dep_ == "det" else ""
        before = doc[: token.i]
        if any(t.pos_ in VERBAL for t in before) and (
            not head or any(head in t.lower_ for t in before)
        ):
            continue
        near = bool(head) and token.i < token.head.i <= token.i + 3
        phrase = doc[token.i : token.head.i + 1].text if near else token.text
        return f"“{phrase}” points to something said before."
    return ""


def _definite(doc: Doc, nouns: Collection[str] = LEXICON["one_of_many"]) -> str:
    """ "The treaty", with nothing that says which."""
    for chunk in doc.noun_chunks:
        noun = chunk.root
        if chunk[0].lower_ != "the" or noun.pos_ != "NOUN" or noun.lower_ not in nouns:
            continue
        if any(
            t.tag_ in ("JJS", "RBS") or t.pos_ in ("PROPN", "NUM") or t.text[0].isupper()
            for t in chunk[1:]
        ):
            continue
        if any(t.dep_ in ("compound", "poss", "nmod") for t in noun.children):
            continue
        if any(
            t.lower_ == "of" or t.dep_ in ("relcl", "appos", "acl", "prep") for t in noun.rights
        ):
            continue
        if any(len(t) > 3 and t.lower_ in "first last only second third same" for t in chunk[1:-1]):
            continue
        after = doc[noun.i + 1].text[0] if noun.i + 1 < len(doc) else " "
        if (
            after in "“\"'"
            or after.isupper()
            or any(t.lower_ == noun.lower_ for t in doc[: chunk.start])
        ):
            continue
        return f"It does not say which {noun.text} is meant."
    return ""


def _scenario(doc: Doc) -> str:
    """ "A young girl is running in front of cars": one situation of a scenario, without a name or a
    time (V24 5.1).
    """
    top = root(doc)
    subject = next((t for t in top.lefts if t.dep_ == "nsubj"), None)
    going_on = top.tag_ == "VBG" and any(
        t.lower_ in ("is", "are", "was", "were") for t in top.lefts
    )
    if subject is None or not going_on or any(t.pos_ in ("PROPN", "NUM") for t in doc):
        return ""
    indefinite = any(t.lower_ in ("a", "an", "some") for t in subject.lefts)
    return "It describes one moment of a scenario, and not whose or when." if indefinite else ""


def _elliptical(doc: Doc) -> str:
    """A list item without a subject, or without a verb."""
    top = root(doc)
    if doc[0].tag_ in ("VBD", "VBZ") and doc[0].dep_ in ("ROOT", "csubj", "advcl", "amod"):
        return _ELLIPTICAL
    if has_subject(top) or (
        top.pos_ in VERBAL and (top.tag_ == "VB" or any(t.dep_ == "nsubj" for t in doc))
    ):
        return ""
    if len(doc) > 10 and doc[-1].text == "." and doc[0].pos_ not in VERBAL:
        return ""  # a long sentence whose verb the parser took for a noun
    return _ELLIPTICAL


CHECKS: tuple[Callable[[Doc], str], ...] = (
    _pronoun,
    _demonstrative,
    _definite,
    _scenario,
    _elliptical,
)
