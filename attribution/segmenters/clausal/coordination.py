"""Coordination: one statement for each conjunct, where "and" distributes and no word above it forbids that."""

from __future__ import annotations

from collections.abc import Iterator

from spacy.tokens import Doc, Token

from attribution.segmenters.clausal.noun_lists import noun_pieces
from attribution.segmenters.clausal.verb_lists import shared_words, verb_pieces
from attribution.segmenters.syntax import LEXICON, tree
from attribution.segmenters.syntax.drafts import ADDED, Draft, Part, added, indices, trim, words
from attribution.segmenters.syntax.scope import (
    in_adjunct,
    in_main_clause,
    is_closed,
    is_free_choice,
    is_fronted,
    joined_by_and,
    joined_by_or,
)

MOST = 9  # statements from one clause
MOST_CROSSED = 6  # statements from two coordinations side by side
NOMINAL = {*tree.NOMINAL_SUBJECTS, "dobj", "pobj", "attr", "amod", "acomp", "oprd", "prep", "advmod", "dative"}


def distribute(doc: Doc, draft: Draft) -> list[Draft]:
    """The draft once for each conjunct; itself alone where there is nothing to distribute.

    Coordinations side by side are multiplied where both belong to the main clause ("A and B like C and D"), and only
    up to six statements; a coordination in an adjunct ("while keeping C and D") is then left alone.
    """
    if {"only", "but"} <= words(draft):  # not only A but also B
        return [draft]
    done: list[Draft] = []
    waiting: list[tuple[Draft, tuple[Token, ...], int]] = [(draft, (), 1)]  # with heads already distributed, and times
    while waiting:
        current, before, times = waiting.pop(0)
        inside = indices(current)
        for head in _heads(doc, inside):
            crossed = any(head not in m.subtree for h in before for m in tree.conjuncts(h) if m.i in inside)
            if head in before or (before and not in_main_clause(head, inside)):
                continue
            if crossed and in_adjunct(head, inside):
                continue
            variants = list(_variants(head, current))
            total = times * len(variants) if crossed else len(variants)
            few = len(done) + len(waiting) + len(variants) <= MOST and (not crossed or total <= MOST_CROSSED)
            if len(variants) > 1 and few:
                waiting = [(v, (*before, head), total) for v in variants] + waiting
                break
        else:
            done.append(current)
    return done


def _heads(doc: Doc, inside: set[int]) -> list[Token]:
    """The heads of the coordinations of which more than one conjunct is in the draft, the outermost first."""
    tokens = [doc[i] for i in sorted(inside)]
    heads = [t for t in tokens if t.dep_ != "conj" and any(c.dep_ == "conj" and c.i in inside for c in t.children)]
    return sorted(heads, key=lambda t: (not in_main_clause(t, inside), len(list(t.ancestors)), t.i))


def _variants(head: Token, draft: Draft) -> Iterator[Draft]:
    inside = indices(draft)
    group = [m for m in tree.conjuncts(head) if m.i in inside]
    if not (joined_by_and(group) or (joined_by_or(group) and is_free_choice(head))):
        return
    if is_closed(head, inside) or is_fronted(head, inside) or tree.in_brackets(head):
        return
    if any(m.lower_ in LEXICON["open_ended"] for m in group):
        return
    verbal = head.pos_ in tree.VERBAL and all(m.pos_ in tree.VERBAL for m in group)
    pieces = verb_pieces(head, group) if verbal else noun_pieces(head, group) if head.dep_ in NOMINAL else []
    if not pieces:
        return
    shared = {t.i for t in shared_words(head, group)} if verbal else set()
    replaced = {t.i for m in group for t in m.subtree} - shared
    positions = [n for n, part in enumerate(draft) if part.i in replaced]
    start, end = positions[0], positions[-1] + 1
    between = any(i not in replaced and i >= 0 for i, _ in draft[start:end])
    if between or _goes_on(head.doc, draft, start, end):
        return
    if start and draft[start - 1].text.lower() == "both":
        start -= 1
    if words(draft[max(0, start - 4) : start]) & {"both", "either"}:
        return
    here = {part.i: part for part in draft}
    conjunct_parts = [trim(tuple(here[i] for i in piece if i in here)) for piece in pieces]
    subject = tree.subject_of(head.head)
    if head.dep_ in {"attr", "acomp"} and head.tag_ in tree.NOUNS and subject is not None and tree.is_plural(subject):
        bare = [head.doc[i] for piece in pieces for i in piece if head.doc[i].dep_ in {"attr", "acomp", "conj"}]
        if not any(t.tag_ in tree.PLURALS for t in bare):
            yield from _each_is_one(head, subject, draft, conjunct_parts, start, end)
        return
    for conjunct, middle in zip(group, conjunct_parts, strict=True):
        after = draft[end:]
        if middle and middle[0].text.lower() == "both":
            middle = middle[1:]
        if head.dep_ in tree.SUBJECTS and not verbal and after and after[0].text == "," and "," not in words(middle):
            after = after[1:]  # the comma that ended the list
        variant = draft[:start] + middle + after
        singular = head.dep_ in tree.NOMINAL_SUBJECTS and not verbal
        yield tree.agree(variant, head.head, conjunct) if singular else variant


def _each_is_one(
    head: Token, subject: Token, draft: Draft, conjunct_parts: list[Draft], start: int, end: int
) -> Iterator[Draft]:
    """ "The bases of DNA are adenine, …" → "Adenine is one of the bases of DNA"; nothing where not all are meant."""
    verb = draft[start - 1] if start else Part(ADDED, "")
    definite = any(c.lower_ in {"the", "its", "their", "his", "her"} for c in subject.children)
    if not definite or verb.i != head.head.i or verb.text.lower() not in {"are", "were"} or end < len(draft):
        return
    if tree.first(subject) != draft[0].i or any(c.lower_ in {"only", "not", "all", "both"} for c in subject.subtree):
        return
    number = verb._replace(text="is" if verb.text.lower() == "are" else "was")
    for conjunct in conjunct_parts:
        yield (*conjunct, number, *added("one", "of"), *draft[: start - 1])


def _goes_on(doc: Doc, draft: Draft, start: int, end: int) -> bool:
    """Whether the words around the coordination look like more of it that the parser attached elsewhere."""
    if start and draft[start - 1].text.lower() in {"and", "or", "nor"}:
        return True
    if draft[end - 1].text.lower() in {"and", "or", ","}:
        return True
    comma = draft[end : end + 1] and draft[end].text == ","
    following = draft[end + bool(comma) : end + 2]
    if following and following[0].text.lower() in {"and", "or", "but", "nor"}:
        return True
    token = doc[following[0].i] if comma and following and following[0].i >= 0 else None
    return token is not None and token.tag_ in {"VB", "NN", "NNS", "JJ"} and token.dep_ not in tree.SUBJECTS
