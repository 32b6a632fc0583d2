"""Query the words of a dependency tree: subject, tense, negation, number, coordination."""

from __future__ import annotations

from functools import lru_cache
from types import ModuleType

from spacy.tokens import Token

from attribution.models.engine import load_once
from attribution.segmenters.english.drafts import LEXICON, Draft
from attribution.text.parse import SUBJECTS, VERBAL

AUXILIARIES = {"aux", "auxpass"}
FINITE = {"VBZ", "VBP", "VBD", "MD"}
NOUNS = {"NN", "NNS", "NNP", "NNPS"}
PLURALS = {"NNS", "NNPS"}
PLURAL_PRONOUNS = {"they", "we", "you", "people", "these", "those"}
JOINS = {"cc", "preconj", "conj"}
SINGULAR = {"are": "is", "were": "was", "have": "has", "do": "does", "’re": "is", "'re": "is"}


def child(token: Token, deps: set[str]) -> Token | None:
    """Return the first child with one of these dependency labels."""
    return next((c for c in token.children if c.dep_ in deps), None)


def indices_below(*tokens: Token) -> set[int]:
    """Return the indices of these tokens and their descendants."""
    return {t.i for token in tokens for t in token.subtree}


def path(token: Token, top: Token) -> list[Token]:
    """Return the tokens from one up to another, both included.

    Empty if the other one is not above it.
    """
    steps = [token, *token.ancestors]
    return steps[: steps.index(top) + 1] if top in steps else []


def conjuncts(head: Token) -> list[Token]:
    """Return the conjuncts of a coordination in order, including its head."""
    group = [head]
    for token in group:
        group += [c for c in token.children if c.dep_ == "conj"]
    return sorted(group, key=lambda t: t.i)


def own_words(conjunct: Token) -> set[int]:
    """Return the indices of a conjunct without other conjuncts, conjunctions and their commas.

    Those of "tea" in "hot tea, cake and bread" are "hot tea".
    """
    joins = [child for child in conjunct.children if child.dep_ in JOINS]
    starts = {first(child) for child in joins}
    marks = [child for child in conjunct.rights if child.text in {",", ";"}]
    commas = [mark for mark in marks if mark.i + 1 in starts]
    return indices_below(conjunct) - indices_below(*joins, *commas)


def joining_words(group: list[Token]) -> set[str]:
    """Return the conjunctions of a coordination, in lower case."""
    words: set[str] = set()
    for member in group:
        words.update(child.lower_ for child in member.children if child.dep_ in {"cc", "preconj"})
    return words


def first(token: Token) -> int:
    """Return the index at which the phrase of a token begins."""
    return token.left_edge.i


def is_after_comma(token: Token) -> bool:
    """Return True if the token's phrase follows a comma."""
    return first(token) > 0 and token.doc[first(token) - 1].text == ","


def is_finite(verb: Token) -> bool:
    """Return True if the verb or one of its auxiliaries is finite."""
    if verb.pos_ not in VERBAL:
        return False
    helping = [child for child in verb.children if child.dep_ in AUXILIARIES]
    return any(token.tag_ in FINITE for token in (verb, *helping))


def subject_of(verb: Token) -> Token | None:
    """Return the verb's own subject, before it."""
    return next((c for c in verb.lefts if c.dep_ in SUBJECTS), None)


def is_negated(token: Token) -> bool:
    """Return True if the word is negative or has a negative word beside it."""
    words = {token.lower_, *(child.lower_ for child in token.children)}
    return bool(words & LEXICON["negative"]) or child(token, {"neg"}) is not None


def is_conditional(clause: Token) -> bool:
    """Return True for a clause with "if", "unless", "when", or "Had the dam broken"."""
    if clause.dep_ != "advcl":
        return False
    marks = {c.lower_ for c in clause.lefts if c.dep_ in {"mark", "advmod"}}
    is_inverted = clause.left_edge.lower_ in {"had", "should", "were"}
    return is_inverted or bool(marks & LEXICON["conditional"])


def is_plural(noun: Token) -> bool:
    """Return True for a plural, "they", and "Ann and Ben"."""
    return noun.tag_ in PLURALS or noun.lower_ in PLURAL_PRONOUNS or len(conjuncts(noun)) > 1


def has_determiner(noun: Token) -> bool:
    """Return True for "the tower" and "its height"."""
    return any(c.dep_ in {"det", "poss"} for c in noun.lefts)


def agree(draft: Draft, verb: Token, subject: Token) -> Draft:
    """Put the verb in the singular if a singular noun has replaced its plural subject.

    Args:
        draft: The statement, which has the new subject.
        verb: Its verb.
        subject: The new subject.
    """
    if subject.tag_ in PLURALS or subject.lower_ == "people":
        return draft
    helping = [child for child in verb.lefts if child.dep_ in AUXILIARIES]
    finite = next((token for token in (*helping, verb) if token.tag_ in FINITE), verb)
    form = SINGULAR.get(finite.lower_, finite.text)
    if finite.tag_ == "VBP" and finite.lower_ not in SINGULAR:
        form = inflect(finite.text, "VBZ")
    return tuple(part._replace(text=form) if part.i == finite.i else part for part in draft)


# --- forms of words ---


@load_once
def _lemminflect() -> ModuleType:
    """Return the package with its tables loaded."""
    import lemminflect

    lemminflect.getLemma("be", "VERB")
    lemminflect.getInflection("be", "VBZ")
    loaded: ModuleType = lemminflect
    return loaded


@lru_cache(maxsize=4096)
def lemma_of(word: str, pos: str) -> str:
    """Return the base form of a word with this part of speech, by lemminflect: lemma_of("mice",
    "NOUN") == "mouse".
    """
    if pos in {"PROPN", "NUM", "PUNCT", "SYM"} or not word.isalpha():
        return word
    lemmas = ()
    if pos in {"NOUN", "VERB", "AUX", "ADJ", "ADV"}:
        lemmas = _lemminflect().getLemma(word.lower(), pos)
    return str(lemmas[0]) if lemmas else word.lower()


@lru_cache(maxsize=4096)
def inflect(verb: str, tag: str) -> str:
    """Return the form of a verb with this Penn tag, by lemminflect: inflect("make", "VBD") ==
    "made".
    """
    return str(_lemminflect().getInflection(verb, tag)[0])
