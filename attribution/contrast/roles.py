"""Who does what to whom: "Poland invaded Germany" says the reverse of "Poland was invaded by Germany", in its words.

Models that compare words miss it most often where one of the two sentences is passive (HANS, McCoy et al. 2019).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from attribution.claims.grammar import SUBJECTS
from attribution.segmenters.syntax.tree import lemma
from attribution.text.differences import quoted
from attribution.text.lexical import folded, stem, terms
from attribution.text.nlp import parse

if TYPE_CHECKING:
    from spacy.tokens import Token

_MUTUAL = frozenset(
    "accompany balance be border contact cross date divorce equal face fight have hug join kiss marry match meet "
    "mirror oppose overlap resemble rival share touch".split()
)


@dataclass(frozen=True)
class Action:
    """A verb, as written, with the nouns of those who act and of those acted on; each noun's key is its stem."""

    verb: str
    agents: Mapping[str, str]
    patients: Mapping[str, str]

    @property
    def nouns(self) -> set[str]:
        return {*self.agents, *self.patients}


def reversed_roles(claim: str, sentence: str) -> str:
    """What is the other way round in the sentence, in words; empty where nothing is."""
    words = terms(sentence)[0]
    claimed = [a for a in actions(claim) if a.agents.keys() & words and a.patients.keys() & words]
    said = list(actions(sentence)) if claimed else []  # parsing takes milliseconds
    for own in claimed:
        same = [its for its in said if own.nouns & its.nouns and _same_verb(own, its)]
        if any(own.agents.keys() & its.agents.keys() and own.patients.keys() & its.patients.keys() for its in same):
            continue
        for its in same:
            agents, patients = own.agents.keys() & its.patients.keys(), own.patients.keys() & its.agents.keys()
            if agents and patients and not agents & patients:
                first, second = own.agents[min(agents)], own.patients[min(patients)]
                return f"the source has {quoted(first)} and {quoted(second)} the other way round"
    return ""


def _same_verb(one: Action, two: Action) -> bool:
    """Forms of one verb that does not hold in both directions."""
    return lemma(one.verb) == lemma(two.verb) and lemma(one.verb) not in _MUTUAL


def actions(text: str) -> Iterator[Action]:
    """The verbs of a text that have both roles, in the active or the passive voice; none that are negated."""
    for verb in parse(text):
        if verb.pos_ != "VERB" or any(child.dep_ == "neg" for child in verb.children):
            continue
        by = [noun for child in verb.children if child.dep_ == "agent" for noun in child.children]
        objects = [child for child in verb.children if child.dep_ == "dobj"]
        agents, patients = (by, _subjects(verb)) if by else (_subjects(verb), objects)
        found = Action(verb.lower_, _named(verb, agents), _named(verb, patients))
        passive = verb.dep_ == "acl" and verb.tag_ == "VBN" or any(child.dep_ == "auxpass" for child in verb.children)
        if found.agents and found.patients and (by or not passive):
            yield found


def _subjects(verb: Token) -> list[Token]:
    """Its own, or that of the verb it is joined to; for a participle behind a noun, the noun."""
    own = [child for child in verb.children if child.dep_ in SUBJECTS]
    if own:
        return own
    if verb.dep_ == "acl" and verb.tag_ in ("VBN", "VBG"):
        return [verb.head]
    return _subjects(verb.head) if verb.dep_ == "conj" and verb.head.pos_ == "VERB" else []


def _named(verb: Token, nouns: list[Token]) -> dict[str, str]:
    """The nouns with what is joined to them, and what a relative pronoun stands for; no other pronouns."""
    found: dict[str, str] = {}
    for noun in nouns:
        if noun.tag_ in ("WDT", "WP") and verb.dep_ == "relcl":
            noun = verb.head
        joined = [child for child in noun.children if child.dep_ == "conj"]
        if noun.pos_ in ("NOUN", "PROPN"):
            first = min((t.i for t in noun.children if t.dep_ == "compound" and t.i < noun.i), default=noun.i)
            found[stem(folded(noun.text))] = noun.doc[first : noun.i + 1].text
        found |= _named(verb, joined)
    return found
