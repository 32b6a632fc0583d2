"""Resolve the pronouns of an answer to the only candidate in its sentences, headings and question.

A light form of the filters of Lappin and Leass 1994: pleonastic pronouns (2.2), agreement and
grammatical role (2.1, 2.4). If several candidates are left, none is taken: a wrong name is worse
than a pronoun.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Literal, NamedTuple

from attribution.claims.rules import LEXICON
from attribution.text.parse import (
    MAX_PARSED,
    MAX_SENTENCES,
    NOMINAL_SUBJECTS,
    VERBAL,
    lower_initial,
    parse,
    root,
)
from attribution.text.passages import AnswerPassage, passages, plain
from attribution.text.sentences import sentences as split

if TYPE_CHECKING:
    from spacy.tokens import Doc, Span, Token

Kind = Literal["he", "she", "person", "thing", "name", "people", "things", "many"]

PRONOUNS = {
    **dict.fromkeys(("he", "him", "his"), "he"),
    **dict.fromkeys(("she", "her", "hers"), "she"),
    **dict.fromkeys(("it", "its"), "it"),
    **dict.fromkeys(("they", "them", "their", "theirs"), "they"),
}
POSSESSIVE = frozenset(("his", "her", "its", "their"))
# The kinds of mention that a pronoun can refer to; "name" is a proper noun of unknown kind.
FITS: dict[str, frozenset[str]] = {
    "he": frozenset(("he", "person")),
    "she": frozenset(("she", "person")),
    "it": frozenset(("thing", "name")),
    "they": frozenset(("people", "things", "many")),
}
NEAR = 3  # sentences that are searched for an antecedent
LONGEST_NAME = 9  # words
LONGEST_OF = 6  # words of "of …" that belong to a mention
CLAUSES = ("ccomp", "xcomp", "csubj", "advcl")
MODIFIERS = ("prep", "relcl", "acl")
# Verbs of an "it" that stands for a clause: "it is clear that", "it took years to"
CLAUSAL = frozenset("'s is was be been seems seemed appears appeared takes took costs".split())
VAGUE = re.compile(
    r"""
    (?: an?|many|some|few|several|most|all|no|each|every|any|another|other|more|both|one|two
    | three|certain|this|that|these|those|such|what|which|whose|my|your|our|his|her|its
    | their )\b
    """,
    re.IGNORECASE | re.VERBOSE,
)
_PERSON = re.compile(r"\b(?:he|she|him|his|her)\b", re.IGNORECASE)
_WORD = re.compile(r"\w+")


class Mention(NamedTuple):
    """A noun phrase of a sentence; its offsets are characters of that sentence."""

    text: str  # as in mid-sentence: "the tower"
    start: int
    end: int
    head: Token
    kind: Kind
    is_subject: bool  # of the main clause
    is_whole: bool  # False: a modifier is left out ("people | with little money")


class Sentence(NamedTuple):
    doc: Doc
    mentions: list[Mention]


# --- the mentions of a sentence ---


def mentions(doc: Doc) -> Iterator[Mention]:
    """Yield noun phrases, each with its "of …", and coordinations."""
    for chunk in doc.noun_chunks:
        head = chunk.root
        phrase = _trimmed(chunk)
        if head.pos_ == "PRON" or not phrase:
            continue
        phrase = _with_of(phrase, head)
        yield _mention(phrase, head, _kind(phrase, head))
        yield from _coordination(doc, phrase.start, head)


def _trimmed(chunk: Span) -> Span:
    """Return a noun phrase without marks and conjunctions at its ends."""
    doc, start, end = chunk.doc, chunk.start, chunk.end
    while start < end and (doc[start].is_punct or doc[start].dep_ in ("cc", "preconj")):
        start += 1
    while end > start and doc[end - 1].is_punct:
        end -= 1
    return doc[start:end]


def _with_of(phrase: Span, head: Token) -> Span:
    doc = phrase.doc
    of = next((c for c in head.children if c.lower_ == "of" and c.i == phrase.end), None)
    if of is None:
        return phrase
    rest = doc[of.i : of.right_edge.i + 1]
    is_plain = not any(token.is_punct or token.dep_ == "relcl" for token in rest)
    return doc[phrase.start : rest.end] if is_plain and len(rest) <= LONGEST_OF else phrase


def _coordination(doc: Doc, start: int, head: Token) -> Iterator[Mention]:
    """Yield "Ann and Ben"; nothing for persons and things together, of which "they" are either."""
    members = [head, *head.conjuncts]
    if head.dep_ == "conj" or len(members) == 1:
        return
    phrase = doc[start : members[-1].i + 1]
    kinds = {_kind(doc[m.left_edge.i : m.i + 1], m) for m in members}
    has_persons = bool(kinds & {"he", "she", "person", "people"})
    if not (has_persons and kinds & {"thing", "things"}) and "and" in phrase.text.split():
        yield _mention(phrase, head, "many")


def _mention(span: Span, head: Token, kind: Kind) -> Mention:
    left_out = [c for c in head.children if c.dep_ in MODIFIERS and c.left_edge.i == span.end]
    text = span.text
    if span.start == 0 and span[0].is_title and span[0].pos_ != "PROPN":
        text = lower_initial(text)
    is_subject = head.dep_ in NOMINAL_SUBJECTS and head.head == root(span.doc)
    is_whole = head.pos_ == "PROPN" or kind == "many" or not left_out
    return Mention(text, span.start_char, span.end_char, head, kind, is_subject, is_whole)


def _kind(span: Span, head: Token) -> Kind:
    persons = LEXICON["persons"]
    noun = head.lower_
    if head.tag_ in ("NNS", "NNPS") or noun in ("people", "police", "children"):
        people = persons | LEXICON["male"] | LEXICON["female"] | {"people", "children"}
        return "people" if noun.removesuffix("s") in people else "things"
    if head.pos_ != "PROPN":
        return _gender({noun}) or ("person" if noun in persons else "thing")
    is_titled = any(t.lower_ in LEXICON["titles"] | persons for t in span if t.i < head.i)
    has_article = span[0].pos_ in ("DET", "PRON") and not is_titled
    if has_article or any(c.lower_ == "of" for c in head.children):
        return "thing"
    first_names = [t.lower_ for t in span if t.pos_ == "PROPN"][:1]
    return _gender({span[0].lower_, *first_names}) or ("person" if is_titled else "name")


def _gender(words: set[str]) -> Literal["he", "she"] | None:
    if words & LEXICON["male"]:
        return "he"
    return "she" if words & LEXICON["female"] else None


# --- pronouns ---


def is_expletive(token: Token) -> bool:
    """Return True for an "it" about the weather, or about a clause that follows."""
    if token.lower_ != "it":
        return False
    verb = token.head
    if token.dep_ == "expl" or verb.lower_ in LEXICON["weather"]:
        return True
    if verb.tag_ == "VBN":  # "it is known that", but not "it is used to"
        return any(child.dep_ == "ccomp" for child in verb.children)
    parts = [verb, *(c for c in verb.children if c.dep_ in ("acomp", "attr"))]
    has_clause = any(c.dep_ in CLAUSES and c.i > verb.i for part in parts for c in part.children)
    return verb.lower_ in CLAUSAL and has_clause


def outward_pronouns(doc: Doc) -> Iterator[Token]:
    """Yield the third-person pronouns that refer to something outside the text."""
    candidates = list(mentions(doc))
    for token in doc:
        form = PRONOUNS.get(token.lower_)
        if form is None or token.text == "IT" or is_expletive(token):
            continue
        kinds = FITS[form] | {"name"}
        if form == "they":  # "a tenant … their rent"
            kinds = FITS[form] | {"person"}
        fitting = [m for m in candidates if m.kind in kinds and not _is_apart(token, m)]
        before = any(m.start < token.idx for m in fitting)
        ahead = _is_in_fronted_clause(token) and any(m.is_subject for m in fitting)
        if not before and not ahead:
            yield token


def _is_apart(token: Token, mention: Mention) -> bool:
    """Return True if a mention can't be what the pronoun refers to.

    It holds the pronoun, or is the subject of its verb: "the shield protects it".
    """
    if mention.start <= token.idx < mention.end:
        return True
    if token.lower_ in POSSESSIVE or token.dep_ in NOMINAL_SUBJECTS:
        return False
    return mention.head.head == token.head and mention.head.dep_ in NOMINAL_SUBJECTS


def _is_in_fronted_clause(token: Token) -> bool:
    """Return True for "he" in "When he was twenty, Newton left"."""
    top = root(token.doc)
    clauses = (a for a in token.ancestors if a.dep_ in ("advcl", "prep", "pcomp"))
    return token.head != top and any(a.head == top and a.i < top.i for a in clauses)


# --- what they refer to ---


class Context:
    """The sentences, headings and question that may hold the antecedents of an answer's claims.

    Attributes:
        blocks: The passages of the answer.
        unread: The sentences after the first MAX_SENTENCES, which are not searched.
        question: Mentions in the question, if it is a sentence and no keyword.
    """

    def __init__(self, question: str, answer: str) -> None:
        self.blocks = passages(answer)
        self.unread: set[str] = set()
        self._known: dict[str, list[Sentence]] = {}
        asked = self.sentences(straight(plain(question)))
        full = [s for s in asked if any(t.pos_ in VERBAL for t in s.doc)]
        self.question = [mention for sentence in full for mention in sentence.mentions]
        self._question_words = set(_WORD.findall(question.casefold()))
        self._small_words = {w for w in _WORD.findall(f"{question} {answer}") if w.islower()}
        self._has_persons = bool(_PERSON.search(answer))
        for block in self.blocks:
            self.sentences(straight(block.text))

    def sentences(self, text: str) -> list[Sentence]:
        """Return the sentences of a text; each is parsed by itself, and once."""
        return [s for start, end in split(text, MAX_PARSED) for s in self._read(text[start:end])]

    def _read(self, text: str) -> list[Sentence]:
        if text not in self._known:
            if len(self._known) == MAX_SENTENCES:
                self.unread.add(text)
                return []
            docs = [span.as_doc() for span in parse(text).sents]
            self._known[text] = [Sentence(doc, list(mentions(doc))) for doc in docs]
        return self._known[text]

    def before(self, number: int, place: int) -> list[Sentence]:
        """Return the sentences before a claim, nearest first.

        Those of its block come first, then those of its section's earlier paragraphs.
        """
        return list(islice(self._before(number, place), NEAR))

    def _before(self, number: int, place: int) -> Iterator[Sentence]:
        block = self.blocks[number]
        if place > block.start:
            yield from self._backwards(block, len(block.until(place)))
        for other in reversed(self.blocks[:number]):
            is_outside = other.kind in ("heading", "code", "row")
            if is_outside or other.kind == "item" != block.kind:
                break
            if other.kind == "text":
                yield from self._backwards(other, len(other.text))

    def _backwards(self, block: AnswerPassage, end: int) -> Iterator[Sentence]:
        """Yield the sentences of a block up to a position, without its label, the last one first."""
        text = straight(block.text)
        for start, stop in reversed(split(text, MAX_PARSED)):
            sentence = text[max(start, block.label_end) : min(stop, end)]
            if sentence.strip():
                yield from reversed(self._read(sentence))

    def antecedent(self, form: str, before: Sequence[Sentence], number: int) -> str | None:
        """Return what a pronoun refers to; None if there is nothing or a rival.

        That is the subject of the sentence before, the term of its item, or what is asked about.
        """
        label = self.blocks[number].label
        for sentence in before:
            fitting = [m for m in sentence.mentions if self._fits(m, form)]
            goes_on = any(PRONOUNS.get(t.lower_) == form for t in sentence.doc)
            if fitting and not goes_on:
                return self._name(self._only(fitting), sentence.doc)
        if label and form in ("it", "they"):
            named = [m for s in self.sentences(label) for m in s.mentions]
            return label if sum(self._fits(m, form) for m in named) == 1 else None
        return self._topic(form, number)

    def _only(self, fitting: list[Mention]) -> Mention | None:
        """Return the subject, a coordination by preference, or the only mention without a rival."""
        subjects = [m for m in fitting if m.is_subject]
        subjects.sort(key=lambda m: m.kind != "many")
        best = next(iter(subjects), fitting[0] if len(fitting) == 1 else None)
        if best is None:
            return None
        rivals = [m for m in fitting if _competes(m, best)]
        is_topic = self._is_topic(best) and not any(map(self._is_topic, rivals))
        return best if is_topic or not rivals else None

    def _is_topic(self, mention: Mention) -> bool:
        words = set(_WORD.findall(mention.text.casefold())) - {"the", "a", "an", "of", "and"}
        return bool(words) and words <= self._question_words

    def _topic(self, form: str, number: int) -> str | None:
        """Return what the section's heading or the question is about: one that holds all others."""
        if number and self.blocks[number - 1].kind in ("code", "row"):
            return None
        for found in (self._heading(number), self.question):
            fitting = [m for m in found if self._fits(m, form, is_asked=True)]
            named = [m for m in fitting if not VAGUE.match(m.text)]
            if named:
                outer = max(named, key=lambda m: len(m.text))
                is_one = all(m.text in outer.text for m in named)
                return self._name(outer, None) if is_one else None
        return None

    def _heading(self, number: int) -> list[Mention]:
        """Return what the heading above names: a person, or what the question is about."""
        headings = [block for block in self.blocks[:number] if block.kind == "heading"]
        if not headings:
            return []
        found = [m for s in self.sentences(straight(headings[-1].text)) for m in s.mentions]
        named = [m for m in found if m.kind in ("he", "she") or self._is_topic(m)]
        return named if len(found) == 1 else []

    def _fits(self, mention: Mention, form: str, is_asked: bool = False) -> bool:
        """Return True if gender and number agree."""
        if mention.kind == "name" and form in ("he", "she"):
            return is_asked and mention.head.dep_ in ("attr", *NOMINAL_SUBJECTS)
        if mention.kind == "name" and self._has_persons:
            return False
        return mention.kind in FITS[form]

    def _name(self, mention: Mention | None, doc: Doc | None) -> str | None:
        """Return the text that replaces a pronoun; None if it is vague itself."""
        if mention is None or not mention.is_whole:
            return None
        text = mention.text
        is_defined = doc is not None and root(doc).lower_ in ("is", "are") and mention.is_subject
        if VAGUE.match(text) and not (is_defined and text.startswith(("a ", "an "))):
            return None
        has_pronoun = any(word in PRONOUNS for word in text.lower().split())
        goes_on = doc is not None and doc.text[mention.end : mention.end + 2].strip().isdigit()
        if has_pronoun or goes_on or len(text) < 2 or len(text.split()) > LONGEST_NAME:
            return None
        if text.casefold() in LEXICON["anybody"]:
            return None
        return self._within(text) if mention.start == 0 else text

    def _within(self, text: str) -> str:
        """Remove the capital of a sentence's start."""
        first, *rest = text.split()
        is_name = bool(rest) and all(w[0].isupper() for w in rest)
        is_common = first.istitle() and first.lower() in self._small_words
        return lower_initial(text) if is_common and not is_name else text


def _competes(rival: Mention, best: Mention) -> bool:
    """Return True if a pronoun could as well refer to the other mention."""
    is_same = best.text in rival.text or rival.text in best.text
    if is_same or rival.head.lower_ == best.head.lower_:
        return False
    if best.kind in ("things", "people", "thing"):
        return rival.head.dep_ in ("dobj", *NOMINAL_SUBJECTS, "conj")
    return rival.head.dep_ not in ("attr", "appos", "npadvmod")


def straight(text: str) -> str:
    return text.replace("’", "'")
