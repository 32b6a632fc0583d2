"""Decide when a sentence stays whole.

It does when a word above "and" is collective or negative, when a piece is no statement, and when the parse is
unreliable.
"""

from __future__ import annotations

from itertools import pairwise

from spacy.tokens import Doc, Token

from attribution.segmenters.english import tree
from attribution.segmenters.english.drafts import CONTENT, LEXICON, Draft, indices, to_text
from attribution.segmenters.english.tree import (
    BE,
    FINITE,
    NOMINAL_SUBJECTS,
    NOUNS,
    RELATIVE,
    SUBJECTS,
    VERBAL,
    child,
    conjuncts,
    first,
    is_finite,
)
from attribution.text.parse import lemma, parse
from attribution.text.remembering import remember

CONJUNCTIONS = {"and", ",", ";", "but", "as"}  # "as" of "as well as"


def is_collective(verb: Token) -> bool:
    """Return True for a collective verb, which applies to its arguments together: "A and B combine"."""
    return lemma(verb.lower_) in LEXICON["collective"]


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
    """Return True if "A or B" implies that each is possible: among examples, and under "may" or "can" (Kamp 1973)."""
    above = head
    while above.head != above and above.pos_ not in tree.VERBAL:
        above = above.head
        if gives_examples(above):
            return True
    below = None
    while True:
        possible = any(c.lower_ in LEXICON["may_or_can"] for c in above.children if c.dep_ == "aux")
        if possible or (below is not None and lemma(above.lower_) in LEXICON["permitting"]):
            return above.dep_ in {"ROOT", "conj", "relcl", "ccomp"}
        purpose = above.dep_ == "advcl" and has_to(above)
        if above.head == above or not (purpose or above.dep_ in {"xcomp", "ccomp", "pcomp", "conj", "prep", "csubj"}):
            return False
        below, above = above, above.head


def gives_examples(preposition: Token) -> bool:
    """Return True if it introduces examples of the noun before it: "such as", "including", "like" after a plural."""
    noun = preposition.head
    if preposition.dep_ != "prep" or noun.pos_ not in {"NOUN", "PROPN"} or preposition.i < noun.i:
        return False
    such = preposition.lower_ == "as" and any(c.lower_ == "such" for c in preposition.children)
    return such or preposition.lower_ == "including" or (preposition.lower_ == "like" and noun.tag_ == "NNS")


def measured_noun(noun: Token) -> Token:
    """Return "variety" for "tools" in "a variety of tools": what is true of one is true of the other."""
    while noun.dep_ == "pobj" and noun.head.lower_ == "of" and noun.head.head.lower_ in LEXICON["quantities"]:
        noun = noun.head.head
    return noun


def _restricts(token: Token, inside: set[int]) -> bool:
    """Return True for a clause that restricts a noun or sets a condition, and asserts nothing by itself."""
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
    """Return True if the token is in an adjunct of a verb: "makes plans with A and B", "in A and B"."""
    return any(
        t.dep_ == "prep"
        and t.head.pos_ in tree.VERBAL
        and t.i in inside
        and (t.i < t.head.i or tree.child(t.head, {"dobj", "attr"}) is not None)
        for t in (head, *head.ancestors)
    )


def is_fronted(head: Token, inside: set[int]) -> bool:
    """Return True if it is in a phrase before the subject: "By reading and writing, they …" does not say by which."""
    for token in (head, *head.ancestors):
        if token.head.i not in inside or token.head == token:
            return False
        if token.dep_ in {"prep", "advcl"} and token.head.pos_ in tree.VERBAL and token.i < token.head.i:
            subject = tree.child(token.head, tree.SUBJECTS)
            if subject is not None and token.i < subject.i:
                return True
    return False


DANGLING = {"ADP", "DET", "CCONJ", "SCONJ", "PART"}
SUBJECT_LIKE = {"NOUN", "PROPN", "PRON", "VERB", "DET", "NUM", "ADJ"}


def is_sound(doc: Doc, draft: Draft) -> bool:
    """Return True if the draft can stand as a sentence."""
    tokens = [doc[i] if i >= 0 else None for i, _ in draft]
    present = [t for t in tokens if t is not None]
    if len(draft) < 3 or not any(t.pos_ in CONTENT for t in present):
        return False
    inside = indices(draft)
    if any(_is_made_finite(t, t.text) and t.head.i in inside and not _after_comma(t) for t in present):
        return False  # "a director directed films": a past tense mistaken for a participle
    if any(a.text in BE and b.text.lower() == "hence" for a, b in pairwise(draft)):
        return False  # "…, hence their importance": a consequence mistaken for an apposition
    opening, end = tokens[0], tokens[-1]
    if opening is not None:
        relative = opening.lower_ in {"which", "who", "that"} and opening.tag_ != "DT" and opening.dep_ != "det"
        if relative or opening.pos_ == "CCONJ":
            return False
    whole = end is None or end.i == len(doc) - 1 or doc[end.i + 1].is_punct or end.pos_ not in DANGLING
    root = next(doc.sents).root
    if is_imperative(root) and not any(t.dep_ in SUBJECTS and t.head == root for t in present):
        return whole and any(t in conjuncts(root) for t in present)
    verbs = [
        n
        for n, (token, part) in enumerate(zip(tokens, draft, strict=True))
        if (
            part.text in {*BE, "has", "have", "had"}
            if token is None
            else token.tag_ in FINITE or _is_made_finite(token, part.text)
        )
    ]
    if not verbs or not any(t is not None and t.pos_ in SUBJECT_LIKE for t in tokens[: verbs[-1]]):
        return False
    return whole and (len(draft) == len(doc) or is_sentence(to_text(doc, draft)))


@remember(4096)
def is_sentence(text: str) -> bool:
    """Return True if the parser finds one sentence with a subject and a finite verb."""
    sentences = list(parse(text).sents)
    root = sentences[0].root
    subject = child(root, SUBJECTS)
    if len(sentences) != 1 or subject is None or not is_finite(root) or subject.tag_ in RELATIVE or root.tag_ == "MD":
        return False
    if any(c.dep_ == "mark" or c.tag_ == "WRB" for c in root.lefts):
        return False  # a subordinate clause
    commas = [t for t in root.doc[subject.i : root.i] if t.text == "," and t.head in {subject, root}]
    return len(commas) != 1  # a single comma separates the subject from its verb


def is_imperative(root: Token) -> bool:
    """Return True for a base form preceded by adverbials at most: "If it bleeds, press on it"."""
    before = {c.dep_ for c in root.lefts}
    return root.tag_ == "VB" and root.dep_ == "ROOT" and before <= {"advmod", "punct", "cc", "prep", "advcl"}


def _is_made_finite(verb: Token, text: str) -> bool:
    """Return True for a participle that a rule has made finite, or a finite verb mistaken for a participle."""
    if verb.tag_ == "VBN" and verb.dep_ in {"acl", "advcl"} and child(verb, {"dobj"}) is not None:
        return True
    return verb.tag_ == "VBG" and text != verb.text


def _after_comma(verb: Token) -> bool:
    return verb.i > 0 and verb.doc[verb.i - 1].text == ","


def is_reliable(doc: Doc) -> bool:
    """Return True if the parse shows none of the signs of an error in SIGNS."""
    return not any(sign(token) for sign in SIGNS for token in doc)


def _verb_without_conjunction(token: Token) -> bool:
    """Return True for a verb coordinated without "and" or comma: the main verb was mistaken for a conjunct."""
    if token.dep_ != "conj" or token.pos_ not in VERBAL or token.head.pos_ not in VERBAL or not first(token):
        return False
    before = token.doc[first(token) - 1]
    return not (before.is_punct or before.dep_ == "cc" or before.lower_ in {"then", "as"})


def _subject_cut_off(token: Token) -> bool:
    """Return True for one comma between a subject with a relative clause and its verb, which belongs to that clause."""
    if token.dep_ not in NOMINAL_SUBJECTS or token.head.i < token.i:
        return False
    commas = [t for t in token.doc[token.i : token.head.i] if t.text == "," and t.head in {token, token.head}]
    return len(commas) == 1 and child(token, {"relcl"}) is not None


def _verb_taken_for_participle(token: Token) -> bool:
    """Return True for a main verb that ends its clause: "solo singers and the number of arias increased"."""
    if token.dep_ != "acl" or token.tag_ not in {"VBN", "VBD"} or token.i + 1 >= len(token.doc):
        return False
    return token.doc[token.i + 1].is_punct and token.head.i < token.i - 1 and token.head.dep_ == "conj"


def _finite_without_subject(token: Token) -> bool:
    """Return True for a finite adverbial clause without a subject."""
    return (
        token.dep_ == "advcl"
        and token.tag_ in {"VBZ", "VBP"}
        and not any(c.dep_ in {*SUBJECTS, "mark"} or c.tag_ in {"WRB", *RELATIVE} for c in token.children)
    )


def _list_in_relative_clause(token: Token) -> bool:
    """Return True for a list with semicolons that would continue inside a relative clause."""
    start = first(token)
    listed = token.dep_ == "conj" and token.tag_ in NOUNS and start > 0 and token.doc[start - 1].text == ";"
    return listed and any(a.dep_ == "relcl" for a in token.ancestors)


SIGNS = (
    _verb_without_conjunction,
    _subject_cut_off,
    _verb_taken_for_participle,
    _finite_without_subject,
    _list_in_relative_clause,
)
