"""Read lists as they are written: pieces between commas after "include" or "such as", and examples set off by a comma.

The pieces count, however the parser attached them.
"""

from __future__ import annotations

from typing import Literal

from spacy.tokens import Doc, Token

from attribution.segmenters.english import tree
from attribution.segmenters.english.coordination import noun_pieces
from attribution.segmenters.english.drafts import LEXICON, Draft, indices, trim
from attribution.segmenters.english.scope import (
    gives_examples,
    in_main_clause,
    is_closed,
    is_fronted,
    measured_noun,
)
from attribution.segmenters.english.tree import FINITE, NOUNS, RELATIVE, SUBJECTS, VERBAL, conjuncts, first

Column = Literal["head", "dep", "tag", "pos"]
Change = tuple[int, Column, int | str]  # token, column, new value
Piece = tuple[int, int]  # the first token and the one after the last

OPENING = {"DT", "PDT", "PRP$", "JJ", "JJR", "JJS", *NOUNS, "CD", "VBG", "VBN", "RB", "RBR", "``", "$"}
LINKED = {"conj", "appos", "dobj", "pobj", "attr", "dep", "ROOT", "advcl", "ccomp", "xcomp", "pcomp", *SUBJECTS}


def repair_list(token: Token) -> list[Change]:
    """ "include a burning sensation, passing small amounts, and cloudy urine": three objects of "include"."""
    if not opens_list(token) and not _governs_list(token):
        return []
    doc, found = token.doc, pieces(token.doc, token.i + 1, verbal=token.pos_ in VERBAL)
    if len(found) < 3 or not all(_is_nominal(doc, piece) for piece in found):
        return []
    gerunds = [doc[a].tag_ == "VBG" for a, _ in found]
    if not opens_list(token) and len(set(gerunds)) > 1:
        return []  # "promoting A, B, and doing C"
    if gerunds[0] and not all(gerunds) and found[0][1] - found[0][0] > 1:
        return []  # "include adjusting the content, process, or products": objects of the gerund
    if not gerunds[0] and all(gerunds[1:]):
        return []  # "include rules for doing A, avoiding B, and seeking C"
    heads = [head for piece in found if (head := _head(doc, piece)) is not None]
    if len(heads) < len(found) or any(head.dep_ == "ROOT" or token in head.subtree for head in heads):
        return []
    if not opens_list(token) and sum(h in conjuncts(heads[0]) for h in heads) in {1, len(heads)}:
        return []  # the parser found no list, or all of it
    return _chain(token, found, heads)


def opens_list(token: Token) -> bool:
    """Return True if a list may begin after the token."""
    before = token.doc[token.i - 1] if token.i else token
    if token.lower_ == "as":
        return before.lower_ == "such"
    if token.lower_ == "like":
        return token.tag_ == "IN" and before.tag_ == "NNS" and token.head == before
    verb = token.lower_ in LEXICON["list_verbs"] and token.tag_ in {"VB", "VBP", "VBZ", "VBD"}
    return verb or token.lower_ == "including"


def _governs_list(token: Token) -> bool:
    """Return True if the token is a verb or preposition directly followed by its object."""
    objects = [c for c in token.children if c.dep_ in {"dobj", "pobj"} and first(c) == token.i + 1]
    verb = token.head if token.pos_ == "ADP" and token.lower_ not in {"like", "than", "as"} else token
    return verb.pos_ == "VERB" and bool(objects)


def pieces(doc: Doc, start: int, verbal: bool) -> list[Piece]:
    """Return the pieces between commas (or semicolons), up to the one after ", and"; empty if there is no such list."""
    end = _end(doc, start)
    marks = [i for i in range(start, end) if doc[i].text in {",", ";"} and not _depth(doc, start, i)]
    semicolons = [i for i in marks if doc[i].text == ";"]
    found: list[Piece] = []
    at, joined = start, False
    for mark in [*(semicolons or marks), end]:
        joined = at < end and doc[at].lower_ in {"and", "or"}
        found.append((at + joined, mark))
        at = mark + 1
        if joined:
            break
    if not joined:
        found = [] if semicolons else _split_last(doc, found)
    if found and not semicolons:
        found = _whole_phrases(doc, found)
        if any(_has_inner_list(doc, a, b) for a, b in found):
            return []
        a, b = found[-1]
        verb = _finite_verb(doc, (a, b))
        if verb is not None:
            if verbal or any(t.tag_ in FINITE for t in doc[:start]):
                return []  # ", and patients may die": a clause, not a conjunct
            found[-1] = (a, verb)
    return found if all(a < b for a, b in found) else []


def _end(doc: Doc, start: int) -> int:
    """Return the end of the sentence, or of the bracket around the list."""
    for i in range(start, len(doc)):
        text = doc[i].text
        if text in {"–", "—", ":"} or (text in {".", "!", "?"} and i >= len(doc) - 2):
            return i
        if text in {")", "]"} and _depth(doc, start, i) <= 0:
            return i
    return len(doc)


def _depth(doc: Doc, start: int, place: int) -> int:
    texts = [t.text for t in doc[start:place]]
    brackets = sum(t in {"(", "[", "“"} for t in texts) - sum(t in {")", "]", "”"} for t in texts)
    return brackets + texts.count('"') % 2


def _split_last(doc: Doc, found: list[Piece]) -> list[Piece]:
    """ "A, B and C": the piece after the last comma holds two conjuncts."""
    a, b = found[-1]
    joins = [[i for i in range(*piece) if doc[i].lower_ in {"and", "or"}] for piece in found]
    if len(found) < 2 or any(joins[:-1]) or len(joins[-1]) != 1 or b - a > 12:
        return []
    return [*found[:-1], (a, joins[-1][0]), (joins[-1][0] + 1, b)]


def _whole_phrases(doc: Doc, found: list[Piece]) -> list[Piece]:
    """ "a strong, persistent urge": a comma between adjectives separates nothing."""
    joined: list[Piece] = []
    for n, (a, b) in enumerate(found):
        if joined and doc[joined[-1][1] - 1].tag_ in {"JJ", "JJR"} and doc[a - 1].text == "," and n < len(found) - 1:
            a = joined.pop()[0]
        joined.append((a, b))
    return joined


def _has_inner_list(doc: Doc, start: int, end: int) -> bool:
    """Return True if a list or clause begins within the piece: its commas would be taken for this list's."""
    return any(
        doc[i].lower_ in LEXICON["nested_list_words"] and not (doc[i].lower_ == "as" and doc[i - 1].lower_ == "well")
        for i in range(start, end)
        if not _depth(doc, start, i)
    )


def _is_nominal(doc: Doc, piece: Piece) -> bool:
    """Return True if a piece is nominal: a noun phrase, a gerund or an indirect question."""
    a, b = piece
    if doc[a].lower_ in LEXICON["question_words"]:
        return True
    nominal = doc[a].tag_ in OPENING and any(t.tag_ in {*NOUNS, "VBG"} for t in doc[a:b])
    return nominal and _finite_verb(doc, piece) is None


def _finite_verb(doc: Doc, piece: Piece) -> int | None:
    """Return the first finite verb of a piece; None if a relative pronoun or question word precedes it."""
    a, b = piece
    for i in range(a, b):
        if doc[i].tag_ in {*RELATIVE, "WRB"} or doc[i].lower_ in {"that", "whether"}:
            return None
        if doc[i].tag_ in FINITE:
            return i
    return None


def _head(doc: Doc, piece: Piece) -> Token | None:
    """Return the head of a piece, the word that the others depend on."""
    a, b = piece
    above = [t for t in doc[a:b] if not a <= t.head.i < b]
    if doc[a].lower_ in LEXICON["question_words"]:
        return next((t for t in above if t.pos_ in VERBAL), None)
    if doc[a].tag_ == "VBG" and (doc[a] in above or any(c.dep_ in {"dobj", "prep", "prt"} for c in doc[a].children)):
        return doc[a]
    run = a
    while run < b and (doc[run].tag_ in {*OPENING, "HYPH", "POS"} or doc[run].text == ","):
        run += 1
    return next((t for t in reversed(list(doc[a:run])) if t.tag_ in NOUNS), None)


def _chain(token: Token, found: list[Piece], heads: list[Token]) -> list[Change]:
    """Make each head a conjunct of the one before, with its piece depending on it."""
    doc, changes = token.doc, list[Change]()
    for n, ((a, b), head) in enumerate(zip(found, heads, strict=True)):
        above = token if n == 0 else heads[n - 1]
        role = "conj" if n else "dobj" if token.pos_ in VERBAL and token.lower_ != "including" else "pobj"
        changes += [(head.i, "head", above.i), (head.i, "dep", role)]
        if head.pos_ not in {"NOUN", "PROPN"} or head.tag_ == "VBG":
            changes += [(head.i, "pos", "NOUN"), (head.i, "tag", "NN")]
        for inner in doc[a:b]:
            if inner != head and not a <= inner.head.i < b:
                changes.append((inner.i, "head", head.i))
                if inner.dep_ in LINKED:
                    changes.append((inner.i, "dep", "dep"))
        if n:
            for join in range(found[n - 1][1], a):
                role = "cc" if doc[join].lower_ in {"and", "or"} else "punct"
                changes += [(join, "head", above.i), (join, "dep", role)]
    inside = {i for a, b in found for i in range(a, b)} - set(range(*found[-1]))
    changes += [(t.i, "head", heads[-1].i) for t in doc[found[-1][1] :] if t.head.i in inside]
    if token.lower_ == "including":
        changes.append((token.i, "dep", "prep"))
    return changes


def split_examples(doc: Doc, draft: Draft) -> list[Draft]:
    """Return the statement without its examples and one with each example as the general noun; else the draft alone."""
    inside = indices(draft)
    for token in (doc[i] for i in sorted(inside)):
        aside = token.head.i in inside and tree.after_comma(token) and not tree.in_brackets(token)
        if gives_examples(token) and aside and (drafts := _substitute(token, draft, inside)):
            return drafts
    return [draft]


def _general_noun(preposition: Token) -> Token | None:
    """Return the noun that the examples can replace, because the statement holds for each; None if it may not."""
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
