"""What words refer to: pronouns whose antecedent is not in their own sentence, and the mentions that could be one.

By rules on the parse: a light form of the salience filters of Lappin and Leass 1994 (pleonastic pronouns, section 2.2;
agreement and grammatical role, sections 2.1 and 2.4), made to stay silent where it is not sure.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

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
# what may stand behind a pronoun; "name" is a proper noun of which no more is known
FITS: dict[str, frozenset[str]] = {
    "he": frozenset(("he", "person", "name")),
    "she": frozenset(("she", "person", "name")),
    "it": frozenset(("thing", "name")),
    "they": frozenset(("people", "things", "many")),
}
_TITLES = frozenset("mr sir king president emperor prince pope lord mrs ms miss queen empress princess lady dr".split())
_HE = frozenset(
    "mr sir king emperor prince pope lord man boy father son brother husband actor albert alexander alfred"
    " andrew anthony"
    " arthur benjamin bernard bill bob carl charles christian christopher daniel david donald edward elon eric ernest"
    " ferdinand francis frank franklin franz frederick friedrich galileo george gregor gustave hans harry henry herbert"
    " hugo isaac jack jacob jacques james jean jeff jimmy john johann john joseph karl kevin leo leonardo louis ludwig"
    " mark martin matthew max michael napoleon neil nelson nicolas nicholas niels nikola oliver oscar otto pablo"
    " patrick"
    " paul peter philip pierre ralph rembrandt richard robert roger ronald samuel sigmund simon socrates stephen steve"
    " steven thomas tim tom urbain victor vincent vladimir walter werner william winston wolfgang".split()
)
_SHE = frozenset(
    "mrs ms miss queen empress princess lady woman girl mother daughter sister wife actress ada agatha alice"
    " amelia angela"
    " anna anne barbara beatrice betty catherine charlotte clara cleopatra diana dorothy eleanor elizabeth ella"
    " emily emma"
    " esther eva florence frida grace greta hannah helen hillary indira isabella jane janet jennifer joan judith julia"
    " kamala katherine laura linda lise maria margaret marie marilyn marion martha mary michelle nancy patricia rachel"
    " rebecca rosa rosalind ruth sally sarah serena simone sofia sophia susan sylvia valentina"
    " victoria virginia".split()
)
_PERSON = frozenset(
    "human adult applicant buyer candidate caregiver client clinician consumer customer employee employer individual"
    " learner"
    " member owner parent person seller suspect defendant victim employee citizen researcher trainee worker"
    " artist author actor architect astronomer biologist chemist child composer designer director doctor economist"
    " engineer explorer founder governor historian inventor judge king lawyer leader mathematician minister mother"
    " musician novelist nurse officer painter patient philosopher physician physicist poet politician president"
    " psychologist scientist singer sociologist student surgeon teacher tenant user winner worker"
    " writer woman man".split()
)
_MONTHS = frozenset("january february march april may june july august september october november december".split())
_WEATHER = frozenset("rained rains rain snowed snows snow hailed hails freezes thunders drizzles".split())
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
    """A noun phrase of a sentence, in characters of that sentence's text; `head` is its main noun, small letters.

    `text` is as it would stand within a sentence: "the tower" also where it opens one.
    """

    text: str
    start: int
    end: int
    head: str
    kind: Kind
    subject: bool  # of the main clause
    definite: bool  # a name, or "the …"
    role: str  # spaCy's dependency label
    at: int  # index of the head among the sentence's tokens
    whole: bool  # nothing that says which one is left out ("people | with little money", "the method | that failed")


def root(doc: Doc) -> Token:
    """The main verb (or noun) of the first sentence."""
    return next(iter(doc.sents)).root


def is_expletive(token: Token) -> bool:
    """An "it" that refers to nothing: the weather, or a clause that follows (Lappin and Leass, 2.2)."""
    if token.lower_ != "it":
        return False
    rest = token.doc.text[token.idx + len(token.text) :]
    following = token.nbor().lower_ if token.i + 1 < len(token.doc) else ""
    return token.dep_ == "expl" or following in _WEATHER or bool(_EXPLETIVE.match(rest))


def outward(doc: Doc) -> Iterator[Token]:
    """Third person pronouns that refer to something outside of the text."""
    found = list(mentions(doc))
    for token in doc:
        form = PRONOUNS.get(token.lower_)
        following = doc[token.i + 1] if token.i + 1 < len(doc) else None
        named = following is not None and token.text.istitle() and following.pos_ == "PROPN" and token.dep_ != "poss"
        if form is None or token.text == "IT" or named or is_expletive(token):
            continue
        own = _own_subject(token)
        kinds = FITS[form] | ({"person"} if form == "they" else set())  # "a tenant … their rent"
        fitting = [m for m in found if m.kind in kinds and not m.start <= token.idx < m.end and m.at not in own]
        if any(m.start < token.idx for m in fitting) or any(m.start > token.idx for m in _ahead(token, fitting)):
            continue
        yield token


def _own_subject(token: Token) -> set[int]:
    """Subjects of the verb that a pronoun is the object of: "it protects it" speaks of two things."""
    if token.lower_ in POSSESSIVE or token.dep_ in ("nsubj", "nsubjpass"):
        return set()
    verb = token.head
    while verb.dep_ in ("prep", "agent", "pcomp") and verb.head != verb:
        verb = verb.head
    return {c.i for c in verb.children if c.dep_ in ("nsubj", "nsubjpass")}


def _ahead(token: Token, fitting: list[Mention]) -> list[Mention]:
    """Cataphora: "When he was twenty, Newton left": the subject of a main clause that follows the pronoun's own."""
    top = root(token.doc)
    clause = [a for a in token.ancestors if a.dep_ in ("advcl", "prep", "pcomp") and a.head == top]
    if token.head == top or not clause:
        return []
    return [m for m in fitting if m.subject and (m.definite or m.kind in ("people", "things"))]


def mentions(doc: Doc) -> Iterator[Mention]:
    """Noun phrases without their relative clauses, "of …" included; coordinated ones also as one of kind "many"."""
    for chunk in doc.noun_chunks:
        head = chunk.root
        if head.pos_ == "PRON" or head.lower_ in ("which", "who", "that"):
            continue
        start, end = _without_edges(chunk.start, chunk.end, doc)
        if start >= end:
            continue
        of = next((c for c in head.children if c.lower_ == "of" and c.i == end), None)
        if of is not None:
            last = max(t.i for t in of.subtree) + 1
            if last - end <= 6 and not any(t.is_punct or t.dep_ == "relcl" for t in doc[end:last]):
                end = last
        yield _mention(doc, start, end, head, _kind(doc, start, end, head))
        for owner in (t for t in doc[start:end] if t.dep_ == "poss" and t.pos_ in ("PROPN", "NOUN")):
            first = min(t.i for t in owner.subtree)
            if not any(t.dep_ == "poss" for t in owner.children):
                yield _mention(doc, first, owner.i + 1, owner, _kind(doc, first, owner.i + 1, owner))
        members = [head, *head.conjuncts]
        if len(members) > 1 and head.i == min(m.i for m in members) and head.dep_ != "conj":
            last = max(m.i for m in members) + 1
            if last - start <= 12 and any(t.lower_ == "and" for t in doc[start:last]):
                yield _mention(doc, start, last, head, "many")


def _without_edges(start: int, end: int, doc: Doc) -> tuple[int, int]:
    while start < end and (doc[start].is_punct or doc[start].dep_ in ("cc", "preconj")):
        start += 1
    while (
        start < end - 1
        and doc[start + 1].pos_ in ("PROPN", "NUM")
        and (doc[start].is_digit or doc[start].lower_ in _MONTHS)
    ):
        start += 1  # "15 August 1971 Richard Nixon"
    while end > start and doc[end - 1].is_punct:
        end -= 1
    return start, end


def _mention(doc: Doc, start: int, end: int, head: Token, kind: Kind) -> Mention:
    span = doc[start:end]
    subject = head.dep_ in ("nsubj", "nsubjpass") and head.head == root(doc)
    left_out = (c for c in head.children if c.dep_ in ("prep", "relcl", "acl") and c.left_edge.i == end)
    whole = head.pos_ == "PROPN" or kind == "many" or not any(left_out)
    definite = head.pos_ == "PROPN" or span[0].lower_ == "the" or span[0].dep_ == "poss"
    text = span.text
    if start == 0 and text[:1].isupper() and span[0].text[1:].islower() and span[0].pos_ != "PROPN":
        text = text[0].lower() + text[1:]
    return Mention(text, span.start_char, span.end_char, head.lower_, kind, subject, definite, head.dep_, head.i, whole)


def _kind(doc: Doc, start: int, end: int, head: Token) -> Kind:
    words = {t.lower_ for t in doc[start : head.i + 1]}
    if head.tag_ in ("NNS", "NNPS") or head.lower_ in ("people", "police", "children"):
        return "people" if head.lower_.removesuffix("s") in _PERSON | {"people", "children"} else "things"
    if head.pos_ == "PROPN":
        first = {doc[start].lower_, doc[min(start + 1, end - 1)].lower_ if doc[start].pos_ != "PROPN" else ""}
        if doc[start].pos_ in ("DET", "PRON") and not words & _TITLES or any(c.lower_ == "of" for c in head.children):
            return "thing"
        if first & _HE:
            return "he"
        return "she" if first & _SHE else "person" if words & _TITLES else "name"
    if head.lower_ in _HE:
        return "he"
    if head.lower_ in _SHE:
        return "she"
    return "person" if head.lower_ in _PERSON else "thing"
