"""What a claim is about: a correction that names something else would be another claim."""

from __future__ import annotations

from dataclasses import dataclass

from attribution.claims.grammar import SUBJECTS, root
from attribution.text.lexical import words_of
from attribution.text.nlp import parse
from attribution.text.values import Value, values
from attribution.types import Span


@dataclass(frozen=True)
class Subject:
    """The subject of a claim's main clause, up to a comma, a bracket or a relative clause; (0, 0): there is none."""

    whole: Span = (0, 0)
    named: Span = (0, 0)  # its part up to the main noun, where that names or points at something

    def holds(self, value: Value) -> bool:
        """Whether another value there would change what the claim is about.

        "The film of 1960" is about its year, "30 people died" says how many, "the roofs of 30 houses" too.
        """
        start, end = self.whole if value.kind == "name" else self.named
        return start <= value.start < end


def subject(claim: str) -> Subject:
    """The subject of the first sentence."""
    doc = parse(claim)
    child = next((c for c in root(doc).children if c.dep_ in SUBJECTS), None) if len(doc) else None
    if child is None:
        return Subject()
    tokens = sorted(child.subtree, key=lambda t: t.i)
    start = tokens[0].idx
    cut = (t.idx for t in tokens if t.i > child.i and (t.is_punct or t.dep_ in ("relcl", "acl", "appos")))
    end = next(cut, tokens[-1].idx + len(tokens[-1]))
    noun = child.idx + len(child)
    points = tokens[0].tag_ in ("DT", "PRP$") or any(
        v.kind == "name" and start <= v.start < noun for v in values(claim)
    )
    return Subject((start, end), (start, noun) if points else (0, 0))


def keeps_subject(claim: str, after: str) -> bool:
    """Whether another wording still has all words of the claim's subject."""
    return set(words_of(claim[slice(*subject(claim).whole)])) <= set(words_of(after))
