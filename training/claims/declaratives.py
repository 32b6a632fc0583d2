"""Questions to statements, by rule from the parse: only what the rules turn well, else None.

"When was the bridge built?" with "1883" becomes "The bridge was built in 1883."; "Did the Normans invade Ireland?"
becomes "The Normans invaded Ireland."
"""

from __future__ import annotations

import re
from typing import Any

from training.claims.answers import UNITS, asked_for, filler, written

_SUBJECTS = ("nsubj", "nsubjpass", "expl", "csubj")
_DO = {"do": "VBP", "does": "VBZ", "did": "VBD"}
_AUX = {
    *("am is are was were has have had can could will would shall should may might must".split()),
    *_DO,
}
_UNTURNABLE = re.compile(
    r"\b(passage|article|author|paragraph|text|ever|anyone|anything|either|at all|yet|same|whether|how|why|else"
    r"|likely|unlikely|possible|probable|sounds?|seems?|impl(?:y|ies)|suggests?|reason to|expect|chance)\b",
    re.I,
)


def sentence(*parts: str) -> str:
    """The parts joined, with a capital and a full stop."""
    joined = re.sub(r"\s+", " ", " ".join(p for p in parts if p)).strip(" ,?.")
    joined = re.sub(r" ([,;:)'’])(?!\w)", r"\1", joined)
    return joined[:1].upper() + joined[1:] + "."


def inflected(verb: Any, auxiliary: str) -> str | None:
    """The verb as the auxiliary of a question asks: (did) invade is invaded."""
    from lemminflect import getAllLemmas, getInflection

    word = verb.text.lower()
    if word not in getAllLemmas(word, upos="VERB").get("VERB", ()) and verb.tag_ != "VB":
        return None
    if word == "be":
        return None
    made = getInflection(word, tag=_DO[auxiliary])
    return made[0] if made else None


class _Clause:
    """A clause whose auxiliary stands before its subject, put in order."""

    def __init__(self, doc: Any, aux: int, predicate: bool = True) -> None:
        """Raises ValueError where the parse does not tell the subject from the rest; without a predicate, the answer
        will be it."""
        self.doc, self.aux = doc, doc[aux]
        end = len(doc) - (doc[-1].text == "?")
        word = self.aux.text.lower()
        if word not in _AUX:
            raise ValueError("no auxiliary")
        copula = self.aux.dep_ not in ("aux", "auxpass")
        verb = self.aux if copula else self.aux.head
        if copula and self.aux.lemma_ != "be":
            raise ValueError("no main verb")
        start = aux + 1
        negated = start < end and doc[start].text.lower() in ("n't", "n’t", "not")
        start += negated
        subjects = [c for c in verb.children if c.dep_ in _SUBJECTS and c.i >= start and c.left_edge.i == start]
        if len(subjects) != 1:
            raise ValueError("no subject")
        stop = subjects[0].right_edge.i + 1
        if copula and stop >= end:  # the parser took the predicate for a part of the subject
            splits = [
                t.left_edge.i
                for t in subjects[0].subtree
                if (t.dep_ == "appos" and t.left_edge.tag_ == "DT" and t.left_edge.i > start)
                or (t.dep_ == "acl" and t.tag_ == "VBN" and t.right_edge.i == end - 1)
            ]
            if predicate and not splits:
                raise ValueError("no predicate")
            stop = splits[0] if splits else end
        if any(c.dep_ == "aux" and c.i > stop and c.head == verb and word in _DO for c in verb.children):
            raise ValueError("another clause's verb")
        if not copula and stop > verb.i:
            raise ValueError("the verb stands in its subject")
        self.subject, self.verb = doc[start:stop], verb
        self.words: dict[int, str] = {}
        if word in _DO and not copula:
            if negated:
                self.head = f"{word} not"
            else:
                self.head = ""
                for each in (verb, *(c for c in verb.conjuncts if c.tag_ == "VB" and c.i > verb.i)):
                    if each is not verb and any(c.dep_ in (*_SUBJECTS, "aux") for c in each.children):
                        continue
                    changed = inflected(each, word)
                    if changed is None:
                        raise ValueError("no verb to inflect")
                    self.words[each.i] = changed
        else:
            self.head = f"{word}{' not' if negated else ''}"
        self.rest = range(stop, end)

    def text(self, gap: int | None = None, filler: str = "") -> str:
        """In order, the filler before the token at the gap, at the end where that is past it."""
        parts = []
        for i in self.rest:
            if i == gap:
                parts.append(filler)
            parts.append(self.words.get(i) or self.doc[i].text)
            if not self.doc[i].whitespace_ and i + 1 in self.rest and i + 1 != gap:
                parts.append("\0")
        if filler and (gap is None or gap >= self.rest.stop):
            parts.append(filler)
        rest = " ".join(parts).replace(" \0 ", "")
        return " ".join(p for p in (written(self.subject), self.head, rest) if p)


def yes(question: Any) -> str | None:
    """A question for yes or no as a statement."""
    if _UNTURNABLE.search(question.text) or not 5 <= len(question) <= 40:
        return None
    starts = [0] + [t.i + 1 for t in question[:-3] if t.text == ","]
    for at in starts:
        if question[at].text.lower() in _AUX:
            try:
                clause = _Clause(question, at)
            except ValueError:
                return None
            made = clause.text()
            if made.lower().startswith("there "):
                made = re.sub(r"\bany\b", "some", made)
            if re.search(r"\bany\b", made) or not clause.rest:
                return None
            front = written(question[:at])
            return sentence(front, made)
    return None


def answered(question: Any, answer: str) -> str | None:
    """The clause of a question for who, what, which, when, where or how many, with the answer in its place."""
    found = asked_for(question)
    if found is None or len(answer) > 90 or not 4 <= len(question) <= 40:
        return None
    preposition, phrase, after = found
    head, lowered = phrase.root, written(phrase).lower()
    given = filler(preposition, phrase, answer)
    if given is None or any(t.tag_ == "POS" for t in phrase):
        return None
    adverbial = bool(preposition) or lowered in ("when", "where") or phrase[-1].text.lower() in UNITS
    if not adverbial and _asks_for_subject(question, after):
        several = re.search(r"\band\b|,|s\b", answer) or lowered.startswith("how")
        if head.tag_ == "NNS" and not several:
            return None
        return sentence(given, written(question[after:]).rstrip("? "))
    try:
        clause = _Clause(question, after, predicate=False)
    except ValueError:
        return None
    if clause.subject[0].tag_ == "PRP" or clause.subject.text.lower() in ("this", "these", "that"):
        return None
    if clause.verb.lemma_ == "do" or clause.subject[-1].tag_ in ("VBD", "VBN", "IN") and not clause.rest:
        return None
    place = len(question) if adverbial else _gap(question, clause, head)
    if place is None or (adverbial and question[clause.rest.stop - 1].pos_ == "ADP"):
        return None
    return sentence(clause.text(place, given))


def _asks_for_subject(question: Any, after: int) -> bool:
    """Return True if the wh-phrase before the given token stands where the statement's subject does."""
    verb = question[after]
    if verb.text.lower() in _DO:
        return False
    if verb.text.lower() not in _AUX:
        return verb.pos_ == "VERB" and verb.tag_ in ("VBD", "VBZ", "VBP")
    if verb.lemma_ == "have" and not any(t.tag_ in ("VBN", "VBD") for t in question[after + 1 :]):
        return True
    following = next((t for t in question[after + 1 :] if t.pos_ != "ADV"), None)
    if following is None or following.pos_ not in ("VERB", "AUX", "ADJ"):
        return False
    main = verb if verb.dep_ not in ("aux", "auxpass") else verb.head
    return not any(t.dep_ in _SUBJECTS and t.i > after for t in main.children)


def _gap(question: Any, clause: _Clause, head: Any) -> int | None:
    """Before which token the answer stands, where it is no adverbial; None where the parse does not tell."""
    governor = clause.verb if head.head.i == clause.aux.i else head.head
    if clause.subject.text.lower() == "there":
        return int(clause.rest.start)
    if governor.i == clause.aux.i:  # what is X, what is X called, what is X a part of?
        extra = [question[i] for i in clause.rest]
        if (
            not extra
            or extra[-1].pos_ == "ADP"
            or (len(extra) == 1 and extra[0].text in ("called", "named", "known as"))
        ):
            return len(question)
        return None
    if governor.i not in clause.rest:
        return None
    if governor.pos_ == "ADP":
        return int(governor.i) + 1
    if governor.pos_ not in ("VERB", "AUX"):
        return None
    place = governor.i + 1
    objects = [c for c in governor.children if c.i > governor.i and c.dep_ in ("dobj", "attr") and c != head]
    if objects:
        if head.dep_ not in ("oprd", "attr"):
            return None
        place = objects[0].right_edge.i + 1
    while place in clause.rest and question[place].dep_ == "prt":
        place += 1
    return int(place)


def fluent(claim: Any) -> bool:
    """Return True if the claim's own parse agrees that it is one statement."""
    text = claim.text
    if (
        len(list(claim.sents)) != 1
        or not 4 <= len(claim) <= 45
        or text.count('"') % 2
        or text.count("(") != text.count(")")
    ):
        return False
    words = [t.text.lower() for t in claim]
    if any(a == b and a.isalpha() for a, b in zip(words, words[1:], strict=False)):
        return False
    if len(set(zip(words, words[1:], words[2:], strict=False))) < len(words) - 2:  # three words said twice
        return False
    if any(t.tag_ in ("WDT", "WP", "WRB") and t.i < 2 for t in claim) or "?" in text:
        return False
    root = next(claim.sents).root
    if root.pos_ not in ("VERB", "AUX"):
        return False
    finite = root.tag_ in ("VBZ", "VBD", "VBP", "MD") or any(
        c.dep_ in ("aux", "auxpass") and c.tag_ in ("VBZ", "VBD", "VBP", "MD") for c in root.children
    )
    subjects = [c for c in root.children if c.dep_ in _SUBJECTS and c.i < root.i]
    predicate = [c for c in root.children if c.i > root.i and c.dep_ != "punct"]
    return finite and len(subjects) == 1 and (root.pos_ == "VERB" or bool(predicate))
