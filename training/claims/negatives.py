"""Hard negatives by rule: a true claim with a name, date or number of its own page in the wrong place, with its roles
swapped, or joined with a claim that is false or unsaid."""

from __future__ import annotations

import random
import re
from typing import Any

_NAMES = ("PERSON", "GPE", "LOC", "ORG", "NORP", "FAC", "EVENT", "WORK_OF_ART")
_FIGURES = ("DATE", "CARDINAL", "MONEY", "PERCENT", "QUANTITY", "ORDINAL", "TIME")
_MONTH = re.compile(
    r"\b(?:January|February|March|April|May|June|July|August|September|October|November|December)\b", re.I
)
_MUTUAL = {
    *("be meet marry join resemble equal border play fight face merge differ share become remain include have".split()),
    *("follow accompany compare mix combine overlap neighbor touch date wed know".split()),
}


def shape(text: str) -> str:
    """Two dates or numbers may stand for each other if they look alike: 1883 and 1920, 3 May and 12 June."""
    text = re.sub(r"^(?:the|about|around|nearly|over) ", "", text.strip(), flags=re.I)
    text = _MONTH.sub("M", text)
    text = re.sub(r"\b1\d{3}\b|\b20\d\d\b", "Y", text)
    text = re.sub(r"\d+(?:[.,]\d+)*", "9", text)
    return re.sub(r"\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)\b", "9", text, flags=re.I)


def alternatives(passage: Any, text: str, label: str, besides: str) -> list[str]:
    """Other entities of the passage that could stand where `text` stands, none of them named in `besides`."""
    taken = set(re.findall(r"\w+", f"{text} {besides}".lower())) - {"the", "of", "in", "and", "a", "on", "at"}
    found = []
    for entity in passage.ents:
        words = set(re.findall(r"\w+", entity.text.lower())) - {"the", "of", "in", "and", "a", "on", "at"}
        if entity.label_ != label or not words or words & taken or len(entity.text) > 40 or "\n" in entity.text:
            continue
        if label in _FIGURES and shape(entity.text) != shape(text):
            continue
        if label in _NAMES and (not entity.text[:1].isupper() or entity.text.endswith(("'s", "’s"))):
            continue
        found.append(entity.text)
    return sorted(set(found))


def entity_at(passage: Any, text: str) -> str | None:
    """The label of the passage's entity that is this text, articles aside."""
    bare = re.sub(r"^the ", "", text.strip().lower())
    for entity in passage.ents:
        if re.sub(r"^the ", "", entity.text.lower()) == bare:
            return str(entity.label_)
    return None


def exchanged(claim: Any, passage: Any, rng: random.Random) -> tuple[str, bool] | None:
    """(the claim with one of its entities replaced by another of the passage, whether it is a date or a number)."""
    entities = [e for e in claim.ents if e.label_ in (*_NAMES, *_FIGURES) and e.text.lower() in passage.text.lower()]
    rng.shuffle(entities)
    for entity in entities:
        others = alternatives(passage, entity.text, entity.label_, claim.text)
        others = [o for o in others if o.lower().startswith("the ") == entity.text.lower().startswith("the ")]
        if others:
            text = claim.text
            made = text[: entity.start_char] + rng.choice(others) + text[entity.end_char :]
            return made, entity.label_ in _FIGURES
    return None


def swapped(claim: Any) -> str | None:
    """The claim with its subject and its object, or its agent, in each other's place, where both are names."""
    root = next(claim.sents).root
    if root.pos_ != "VERB" or root.lemma_.lower() in _MUTUAL or any(c.dep_ in ("neg", "conj") for c in root.children):
        return None
    subjects = [c for c in root.children if c.dep_ in ("nsubj", "nsubjpass")]
    objects = [c for c in root.children if c.dep_ == "dobj"]
    objects += [o for c in root.children if c.dep_ == "agent" for o in c.children if o.dep_ == "pobj"]
    if len(subjects) != 1 or len(objects) != 1:
        return None
    subject, other = subjects[0], objects[0]
    if subject.tag_ != other.tag_ or subject.ent_type_ != other.ent_type_ or subject.pos_ not in ("PROPN", "NOUN"):
        return None
    if subject.pos_ == "NOUN" and (subject.left_edge.tag_ != "DT" or other.left_edge.tag_ != "DT"):
        return None
    a = claim[subject.left_edge.i : subject.right_edge.i + 1]
    b = claim[other.left_edge.i : other.right_edge.i + 1]
    if a.end > b.start or len(a) > 6 or len(b) > 6 or any(t.pos_ == "PRON" for t in (*a, *b)):
        return None
    if any(t.dep_ in ("conj", "relcl", "appos", "poss") for t in (*a, *b)):
        return None
    first = a.text if a[0].pos_ == "PROPN" else a.text[:1].lower() + a.text[1:]
    text = claim.text
    made: str = text[: a.start_char] + b.text + text[a.end_char : b.start_char] + first + text[b.end_char :]
    return made[:1].upper() + made[1:]


def joined(first: Any, second: Any) -> str:
    """Two statements as one."""
    word = second[0]
    named = word.pos_ == "PROPN" or word.ent_type_ or not word.text[1:].islower()
    named = named and word.lower_ not in ("a", "an", "the", "there", "in", "on")
    tail = second.text if named else second.text[:1].lower() + second.text[1:]
    return f"{first.text.rstrip('. ')}, and {tail}"
