"""When a parse is not to be trusted: signs that the parser lost its way in the sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attribution.segmenters.syntax.drafts import SUBJECTS
from attribution.segmenters.syntax.grammar import NOUNS, RELATIVE, VERBAL, first

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token


def trusted(doc: Doc) -> bool:
    """No sign that the parser lost its way in the sentence."""
    return not any(sign(t) for sign in (_unjoined, _parted, _dangling, _without_subject, _within) for t in doc)


def _unjoined(token: Token) -> bool:
    """A verb that goes on from another without "and" or comma: the real main verb came later than the parser saw."""
    if token.dep_ != "conj" or token.pos_ not in VERBAL or token.head.pos_ not in VERBAL:
        return False
    start = first(token)
    before = token.doc[start - 1] if start else None
    return before is not None and not (before.is_punct or before.dep_ == "cc" or before.lower_ in {"then", "as"})


def _parted(token: Token) -> bool:
    """One comma between a subject with a clause of its own and its verb: the verb goes on with that clause."""
    if token.dep_ not in {"nsubj", "nsubjpass"} or token.head.i < token.i:
        return False
    between = [t for t in token.doc[token.i : token.head.i] if t.text == "," and t.head in {token, token.head}]
    return len(between) == 1 and any(c.dep_ == "relcl" for c in token.children)


def _dangling(token: Token) -> bool:
    """ "solo singers and the number of arias increased": a verb taken for a participle at the end of its noun."""
    if token.dep_ != "acl" or token.tag_ not in {"VBN", "VBD"} or token.i <= token.head.i:
        return False
    after = token.doc[token.i + 1] if token.i + 1 < len(token.doc) else None
    return after is not None and after.is_punct and token.head.i < token.i - 1 and token.head.dep_ == "conj"


def _without_subject(token: Token) -> bool:
    """A finite verb of a clause of its own that nobody does."""
    return (
        token.dep_ == "advcl"
        and token.tag_ in {"VBZ", "VBP"}
        and not any(c.dep_ in {*SUBJECTS, "mark"} or c.tag_ in {"WRB", *RELATIVE} for c in token.children)
    )


def _within(token: Token) -> bool:
    """A list with semicolons that would go on within a relative clause."""
    start = first(token)
    listed = token.dep_ == "conj" and token.tag_ in NOUNS and start and token.doc[start - 1].text == ";"
    return bool(listed) and any(a.dep_ == "relcl" for a in token.ancestors)
