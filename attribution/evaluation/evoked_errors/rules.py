"""Alterations by rule: English answers, sentence by sentence, from the parse and the named entities."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from attribution.claims import worthiness
from attribution.evaluation.evoked_errors import figures, order, verbs
from attribution.evaluation.evoked_errors.twin import KINDS, Edit, Twin, apply
from attribution.segmenters.sentences import Sentences
from attribution.settings import Settings
from attribution.text.nlp import parse, with_entities

if TYPE_CHECKING:
    from spacy.tokens import Doc, Span

_NAMES = ("PERSON", "GPE", "LOC", "ORG", "NORP")
_ARTICLES = ("the", "a", "an")


class Sentence(NamedTuple):
    """A factual sentence that stands in the answer as it is read, without marks."""

    start: int
    doc: Doc


def factual_sentences(answer: str) -> list[Sentence]:
    """The sentences that can be altered; those with Markdown inside, opinions and questions are left alone."""
    claims = worthiness.classify(Sentences(Settings()).segment("", answer).claims, answer)
    spans = [c.spans[0] for c in claims if c.worthiness == "factual" and len(c.spans) == 1]
    whole = [(a, b) for a, b in spans if any(answer[a:b] == c.text for c in claims)]
    return [Sentence(a, parse(answer[a:b])) for a, b in dict.fromkeys(whole)]


def alterations(answer: str, context: str, kind: str, rng: random.Random) -> list[tuple[Edit, ...]]:
    """Every alteration of one kind that the rules find, in the order of the answer."""
    if kind == "order":
        return [*order.steps(answer), *_of_sentences(answer, order.times)]
    if kind == "name":
        return list(_names(answer, context))
    if kind == "number":
        return _of_sentences(answer, lambda doc: figures.numbers(doc, f"{answer}\n{context}", rng))
    return _of_sentences(answer, verbs.negations if kind == "negation" else figures.scopes)


def twins(answer: str, context: str, kinds: Sequence[str] = tuple(KINDS), seed: int = 0) -> list[Twin]:
    """One twin a kind, as far as the rules find something to alter; the same seed makes the same twins."""
    found = []
    for kind in kinds:
        rng = random.Random(f"{seed}\x1f{kind}\x1f{answer}")
        possible = [twin for edits in alterations(answer, context, kind, rng) if (twin := apply(answer, edits, kind))]
        new = [t for t in possible if t.response != answer and not _said(t, context)]
        if new:
            found.append(rng.choice(new))
    return found


def _said(twin: Twin, context: str) -> bool:
    """Whether the context has the altered words in the same surroundings, so that they may be true."""
    (start, end), *_ = twin.changed
    around = twin.response[max(0, start - 15) : end + 15]
    return around in context


def _of_sentences(answer: str, find: Callable[[Doc], Iterator[Edit]]) -> list[tuple[Edit, ...]]:
    return [(Edit(s.start + e.start, s.start + e.end, e.text),) for s in factual_sentences(answer) for e in find(s.doc)]


def _names(answer: str, context: str) -> Iterator[tuple[Edit, ...]]:
    """Another name of the same kind from the context, that the sentence and what the context says of it lack."""
    sources = [with_entities(s.as_doc()) for s in parse(context).sents] if context.strip() else []
    known = [(e.text, e.label_, doc.text) for doc in sources for e in doc.ents if _usable(e.text)]
    for sentence in factual_sentences(answer):
        doc = with_entities(sentence.doc[:].as_doc())
        for entity in doc.ents:
            if entity.label_ not in _NAMES or not _usable(entity.text) or _part_of_a_name(doc, entity):
                continue
            words = _words(doc.text)
            together = {t for t, _, where in known if entity.text in where}  # named in one breath: perhaps both hold
            others = dict.fromkeys(
                text for text, label, _ in known
                if label == entity.label_ and text not in together and not _words(text) & words
                and (" " in text) == (" " in entity.text)
            )  # fmt: skip
            for other in list(others)[:3]:
                start = sentence.start + entity.start_char
                yield (Edit(start, start + len(entity.text), other),)


def _part_of_a_name(doc: Doc, entity: Span) -> bool:
    """Whether the words beside it may belong to the same name, as in "Jackson's MMA Series" and "Kent Brewery"."""
    after = doc[entity.end] if entity.end < len(doc) else None
    before = doc[entity.start - 1] if entity.start else None
    inside = before is not None and (before.pos_ == "PROPN" or before.text in ('"', "“", "‘"))
    return inside or after is not None and (after.text[:1].isupper() or after.text in ("'s", "’s", "-", '"', "”"))


def _usable(name: str) -> bool:
    words = name.split()
    titled = all(w[:1].isupper() and not w.isupper() or w in ("of", "de", "van", "von") for w in words)
    plain = all(c.isalpha() or c in " -" for c in name)
    return bool(words and titled and plain and 2 < len(name) <= 40)


def _words(text: str) -> set[str]:
    return {w.strip(".,;:'’()").lower().removesuffix("'s").removesuffix("’s") for w in text.split()} - set(_ARTICLES)
