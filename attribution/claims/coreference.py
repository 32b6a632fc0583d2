"""Resolve the pronouns of an answer to the only candidate in the sentences before, or the question.

A light form of the filters of Lappin and Leass 1994: pleonastic pronouns (2.2), agreement and
grammatical role (2.1, 2.4). If several candidates are left, none is taken: a wrong name is worse
than a pronoun.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from attribution.claims.rules import LEXICON
from attribution.text.parse import (
    MAX_PARSED,
    NOMINAL_SUBJECTS,
    VERBAL,
    lower_initial,
    parse,
    root,
)
from attribution.text.passages import AnswerPassage, passages, plain
from attribution.text.sentences import sentences as split

if TYPE_CHECKING:
    from spacy.tokens import Doc, Span, Token

PRONOUNS = {
    **dict.fromkeys(("he", "him", "his"), "he"),
    **dict.fromkeys(("she", "her", "hers"), "she"),
    **dict.fromkeys(("it", "its"), "it"),
    **dict.fromkeys(("they", "them", "their", "theirs"), "they"),
}
POSSESSIVE = frozenset(("his", "her", "its", "their"))
NEAR = 3  # sentences that are searched for an antecedent
LONGEST_NAME = 9  # words
CLAUSES = ("ccomp", "xcomp", "csubj", "advcl")
RIVALS = ("dobj", "conj", *NOMINAL_SUBJECTS)  # what a pronoun may refer to beside the subject
MODIFIERS = ("prep", "relcl", "acl")
# Verbs of an "it" that stands for a clause: "it is clear that", "it took years to"
CLAUSAL = frozenset("'s is was be been seems seemed appears appeared takes took costs".split())
VAGUE = re.compile(
    r"""
    (?: an?|many|some|few|several|most|all|no|each|every|any|another|other|more|both|one|two
    | three|certain|this|that|these|those|such|what|which|whose|my|your|our|his|her|its
    | their )\b
    """,
    re.IGNORECASE | re.VERBOSE,
)


class Mention(NamedTuple):
    """A noun phrase of a text, and the pronouns that may refer to it."""

    text: str  # as in mid-sentence: "the tower"
    span: Span
    head: Token
    forms: frozenset[str]  # of he, she, it and they; with "name", nobody knows which
    is_subject: bool  # of the main clause
    is_whole: bool  # False: a modifier is left out ("people | with little money")


def mentions(doc: Doc) -> list[Mention]:
    """Return the noun phrases of a text."""
    found: list[Mention] = []
    for chunk in doc.noun_chunks:
        head = chunk.root
        if head.pos_ == "PRON" or chunk[0].dep_ in ("cc", "preconj") or chunk[-1].is_punct:
            continue
        text = chunk.text
        if chunk[0].is_sent_start and chunk[0].is_title and chunk[0].pos_ != "PROPN":
            text = lower_initial(text)
        is_subject = head.dep_ in NOMINAL_SUBJECTS and head.head == head.sent.root
        left_out = [c for c in head.children if c.dep_ in MODIFIERS and c.left_edge.i == chunk.end]
        is_whole = head.pos_ == "PROPN" or not left_out
        found.append(Mention(text, chunk, head, _forms(chunk, head), is_subject, is_whole))
    return found


def _forms(span: Span, head: Token) -> frozenset[str]:
    """Return the pronouns that agree with a noun phrase in gender and number."""
    noun = head.lower_
    if head.tag_ in ("NNS", "NNPS") or noun in ("people", "police", "children"):
        return frozenset(("they",))
    is_name = head.pos_ == "PROPN"
    words = {token.lower_ for token in span if is_name} | {noun}
    titles = words & (LEXICON["titles"] | LEXICON["persons"])
    has_article = is_name and span[0].pos_ in ("DET", "PRON") and not titles
    if has_article or any(child.lower_ == "of" for child in head.children):
        return frozenset(("it",))
    if words & LEXICON["male"]:
        return frozenset(("he",))
    if words & LEXICON["female"]:
        return frozenset(("she",))
    if titles:
        return frozenset(("he", "she"))
    return frozenset(("it", "name")) if is_name else frozenset(("it",))


# --- pronouns ---


def is_expletive(token: Token) -> bool:
    """Return True for an "it" about the weather, or about a clause that follows."""
    verb = token.head
    if token.lower_ != "it":
        return False
    if token.dep_ == "expl" or verb.lower_ in LEXICON["weather"]:
        return True
    if verb.tag_ == "VBN":  # "it is known that", but not "it is used to"
        return any(child.dep_ == "ccomp" for child in verb.children)
    parts = [verb, *(c for c in verb.children if c.dep_ in ("acomp", "attr"))]
    has_clause = any(c.dep_ in CLAUSES and c.i > verb.i for part in parts for c in part.children)
    rest = token.doc[verb.i + 2 :]
    is_cleft = any(t.lower_ in ("who", "that") and t.nbor(-1).is_title for t in rest)
    return verb.lower_ in CLAUSAL and (has_clause or is_cleft)


def outward_pronouns(doc: Doc) -> Iterator[Token]:
    """Yield the third-person pronouns that refer to something outside the text."""
    candidates = mentions(doc)
    for token in doc:
        form = PRONOUNS.get(token.lower_)
        if form is None or token.text == "IT" or is_expletive(token):
            continue
        forms = {form, "name"} if form != "they" else {form, "he", "she"}  # "a tenant … their rent"
        fitting = [m for m in candidates if m.forms & forms and not _is_apart(token, m)]
        before = any(m.span.start < token.i for m in fitting)
        ahead = _is_in_fronted_clause(token) and any(m.is_subject for m in fitting)
        if not before and not ahead:
            yield token


def _is_apart(token: Token, mention: Mention) -> bool:
    """Return True if a mention holds the pronoun, or is the subject of the verb that it follows."""
    if token in mention.span:
        return True
    is_object = token.lower_ not in POSSESSIVE and token.dep_ not in NOMINAL_SUBJECTS
    is_subject = mention.head.dep_ in NOMINAL_SUBJECTS
    return is_object and is_subject and mention.head.head in (token.head, token.head.head)


def _is_in_fronted_clause(token: Token) -> bool:
    """Return True for "he" in "When he was twenty, Newton left"."""
    top = root(token.doc)
    clauses = (a for a in token.ancestors if a.dep_ in ("advcl", "prep", "pcomp"))
    return token.head != top and any(a.head == top and a.i < top.i for a in clauses)


# --- what they refer to ---


class Context:
    """The sentences and the question that may hold the antecedents of an answer's claims.

    Attributes:
        blocks: The passages of the answer.
        question: Mentions in the question, if it is a sentence and no keyword.
    """

    def __init__(self, question: str, answer: str) -> None:
        self.blocks = passages(answer)
        asked = parse(straight(plain(question)))
        self._asks_who = question.lower().startswith("who")
        self.question = mentions(asked) if any(t.pos_ in VERBAL for t in asked) else []
        self._small_words = {w for w in re.findall(r"\w+", f"{question} {answer}") if w.islower()}
        self._has_persons = bool(re.search(r"(?i)\b(?:he|she|him|his|her)\b", answer))

    def before(self, number: int, place: int) -> Iterator[Doc]:
        """Yield the sentences before a claim in its block and its section, nearest first."""
        block = self.blocks[number]
        if place > block.start:
            yield from _backwards(block, len(block.until(place)))
        for other in reversed(self.blocks[:number]):
            if other.kind != "text":
                break
            yield from _backwards(other, len(other.text))

    def antecedent(self, form: str, number: int, place: int) -> str | None:
        """Return what a pronoun refers to; None if there is nothing or a rival.

        That is the subject of the sentence before, the term of its item, or what is asked about.
        """
        for doc in islice(self.before(number, place), NEAR):
            fitting = [m for m in mentions(doc) if self._fits(m, form)]
            goes_on = any(PRONOUNS.get(token.lower_) == form for token in doc)
            if fitting and not goes_on:
                return self._name(_only(fitting, self.question), doc)
        label = self.blocks[number].label
        if label and form in ("it", "they"):
            named = mentions(parse(label))
            return label if len(named) == 1 and self._fits(named[0], form) else None
        if number and self.blocks[number - 1].kind in ("code", "row"):
            return None
        asked = [m for m in self.question if self._fits(m, form) and not VAGUE.match(m.text)]
        if self._asks_who and form in ("he", "she"):
            persons = [m for m in self.question if m.head.dep_ in ("attr", *NOMINAL_SUBJECTS)]
            asked += [m for m in persons if "name" in m.forms]
        return self._name(asked[0], None) if len(asked) == 1 else None

    def _fits(self, mention: Mention, form: str) -> bool:
        if "name" not in mention.forms:
            return form in mention.forms
        return form == "it" and not self._has_persons

    def _name(self, mention: Mention | None, doc: Doc | None) -> str | None:
        """Return the text that replaces a pronoun; None if it is vague itself."""
        if mention is None or not mention.is_whole:
            return None
        text = mention.text
        is_defined = doc is not None and root(doc).lower_ in ("is", "are") and mention.is_subject
        if VAGUE.match(text) and not (is_defined and text.startswith(("a ", "an "))):
            return None
        words = text.split()
        goes_on = mention.head.doc[mention.span.end :][:1].text.isdigit()  # "Acer Swift | 3"
        is_general = text.casefold() in LEXICON["anybody"]
        if goes_on or is_general or len(text) < 2 or len(words) > LONGEST_NAME:
            return None
        is_name = len(words) > 1 and all(word[0].isupper() for word in words[1:])
        is_common = words[0].istitle() and words[0].lower() in self._small_words
        return lower_initial(text) if is_common and not is_name else text


def _backwards(block: AnswerPassage, end: int) -> Iterator[Doc]:
    """Yield the sentences of a block up to a position, without its label, the last one first."""
    text = straight(block.text)
    for start, stop in reversed(split(text, MAX_PARSED)):
        sentence = text[max(start, block.label_end) : min(stop, end)]
        if sentence.strip():
            yield parse(sentence)


def _only(fitting: Sequence[Mention], asked: Sequence[Mention]) -> Mention | None:
    """Return the subject, or the only mention, if it has no rival or alone is asked about."""
    subjects = [m for m in fitting if m.is_subject]
    best = subjects[0] if subjects else fitting[0]
    if not subjects and len(fitting) > 1:
        return None
    others = [m for m in fitting if best.text not in m.text and m.text not in best.text]
    rivals = [m for m in others if m.head.dep_ in RIVALS]
    topics = " ".join(mention.text.lower() for mention in asked)
    is_topic = best.text.lower() in topics and not any(m.text.lower() in topics for m in rivals)
    return best if is_topic or not rivals else None


def straight(text: str) -> str:
    return text.replace("’", "'")
