"""Propositions from the dependency parse, without another model.

Coordinations are distributed, clauses that modify a noun become sentences, dates and places are
separated. If the rules
are unsure of a sentence, it stays whole. The aim is atomic, coherent subclaims as in W24 3.1.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator

from spacy.tokens import Doc, Token

from attribution.segmenters.english import tree
from attribution.segmenters.english.coordination import MAX_CROSSED, distribute, split_examples
from attribution.segmenters.english.drafts import (
    ADDED,
    LEXICON,
    Draft,
    DraftWord,
    covers,
    indices,
    parts,
    segment,
    to_text,
    trim,
    words,
)
from attribution.segmenters.english.faithful import is_imperative, is_sound
from attribution.segmenters.english.modifiers import extract, split_adjuncts, split_nationality
from attribution.segmenters.english.repairs import repair
from attribution.segmenters.english.scope import is_reliable
from attribution.settings import Settings
from attribution.text.parse import parse
from attribution.types import LlmUsage, Segmented

OPENING = {
    "prep",
    "advcl",
    "npadvmod",
    "advmod",
    "punct",
    "cc",
}  # dependencies that may precede several clauses


class Clauses:
    """Segmenter `clauses`."""

    def __init__(self, settings: Settings) -> None:
        pass

    def segment(self, question: str, answer: str, stop: threading.Event | None = None) -> Segmented:
        """Split the answer into claims, in its order; if the rules are unsure of a sentence, it is
        one claim.
        """
        return segment(answer, split, stop)

    def estimate(self, question: str, answer: str) -> LlmUsage | None:
        return None


def split(doc: Doc, adjuncts: bool = True) -> list[Draft]:
    """Split one sentence into statements that together hold all its content words; empty if it
    stays whole.

    Each statement is parsed again by itself: in a shorter sentence the parser finds what it missed
    in the long one.
    Without `adjuncts`, dates and places stay with their predicates.
    """
    drafts = _split_once(doc, adjuncts)
    result: list[Draft] = []
    for n, draft in enumerate(drafts):
        more = _split_again(doc, draft, adjuncts)
        others = [indices(d) for d in (*drafts[:n], *drafts[n + 1 :])]
        each = [indices(d) for d in more]
        varying = {i for one in each for i in one if not all(i in other for other in each)}
        if any(varying <= other for other in others) and len(drafts) * len(more) > MAX_CROSSED:
            more = []  # so many pairs of conjuncts would mostly repeat each other
        result += [d for d in more or [draft] if d not in result]
    return result


def _split_again(doc: Doc, draft: Draft, adjuncts: bool) -> list[Draft]:
    """Parse one statement by itself and split it again; empty if it stays as it is."""
    text = to_text(doc, draft)
    alone = parse(text)
    same = all(
        t.lower_ == part.text.lower() or {t.lower_, part.text.lower()} == tree.ARTICLES
        for t, part in zip(alone, draft, strict=False)
    )
    if (
        "as well as" in text
        or text == doc.text
        or len(alone) - len(draft) not in {0, 1}
        or not same
    ):
        return []
    drafts = []
    for one in _split_once(alone, adjuncts):
        known = [part for part in one if part.i < len(draft)]
        drafts.append(
            tuple(part if part.i == ADDED else _original(part, alone, draft) for part in known)
        )
    return drafts if len(drafts) > 1 else []


def _original(part: DraftWord, alone: Doc, draft: Draft) -> DraftWord:
    """Map a part of a statement parsed by itself to the sentence it came from."""
    original = draft[part.i]
    return (
        original if part.text.lower() == alone[part.i].lower_ else original._replace(text=part.text)
    )


def _split_once(parsed: Doc, adjuncts: bool) -> list[Draft]:
    doc = repair(parsed)
    if not is_reliable(doc) or doc[0].tag_ in tree.RELATIVE or doc[0].lower_ == "where":
        return []
    drafts: list[Draft] = []
    for sentence in doc.sents:
        root = sentence.root
        if sentence.start and doc[sentence.start - 1].text != ";":
            return []  # the parser saw two sentences in one
        if not is_imperative(root) and (
            not tree.is_finite(root) or tree.child(root, tree.SUBJECTS) is None
        ):
            return []
        for head, draft in _independent_clauses(root):
            drafts += [d for d in _propositions(doc, head, draft, adjuncts) if d not in drafts]
    return drafts if covers(doc, drafts) and all(is_sound(doc, d) for d in drafts) else []


def _propositions(doc: Doc, head: Token, draft: Draft, adjuncts: bool) -> Iterator[Draft]:
    """Yield the statements of one independent clause. A step whose result is not sound is skipped."""
    clauses = [draft]
    if (
        not words(draft) & LEXICON["hedges"] and tree.child(head, {"ccomp"}) is None
    ):  # not reported speech or thought
        main, more = extract(doc, draft)
        clauses = [main, *more]
    for variant in (v for clause in clauses for v in _split_lists(doc, clause)):
        for step in (split_nationality, split_adjuncts) if adjuncts else ():
            drafts = step(doc, variant)
            if len(drafts) > 1 and all(is_sound(doc, d) for d in drafts):
                yield from drafts
                break
        else:
            yield variant


def _split_lists(doc: Doc, draft: Draft) -> list[Draft]:
    """Make one statement for each list member; if examples and another list would multiply, only
    for the examples.
    """
    examples = split_examples(doc, draft)
    if len(examples) == 1 or not all(is_sound(doc, e) for e in examples):
        examples = [draft]
    drafts = [_distribute(doc, e) for e in examples]
    if len(examples) > 1 and sum(map(len, drafts)) > MAX_CROSSED:
        drafts = [drafts[0], *([e] for e in examples[1:])]
    return [d for several in drafts for d in several]


def _distribute(doc: Doc, draft: Draft) -> list[Draft]:
    several = distribute(doc, draft)
    return several if all(is_sound(doc, v) for v in several) else [draft]


def _independent_clauses(root: Token) -> Iterator[tuple[Token, Draft]]:
    """Yield coordinated clauses, each with its head; an adverbial in front of all of them is
    repeated before each.
    """
    chain = tree.conjuncts(root)
    starts = [m for m in chain[1:] if tree.is_finite(m) and tree.subject_of(m) is not None]
    opening = tree.subject_of(root)
    front = [c for c in root.children if opening is not None and c.i < tree.first(opening)]
    setting = [
        c for c in front if c.lower_ not in LEXICON["connectives"] and c.dep_ not in {"punct", "cc"}
    ]
    if not _are_independent(chain) or any(c.dep_ not in OPENING for c in setting):
        starts = []
    concessive = [c for c in front if _is_concession(c)]
    shared = (
        [t for c in front if c not in concessive for t in c.subtree]
        if len(setting) > len(concessive)
        else []
    )
    beside = [
        c for c in root.children if c.dep_ in {"ccomp", "parataxis"} and _ends_at_semicolon(c, root)
    ]
    for head in sorted([root, *starts, *beside], key=lambda t: t.i):
        others = [t for t in (*starts, *beside) if t is not head]
        conceded = [c for c in head.children if _is_concession(c)]
        for clause, out in [(head, [*others, *conceded]), *((c, others) for c in conceded)]:
            tokens = tree.subtree(clause, *(o for o in out if o in list(clause.subtree)))
            if clause in conceded:
                marks = [c.i for c in clause.lefts if c.dep_ == "mark"]
                tokens = [
                    t
                    for t in tokens
                    if t.i not in marks and not (t.lower_ == "even" and t.i + 1 in marks)
                ]
            draft = trim(parts(tokens))
            while clause in starts and draft[0].text.lower() in LEXICON["consequence"]:
                draft = trim(draft[1:])
            if clause in starts and shared:
                draft = (*parts(shared), *draft)
            if (
                len(draft) > 3
                and draft[0].text.lower() in LEXICON["connectives"]
                and draft[1].text == ","
            ):
                draft = draft[2:]
            yield clause, draft


def _are_independent(chain: list[Token]) -> bool:
    """Check that neither "or" nor "not only … but also" joins the clauses."""
    joins = {c.lower_ for m in chain for c in m.children if c.dep_ == "cc"}
    only = any(c.lower_ == "only" for m in chain for c in m.lefts)
    return joins <= {"and", "but", ";", "so", "yet"} and not only


def _ends_at_semicolon(clause: Token, root: Token) -> bool:
    doc, end = clause.doc, tree.last(clause)
    nearby = {doc[i].text for i in (end, min(end + 1, len(doc) - 1))}
    return (
        ";" in nearby
        and clause.i < root.i
        and tree.is_finite(clause)
        and tree.child(clause, tree.SUBJECTS) is not None
    )


def _is_concession(clause: Token) -> bool:
    """Return True for "although A, B", which states both, and "while A" if A is a full clause set
    off by a comma.
    """
    marks = [c for c in clause.children if c.dep_ == "mark" and c.lower_ in LEXICON["concession"]]
    if (
        clause.dep_ != "advcl"
        or len(marks) != 1
        or not tree.is_finite(clause)
        or tree.is_negated(clause.head)
    ):
        return False
    if "not" in marks[0].head.lower_ or tree.child(clause, tree.SUBJECTS) is None:
        return False
    doc = clause.doc
    around = {
        doc[max(tree.first(clause) - 1, 0)].text,
        doc[min(tree.last(clause) + 1, len(doc) - 1)].text,
    }
    return "," in around and not (marks[0].lower_ == "while" and clause.tag_ == "VBG")
