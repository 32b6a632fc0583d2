"""Examples set off by a comma: "ships, including carriers" are ships, and carriers."""

from __future__ import annotations

from spacy.tokens import Doc, Token

from attribution.segmenters.clausal.noun_lists import noun_pieces
from attribution.segmenters.syntax import LEXICON, tree
from attribution.segmenters.syntax.drafts import Draft, indices, trim
from attribution.segmenters.syntax.scope import (
    gives_examples,
    in_main_clause,
    is_closed,
    is_fronted,
    joined_by_and,
    joined_by_or,
    measured_noun,
)


def split_examples(doc: Doc, draft: Draft) -> list[Draft]:
    """The statement without its examples, and once with each example for the general word; else the draft alone."""
    inside = indices(draft)
    for token in (doc[i] for i in sorted(inside)):
        aside = token.head.i in inside and tree.after_comma(token) and not tree.in_brackets(token)
        if gives_examples(token) and aside and (drafts := _substitute(token, draft, inside)):
            return drafts
    return [draft]


def _general_noun(preposition: Token) -> Token | None:
    """The noun phrase that the examples can replace: what is done to it is done to each of them."""
    noun = measured_noun(preposition.head)
    if {noun.lower_, preposition.head.lower_} & LEXICON["roles"] or noun.dep_ not in {"dobj", "pobj"}:
        return None
    if noun.dep_ == "pobj" and noun.head.dep_ not in {"prep", "agent"}:
        return None
    verb = noun.head if noun.dep_ == "dobj" else noun.head.head
    chosen_from = verb.pos_ not in tree.VERBAL or verb.lower_ in LEXICON["choosing"]
    return None if chosen_from or tree.is_negated(noun) or len(tree.conjuncts(noun)) > 1 else noun


def _substitute(preposition: Token, draft: Draft, inside: set[int]) -> list[Draft]:
    noun, example = _general_noun(preposition), tree.child(preposition, {"pobj"})
    if noun is None or example is None or example.lower_ == "those" or noun.i not in inside:
        return []
    if is_closed(noun, inside) or is_fronted(noun, inside) or not in_main_clause(noun, inside):
        return []
    group = tree.conjuncts(example)
    if len(group) > 1 and not (joined_by_and(group) or joined_by_or(group)):
        return []
    pieces = noun_pieces(example, group) if len(group) > 1 else [[t.i for t in example.subtree]]
    phrase, taken = {t.i for t in noun.subtree}, {t.i for t in preposition.subtree}
    places = [n for n, (i, _) in enumerate(draft) if i in phrase]
    start, end = places[0], places[-1] + 1
    if draft[end - 1].text == "," and not (end < len(draft) and draft[end].text == "to"):
        end -= 1
    after = any(i > max(taken) for i in phrase)
    if not pieces or after or any(i not in phrase and i >= 0 for i, _ in draft[start:end]):
        return []
    if end < len(draft) and draft[end].text.lower() in {"and", "or", "but", "nor"}:
        return []
    here = {part.i: part for part in draft}
    plain = trim((*(p for p in draft[:end] if p.i not in taken and p.i != min(taken) - 1), *draft[end:]))
    each = [trim((*draft[:start], *(here[i] for i in piece if i in here), *draft[end:])) for piece in pieces]
    return [plain, *each]
