"""When "A and B" may not be split into A and B: a word above joins, negates, or only mentions them."""

from __future__ import annotations

from spacy.tokens import Token

from attribution.segmenters.syntax import LEXICON, tree

CONJUNCTIONS = {"and", ",", ";", "but", "as"}  # "as" of "as well as"


def is_collective(verb: Token) -> bool:
    """Whether it says something of its arguments together: "A and B combine"."""
    return tree.lemma(verb.lower_) in LEXICON["collective"]


def _joining_words(group: list[Token]) -> set[str]:
    return {c.lower_ for conjunct in group for c in conjunct.children if c.dep_ == "cc"}


def joined_by_and(group: list[Token]) -> bool:
    joins = _joining_words(group)
    return bool(joins & {"and", "as", "but"}) and joins <= CONJUNCTIONS


def joined_by_or(group: list[Token]) -> bool:
    return _joining_words(group) == {"or"}


def has_to(verb: Token) -> bool:
    return any(c.lower_ == "to" and c.dep_ == "aux" for c in verb.children)


def is_free_choice(head: Token) -> bool:
    """Whether "A or B" says that each is possible: among examples, and under "may" or "can" (Kamp 1973)."""
    above = head
    while above.head != above and above.pos_ not in tree.VERBAL:
        above = above.head
        if gives_examples(above):
            return True
    below = None
    while True:
        possible = any(c.lower_ in LEXICON["may_or_can"] for c in above.children if c.dep_ == "aux")
        if possible or (below is not None and tree.lemma(above.lower_) in LEXICON["permitting"]):
            return above.dep_ in {"ROOT", "conj", "relcl", "ccomp"}
        purpose = above.dep_ == "advcl" and has_to(above)
        if above.head == above or not (purpose or above.dep_ in {"xcomp", "ccomp", "pcomp", "conj", "prep", "csubj"}):
            return False
        below, above = above, above.head


def gives_examples(preposition: Token) -> bool:
    """Whether it introduces examples of the noun before it: "such as", "including", and "like" after a plural."""
    noun = preposition.head
    if preposition.dep_ != "prep" or noun.pos_ not in {"NOUN", "PROPN"} or preposition.i < noun.i:
        return False
    such = preposition.lower_ == "as" and any(c.lower_ == "such" for c in preposition.children)
    return such or preposition.lower_ == "including" or (preposition.lower_ == "like" and noun.tag_ == "NNS")


def measured_noun(noun: Token) -> Token:
    """ "a variety of tools" for "tools": what holds of one holds of the other."""
    while noun.dep_ == "pobj" and noun.head.lower_ == "of" and noun.head.head.lower_ in LEXICON["quantities"]:
        noun = noun.head.head
    return noun


def _restricts(token: Token, inside: set[int]) -> bool:
    """Whether it is a clause that restricts a noun or sets a condition, and asserts nothing by itself."""
    if token.dep_ == "relcl":
        pronouns = [c.i for c in token.subtree if c.tag_ in {"WP", "WDT", "WRB", "WP$"}]
        restricts = token.i in inside and (not pronouns or pronouns[0] in inside)
        return restricts and any(t.dep_ in tree.SUBJECTS for t in (token.head, *token.head.ancestors))
    trailing = (
        token.tag_ == "VBG"
        and tree.comma_before(token)
        and token.head.tag_ != "VBG"
        and not any(c.dep_ == "mark" for c in token.children)
    )
    after = token.i > token.head.i and (has_to(token) or trailing)
    return token.dep_ == "advcl" and token.head.i in inside and not after


def is_closed(head: Token, inside: set[int]) -> bool:
    """Whether a word above the coordination forbids splitting it."""
    above = head
    while above.head != above and above.head.i in inside:
        above = above.head
        if gives_examples(above):
            above = measured_noun(above.head)  # what stands above the noun counts
            continue
        if above.lower_ in LEXICON["closed"] and not _is_role(above):
            return True
        if above.pos_ in tree.VERBAL:
            if is_collective(above):
                return True
            break
    return (
        any(_restricts(t, inside) for t in (head, *head.ancestors))
        or tree.in_negative_scope(head)
        or (tree.is_negated(head) and head.pos_ not in tree.VERBAL)
    )


def _is_role(preposition: Token) -> bool:
    """ "known as A and B": a role, not a comparison."""
    if preposition.lower_ != "as" or preposition.dep_ != "prep" or preposition.head.pos_ != "VERB":
        return False
    before = preposition.doc[max(0, preposition.i - 8) : preposition.i]
    return not any(t.lower_ in {"as", "same", "such", "so", "well", "far", "long"} for t in before)


def in_main_clause(head: Token, inside: set[int]) -> bool:
    """Whether it belongs to what the clause says, and not to a clause, adjective or example beside that."""
    for token in (head, *head.ancestors):
        if token.i not in inside or token.head.i not in inside:
            break
        if token.dep_ in {"advcl", "relcl", "acl", "amod"} or gives_examples(token):
            return False
    return True


def in_adjunct(head: Token, inside: set[int]) -> bool:
    """Whether it belongs to the circumstances of an action: "makes plans with A and B", "in A and B"."""
    return any(
        t.dep_ == "prep"
        and t.head.pos_ in tree.VERBAL
        and t.i in inside
        and (t.i < t.head.i or tree.child(t.head, {"dobj", "attr"}) is not None)
        for t in (head, *head.ancestors)
    )


def is_fronted(head: Token, inside: set[int]) -> bool:
    """Whether it stands in a phrase before the subject: "By reading and writing, they …" does not say by which."""
    for token in (head, *head.ancestors):
        if token.head.i not in inside or token.head == token:
            return False
        if token.dep_ in {"prep", "advcl"} and token.head.pos_ in tree.VERBAL and token.i < token.head.i:
            subject = tree.child(token.head, tree.SUBJECTS)
            if subject is not None and token.i < subject.i:
                return True
    return False
