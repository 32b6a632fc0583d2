"""Decide what may be cut: a sentence is left whole where its parts say something else."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from spacy.tokens import Doc, Token

from attribution.segmenters.english import tree
from attribution.segmenters.english.drafts import LEXICON, Draft
from attribution.text.parse import SUBJECTS, VERBAL


class Statement(NamedTuple):
    """Part of a sentence, as a sentence of its own.

    Attributes:
        head: Its verb.
        draft: Its words.
        lists: How many statements its lists have made already.
    """

    head: Token
    draft: Draft
    lists: int = 1

    def tokens(self) -> list[Token]:
        """Return its words as the parser has them."""
        return [self.head.doc[part.i] for part in self.draft]

    def without(self, indices: set[int]) -> Draft:
        """Return its words but for some."""
        return tuple(part for part in self.draft if part.i not in indices)


# What stands under these relations alone is part of what the sentence says.
MAIN_LINE = {
    *("ROOT", "conj", "nsubj", "nsubjpass", "dobj", "pobj", "prep", "agent", "pcomp"),
    *("attr", "acomp", "oprd", "dative", "xcomp", "ccomp"),
}


def is_readable(doc: Doc) -> bool:
    """Return True for a statement with subject and verb that the parser seems to understand."""
    sentences = list(doc.sents)
    is_question = doc[0].tag_ in {"WP", "WDT", "WRB"}
    if len(sentences) > 1 or is_question or any(map(_is_suspect, doc)):
        return False
    root = sentences[0].root
    subject = tree.subject_of(root)
    if subject is None:
        return is_command(root)
    commas = sum(token.text == "," for token in doc[subject.i : root.i])
    return tree.is_finite(root) and commas != 1  # one: a verb of the subject, not the main verb


def is_command(root: Token) -> bool:
    """Return True for a base form with adverbials alone before it: "If it bleeds, press on it"."""
    before = {child.dep_ for child in root.lefts}
    return root.tag_ == "VB" and before <= {"advmod", "punct", "prep", "advcl"}


def _is_suspect(token: Token) -> bool:
    """Return True for a coordination that the parser may have misread.

    It has no conjunction, or a verb beside a noun.
    """
    if token.dep_ != "conj":
        group = tree.conjuncts(token)
        is_joined = tree.joining_words(group) or ";" in token.doc.text
        return len(group) > 1 and not is_joined
    own = tree.child(token, {*SUBJECTS, *tree.AUXILIARIES})
    if token.tag_ == "VBD" and token.head.tag_ in {"VBZ", "VBP", "VB"} and own is None:
        return True  # "new and established writers"
    is_verb = token.tag_ in tree.FINITE or token.tag_ == "VB"
    return is_verb and token.head.tag_ in tree.NOUNS


def is_open(head: Token, statement: Statement) -> bool:
    """Return True if what the statement says of a coordination holds for each of its members."""
    steps = tree.path(head, statement.head)
    if not steps:
        return False
    if any(tree.is_negated(token) or _is_fronted(token) for token in steps):
        return False
    for number, token in enumerate(steps[:-1]):
        if token.dep_ in {"relcl", "acl"}:
            if any(step.dep_ in SUBJECTS for step in steps[number:]):
                return False  # "people who smoke and drink die early"
        elif token.dep_ not in {*MAIN_LINE, "amod"} and not _is_purpose(token):
            return False
    is_verb_within = head.pos_ in VERBAL and len(steps) > 1
    for token in steps[1:] if is_verb_within else steps:
        is_closed = token.lower_ in LEXICON["closed"]
        if is_closed and not _is_role(token) and not gives_examples(token):
            return False
        if token.pos_ in VERBAL:
            return tree.lemma_of(token.lower_, "VERB") not in LEXICON["collective"]
    return True


def _is_purpose(clause: Token) -> bool:
    """Return True for "to save time" and ", saving time" behind the verb."""
    if clause.dep_ != "advcl" or clause.i < clause.head.i or tree.child(clause, {"mark"}):
        return False
    return clause.tag_ == "VBG" or any(child.lower_ == "to" for child in clause.lefts)


def _is_fronted(token: Token) -> bool:
    """Return True before the subject: "By reading and writing, they …" does not say by which."""
    subject = tree.subject_of(token.head)
    return token.dep_ == "prep" and subject is not None and token.i < subject.i


def is_joined_by_and(group: Sequence[Token]) -> bool:
    """Return True for a coordination by "and" or "but" alone, without "both" or "not only"."""
    joins = tree.joining_words(list(group))
    start = max(0, tree.first(group[0]) - 2)
    before = {token.lower_ for token in group[0].doc[start : group[0].i]}
    if before & {"both", "either", "neither", "only"}:
        return False
    has_and = bool(joins & {"and", "but", "as"})
    return has_and and joins <= {"and", "but", "as", ",", ";", "so"}


def _is_role(token: Token) -> bool:
    """Return True for "as" in "known as A and B", no comparison."""
    return token.lower_ == "as" and token.dep_ == "prep" and token.head.pos_ == "VERB"


def gives_examples(token: Token) -> bool:
    """Return True for "such as", "including", or "like" after a plural."""
    noun = token.head
    if token.dep_ != "prep" or noun.pos_ not in {"NOUN", "PROPN"} or token.i < noun.i:
        return False
    if token.lower_ == "as":
        return any(child.lower_ == "such" for child in token.children)
    return token.lower_ == "including" or token.lower_ == "like" and noun.tag_ == "NNS"
