"""Name what the start of a passage's sentence stands for: the subject of the sentence before it.

A sentence that is read by itself says little of a claim if it begins with "It": the verifier reads
"The footbridge: It
cost 1.4 million lire" instead. Texts seldom change their subject without naming the new one
(centering, Grosz et al.
1995). "The architect was …" is so read for a claim about "the architect of the footbridge"
(bridging, Clark 1975).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from attribution.text.parse import NOMINAL_SUBJECTS, parse, root
from attribution.types import Span

_PRONOUN = re.compile(r"[\s\"“(]*(it|he|she|they|its|his|her|their)\b", re.IGNORECASE)
_ARTICLE = re.compile(r"(?:The|A|An) ")
_PART = re.compile(
    r"\b([\w-]+) (?:of|at|in|for|on) (?:the |this )?((?:[\w-]+ ){0,2}[\w-]+)"
)  # and its whole
_PERSON = re.compile(
    r"(?:er|or|ist|ian|man|woman|ant|ent|king|queen|wife|husband|son|daughter|mother|father)$"
)
_BACK = 4  # sentences looked through
_WORDS = 12  # a longer subject is cut to its noun and what stands before it


def antecedent(claim: str, text: str, spans: Sequence[Span], span: Span) -> str:
    """Return the name of what a sentence's first pronoun stands for, or what a claim says its first
    noun is a part of.

    Empty where it has neither, or nothing fits.
    """
    pronoun = _PRONOUN.match(text, *span)
    wholes = () if pronoun else _wholes(claim, text[slice(*span)])
    if not (pronoun or wholes) or span not in spans:
        return ""
    place = spans.index(span)
    for start, end in reversed(spans[max(0, place - _BACK) : place]):
        if _PRONOUN.match(text, start, end):
            continue
        name, noun, number = _subject(text[start:end])
        if pronoun is None:
            return name if noun.lower() in wholes else ""
        plural, singular = ("they", "their"), ("it", "its")
        fits = number == (
            "plural"
            if pronoun[1].lower() in plural
            else "thing"
            if pronoun[1].lower() in singular
            else "person"
        )
        return name if fits else ""
    return ""


def _wholes(claim: str, sentence: str) -> tuple[str, ...]:
    """Return what may be the whole of a sentence's subject: "footbridge" for "The architect of the
    footbridge …".
    """
    if not _ARTICLE.match(sentence) or not any(
        part[1].lower() in sentence.lower() for part in _PART.finditer(claim)
    ):
        return ()
    name, noun, _ = _subject(sentence)
    parts = (part for part in _PART.finditer(claim) if part[1].lower() == noun.lower())
    return (
        tuple(word for part in parts for word in part[2].lower().split())
        if len(name.split()) <= 3
        else ()
    )


@lru_cache(maxsize=2048)
def _subject(sentence: str) -> tuple[str, str, str]:
    """Return the subject of a sentence, its noun, and whether it is a thing, a person or several."""
    doc = parse(sentence)
    subject = (
        next((c for c in root(doc).children if c.dep_ in NOMINAL_SUBJECTS), None)
        if len(doc)
        else None
    )
    if subject is None or subject.pos_ not in ("NOUN", "PROPN"):
        return "", "", ""
    tokens = sorted(subject.subtree, key=lambda t: t.i)
    cut = next(
        (
            t.i
            for t in tokens
            if t.i > subject.i and (t.is_punct or t.dep_ in ("relcl", "acl", "appos"))
        ),
        tokens[-1].i + 1,
    )
    if cut - tokens[0].i > _WORDS:
        cut = subject.i + 1
    name = doc[tokens[0].i : cut].text.strip()
    if subject.tag_ in ("NNS", "NNPS") or any(c.dep_ == "conj" for c in subject.children):
        return name, subject.text, "plural"
    return name, subject.text, "person" if _is_person(name, subject.tag_) else "thing"


def _is_person(name: str, tag: str) -> bool:
    """Return True for a name of a person, or a noun that "he" and "she" may stand for."""
    if tag == "NNP":
        return not _ARTICLE.match(name)
    return bool(_PERSON.search(name))
