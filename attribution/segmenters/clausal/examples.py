"""Examples set off by a comma: "a navy has ships, including carriers" says that it has ships and that it has
carriers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attribution.segmenters.clausal.noun_lists import nouns
from attribution.segmenters.syntax.drafts import ADDED, Draft, trimmed
from attribution.segmenters.syntax.grammar import VERBAL, enclosed, first, members, negated
from attribution.segmenters.syntax.scope import closed, core, example, fronted, joined_by_and, joined_by_or, whole

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

# what has a cause, dehydration for one, has no dehydration
ROLES = {"cause", "causes", "reason", "reasons", "role", "roles", "function", "functions", "purpose", "purposes", "way",
         "ways", "form", "forms", "name", "names", "goal", "goals", "question", "questions", "use", "uses", "criteria",
         "criterion", "advantages", "advantage", "meaning", "meanings", "terms", "limitations"}  # fmt: skip
CHOICE = {"choose", "select", "pick", "vary", "range", "rank", "divide", "differ", "chosen", "selected", "be", "is",
          "are", "was", "were"}  # fmt: skip


def exemplified(doc: Doc, draft: Draft) -> list[Draft]:
    """What is said without the examples, and of each example instead of the general word; else the draft alone."""
    inside = {i for i, _ in draft}
    for token in (doc[i] for i in sorted(inside - {ADDED})):
        if example(token) and token.head.i in inside and set_apart(token) and not enclosed(token):
            made = _instead(token, draft, inside)
            if made:
                return made
    return [draft]


def set_apart(preposition: Token) -> bool:
    start = first(preposition)
    return start > 0 and bool(preposition.doc[start - 1].text == ",")


def general(preposition: Token) -> Token | None:
    """The noun phrase that the examples can stand for: what is done to it is done to each of them."""
    noun = whole(preposition.head)
    if {noun.lower_, preposition.head.lower_} & ROLES:
        return None
    verb = noun.head if noun.dep_ == "dobj" else noun.head.head if noun.dep_ == "pobj" else None
    if noun.dep_ == "pobj" and noun.head.dep_ not in {"prep", "agent"}:
        return None
    if verb is None or verb.pos_ not in VERBAL or verb.lower_ in CHOICE or negated(noun) or len(members(noun)) > 1:
        return None
    return noun


def _instead(preposition: Token, draft: Draft, inside: set[int]) -> list[Draft]:
    noun = general(preposition)
    named = next((c for c in preposition.children if c.dep_ == "pobj"), None)
    if (
        noun is None
        or named is None
        or named.lower_ == "those"
        or noun.i not in inside
        or closed(noun, inside)
        or fronted(noun, inside)
    ):
        return []
    if not core(noun, inside):
        return []
    group = members(named)
    if len(group) > 1 and not (joined_by_and(group) or joined_by_or(group)):
        return []
    pieces = nouns(named, group) if len(group) > 1 else [[t.i for t in named.subtree]]
    phrase = {t.i for t in noun.subtree}
    places = [n for n, (i, _) in enumerate(draft) if i in phrase]
    start, end = places[0], places[-1] + 1
    if draft[end - 1][1] == "," and not (end < len(draft) and draft[end][1] == "to"):
        end -= 1
    taken = {t.i for t in preposition.subtree}
    behind = {i for i in phrase if i > max(taken)}
    if not pieces or behind or any(i not in phrase and i >= 0 for i, _ in draft[start:end]):
        return []
    if end < len(draft) and draft[end][1].lower() in {"and", "or", "but", "nor"}:
        return []
    here = dict(draft)
    plain = trimmed((*(p for p in draft[:end] if p[0] not in taken and p[0] != min(taken) - 1), *draft[end:]))
    each = [trimmed((*draft[:start], *((i, here[i]) for i in piece if i in here), *draft[end:])) for piece in pieces]
    return [plain, *each]
