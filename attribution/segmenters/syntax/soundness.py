"""What keeps fragments out. A statement has a subject and a finite verb, no loose end, and reads as one sentence when
the parser sees it alone."""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise

from spacy.tokens import Doc, Token

from attribution.segmenters.syntax.drafts import CONTENT, Draft, indices, to_text
from attribution.segmenters.syntax.tree import BE, FINITE, RELATIVE, SUBJECTS, child, conjuncts, is_finite
from attribution.text.nlp import parse

DANGLING = {"ADP", "DET", "CCONJ", "SCONJ", "PART"}
SUBJECT_LIKE = {"NOUN", "PROPN", "PRON", "VERB", "DET", "NUM", "ADJ"}


def is_sound(doc: Doc, draft: Draft) -> bool:
    """Whether the draft can stand as a sentence."""
    tokens = [doc[i] if i >= 0 else None for i, _ in draft]
    present = [t for t in tokens if t is not None]
    if len(draft) < 3 or not any(t.pos_ in CONTENT for t in present):
        return False
    inside = indices(draft)
    if any(_is_made_finite(t, t.text) and t.head.i in inside and not _after_comma(t) for t in present):
        return False  # "a director directed films": a past tense that was taken for a participle
    if any(a.text in BE and b.text.lower() == "hence" for a, b in pairwise(draft)):
        return False  # "…, hence their importance": a consequence that was taken for an apposition
    opening, end = tokens[0], tokens[-1]
    if opening is not None:
        relative = opening.lower_ in {"which", "who", "that"} and opening.tag_ != "DT" and opening.dep_ != "det"
        if relative or opening.pos_ == "CCONJ":
            return False
    whole = end is None or end.i == len(doc) - 1 or doc[end.i + 1].is_punct or end.pos_ not in DANGLING
    root = next(doc.sents).root
    if is_imperative(root) and not any(t.dep_ in SUBJECTS and t.head == root for t in present):
        return whole and any(t in conjuncts(root) for t in present)
    verbs = [
        n
        for n, (token, part) in enumerate(zip(tokens, draft, strict=True))
        if (part.text in {*BE, "has", "have", "had"} if token is None else _carries_tense(token, part.text))
    ]
    if not verbs or not any(t is not None and t.pos_ in SUBJECT_LIKE for t in tokens[: verbs[-1]]):
        return False
    return whole and (len(draft) == len(doc) or is_sentence(to_text(doc, draft)))


@lru_cache(maxsize=4096)
def is_sentence(text: str) -> bool:
    """Whether the parser sees one sentence with a subject and a finite verb."""
    sentences = list(parse(text).sents)
    root = sentences[0].root
    subject = child(root, SUBJECTS)
    if len(sentences) != 1 or subject is None or not is_finite(root) or subject.tag_ in RELATIVE or root.tag_ == "MD":
        return False
    if any(c.dep_ == "mark" or c.tag_ == "WRB" for c in root.lefts):
        return False  # a subordinate clause
    commas = [t for t in root.doc[subject.i : root.i] if t.text == "," and t.head in {subject, root}]
    return len(commas) != 1  # one alone parts the subject from its verb


def is_imperative(root: Token) -> bool:
    """ "If it bleeds, press on it": a base form without a subject, after adverbials at most."""
    before = {c.dep_ for c in root.lefts}
    return root.tag_ == "VB" and root.dep_ == "ROOT" and before <= {"advmod", "punct", "cc", "prep", "advcl"}


def _carries_tense(verb: Token, text: str) -> bool:
    return verb.tag_ in FINITE or _is_made_finite(verb, text)


def _is_made_finite(verb: Token, text: str) -> bool:
    """A participle that a rule has made finite, or that is a finite verb the parser took for one."""
    if verb.tag_ == "VBN" and verb.dep_ in {"acl", "advcl"} and child(verb, {"dobj"}) is not None:
        return True
    return verb.tag_ == "VBG" and text != verb.text


def _after_comma(verb: Token) -> bool:
    return verb.i > 0 and verb.doc[verb.i - 1].text == ","
