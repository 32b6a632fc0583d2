"""The pieces of "the nature and size of a town": each noun with the article, adjectives and phrases that it shares."""

from __future__ import annotations

from itertools import pairwise

from spacy.tokens import Token

from attribution.segmenters.syntax import LEXICON, tree
from attribution.segmenters.syntax.scope import gives_examples, is_collective

DETERMINERS = {"det", "poss"}
QUANTIFIERS = {*DETERMINERS, "nummod"}
FURTHER = {"even", "also", "finally"}
FOLLOWING = {"prep", "acl", "amod", "relcl"}


def _indices(tokens: list[Token]) -> set[int]:
    """The indices of all that depends on these tokens."""
    return {t.i for token in tokens for t in token.subtree}


def noun_pieces(head: Token, group: list[Token]) -> list[list[int]]:
    """For each conjunct its token indices, with the determiner and "of …" it shares; empty where that is unsure."""
    if not _are_alike(head, group) or _is_one_name(head, group):
        return []
    if head.dep_ in tree.SUBJECTS and not _applies_to_each(head):
        return []
    if " ".join(conjunct.lower_ for conjunct in group) in LEXICON["fixed_pairs"]:
        return []
    shared = [c for c in head.lefts if c.dep_ in DETERMINERS and c.lower_ != "both"]
    if any(tree.has_determiner(m) for m in group[1:]):
        shared = []  # each has its own, or needs none
    adjectives = [c for c in head.lefts if c.dep_ == "amod"]
    adjectives = [c for c in adjectives if c.lower_ in LEXICON["shared_adjectives"] or c.tag_ in {"VBN", "JJR"}]
    end = group[-1]
    pair = len(group) == 2 and not any(end.lefts)
    bare = tree.child(head, {"amod"}) is not None and not shared  # "a test of human will and affirmation of life"
    of = [c for c in end.children if c.lower_ == "of" and c.dep_ == "prep" and pair and not bare]
    after = [c for c in head.children if c.i > end.i and c.dep_ in {"prep", "acl", "relcl"}]
    if len({m.lower_ for m in group}) < len(group):
        after = []  # "mixed groups or groups with one aim"
    pieces = []
    for member in group:
        tokens = {t.i for t in tree.own_words(member)} | _shared_in_pair(member, group)
        clauses = [c for c in member.rights if c.dep_ in {"relcl", "acl", "appos"}]
        if member != head:
            clauses += after
            left = [c for c in member.lefts if c.dep_ not in {"cc", "punct"}]
            deps = {c.dep_ for c in left}
            if not deps & QUANTIFIERS:
                alike = member.tag_ == head.tag_ == "NN"
                names = member.pos_ == head.pos_ == "PROPN"
                tokens |= _indices([c for c in shared if not (left or names) or (alike and c.lower_ != "the")])
            if member.tag_ == head.tag_ and not deps & {*QUANTIFIERS, "amod"}:
                tokens |= _indices(adjectives)
        tokens |= {i for c in clauses for i in tree.with_comma(c)}
        if member != end and not any(c.dep_ == "prep" and c.i < end.i for c in member.children):
            tokens |= _indices(of)
        if member != head:  # "include A, even B, and other C"
            lists = gives_examples(head.head) or tree.lemma(head.head.lower_) == "include"
            tokens -= {c.i for c in member.lefts if c.lower_ in FURTHER or (lists and c.lower_ == "other")}
        pieces.append(sorted(tokens))
    if head.dep_ == "prep" and any(len(piece) < 2 for piece in pieces):
        return []  # "commuting to and from work"
    return pieces


def _shared_in_pair(member: Token, group: list[Token]) -> set[int]:
    """ "the nature and severity of the crime, the …": a pair within a list shares its article and what follows it."""
    if len(group) < 3:
        return set()
    for one, other in pairwise(group):
        if not _adjacent(one, other) or one == group[-2] and any(one.doc[g.i + 1].text == "," for g in group[:-2]):
            continue
        right = [c for c in other.rights if c.dep_ in FOLLOWING]
        if member == other:
            left = [c for c in one.lefts if c.dep_ in DETERMINERS]
            return _indices([*left, *(c for c in one.children if c.dep_ in FOLLOWING and c.i > other.i)])
        if member == one and member != group[-1]:
            return _indices(right)
    return set()


def _adjacent(one: Token, other: Token) -> bool:
    """ "nature and severity": nothing but the conjunction between them."""
    return one.i + 2 == min(t.i for t in tree.own_words(other)) == other.i and one.doc[one.i + 1].dep_ == "cc"


def _are_alike(head: Token, group: list[Token]) -> bool:
    """Whether the conjuncts are of one kind and each is whole, as far as the parse tells."""
    kinds = {{"PROPN": "NOUN", "PRON": "NOUN"}.get(m.pos_, m.pos_) for m in group}
    if len(kinds) > 1 and not (head.dep_ in {"acomp", "amod"} and kinds <= {"ADJ", "VERB"}):
        return False
    if kinds & {"NUM", "DET"} or any(m.pos_ == "PRON" for m in group) or ("ADV" in kinds) != (head.dep_ == "advmod"):
        return False
    if any(c.isdigit() for m in group for c in m.text) and not all(m.like_num for m in group):
        return False  # "M1, M2, and M4 leukemias"
    if all(len(m.text) == 1 for m in group):
        return False  # "channels A and B"
    doc, starts = head.doc, [min(t.i for t in tree.own_words(m)) for m in group]
    before = doc[tree.first(head) - 1].lower_ if tree.first(head) else ""
    if head.dep_ not in tree.SUBJECTS and before == ",":
        return False  # more likely the middle of a longer list
    counted = all(any(c.dep_ in QUANTIFIERS for c in m.lefts) for m in group)
    if doc[starts[0]].pos_ == "NUM" and not counted or before in {"between", "-", "/"}:
        return False
    if any(doc[i - 1].text in {"-", "/"} for i in starts if i) or any(doc[m.i + 1].text == "-" for m in group[:-1]):
        return False
    if "NOUN" in kinds and len(group) == 2 and doc[starts[1] - 1].dep_ == "cc" and doc[starts[1] - 2].text == ",":
        return False  # "A, and B" is the end of a longer list
    superlative = [any(c.tag_ == "JJS" for c in m.children) for m in group]
    if head.dep_ == "pobj" and any(superlative) and not superlative[0]:
        return False  # "a writer in English and the greatest dramatist"
    if head.dep_ == "advmod":
        return all(len(tree.own_words(m)) <= 2 for m in group)
    if head.dep_ == "amod":
        counted = head.head.tag_ in tree.PLURALS and tree.child(head.head, {"nummod"}) is not None
        return not (counted or "NOUN" in kinds or any(m.tag_ in {"JJR", "JJS", "VBG"} for m in group))
    return True


def _is_one_name(head: Token, group: list[Token]) -> bool:
    """ "the Department of Health and Labor", "student and worker protests", "the use of trial and error",
    "a less prominent fill and key light"."""
    graded = any(c.dep_ == "amod" and tree.child(c, {"advmod"}) is not None for c in head.children)
    second = group[1]
    if graded and len(group) == 2 and tree.child(second, DETERMINERS) is None:
        return True
    if head.dep_ == "pobj" and head.head.lower_ in {"of", "for"} and head.head.head.pos_ == head.pos_ == "PROPN":
        return True
    if head.dep_ == "dobj" and head.head.dep_ == "pcomp" and head.head.head.lower_ == "of" and head.head.tag_ == "VBG":
        return True
    compounds = [c for c in second.lefts if c.dep_ in {"compound", "nmod"}]
    beside = (
        len(group) == 2 and head.i + 2 == min(t.i for t in tree.own_words(second)) and head.doc[head.i + 1].dep_ == "cc"
    )
    alike = head.tag_ == "NN" and bool(compounds) and compounds[0].tag_ == "NN"
    bare = second.tag_ == "NN" and tree.child(head, {*QUANTIFIERS, "amod"}) is None
    return beside and alike and not bare


def _applies_to_each(subject: Token) -> bool:
    """Whether what the verb says of "A and B" holds of each."""
    verb = subject.head
    attribute = tree.child(verb, {"attr"})
    if verb.pos_ not in tree.VERBAL or is_collective(verb) or tree.is_negated(verb):
        return False
    together = {t.lower_ for t in verb.subtree} & LEXICON["together"]
    return not together and (attribute is None or attribute.tag_ not in tree.PLURALS)
