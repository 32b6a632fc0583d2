"""Statements that say two things in one clause: nationality and kind, or several dates and places."""

from __future__ import annotations

from spacy.tokens import Doc, Token

from attribution.segmenters.syntax import LEXICON
from attribution.segmenters.syntax.drafts import Draft, indices, trim, words
from attribution.segmenters.syntax.tree import ARTICLES, BE, is_negated, subtree


def split_nationality(doc: Doc, draft: Draft) -> list[Draft]:
    """ "She was a French chemist" → "She was a chemist", "She was French".

    Other adjectives stay with their noun: a small planet is not small.
    """
    for place, part in enumerate(draft):
        token = doc[part.i] if part.i > 0 and place > 1 else None
        if token is None or token.dep_ != "amod" or token.tag_ != "JJ" or not part.text[:1].isupper():
            continue
        verb, article, subject = draft[place - 2], draft[place - 1], draft[: place - 2]
        if verb.text.lower() not in BE or article.text.lower() not in ARTICLES:
            continue
        if token.head.dep_ not in {"attr", "appos"} or "-" in token.head.text:
            continue
        if words(subject) & {"not", "there", "it", "this", "that", ","}:
            continue
        return [draft[:place] + draft[place + 1 :], (*subject, verb, part)]
    return [draft]


def split_adjuncts(doc: Doc, draft: Draft) -> list[Draft]:
    """ "He died in Paris in 1980" → "He died in Paris", "He died in 1980"."""
    inside = indices(draft)
    for verb in (doc[i] for i in sorted(inside)):
        past = verb.pos_ == "VERB" and verb.tag_ in {"VBD", "VBN"}
        if not past or is_negated(verb) or verb.dep_ in {"relcl", "ccomp", "xcomp"}:
            continue
        phrases = [[t.i for t in c.subtree] for c in verb.children if c.dep_ == "agent" and c.i in inside]
        for prep in verb.rights:
            if _is_adjunct(prep) and prep.i in inside:
                inner = [p for noun in prep.children if noun.pos_ == "NOUN" for p in noun.children]
                inner = [p for p in inner if _is_adjunct(p) and is_certain(p)]
                phrases += [[t.i for t in subtree(prep, *inner)], *([t.i for t in p.subtree] for p in inner)]
        if len(phrases) < 2 or sum(is_certain(doc[phrase[0]]) for phrase in phrases) < len(phrases) - 1:
            continue
        every = {i for phrase in phrases for i in phrase}
        if any(doc[i].dep_ == "conj" for i in every):
            continue
        return [trim(tuple(part for part in draft if part.i not in every - set(phrase))) for phrase in phrases]
    return [draft]


def _is_adjunct(prep: Token) -> bool:
    return prep.dep_ == "prep" and prep.lower_ in LEXICON["places_and_times"]


def is_certain(prep: Token) -> bool:
    """Whether a prepositional phrase gives a date or a named place."""
    objects = [c for c in prep.children if c.dep_ == "pobj"]
    return any(o.like_num or o.pos_ == "PROPN" or o.lower_ in LEXICON["months"] for o in objects)
