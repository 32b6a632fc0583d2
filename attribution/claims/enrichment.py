"""Put names in the place of pronouns, so that claims and questions stand alone (V24 5.1.1).

A pronoun refers to the only candidate in the sentences before, or in the question: a light form of
the filters of Lappin and Leass 1994, pleonastic pronouns (2.2), agreement and grammatical role
(2.1, 2.4). If several candidates are left, none is taken: a wrong name is worse than a pronoun.
The question of a conversation is made to stand alone in the same way (R23 3.3).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from attribution.claims.rules import LEXICON
from attribution.text.parse import (
    MAX_PARSED,
    NOMINAL_SUBJECTS,
    VERBAL,
    lower_initial,
    parse,
    root,
)
from attribution.text.passages import AnswerPassage, passages, plain
from attribution.text.sentences import is_english
from attribution.text.sentences import sentences as split
from attribution.types import Claim, Turn

if TYPE_CHECKING:
    from spacy.tokens import Doc, Span, Token


PRONOUNS = {
    **dict.fromkeys(("he", "him", "his"), "he"),
    **dict.fromkeys(("she", "her", "hers"), "she"),
    **dict.fromkeys(("it", "its"), "it"),
    **dict.fromkeys(("they", "them", "their", "theirs"), "they"),
}
PERSONAL = ("he", "she", "him", "his", "her")
POSSESSIVE = frozenset(("his", "her", "its", "their"))
NEAR = 3  # sentences that are searched for an antecedent
LONGEST_NAME = 9  # words
CLAUSES = ("ccomp", "xcomp", "csubj", "advcl")
RIVALS = ("dobj", "conj", *NOMINAL_SUBJECTS)  # what a pronoun may refer to beside the subject
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


class Mention(NamedTuple):
    """A noun phrase of a text, and the pronouns that may refer to it."""

    text: str  # as in mid-sentence: "the tower"
    span: Span
    head: Token
    forms: frozenset[str]  # of he, she, it and they; with "name", nobody knows which
    is_subject: bool  # of the main clause
    is_whole: bool  # False: a modifier is left out ("people | with little money")


def mentions(doc: Doc) -> list[Mention]:
    """Return the noun phrases of a text, without pronouns and those cut in the wrong place."""
    found: list[Mention] = []
    for chunk in doc.noun_chunks:
        is_cut = chunk[0].dep_ in ("cc", "preconj") or chunk[-1].is_punct
        if chunk.root.pos_ != "PRON" and not is_cut:
            found.append(_mention(chunk))
    return found


def _mention(chunk: Span) -> Mention:
    head = chunk.root
    first = chunk[0]
    text = chunk.text
    if first.is_sent_start and first.is_title and first.pos_ != "PROPN":
        text = lower_initial(text)
    is_subject = head.dep_ in NOMINAL_SUBJECTS and head.head == head.sent.root
    is_whole = True
    if head.pos_ != "PROPN":
        modifiers = [child for child in head.children if child.dep_ in MODIFIERS]
        is_whole = all(child.left_edge.i != chunk.end for child in modifiers)
    return Mention(text, chunk, head, _forms(chunk, head), is_subject, is_whole)


def _forms(span: Span, head: Token) -> frozenset[str]:
    """Return the pronouns that agree with a noun phrase in gender and number.

    A name whose bearer may be a person or a thing has the forms "it" and "name".
    """
    noun = head.lower_
    if head.tag_ in ("NNS", "NNPS") or noun in ("people", "police", "children"):
        return frozenset(("they",))
    is_name = head.pos_ == "PROPN"
    words = {noun}
    if is_name:
        words.update(token.lower_ for token in span)
    titles = words & (LEXICON["titles"] | LEXICON["persons"])
    if is_name and span[0].pos_ in ("DET", "PRON") and not titles:
        return frozenset(("it",))
    if words & LEXICON["male"]:
        return frozenset(("he",))
    if words & LEXICON["female"]:
        return frozenset(("she",))
    if titles:
        return frozenset(("he", "she"))
    return frozenset(("it", "name")) if is_name else frozenset(("it",))


# --- pronouns ---


def is_expletive(token: Token) -> bool:
    """Return True for an "it" about the weather, or about a clause that follows.

    Such a pronoun refers to nothing (Lappin and Leass 1994, 2.2).
    """
    verb = token.head
    if token.lower_ != "it":
        return False
    if token.dep_ == "expl" or verb.lower_ in LEXICON["weather"]:
        return True
    if verb.tag_ == "VBN":  # "it is known that", but not "it is used to"
        return any(child.dep_ == "ccomp" for child in verb.children)
    return verb.lower_ in CLAUSAL and (_has_clause(verb) or _is_cleft(token.doc[verb.i + 2 :]))


def _has_clause(verb: Token) -> bool:
    """Return True if a clause follows the verb or its complement: "it is clear that"."""
    complements = [child for child in verb.children if child.dep_ in ("acomp", "attr")]
    for part in (verb, *complements):
        if any(child.dep_ in CLAUSES and child.i > verb.i for child in part.children):
            return True
    return False


def _is_cleft(rest: Span) -> bool:
    """Return True for what follows "it is": "Fleming who"."""
    return any(token.lower_ in ("who", "that") and token.nbor(-1).is_title for token in rest)


def outward_pronouns(doc: Doc) -> Iterator[Token]:
    """Yield the third-person pronouns that refer to something outside the text.

    Those that agree with a noun phrase before them, or with the subject after their own clause,
    refer to it.
    """
    candidates = mentions(doc)
    for token in doc:
        form = PRONOUNS.get(token.lower_)
        if form is None or token.text == "IT" or is_expletive(token):
            continue
        forms = {form, "name"}
        if form == "they":
            forms = {form, "he", "she"}  # "a tenant … their rent"
        fitting = [m for m in candidates if m.forms & forms and not _is_apart(token, m)]
        is_before = any(m.span.start < token.i for m in fitting)
        is_ahead = _is_in_fronted_clause(token) and any(m.is_subject for m in fitting)
        if not is_before and not is_ahead:
            yield token


def _is_apart(token: Token, mention: Mention) -> bool:
    """Return True if a mention holds the pronoun, or is the subject of the verb that it follows."""
    if token in mention.span:
        return True
    if token.lower_ in POSSESSIVE or token.dep_ in NOMINAL_SUBJECTS:
        return False
    verbs = (token.head, token.head.head)
    is_subject = mention.head.dep_ in NOMINAL_SUBJECTS
    return is_subject and mention.head.head in verbs


def _is_in_fronted_clause(token: Token) -> bool:
    """Return True for "he" in "When he was twenty, Newton left"."""
    top = root(token.doc)
    if token.head == top:
        return False
    for clause in token.ancestors:
        is_clause = clause.dep_ in ("advcl", "prep", "pcomp")
        if is_clause and clause.head == top and clause.i < top.i:
            return True
    return False


# --- what they refer to ---


class Context:
    """The sentences and the question that may hold the antecedents of an answer's claims.

    Attributes:
        blocks: The passages of the answer.
        question: Mentions in the question, if it is a sentence and no keyword.
    """

    def __init__(self, question: str, answer: str) -> None:
        """Read what the answer may refer to.

        Args:
            question: The question, perhaps with earlier ones; it may be empty.
            answer: The answer, in which nothing is parsed yet.
        """
        self.blocks = passages(answer)
        asked = parse(straight(plain(question)))
        has_verb = any(token.pos_ in VERBAL for token in asked)
        self.question = mentions(asked) if has_verb else []
        self._asks_who = question.lower().startswith("who")
        words = re.findall(r"\w+", f"{question} {answer}")
        self._small_words = {word for word in words if word.islower()}
        self._has_persons = any(word.lower() in PERSONAL for word in words)

    def before(self, number: int, place: int) -> Iterator[Doc]:
        """Yield the sentences before a claim, nearest first.

        Args:
            number: The block of the claim; that and the text above it in its section count.
            place: The claim's first character in the answer.
        """
        block = self.blocks[number]
        if place > block.start:
            end = len(block.until(place))
            yield from _backwards(block, end)
        for other in reversed(self.blocks[:number]):
            if other.kind != "text":
                break
            yield from _backwards(other, len(other.text))

    def antecedent(self, form: str, number: int, place: int) -> str | None:
        """Return what a pronoun refers to.

        Args:
            form: he, she, it or they.
            number: The block of the claim.
            place: The claim's first character in the answer.

        Returns:
            The subject of the sentence before, the term of its item, or what is asked about; None
            if there is nothing or a rival.
        """
        for doc in islice(self.before(number, place), NEAR):
            mentioned = mentions(doc)
            fitting = [m for m in mentioned if self._fits(m, form)]
            goes_on = any(PRONOUNS.get(token.lower_) == form for token in doc)
            if fitting and not goes_on:
                named = [m for m in mentioned if m.is_subject and "name" in m.forms]
                only = _only(fitting, self.question)
                return self._name(only, doc) if {*named} <= {*fitting} else None
        label = self.blocks[number].label
        if label and form in ("it", "they"):
            titled = parse(label)
            named = [m for m in mentions(titled) if m.head == root(titled)]  # not "Using it"
            is_fitting = bool(named) and self._fits(named[0], form)
            return label if is_fitting else None
        if number and self.blocks[number - 1].kind in ("code", "row"):
            return None
        asked = self._asked(form)
        return self._name(asked[0], None) if len(asked) == 1 else None

    def _asked(self, form: str) -> list[Mention]:
        """Return what is asked about that a pronoun may refer to."""
        fitting = [mention for mention in self.question if self._fits(mention, form)]
        asked = [mention for mention in fitting if not VAGUE.match(mention.text)]
        if not self._asks_who or form not in ("he", "she"):
            return asked
        for mention in self.question:
            is_person = mention.head.dep_ in ("attr", *NOMINAL_SUBJECTS)
            if is_person and "name" in mention.forms:
                asked.append(mention)
        return asked

    def _fits(self, mention: Mention, form: str) -> bool:
        """Return True if a pronoun of this form may stand for a mention."""
        if "name" not in mention.forms:
            return form in mention.forms
        return form == "it" and not self._has_persons

    def _name(self, mention: Mention | None, doc: Doc | None) -> str | None:
        """Return the text that replaces a pronoun; None if it is vague itself."""
        if mention is None or not mention.is_whole:
            return None
        text = mention.text
        is_defined = False
        if doc is not None and mention.is_subject:
            is_defined = root(doc).lower_ in ("is", "are")
        is_kind = is_defined and text.startswith(("a ", "an "))
        if VAGUE.match(text) and not is_kind:
            return None
        words = text.split()
        following = mention.head.doc[mention.span.end :][:1].text
        if following.isdigit():  # "Acer Swift | 3"
            return None
        if len(text) < 2 or len(words) > LONGEST_NAME:
            return None
        is_name = len(words) > 1 and all(word[0].isupper() for word in words[1:])
        is_common = words[0].istitle() and words[0].lower() in self._small_words
        return lower_initial(text) if is_common and not is_name else text


def _backwards(block: AnswerPassage, end: int) -> Iterator[Doc]:
    """Yield the sentences of a block up to a position, without its label, the last one first."""
    text = straight(block.text)
    for start, stop in reversed(split(text, MAX_PARSED)):
        first = max(start, block.label_end)
        sentence = text[first : min(stop, end)]
        if sentence.strip():
            yield parse(sentence)


def _only(fitting: Sequence[Mention], asked: Sequence[Mention]) -> Mention | None:
    """Return the mention that a pronoun refers to.

    Args:
        fitting: Mentions of one sentence that agree with the pronoun; at least one.
        asked: Mentions of the question.

    Returns:
        The subject, or the only mention, if it has no rival or alone is asked about.
    """
    subjects = [m for m in fitting if m.is_subject]
    if not subjects and len(fitting) > 1:
        return None
    best = (subjects or fitting)[0]
    rivals: list[str] = []
    for mention in fitting:
        is_same = best.text in mention.text or mention.text in best.text
        is_recipient = mention.head.head.lower_ == "to"  # "The contract went to the bidder."
        if (is_recipient or mention.head.dep_ in RIVALS) and not is_same:
            rivals.append(mention.text.lower())
    topics = " ".join(mention.text.lower() for mention in asked)
    if any(rival in topics for rival in rivals):
        return None
    return best if not rivals or best.text.lower() in topics else None


def straight(text: str) -> str:
    return text.replace("’", "'")


# --- the texts ---


def enrich(question: str, answer: str, claims: Sequence[Claim]) -> list[Claim]:
    """Replace the pronouns of claims by what they refer to. English only.

    Args:
        question: The question, perhaps with earlier ones of a conversation.
        answer: The answer that the claims are from.
        claims: Claims with worthiness and independence.

    Returns:
        The claims, with `enriched` where they are factual, dependent and certain to resolve.
    """
    if not is_english(answer) or not any(map(_is_open, claims)):
        return list(claims)
    context = Context(question, answer)
    result: list[Claim] = []
    for claim in claims:
        if _is_open(claim):
            text = _enriched(context, claim)
            enriched = text if text != claim.text else None
            claim = claim.model_copy(update={"enriched": enriched})
        result.append(claim)
    return result


def _is_open(claim: Claim) -> bool:
    is_dependent = claim.worthiness == "factual" and claim.independent is False
    return is_dependent and bool(claim.spans) and not claim.enriched


def _enriched(context: Context, claim: Claim) -> str | None:
    """Return the claim with its references replaced; None where that is not certain."""
    place = min(start for start, _ in claim.spans)
    numbers = [n for n, block in enumerate(context.blocks) if block.start <= place < block.end]
    foreign_letters = sum(c.isalpha() and not c.isascii() for c in claim.text)
    if not numbers or foreign_letters > len(claim.text) // 4:
        return None
    number = numbers[0]
    if context.blocks[number].kind in ("row", "code"):
        return None
    return _resolve(context, straight(claim.text), number, place)


class Change(NamedTuple):
    """A replacement in a text."""

    start: int
    end: int
    text: str


def _resolve(context: Context, text: str, number: int, place: int) -> str | None:
    """Return the text with every outward pronoun replaced; None if one of them stays open.

    `number` and `place` are those of `Context.antecedent`.
    """
    changes: dict[str, Change] = {}
    for token in outward_pronouns(parse(text)):
        form = PRONOUNS[token.lower_]
        if form in changes:
            continue  # one occurrence is enough
        name = context.antecedent(form, number, place)
        if name is None or not _is_replaceable(token):
            return None  # half a repair would hide what is still open
        if token.lower_ in POSSESSIVE and token.dep_ == "poss":
            is_plural = form == "they" and name.endswith("s")
            name += "'" if is_plural else "'s"
        end = token.idx + len(token.text)
        changes[form] = Change(token.idx, end, name)
    return _replaced(text, list(changes.values())) if changes else None


def _is_replaceable(pronoun: Token) -> bool:
    """Return False for "it's" and "theirs"."""
    following = pronoun.doc[pronoun.i + 1 :][:1].text
    is_owner = pronoun.lower_ in ("hers", "theirs", "his") and pronoun.dep_ != "poss"
    return not is_owner and not following.startswith("'")


def _replaced(text: str, changes: Sequence[Change]) -> str:
    """Return the text with the changes made, and capitals adapted to their place."""
    for start, end, name in sorted(changes, reverse=True):
        opens_sentence = start == 0 or text[:start].rstrip().endswith((".", "!", "?"))
        if opens_sentence:
            name = name[0].upper() + name[1:]
        elif name.startswith(("The ", "A ", "An ")):
            name = lower_initial(name)
        text = text[:start] + name + text[end:]
    return text


def standalone_question(question: str, turns: Sequence[Turn]) -> str:
    """Return a question that can be read without its conversation. English only.

    One that names nothing, such as “When was it built?”, follows the last one that does: “What is
    the Eiffel Tower?”

    Args:
        question: The question.
        turns: The conversation before it.
    """
    asked = [utterance for speaker, utterance in turns if speaker == "user"]
    if not asked or not is_english(" ".join([*asked, question])):
        return question
    questions = [question]
    for earlier in reversed(asked):
        first = Context(questions[0], "")
        if first.question:
            break
        questions.insert(0, earlier)
    return " ".join(questions)
