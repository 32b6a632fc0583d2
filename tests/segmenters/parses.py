"""Parsed sentences for the tests of single rules: words are found by their text."""

from spacy.tokens import Doc, Token

from attribution.text.parse import parse


def token(doc: Doc, word: str) -> Token:
    """The first token with this text."""
    return next(t for t in doc if t.text == word)


_POS = {
    "N": "NOUN",
    "V": "VERB",
    "J": "ADJ",
    "D": "DET",
    "C": "CCONJ",
    "P": "PRON",
    "W": "PRON",
    "T": "PART",
    "R": "ADP",
    ",": "PUNCT",
}


def made(*rows: str) -> Doc:
    """A parse as given: "word tag dependency head's index" for each word, so that a rule meets just
    this error.
    """
    columns = [row.split() for row in rows]
    return Doc(
        parse("").vocab,
        words=[c[0] for c in columns],
        tags=[c[1] for c in columns],
        deps=[c[2] for c in columns],
        heads=[int(c[3]) for c in columns],
        pos=["PROPN" if c[1] == "NNP" else _POS[c[1][0]] for c in columns],
    )
