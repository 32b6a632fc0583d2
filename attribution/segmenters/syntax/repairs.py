"""What the small parser gets wrong again and again, put right by agreement: in English a finite verb stands beside a
finite verb, "that aims" speaks of one thing, and a list goes on as it began."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from attribution.segmenters.syntax.drafts import AUXILIARIES, SUBJECTS
from attribution.segmenters.syntax.grammar import NOUNS, RELATIVE, VERBAL, finite, first
from attribution.segmenters.syntax.listing import Change, listed

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

WITH_TO = {"risk", "threat", "damage", "access", "approach", "contribution", "response", "attention", "exposure",
           "adherence", "adaptation", "resistance", "change", "solution", "barrier", "commitment", "answer",
           "alternative", "introduction", "harm", "adjustment", "predisposition"}  # fmt: skip


def repaired(doc: Doc) -> Doc:
    """The parse with its usual errors put right, one kind after the other; the same tokens in the same places."""
    for repair in REPAIRS:
        changes = [change for token in doc for change in repair(token)]
        if changes:
            doc = _changed(doc, changes)
    return doc


def _changed(doc: Doc, changes: list[Change]) -> Doc:
    from spacy.tokens import Doc

    heads, deps = [t.head.i for t in doc], [t.dep_ for t in doc]
    tags, pos = [t.tag_ for t in doc], [t.pos_ for t in doc]
    columns: dict[str, list[int] | list[str]] = {"head": heads, "dep": deps, "tag": tags, "pos": pos}
    for place, column, value in changes:
        columns[column][place] = value
    for place in range(len(doc)):  # a repair that makes a circle is none
        seen, at = {place}, place
        while heads[at] != at:
            at = heads[at]
            if at in seen:
                return doc
            seen.add(at)
    words, spaces = [t.text for t in doc], [bool(t.whitespace_) for t in doc]
    return Doc(doc.vocab, words=words, spaces=spaces, heads=heads, deps=deps, tags=tags, pos=pos)


def _moved(token: Token, head: Token) -> list[Change]:
    """A conjunct goes on from another head, and with it the comma and "and" before it."""
    start = first(token)
    joins = [t for t in token.doc[max(0, start - 2) : start] if t.head == token.head and t.dep_ in {"cc", "punct"}]
    return [(t.i, "head", head.i) for t in (token, *joins)]


def _beside(token: Token) -> list[Change]:
    """ "helps prevent harm and enables …": a finite verb goes on from a finite verb, not from an infinitive."""
    if token.dep_ != "conj" or not finite(token) or finite(token.head) or token.head.pos_ not in VERBAL:
        return []
    if any(c.dep_ in SUBJECTS and c.tag_ in RELATIVE for c in token.children):
        return []
    above = next((a for a in token.head.ancestors if finite(a) and a.i < token.i), None)
    return _moved(token, above) if above is not None else []


def _nearest_infinitive(token: Token) -> list[Change]:
    """ "help artists hone A, find B and reach C", "a plan to renew A, save B, and help C": of the last."""
    head = token.head
    if token.dep_ != "conj" or token.tag_ not in {"VB", "VBP"} or head.tag_ not in {"VB", "VBP", "VBZ", "VBD"}:
        return []
    if any(c.dep_ in {*SUBJECTS, *AUXILIARIES} for c in token.children) or head.dep_ == "conj":
        return []
    inner = [t for t in head.subtree if head.i < t.i < token.i and t.tag_ == "VB" and t.dep_ != "conj"]
    if not inner or token in inner[-1].subtree or inner[-1].dep_ not in {"ccomp", "xcomp", "acl", "relcl", "advcl"}:
        return []
    helped = inner[-1].dep_ in {"ccomp", "xcomp"} and not any(c.lower_ == "to" for c in inner[-1].children)
    listed = token.doc[first(token) - 1].text == "," and any(c.dep_ == "conj" for c in token.children)
    return _moved(token, inner[-1]) if helped or listed else []


def _own_subject(token: Token) -> list[Change]:
    """ ", which helps, and therefore she won": a clause with its own subject is no part of the relative clause."""
    subject = any(c.dep_ in SUBJECTS and c.i < token.i and c.tag_ not in RELATIVE for c in token.children)
    if token.dep_ != "conj" or not subject or not finite(token) or token.head.dep_ != "relcl":
        return []
    start = first(token)
    if not any(c.dep_ == "cc" and c.i < start for c in token.head.children):
        return []
    above = next((a for a in token.head.ancestors if finite(a)), None)
    return _moved(token, above) if above is not None else []


def _list_of_infinitives(token: Token) -> list[Change]:
    """ "helps to reduce A, enhance B, and save C": a plain verb after a comma goes on with the list."""
    bare = token.tag_ == "VB" and token.dep_ == "advcl" and token.i and token.doc[token.i - 1].text == ","
    if not bare or any(c.i < token.i and c.dep_ in {*SUBJECTS, *AUXILIARIES, "mark"} for c in token.children):
        return []
    earlier = [
        t for t in token.doc[: token.i] if t.tag_ == "VB" and t.dep_ in {"xcomp", "conj", "advcl", "acl", "relcl"}
    ]
    return [(token.i, "head", earlier[-1].i), (token.i, "dep", "conj")] if earlier else []


def _apposed(token: Token) -> list[Change]:
    """ "stability, low cost, and strength": no apposition, but the middle of a list."""
    if token.dep_ != "appos" or token.pos_ != "NOUN" or token.head.pos_ != "NOUN":
        return []
    if any(c.dep_ in {"relcl", "acl"} for c in token.children) or _article(token) != _article(token.head):
        return []
    listed = any(c.dep_ == "conj" and c.i > token.i for c in token.children)
    listed |= not _determined(token) and any(c.dep_ == "conj" and c.i > token.i for c in token.head.children)
    return [(token.i, "dep", "conj")] if listed and token.doc[first(token) - 1].text == "," else []


def _article(noun: Token) -> str:
    return next((c.lower_.removesuffix("n") for c in noun.children if c.dep_ in {"det", "poss"}), "")


def _same_article(token: Token) -> list[Change]:
    """ "the scope of practice, the risk of claims and the rules": what has an article goes on from what has one."""
    noun = token.head
    if token.dep_ != "conj" or token.tag_ not in NOUNS or noun.dep_ != "pobj" or noun.head.lower_ != "of":
        return []
    above = noun.head.head
    if not _determined(token) or _determined(noun) or not _determined(above) or above.tag_ not in NOUNS:
        return []
    return _moved(token, above)


def _determined(noun: Token) -> bool:
    return any(c.dep_ in {"det", "poss"} and c.i < noun.i for c in noun.children)


def _noun_of_a_list(token: Token) -> list[Change]:
    """ "image classification, change detection, and …": a noun before a noun, taken for a verb with its object."""
    doc, noun = token.doc, token.doc[token.i + 1] if token.i + 1 < len(token.doc) else token
    if token.tag_ not in {"VB", "VBP"} or token.dep_ not in {"advcl", "conj"} or noun.head != token:
        return []
    before = doc[token.i - 2] if token.i > 2 and doc[token.i - 1].text == "," else token
    if noun.dep_ != "dobj" or before.tag_ not in NOUNS or any(c.dep_ in SUBJECTS for c in token.children):
        return []
    others = [(c.i, "head", noun.i) for c in token.children if c != noun]
    return [
        (token.i, "tag", "NN"), (token.i, "pos", "NOUN"), (token.i, "dep", "compound"), (token.i, "head", noun.i),
        (noun.i, "dep", "conj"), (noun.i, "head", before.i), *others,
    ]  # fmt: skip


def _participial(token: Token) -> list[Change]:
    """ "spreading out turning movements": the movements are spread out."""
    verb, noun = token.head, next((c for c in token.children if c.dep_ == "dobj"), None)
    between = token.doc[verb.i + 1 : token.i] if verb.i < token.i else None
    close = between is not None and len(between) == 1 and between[0].dep_ == "prt"
    if token.tag_ != "VBG" or token.dep_ != "xcomp" or noun is None or noun.tag_ != "NNS" or not close:
        return []
    others = [(c.i, "head", verb.i) for c in token.children if c != noun]
    return [(token.i, "dep", "amod"), (token.i, "head", noun.i), (noun.i, "head", verb.i), *others]


def _participle(token: Token) -> list[Change]:
    """ "has been signed by 197 and ratified by 190"."""
    if token.tag_ != "VBD" or token.dep_ != "conj" or token.head.tag_ != "VBN":
        return []
    helped = any(c.dep_ == "auxpass" for c in token.head.children)
    perfect = any(c.lower_ in {"has", "have", "had", "been", "be"} for c in token.head.children)
    by = any(c.lower_ == "by" for c in token.children)
    own = any(c.dep_ in {*SUBJECTS, *AUXILIARIES, "dobj"} for c in token.children)
    return [(token.i, "tag", "VBN")] if helped and (perfect or by) and not own else []


def _present(token: Token) -> list[Change]:
    """ "rods are made up of clumps and form needles": a plain verb beside a present one."""
    if token.dep_ != "conj" or token.tag_ != "VB" or any(c.dep_ in {*AUXILIARIES, "mark"} for c in token.children):
        return []
    forms = [token.head, *(c for c in token.head.children if c.dep_ in AUXILIARIES)]
    present = any(f.tag_ == "VBP" for f in forms) and not any(f.tag_ in {"MD", "TO"} for f in forms)
    return [(token.i, "tag", "VBP")] if present else []


def _of_its_noun(token: Token) -> list[Change]:
    """ "the risks to health": what such a noun asks for belongs to it."""
    before = token.doc[token.i - 1] if token.i else token
    asked = token.dep_ == "prep" and token.lower_ == "to" and before.lower_.removesuffix("s") in WITH_TO
    return [(token.i, "head", before.i)] if asked and before != token.head else []


def _after_the_list(token: Token) -> list[Change]:
    """ "by Ann, Ben, and Carl, who wrote …": not of one in the middle of the list."""
    later = [t for t in token.head.subtree if t.dep_ == "conj" and token.head.i < t.i < first(token)]
    return [(token.i, "head", later[-1].i)] if token.dep_ == "relcl" and later and later[-1].tag_ in NOUNS else []


def _relative(token: Token) -> list[Change]:
    """ "a treaty on climate change that aims": what agrees in number, and has an article."""
    wh = next((c for c in token.children if c.dep_ in SUBJECTS), None)
    forms = [token, *(c for c in token.children if c.dep_ in AUXILIARIES)]
    number = next((f.tag_ for f in forms if f.tag_ in {"VBZ", "VBP"}), None)
    if token.dep_ != "relcl" or wh is None or wh.lower_ not in {"that", "which", "who"} or number is None:
        return []
    noun = token.head
    nouns = [a for a in noun.ancestors if a.tag_ in NOUNS and a.i < noun.i]
    if not _agrees(noun, number):
        above = next((a for a in nouns if _agrees(a, number)), None)
        return [(token.i, "head", above.i)] if above is not None else []
    bare = noun.dep_ == "pobj" and noun.tag_ == "NN" and not _determined(noun)
    article = nouns and nouns[0].dep_ == "attr" and any(c.lower_ in {"a", "an"} for c in nouns[0].children)
    return [(token.i, "head", nouns[0].i)] if bare and article and _agrees(nouns[0], number) else []


def _agrees(noun: Token, number: str) -> bool:
    several = noun.tag_ in {"NNS", "NNPS"} or any(c.dep_ == "conj" for c in noun.children)
    return several == (number == "VBP")


def _nearest(token: Token) -> list[Change]:
    """ "Kyber, which is based on lattices, a family of problems": an apposition goes with what stands before it."""
    if token.dep_ != "appos" or not any(c.dep_ == "relcl" and c.i < token.i for c in token.head.children):
        return []
    start = first(token)
    before = token.doc[start - 2] if start > 1 and token.doc[start - 1].text == "," else token
    return [(token.i, "head", before.i)] if before.tag_ in NOUNS and before != token.head else []


REPAIRS: tuple[Callable[[Token], list[Change]], ...] = (
    listed, _participial,
    _noun_of_a_list,
    _beside, _nearest_infinitive, _own_subject, _list_of_infinitives, _apposed,
    _same_article, _participle, _after_the_list,
    _relative,
    _nearest, _present, _of_its_noun,
)  # fmt: skip
