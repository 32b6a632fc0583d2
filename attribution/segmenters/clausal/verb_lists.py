"""The pieces of "sings and dances": each verb with the auxiliaries and objects that it shares."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attribution.segmenters.syntax.drafts import AUXILIARIES, SUBJECTS
from attribution.segmenters.syntax.grammar import first, negated, own, subject_of, with_comma

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

CONDITIONAL = {"if", "unless", "when", "whenever", "once"}
OBJECTS = {"dobj", "attr", "ccomp", "xcomp", "oprd", "acomp", "dative"}


def left(head: Token, group: list[Token]) -> list[Token]:
    """What the conjuncts of a verb share: subject, what stands before it, and markers."""
    subject = subject_of(head)
    marks = any(c.dep_ == "mark" for m in group[1:] for c in m.children)
    marked = [c for c in head.children if c.dep_ == "mark" and not marks]
    if any(c.dep_ in SUBJECTS for m in group[1:] for c in m.children):
        return [t for c in marked for t in c.subtree]
    shared = [*marked, *(c for c in head.children if subject is not None and c.i <= subject.i)]
    # "giving them separately helps"
    shared += [c for c in head.children if clausal(head) and c.dep_ == "advmod" and c.i < head.i and c not in shared]
    shared += [c for c in head.children if c.text in {",", ";"} and subject is not None and c.i < head.i]
    return [t for c in shared for t in c.subtree]


def verbs(head: Token, group: list[Token]) -> list[list[int]]:
    """Token numbers of each conjunct with the auxiliaries it needs; empty where the splitter is not sure."""
    subjects = [any(c.dep_ in SUBJECTS for c in m.children) for m in group]
    if any(subjects[1:]) and not (all(subjects) and head.dep_ == "ccomp"):
        return []
    shared = {t.i for t in left(head, group)}
    if any(c.dep_ == "ccomp" and c.i in shared for c in head.children):
        return []  # "…", she said and left
    if (
        any(c.lower_ == "it" for c in head.children if c.i in shared)
        and any(c.dep_ in {"acomp", "attr"} for c in head.children)
        and any(c.dep_ in {"ccomp", "xcomp"} for c in head.children)
    ):
        return []  # "It is clear that prices rise and should be watched": prices should
    trailing = [c for c in head.children if c.i > group[-1].i and c.dep_ not in {"punct", "conj", "cc"}]
    clauses = [c for m in group for c in m.children if c.dep_ == "advcl" and c.i > m.i]
    marked = [
        c for c in clauses if any((g.dep_ == "mark" and g.lower_ != "for") or g.tag_ == "WRB" for g in c.children)
    ]
    if any(not conditional(c) or c.i < group[-1].i for c in marked):
        return []
    if any(c.dep_ == "auxpass" for m in group[1:] for c in m.children) and clausal(head):
        return []  # "that climbing is wrong and is encouraged to ask": not the climbing
    helping = [c for c in head.children if c.dep_ in AUXILIARIES]
    pieces: list[list[int]] = []
    for member in group:
        tokens = {t.i for t in own(member)} - shared - {t.i for c in trailing for t in c.subtree}
        tokens -= {c.i for c in member.children if c.text in {".", "!"}}
        if member != head and not any(subjects[1:]):
            if not _fits(member, head, helping):
                return []
            if plainly(member, head) and not any(c.dep_ in AUXILIARIES for c in member.children):
                tokens |= {a.i for a in helping}
        pieces.append(sorted(tokens))
    if any(unfinished(head.doc, piece) for piece in pieces):
        return []
    for n, member in enumerate(group[:-1]):
        if pieces[n][-1] == member.i and marked:
            return []  # "rest and take naps when the baby sleeps"
        if pieces[n][-1] == member.i and not _complete(member, group[n + 1 :]):
            right = _objects(group[n + 1 :])
            if not right:
                return []
            pieces[n] += right  # "wrote and directed films"
    for condition in marked:  # "… and closes if it rains": what holds holds if it rains as well
        for piece in pieces[:-1]:
            piece += with_comma(condition)
    for child in trailing:  # said of the last; the others are true without it
        for piece in pieces if child.dep_ in OBJECTS else pieces[-1:]:
            piece += with_comma(child)
    return pieces


def unfinished(doc: Doc, piece: list[int]) -> bool:
    """ "buy equipment, real estate": a list whose end is not in the piece."""
    for i in piece:
        token = doc[i]
        listed = token.dep_ == "conj" or (token.dep_ == "appos" and not any(c.dep_ == "det" for c in token.children))
        ended = any(doc[k].dep_ == "cc" for k in piece if k > token.head.i)
        if listed and not ended and token.head.i in piece and doc[first(token) - 1].text == ",":
            return True
    return False


def conditional(clause: Token) -> bool:
    return any(c.lower_ in CONDITIONAL and c.i == first(clause) for c in clause.children)


def clausal(verb: Token) -> bool:
    subject = subject_of(verb)
    return subject is not None and subject.dep_ in {"csubj", "csubjpass"}


def _fits(member: Token, head: Token, helping: list[Token]) -> bool:
    """Whether the auxiliaries of the first verb, if the other has none, go with it."""
    if any(c.dep_ in AUXILIARIES for c in member.children):
        return True
    if negated(head):
        return False
    if plainly(member, head):
        governed = head.dep_ in {"xcomp", "pcomp", "ccomp", "advcl", "acl", "relcl"} or head.tag_ == "VB"
        return bool((member.tag_ == head.tag_ or member.tag_ == "VBP") and (helping or governed))
    if helping:
        return member.tag_ in {"VBZ", "VBP"} or (
            member.tag_ == "VBD" and all(a.lower_ in {"was", "were"} for a in helping)
        )
    return member.tag_ == head.tag_ or not {member.tag_, head.tag_} & {"VB", "VBN", "VBG"}


def plainly(member: Token, head: Token) -> bool:
    """Whether the verb has no tense of its own; after an infinitive, a plural present is one as well."""
    return member.tag_ in {"VB", "VBN", "VBG"} or (member.tag_ == "VBP" and head.tag_ == "VB")


def _complete(member: Token, others: list[Token]) -> bool:
    """Whether the bare verb says something without what follows the next one."""
    for other in others:
        right = [c for c in other.children if c.i > other.i and c.dep_ not in {"cc", "conj", "punct"}]
        if right:
            return not any(c.dep_ in {*OBJECTS, "prep", "agent"} for c in right)
    return True


def _objects(others: list[Token]) -> list[int]:
    """The objects of the next verb that has some, with all that follows them; none where it has only adjuncts."""
    for member in others:
        right = [c for c in member.children if c.i > member.i and c.dep_ not in {"cc", "conj", "punct"}]
        if right:
            return [t.i for c in right for t in c.subtree] if any(c.dep_ in OBJECTS for c in right) else []
    return []
