"""Signs that the parser lost its way in a sentence, which then stays whole."""

from __future__ import annotations

from spacy.tokens import Doc, Token

from attribution.segmenters.syntax.tree import NOMINAL_SUBJECTS, NOUNS, RELATIVE, SUBJECTS, VERBAL, child, first


def is_reliable(doc: Doc) -> bool:
    """Whether the parse shows none of these signs."""
    return not any(sign(token) for sign in SIGNS for token in doc)


def _verb_without_conjunction(token: Token) -> bool:
    """A verb coordinated with another without "and" or comma: the parser took the main verb for a conjunct."""
    if token.dep_ != "conj" or token.pos_ not in VERBAL or token.head.pos_ not in VERBAL or not first(token):
        return False
    before = token.doc[first(token) - 1]
    return not (before.is_punct or before.dep_ == "cc" or before.lower_ in {"then", "as"})


def _subject_cut_off(token: Token) -> bool:
    """A single comma between a subject with a relative clause and its verb: the verb belongs to that clause."""
    if token.dep_ not in NOMINAL_SUBJECTS or token.head.i < token.i:
        return False
    commas = [t for t in token.doc[token.i : token.head.i] if t.text == "," and t.head in {token, token.head}]
    return len(commas) == 1 and child(token, {"relcl"}) is not None


def _verb_taken_for_participle(token: Token) -> bool:
    """ "solo singers and the number of arias increased": a main verb that ends its clause."""
    if token.dep_ != "acl" or token.tag_ not in {"VBN", "VBD"} or token.i + 1 >= len(token.doc):
        return False
    return token.doc[token.i + 1].is_punct and token.head.i < token.i - 1 and token.head.dep_ == "conj"


def _finite_without_subject(token: Token) -> bool:
    """A finite adverbial clause without a subject."""
    return (
        token.dep_ == "advcl"
        and token.tag_ in {"VBZ", "VBP"}
        and not any(c.dep_ in {*SUBJECTS, "mark"} or c.tag_ in {"WRB", *RELATIVE} for c in token.children)
    )


def _list_in_relative_clause(token: Token) -> bool:
    """A list with semicolons that would continue inside a relative clause."""
    start = first(token)
    listed = token.dep_ == "conj" and token.tag_ in NOUNS and start > 0 and token.doc[start - 1].text == ";"
    return listed and any(a.dep_ == "relcl" for a in token.ancestors)


SIGNS = (
    _verb_without_conjunction,
    _subject_cut_off,
    _verb_taken_for_participle,
    _finite_without_subject,
    _list_in_relative_clause,
)
