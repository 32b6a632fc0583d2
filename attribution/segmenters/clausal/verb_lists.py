"""The pieces of "sings and dances": each verb with the auxiliaries and objects that it shares."""

from __future__ import annotations

from spacy.tokens import Doc, Token

from attribution.segmenters.syntax import LEXICON, tree

OBJECTS = {"dobj", "attr", "ccomp", "xcomp", "oprd", "acomp", "dative"}
JOINS = {"punct", "conj", "cc"}


def shared_words(head: Token, group: list[Token]) -> list[Token]:
    """What the conjuncts of a verb share: the subject, what stands before it, and subordinating conjunctions."""
    subject = tree.subject_of(head)
    own_marks = any(tree.child(m, {"mark"}) is not None for m in group[1:])
    shared = [c for c in head.children if c.dep_ == "mark" and not own_marks]
    if any(tree.child(m, tree.SUBJECTS) is not None for m in group[1:]):
        return [t for c in shared for t in c.subtree]
    if subject is not None:
        shared += [c for c in head.children if c.i <= subject.i]
        shared += [c for c in head.lefts if c.text in {",", ";"}]
    if _has_clausal_subject(head):  # "giving them separately helps"
        shared += [c for c in head.lefts if c.dep_ == "advmod"]
    return [t for c in shared for t in c.subtree]


def verb_pieces(head: Token, group: list[Token]) -> list[list[int]]:
    """For each conjunct its token indices, with the auxiliaries it needs; empty where that is unsure."""
    subjects = [tree.child(m, tree.SUBJECTS) is not None for m in group]
    if any(subjects[1:]) and not (all(subjects) and head.dep_ == "ccomp"):
        return []
    shared = {t.i for t in shared_words(head, group)}
    deps = {c.dep_ for c in head.children}
    if any(c.dep_ == "ccomp" and c.i in shared for c in head.children):
        return []  # "…, she said and left"
    it = any(c.lower_ == "it" and c.i in shared for c in head.children)
    if it and deps & {"acomp", "attr"} and deps & {"ccomp", "xcomp"}:
        return []  # "It is clear that prices rise and should be watched": prices should
    trailing = [c for c in head.children if c.i > group[-1].i and c.dep_ not in JOINS]
    conditions = [c for m in group for c in m.rights if c.dep_ == "advcl" and _is_marked(c)]
    if any(not _is_conditional(c) or c.i < group[-1].i for c in conditions):
        return []
    if any(tree.child(m, {"auxpass"}) is not None for m in group[1:]) and _has_clausal_subject(head):
        return []  # "that climbing is wrong and is encouraged to ask": not the climbing
    helping = [c for c in head.children if c.dep_ in tree.AUXILIARIES]
    pieces: list[list[int]] = []
    for member in group:
        tokens = {t.i for t in tree.own_words(member)} - shared - {t.i for c in trailing for t in c.subtree}
        tokens -= {c.i for c in member.children if c.text in {".", "!"}}
        if member != head and not any(subjects[1:]):
            if not _shares_auxiliaries(member, head, helping):
                return []
            if _is_untensed(member, head) and tree.child(member, tree.AUXILIARIES) is None:
                tokens |= {a.i for a in helping}
        pieces.append(sorted(tokens))
    if any(_is_unfinished(head.doc, piece) for piece in pieces):
        return []
    for n, member in enumerate(group[:-1]):
        if pieces[n][-1] == member.i and conditions:
            return []  # "rest and take naps when the baby sleeps"
        following = _complements(group[n + 1 :])
        if pieces[n][-1] == member.i and any(c.dep_ in {*OBJECTS, "prep", "agent"} for c in following):
            if not any(c.dep_ in OBJECTS for c in following):
                return []
            pieces[n] += [t.i for c in following for t in c.subtree]  # "wrote and directed films"
    for condition in conditions:  # "… and closes if it rains": the other holds in that case as well
        for piece in pieces[:-1]:
            piece += tree.with_comma(condition)
    for clause in trailing:  # said of the last; the others are true without it
        for piece in pieces if clause.dep_ in OBJECTS else pieces[-1:]:
            piece += tree.with_comma(clause)
    return pieces


def _is_unfinished(doc: Doc, piece: list[int]) -> bool:
    """ "buy equipment, real estate": a list whose end is not in the piece."""
    for token in (doc[i] for i in piece):
        listed = token.dep_ == "conj" or (token.dep_ == "appos" and tree.child(token, {"det"}) is None)
        ended = any(doc[k].dep_ == "cc" for k in piece if k > token.head.i)
        if listed and not ended and token.head.i in piece and doc[tree.first(token) - 1].text == ",":
            return True
    return False


def _is_marked(clause: Token) -> bool:
    return any((c.dep_ == "mark" and c.lower_ != "for") or c.tag_ == "WRB" for c in clause.children)


def _is_conditional(clause: Token) -> bool:
    return any(c.lower_ in LEXICON["conditional"] and c.i == tree.first(clause) for c in clause.children)


def _has_clausal_subject(verb: Token) -> bool:
    subject = tree.subject_of(verb)
    return subject is not None and subject.dep_ in {"csubj", "csubjpass"}


def _shares_auxiliaries(member: Token, head: Token, helping: list[Token]) -> bool:
    """Whether the auxiliaries of the first verb go with the other one, if it has none of its own."""
    if tree.child(member, tree.AUXILIARIES) is not None:
        return True
    if tree.is_negated(head):
        return False
    if _is_untensed(member, head):
        governed = head.dep_ in {"xcomp", "pcomp", "ccomp", "advcl", "acl", "relcl"} or head.tag_ == "VB"
        return member.tag_ in {head.tag_, "VBP"} and (bool(helping) or governed)
    if helping:
        past = member.tag_ == "VBD" and all(a.lower_ in {"was", "were"} for a in helping)
        return past or member.tag_ in {"VBZ", "VBP"}
    return member.tag_ == head.tag_ or not {member.tag_, head.tag_} & {"VB", "VBN", "VBG"}


def _is_untensed(member: Token, head: Token) -> bool:
    """Whether the verb has no tense of its own; after an infinitive, what looks like a plural present has none."""
    return member.tag_ in {"VB", "VBN", "VBG"} or (member.tag_ == "VBP" and head.tag_ == "VB")


def _complements(verbs: list[Token]) -> list[Token]:
    """What follows the first of these verbs that anything follows."""
    return next((right for v in verbs if (right := [c for c in v.rights if c.dep_ not in JOINS])), [])
