"""Make sentences of what stands beside the main statement: clauses, appositions, participles."""

from __future__ import annotations

from collections.abc import Iterator

from spacy.tokens import Token

from attribution.segmenters.english import tree
from attribution.segmenters.english.drafts import (
    ADDED,
    LEXICON,
    Draft,
    DraftWord,
    parts,
    trim,
    words,
)
from attribution.segmenters.english.scope import MAIN_LINE, Statement


def split_modifiers(statement: Statement) -> Iterator[list[Statement]]:
    """ "Nash, a mathematician, won" → "Nash won", "Nash was a mathematician"."""
    inside = {part.i for part in statement.draft}
    if words(statement.draft) & LEXICON["hedges"]:
        return
    for token in statement.tokens():
        if token == statement.head or token.head.i not in inside:
            continue
        steps = tree.path(token.head, statement.head)
        if not steps or not all(_is_asserted(step, statement) for step in steps):
            continue
        sentence = _as_sentence(token)
        if sentence is not None:
            rest = statement.without(_with_commas(token))
            yield [statement._replace(draft=trim(rest)), Statement(token, trim(sentence))]


def _is_asserted(step: Token, statement: Statement) -> bool:
    if tree.is_negated(step):
        return False
    return step == statement.head or step.dep_ in MAIN_LINE - {"ccomp", "xcomp"}


def _with_commas(token: Token) -> set[int]:
    """Return the indices of a phrase and of the commas around it."""
    below = tree.indices_below(token)
    if not tree.is_set_apart(token):
        return below
    around = {min(below) - 1, max(below) + 1}
    return below | {i for i in around if 0 <= i < len(token.doc) and token.doc[i].text == ","}


def _as_sentence(token: Token) -> Draft | None:
    """Make a sentence of a clause or apposition; None where that would be unsure."""
    if token.dep_ == "relcl":
        return _relative_clause(token)
    if token.dep_ == "appos":
        return _apposition(token)
    if token.dep_ in {"acl", "advcl"} and token.tag_ == "VBN" and not tree.is_finite(token):
        return _participle(token)
    if token.dep_ == "advcl":
        return _reason_or_concession(token)
    return None


def _relative_clause(verb: Token) -> Draft | None:
    """ "Hitchcock, who directed films" → "Hitchcock directed films"."""
    pronoun = tree.subject_of(verb)
    if pronoun is None or pronoun.i != tree.first(verb) or not tree.is_finite(verb):
        return None
    noun: Token | None = None
    if verb.head.dep_ == "attr" and not tree.is_after_comma(verb):
        if pronoun.lower_ in {"who", "which", "that"} and _is_general(verb.head):
            noun = tree.child(verb.head.head, {"nsubj"})
    elif pronoun.lower_ in {"who", "which"} and _is_beside(verb):
        noun = verb.head
    if noun is None or not _is_clear(noun):
        return None
    forms = [*(c for c in verb.lefts if c.dep_ in tree.AUXILIARIES), verb]
    if pronoun.lower_ == "which":
        is_consequence = verb.lower_.startswith(tuple(LEXICON["sentential_verbs"]))
        if is_consequence or forms[0].tag_ == "MD":
            return None  # ", which led to …": about the whole clause
    number = next((t.tag_ for t in forms if t.tag_ in {"VBZ", "VBP"}), None)
    if number is not None and tree.is_plural(noun) != (number == "VBP"):
        return None
    return (*_as_subject(noun), *parts(t for t in verb.subtree if t != pronoun))


def _is_beside(clause: Token) -> bool:
    """Return True for a clause between commas about the noun before it, and about no other one:
    not "a measurement of the sample, which …".
    """
    noun = clause.head
    is_next = tree.first(clause) == noun.i + 2 and tree.is_set_apart(clause)
    return is_next and (noun.dep_ != "pobj" or noun.pos_ == "PROPN")


def _apposition(noun: Token) -> Draft | None:
    """ "Nash, an American mathematician," → "Nash was an American mathematician"."""
    subject = noun.head
    if not tree.is_set_apart(noun) or not tree.has_determiner(noun) or not _is_clear(subject):
        return None
    if subject.dep_ == "pobj" and subject.pos_ != "PROPN":
        return None
    if len(tree.conjuncts(noun)) > 1 or tree.is_plural(noun) != tree.is_plural(subject):
        return None
    if tree.is_indefinite(subject) or tree.child(subject, {"cc"}) is not None:
        return None  # more likely a list
    return trim((*_as_subject(subject), tree.be(subject, tree.is_past(noun)), *parts(noun.subtree)))


def _participle(verb: Token) -> Draft | None:
    """ "The mill, known as a ruin" → "The mill was known as a ruin"."""
    if tree.child(verb, {*tree.SUBJECTS, *tree.AUXILIARIES, "mark", "dobj"}) is not None:
        return None
    if verb.lower_ in LEXICON["prepositional_participles"]:
        return None
    noun = _described(verb)
    if noun is None or not _is_clear(noun):
        return None
    is_past = tree.is_past(verb) or verb.lower_ == "born"
    return (*_as_subject(noun), tree.be(noun, is_past), *parts(verb.subtree))


def _described(verb: Token) -> Token | None:
    """Return the noun that a participle describes; None if that is unclear."""
    noun = verb.head
    if verb.dep_ == "advcl":  # "Born in Oslo, Ann moved"
        opens = tree.first(verb) == 0 and all(c.dep_ != "advmod" for c in verb.lefts)
        return tree.subject_of(noun) if opens else None
    if noun.dep_ in {"attr", "appos"} and noun.i < verb.i and not tree.is_after_comma(verb):
        if not _is_general(noun):
            return None
        return noun.head if noun.dep_ == "appos" else tree.child(noun.head, {"nsubj"})
    is_next = tree.first(verb) == noun.i + 2 and tree.is_set_apart(verb)
    return noun if is_next and noun.dep_ != "pobj" else None


def _is_general(noun: Token) -> bool:
    """Return True for "a genre that …" and "genres that …", of which the subject is one."""
    return tree.is_indefinite(noun) or noun.tag_ == "NNS" and not tree.has_determiner(noun)


def _reason_or_concession(verb: Token) -> Draft | None:
    """ "Although it is small, Malta …" says that it is small."""
    mark = tree.child(verb, {"mark"})
    if mark is None or mark.lower_ not in LEXICON["asserting"]:
        return None
    if mark.lower_ != "because" and not tree.is_set_apart(verb):
        return None
    if not tree.is_finite(verb) or tree.subject_of(verb) is None:
        return None
    if verb.head.pos_ == "AUX" and tree.child(verb.head, {"attr", "acomp"}) is None:
        return None  # "the reason is because …"
    without = {mark, *(c for c in verb.lefts if c.lower_ == "even")}
    return parts(t for t in verb.subtree if t not in without)


def _is_clear(noun: Token) -> bool:
    """Return True if a noun can be the subject of a sentence of its own."""
    is_one = len(tree.conjuncts(noun)) == 1 and noun.dep_ != "conj"
    return is_one and noun.pos_ in {"NOUN", "PROPN"} and noun.lower_ != "those"


def _as_subject(noun: Token) -> Draft:
    """Return a noun phrase as a subject: definite, and without what is set apart."""
    aside = [c for c in noun.rights if c.dep_ in {"relcl", "appos", "punct"}]
    aside += [c for c in noun.rights if c.dep_ == "acl" and tree.is_after_comma(c)]
    phrase = parts(noun.doc[i] for i in tree.own_words(noun) - tree.indices_below(*aside))
    if noun.dep_ in tree.SUBJECTS:
        return trim(phrase)
    definite: list[DraftWord] = []
    for part in phrase:
        is_article = part.text.lower() in tree.ARTICLES
        definite.append(DraftWord(ADDED, "the") if is_article else part)
    return trim(tuple(definite))
