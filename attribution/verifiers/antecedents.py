"""Name what the pronoun at the start of a passage's sentence stands for: the subject of the sentence before it.

A sentence that is read by itself says little of a claim if it begins with "It": the verifier reads "The footbridge: It
cost 1.4 million lire" instead. Texts seldom change their subject without naming the new one (centering, Grosz et al.
1995).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from attribution.text.parse import NOMINAL_SUBJECTS, parse, root
from attribution.types import Span

_PRONOUN = re.compile(r"[\s\"“(]*(it|he|she|they|its|his|her|their)\b", re.IGNORECASE)
_ARTICLE = re.compile(r"(?:The|A|An) ")
_PERSON = re.compile(r"(?:er|or|ist|ian|man|woman|ant|ent|king|queen|wife|husband|son|daughter|mother|father)$")
_BACK = 4  # sentences looked through
_WORDS = 12  # a longer subject is cut to its noun and what stands before it


def antecedent(text: str, spans: Sequence[Span], span: Span) -> str:
    """Return the name of what a sentence's first pronoun stands for; empty where it has none, or nothing fits."""
    pronoun = _PRONOUN.match(text, *span)
    if not pronoun or span not in spans:
        return ""
    place = spans.index(span)
    for start, end in reversed(spans[max(0, place - _BACK) : place]):
        if _PRONOUN.match(text, start, end):
            continue
        name, number = _subject(text[start:end])
        plural, singular = ("they", "their"), ("it", "its")
        fits = number == (
            "plural" if pronoun[1].lower() in plural else "thing" if pronoun[1].lower() in singular else "person"
        )
        return name if fits else ""
    return ""


@lru_cache(maxsize=2048)
def _subject(sentence: str) -> tuple[str, str]:
    """Return the subject of a sentence, and whether it is a thing, a person or several."""
    doc = parse(sentence)
    subject = next((c for c in root(doc).children if c.dep_ in NOMINAL_SUBJECTS), None) if len(doc) else None
    if subject is None or subject.pos_ not in ("NOUN", "PROPN"):
        return "", ""
    tokens = sorted(subject.subtree, key=lambda t: t.i)
    cut = next(
        (t.i for t in tokens if t.i > subject.i and (t.is_punct or t.dep_ in ("relcl", "acl", "appos"))),
        tokens[-1].i + 1,
    )
    if cut - tokens[0].i > _WORDS:
        cut = subject.i + 1
    name = doc[tokens[0].i : cut].text.strip()
    if subject.tag_ in ("NNS", "NNPS") or any(c.dep_ == "conj" for c in subject.children):
        return name, "plural"
    return name, "person" if _is_person(name, subject.tag_) else "thing"


def _is_person(name: str, tag: str) -> bool:
    """Return True for a name of a person, or a noun that "he" and "she" may stand for."""
    if tag == "NNP":
        return not _ARTICLE.match(name)
    return bool(_PERSON.search(name))
