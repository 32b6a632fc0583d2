"""What keeps fragments out: a statement has a subject, then a finite verb, no loose end, and the parser, shown it
alone, reads one whole sentence."""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

from attribution.segmenters.syntax.drafts import CONTENT, SUBJECTS, Draft, wording
from attribution.segmenters.syntax.grammar import FINITE, RELATIVE, finite, members
from attribution.text.nlp import parse

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

BE = {"is", "are", "was", "were"}
DANGLING = {"ADP", "DET", "CCONJ", "SCONJ", "PART"}
SUBJECT_LIKE = {"NOUN", "PROPN", "PRON", "VERB", "DET", "NUM", "ADJ"}


def sound(doc: Doc, draft: Draft) -> bool:
    """Whether the statement can stand as a sentence of its own."""
    tokens = [doc[i] if i >= 0 else None for i, _ in draft]
    if len(draft) < 3 or not any(t is not None and t.pos_ in CONTENT for t in tokens):
        return False
    words = {i for i, _ in draft}
    if any(t is not None and told(t, t.text) and t.head.i in words and not hung(t) for t in tokens):
        return False  # "a director directed films": the past tense taken for a participle
    if any(a[1] in BE and b[1].lower() == "hence" for a, b in pairwise(draft)):
        return False  # "…, hence their importance": a consequence taken for another name
    opening = tokens[0]
    relative = opening is not None and opening.lower_ in {"which", "who", "that"} and opening.tag_ != "DT"
    if opening is not None and (opening.pos_ == "CCONJ" or (relative and opening.dep_ != "det")):
        return False
    root = next(doc.sents).root
    end = tokens[-1]
    whole = end is None or end.i == len(doc) - 1 or doc[end.i + 1].is_punct or end.pos_ not in DANGLING
    if imperative(root) and not any(t is not None and t.dep_ in SUBJECTS and t.head == root for t in tokens):
        return whole and any(t is not None and t in members(root) for t in tokens)
    verbs = [
        n
        for n, t in enumerate(tokens)
        if (draft[n][1] in {*BE, "has", "have", "had"} if t is None else t.tag_ in FINITE or told(t, draft[n][1]))
    ]
    if not verbs or not any(t is not None and t.pos_ in SUBJECT_LIKE for t in tokens[: verbs[-1]]):
        return False
    return whole and (len(draft) == len(doc) or reads(wording(doc, draft)))


@lru_cache(maxsize=4096)
def reads(text: str) -> bool:
    """Whether the parser, shown the statement alone, sees one sentence with subject and finite verb."""
    sentences = list(parse(text).sents)
    root = sentences[0].root
    subject = next((c for c in root.children if c.dep_ in SUBJECTS), None)
    if len(sentences) != 1 or subject is None or not finite(root) or subject.tag_ in RELATIVE or root.tag_ == "MD":
        return False
    if any((c.dep_ == "mark" or c.tag_ == "WRB") and c.i < root.i for c in root.children):
        return False  # a clause that waits for another
    commas = [t for t in root.doc[subject.i : root.i] if t.text == "," and t.head in {subject, root}]
    return len(commas) != 1  # one alone parts the subject from its verb


def imperative(root: Token) -> bool:
    """ "If it bleeds, press on it": a plain verb with no subject, and nothing before it but its setting."""
    before = {c.dep_ for c in root.children if c.i < root.i}
    return root.tag_ == "VB" and root.dep_ == "ROOT" and before <= {"advmod", "punct", "cc", "prep", "advcl"}


def told(verb: Token, text: str) -> bool:
    """A participle that was made, or read as, a finite verb."""
    active = verb.tag_ == "VBN" and verb.dep_ in {"acl", "advcl"} and any(c.dep_ == "dobj" for c in verb.children)
    return active or (verb.tag_ == "VBG" and text != verb.text)


def hung(verb: Token) -> bool:
    """Whether the verb was made a sentence: its noun then stands before it without a comma between."""
    return verb.i > 0 and bool(verb.doc[verb.i - 1].text == ",")
