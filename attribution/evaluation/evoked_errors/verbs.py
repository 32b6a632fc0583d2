"""Statements that become their negation, and negations that become statements."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from attribution.claims.grammar import BE, SUBJECTS
from attribution.evaluation.evoked_errors.twin import Edit

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

_OPEN = ("may", "might", "can", "could", "should", "would", "must", "'s", "’s", "'re", "’re", "'ve", "’ve", "'d", "’d")
_SUPPORT = {"VBD": "did not", "VBZ": "does not", "VBP": "do not"}
_PARTIAL = {"some", "many", "most", "few", "several", "all", "every", "each", "no", "any", "none", "neither", "either"}
_WEAK = {"only", "hardly", "rarely", "seldom", "never", "nobody", "nothing", "n't", "n’t", "neither", "nor", "barely"}


def negations(doc: Doc) -> Iterator[Edit]:
    """The main statement negated: "is" → "is not", "stands" → "does not stand", "was not" → "was"."""
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
        return  # it would not be clear what is denied
    auxiliary = next((t for t in own if t.dep_ in ("aux", "auxpass") and t.i < root.i), None)
    verb = auxiliary if auxiliary is not None else root
    if verb.lower_ in _OPEN:
        return  # "may" and "may not" are both true
    if verb.pos_ == "AUX" and (auxiliary is not None or root.lemma_ == "be" or verb.lower_ in BE):
        yield Edit(verb.idx, verb.idx + len(verb), f"{verb.text} not")
    elif auxiliary is None and root.tag_ in _SUPPORT and (base := _base(root)):
        yield Edit(root.idx, root.idx + len(root), f"{_SUPPORT[root.tag_]} {base}")


def _base(verb: Token) -> str:
    """The infinitive of a verb form, if it is certain."""
    import lemminflect

    lemmas = lemminflect.getLemma(verb.lower_, upos="VERB")
    return str(lemmas[0]) if len(lemmas) == 1 else ""
