"""What forbids that "A and B" is told of A alone: a word that takes them as one, turns them round, or only mentions
them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attribution.segmenters.syntax.drafts import SUBJECTS
from attribution.segmenters.syntax.grammar import VERBAL, denied, negated, set_off

if TYPE_CHECKING:
    from spacy.tokens import Token

JOINING = {"and", ",", ";", "but", "as"}  # "as" of "as well as"
# "not A and B", "more than A and B", "between A and B", "a mix of A and B" say nothing of A alone
CLOSED = {
    "without", "than", "between", "among", "amongst", "versus", "unless", "if", "whether", "as", "like", "including",
    "mix", "mixture", "combination", "balance", "relationship", "difference", "differences", "interaction", "range",
    "variety", "set", "series", "number", "majority", "union", "marriage", "interplay", "intersection", "link",
    "rather", "instead", "except", "excluding", "regardless", "total", "average", "sum", "collaboration", "ratio",
    "comparison", "distinction", "correlation", "association", "connection", "both", "either", "neither", "such",
    "integration", "field", "department", "ministry", "list", "fields", "separation", "similarities", "similarity",
    "gap", "trade",
}  # fmt: skip
COLLECTIVE = {
    "combine", "compare", "differ", "meet", "marry", "mix", "merge", "connect", "link", "balance", "collaborate",
    "vary", "distinguish", "range", "divide", "consist", "comprise", "total", "equal", "overlap", "interact",
    "separate", "form", "unite", "coordinate", "agree", "integrate", "alternate", "constitute", "married",
    "combined", "mixed",
}  # fmt: skip
TOGETHER = {"together", "respectively", "each", "another", "their", "they", "themselves", "both", "same", "similar",
            "different", "between", "combined", "two", "collectively", "vice", "related", "jointly"}  # fmt: skip
OPEN_ENDED = {"so", "etc", "etc.", "more", "others", "other", "vice", "beyond", "vice-versa", "then", "forth", "on",
              "again", "there", "over", "when", "where", "how", "why", "up", "down", "out"}  # fmt: skip
POSSIBLE = {"may", "can", "could", "might"}
PERMITTING = {"allow", "enable", "enabl", "permit", "let"}
# "a variety of tools, such as A": A stands for the whole of it
QUANTITIES = {"variety", "range", "number", "series", "set", "host", "lot", "array", "types", "type", "kinds", "forms",
              "wealth", "multitude"}  # fmt: skip


def stem(token: Token) -> str:
    """Enough of a lemma to look a verb up."""
    word: str = token.lower_
    for end, instead in (("ies", "y"), ("ied", "y"), ("ing", ""), ("ed", ""), ("es", ""), ("s", "")):
        if word.endswith(end) and len(word) > len(end) + 2:
            return word[: -len(end)] + instead
    return word


def collective(verb: Token) -> bool:
    return bool({stem(verb), stem(verb) + "e", verb.lower_} & COLLECTIVE)


def joined_by_and(group: list[Token]) -> bool:
    words = {c.lower_ for m in group for c in m.children if c.dep_ == "cc"}
    return bool(words & {"and", "as", "but"}) and bool(words <= JOINING)


def joined_by_or(group: list[Token]) -> bool:
    return {c.lower_ for m in group for c in m.children if c.dep_ == "cc"} == {"or"}


def free(head: Token) -> bool:
    """Whether "A or B" says that each is possible: examples, and what one may or can (free choice, Kamp 1973)."""
    above = head
    while above.head != above and above.pos_ not in VERBAL:
        above = above.head
        if example(above):
            return True
    below = None
    while True:
        if any(c.lower_ in POSSIBLE for c in above.children if c.dep_ == "aux") or (
            below and stem(above) in PERMITTING
        ):
            return above.dep_ in {"ROOT", "conj", "relcl", "ccomp"}
        purpose = above.dep_ == "advcl" and any(c.lower_ == "to" and c.dep_ == "aux" for c in above.children)
        if above.head == above or not (purpose or above.dep_ in {"xcomp", "ccomp", "pcomp", "conj", "prep", "csubj"}):
            return False
        below, above = above, above.head


def example(preposition: Token) -> bool:
    """Whether it gives examples of the noun before it: "such as", "including", and "like" after a plural."""
    noun = preposition.head
    if preposition.dep_ != "prep" or noun.pos_ not in {"NOUN", "PROPN"} or preposition.i < noun.i:
        return False
    such = preposition.lower_ == "as" and any(c.lower_ == "such" for c in preposition.children)
    return such or preposition.lower_ == "including" or (preposition.lower_ == "like" and noun.tag_ == "NNS")


def whole(noun: Token) -> Token:
    """ "a variety of tools" for "tools": what holds of the ones holds of the other."""
    while noun.dep_ == "pobj" and noun.head.lower_ == "of" and noun.head.head.lower_ in QUANTITIES:
        noun = noun.head.head
    return noun


def aside(token: Token, inside: set[int]) -> bool:
    """What restricts a noun or sets a purpose is no statement of its own, unless it was made one."""
    if token.dep_ == "relcl":
        pronouns = [c.i for c in token.subtree if c.tag_ in {"WP", "WDT", "WRB", "WP$"}]
        restricts = token.i in inside and (not pronouns or pronouns[0] in inside)
        return restricts and any(t.dep_ in SUBJECTS for t in (token.head, *token.head.ancestors))
    purpose = any(c.lower_ == "to" and c.dep_ == "aux" for c in token.children)
    trailing = (
        token.tag_ == "VBG"
        and set_off(token)
        and token.head.tag_ != "VBG"
        and not any(c.dep_ == "mark" for c in token.children)
    )
    beside = token.i > token.head.i and (purpose or trailing)
    return token.dep_ == "advcl" and token.head.i in inside and not beside


def closed(head: Token, inside: set[int]) -> bool:
    """Whether a word above the coordination takes it as one, turns it round, or only mentions it."""
    above = head
    while above.head != above and above.head.i in inside:
        above = above.head
        if example(above):
            above = whole(above.head)  # and what stands above the noun counts
            continue
        if above.lower_ in CLOSED and not role(above):
            return True
        if above.pos_ in VERBAL:
            if collective(above):
                return True
            break
    return (
        any(aside(t, inside) for t in (head, *head.ancestors))
        or denied(head)
        or (negated(head) and head.pos_ not in VERBAL)
    )


def role(preposition: Token) -> bool:
    """ "known as A and B": what somebody or something is or does, no comparison."""
    before = preposition.doc[max(0, preposition.i - 8) : preposition.i]
    compared = any(t.lower_ in {"as", "same", "such", "so", "well", "far", "long"} for t in before)
    return (
        preposition.lower_ == "as" and preposition.dep_ == "prep" and preposition.head.pos_ == "VERB" and not compared
    )


def core(head: Token, inside: set[int]) -> bool:
    """Whether it belongs to what the clause says, not to a clause, quality or example beside that."""
    for token in (head, *head.ancestors):
        if token.i not in inside or token.head.i not in inside:
            break
        if token.dep_ in {"advcl", "relcl", "acl", "amod"} or example(token):
            return False
    return True


def setting(head: Token, inside: set[int]) -> bool:
    """Whether it belongs to the circumstances of what is done: "makes plans with A and B", "in A and B"."""
    return any(
        t.dep_ == "prep"
        and t.head.pos_ in VERBAL
        and t.i in inside
        and (t.i < t.head.i or any(c.dep_ in {"dobj", "attr"} for c in t.head.children))
        for t in (head, *head.ancestors)
    )


def fronted(head: Token, inside: set[int]) -> bool:
    """Whether it stands in a phrase before the subject: "By reading and writing, they …" does not say by which."""
    for token in (head, *head.ancestors):
        if token.head.i not in inside or token.head == token:
            return False
        if token.dep_ in {"prep", "advcl"} and token.head.pos_ in VERBAL and token.i < token.head.i:
            subject = next((c for c in token.head.children if c.dep_ in SUBJECTS), None)
            if subject is not None and token.i < subject.i:
                return True
    return False
