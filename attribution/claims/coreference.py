"""Resolve pronouns and definite phrases of an answer to the only candidate in its sentences,
headings and question.

A light form of the filters of Lappin and Leass 1994: pleonastic pronouns (2.2), agreement and
grammatical role (2.1, 2.4). If several candidates are left, none is taken: a wrong name is worse
than a pronoun.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cached_property
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
    with_entities,
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
    "he": frozenset(("he", "person", "name")),
    "she": frozenset(("she", "person", "name")),
    "it": frozenset(("thing", "name")),
    "they": frozenset(("people", "things", "many")),
}
NEAR = 3  # sentences that are searched for an antecedent
FAR = 12  # sentences that are searched for a longer name
LONGEST_NAME = 9  # words
_ROLES = (*NOMINAL_SUBJECTS, "poss")
# What follows a pleonastic "it"
_EXPLETIVE = re.compile(
    r"""
    (?:'s|\ (?:is|was|has\ been|would\ be|may\ be|might\ be|will\ be|can\ be|could\ be|should\ be
      |becomes?|became|remains?))
    (?:\ (?:not|also|often|widely|generally|now|therefore|still|then|very|most|more|quite
      |commonly|only))*
    \ (?:
      \w+(?:\ \w+)?(?:\ for\ [\w ]{1,40})?\ (?:that|to|whether|how|why|what|if)\b  # "clear that"
      |\w+\ \w+\ who\b
      |(?:likely|possible|clear|true|dark|cold|hot|warm|winter|summer|spring|late|early|time
        |important|because|not\ clear)\b
      |(?:not\ only|not\ until|in|at|on|when|during|only)\ [^.,;]{1,60}?\ that\b  # a cleft
      |[A-Z]\w+(?:\ [A-Z]\w+)?\ (?:who|that)\b
    )
    |\ (?:seem|appear|turn|happen|follow)(?:s|ed)?(?:\ out)?(?:\ that|,|\ \w+\ that)
    |\ (?:takes?|took|costs?|would\ take|can\ take)\ .{1,60}?\ to\ \w+
    """,
    re.VERBOSE,
)
# Names nothing in particular
_VAGUE = re.compile(
    r"""
    (?:an?|many|some|few|several|most|all|no|each|every|any|another|other|more|both|one|two|three
    |various|certain|this|that|these|those|such|what|which|whose|how|my|your|our|his|her|its|their
    |there)\b
    """,
    re.IGNORECASE | re.VERBOSE,
)
_POINTING = re.compile(
    r"""
    \b(?:he|she|it|they|him|her|them|his|its|their|my|your|our|this|these|those|former|latter)\b
    """,
    re.IGNORECASE | re.VERBOSE,
)
_PERSON = re.compile(r"\b(?:he|she|him|his|her)\b", re.IGNORECASE)
_WORD, _FIGURE = re.compile(r"\w+"), re.compile(r" \d")


class Mention(NamedTuple):
    """A noun phrase of a sentence; its offsets are characters of that sentence."""

    text: str  # as in mid-sentence: "the tower"
    start: int
    end: int
    head: Token
    kind: Kind
    is_subject: bool  # of the main clause
    is_whole: bool  # False: a modifier is left out ("people | with little money")

    @property
    def noun(self) -> str:
        return self.head.lower_


class Sentence(NamedTuple):
    doc: Doc
    mentions: list[Mention]


def is_expletive(token: Token) -> bool:
    """Return True for an "it" about the weather, or about a clause that follows."""
    if token.lower_ != "it":
        return False
    rest = token.doc.text[token.idx + len(token.text) :]
    following = token.nbor().lower_ if token.i + 1 < len(token.doc) else ""
    return token.dep_ == "expl" or following in LEXICON["weather"] or bool(_EXPLETIVE.match(rest))


def outward_pronouns(doc: Doc) -> Iterator[Token]:
    """Yield the third-person pronouns that refer to something outside the text."""
    candidates = list(mentions(doc))
    for token in doc:
        form = PRONOUNS.get(token.lower_)
        if form is None or token.text == "IT" or is_expletive(token):
            continue
        kinds = FITS[form] | ({"person"} if form == "they" else set())  # "a tenant … their rent"
        fitting = [m for m in candidates if m.kind in kinds and not _is_apart(token, m)]
        before = any(m.start < token.idx for m in fitting)
        ahead = _is_in_fronted_clause(token) and any(m.is_subject for m in fitting)
        if not before and not ahead:
            yield token


def _is_apart(token: Token, mention: Mention) -> bool:
    """Return True if a mention in the same sentence can't be what the pronoun refers to: it holds
    it, or is the subject of the verb whose object the pronoun is ("the shield protects it").
    """
    if mention.start <= token.idx < mention.end:
        return True
    if token.lower_ in POSSESSIVE or token.dep_ in NOMINAL_SUBJECTS:
        return False
    verb = token.head
    while verb.dep_ in ("prep", "agent", "pcomp") and verb.head != verb:
        verb = verb.head
    return mention.head.head == verb and mention.head.dep_ in NOMINAL_SUBJECTS


def _is_in_fronted_clause(token: Token) -> bool:
    """Return True for "he" in "When he was twenty, Newton left"."""
    top = root(token.doc)
    clauses = (a for a in token.ancestors if a.dep_ in ("advcl", "prep", "pcomp"))
    return token.head != top and any(a.head == top and a.i < top.i for a in clauses)


def mentions(doc: Doc) -> Iterator[Mention]:
    """Yield noun phrases, each with its "of …"; owners within them; and coordinations."""
    for chunk in doc.noun_chunks:
        head = chunk.root
        start, end = _trim(chunk)
        if head.pos_ == "PRON" or head.lower_ in ("which", "who", "that") or start >= end:
            continue
        of = next((c for c in head.children if c.lower_ == "of" and c.i == end), None)
        if of is not None:
            phrase = doc[end : of.right_edge.i + 1]
            if len(phrase) <= 6 and not any(t.is_punct or t.dep_ == "relcl" for t in phrase):
                end = phrase.end
        yield _mention(doc[start:end], head, _kind(doc[start:end], head))
        for owner in (t for t in doc[start:end] if t.dep_ == "poss" and t.pos_ != "PRON"):
            phrase = doc[owner.left_edge.i : owner.i + 1]
            yield _mention(phrase, owner, _kind(phrase, owner))
        yield from _coordination(doc, start, head)


def _coordination(doc: Doc, start: int, head: Token) -> Iterator[Mention]:
    """Yield "Ann and Ben"; nothing for persons and things together, of which "they" are either."""
    members = [head, *head.conjuncts]
    if head.dep_ == "conj" or len(members) == 1:
        return
    phrase = doc[start : members[-1].i + 1]
    kinds = {_kind(doc[m.left_edge.i : m.i + 1], m) for m in members}
    are_mixed = bool(kinds & {"he", "she", "person", "people"} and kinds & {"thing", "things"})
    if len(phrase) <= 12 and not are_mixed and any(t.lower_ == "and" for t in phrase):
        yield _mention(phrase, head, "many")


def _trim(chunk: Span) -> tuple[int, int]:
    """Return its first token and the one behind the last, without marks and conjunctions."""
    doc, start, end = chunk.doc, chunk.start, chunk.end
    while start < end and (doc[start].is_punct or doc[start].dep_ in ("cc", "preconj")):
        start += 1
    while end > start and doc[end - 1].is_punct:
        end -= 1
    return start, end


def _mention(span: Span, head: Token, kind: Kind) -> Mention:
    after = [c for c in head.children if c.dep_ in ("prep", "relcl", "acl")]
    is_whole = head.pos_ == "PROPN" or kind == "many"
    is_whole = is_whole or all(c.left_edge.i != span.end for c in after)
    text = span.text
    if span.start == 0 and span[0].is_title and span[0].pos_ != "PROPN":
        text = lower_initial(text)
    is_subject = head.dep_ in NOMINAL_SUBJECTS and head.head == root(span.doc)
    return Mention(text, span.start_char, span.end_char, head, kind, is_subject, is_whole)


def _kind(span: Span, head: Token) -> Kind:
    male, female, persons = LEXICON["male"], LEXICON["female"], LEXICON["persons"]
    noun = head.lower_
    if head.tag_ in ("NNS", "NNPS") or noun in ("people", "police", "children"):
        people = persons | male | female | {"people", "children"}
        return "people" if noun.removesuffix("s") in people else "things"
    if head.pos_ != "PROPN":
        return _gender({noun}) or ("person" if noun in persons else "thing")
    titles = LEXICON["titles"] | persons
    is_titled = any(t.lower_ in titles for t in span if t.i < head.i)
    has_article = span[0].pos_ in ("DET", "PRON") and not is_titled
    if has_article or any(c.lower_ == "of" for c in head.children):
        return "thing"
    names = [t.lower_ for t in span if t.pos_ == "PROPN" or t.i > span.start]
    return _gender({span[0].lower_, *names[:1]}) or ("person" if is_titled else "name")


def _gender(words: set[str]) -> Literal["he", "she"] | None:
    if words & LEXICON["male"]:
        return "he"
    return "she" if words & LEXICON["female"] else None


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
        self.question = [m for s in full for m in s.mentions]
        self._question_words = set(_WORD.findall(question.casefold()))
        self._small_words = {w for w in _WORD.findall(f"{question} {answer}") if w.islower()}
        self._has_persons = bool(_PERSON.search(answer))
        answered = [s for block in self.blocks for s in self.sentences(straight(block.text))]
        self._sentences = [*asked, *answered]

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
        """Return sentences before a claim, nearest first: of its block, then of its section's
        earlier paragraphs.
        """
        return list(islice(self._before(number, place), FAR))

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
        """Return what a pronoun refers to: the subject of the sentence before, the term of its
        item, or what is asked about; None if there is none or a rival.
        """
        label = self.blocks[number].label
        for sentence in before[:NEAR]:
            fitting = [m for m in sentence.mentions if self._fits(m, form)]
            continues = any(
                PRONOUNS.get(t.lower_) == form and t.dep_ in _ROLES for t in sentence.doc
            )
            if fitting and not continues:
                best = self._only(fitting)
                is_other = label and best and best.text.casefold() not in label.casefold()
                has_person = any(m.kind == "person" for m in sentence.mentions)
                if best is None or is_other and form == "it" or has_person and form == "they":
                    return None
                return self._name(best, sentence.doc)
        if label and form in ("it", "they") and not _is_aspect(label):
            named = [m for s in self.sentences(label) for m in s.mentions]
            fits = sum(self._fits(m, form) for m in named) == 1
            return label if fits else None
        return self._topic(form, number)

    def _only(self, fitting: list[Mention]) -> Mention | None:
        """Return the subject, a coordination by preference, or the only mention; None if another
        one competes.
        """
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
        """Return the topic of the section, or else of the question: one that holds all others."""
        if number and self.blocks[number - 1].kind in ("code", "row"):
            return None
        heading = self._heading(number)
        for found in ([heading] if heading else [], self.question):
            fitting = [m for m in found if self._fits(m, form) and not _VAGUE.match(m.text)]
            if fitting:
                outer = max(fitting, key=lambda m: len(m.text))
                is_one = all(m.text in outer.text for m in fitting)
                return self._name(outer, None) if is_one else None
        return None

    def _heading(self, number: int) -> Mention | None:
        """Return what the heading above names, if that is a person or what the question is about."""
        for other in reversed(self.blocks[:number]):
            if other.kind == "heading":
                text = straight(other.text)
                found = [m for s in self.sentences(text) for m in s.mentions]
                if len(found) != 1 or len(found[0].text) < len(text) - 6 or _is_aspect(text):
                    return None
                is_person = found[0].kind in ("he", "she")
                return found[0] if is_person or self._is_topic(found[0]) else None
        return None

    @cached_property
    def _kinds(self) -> dict[str, Kind]:
        """The kinds of bare names, by spaCy's named entities."""
        kinds: dict[str, Kind] = {}
        for sentence in self._sentences:
            unknown = [m for m in sentence.mentions if m.kind == "name" and m.text not in kinds]
            entities = with_entities(sentence.doc) if unknown else sentence.doc
            for mention in unknown:
                label = entities[mention.head.i].ent_type_
                kind: Kind = "person" if label == "PERSON" else "thing" if label else "name"
                kinds.setdefault(mention.text, kind)
        return kinds

    def _fits(self, mention: Mention, form: str) -> bool:
        """Return True if gender and number agree."""
        kind = mention.kind
        if kind == "name":
            kind = self._kinds.get(mention.text, "name")
        if form in ("he", "she") and mention.kind == "name" and mention.head.dep_ == "pobj":
            return kind == form  # "in Paris"
        if kind == "name" and (form != "it" or self._has_persons):
            return False
        return kind in FITS[form]

    def _name(self, mention: Mention, doc: Doc | None) -> str | None:
        """Return the text that replaces a pronoun; None if it is vague itself."""
        text = mention.text
        is_generic = text.startswith(("a ", "an ")) and mention.is_subject
        is_generic = is_generic and doc is not None and root(doc).lower_ in ("is", "are")
        if _VAGUE.match(text) and not is_generic or _POINTING.search(text):
            return None
        goes_on = doc is not None and _FIGURE.match(doc.text, mention.end)  # "Acer Swift | 3"
        if not mention.is_whole or goes_on or len(text) < 2 or len(text.split()) > LONGEST_NAME:
            return None
        if not is_balanced(text) or text.casefold() in LEXICON["anybody"]:
            return None
        return self._within(text) if mention.start == 0 else text

    def _within(self, text: str) -> str:
        """Remove the capital of a sentence's start."""
        first, *rest = text.split()
        is_name = bool(rest) and all(w[0].isupper() for w in rest)
        is_common = first.istitle() and first.lower() in self._small_words
        return lower_initial(text) if is_common and not is_name else text

    def full_name(self, chunk: Span, before: Sequence[Sentence], number: int) -> str | None:
        """Expand "The treaty" to "The Treaty of Versailles" if exactly one longer mention before
        has the same noun.
        """
        if len(chunk) != 2 or chunk.root.pos_ == "PROPN":
            return None
        article, noun = chunk[0].lower_, chunk[1].lower_
        is_pointing = article in ("this", "these")
        if not is_pointing and article != "the" or noun in _words_before(chunk):
            return None
        after = [c for c in chunk.root.rights if c.lower_ in ("of", "for")]
        if after or any(c.dep_ in ("relcl", "acl", "appos") for c in chunk.root.rights):
            return None
        candidates = [m for s in before[: 2 if is_pointing else FAR] for m in s.mentions]
        if not is_pointing:
            candidates += [*filter(None, [self._heading(number)]), *self.question]
        found = _longer(noun, candidates, proper=not is_pointing)
        return self._within(found) if found else None


def _words_before(chunk: Span) -> set[str]:
    return {token.lower_ for token in chunk.doc[: chunk.start]}


def straight(text: str) -> str:
    return text.replace("’", "'")


def is_balanced(text: str) -> bool:
    return text.count('"') % 2 == 0 and text.count("(") == text.count(")")


def _is_aspect(label: str) -> bool:
    """Return True for "Early life": a side of the topic."""
    words = {w.casefold().removesuffix("s") for w in label.split()}
    return bool(words & LEXICON["aspects"] or _VAGUE.match(label))


def _competes(rival: Mention, best: Mention) -> bool:
    """Return True if a pronoun could as well refer to the other mention."""
    is_same = best.text in rival.text or rival.text in best.text or rival.noun == best.noun
    if is_same or best.start <= rival.start < best.end:
        return False
    if best.kind in ("things", "people", "thing"):
        return rival.head.dep_ in ("dobj", *NOMINAL_SUBJECTS, "conj")
    return rival.head.dep_ not in ("attr", "appos", "npadvmod")


def _longer(noun: str, candidates: Sequence[Mention], proper: bool) -> str | None:
    """Return the longer mention with this noun, if there is exactly one."""
    matching: dict[str, str] = {}
    for mention in candidates:
        words = mention.text.split()
        is_named = any(w[0].isupper() for w in words[1:])
        if noun not in mention.text.casefold().split() or proper and not is_named:
            continue
        if mention.kind == "many" or not mention.is_whole or not is_balanced(mention.text):
            continue
        specific = {w.casefold() for w in words} - {"the", "of", "and"}
        if len(specific) < 2 or _VAGUE.match(mention.text) or _POINTING.search(mention.text):
            continue
        if mention.noun == noun or is_named:
            matching.setdefault(mention.text.casefold().removeprefix("the "), mention.text)
    return next(iter(matching.values())) if len(matching) == 1 else None
