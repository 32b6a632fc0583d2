"""Participial clauses as sentences, where it is clear who does what they say."""

from __future__ import annotations

from spacy.tokens import Token

from attribution.segmenters.syntax import LEXICON, tree
from attribution.segmenters.syntax.drafts import Draft, Part, parts, trim

_OBJECTS = ("it a", "it an", "it the", "them a", "them an", "them the")
PERSONS = tuple(LEXICON["persons"])
UNCLEAR = {"WP", "WDT", "EX"}  # tags of subjects that cannot be repeated


def _is_clear(noun: Token) -> bool:
    """Whether a noun can be the subject of a sentence of its own."""
    return noun.tag_ not in UNCLEAR and len(tree.conjuncts(noun)) == 1 and not tree.in_negative_scope(noun)


def participle(verb: Token) -> Draft | None:
    """ "…, widely regarded as …" → "Hitchcock was widely regarded as …"."""
    if tree.child(verb, {*tree.SUBJECTS, *tree.AUXILIARIES, "mark"}) is not None:
        return None
    if verb.lower_ in LEXICON["prepositional_participles"]:
        return None
    if verb.dep_ == "advcl":
        noun = tree.child(verb.head, tree.NOMINAL_SUBJECTS)
        before = {c.lower_ for c in verb.lefts}
        if not tree.comma_before(verb) or before & {"as", "when", "if", "once"} or _is_ambiguous(noun, verb):
            return None
    else:
        noun = tree.referent(verb.head)
        aside = tree.comma_before(verb) or (noun is not verb.head and noun.pos_ in {"PROPN", "PRON"})
        if not aside and not tree.is_predicate_noun(verb.head):
            return None
    if noun is None or not _is_clear(noun) or noun.lower_ in {"i", "those"}:
        return None
    if tree.child(verb, {"dobj"}) is not None:  # a past tense that was taken for a participle
        finite = verb.lower_.endswith("ed") and tree.comma_before(verb)
        return trim((*tree.as_subject(noun), *parts(verb.subtree))) if finite else None
    return trim(
        (*tree.as_subject(noun), tree.be(noun, tree.is_past(verb) or verb.lower_ == "born"), *parts(verb.subtree))
    )


def _is_ambiguous(noun: Token | None, verb: Token) -> bool:
    """Whether another noun stands between the subject and the participle: it may be the one meant."""
    if noun is None:
        return True
    between = verb.doc[verb.head.i + 1 : tree.first(verb)] if verb.i > verb.head.i > noun.i else ()
    return any(t.pos_ in {"NOUN", "PROPN"} for t in between)


def result(verb: Token) -> Draft | None:
    """ "It repels water, making it a good coat" → "It is a good coat": where "it" agrees with the subject."""
    main = verb.head
    noun = tree.subject_of(main) or (tree.subject_of(main.head) if main.dep_ == "conj" else None)
    after = verb.doc[verb.i + 1 : verb.i + 3].text.lower()
    if verb.lower_ != "making" or after not in _OBJECTS:
        return None
    if noun is None or noun.dep_ not in tree.NOMINAL_SUBJECTS or not _is_clear(noun):
        return None
    if not tree.comma_before(verb) or verb.i != tree.first(verb) or tree.is_plural(noun) != after.startswith("them"):
        return None
    if tree.is_negated(main) or main.dep_ not in {"ROOT", "conj"}:
        return None
    return trim(
        (*tree.as_subject(noun), tree.be(noun, tree.is_past(noun)), *parts(t for t in verb.subtree if t.i > verb.i + 1))
    )


def effect(verb: Token) -> Draft | None:
    """ "It blocks light, reducing glare" → "It reduces glare": what a thing brings about by what it does."""
    main = verb.head
    while main.dep_ == "xcomp" and tree.subject_of(main) is None:
        main = main.head
    noun = tree.child(main, {"nsubj"})
    if not tree.comma_before(verb) or verb.i < main.i or main.dep_ not in {"ROOT", "conj"} or tree.is_negated(main):
        return None
    if noun is None or not _is_clear(noun) or tree.is_negated(noun):
        return None
    if (noun.tag_ == "PRP" and noun.lower_ not in {"it", "they"}) or noun.lower_.endswith(PERSONS):
        return None
    if tree.lemma(main.lower_) in LEXICON["undergoing"] or tree.child(main, {"dobj", "xcomp"}) is None:
        return None
    if any(c.dep_ in tree.SUBJECTS for t in main.subtree for c in t.children if t != main and t.i < tree.first(verb)):
        return None  # "it lets her learn, making …": which of them?
    verbs, effects = tree.conjuncts(verb), LEXICON["effect_verbs"]
    if not _is_gerund(verb, effects) or not all(_is_gerund(v, effects | LEXICON["attributive_verbs"]) for v in verbs):
        return None
    if verb.doc[verb.i + 1].lower_ in {"it", "them"}:
        return None
    modals = [c for c in main.children if c.dep_ == "aux"]
    if any(c.lower_ not in LEXICON["modals"] for c in modals) or not (modals or main.tag_ in tree.TENSED):
        return None
    before = [t for c in verb.lefts if c.dep_ == "advmod" for t in c.subtree]
    forms = {v.i: _like(main, tree.lemma(v.lower_), noun) for v in verbs}
    clause = tuple(Part(t.i, forms.get(t.i, t.text)) for t in verb.subtree if t not in before)
    adverbs = parts(t for t in before if t.lower_ not in LEXICON["consequence"] | {"thereby", "then"})
    return trim((*tree.as_subject(noun), *parts(modals), *adverbs, *clause))


def active(verb: Token) -> Draft | None:
    """ "…, providing shade" → "The tree provides shade": verbs whose subject is that of the main clause."""
    main, start = verb.head, tree.first(verb)
    noun = tree.child(main, tree.NOMINAL_SUBJECTS)
    if not _is_gerund(verb, LEXICON["attributive_verbs"]) or noun is None or not _is_clear(noun) or noun.lower_ == "i":
        return None
    if verb.i < main.i or not (tree.comma_before(verb) or verb.doc[start].lower_ == "while"):
        return None
    modal = any(c.dep_ in {"aux", "neg"} and c.tag_ != "VBZ" for c in main.children)
    if modal or main.dep_ not in {"ROOT", "conj"} or main.tag_ not in tree.TENSED:
        return None
    if any(c.dep_ == "conj" or c.dep_ == "advmod" and c.i < verb.i for c in verb.children):
        return None
    rest = parts(t for t in verb.subtree if t.i != verb.i and t.dep_ != "mark")
    return trim((*tree.as_subject(noun), Part(verb.i, _like(main, tree.lemma(verb.lower_), noun)), *rest))


def _is_gerund(verb: Token, of: frozenset[str]) -> bool:
    """Whether it is the -ing form of one of these verbs."""
    return verb.lower_.endswith("ing") and tree.lemma(verb.lower_) in of


def _like(main: Token, verb: str, noun: Token) -> str:
    """A verb in the tense and number of the main one; its base form after a modal."""
    if tree.child(main, {"aux"}) is not None or (main.tag_ != "VBD" and tree.is_plural(noun)):
        return verb
    return tree.inflect(verb, "VBD" if main.tag_ == "VBD" else "VBZ")
