"""Parsed sentences for the tests of single rules: words are found by their text."""

from __future__ import annotations

from spacy.tokens import Doc, Token

from attribution.segmenters.english.drafts import Draft, parts, to_text, trim
from attribution.segmenters.english.repairs import repair
from attribution.text.parse import parse


def repaired(text: str) -> Doc:
    return repair(parse(text))


def token(doc: Doc, word: str) -> Token:
    """The first token with this text."""
    return next(t for t in doc if t.text == word)


def word(text: str, word: str) -> Token:
    return token(parse(text), word)


def whole(doc: Doc) -> Draft:
    """All words but the full stop."""
    return trim(parts(doc))


def written(doc: Doc, drafts: list[Draft]) -> list[str]:
    return [to_text(doc, draft) for draft in drafts]


_POS = {"N": "NOUN", "V": "VERB", "J": "ADJ", "D": "DET", "C": "CCONJ", "P": "PRON", "W": "PRON", "T": "PART",
        "R": "ADP", ",": "PUNCT"}  # fmt: skip


def made(*rows: str) -> Doc:
    """A parse as given: "word tag dependency head's index" for each word, so that a rule meets just this error."""
    columns = [row.split() for row in rows]
    return Doc(
        parse("").vocab,
        words=[c[0] for c in columns],
        tags=[c[1] for c in columns],
        deps=[c[2] for c in columns],
        heads=[int(c[3]) for c in columns],
        pos=["PROPN" if c[1] == "NNP" else _POS[c[1][0]] for c in columns],
    )
