"""Lists as they are written: after "include" or "such as", the pieces between the commas go on from one another,
wherever the parser hung them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attribution.segmenters.syntax.drafts import SUBJECTS
from attribution.segmenters.syntax.grammar import FINITE, NOUNS, RELATIVE, VERBAL, first, members

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

Change = tuple[int, str, int | str]  # token, what is changed (head, dep, tag), the new value
Piece = tuple[int, int]  # first token and the one after the last

LISTING = {"include", "includes", "included", "involve", "involves", "involved"}
OPENING = {"DT", "PDT", "PRP$", "JJ", "JJR", "JJS", *NOUNS, "CD", "VBG", "VBN", "RB", "RBR", "``", "$"}
CLAUSES = {"whether", "how", "what", "why"}
NESTED = {"such", "including", "like", "e.g.", "namely", "especially", "particularly", "as", "rather", "not", "but"}
LINKED = {"conj", "appos", "dobj", "pobj", "attr", "dep", "ROOT", "advcl", "ccomp", "xcomp", "pcomp", *SUBJECTS}


def listed(token: Token) -> list[Change]:
    """ "include a burning sensation, passing small amounts, and cloudy urine": three things that are included."""
    if not opener(token) and not _governor(token):
        return []
    found = pieces(token.doc, token.i + 1, verbal=token.pos_ in VERBAL)
    if len(found) < 3 or not all(_nominal(token.doc, piece) for piece in found):
        return []
    gerunds = [token.doc[a].tag_ == "VBG" for a, _ in found]
    if not opener(token) and len(set(gerunds)) > 1:
        return []  # "promoting A, B, and doing C"
    if gerunds[0] and not all(gerunds) and found[0][1] - found[0][0] > 1:
        return []  # "include adjusting the content, process, or products": objects of the gerund
    if not gerunds[0] and all(gerunds[1:]):
        return []  # "include rules for doing A, avoiding B, and seeking C"
    heads = [_head(token.doc, piece) for piece in found]
    if any(head is None or head.dep_ == "ROOT" or token in head.subtree for head in heads):
        return []
    if not opener(token) and sum(h in members(heads[0]) for h in heads) in {1, len(heads)}:
        return []  # the parser saw no list, or all of it
    return _chained(token, found, heads)


def opener(token: Token) -> bool:
    """Whether a list may begin behind it."""
    before = token.doc[token.i - 1] if token.i else token
    if token.lower_ == "as":
        return bool(before.lower_ == "such")
    if token.lower_ == "like":
        return bool(token.tag_ == "IN" and before.tag_ == "NNS" and token.head == before)
    return token.lower_ in LISTING and token.tag_ in {"VB", "VBP", "VBZ", "VBD"} or token.lower_ == "including"


def _governor(token: Token) -> bool:
    """A verb or preposition whose object begins right behind it."""
    objects = [c for c in token.children if c.dep_ in {"dobj", "pobj"} and first(c) == token.i + 1]
    verb = token.head if token.pos_ == "ADP" and token.lower_ not in {"like", "than", "as"} else token
    return verb.pos_ == "VERB" and bool(objects)


def pieces(doc: Doc, start: int, verbal: bool) -> list[Piece]:
    """What stands between the commas (or semicolons) up to the piece behind ", and"; none where it is no such list."""
    end = _end(doc, start)
    marks = [i for i in range(start, end) if doc[i].text in {",", ";"} and not _depth(doc, start, i)]
    semicolons = [i for i in marks if doc[i].text == ";"]
    marks = semicolons or marks
    found: list[Piece] = []
    at, joined = start, False
    for mark in [*marks, end]:
        joined = doc[at].lower_ in {"and", "or"}
        found.append((at + joined, mark))
        at = mark + 1
        if joined:
            break
    if not joined:
        found = [] if semicolons else _last_two(doc, found)
    if found and not semicolons:
        found = _whole_phrases(doc, found)
        if any(_inner(doc, a, b) for a, b in found):
            return []
        a, b = found[-1]
        told = next((i for i in range(a, b) if doc[i].tag_ in FINITE and not _relative(doc, a, i)), None)
        if told is not None:
            if verbal or any(t.tag_ in FINITE for t in doc[:start]):
                return []  # ", and patients may die": a clause, not a member
            found[-1] = (a, told)
    return found if all(a < b for a, b in found) else []


def _end(doc: Doc, start: int) -> int:
    """Where the sentence, or the bracket around the list, ends."""
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


def _last_two(doc: Doc, found: list[Piece]) -> list[Piece]:
    """ "A, B and C": the piece behind the last comma holds the last two."""
    a, b = found[-1]
    joins = [[i for i in range(*piece) if doc[i].lower_ in {"and", "or"}] for piece in found]
    if len(found) < 2 or any(joins[:-1]) or len(joins[-1]) != 1 or b - a > 12:
        return []
    return [*found[:-1], (a, joins[-1][0]), (joins[-1][0] + 1, b)]


def _whole_phrases(doc: Doc, found: list[Piece]) -> list[Piece]:
    """ "a strong, persistent urge": a comma between adjectives parts nothing."""
    joined: list[Piece] = []
    for n, (a, b) in enumerate(found):
        if joined and doc[joined[-1][1] - 1].tag_ in {"JJ", "JJR"} and doc[a - 1].text == "," and n < len(found) - 1:
            a = joined.pop()[0]
        joined.append((a, b))
    return joined


def _inner(doc: Doc, start: int, end: int) -> bool:
    """Whether a list or clause of its own begins within the piece, whose commas would be taken for the list's."""
    return any(doc[i].lower_ in NESTED and not (doc[i].lower_ == "as" and doc[i - 1].lower_ == "well")
               for i in range(start, end) if not _depth(doc, start, i))  # fmt: skip


def _nominal(doc: Doc, piece: Piece) -> bool:
    """Whether a piece names something: a noun phrase, a gerund or an indirect question."""
    a, b = piece
    if doc[a].lower_ in CLAUSES:
        return True
    if doc[a].tag_ not in OPENING or not any(t.tag_ in NOUNS or t.tag_ == "VBG" for t in doc[a:b]):
        return False
    return not any(doc[i].tag_ in FINITE and not _relative(doc, a, i) for i in range(a, b))


def _relative(doc: Doc, start: int, place: int) -> bool:
    """Whether a relative pronoun or question word stands before it in its piece."""
    return any(t.tag_ in {*RELATIVE, "WRB"} or t.lower_ in {"that", "whether"} for t in doc[start:place])


def _head(doc: Doc, piece: Piece) -> Token | None:
    """The word of a piece that the others hang on."""
    a, b = piece
    above = [t for t in doc[a:b] if not a <= t.head.i < b]
    if doc[a].lower_ in CLAUSES:
        return next((t for t in above if t.pos_ in {"VERB", "AUX"}), None)
    if doc[a].tag_ == "VBG" and (doc[a] in above or any(c.dep_ in {"dobj", "prep", "prt"} for c in doc[a].children)):
        return doc[a]
    run = a
    while run < b and (doc[run].tag_ in {*OPENING, "HYPH", "POS"} or doc[run].text == ","):
        run += 1
    return next((t for t in reversed(doc[a:run]) if t.tag_ in NOUNS), None)


def _chained(token: Token, found: list[Piece], heads: list[Token]) -> list[Change]:
    """Each head goes on from the one before, and all of its piece hangs on it."""
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
