"""Pronouns whose antecedent is not in their own sentence, and the mentions that could be one.

Rules on the parse: a light form of the salience filters of Lappin and Leass 1994 (pleonastic pronouns, section 2.2;
agreement and grammatical role, sections 2.1 and 2.4) that prefers silence to a wrong antecedent.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from attribution.claims.grammar import SUBJECTS, lower_initial, root
from attribution.claims.rules import LEXICON

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

Kind = Literal["he", "she", "person", "thing", "name", "people", "things", "many"]

PRONOUNS = {
    **dict.fromkeys(("he", "him", "his"), "he"),
    **dict.fromkeys(("she", "her", "hers"), "she"),
    **dict.fromkeys(("it", "its"), "it"),
    **dict.fromkeys(("they", "them", "their", "theirs"), "they"),
}
POSSESSIVE = frozenset(("his", "her", "its", "their"))
# the kinds of mention a pronoun can refer to; "name" is a proper noun of unknown kind
FITS: dict[str, frozenset[str]] = {
    "he": frozenset(("he", "person", "name")),
    "she": frozenset(("she", "person", "name")),
    "it": frozenset(("thing", "name")),
    "they": frozenset(("people", "things", "many")),
}
_EXPLETIVE = re.compile(  # what stands behind an "it" that refers to nothing
    r"(?:'s|(?: (?:is|was|has been|would be|may be|might be|will be|can be|could be|should be|becomes?|became"
    r"|remains?)))"
    r"(?: not| also| often| widely| generally| now| therefore| still| then| very| most| more| quite| commonly| only)*"
    r" (?:\w+(?: \w+)?(?: for [\w ]{1,40})? (?:that|to|whether|how|why|what|if)\b|\w+ \w+ who\b"
    r"|(?:likely|possible|clear|true|dark|cold|hot|warm|winter|summer|spring|late|early|time|important|because"
    r"|not clear"
    r"|(?:not only|not until|in|at|on|when|during|only) [^.,;]{1,60}? that|[A-Z]\w+(?: [A-Z]\w+)? (?:who|that))\b)"
    r"| (?:seems?|seemed|appears?|appeared|turns? out|turned out|happens?|happened|follows?|followed)\b(?: that|,"
    r"| \w+ that)"
    r"| (?:takes?|took|costs?|cost|would take|can take) .{1,60}? to \w+"
)


@dataclass(frozen=True)
class Mention:
    """A noun phrase of a sentence; its offsets are characters of that sentence.

    `text` is written as within a sentence: "the tower", also where it opens one.
    """

    text: str
    start: int
    end: int
    head: str  # its main noun, in lower case
    kind: Kind
    subject: bool  # of the main clause
    definite: bool  # a name, or "the …"
    role: str  # spaCy's dependency label
    at: int  # index of the head among the sentence's tokens
    whole: bool  # False: what says which one is left out ("people | with little money")


def is_expletive(token: Token) -> bool:
    """An "it" that refers to nothing: the weather, or a clause that follows (Lappin and Leass, 2.2)."""
    if token.lower_ != "it":
        return False
    rest = token.doc.text[token.idx + len(token.text) :]
    following = token.nbor().lower_ if token.i + 1 < len(token.doc) else ""
    return token.dep_ == "expl" or following in LEXICON["weather"] or bool(_EXPLETIVE.match(rest))


def outward_pronouns(doc: Doc) -> Iterator[Token]:
    """Third-person pronouns that refer to something outside the text."""
    candidates = list(mentions(doc))
    for token in doc:
        form = PRONOUNS.get(token.lower_)
        following = doc[token.i + 1] if token.i + 1 < len(doc) else None
        named = following is not None and token.text.istitle() and following.pos_ == "PROPN" and token.dep_ != "poss"
        if form is None or token.text == "IT" or named or is_expletive(token):
            continue
        own = _own_subject(token)
        kinds = FITS[form] | ({"person"} if form == "they" else set())  # "a tenant … their rent"
        fitting = [m for m in candidates if m.kind in kinds and not m.start <= token.idx < m.end and m.at not in own]
        if any(m.start < token.idx for m in fitting) or any(m.start > token.idx for m in _ahead(token, fitting)):
            continue
        yield token


def _own_subject(token: Token) -> set[int]:
    """Subjects of the verb that a pronoun is the object of: "it protects it" is about two things."""
    if token.lower_ in POSSESSIVE or token.dep_ in SUBJECTS:
        return set()
    verb = token.head
    while verb.dep_ in ("prep", "agent", "pcomp") and verb.head != verb:
        verb = verb.head
    return {c.i for c in verb.children if c.dep_ in SUBJECTS}


def _ahead(token: Token, fitting: list[Mention]) -> list[Mention]:
    """Cataphora, as in "When he was twenty, Newton left": the subject of the main clause after the pronoun's clause."""
    top = root(token.doc)
    clause = [a for a in token.ancestors if a.dep_ in ("advcl", "prep", "pcomp") and a.head == top]
    if token.head == top or not clause:
        return []
    return [m for m in fitting if m.subject and (m.definite or m.kind in ("people", "things"))]


def mentions(doc: Doc) -> Iterator[Mention]:
    """Noun phrases with "of …" but without relative clauses; coordinated ones also as one mention of kind "many"."""
    for chunk in doc.noun_chunks:
        head = chunk.root
        if head.pos_ == "PRON" or head.lower_ in ("which", "who", "that"):
            continue
        start, end = _trim(chunk.start, chunk.end, doc)
        if start >= end:
            continue
        of = next((c for c in head.children if c.lower_ == "of" and c.i == end), None)
        if of is not None:
            last = of.right_edge.i + 1
            if last - end <= 6 and not any(t.is_punct or t.dep_ == "relcl" for t in doc[end:last]):
                end = last
        yield _mention(doc, start, end, head, _kind(doc, start, end, head))
        for owner in (t for t in doc[start:end] if t.dep_ == "poss" and t.pos_ in ("PROPN", "NOUN")):
            first = owner.left_edge.i
            if not any(t.dep_ == "poss" for t in owner.children):
                yield _mention(doc, first, owner.i + 1, owner, _kind(doc, first, owner.i + 1, owner))
        members = [head, *head.conjuncts] if head.dep_ != "conj" else []
        if len(members) > 1 and head.i == min(m.i for m in members):
            last = max(m.i for m in members) + 1
            if last - start <= 12 and any(t.lower_ == "and" for t in doc[start:last]):
                yield _mention(doc, start, last, head, "many")


def _trim(start: int, end: int, doc: Doc) -> tuple[int, int]:
    while start < end and (doc[start].is_punct or doc[start].dep_ in ("cc", "preconj")):
        start += 1
    while (
        start < end - 1
        and doc[start + 1].pos_ in ("PROPN", "NUM")
        and (doc[start].is_digit or doc[start].lower_ in LEXICON["months"])
    ):
        start += 1  # "15 August 1971 Richard Nixon"
    while end > start and doc[end - 1].is_punct:
        end -= 1
    return start, end


def _mention(doc: Doc, start: int, end: int, head: Token, kind: Kind) -> Mention:
    span = doc[start:end]
    subject = head.dep_ in SUBJECTS and head.head == root(doc)
    left_out = (c for c in head.children if c.dep_ in ("prep", "relcl", "acl") and c.left_edge.i == end)
    whole = head.pos_ == "PROPN" or kind == "many" or not any(left_out)
    definite = head.pos_ == "PROPN" or span[0].lower_ == "the" or span[0].dep_ == "poss"
    text = span.text
    if start == 0 and text[:1].isupper() and span[0].text[1:].islower() and span[0].pos_ != "PROPN":
        text = lower_initial(text)
    return Mention(text, span.start_char, span.end_char, head.lower_, kind, subject, definite, head.dep_, head.i, whole)


def _kind(doc: Doc, start: int, end: int, head: Token) -> Kind:
    words = {t.lower_ for t in doc[start : head.i + 1]}
    male, female, persons = LEXICON["male"], LEXICON["female"], LEXICON["persons"]
    if head.tag_ in ("NNS", "NNPS") or head.lower_ in ("people", "police", "children"):
        return "people" if head.lower_.removesuffix("s") in persons | {"people", "children"} else "things"
    if head.pos_ == "PROPN":
        names = {doc[start].lower_, doc[min(start + 1, end - 1)].lower_ if doc[start].pos_ != "PROPN" else ""}
        titled = bool(words & LEXICON["titles"])
        if (doc[start].pos_ in ("DET", "PRON") and not titled) or any(c.lower_ == "of" for c in head.children):
            return "thing"
        other: Kind = "person" if titled else "name"
    else:
        names, other = {head.lower_}, "person" if head.lower_ in persons else "thing"
    return "he" if names & male else "she" if names & female else other
