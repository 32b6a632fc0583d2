"""Decide when a sentence stays whole.

It does when a word above "and" is collective or negative, when a piece is no statement, and when
the parse is
unreliable.
"""

from __future__ import annotations

from spacy.tokens import Doc, Token

from attribution.segmenters.english import tree
from attribution.segmenters.english.drafts import LEXICON
from attribution.segmenters.english.tree import NOUNS, VERBAL, first
from attribution.text.parse import lemma

CONJUNCTIONS = {"and", ",", ";", "but", "as"}  # "as" of "as well as"


def is_collective(verb: Token) -> bool:
    """Return True for a collective verb, which applies to its arguments together: "A and B
    combine".
    """
    return lemma(verb.lower_) in LEXICON["collective"]


def applies_to_each(subject: Token) -> bool:
    """Return True if what the verb says of "A and B" holds for each."""
    verb = subject.head
    attribute = tree.child(verb, {"attr"})
    if verb.pos_ not in tree.VERBAL or is_collective(verb) or tree.is_negated(verb):
        return False
    together = {t.lower_ for t in verb.subtree} & LEXICON["together"]
    return not together and (attribute is None or attribute.tag_ not in tree.PLURALS)


def _joining_words(group: list[Token]) -> set[str]:
    return {c.lower_ for conjunct in group for c in conjunct.children if c.dep_ == "cc"}


def joined_by_and(group: list[Token]) -> bool:
    joins = _joining_words(group)
    return bool(joins & {"and", "as", "but"}) and joins <= CONJUNCTIONS


def has_to(verb: Token) -> bool:
    return any(c.lower_ == "to" and c.dep_ == "aux" for c in verb.children)


def are_examples(head: Token) -> bool:
    """Return True if the coordination lists examples: "such as A or B" says that A is one, and so
    is B.
    """
    above = head
    while above.head != above and above.pos_ not in tree.VERBAL:
        above = above.head
        if gives_examples(above):
            return True
    return False


def gives_examples(preposition: Token) -> bool:
    """Return True if it introduces examples of the noun before it: "such as", "including", "like"
    after a plural.
    """
    noun = preposition.head
    if preposition.dep_ != "prep" or noun.pos_ not in {"NOUN", "PROPN"} or preposition.i < noun.i:
        return False
    such = preposition.lower_ == "as" and any(c.lower_ == "such" for c in preposition.children)
    return (
        such
        or preposition.lower_ == "including"
        or (preposition.lower_ == "like" and noun.tag_ == "NNS")
    )


def measured_noun(noun: Token) -> Token:
    """Return "variety" for "tools" in "a variety of tools": what is true of one is true of the
    other.
    """
    while (
        noun.dep_ == "pobj"
        and noun.head.lower_ == "of"
        and noun.head.head.lower_ in LEXICON["quantities"]
    ):
        noun = noun.head.head
    return noun


def _restricts(token: Token, inside: set[int]) -> bool:
    """Return True for a clause that restricts a noun or sets a condition, and asserts nothing by
    itself.
    """
    if token.dep_ == "relcl":
        pronouns = [c.i for c in token.subtree if c.tag_ in {"WP", "WDT", "WRB", "WP$"}]
        restricts = token.i in inside and (not pronouns or pronouns[0] in inside)
        the_one = token.head.dep_ == "attr" and any(c.lower_ == "the" for c in token.head.lefts)
        return restricts and (
            the_one or any(t.dep_ in tree.SUBJECTS for t in (token.head, *token.head.ancestors))
        )
    trailing = (
        token.tag_ == "VBG"
        and tree.comma_before(token)
        and token.head.tag_ != "VBG"
        and not any(c.dep_ == "mark" for c in token.children)
    )
    after = token.i > token.head.i and (has_to(token) or trailing)
    return token.dep_ == "advcl" and token.head.i in inside and not after


def is_closed(head: Token, inside: set[int]) -> bool:
    """Return True if a word above the coordination forbids splitting it."""
    above = head
    while above.head != above and above.head.i in inside:
        above = above.head
        if gives_examples(above):
            above = measured_noun(above.head)  # go on from the noun
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
    """Return True if "as" introduces a role, not a comparison: "known as A and B"."""
    if preposition.lower_ != "as" or preposition.dep_ != "prep" or preposition.head.pos_ != "VERB":
        return False
    before = preposition.doc[max(0, preposition.i - 8) : preposition.i]
    return not any(t.lower_ in {"as", "same", "such", "so", "well", "far", "long"} for t in before)


def in_main_clause(head: Token, inside: set[int]) -> bool:
    """Return True if the token is outside dependent clauses, adjectives and examples."""
    for token in (head, *head.ancestors):
        if token.i not in inside or token.head.i not in inside:
            break
        if token.dep_ in {"advcl", "relcl", "acl", "amod"} or gives_examples(token):
            return False
    return True


def in_adjunct(head: Token, inside: set[int]) -> bool:
    """Return True if the token is in an adjunct of a verb: "makes plans with A and B", "in A and
    B".
    """
    return any(
        t.dep_ == "prep"
        and t.head.pos_ in tree.VERBAL
        and t.i in inside
        and (t.i < t.head.i or tree.child(t.head, {"dobj", "attr", "nsubjpass"}) is not None)
        for t in (head, *head.ancestors)
    )


def is_fronted(head: Token, inside: set[int]) -> bool:
    """Return True if it is in a phrase before the subject: "By reading and writing, they …" does
    not say by which.
    """
    for token in (head, *head.ancestors):
        if token.head.i not in inside or token.head == token:
            return False
        if (
            token.dep_ in {"prep", "advcl"}
            and token.head.pos_ in tree.VERBAL
            and token.i < token.head.i
        ):
            subject = tree.child(token.head, tree.SUBJECTS)
            if subject is not None and token.i < subject.i:
                return True
    return False


def is_reliable(doc: Doc) -> bool:
    """Return True if the parse shows none of the signs of an error in SIGNS."""
    return not any(sign(token) for sign in SIGNS for token in doc)


def _verb_without_conjunction(token: Token) -> bool:
    """Return True for a verb coordinated without "and" or comma: the main verb was mistaken for a
    conjunct.
    """
    if (
        token.dep_ != "conj"
        or token.pos_ not in VERBAL
        or token.head.pos_ not in VERBAL
        or not first(token)
    ):
        return False
    before = token.doc[first(token) - 1]
    if (
        before.text == ","
        and token.tag_ != token.head.tag_
        and not _joining_words(tree.conjuncts(token.head))
    ):
        return True  # "the theory, often referred to as linear, focuses on …"
    return not (before.is_punct or before.dep_ == "cc" or before.lower_ in {"then", "as"})


def _verb_taken_for_participle(token: Token) -> bool:
    """Return True for a main verb that ends its clause: "solo singers and the number of arias
    increased".
    """
    if token.dep_ != "acl" or token.tag_ not in {"VBN", "VBD"} or token.i + 1 >= len(token.doc):
        return False
    return (
        token.doc[token.i + 1].is_punct and token.head.i < token.i - 1 and token.head.dep_ == "conj"
    )


def _verb_taken_for_adjective(token: Token) -> bool:
    """Return True for "born in Hamburg, Germany, and studied physics", where "studied physics"
    would be a place.
    """
    conjunct = token.head
    if (
        token.dep_ != "amod"
        or token.tag_ not in {"VBN", "VBD"}
        or conjunct.dep_ != "conj"
        or token.i < 2
    ):
        return False
    return token.doc[token.i - 1].dep_ == "cc" and conjunct.head.pos_ == "PROPN" != conjunct.pos_


def _infinitive_without_conjunction(token: Token) -> bool:
    """Return True for "asks her to seek help, to reduce stress and gain time": a purpose mistaken
    for a conjunct.
    """
    listed = token.dep_ == "conj" and has_to(token) and tree.after_comma(token)
    return listed and any(m.i > token.i and not has_to(m) for m in tree.conjuncts(token))


def _list_without_conjunction(token: Token) -> bool:
    """Return True for the start of "born in Lima, Peru, and studied" or "A, B, freezing C and D":
    "and" is lost.
    """
    group = tree.conjuncts(token) if token.dep_ != "conj" else []
    joined = any(c.dep_ in {"cc", "preconj"} for m in group for c in m.children)
    return not joined and any(m.tag_ in NOUNS for m in group[1:])


def _gerund_within_list(token: Token) -> bool:
    """Return True for "include fever, passing stones, and pain", where "passing" would be an
    adverbial clause.
    """
    if token.dep_ != "advcl" or token.tag_ != "VBG" or not tree.after_comma(token):
        return False
    nouns = [
        t
        for t in token.subtree
        if t.dep_ == "conj" != t.head.dep_ and t.tag_ in NOUNS and first(t) > 1
    ]
    return any(t.doc[first(t) - 2].text == "," and len(tree.conjuncts(t)) == 1 for t in nouns)


def _capital_within(token: Token) -> bool:
    """Return True for verse run together: "It sprouts forth Into a flower, And grows"."""
    if (
        token.pos_ not in {"ADP", "CCONJ", "SCONJ", "PRON"}
        or not token.is_title
        or not token.i
        or token.text == "I"
    ):
        return False
    before = token.nbor(-1)
    return before.text == "," and token.pos_ == "CCONJ" or before.text.islower()


def _distant_participle(token: Token) -> bool:
    """Return True for "the decision to pull molars, also known as wisdom teeth": said of the
    nearest noun.
    """
    between = token.doc[token.head.i + 1 : first(token)]
    after = token.dep_ in {"acl", "relcl"} and token.tag_ == "VBN" and tree.after_comma(token)
    return after and tree.subject_of(token) is None and any(t.dep_ == "dobj" for t in between)


def _change_of_tense(token: Token) -> bool:
    """Return True for "focus on new and established writers": an adjective taken for a verb in the
    past.
    """
    own = tree.child(token, {*tree.SUBJECTS, *tree.AUXILIARIES}) is not None
    return (
        token.dep_ == "conj"
        and token.tag_ == "VBD"
        and token.head.tag_ in {"VBZ", "VBP", "VB"}
        and not own
    )


def _past_after_do(token: Token) -> bool:
    """Return True for "those who did not found that …", where "found" is the main verb."""
    return token.tag_ in {"VBD", "VBN"} and any(
        c.dep_ == "aux" and lemma(c.lower_) == "do" for c in token.children
    )


def _wrong_number(token: Token) -> bool:
    """Return True for "those that have not ratified it are Turkey and Iran", where "it" would be
    the subject.
    """
    singular = token.lower_ in {"it", "he", "she"} and token.dep_ in tree.NOMINAL_SUBJECTS
    return (
        singular
        and token.head.tag_ == "VBP"
        and not any(c.dep_ in tree.AUXILIARIES for c in token.head.children)
    )


def _of_clause_between(token: Token) -> bool:
    """Return True for "It means that he does not teach but should lead": whose verb the second is,
    is unclear.
    """
    if (
        token.dep_ != "conj"
        or token.pos_ not in VERBAL
        or token.head.pos_ not in VERBAL
        or tree.subject_of(token)
    ):
        return False
    between = (c for c in token.head.subtree if c.dep_ == "ccomp" and token.head.i < c.i < token.i)
    return any(tree.child(c, tree.SUBJECTS) is not None for c in between)


def _verb_beside_noun(token: Token) -> bool:
    """Return True for "use methods for all to access, participate, and progress", with a verb among
    nouns.
    """
    finite = token.tag_ in {"VBZ", "VBP"} or token.dep_ == "conj" and token.tag_ in {"VB", "VBD"}
    return token.dep_ in {"conj", "acl"} and finite and token.head.tag_ in NOUNS


def _second_command(token: Token) -> bool:
    """Return True for "Dress in white to stay cool and follow the path": a command, or another
    purpose?
    """
    first, root = token.head, token.head.head
    second = (
        token.dep_ == "conj"
        and has_to(first)
        and not has_to(token)
        and token.tag_ == root.tag_ == "VB"
    )
    return (
        second
        and root.dep_ == "ROOT"
        and first.dep_ in {"advcl", "acl"}
        and any(c.dep_ in {"dobj", "prep", "acomp"} for c in first.rights)
    )


def _gerund_after_preposition(token: Token) -> bool:
    """Return True for "rules for solving disputes, keeping secrets, and obeying laws", where rules
    keep secrets.
    """
    before = token.doc[: token.i] if tree.opens_list(token) else ()
    return any(t.tag_ == "VBG" and t.i and t.nbor(-1).dep_ == "prep" for t in before)


def _of_list_between(token: Token) -> bool:
    """Return True for "the risk of claims and the laws", "damage to the roof or issues with it":
    beside which noun?
    """
    inner, owner = token.head, token.head.head.head
    if token.dep_ != "conj" or inner.dep_ != "pobj" or owner.pos_ != "NOUN":
        return False
    own, inside, above = map(tree.has_determiner, (token, inner, owner))
    after = any(c.dep_ == "prep" and c.i > token.i and c.lower_ != "of" for c in inner.children)
    return own == above != inside and (own or after or tree.child(token, {"prep"}) is not None)


SIGNS = (
    _wrong_number,
    _verb_beside_noun,
    _second_command,
    _gerund_after_preposition,
    _of_clause_between,
    _of_list_between,
    _change_of_tense,
    _past_after_do,
    _capital_within,
    _distant_participle,
    _list_without_conjunction,
    _gerund_within_list,
    _infinitive_without_conjunction,
    _verb_taken_for_adjective,
    _verb_without_conjunction,
    _verb_taken_for_participle,
)
