"""Read "Yes" or "B" with their question as the statement that they make."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from attribution.text.parse import SUBJECTS, has_clause, parse
from attribution.text.passages import plain
from attribution.text.sentences import is_english
from attribution.types import Claim

if TYPE_CHECKING:
    from spacy.tokens import Span

MOST_WORDS = 8  # of a short answer
POLAR = re.compile(
    r"""
    (?P<no> no|nope|false|wrong|incorrect|untrue )?+ (?P<yes> yes|yeah|yep|true|correct|right )?+
    (?: ,?\s (?:it|that|this|he|she|they|there|the[ ]statement) (?:\s\w+|n['’]t){1,3} )?
    [.!]?
    """,
    re.IGNORECASE | re.VERBOSE,
)
LETTER = re.compile(
    r"""
    (?: (?:the[ ])?(?:correct[ ]|right[ ])?(?:answer|option|choice)[ ]?(?:is|:)?[ ]?
    (?:option[ ])? )?
    \(?(?P<letter>[A-H])[).:]?(?:\s.*)?
    """,
    re.IGNORECASE | re.VERBOSE,
)
OPTIONS = re.compile(r"(?<!\S)(?=\(?A[).:]\s.{1,500}?\s\(?B[).:]\s)", re.IGNORECASE)
OPTION = re.compile(r"(?<!\S)\(?([A-Ha-h])[).:]\s")  # "A) Anna Berg B) Ove Lund"
TRUE_OR_FALSE = re.compile(r"\W{0,4}(?:is it )?true or false\W{0,4}", re.IGNORECASE)
AUXILIARIES = frozenset(
    """is are was were do does did has have had can could will would shall should may might must
    """.split()
)


def is_short_answer(text: str, *, is_alone: bool) -> bool:
    """Return True for "Yes, it is.", and for a whole answer that is an option or a fragment."""
    words = text.split()
    if len(words) > MOST_WORDS or not is_english(text):
        return False
    if POLAR.fullmatch(text):
        return True
    if not is_alone:
        return False
    return LETTER.fullmatch(text) is not None or not has_clause(text)


def completes_question(claim: Claim) -> bool:
    """Return True for a short answer whose nearest context is a question."""
    has_question = bool(claim.context) and claim.context[-1].endswith("?")
    return has_question and is_short_answer(claim.statement, is_alone=True)


def statement(question: str, answer: str) -> str:
    """Return what a short answer says; question and answer in a row where that is not clear."""
    question, answer = plain(question).strip(), answer.strip().rstrip(".!")
    question, *choices = OPTIONS.split(question, maxsplit=1)
    _, *parts = OPTION.split("".join(choices))
    options = dict(zip(map(str.upper, parts[::2]), parts[1::2], strict=True))
    letter = LETTER.fullmatch(answer)
    if letter and letter["letter"].upper() in options:
        answer = options[letter["letter"].upper()].rstrip(" .;,?")
    question = question.strip().rstrip("?:. ")
    polar = POLAR.fullmatch(answer)
    made = _affirmed(question, polar["yes"] is not None) if question and polar else ""
    return f"{made}." if made else f"{question}: {answer}"


def _affirmed(question: str, is_true: bool) -> str:
    """Return the statement that a question asks about, or its denial; "" where it isn't clear."""
    doc = parse(question)
    auxiliary = doc[0].lower_
    if auxiliary not in AUXILIARIES:  # "The bridge is red: true or false?"
        text = TRUE_OR_FALSE.sub("", question).strip()
        return text if is_true else f"It is not true that {text}"
    subject = _subject(doc[1:])
    if subject is None:
        return ""
    verb = auxiliary if is_true else f"{auxiliary} not"
    text = f"{subject.text} {verb} {doc[subject.end :].text}".strip()
    return text[0].upper() + text[1:]


def _subject(rest: Span) -> Span | None:
    """Return the subject that follows the auxiliary of a question.

    Of "Is the toll of the bridge for vans high?" that is "the toll of the bridge".
    """
    for token in rest:
        if token.dep_ not in (*SUBJECTS, "attr") or token.left_edge.i != rest.start:
            continue
        end = token.i
        for phrase in token.rights:
            if phrase.lower_ == "of" and phrase.i == end + 1:
                end = phrase.right_edge.i
        return rest.doc[rest.start : end + 1]
    return None
