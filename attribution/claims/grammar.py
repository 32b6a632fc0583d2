"""What the rules on claims ask of a parse."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

SUBJECTS = ("nsubj", "nsubjpass")
CLAUSAL_SUBJECTS = (*SUBJECTS, "csubj", "csubjpass", "expl")
BE = ("is", "are", "was", "were")
VERBAL = ("VERB", "AUX")
_CELL = r"[^:;]{1,60}: [^;]+"
_ROW = re.compile(rf".*\|.*|{_CELL}(?:; {_CELL})+", re.DOTALL)


def root(doc: Doc) -> Token:
    """The main verb (or noun) of the first sentence."""
    return next(iter(doc.sents)).root


def has_subject(verb: Token) -> bool:
    return any(t.dep_ in CLAUSAL_SUBJECTS for t in verb.children)


def lower_initial(text: str) -> str:
    return text[:1].lower() + text[1:]


def is_table_row(text: str) -> bool:
    """Whether it is written as a row: "Psycho | 1960", or "Film: Psycho; Year: 1960" with the table's headings."""
    return bool(_ROW.fullmatch(text))
