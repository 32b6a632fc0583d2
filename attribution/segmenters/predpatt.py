"""Predicates with their arguments, in PredPatt's manner (White et al. 2016; W24, section 3): one claim a predicate.

Relative, participial and appositive clauses borrow their subject, conjuncts share arguments, and adjectives,
possessives and appositions are predicates of their own ("be", "poss"). The wording comes from the parse: complete, but
plain, and blind to who says a thing and on what condition, as the paper found. Where a language model is configured, it
makes the wording fluent (fluent.py).
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

from attribution.segmenters.fluent import Fluent
from attribution.segmenters.syntax.drafts import ADDED, AUXILIARIES, SUBJECTS, Draft, covers, parts, segment, trimmed
from attribution.segmenters.syntax.grammar import (
    VERBAL,
    agreeing,
    be,
    finite,
    members,
    named,
    negated,
    own,
    past,
    phrase,
    plural,
    set_off,
)
from attribution.segmenters.syntax.repairs import repaired
from attribution.segmenters.syntax.scope import joined_by_and
from attribution.segmenters.syntax.soundness import sound
from attribution.settings import Settings
from attribution.types import LlmUsage, Segmented

ASIDE = {"relcl", "appos", "conj", "cc", "punct", "preconj", "mark", "advcl", "parataxis", "dep", "intj"}
QUANTITIES = {"many", "several", "various", "other", "some", "certain", "such", "more", "most", "own", "same", "few",
              "first", "last", "next", "much", "less", "only", "main", "different"}  # fmt: skip


class PredPatt:
    """Segmenter `predpatt`."""

    def __init__(self, settings: Settings) -> None:
        self.fluent = Fluent(settings) if settings.has_llm else None

    def segment(self, question: str, answer: str, stop: threading.Event | None = None) -> Segmented:
        """Claims in the order of the answer; a sentence without a predicate and its subject stays whole."""
        if self.fluent and stop:
            self.fluent.llm.stop = stop
        made = segment(answer, split)
        return self.fluent.worded(answer, made.claims) if self.fluent else made

    def estimate(self, question: str, answer: str) -> LlmUsage | None:
        """What wording the claims would take, without asking; None without a language model."""
        return self.fluent.estimate(answer, segment(answer, split).claims) if self.fluent else None


def split(parsed: Any) -> list[Draft]:
    """The predications of a sentence by the place of their predicate; none where they miss some of its content."""
    doc, made = repaired(parsed), list[Draft]()
    for token in doc:
        made += [draft for draft in predications(token) if draft not in made and sound(doc, draft)]
    return made if made and covers(doc, made) else []


def predications(token: Any) -> Iterator[Draft]:
    """What one token predicates of another."""
    if hyphened(token):
        return
    if token.pos_ in VERBAL and token.dep_ not in {*AUXILIARIES, "amod", "compound", "prep"} and not supposed(token):
        yield from clause(token)
    noun = token.head
    if token.dep_ == "appos" and noun.pos_ in {"PROPN", "NOUN"}:
        yield (*argument(noun), be(noun, past(token)), *argument(token))
    elif token.dep_ == "amod" and noun.pos_ in {"NOUN", "PROPN"} and token.lower_ not in QUANTITIES:
        if token.tag_ in {"JJ", "VBN"} and not hyphened(noun):
            bare = tuple(part for part in argument(noun) if part[0] not in {t.i for t in token.subtree})
            yield (*bare, be(noun, past(token)), *parts(own(token)))
    elif token.dep_ == "poss" and token.lower_ not in {"my", "your"}:
        owner = tuple(part for part in argument(token) if part[1] not in {"'s", "’s", "'", "’"})
        out = {t.i for t in token.subtree} | {c.i for c in noun.children if c.lower_ == "own"}
        bare = tuple(part for part in argument(noun) if part[0] not in out)
        has = "had" if past(token) else "have" if plural(token) or token.lower_ in {"their", "our"} else "has"
        yield (*pronoun(owner), (ADDED, has), *bare)


def hyphened(token: Any) -> bool:
    """Part of a word with a hyphen."""
    around = token.doc[max(0, token.i - 1) : token.i + 2]
    return any(t.text in {"-", "/"} for t in around)


def supposed(verb: Any) -> bool:
    """Under a condition, which stays with the clause it is the condition of."""
    return any(conditional(t) for t in (verb, *verb.ancestors))


def conditional(clause: Any) -> bool:
    return clause.dep_ == "advcl" and any(
        (c.dep_ == "mark" and c.lower_ in {"if", "unless", "whether"}) or c.lower_ in {"when", "whenever", "once"}
        for c in clause.children
    )


def argument(noun: Any) -> Draft:
    """A noun phrase without the clauses beside it."""
    words = {t.i for t in kept(noun)}
    return trimmed(tuple(part for part in phrase(noun) if part[0] in words or part[0] == ADDED))


def pronoun(owner: Draft) -> Draft:
    """ "his" as a subject."""
    subjects = {"his": "he", "her": "she", "its": "it", "their": "they", "our": "we"}
    return tuple((i, subjects.get(text.lower(), text)) for i, text in owner)


def subject_of(verb: Any) -> Any | None:
    """Its own subject, or the one it borrows from the clause it depends on."""
    seen = verb
    while True:
        own_subject = next((c for c in seen.children if c.dep_ in SUBJECTS), None)
        if own_subject is not None and own_subject.tag_ not in {"WP", "WDT"}:
            return own_subject
        if own_subject is not None or seen.dep_ in {"relcl", "acl"}:
            return (
                named(seen.head)
                if seen.dep_ in {"relcl", "acl"} and seen.head.pos_ in {"NOUN", "PROPN", "PRON"}
                else None
            )
        if seen.dep_ not in {"conj", "xcomp", "advcl"} or seen.head == seen:
            return None
        seen = seen.head


def clause(verb: Any) -> Iterator[Draft]:
    """Subject, auxiliaries, predicate and arguments; once a conjunct of the subject."""
    subject = subject_of(verb)
    if subject is None:
        return
    group = [m for m in members(subject) if m.pos_ in {"NOUN", "PROPN", "PRON"}]
    subjects = group if len(group) > 1 and joined_by_and(members(subject)) and subject.dep_ in SUBJECTS else [subject]
    if infinitive(verb):
        return
    helping = [c for c in verb.children if c.dep_ in {*AUXILIARIES, "neg"} and c.i < verb.i]
    if not helping and verb.dep_ == "conj" and negated(verb.head):
        return  # "not eat and drink" says nothing of drinking alone
    if not helping and verb.dep_ == "conj" and verb.tag_ in {"VB", "VBN", "VBG"}:
        helping = [c for c in verb.head.children if c.dep_ in {*AUXILIARIES, "neg"} and c.i < verb.head.i]
    if not finite(verb) and (any(h.lower_ == "to" for h in helping) or subject.tag_ == "EX"):
        return  # "asks him to come" does not say that he does
    beside = [c for c in verb.children if c not in helping and (c.dep_ not in {*ASIDE, *SUBJECTS} or conditional(c))]
    beside = [c for c in beside if c.tag_ != "WRB"]
    front = [c for c in beside if c.i < subject.i < verb.i and subject.head == verb]
    setting: Draft = (*trimmed(parts(t for c in front for t in kept(c))), (ADDED, ",")) if front else ()
    words: Draft = parts([*helping, verb, *(t for c in beside if c not in front for t in kept(c))])
    if not finite(verb) and not any(h.tag_ in {"VBZ", "VBP", "VBD", "MD"} for h in helping):
        words = tuple(part for part in words if part[0] not in {h.i for h in helping if h.lower_ == "to"})
        if verb.tag_ == "VBN" and any(c.dep_ == "dobj" for c in verb.children):
            pass  # the past tense taken for a participle
        elif verb.dep_ == "advcl" and not set_off(verb):
            return
        elif verb.tag_ in {"VBN", "VBG"}:
            words = tuple(part for part in words if part[1] != "being")
            words = (be(subject, past(verb)), *words)
        elif not helping and verb.dep_ not in {"conj", "xcomp"}:
            return
    for one in subjects:
        yield trimmed((*setting, *argument(one), *agreed(words, subject, one)))


def agreed(words: Draft, subject: Any, one: Any) -> Draft:
    """The predicate for one conjunct of its subject."""
    return agreeing(words, subject.head, one) if len(members(subject)) > 1 else words


def infinitive(verb: Any) -> bool:
    """ "the first woman to win": part of the noun phrase."""
    return verb.dep_ in {"relcl", "acl"} and any(c.lower_ == "to" and c.dep_ == "aux" for c in verb.children)


def kept(argument_head: Any) -> list[Any]:
    """The words of an argument, with its conjuncts but without clauses beside it."""
    out = {
        t.i
        for d in argument_head.subtree
        if d.dep_ in {"relcl", "appos", "parataxis"} and not infinitive(d) and d != argument_head
        for t in d.subtree
    }
    return [t for t in argument_head.subtree if t.i not in out]
