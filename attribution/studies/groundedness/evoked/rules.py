"""Alter English answers by rule, sentence by sentence: negation, names, numbers, order."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from attribution.claims import worthiness
from attribution.segmenters.sentences import Sentences
from attribution.settings import Settings
from attribution.studies.groundedness.evoked import figures
from attribution.studies.groundedness.evoked.twin import KINDS, Edit, Twin, apply, steps, times
from attribution.text.parse import BE, SUBJECTS, parse, with_entities

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

_OPEN = ("may", "might", "can", "could", "should", "would", "must", "'s", "’s", "'re", "’re", "'ve", "’ve", "'d", "’d")
_SUPPORT = {"VBD": "did not", "VBZ": "does not", "VBP": "do not"}
_PARTIAL = {"some", "many", "most", "few", "several", "all", "every", "each", "no", "any", "none", "neither", "either"}
_WEAK = {"only", "hardly", "rarely", "seldom", "never", "nobody", "nothing", "n't", "n’t", "neither", "nor", "barely"}


def negations(doc: Doc) -> Iterator[Edit]:
    """Negate the main statement: "is" → "is not", "stands" → "does not stand", "was not" → "was"."""
    sentences = list(doc.sents)
    if len(sentences) != 1 or doc[0].lower_ in ("yes", "no"):
        return
    root = sentences[0].root
    subject = next((t for t in root.children if t.dep_ in SUBJECTS), None)
    if subject is None or root.pos_ not in ("VERB", "AUX") or subject.i > root.i:
        return
    own = list(root.children)
    if (negation := next((t for t in own if t.dep_ == "neg" and t.lower_ == "not"), None)) is not None:
        before = doc[negation.i - 1]
        if before.pos_ == "AUX" and before.lower_ not in ("do", "does", "did"):
            yield Edit(before.idx, negation.idx + len(negation), before.text)
        return
    if any(t.lower_ in _WEAK for t in doc) or any(t.lower_ in _PARTIAL for t in subject.subtree):
        return  # "some are" and "some are not" can both be true
    if any(t.dep_ == "conj" and t.pos_ in ("VERB", "AUX") for t in own) or any(t.dep_ == "advcl" for t in own):
        return  # the scope of the negation would be unclear
    auxiliary = next((t for t in own if t.dep_ in ("aux", "auxpass") and t.i < root.i), None)
    verb = auxiliary if auxiliary is not None else root
    if verb.lower_ in _OPEN:
        return  # "may" and "may not" are both true
    if verb.pos_ == "AUX" and (auxiliary is not None or root.lemma_ == "be" or verb.lower_ in BE):
        yield Edit(verb.idx, verb.idx + len(verb), f"{verb.text} not")
    elif auxiliary is None and root.tag_ in _SUPPORT and (base := _base(root)):
        yield Edit(root.idx, root.idx + len(root), f"{_SUPPORT[root.tag_]} {base}")


def _base(verb: Token) -> str:
    """Return the infinitive of a verb form, if it is certain."""
    import lemminflect

    lemmas = lemminflect.getLemma(verb.lower_, upos="VERB")
    return str(lemmas[0]) if len(lemmas) == 1 else ""


if TYPE_CHECKING:
    from spacy.tokens import Doc, Span

_NAMES = ("PERSON", "GPE", "LOC", "ORG", "NORP")
_ARTICLES = ("the", "a", "an")


class Sentence(NamedTuple):
    """A factual sentence that occurs in the answer without Markdown."""

    start: int
    doc: Doc


def factual_sentences(answer: str) -> list[Sentence]:
    """Return the sentences that can be altered; opinions, questions and sentences with Markdown inside are left out."""
    claims = worthiness.classify(Sentences(Settings()).segment("", answer).claims, answer)
    spans = [c.spans[0] for c in claims if c.worthiness == "factual" and len(c.spans) == 1]
    whole = [(a, b) for a, b in spans if any(answer[a:b] == c.text for c in claims)]
    return [Sentence(a, parse(answer[a:b])) for a, b in dict.fromkeys(whole)]


def alterations(answer: str, context: str, kind: str, rng: random.Random) -> list[tuple[Edit, ...]]:
    """Return every alteration of one kind that the rules find, in the order of the answer."""
    if kind == "order":
        return [*steps(answer), *_of_sentences(answer, times)]
    if kind == "name":
        return list(_names(answer, context))
    if kind == "number":
        return _of_sentences(answer, lambda doc: figures.numbers(doc, f"{answer}\n{context}", rng))
    return _of_sentences(answer, negations if kind == "negation" else figures.scopes)


def twins(answer: str, context: str, kinds: Sequence[str] = tuple(KINDS), seed: int = 0) -> list[Twin]:
    """Make one twin per kind, where the rules find something to alter; the same seed makes the same twins."""
    found = []
    for kind in kinds:
        rng = random.Random(f"{seed}\x1f{kind}\x1f{answer}")
        possible = [twin for edits in alterations(answer, context, kind, rng) if (twin := apply(answer, edits, kind))]
        new = [t for t in possible if t.response != answer and not _said(t, context)]
        if new:
            found.append(rng.choice(new))
    return found


def _said(twin: Twin, context: str) -> bool:
    """Return True if the context has the altered words in the same surroundings, so that they may be true."""
    (start, end), *_ = twin.changed
    around = twin.response[max(0, start - 15) : end + 15]
    return around in context


def _of_sentences(answer: str, find: Callable[[Doc], Iterator[Edit]]) -> list[tuple[Edit, ...]]:
    return [(Edit(s.start + e.start, s.start + e.end, e.text),) for s in factual_sentences(answer) for e in find(s.doc)]


def _names(answer: str, context: str) -> Iterator[tuple[Edit, ...]]:
    """Replace a name by one of its kind from the context that neither the sentence nor a mention of the name has."""
    sources = [with_entities(s.as_doc()) for s in parse(context).sents] if context.strip() else []
    known = [(e.text, e.label_, doc.text) for doc in sources for e in doc.ents if _usable(e.text)]
    for sentence in factual_sentences(answer):
        doc = with_entities(sentence.doc[:].as_doc())
        for entity in doc.ents:
            if entity.label_ not in _NAMES or not _usable(entity.text) or _part_of_a_name(doc, entity):
                continue
            words = _words(doc.text)
            together = {t for t, _, where in known if entity.text in where}  # mentioned together: both may hold
            others = dict.fromkeys(
                text for text, label, _ in known
                if label == entity.label_ and text not in together and not _words(text) & words
                and (" " in text) == (" " in entity.text)
            )  # fmt: skip
            for other in list(others)[:3]:
                start = sentence.start + entity.start_char
                yield (Edit(start, start + len(entity.text), other),)


def _part_of_a_name(doc: Doc, entity: Span) -> bool:
    """Return True if adjacent words may belong to the same name: "Jackson's MMA Series", "Kent Brewery"."""
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
