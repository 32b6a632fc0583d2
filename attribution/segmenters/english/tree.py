"""Query the words of a dependency tree: subject, tense, negation, number, reference."""

from __future__ import annotations

from spacy.tokens import Token

from attribution.segmenters.english.drafts import ADDED, LEXICON, Draft, DraftWord, parts, trim
from attribution.text.parse import BE as BE
from attribution.text.parse import NOMINAL_SUBJECTS as NOMINAL_SUBJECTS
from attribution.text.parse import SUBJECTS as SUBJECTS
from attribution.text.parse import VERBAL as VERBAL
from attribution.text.parse import inflect

AUXILIARIES = {"aux", "auxpass"}
TENSED = {"VBZ", "VBP", "VBD"}
FINITE = {*TENSED, "MD"}
NOUNS = {"NN", "NNS", "NNP", "NNPS"}
PLURALS = {"NNS", "NNPS"}
RELATIVE = {"WP", "WDT", "WP$"}
ARTICLES = {"a", "an"}
SINGULAR = {"are": "is", "were": "was", "have": "has", "do": "does", "’re": "is", "'re": "is"}


def subtree(token: Token, *without: Token) -> list[Token]:
    """Return the token and its descendants, except for the branches in `without`."""
    out = {t.i for branch in without for t in branch.subtree}
    return [t for t in token.subtree if t.i not in out]


def child(token: Token, deps: set[str]) -> Token | None:
    """Return the first child with one of these dependency labels."""
    return next((c for c in token.children if c.dep_ in deps), None)


def is_finite(verb: Token) -> bool:
    """Return True if the verb or one of its auxiliaries is finite."""
    if verb.pos_ not in VERBAL:
        return False
    return verb.tag_ in FINITE or any(
        c.dep_ in AUXILIARIES and c.tag_ in FINITE for c in verb.children
    )


def subject_of(verb: Token) -> Token | None:
    """Return the verb's own subject, before it."""
    return next((c for c in verb.lefts if c.dep_ in SUBJECTS), None)


def conjuncts(head: Token) -> list[Token]:
    """Return the conjuncts of a coordination in order, including its head."""
    group = [head]
    for token in group:
        group += [c for c in token.children if c.dep_ == "conj"]
    return sorted(group, key=lambda t: t.i)


def own_words(conjunct: Token) -> list[Token]:
    """Return the words of a conjunct without the other conjuncts, conjunctions and commas."""
    joins = [c for c in conjunct.children if c.dep_ in {"conj", "cc", "preconj"}]
    starts = {first(c) for c in joins}
    commas = [c for c in conjunct.rights if c.text in {",", ";"} and c.i + 1 in starts]
    return subtree(conjunct, *joins, *commas)


def first(token: Token) -> int:
    """Return the index at which the phrase of a token begins."""
    return token.left_edge.i


def last(token: Token) -> int:
    return token.right_edge.i


def after_comma(token: Token) -> bool:
    """Return True if the token's phrase follows a comma."""
    return first(token) > 0 and token.doc[first(token) - 1].text == ","


def comma_before(token: Token) -> bool:
    """Return True if the token's phrase follows a comma or opens the sentence."""
    return first(token) == 0 or after_comma(token)


def opens_list(gerund: Token) -> bool:
    """Return True for ", keeping …" before ", and obeying …": one of a list rather than what
    accompanies a verb.
    """
    if gerund.dep_ != "advcl" or gerund.tag_ != "VBG" or not after_comma(gerund):
        return False
    later = [
        c for t in (gerund, gerund.head) for c in t.rights if c.dep_ == "conj" and c.i > gerund.i
    ]
    later += [c for t in later for c in t.rights if c.dep_ == "conj"]
    return any(c.tag_ == "VBG" and c.doc[first(c) - 2].text == "," for c in later)


def with_comma(token: Token) -> list[int]:
    """Return the indices of a phrase with the comma before it."""
    return [*([first(token) - 1] if after_comma(token) else []), *(t.i for t in token.subtree)]


def in_brackets(token: Token) -> bool:
    """Return True if the token is in parentheses or quotation marks."""
    before = token.doc[: token.i].text
    return (
        before.count("(") > before.count(")")
        or before.count('"') % 2 > 0
        or before.count("“") > before.count("”")
    )


def is_negated(token: Token) -> bool:
    negative = LEXICON["negative"]
    return (
        any(c.lower_ in negative or c.dep_ == "neg" for c in token.children)
        or token.lower_ in negative
    )


def in_negative_scope(token: Token) -> bool:
    """Return True if the token is in the scope of a negation or a condition."""
    return any(
        is_negated(above)
        or above.dep_ in {"advcl", "ccomp", "csubj"}
        and any(c.dep_ == "mark" and c.lower_ in LEXICON["conditions"] for c in above.children)
        for above in token.ancestors
    )


def is_plural(noun: Token) -> bool:
    return noun.tag_ in PLURALS or noun.lower_ in {"they", "we", "you", "people", "these", "those"}


def has_determiner(noun: Token) -> bool:
    return any(c.dep_ in {"det", "poss"} for c in noun.lefts)


def is_indefinite(noun: Token) -> bool:
    return any(c.lower_ in ARTICLES for c in noun.children)


def is_past(token: Token) -> bool:
    """Return True if the clause around the token is in the past tense."""
    verb = next((above for above in token.ancestors if above.pos_ in VERBAL), None)
    return verb is not None and any(
        f.tag_ == "VBD" for f in (verb, *(c for c in verb.children if c.dep_ in AUXILIARIES))
    )


def be(noun: Token, past: bool) -> DraftWord:
    return DraftWord(
        ADDED, ("were" if past else "are") if is_plural(noun) else ("was" if past else "is")
    )


def referent(noun: Token) -> Token:
    """Return the noun that an attribute or apposition describes; for any other noun, the noun
    itself.
    """
    while True:
        if noun.dep_ == "attr" and noun.head.pos_ == "AUX" and not is_negated(noun.head):
            subject = child(noun.head, {"nsubj"})
            if subject is None or subject.tag_ in {"WP", "WDT"}:
                return noun
            noun = subject
        elif noun.dep_ == "appos" and noun.head.pos_ in {"PROPN", "NOUN", "PRON"}:
            noun = noun.head
        else:
            return noun


def fits_two(clause: Token) -> bool:
    """Return True for a clause that may be about either of two nouns: "a measurement of the sample,
    which …".
    """
    noun = clause.head
    if not comma_before(clause) or noun.dep_ != "pobj" or noun.pos_ != "NOUN":
        return False
    above = noun.head.head
    objects = (c for c in above.rights if c.dep_ == "dobj" and c.i < noun.i)
    others = [n for n in (above, *objects) if n.pos_ == "NOUN"]
    number = next((t.tag_ for t in (*clause.children, clause) if t.tag_ in {"VBZ", "VBP"}), None)
    return any(number is None or is_plural(n) == (number == "VBP") for n in others)


def is_predicate_noun(noun: Token) -> bool:
    """Return True for an indefinite noun that describes the subject: "is a genre that …", "are
    tests used for …".
    """
    bare = noun.tag_ == "NNS" and child(noun, {"det", "poss", "nummod"}) is None
    may = any(c.tag_ == "MD" for c in noun.head.children)
    return (
        referent(noun) is not noun
        and noun.dep_ == "attr"
        and not may
        and (bare or is_indefinite(noun))
    )


def as_subject(noun: Token) -> Draft:
    """Return a noun phrase as a subject: definite, without appositions and clauses, save a
    participle beside it.
    """
    aside = [c for c in noun.rights if c.dep_ == "punct" or c.dep_ == "acl" and after_comma(c)]
    beside = [*aside, *(c for c in noun.children if c.dep_ in {"relcl", "appos"})]
    out = {t.i for c in beside for t in c.subtree}
    phrase = parts(t for t in own_words(noun) if t.i not in out)
    if noun.dep_ not in SUBJECTS:
        phrase = tuple(
            DraftWord(ADDED, "the") if part.text.lower() in ARTICLES else part for part in phrase
        )
    return trim(phrase)


def agree(draft: Draft, verb: Token, subject: Token) -> Draft:
    """Put the verb of a draft in the singular if a singular noun has replaced its plural subject."""
    if subject.tag_ in PLURALS or subject.lower_ == "people":
        return draft
    forms: dict[int, str] = {}
    beside = [
        m
        for c in verb.children
        if c.dep_ in {"acomp", "attr"}
        for m in conjuncts(c)
        if m.pos_ == "VERB"
    ]
    for member in (*conjuncts(verb), *beside):  # "are rich and live in Oslo"
        words = sorted(
            (*(c for c in member.lefts if c.dep_ in AUXILIARIES), member), key=lambda t: t.i
        )
        finite = next((w for w in words if w.tag_ in FINITE), words[0])
        if finite.lower_ in SINGULAR or finite.tag_ == "VBP":
            forms[finite.i] = SINGULAR.get(finite.lower_) or inflect(finite.text, "VBZ")
    return tuple(part._replace(text=forms.get(part.i, part.text)) for part in draft)
