"""Read "Yes", "B" or "1957" with their question as the statement that they make."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from attribution.text.parse import SUBJECTS, VERBAL, parse, root
from attribution.text.passages import plain
from attribution.text.sentences import is_english
from attribution.types import Claim

if TYPE_CHECKING:
    from spacy.tokens import Doc, Span

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
REPLIED = re.compile(  # a question and the reply in a source
    r"""
    (?: (?P<speaker>\b(?:Q|Question|[A-Z]\w*(?:[ ][A-Z]\w*){0,2}):) [ ] )?
    (?P<question>[A-Z][^.!?:\n]{5,200})\?\s+
    (?: (?:A|Answer|[A-Z]\w*(?:[ ][A-Z]\w*){0,2}):[ ] )?
    (?P<reply>Yes|No|Yep|Nope|True|False|Correct|Wrong)\b[.,!–—]?
    """,
    re.VERBOSE,
)
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
    return LETTER.fullmatch(text) is not None or not has_subject(text)


def with_replies(text: str) -> str:
    """Return a source with "Is it open? Yes." as the statement that it makes."""
    return REPLIED.sub(_replied, text) if "?" in text else text


def _replied(match: re.Match[str]) -> str:
    question = re.sub(r"^(?:And|But|So|Then)\s", "", match["question"])
    made = statement(f"{question}?", match["reply"])
    return match[0] if made.startswith(question) else made


def completes_question(claim: Claim) -> bool:
    """Return True for a short answer whose nearest context is a question."""
    has_question = bool(claim.context) and claim.context[-1].endswith("?")
    return has_question and is_short_answer(claim.statement, is_alone=True)


def has_subject(text: str) -> bool:
    """Return True for a clause with a subject and a verb."""
    return any(t.dep_ in SUBJECTS and t.head.pos_ in VERBAL for t in parse(text))


def statement(question: str, answer: str) -> str:
    """Return what a short answer says; question and answer in a row where that is not clear."""
    question, answer = plain(question).strip(), answer.strip().rstrip(".!")
    question, *parts = OPTION.split(question)
    options = dict(zip(map(str.upper, parts[::2]), parts[1::2], strict=True))
    letter = LETTER.fullmatch(answer)
    if options and letter and letter["letter"].upper() in options:
        answer = options[letter["letter"].upper()].rstrip(" .;,?")
    question = question.strip().rstrip("?:. ")
    polar = POLAR.fullmatch(answer)
    made = _declared(question, answer, polar) if question else ""
    return f"{made}." if made else f"{question}: {answer}"


def _declared(question: str, answer: str, polar: re.Match[str] | None) -> str:
    doc = parse(question)
    number = next((t.i for t in doc if t.lower_ in AUXILIARIES), None)
    asked = doc[:number] if number is not None else doc[:0]
    if polar and number != 0:  # "The bridge is red: true or false?"
        text = TRUE_OR_FALSE.sub("", question).strip()
        return text if polar["yes"] else f"It is not true that {text}"
    if not polar and doc[0].lower_ in ("who", "what", "which") and _is_subject(doc, number):
        end = doc[0].head.i if doc[0].dep_ == "det" else doc[0].i
        return f"{answer} {doc[end + 1 :].text}"
    if number is None:
        return ""
    rest = doc[number + 1 :]
    subject = _subject(doc, rest, with_phrases=polar is None)
    if subject is None:
        return ""
    auxiliary = doc[number].lower_
    if polar:
        auxiliary += "" if polar["yes"] else " not"
        answer = ""
    tail = doc[subject.end :].text
    parts = [subject.text, auxiliary, tail, _placed(asked, answer)]
    text = " ".join(part for part in parts if part)
    return text[0].upper() + text[1:]


def _is_subject(doc: Doc, auxiliary: int | None) -> bool:
    """Return True if the question word is the subject: "Who built it", "Which city is older"."""
    word = doc[0].head if doc[0].dep_ == "det" else doc[0]
    top = root(doc)
    is_asked_of_name = top.i == auxiliary and any(t.dep_ in SUBJECTS for t in top.rights)
    return word.dep_ in SUBJECTS and not is_asked_of_name


def _subject(doc: Doc, rest: Span, *, with_phrases: bool) -> Span | None:
    """Return the subject that follows the auxiliary of a question.

    Of "Is the toll of the bridge for vans high?" that is "the toll of the bridge".
    """
    for token in rest:
        if token.dep_ not in (*SUBJECTS, "attr") or token.left_edge.i != rest.start:
            continue
        end = token.i
        for phrase in token.rights:
            is_part = phrase.lower_ == "of" or with_phrases and phrase.dep_ == "prep"
            if is_part and phrase.i == end + 1:
                end = phrase.right_edge.i
        return doc[rest.start : end + 1]
    return None


def _placed(asked: Span, answer: str) -> str:
    """Return the answer with what was asked about it: "in 1932", "300 metres long"."""
    words = asked.text.lower().split()
    if not words or not answer:
        return answer
    opens_with_figure = answer[0].isdigit()
    if words[0] == "when" and opens_with_figure:
        return f"in {answer}" if answer.isdigit() else f"on {answer}"
    if words[0] == "where" and answer[0].isupper():
        return f"in {answer}"
    if words[0] == "how" and opens_with_figure and len(words) > 1:
        noun = " ".join(words[2:]) if words[1] in ("many", "much") else words[1]
        return answer if noun in answer else f"{answer} {noun}"
    return answer
