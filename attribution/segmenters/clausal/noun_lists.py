"""The pieces of "the nature and size of a town": each noun with the article, adjectives and phrases that it shares."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attribution.segmenters.syntax.drafts import SUBJECTS
from attribution.segmenters.syntax.grammar import VERBAL, first, negated, own, with_comma
from attribution.segmenters.syntax.scope import TOGETHER, collective, example, stem

if TYPE_CHECKING:
    from spacy.tokens import Token

# adjectives that a list of plurals shares: "various tools and methods"
SHARED = {"various", "different", "diverse", "several", "multiple", "numerous", "many", "some", "certain", "other",
          "new", "existing", "specific", "relevant", "additional",
          "high", "low", "poor", "potential", "possible", "negative", "positive", "adverse"}  # fmt: skip
FURTHER = {"even", "also", "finally"}
FOLLOWING = {"prep", "acl", "amod", "relcl"}
# two words for one thing: half of it would be another claim
PHRASES = {("black", "white"), ("salt", "pepper"), ("trial", "error"), ("supply", "demand"), ("law", "order"),
           ("research", "development"), ("rock", "roll"), ("pros", "cons"), ("wear", "tear"), ("bread", "butter"),
           ("food", "drink"), ("profit", "loss"), ("cause", "effect"), ("mergers", "acquisitions")}  # fmt: skip


def nouns(head: Token, group: list[Token]) -> list[list[int]]:
    """Token numbers of each conjunct with the determiner and "of …" it shares; empty where not sure."""
    if not _alike(head, group) or _one_name(head, group) or (head.dep_ in SUBJECTS and not _each(head.head)):
        return []
    if tuple(member.lower_ for member in group) in PHRASES:
        return []
    shared = [c for c in head.children if c.dep_ in {"det", "poss"} and c.i < head.i and c.lower_ != "both"]
    if any(c.dep_ in {"det", "poss"} and c.i < m.i for m in group[1:] for c in m.children):
        shared = []  # each has its own, or needs none
    adjectives = [c for c in head.children if c.dep_ == "amod" and c.i < head.i]
    adjectives = [c for c in adjectives if c.lower_ in SHARED or c.tag_ in {"VBN", "JJR"}]
    end = group[-1]
    pair = len(group) == 2 and not any(c.i < end.i for c in end.children)
    bare = any(c.dep_ == "amod" for c in head.children) and not shared  # "a test of human will and affirmation of life"
    of = [c for c in end.children if c.lower_ == "of" and c.dep_ == "prep" and pair and not bare]
    after = [c for c in head.children if c.i > end.i and c.dep_ in {"prep", "acl", "relcl"}]
    if len({m.lower_ for m in group}) < len(group):
        after = []  # "mixed groups or groups with one aim"
    pieces = []
    for member in group:
        tokens = {t.i for t in own(member)} | beside(member, group)
        asides = [c for c in member.children if c.dep_ in {"relcl", "acl", "appos"} and c.i > member.i]
        tokens |= {i for c in asides for i in with_comma(c)}
        if member != head:
            left = [c for c in member.children if c.i < member.i and c.dep_ not in {"cc", "punct"}]
            if not any(c.dep_ in {"det", "poss", "nummod"} for c in left):
                alike = member.tag_ == head.tag_ == "NN"
                named = member.pos_ == head.pos_ == "PROPN"
                tokens |= {
                    t.i for c in shared if (not left and not named) or (alike and c.lower_ != "the") for t in c.subtree
                }
            if member.tag_ == head.tag_ and not any(c.dep_ in {"det", "poss", "nummod", "amod"} for c in left):
                tokens |= {t.i for c in adjectives for t in c.subtree}
            tokens |= {i for c in after for i in with_comma(c)}
        if member != end and of and not any(c.dep_ == "prep" and c.i < end.i for c in member.children):
            tokens |= {t.i for c in of for t in c.subtree}
        if member != head:  # "include A, even B, and other C"
            left_out = FURTHER | ({"other"} if example(head.head) or stem(head.head) == "includ" else set())
            tokens -= {c.i for c in member.children if c.lower_ in left_out and c.i < member.i}
        pieces.append(sorted(tokens))
    if head.dep_ == "prep" and any(len(piece) < 2 for piece in pieces):
        return []  # "commuting to and from work"
    return pieces


def beside(member: Token, group: list[Token]) -> set[int]:
    """ "the nature and severity of the crime, the …": a pair within a list shares its article and what follows it."""
    place = group.index(member)
    if len(group) < 3:
        return set()
    for one, other in zip(group, group[1:], strict=False):
        joined = one.i + 2 == first_own(other) == other.i and one.doc[one.i + 1].dep_ == "cc"
        if not joined or one == group[-2] and any(one.doc[g.i + 1].text == "," for g in group[:-2]):
            continue
        if member == other:
            left = [c for c in one.children if c.dep_ in {"det", "poss"} and c.i < one.i]
            right = [c for c in one.children if c.dep_ in FOLLOWING and c.i > other.i]
            return {t.i for c in (*left, *right) for t in c.subtree}
        if member == one and place + 1 < len(group):
            right = [c for c in other.children if c.i > other.i and c.dep_ in FOLLOWING]
            return {t.i for c in right for t in c.subtree}
    return set()


def _alike(head: Token, group: list[Token]) -> bool:
    """Whether the conjuncts are of one kind and each is whole, as far as the parse tells."""
    kinds = {"PROPN": "NOUN", "PRON": "NOUN"}
    kind = {kinds.get(m.pos_, m.pos_) for m in group}
    if (len(kind) > 1 and not (head.dep_ in {"acomp", "amod"} and kind <= {"ADJ", "VERB"})) or kind & {"NUM", "DET"}:
        return False
    if any(c.isdigit() for m in group for c in m.text) and not all(m.like_num for m in group):
        return False  # "M1, M2, and M4 leukemias"
    if all(len(m.text) == 1 for m in group):
        return False  # "channels A and B"
    if any(m.pos_ == "PRON" for m in group) or ("ADV" in kind) != (head.dep_ == "advmod"):
        return False
    doc, starts = head.doc, [min(t.i for t in own(m)) for m in group]
    before = doc[first(head) - 1] if first(head) else None
    if head.dep_ not in SUBJECTS and before is not None and before.text == ",":
        return False  # more likely the middle of a longer list
    counted = all(any(c.dep_ in {"det", "poss", "nummod"} and c.i < m.i for c in m.children) for m in group)
    if doc[starts[0]].pos_ == "NUM" and not counted or (before is not None and before.lower_ in {"between", "-", "/"}):
        return False
    if any(doc[i - 1].text in {"-", "/"} for i in starts if i) or any(doc[m.i + 1].text == "-" for m in group[:-1]):
        return False
    if "NOUN" in kind and len(group) == 2 and doc[starts[1] - 1].dep_ == "cc" and doc[starts[1] - 2].text == ",":
        return False  # "A, and B" is the end of a longer list
    superlative = [any(c.tag_ == "JJS" for c in m.children) for m in group]
    if head.dep_ == "pobj" and any(superlative) and not superlative[0]:
        return False  # "a writer in English and the greatest dramatist"
    if head.dep_ == "advmod" and any(len(own(m)) > 2 for m in group):
        return False
    if head.dep_ == "amod":
        if "NOUN" in kind:
            return False
        counted = head.head.tag_ in {"NNS", "NNPS"} and any(c.dep_ == "nummod" for c in head.head.children)
        return not counted and not any(m.tag_ in {"JJR", "JJS", "VBG"} for m in group)
    return True


def _one_name(head: Token, group: list[Token]) -> bool:
    """ "the Department of Health and Labor", "student and worker protests", "the use of trial and error",
    "a less prominent fill and key light"."""
    graded = any(c.dep_ == "amod" and any(a.dep_ == "advmod" for a in c.children) for c in head.children)
    if graded and len(group) == 2 and not any(c.dep_ in {"det", "poss"} for c in group[1].children):
        return True
    if head.dep_ == "pobj" and head.head.lower_ in {"of", "for"} and head.head.head.pos_ == head.pos_ == "PROPN":
        return True
    if head.dep_ == "dobj" and head.head.dep_ == "pcomp" and head.head.head.lower_ == "of" and head.head.tag_ == "VBG":
        return True
    second = group[1]
    compounds = [c for c in second.children if c.dep_ in {"compound", "nmod"} and c.i < second.i]
    beside = len(group) == 2 and head.i + 2 == first_own(second) and head.doc[head.i + 1].dep_ == "cc"
    alike = head.tag_ == "NN" and bool(compounds) and compounds[0].tag_ == "NN"
    bare = second.tag_ == "NN" and not any(c.dep_ in {"det", "poss", "amod", "nummod"} for c in head.children)
    return beside and alike and not bare


def first_own(member: Token) -> int:
    return int(min(t.i for t in own(member)))


def _each(verb: Token) -> bool:
    """Whether what a verb says of "A and B" it says of each."""
    attribute = next((c for c in verb.children if c.dep_ == "attr"), None)
    several = attribute is not None and attribute.tag_ in {"NNS", "NNPS"}
    together = {t.lower_ for t in verb.subtree} & TOGETHER
    return not (several or together or collective(verb) or negated(verb)) and verb.pos_ in VERBAL
