"""Propositions from the dependency parse, without a model beyond it: coordination distributed, clauses that say
something of a noun made sentences, dates and places told one by one. Where the splitter is not sure, nothing is cut.

Goes as far as the parse allows towards the atomic, coherent subclaims of W24 (sections 2 and 4).
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

from attribution.segmenters.clausal.adjuncts import adjuncts, natures
from attribution.segmenters.clausal.coordination import MOST_CROSSED, distribute
from attribution.segmenters.clausal.examples import exemplified
from attribution.segmenters.clausal.modifiers import extracted
from attribution.segmenters.clausal.trust import trusted
from attribution.segmenters.syntax.drafts import (
    ADDED,
    SUBJECTS,
    Draft,
    covers,
    parts,
    segment,
    subtree,
    trimmed,
    wording,
)
from attribution.segmenters.syntax.grammar import RELATIVE, finite, first, last, members, negated, subject_of
from attribution.segmenters.syntax.repairs import repaired
from attribution.segmenters.syntax.soundness import imperative, sound
from attribution.settings import Settings
from attribution.text.nlp import parse
from attribution.types import LlmUsage, Segmented

CONNECTIVES = {
    "however", "additionally", "furthermore", "moreover", "also", "thus", "therefore", "hence", "overall", "finally",
    "similarly", "consequently", "nevertheless", "nonetheless", "meanwhile", "lastly", "firstly", "secondly", "first",
    "second", "third", "thirdly", "besides", "then", "next", "indeed", "ultimately", "accordingly", "likewise",
}  # fmt: skip
CONSEQUENT = {"therefore", "thus", "hence", "consequently", "yet", "so"}
CONCESSIVE = {"although", "though", "while", "whereas"}
# what is said inside these is not said by the answer itself
OTHERS = {"according", "reportedly", "allegedly", "supposedly", "possibly", "perhaps", "maybe", "if", "unless",
          "whether", "hypothetically", "suppose", "assuming"}  # fmt: skip
SETTING = {"prep", "advcl", "npadvmod", "advmod", "punct", "cc"}  # what may stand in front of several clauses


class Clauses:
    """Segmenter `clauses`."""

    def __init__(self, settings: Settings) -> None:
        pass

    def estimate(self, question: str, answer: str) -> LlmUsage | None:
        """None: no language model is used."""
        return None

    def segment(self, question: str, answer: str, stop: threading.Event | None = None) -> Segmented:
        """Claims in the order of the answer; a sentence the splitter is not sure of is a claim as it stands."""
        return segment(answer, split)


def split(parsed: Any) -> list[Draft]:
    """The statements of one sentence that together hold all its content words; none where it stays whole.

    Each is then shown to the parser alone: in a shorter sentence it sees what it missed in the long one.
    """
    made = _once(parsed)
    found: list[Draft] = []
    for n, draft in enumerate(made):
        more = again(parsed, draft)
        others = [{i for i, _ in d} for d in (*made[:n], *made[n + 1 :])]
        each: list[set[int]] = [{i for i, _ in d} - {ADDED} for d in more]
        varying = {i for one in each for i in one if not all(i in other for other in each)}
        if any(varying <= other for other in others) and len(made) * len(more) > MOST_CROSSED:
            more = []  # so many pairs of members repeat more than they say
        found += [d for d in more or [draft] if d not in found]
    return found


def again(doc: Any, draft: Draft) -> list[Draft]:
    """The statements that one statement makes when it is parsed by itself; none where it stays as it is."""
    text = wording(doc, draft)
    alone = parse(text)
    same = all(t.lower_ == part[1].lower() or {t.lower_, part[1].lower()} == {"a", "an"}
               for t, part in zip(alone, draft, strict=False))  # fmt: skip
    if "as well as" in text or text == doc.text or len(alone) - len(draft) not in {0, 1} or not same:
        return []
    made = [
        tuple(
            (ADDED, word) if i < 0 else draft[i] if word.lower() == alone[i].lower_ else (draft[i][0], word)
            for i, word in one
            if i < len(draft)
        )
        for one in _once(alone)
    ]
    return made if len(made) > 1 else []


def _once(parsed: Any) -> list[Draft]:
    doc = repaired(parsed)
    if not trusted(doc) or doc[0].tag_ in RELATIVE or doc[0].lower_ == "where":
        return []
    made: list[Draft] = []
    for sentence in doc.sents:
        root = sentence.root
        if sentence.start and doc[sentence.start - 1].text != ";":
            return []  # the parser saw two sentences where there is one
        if not imperative(root) and (not finite(root) or not any(c.dep_ in SUBJECTS for c in root.children)):
            return []
        for head, draft in independent(root):
            made += [d for d in propositions(doc, head, draft) if d not in made]
    return made if covers(doc, made) and all(sound(doc, d) for d in made) else []


def propositions(doc: Any, head: Any, draft: Draft) -> Iterator[Draft]:
    """The statements of one independent clause. A step whose outcome is not sound is not taken."""
    waiting = [draft]
    if not {text.lower() for _, text in draft} & OTHERS and not reported(head):
        main, more = extracted(doc, draft)
        waiting = [main, *more]
    for one in waiting:
        for variant in listed(doc, one):
            for step in (natures, adjuncts):
                found = step(doc, variant)
                if len(found) > 1 and all(sound(doc, f) for f in found):
                    yield from found
                    break
            else:
                yield variant


def listed(doc: Any, draft: Draft) -> list[Draft]:
    """One statement a member of its lists. Where examples and another list would multiply, only the examples."""
    examples = exemplified(doc, draft)
    if len(examples) == 1 or not all(sound(doc, e) for e in examples):
        examples = [draft]
    made = [_distributed(doc, e) for e in examples]
    if len(examples) > 1 and sum(map(len, made)) > MOST_CROSSED:
        made = [made[0], *([e] for e in examples[1:])]
    return [d for several in made for d in several]


def _distributed(doc: Any, draft: Draft) -> list[Draft]:
    several = distribute(doc, draft)
    return several if all(sound(doc, v) for v in several) else [draft]


def reported(head: Any) -> bool:
    """Whether the clause tells what somebody says, thinks or wants."""
    return any(c.dep_ == "ccomp" for c in head.children)


def independent(root: Any) -> Iterator[tuple[Any, Draft]]:
    """Clauses that stand beside each other, each with its head; what stands in front of all goes before each."""
    chain = members(root)
    starts = [m for m in chain[1:] if finite(m) and subject_of(m) is not None]
    opening = subject_of(root)
    front = [c for c in root.children if opening is not None and c.i < first(opening)]
    setting = [c for c in front if c.lower_ not in CONNECTIVES and c.dep_ not in {"punct", "cc"}]
    if not joined(chain, starts) or any(c.dep_ not in SETTING for c in setting):
        starts = []
    concessive = [c for c in front if c.dep_ == "advcl" and concession(c)]
    shared = [t for c in front if c not in concessive for t in c.subtree] if len(setting) > len(concessive) else []
    beside = [c for c in root.children if c.dep_ in {"ccomp", "parataxis"} and semicolon(c, root)]
    for head in sorted([root, *starts, *beside], key=lambda t: t.i):
        others = [t for t in (*starts, *beside) if t is not head]
        conceded = [c for c in head.children if c.dep_ == "advcl" and concession(c)]
        for clause, out in [(head, [*others, *conceded]), *((c, others) for c in conceded)]:
            words = subtree(clause, *(o for o in out if o in list(clause.subtree)))
            if clause in conceded:
                words = [t for t in words if not (t.dep_ == "mark" and t.head == clause)]
            draft = trimmed(parts(words))
            while clause in starts and draft[0][1].lower() in CONSEQUENT:
                draft = trimmed(draft[1:])
            if clause in starts and shared:
                draft = (*parts(shared), *draft)
            yield clause, plain(draft)


def joined(chain: list[Any], starts: list[Any]) -> bool:
    """No "or" and no "not only … but also" among the clauses."""
    joins = {c.lower_ for m in chain for c in m.children if c.dep_ == "cc"}
    only = any(c.lower_ == "only" and c.i < m.i for m in chain for c in m.children)
    return bool(starts) and joins <= {"and", "but", ";", "so", "yet"} and not only


def semicolon(clause: Any, root: Any) -> bool:
    doc, end = clause.doc, last(clause)
    nearby = {doc[i].text for i in (end, min(end + 1, len(doc) - 1))}
    return ";" in nearby and clause.i < root.i and finite(clause) and any(c.dep_ in SUBJECTS for c in clause.children)


def concession(clause: Any) -> bool:
    """ "Although A, B" says both; "while A" does where A is a sentence of its own, set off by a comma."""
    marks = [c for c in clause.children if c.dep_ == "mark" and c.lower_ in CONCESSIVE]
    if len(marks) != 1 or not finite(clause) or negated(clause.head) or "not" in marks[0].head.lower_:
        return False
    if not any(c.dep_ in SUBJECTS for c in clause.children):
        return False
    doc, start, end = clause.doc, first(clause), last(clause)
    around = {doc[max(start - 1, 0)].text, doc[min(end + 1, len(doc) - 1)].text}
    return "," in around and not (marks[0].lower_ == "while" and clause.tag_ == "VBG")


def plain(draft: Draft) -> Draft:
    """Without the connective in front, which ties a sentence to the one before it."""
    if len(draft) > 3 and draft[0][1].lower() in CONNECTIVES and draft[1][1] == ",":
        return draft[2:]
    return draft
