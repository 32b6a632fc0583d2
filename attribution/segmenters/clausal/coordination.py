"""Coordination: one statement a conjunct, where "and" distributes and nothing in whose scope it stands forbids it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from attribution.segmenters.clausal.noun_lists import nouns
from attribution.segmenters.clausal.verb_lists import left, verbs
from attribution.segmenters.syntax.drafts import ADDED, SUBJECTS, Draft, trimmed
from attribution.segmenters.syntax.grammar import VERBAL, agreeing, enclosed, first, members, plural, subject_of
from attribution.segmenters.syntax.scope import (
    OPEN_ENDED,
    closed,
    core,
    free,
    fronted,
    joined_by_and,
    joined_by_or,
    setting,
)

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

MOST = 9  # statements out of one clause
MOST_CROSSED = 6  # statements out of two coordinations side by side
NOMINAL = {"dobj", "pobj", "attr", "nsubj", "nsubjpass", "amod", "acomp", "oprd", "prep", "advmod", "dative"}


def distribute(doc: Doc, draft: Draft) -> list[Draft]:
    """The draft once for each conjunct; itself alone where there is nothing to distribute.

    Coordinations side by side are multiplied where both belong to what is said ("A and B like C and D"), and only up to
    six statements; one within the setting ("while keeping C and D") is then left as it is.
    """
    words = {text.lower() for _, text in draft}
    if {"only", "but"} <= words:  # not only A but also B
        return [draft]
    done: list[Draft] = []
    waiting: list[tuple[Draft, tuple[Token, ...], int]] = [(draft, (), 1)]  # with heads that were distributed, and times
    while waiting:
        current, before, times = waiting.pop(0)
        inside = {i for i, _ in current}
        for head in heads(doc, current):
            crossed = any(head not in m.subtree for h in before for m in members(h) if m.i in inside)
            if head in before or (before and not core(head, inside)) or (crossed and setting(head, inside)):
                continue
            variants = list(_variants(head, current))
            often = times * len(variants) if crossed else len(variants)
            if (
                len(variants) > 1
                and len(done) + len(waiting) + len(variants) <= MOST
                and (not crossed or often <= MOST_CROSSED)
            ):
                waiting = [(v, (*before, head), often) for v in variants] + waiting
                break
        else:
            done.append(current)
    return done


def heads(doc: Doc, draft: Draft) -> Iterator[Token]:
    """First conjuncts of the coordinations of which more than one is still in the draft, the outermost first."""
    inside = {i for i, _ in draft}
    tokens = [doc[i] for i in sorted(inside - {ADDED})]
    firsts = [t for t in tokens if t.dep_ != "conj" and any(c.dep_ == "conj" and c.i in inside for c in t.children)]
    yield from sorted(firsts, key=lambda t: (not core(t, inside), len(list(t.ancestors)), t.i))


def _variants(head: Token, draft: Draft) -> Iterator[Draft]:
    inside = {i for i, _ in draft}
    group = [m for m in members(head) if m.i in inside]
    if (
        not (joined_by_and(group) or (joined_by_or(group) and free(head)))
        or closed(head, inside)
        or fronted(head, inside)
        or enclosed(head)
        or any(m.lower_ in OPEN_ENDED for m in group)
    ):
        return
    verbal = head.pos_ in VERBAL and all(m.pos_ in VERBAL for m in group)
    pieces = verbs(head, group) if verbal else nouns(head, group) if head.dep_ in NOMINAL else []
    if not pieces:
        return
    shared = {t.i for t in left(head, group)} if verbal else set()
    replaced = {t.i for m in group for t in m.subtree} - shared
    positions = [n for n, (i, _) in enumerate(draft) if i in replaced]
    start, end = positions[0], positions[-1] + 1
    if any(i not in replaced and i >= 0 for i, _ in draft[start:end]) or goes_on(head.doc, draft, start, end):
        return
    if start and draft[start - 1][1].lower() == "both":
        start -= 1
    if any(text.lower() in {"both", "either"} for _, text in draft[max(0, start - 4) : start]):
        return
    here = dict(draft)
    several = head.dep_ in {"attr", "acomp"} and head.tag_ in {"NN", "NNS", "NNP", "NNPS"} and subject_of(head.head)
    if several and plural(several):
        yield from _each_one(head, draft, pieces, start, end)
        return
    for member, piece in zip(group, pieces, strict=True):
        middle, after = trimmed(tuple((i, here[i]) for i in piece if i in here)), draft[end:]
        if middle and middle[0][1].lower() == "both":
            middle = middle[1:]
        if head.dep_ in SUBJECTS and not verbal and after and after[0][1] == "," and all(t != "," for _, t in middle):
            after = after[1:]  # the comma that ended the list
        made = draft[:start] + middle + after
        if head.dep_ in {"nsubj", "nsubjpass"} and not verbal:
            made = agreeing(made, head.head, member)
        yield made


def _each_one(head: Token, draft: Draft, pieces: list[list[int]], start: int, end: int) -> Iterator[Draft]:
    """ "The bases of DNA are adenine, …" → "Adenine is one of the bases of DNA"; nothing where not all are meant."""
    subject, verb = subject_of(head.head), draft[start - 1] if start else (ADDED, "")
    if subject is None:
        return
    definite = any(c.lower_ in {"the", "its", "their", "his", "her"} for c in subject.children)
    if not definite or verb[0] != head.head.i or verb[1].lower() not in {"are", "were"} or end < len(draft):
        return
    if first(subject) != draft[0][0] or any(c.lower_ in {"only", "not", "all", "both"} for c in subject.subtree):
        return
    here = dict(draft)
    number = (verb[0], "is" if verb[1].lower() == "are" else "was")
    for piece in pieces:
        named = trimmed(tuple((i, here[i]) for i in piece if i in here))
        if any(head.doc[i].tag_ in {"NNS", "NNPS"} for i in piece if head.doc[i].dep_ in {"attr", "acomp", "conj"}):
            return
        yield (*named, number, (ADDED, "one"), (ADDED, "of"), *draft[: start - 1])


def goes_on(doc: Doc, draft: Draft, start: int, end: int) -> bool:
    """Whether what surrounds the coordination looks like more of it, which the parser hung elsewhere."""
    if start and draft[start - 1][1].lower() in {"and", "or", "nor"}:
        return True
    if draft[end - 1][1].lower() in {"and", "or", ","}:
        return True
    after = [text.lower() for _, text in draft[end : end + 2]]
    comma = after[:1] == [","]
    following = after[1:] if comma else after
    if following and following[0] in {"and", "or", "but", "nor"}:
        return True
    token = doc[draft[end + 1][0]] if comma and len(after) > 1 and draft[end + 1][0] >= 0 else None
    return token is not None and token.tag_ in {"VB", "NN", "NNS", "JJ"} and token.dep_ not in SUBJECTS
