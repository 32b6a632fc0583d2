"""What is said beside the main clause, as sentences of their own: relative, participial and appositive clauses, reasons
and consequences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attribution.segmenters.clausal.participles import PERSONS, active, effect, made, participle
from attribution.segmenters.syntax.drafts import ADDED, SUBJECTS, Draft, parts, trimmed
from attribution.segmenters.syntax.grammar import (
    attribute,
    be,
    denied,
    enclosed,
    finite,
    first,
    last,
    members,
    named,
    past,
    phrase,
    plural,
    set_off,
    subject_of,
)
from attribution.segmenters.syntax.scope import example, stem
from attribution.segmenters.syntax.soundness import sound

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

WHO = (
    "ist",
    "ian",
    "man",
    "men",
    "officer",
    "people",
    "person",
    "child",
    "children",
    "patient",
    "students",
)  # not which
# ", which led to …" and ", which is a sign of …" speak of the whole clause before them more often than of its last noun
SENTENTIAL = (
    "mean", "lead", "led", "cause", "result", "make", "made", "allow", "enable", "help", "suggest", "indicate",
    "affect", "impact", "require", "prevent", "ensure", "include", "increase", "reduce", "contribute",
)  # fmt: skip
OUTCOMES = {"result", "sign", "indication", "reason", "factor", "cause", "concern", "problem", "issue", "challenge",
            "benefit", "step", "way", "advantage", "why", "because", "indicative", "important", "crucial", "essential",
            "beneficial", "true", "necessary", "possible"}  # fmt: skip
REASONS = {"as", "since"}


def extracted(doc: Doc, draft: Draft, done: frozenset[int] = frozenset()) -> tuple[Draft, list[Draft]]:
    """The draft without what was taken out of it, and the sentences made of that; only where both are sound."""
    made: list[Draft] = []
    for place in sorted({i for i, _ in draft} - {ADDED} - done):
        token = doc[place]
        inside = {i for i, _ in draft}
        if place not in inside or token.head.i not in inside or token.head == token or enclosed(token):
            continue
        sentence = told_of(token)
        if sentence is None:
            continue
        rest = without(draft, token)
        if not sound(doc, rest) or not sound(doc, sentence):
            continue
        nested, more = extracted(doc, sentence, done | {place})
        draft, made = rest, [*made, nested, *more]
    return draft, made


def told_of(token: Token) -> Draft | None:
    """The sentence that a clause or apposition makes; None where it is none, or not surely."""
    if token.dep_ == "relcl":
        return relative(token)
    if token.dep_ == "appos":
        return apposition(token)
    if token.dep_ == "advcl" and token.i > token.head.i and not closes(token):
        return None
    if token.dep_ in {"acl", "advcl"} and token.tag_ == "VBN" and not finite(token):
        return participle(token)
    if token.dep_ == "advcl":
        return active(token) or made(token) or effect(token) or reason(token) or meaning(token)
    return None


def closes(verb: Token) -> bool:
    """Whether nothing comes after the clause in its sentence: what does may be more of it."""
    end = last(verb) + 1
    return end == len(verb.doc) or verb.doc[end].text in {".", ";", "!"}


def without(draft: Draft, token: Token) -> Draft:
    """The draft without the phrase of the token and the commas that set it off."""
    taken = {t.i for t in token.subtree}
    if set_off(token):
        edges = {min(taken) - 1, max(taken) + 1}
        taken |= {i for i in edges if 0 <= i < len(token.doc) and token.doc[i].text == ","}
    return trimmed(tuple(part for part in draft if part[0] not in taken))


def reason(verb: Token) -> Draft | None:
    """ "A, as B" says both A and B."""
    marks = [c for c in verb.children if c.dep_ == "mark"]
    if len(marks) != 1 or marks[0].lower_ not in REASONS or not set_off(verb) or verb.i < verb.head.i:
        return None
    if not finite(verb) or subject_of(verb) is None or denied(verb) or verb.head.dep_ not in {"ROOT", "conj", "acomp"}:
        return None
    if marks[0].lower_ == "since" and past(verb):
        return None  # of time
    return trimmed(parts(t for t in verb.subtree if t.i != marks[0].i))


def meaning(verb: Token) -> Draft | None:
    """ "A, meaning that B" says both A and B."""
    clause = next((c for c in verb.children if c.dep_ == "ccomp"), None)
    if verb.lower_ != "meaning" or clause is None or not set_off(verb) or verb.i < verb.head.i or denied(verb):
        return None
    if not finite(clause) or subject_of(clause) is None or last(clause) != last(verb):
        return None
    return trimmed(parts(t for t in clause.subtree if not (t.dep_ == "mark" and t.head == clause)))


def relative(verb: Token) -> Draft | None:
    """ "…, who directed films" → "Hitchcock directed films"; None for one that restricts its noun."""
    wh = next((c for c in verb.children if c.tag_ in {"WP", "WDT"} and c.dep_ in SUBJECTS), None)
    if wh is None or wh.i != min(t.i for t in verb.subtree) or sum(c.dep_ in SUBJECTS for c in verb.children) > 1:
        return None
    if not (set_off(verb) and wh.lower_ != "that") and not attribute(verb.head):
        return None
    noun = antecedent(verb.head) if wh.lower_ == "who" else named(verb.head)
    forms = (*sorted(verb.children, key=lambda t: t.i), verb)
    tense = next((c for c in forms if c.tag_ in {"VBZ", "VBP", "VBD", "MD"}), None)
    if (
        noun is None
        or noun.lower_ == "those"
        or tense is None
        or denied(verb.head)
        or len(members(noun)) > 1
        or noun.dep_ == "conj"
    ):
        return None
    if (tense.tag_ == "VBZ" and plural(noun)) or (tense.tag_ == "VBP" and not plural(noun)):
        return None
    if verb.head.dep_ == "pobj" and verb.head.head.head.dep_ == "attr" and set_off(verb):
        return None  # "the regulator of the sector, which …": which of the two?
    if wh.lower_ == "which" and not attribute(verb.head) and (sentential(verb, tense) or noun.lower_.endswith(WHO)):
        return None
    return trimmed(phrase(noun) + parts(t for t in verb.subtree if t.i != wh.i))


def sentential(verb: Token, tense: Token) -> bool:
    """Whether ", which …" more likely speaks of the whole clause before it."""
    if any(c.dep_ == "nsubjpass" for c in verb.children):
        judged = stem(verb) in {"interpret", "consider", "regard", "view", "seen", "attribut"}
        return bool(tense.tag_ == "MD" and (verb.tag_ != "VBN" or judged))
    if verb.lower_.startswith(SENTENTIAL) or (tense.tag_ == "MD" and verb.tag_ != "VBN"):
        return True
    return any(c.lower_ in OUTCOMES and c.dep_ in {"attr", "acomp"} for c in verb.children)


def antecedent(noun: Token) -> Token:
    """The person "who" speaks of: the parser sometimes hangs it on the nearest thing."""
    nearest = named(noun)
    if (
        nearest.pos_ in {"PROPN", "PRON"}
        and (nearest.dep_ != "pobj" or example(nearest.head))
        or noun.lower_.endswith(PERSONS)
    ):
        return nearest
    for above in noun.ancestors:
        if above.pos_ in {"VERB", "AUX"}:
            subject = next((c for c in above.children if c.dep_ in {"nsubj", "nsubjpass"}), None)
            if subject is not None:
                return subject if subject.pos_ == "PROPN" or subject.lower_ in {"he", "she"} else None
    return None


def apposition(noun: Token) -> Draft | None:
    """ "Nash, an American mathematician," → "Nash was an American mathematician"."""
    subject = named(noun)
    determined = any(c.dep_ in {"det", "poss"} and c.i < noun.i for c in noun.children)
    indefinite = [any(c.lower_ in {"a", "an"} for c in n.children) for n in (noun, subject)]
    if all(indefinite) and noun.head == subject and subject.dep_ in {"dobj", "pobj"}:
        return None  # "include an urge, a burning sensation": more likely a list
    if subject is noun or subject.pos_ not in {"PROPN", "NOUN"} or not determined or not set_off(noun):
        return None
    if any(len(members(n)) > 1 for n in (noun, subject)) or subject.dep_ == "conj" or plural(noun) != plural(subject):
        return None
    before = noun.doc[max(0, first(noun) - 2)]
    if denied(subject) or any(c.dep_ == "cc" for c in subject.children) or before.pos_ in {"ADV", "CCONJ", "ADP"}:
        return None
    return trimmed((*phrase(subject), be(subject, past(noun)), *parts(noun.subtree)))
