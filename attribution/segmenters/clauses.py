"""Propositions from the dependency parse, without a model beyond it: coordination distributed, clauses that say
something of a noun made sentences, dates and places told one by one. Where the splitter is not sure, nothing is cut.

Goes as far as the parse allows towards the atomic, coherent subclaims of W24 (sections 2 and 4).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from attribution.segmenters.coordination import distribute, members, negated
from attribution.segmenters.drafts import (
    AUXILIARIES,
    CONTENT,
    SUBJECTS,
    Draft,
    covers,
    parts,
    segment,
    subtree,
    trimmed,
)
from attribution.segmenters.modifiers import BE, adjuncts, extracted, natures
from attribution.settings import Settings
from attribution.types import Segmented

CONNECTIVES = {
    "however", "additionally", "furthermore", "moreover", "also", "thus", "therefore", "hence", "overall", "finally",
    "similarly", "consequently", "nevertheless", "nonetheless", "meanwhile", "lastly", "firstly", "secondly", "first",
    "second", "third", "thirdly", "besides", "then", "next", "indeed", "ultimately", "accordingly", "likewise",
}  # fmt: skip
CONCESSIVE = {"although", "though", "while", "whereas"}
# what is said inside these is not said by the answer itself
OTHERS = {"according", "reportedly", "allegedly", "supposedly", "possibly", "perhaps", "maybe", "if", "unless",
          "whether", "hypothetically", "suppose", "assuming"}  # fmt: skip
DANGLING = {"ADP", "DET", "CCONJ", "SCONJ", "PART"}
FINITE = {"VBZ", "VBP", "VBD", "MD"}


class Clauses:
    """Segmenter `clauses`."""

    def __init__(self, settings: Settings) -> None:
        pass

    def segment(self, question: str, answer: str) -> Segmented:
        """Claims in the order of the answer; a sentence the splitter is not sure of is a claim as it stands."""
        return segment(answer, split)


def split(doc: Any) -> list[Draft]:
    """The statements of one sentence that together hold all its content words; none where it stays whole."""
    sentences = list(doc.sents)
    made: list[Draft] = []
    for sentence in sentences:
        root = sentence.root
        if sentence.start and doc[sentence.start - 1].text != ";":
            return []  # the parser saw two sentences where there is one
        if not imperative(root) and (not finite(root) or not any(c.dep_ in SUBJECTS for c in root.children)):
            return []
        for head, draft in independent(doc, root):
            made += [d for d in propositions(doc, head, draft) if d not in made]
    return made if covers(doc, made) and all(sound(doc, d) for d in made) else []


def propositions(doc: Any, head: Any, draft: Draft) -> Iterator[Draft]:
    """The statements of one independent clause. A step whose outcome is not sound is not taken."""
    waiting = [draft]
    if not {text.lower() for _, text in draft} & OTHERS and not reported(head):
        main, more = extracted(doc, draft)
        if sound(doc, main) and all(sound(doc, d) for d in more):
            waiting = [main, *more]
    for one in waiting:
        several = distribute(doc, one)
        for variant in several if all(sound(doc, v) for v in several) else [one]:
            for step in (natures, adjuncts):
                found = step(doc, variant)
                if len(found) > 1 and all(sound(doc, f) for f in found):
                    yield from found
                    break
            else:
                yield variant


def finite(verb: Any) -> bool:
    return verb.pos_ in {"VERB", "AUX"} and (
        verb.tag_ in FINITE or any(c.dep_ in AUXILIARIES and c.tag_ in FINITE for c in verb.children)
    )


def imperative(root: Any) -> bool:
    """ "Define the goals": a plain verb with no subject, and nothing before it but adverbs."""
    before = {c.dep_ for c in root.children if c.i < root.i}
    return root.tag_ == "VB" and root.dep_ == "ROOT" and before <= {"advmod", "punct", "cc"}


def reported(head: Any) -> bool:
    """Whether the clause tells what somebody says, thinks or wants."""
    return any(c.dep_ == "ccomp" for c in head.children)


def independent(doc: Any, root: Any) -> Iterator[tuple[Any, Draft]]:
    """Clauses that stand beside each other, each with its head; what stands in front of several is not cut from any."""
    chain = members(root)
    starts = [m for m in chain[1:] if finite(m) and any(c.dep_ in SUBJECTS and c.i < m.i for c in m.children)]
    front = [c for c in root.children if c.i < min((s.i for s in root.children if s.dep_ in SUBJECTS), default=root.i)]
    shared = [c for c in front if c.dep_ not in {"punct", "cc", "ccomp"} and c.lower_ not in CONNECTIVES]
    if shared or not joined(chain, starts):
        starts = []
    beside = [c for c in root.children if c.dep_ in {"ccomp", "parataxis"} and semicolon(doc, c, root)]
    for head in sorted([root, *starts, *beside], key=lambda t: t.i):
        others = [t for t in (*starts, *beside) if t is not head]
        conceded = [c for c in head.children if c.dep_ == "advcl" and concession(c)]
        for clause, out in [(head, [*others, *conceded]), *((c, others) for c in conceded)]:
            words = subtree(clause, *(o for o in out if o in list(clause.subtree)))
            if clause in conceded:
                words = [t for t in words if not (t.dep_ == "mark" and t.head == clause)]
            yield clause, plain(clause, trimmed(parts(words)))


def joined(chain: list[Any], starts: list[Any]) -> bool:
    """No "or" and no "not only … but also" among the clauses."""
    joins = {c.lower_ for m in chain for c in m.children if c.dep_ == "cc"}
    only = any(c.lower_ == "only" and c.i < m.i for m in chain for c in m.children)
    return bool(starts) and joins <= {"and", "but", ";", "so", "yet"} and not only


def semicolon(doc: Any, clause: Any, root: Any) -> bool:
    end = max(t.i for t in clause.subtree)
    nearby = {doc[i].text for i in (end, min(end + 1, len(doc) - 1))}
    return ";" in nearby and clause.i < root.i and finite(clause) and any(c.dep_ in SUBJECTS for c in clause.children)


def concession(clause: Any) -> bool:
    """ "Although A, B" says both; "while A" does where A is a sentence of its own, set off by a comma."""
    marks = [c for c in clause.children if c.dep_ == "mark" and c.lower_ in CONCESSIVE]
    if len(marks) != 1 or not finite(clause) or negated(clause.head) or "not" in marks[0].head.lower_:
        return False
    if not any(c.dep_ in SUBJECTS for c in clause.children):
        return False
    ends = min(t.i for t in clause.subtree), max(t.i for t in clause.subtree)
    around = {clause.doc[max(ends[0] - 1, 0)].text, clause.doc[min(ends[1] + 1, len(clause.doc) - 1)].text}
    return "," in around and not (marks[0].lower_ == "while" and clause.tag_ == "VBG")


def plain(head: Any, draft: Draft) -> Draft:
    """Without the connective in front, which ties a sentence to the one before it."""
    if len(draft) > 3 and draft[0][1].lower() in CONNECTIVES and draft[1][1] == ",":
        return draft[2:]
    return draft


def told(verb: Any, text: str) -> bool:
    """A participle that was made, or read as, a finite verb."""
    active = verb.tag_ == "VBN" and verb.dep_ in {"acl", "advcl"} and any(c.dep_ == "dobj" for c in verb.children)
    return active or (verb.tag_ == "VBG" and text != verb.text)


def hung(verb: Any) -> bool:
    """Whether the verb was made a sentence: its noun then stands before it without a comma between."""
    return verb.i > 0 and bool(verb.doc[verb.i - 1].text == ",")


def sound(doc: Any, draft: Draft) -> bool:
    """A subject, then a finite verb, and no loose end: what keeps fragments out."""
    tokens = [doc[i] if i >= 0 else None for i, _ in draft]
    if len(draft) < 3 or not any(t is not None and t.pos_ in CONTENT for t in tokens):
        return False
    words = {i for i, _ in draft}
    if any(t is not None and told(t, t.text) and t.head.i in words and not hung(t) for t in tokens):
        return False  # "a director directed films": the past tense taken for a participle
    verbs = [
        n
        for n, t in enumerate(tokens)
        if (draft[n][1] in {*BE, "has", "have"} if t is None else t.tag_ in FINITE or told(t, draft[n][1]))
    ]
    root = next(doc.sents).root
    last = tokens[-1]
    if imperative(root) and not any(t is not None and t.dep_ in SUBJECTS and t.head == root for t in tokens):
        whole = last is None or last.pos_ not in DANGLING
        return whole and any(t is not None and t in members(root) for t in tokens[:3])
    if not verbs or not any(t is not None and t.pos_ in {"NOUN", "PROPN", "PRON", "VERB", "DET", "NUM", "ADJ"}
                            for t in tokens[: verbs[-1]]):  # fmt: skip
        return False
    first = tokens[0]
    relative = first is not None and first.lower_ in {"which", "who", "that"} and first.tag_ != "DT"
    if first is not None and (first.pos_ == "CCONJ" or (relative and first.dep_ != "det")):
        return False
    return last is None or last.i == len(doc) - 1 or doc[last.i + 1].is_punct or last.pos_ not in DANGLING
