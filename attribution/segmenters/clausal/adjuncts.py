"""Two more ways in which a statement says several things: nationality, and dates and places, one by one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attribution.segmenters.syntax.drafts import ADDED, Draft, subtree, trimmed
from attribution.segmenters.syntax.grammar import negated

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

BE = {"is", "are", "was", "were"}
WHERE = {"in", "on", "at", "near", "during", "since"}
MONTHS = {"january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
          "december"}  # fmt: skip


def natures(doc: Doc, draft: Draft) -> list[Draft]:
    """ "She was a French chemist" → "She was a chemist", "She was French". Other adjectives need their noun:
    a small planet is not small."""
    for place, (i, text) in enumerate(draft):
        token = doc[i] if i >= 0 else None
        if token is None or token.dep_ != "amod" or token.tag_ != "JJ" or not text[:1].isupper() or i == 0:
            continue
        noun = token.head
        before = [n for n, (_, t) in enumerate(draft[:place]) if t.lower() in BE]
        article = draft[place - 1][1].lower() in {"a", "an"}
        if (
            not before
            or not article
            or before[-1] != place - 2
            or noun.dep_ not in {"attr", "appos"}
            or "-" in noun.text
        ):
            continue
        subject = draft[: before[-1]]
        if any(t.lower() in {"not", "there", "it", "this", "that"} for _, t in subject) or any(
            k == "," for _, k in subject
        ):
            continue
        return [draft[:place] + draft[place + 1 :], (*subject, draft[before[-1]], (i, text))]
    return [draft]


def adjuncts(doc: Doc, draft: Draft) -> list[Draft]:
    """ "He died in Paris in 1980" → "He died in Paris", "He died in 1980"."""
    inside = {i for i, _ in draft}
    for verb in (doc[i] for i in sorted(inside - {ADDED})):
        if (
            verb.pos_ not in {"VERB"}
            or verb.tag_ not in {"VBD", "VBN"}
            or negated(verb)
            or verb.dep_ in {"relcl", "ccomp", "xcomp"}
        ):
            continue
        found: list[list[int]] = []
        for prep in verb.children:
            if prep.dep_ == "prep" and prep.i > verb.i and prep.lower_ in WHERE and prep.i in inside:
                inner = [
                    p
                    for o in prep.children
                    for p in o.children
                    if p.dep_ == "prep" and p.lower_ in WHERE and certain(p)
                ]
                inner = [p for p in inner if p.head.pos_ == "NOUN"]
                found += [[t.i for t in subtree(prep, *inner)], *([t.i for t in p.subtree] for p in inner)]
        agent = [[t.i for t in c.subtree] for c in verb.children if c.dep_ == "agent" and c.i in inside]
        found = agent + found
        if len(found) < 2 or sum(certain(doc[f[0]]) for f in found) < len(found) - 1:
            continue
        if any(doc[t].dep_ in {"conj"} for f in found for t in f):
            continue
        every = {t for f in found for t in f}
        return [trimmed(tuple(p for p in draft if p[0] not in every - set(kept))) for kept in found]
    return [draft]


def certain(prep: Token) -> bool:
    """A date or a named place."""
    objects = [c for c in prep.children if c.dep_ == "pobj"]
    return any(o.like_num or o.pos_ == "PROPN" or o.lower_ in MONTHS for o in objects)
