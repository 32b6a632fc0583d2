"""Propositions from the dependency parse, without another model.

Coordinations are distributed: clauses, verbs and lists. A sentence that the rules are unsure of
stays whole. The aim is atomic, coherent subclaims (W24 3.1).
"""

from __future__ import annotations

import threading
from functools import partial

from spacy.tokens import Doc

from attribution.segmenters import WithoutLlm
from attribution.segmenters.english import tree
from attribution.segmenters.english.coordination import split_clauses, split_lists, split_verbs
from attribution.segmenters.english.drafts import (
    LEXICON,
    Draft,
    covers,
    in_statements,
    parts,
    segment,
)
from attribution.segmenters.english.scope import Statement, is_readable
from attribution.types import Segmented

MAX_STATEMENTS = 12  # of a sentence
RULES = (split_clauses, split_verbs, split_lists)  # in this order
RELATIVE = {"which", "who", "whom", "whose", "that", "where"}


class Clauses(WithoutLlm):
    """Segmenter `clauses`."""

    def segment(self, question: str, answer: str, stop: threading.Event | None = None) -> Segmented:
        """Split the answer into claims, in its order."""
        return segment(answer, partial(in_statements, split=split), stop)


def split(doc: Doc) -> list[Draft]:
    """Split one sentence into statements that together hold all its content words.

    Returns:
        Nothing if it stays whole.
    """
    if not is_readable(doc):
        return []
    root = next(iter(doc.sents)).root
    waiting = [Statement(root, parts(doc))]
    done: list[Statement] = []
    while waiting:
        statement = waiting.pop(0)
        pieces = _apply_first_rule(statement)
        if pieces and len(done) + len(waiting) + len(pieces) <= MAX_STATEMENTS:
            waiting = [*pieces, *waiting]
        else:
            done.append(statement)
    drafts = [_without_connective(statement.draft) for statement in done]
    return drafts if covers(doc, drafts) else []


def _without_connective(draft: Draft) -> Draft:
    """Drop "However," at the beginning."""
    has_connective = draft[0].text.lower() in LEXICON["connectives"] and draft[1].text == ","
    return draft[2:] if has_connective else draft


def _apply_first_rule(statement: Statement) -> list[Statement]:
    for rule in RULES:
        for pieces in rule(statement):
            if all(map(_is_sentence, pieces)):
                return pieces
    return []


def _is_sentence(statement: Statement) -> bool:
    """Return True for a subject before a finite verb."""
    if len(statement.draft) < 3 or statement.draft[0].text.lower() in RELATIVE:
        return False
    tokens = statement.tokens()
    finite = [n for n, token in enumerate(tokens) if token.tag_ in tree.FINITE]
    nouns = [n for n, token in enumerate(tokens) if token.pos_ != "ADP"]
    return bool(finite) and bool(nouns) and nouns[0] < finite[-1]
