"""Resolve pronouns and definite phrases of an answer to the only candidate in its sentences,
headings and question.

The rules use the parse, as a light form of the salience filters of Lappin and Leass 1994
(pleonastic pronouns, section
2.2; agreement and grammatical role, sections 2.1 and 2.4). If there are several candidates, none is
taken: a wrong name
is worse than a pronoun.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Literal

from attribution.claims.rules import LEXICON
from attribution.text.parse import (
    BE,
    MAX_PARSED,
    MAX_SENTENCES,
    NOMINAL_SUBJECTS,
    VERBAL,
    lemma,
    lower_initial,
    parse,
    root,
    with_entities,
)
from attribution.text.passages import AnswerPassage, passages, plain
from attribution.text.sentences import sentences as split

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

Kind = Literal["he", "she", "person", "thing", "name", "people", "things", "many"]

PRONOUNS = {
    **dict.fromkeys(("he", "him", "his"), "he"),
    **dict.fromkeys(("she", "her", "hers"), "she"),
    **dict.fromkeys(("it", "its"), "it"),
    **dict.fromkeys(("they", "them", "their", "theirs"), "they"),
}
POSSESSIVE = frozenset(("his", "her", "its", "their"))
# the kinds of mention a pronoun can refer to; "name" is a proper noun of unknown kind
FITS: dict[str, frozenset[str]] = {
    "he": frozenset(("he", "person", "name")),
    "she": frozenset(("she", "person", "name")),
    "it": frozenset(("thing", "name")),
    "they": frozenset(("people", "things", "many")),
}
_EXPLETIVE = re.compile(  # what follows a pleonastic "it"
    r"(?:'s|(?: (?:is|was|has been|would be|may be|might be|will be|can be|could be|should be|becomes?|became"
    r"|remains?)))"
    r"(?: not| also| often| widely| generally| now| therefore| still| then| very| most| more| quite| commonly| only)*"
    r" (?:\w+(?: \w+)?(?: for [\w ]{1,40})? (?:that|to|whether|how|why|what|if)\b|\w+ \w+ who\b"
    r"|(?:likely|possible|clear|true|dark|cold|hot|warm|winter|summer|spring|late|early|time|important|because"
    r"|not clear"
    r"|(?:not only|not until|in|at|on|when|during|only) [^.,;]{1,60}? that|[A-Z]\w+(?: [A-Z]\w+)? (?:who|that))\b)"
    r"| (?:seems?|seemed|appears?|appeared|turns? out|turned out|happens?|happened|follows?|followed)\b(?: that|,"
    r"| \w+ that)"
    r"| (?:takes?|took|costs?|cost|would take|can take) .{1,60}? to \w+"
)


@dataclass(frozen=True)
class Mention:
    """A noun phrase of a sentence; its offsets are characters of that sentence.

    `text` is written as in mid-sentence: "the tower", even if it opens a sentence.
    """

    text: str
    start: int
    end: int
    head: str  # its main noun, in lower case
    kind: Kind
    subject: bool  # of the main clause
    definite: bool  # a name, or "the …"
    role: str  # spaCy's dependency label
    at: int  # index of the head among the sentence's tokens
    whole: bool  # False: a modifier is left out ("people | with little money")


def is_expletive(token: Token) -> bool:
    """Return True for a pleonastic "it": about the weather, or a clause that follows (Lappin and
    Leass, 2.2).
    """
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
        following = doc[token.i + 1] if token.i + 1 < len(doc) else None
        named = (
            following is not None
            and token.text.istitle()
            and following.pos_ == "PROPN"
            and token.dep_ != "poss"
        )
        if form is None or token.text == "IT" or named or is_expletive(token):
            continue
        own = _own_subject(token)
        kinds = FITS[form] | ({"person"} if form == "they" else set())  # "a tenant … their rent"
        fitting = [
            m
            for m in candidates
            if m.kind in kinds and not m.start <= token.idx < m.end and m.at not in own
        ]
        if any(m.start < token.idx for m in fitting) or any(
            m.start > token.idx for m in _ahead(token, fitting)
        ):
            continue
        yield token


def _own_subject(token: Token) -> set[int]:
    """Return the subjects of the verb whose object the pronoun is: "it protects it" is about two
    things.
    """
    if token.lower_ in POSSESSIVE or token.dep_ in NOMINAL_SUBJECTS:
        return set()
    verb = token.head
    while verb.dep_ in ("prep", "agent", "pcomp") and verb.head != verb:
        verb = verb.head
    return {c.i for c in verb.children if c.dep_ in NOMINAL_SUBJECTS}


def _ahead(token: Token, fitting: list[Mention]) -> list[Mention]:
    """Return the main-clause subjects that an earlier pronoun can refer to: "When he was twenty,
    Newton left".
    """
    top = root(token.doc)
    clause = [a for a in token.ancestors if a.dep_ in ("advcl", "prep", "pcomp") and a.head == top]
    if token.head == top or not clause:
        return []
    return [m for m in fitting if m.subject and (m.definite or m.kind in ("people", "things"))]


def mentions(doc: Doc) -> Iterator[Mention]:
    """Yield noun phrases with "of …" but no relative clause; a coordination is also one mention of
    kind "many".

    One of persons and things is none: "they" are either.
    """
    for chunk in doc.noun_chunks:
        head = chunk.root
        if head.pos_ == "PRON" or head.lower_ in ("which", "who", "that"):
            continue
        start, end = _trim(chunk.start, chunk.end, doc)
        if start >= end:
            continue
        of = next((c for c in head.children if c.lower_ == "of" and c.i == end), None)
        if of is not None:
            last = of.right_edge.i + 1
            if last - end <= 6 and not any(t.is_punct or t.dep_ == "relcl" for t in doc[end:last]):
                end = last
        yield _mention(doc, start, end, head, _kind(doc, start, end, head))
        for owner in (
            t for t in doc[start:end] if t.dep_ == "poss" and t.pos_ in ("PROPN", "NOUN")
        ):
            first = owner.left_edge.i
            if not any(t.dep_ == "poss" for t in owner.children):
                yield _mention(
                    doc, first, owner.i + 1, owner, _kind(doc, first, owner.i + 1, owner)
                )
        members = [head, *head.conjuncts] if head.dep_ != "conj" else []
        if len(members) > 1 and head.i == min(m.i for m in members):
            last = max(m.i for m in members) + 1
            kinds = {_kind(doc, m.left_edge.i, m.i + 1, m) for m in members}
            mixed = bool(kinds & {"he", "she", "person", "people"}) and bool(
                kinds & {"thing", "things"}
            )
            if last - start <= 12 and not mixed and any(t.lower_ == "and" for t in doc[start:last]):
                yield _mention(doc, start, last, head, "many")


def _trim(start: int, end: int, doc: Doc) -> tuple[int, int]:
    while start < end and (doc[start].is_punct or doc[start].dep_ in ("cc", "preconj")):
        start += 1
    while (
        start < end - 1
        and doc[start + 1].pos_ in ("PROPN", "NUM")
        and (doc[start].is_digit or doc[start].lower_ in LEXICON["months"])
    ):
        start += 1  # "15 August 1971 Richard Nixon"
    while end > start and doc[end - 1].is_punct:
        end -= 1
    return start, end


def _mention(doc: Doc, start: int, end: int, head: Token, kind: Kind) -> Mention:
    span = doc[start:end]
    subject = head.dep_ in NOMINAL_SUBJECTS and head.head == root(doc)
    left_out = (
        c for c in head.children if c.dep_ in ("prep", "relcl", "acl") and c.left_edge.i == end
    )
    whole = head.pos_ == "PROPN" or kind == "many" or not any(left_out)
    definite = head.pos_ == "PROPN" or span[0].lower_ == "the" or span[0].dep_ == "poss"
    text = span.text
    if start == 0 and text[:1].isupper() and span[0].text[1:].islower() and span[0].pos_ != "PROPN":
        text = lower_initial(text)
    return Mention(
        text,
        span.start_char,
        span.end_char,
        head.lower_,
        kind,
        subject,
        definite,
        head.dep_,
        head.i,
        whole,
    )


def _kind(doc: Doc, start: int, end: int, head: Token) -> Kind:
    words = {t.lower_ for t in doc[start : head.i + 1]}
    male, female, persons = LEXICON["male"], LEXICON["female"], LEXICON["persons"]
    if head.tag_ in ("NNS", "NNPS") or head.lower_ in ("people", "police", "children"):
        return (
            "people"
            if head.lower_.removesuffix("s") in persons | male | female | {"people", "children"}
            else "things"
        )
    if head.pos_ == "PROPN":
        names = {
            doc[start].lower_,
            doc[min(start + 1, end - 1)].lower_ if doc[start].pos_ != "PROPN" else "",
        }
        titled = bool(
            words & LEXICON["titles"] or any(t.text in persons for t in doc[start : head.i])
        )
        if (doc[start].pos_ in ("DET", "PRON") and not titled) or any(
            c.lower_ == "of" for c in head.children
        ):
            return "thing"
        other: Kind = "person" if titled else "name"
    else:
        names, other = {head.lower_}, "person" if head.lower_ in persons else "thing"
    return "he" if names & male else "she" if names & female else other


if TYPE_CHECKING:
    from spacy.tokens import Doc, Span, Token

_BACK = 3  # sentences to search for an antecedent
_FAR = 12  # sentences to search for a longer name
_VAGUE = re.compile(  # names nothing in particular
    r"^(?:an?|many|some|few|several|most|all|no|each|every|any|another|other|more|both|one|two|three|various|certain|this"
    r"|that|these|those|such|what|which|whose|how|my|your|our|his|her|its|their|there)\b",
    re.IGNORECASE,
)
_OUTWARD_WORD = re.compile(
    r"\b(?:he|she|it|they|him|her|them|his|its|their|my|your|our|this|these|those|former|latter)\b",
    re.I,
)
_PERSON = re.compile(r"\b(?:he|she|him|his|her)\b", re.I)
_WORD, _FIGURE = re.compile(r"\w+"), re.compile(r" \d")
_FURTHER = re.compile(
    r"(?:also|additionally|another|furthermore|in addition|likewise|moreover|similarly)\b", re.I
)


class Context:
    """The sentences, headings and question that may hold the antecedents of an answer's claims.

    `unread` are the sentences after the first MAX_SENTENCES, which are not searched.
    """

    def __init__(self, question: str, answer: str) -> None:
        self.blocks = passages(answer)
        self.unread: set[str] = set()
        self._parsed: dict[str, list[tuple[Doc, list[Mention]]]] = {}
        self._sentence_spans: dict[str, tuple[tuple[int, int], ...]] = {}
        asked = self.sentences(_straight(plain(question)))
        # keywords and fragments ("Psycho?", "T?") have no clear topic
        self.question = [
            m for doc, found in asked if any(t.pos_ in VERBAL for t in doc) for m in found
        ]
        self.who_verb = next(
            (t.head.lower_ for doc, _ in asked for t in doc if t.lower_ == "who"), ""
        )
        self.people_spoken_of = bool(_PERSON.search(answer))
        self.small = {w for w in _WORD.findall(f"{question} {answer}") if w.islower()}
        self.words = set(_WORD.findall(question.casefold()))
        self.all_sentences = [
            *asked,
            *(s for block in self.blocks for s in self.sentences(self.raw(block))),
        ]
        full = [m for _, found in self.all_sentences for m in found]
        self.surnames = {
            m.text.split()[-1]: m.kind for m in full if m.kind in ("he", "she") and " " in m.text
        }

    def raw(self, block: AnswerPassage, end: int | None = None) -> str:
        return _straight(block.text if end is None else block.until(end))

    def sentences(self, text: str) -> list[tuple[Doc, list[Mention]]]:
        """Return the sentences of a text with their mentions; each sentence is parsed separately,
        and once.
        """
        return [
            found for start, end in self._split(text) for found in self._sentence(text[start:end])
        ]

    def _sentence(self, text: str) -> list[tuple[Doc, list[Mention]]]:
        if text not in self._parsed and len(self._parsed) == MAX_SENTENCES:
            self.unread.add(text)
            return []
        if text not in self._parsed:
            docs = [s.as_doc() for s in parse(text).sents]
            self._parsed[text] = [(d, list(mentions(d))) for d in docs]
        return self._parsed[text]

    def is_topic_label(self, label: str, form: str) -> bool:
        """Return True if an item is about its bold term: a name, or any term if the question has no
        candidate.
        """
        name = len(label.split()) > 1 and all(w[0].isupper() for w in label.split())
        rivals = [m for m in self.question if self._fits(m, form) and not _VAGUE.match(m.text)]
        return not self._is_aspect(label) and (name or not rivals)

    def _is_aspect(self, label: str) -> bool:
        words = {w.casefold().removesuffix("s") for w in label.split()}
        return bool(words & LEXICON["aspects"] or _VAGUE.match(label))

    def before(self, number: int, place: int) -> list[tuple[Doc, list[Mention]]]:
        """Return sentences before a claim, nearest first: of its block, then of its section's
        earlier paragraphs.
        """
        return list(islice(self._before(number, place), _FAR))

    def _before(self, number: int, place: int) -> Iterator[tuple[Doc, list[Mention]]]:
        block = self.blocks[number]
        if place > block.start:
            yield from self._backwards(self.raw(block), len(block.until(place)))
        for other in reversed(self.blocks[:number]):
            if other.kind in ("heading", "code", "row") or (
                other.kind == "item" and block.kind != "item"
            ):
                break
            if other.kind == "text":
                text = self.raw(other)
                yield from self._backwards(text, len(text))

    def _backwards(self, text: str, end: int) -> Iterator[tuple[Doc, list[Mention]]]:
        """Yield the sentences of text[:end], the last one first."""
        for start, stop in reversed(self._split(text)):
            if start < end:
                yield from reversed(self._sentence(text[start : min(stop, end)]))

    def _split(self, text: str) -> tuple[tuple[int, int], ...]:
        if text not in self._sentence_spans:
            self._sentence_spans[text] = split(text, MAX_PARSED)
        return self._sentence_spans[text]

    def _topics(self, number: int) -> Iterator[Mention]:
        """Yield the topics of the section's heading and of the question."""
        if number and self.blocks[number - 1].kind in ("code", "row"):
            return
        for other in reversed(self.blocks[:number]):
            if other.kind == "heading":
                found = [m for _, ms in self.sentences(self.raw(other)) for m in ms]
                whole = len(found) == 1 and len(found[0].text) >= len(self.raw(other)) - 6
                person = whole and found[0].kind in ("he", "she")
                named = person or (whole and set(found[0].text.casefold().split()) <= self.words)
                if named and not self._is_aspect(found[0].text):
                    yield found[0]
                break
        yield from self.question

    @cached_property
    def _names(self) -> dict[str, Kind]:
        """The kinds of bare names, person or thing: as stated in a sentence, else by spaCy's named
        entities.
        """
        kinds: dict[str, Kind] = {}
        labels: dict[str, set[str]] = {}
        bare = [(doc, m) for doc, found in self.all_sentences for m in found if m.kind == "name"]
        for doc, mention in bare:
            if kind := self._stated_kind(doc[mention.at]):
                kinds.setdefault(mention.text, kind)
        unknown = [(doc, m) for doc, m in bare if m.text not in kinds]
        named = {
            id(doc): with_entities(doc) for doc in {id(doc): doc for doc, _ in unknown}.values()
        }
        for doc, mention in unknown:
            if label := named[id(doc)][mention.at].ent_type_:
                labels.setdefault(mention.text, set()).add(label)
        for name, seen in labels.items():
            kinds[name] = (
                "person" if seen == {"PERSON"} else "name" if "PERSON" in seen else "thing"
            )
        return kinds

    def _stated_kind(self, name: Token) -> Kind | None:
        """Infer a kind from "Tesla was an engineer", "Tesla, an engineer", "Who was Tesla?", or the
        verb of "who".
        """
        linked = name.dep_ in (*NOMINAL_SUBJECTS, "attr") and name.head.lower_ in BE
        siblings = list(name.head.children) if linked else []
        if any(c.lower_ == "who" for c in siblings):
            return "person"
        noun = next(
            (
                c
                for c in (*siblings, *name.children)
                if c.dep_ in ("attr", "appos") and c.pos_ == "NOUN"
            ),
            None,
        )
        if noun is not None:
            return (
                "person"
                if noun.lower_ in LEXICON["persons"] | LEXICON["male"] | LEXICON["female"]
                else "thing"
            )
        return "person" if name.dep_ == "nsubj" and name.head.lower_ == self.who_verb else None

    def _kind(self, mention: Mention) -> str:
        if mention.kind != "name":
            return mention.kind
        return self.surnames.get(mention.text) or self._names.get(mention.text, "name")

    def _fits(self, mention: Mention, form: str, verb: str = "") -> bool:
        """Return True if gender and number agree; a name of unknown kind fits "it" if the answer
        has no "he" or "she".

        An unknown name after a preposition does not fit "he" or "she". Dams do not divorce, nor are
        brothers rebuilt.
        """
        kind = self._kind(mention)
        if (
            kind in ("thing", "things")
            and verb in LEXICON["of_persons"]
            or kind == "people"
            and verb == REBUILT
        ):
            return False
        if form in ("he", "she") and mention.kind == "name" and mention.role == "pobj":
            return kind == form  # "in Paris"
        return kind in FITS[form] and (
            kind != "name" or (form == "it" and not self.people_spoken_of)
        )

    def _is_topic(self, mention: Mention) -> bool:
        words = {
            w
            for w in _WORD.findall(mention.text.casefold())
            if w not in ("the", "a", "an", "of", "and")
        }
        return bool(words) and words <= self.words

    def antecedent(
        self, token: Token, form: str, before: list[tuple[Doc, list[Mention]]], number: int
    ) -> str | None:
        """Return the only possible antecedent of a pronoun, preferring the subject of the previous
        sentence.
        """
        label, verb = self.blocks[number].label, _verb_of(token)
        for doc, found in before[:_BACK]:
            fitting = [m for m in found if self._fits(m, form, verb)]
            continued = any(
                PRONOUNS.get(t.lower_) == form and t.dep_ in (*NOMINAL_SUBJECTS, "poss")
                for t in doc
            )
            if fitting and not continued:
                best = self._preferred(fitting)
                if best is None or (
                    label and best.text.casefold() not in label.casefold() and form == "it"
                ):
                    return None
                rivals = [
                    m
                    for m in fitting
                    if self._competes(m, best, doc, token.dep_ in (*NOMINAL_SUBJECTS, "poss"))
                ]
                rivals += [
                    m for m in found if form == "they" and m.kind == "person"
                ]  # singular "they"
                topical = self._is_topic(best) and not any(self._is_topic(m) for m in rivals)
                return self._name(best, doc) if topical or not rivals else None
        if (
            label and form in ("it", "they") and not self._is_aspect(label)
        ):  # the item's title, or what is asked about
            fitting = [
                m for _, ms in self.sentences(label) for m in ms if self._fits(m, form, verb)
            ]
            return label if self.is_topic_label(label, form) and len(fitting) == 1 else None
        return self._asked_about(form, verb, number)

    def _preferred(self, fitting: Sequence[Mention]) -> Mention | None:
        """Return the subject, a coordination by preference; without one, the only mention."""
        subjects = [m for m in fitting if m.subject]
        several = next((m for m in subjects if m.kind == "many"), None)
        return several or next(iter(subjects), fitting[0] if len(fitting) == 1 else None)

    def _asked_about(self, form: str, verb: str, number: int) -> str | None:
        """Return the topic of the section or of the question, if there is one; the one that
        contains all others.
        """
        topics: dict[str, Mention] = {}
        for mention in self._topics(number):
            vague = _VAGUE.match(mention.text) or mention.head in LEXICON["wrapping"]
            if self._fits(mention, form, verb) and not vague:
                topics.setdefault(mention.text.casefold(), mention)
        if not topics:
            return None
        section = next(iter(self._topics(number)), None)
        own = section in topics.values() and section not in self.question
        if (
            section is not None
            and own
            and not any(section.text in m.text and section != m for m in topics.values())
        ):
            return self._name(section, None)
        outer = max(topics.values(), key=lambda m: len(m.text))
        return (
            self._name(outer, None) if all(m.text in outer.text for m in topics.values()) else None
        )

    def _competes(self, rival: Mention, best: Mention, doc: Doc, is_subject: bool) -> bool:
        same = best.text in rival.text or rival.text in best.text or rival.head == best.head
        if (
            same
            or best.start <= rival.start < best.end
            or rival.role in ("attr", "appos", "npadvmod")
        ):
            return False
        if best.kind in ("things", "people", "thing") and is_subject:
            return rival.role in ("dobj", *NOMINAL_SUBJECTS, "conj")
        return True

    def _name(self, mention: Mention, doc: Doc | None) -> str | None:
        """Return the text that replaces a pronoun; None if it is vague itself."""
        text = mention.text
        article = text.casefold().startswith(("a ", "an "))
        generic = (
            article and doc is not None and mention.subject and root(doc).lower_ in ("is", "are")
        )
        if (
            (_VAGUE.match(text) and not generic)
            or _OUTWARD_WORD.search(text)
            or len(text.split()) > 9
        ):
            return None
        number = doc is not None and _FIGURE.match(doc.text, mention.end)  # "The Acer Swift | 3"
        if not mention.whole or number or len(text) < 2 or not is_balanced(text):
            return None
        if text.casefold() in LEXICON["anybody"]:
            return None
        return self._within(text) if mention.start == 0 else text

    def _within(self, text: str) -> str:
        """Remove the capital of a sentence's start."""
        first, *rest = text.split()
        named = bool(rest) and all(w[0].isupper() for w in rest)
        return (
            lower_initial(text)
            if first.istitle() and first.lower() in self.small and not named
            else text
        )

    def full_name(
        self, chunk: Span, doc: Doc, before: list[tuple[Doc, list[Mention]]], number: int
    ) -> str | None:
        """Expand "The treaty" to "The Treaty of Versailles" if exactly one longer earlier mention
        has the same noun.
        """
        if (
            len(chunk) != 2
            or chunk.root.pos_ == "PROPN"
            or any(t.lower_ == chunk[1].lower_ for t in doc[: chunk.start])
        ):
            return None
        after = [c for c in chunk.root.children if c.i > chunk.root.i]
        if any(c.lower_ in ("of", "for") or c.dep_ in ("relcl", "acl", "appos") for c in after):
            return None
        pointing = chunk[0].lower_ in ("this", "these", "those")
        if not pointing and chunk[0].lower_ != "the":
            return None
        if chunk[0].lower_ == "these" and before and _FURTHER.match(before[0][0].text):
            # "Similarly, gender differences exist. These differences": may include earlier ones
            return None
        near = [m for _, found in before[: 2 if pointing else _FAR] for m in found]
        if chunk[0].lower_ == "those":
            near += self.question  # "those vowels" tends to mean the other ones
        found = _longer(
            chunk[1].lower_,
            [*near, *([] if pointing else self._topics(number))],
            proper=not pointing,
        )
        return self._within(found) if found else None

    def place(self, number: int, sentence: str) -> int:
        """Return the position of a block's sentence in the answer."""
        block = self.blocks[number]
        return block.places[max(0, self.raw(block).find(sentence[:20]))][0]


REBUILT = "be built"  # any passive of LEXICON["of_things"]


def _verb_of(token: Token) -> str:
    """Return the verb whose subject a pronoun is, in its base form; empty for any other pronoun."""
    verb = (
        lemma(token.head.text)
        if token.dep_ in NOMINAL_SUBJECTS and token.head.pos_ in VERBAL
        else ""
    )
    return REBUILT if token.dep_ == "nsubjpass" and verb in LEXICON["of_things"] else verb


def _straight(text: str) -> str:
    return text.replace("’", "'")


def is_balanced(text: str) -> bool:
    return text.count('"') % 2 == 0 and text.count("(") == text.count(")")


def _longer(noun: str, candidates: Sequence[Mention], proper: bool) -> str | None:
    """Return the longer mention with this noun, if there is exactly one."""
    matching: dict[str, str] = {}
    for m in candidates:
        words = m.text.split()
        named = any(w[0].isupper() for w in words[1:])
        if (
            noun not in m.text.casefold().split()
            or not (m.head == noun or named)
            or (proper and not named)
        ):
            continue
        if (
            m.kind == "many"
            or not m.whole
            or len([w for w in words if w.casefold() not in ("the", "of", "and")]) < 2
        ):
            continue
        if is_balanced(m.text) and not _VAGUE.match(m.text) and not _OUTWARD_WORD.search(m.text):
            matching.setdefault(m.text.casefold().removeprefix("the "), m.text)
    return next(iter(matching.values())) if len(matching) == 1 else None
