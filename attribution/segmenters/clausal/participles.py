"""Participles as sentences of their own, where it is sure who does what they say."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attribution.segmenters.syntax.drafts import AUXILIARIES, SUBJECTS, Draft, parts, trimmed
from attribution.segmenters.syntax.grammar import (
    attribute,
    be,
    denied,
    first,
    members,
    named,
    negated,
    past,
    phrase,
    plural,
    set_off,
    subject_of,
    third_person,
)
from attribution.segmenters.syntax.scope import stem

if TYPE_CHECKING:
    from spacy.tokens import Token

PERSONS = ("er", "or", "ist", "ian", "ant", "man", "men", "woman", "women", "people", "person", "child", "children",
           "king", "queen", "boy", "girl", "wife", "husband", "friend", "students", "players")  # fmt: skip
ACTIVE = {
    "providing": "provide", "offering": "offer", "featuring": "feature", "containing": "contain", "serving": "serve",
    "covering": "cover", "requiring": "require", "using": "use", "emphasizing": "emphasize", "involving": "involve",
    "representing": "represent", "supporting": "support", "incorporating": "incorporate", "combining": "combine",
    "describing": "describe", "targeting": "target", "ensuring": "ensure", "focusing": "focus",
    "maintaining": "maintain", "comprising": "comprise", "encompassing": "encompass", "addressing": "address",
    "promoting": "promote", "highlighting": "highlight", "integrating": "integrate", "reflecting": "reflect",
    "paying": "pay", "outlining": "outline", "exploring": "explore", "playing": "play",
}  # fmt: skip
# what the thing that does one act brings about by it
EFFECTS = {
    "resulting": "result", "leading": "lead", "causing": "cause", "allowing": "allow", "enabling": "enable",
    "helping": "help", "making": "make", "reducing": "reduce", "improving": "improve", "increasing": "increase",
    "contributing": "contribute", "preventing": "prevent", "creating": "create", "giving": "give",
    "facilitating": "facilitate", "limiting": "limit", "affecting": "affect", "enhancing": "enhance",
    "minimizing": "minimize", "fostering": "foster", "encouraging": "encourage", "protecting": "protect",
    "strengthening": "strengthen", "eliminating": "eliminate", "impacting": "impact", "triggering": "trigger",
    "boosting": "boost", "producing": "produce", "influencing": "influence", "decreasing": "decrease",
    "ensuring": "ensure", "promoting": "promote", "supporting": "support", "maintaining": "maintain",
    "stimulating": "stimulate", "inhibiting": "inhibit", "optimizing": "optimize", "streamlining": "streamline",
}  # fmt: skip
# verbs whose subject does nothing to bring an effect about
UNDERGOING = {"experience", "undergo", "face", "suffer", "lose", "receive", "get", "have", "become", "remain", "need",
              "require", "lack", "see", "develop", "show", "want", "know", "has", "had", "learn"}  # fmt: skip
MADE = [[pronoun, article] for pronoun in ("it", "them") for article in ("a", "an", "the")]
POSSIBLE = {"can", "could", "may", "might", "will", "would"}
PAST = {"pay": "paid", "lead": "led", "make": "made", "give": "gave"}
# participles that say how a clause goes on from others
LINKS = {"given", "compared", "based", "provided", "followed", "granted", "including", "combined", "coupled",
         "depending", "accompanied", "according"}  # fmt: skip


def participle(verb: Token) -> Draft | None:
    """ "…, widely regarded as …" → "Hitchcock was widely regarded as …"."""
    if any(c.dep_ in {*SUBJECTS, *AUXILIARIES, "mark"} for c in verb.children) or verb.lower_ in LINKS:
        return None
    if verb.dep_ == "advcl":
        noun = next((c for c in verb.head.children if c.dep_ in {"nsubj", "nsubjpass"}), None)
        before = {c.lower_ for c in verb.children if c.i < verb.i}
        if not set_off(verb) or before & {"as", "when", "if", "once"} or noun is None or between(noun, verb):
            return None
    else:
        noun = named(verb.head)
        if not set_off(verb) and (noun is verb.head or noun.pos_ not in {"PROPN", "PRON"}) and not attribute(verb.head):
            return None
    if noun is None or noun.tag_ in {"WP", "WDT", "EX"} or len(members(noun)) > 1 or denied(noun):
        return None
    if noun.lower_ in {"i", "those"}:
        return None
    if any(c.dep_ == "dobj" for c in verb.children):  # the past tense taken for a participle
        return trimmed((*phrase(noun), *parts(verb.subtree))) if verb.lower_.endswith("ed") and set_off(verb) else None
    return trimmed((*phrase(noun), be(noun, past(verb) or verb.lower_ == "born"), *parts(verb.subtree)))


def while_(verb: Token) -> bool:
    """ "while paying attention": at the same time, by the same subject."""
    return bool(verb.doc[first(verb)].lower_ == "while")


def between(noun: Token, verb: Token) -> bool:
    """Whether another noun stands between the subject and the participle after its clause: it may be the one meant."""
    return verb.i > verb.head.i > noun.i and any(
        t.pos_ in {"NOUN", "PROPN"} for t in verb.doc[verb.head.i + 1 : first(verb)]
    )


def made(verb: Token) -> Draft | None:
    """ "It repels water, making it a good coat" → "It is a good coat": "it" is the subject, in number."""
    main, doc = verb.head, verb.doc
    noun = subject_of(main) or (subject_of(main.head) if main.dep_ == "conj" else None)
    after = [t.lower_ for t in doc[verb.i + 1 : verb.i + 3]]
    if verb.lower_ != "making" or after not in MADE or noun is None or noun.dep_ not in {"nsubj", "nsubjpass"}:
        return None
    if (
        not set_off(verb)
        or verb.i != first(verb)
        or plural(noun) != (after[0] == "them")
        or noun.tag_ in {"EX", "WDT", "WP"}
    ):
        return None
    if len(members(noun)) > 1 or denied(noun) or negated(main) or main.dep_ not in {"ROOT", "conj"}:
        return None
    return trimmed((*phrase(noun), be(noun, past(noun)), *parts(t for t in verb.subtree if t.i > verb.i + 1)))


def effect(verb: Token) -> Draft | None:
    """ "It blocks light, reducing glare" → "It reduces glare": what a thing does by what it does to another."""
    main = verb.head
    while main.dep_ == "xcomp" and subject_of(main) is None:
        main = main.head
    noun = next((c for c in main.children if c.dep_ == "nsubj"), None)
    if noun is None or not set_off(verb) or verb.i < main.i or main.dep_ not in {"ROOT", "conj"} or negated(main):
        return None
    person = (
        noun.tag_ in {"PRP", "WP", "WDT", "EX"} and noun.lower_ not in {"it", "they"} or noun.lower_.endswith(PERSONS)
    )
    if person or len(members(noun)) > 1 or denied(noun) or negated(noun):
        return None
    if stem(main) in UNDERGOING or not any(c.dep_ in {"dobj", "xcomp"} for c in main.children):
        return None
    if any(c.dep_ in SUBJECTS for t in main.subtree for c in t.children if t != main and t.i < first(verb)):
        return None  # "it lets her learn, making …": which of them?
    verbs = members(verb)
    if any(v.lower_ not in EFFECTS and v.lower_ not in ACTIVE for v in verbs) or verb.lower_ not in EFFECTS:
        return None
    if verb.doc[verb.i + 1].lower_ in {"it", "them"}:
        return None
    helping = [c for c in main.children if c.dep_ == "aux"]
    if any(c.lower_ not in POSSIBLE for c in helping) or not (helping or main.tag_ in {"VBZ", "VBP", "VBD"}):
        return None
    before = [t for c in verb.children if c.dep_ == "advmod" and c.i < verb.i for t in c.subtree]
    forms = {v.i: inflected(EFFECTS.get(v.lower_) or ACTIVE[v.lower_], main, noun) for v in verbs}
    told = tuple((t.i, forms.get(t.i, t.text)) for t in verb.subtree if t not in before)
    kept = parts(t for t in before if t.lower_ not in {"thus", "thereby", "hence", "therefore", "so", "then"})
    return trimmed((*phrase(noun), *parts(helping), *kept, *told))


def inflected(base: str, main: Token, noun: Token) -> str:
    """A verb in the tense and number of the main one; as it stands after "can" or "will"."""
    if any(c.dep_ == "aux" for c in main.children):
        return base
    if main.tag_ == "VBD":
        return PAST.get(base, base + ("d" if base.endswith("e") else "ed"))
    return base if plural(noun) else third_person(base)


def active(verb: Token) -> Draft | None:
    """ "…, providing shade" → "The tree provides shade": verbs whose subject is that of the main clause."""
    if verb.lower_ not in ACTIVE:
        return None
    main = verb.head
    noun = next((c for c in main.children if c.dep_ in {"nsubj", "nsubjpass"}), None)
    modal = any(c.dep_ in {"aux", "neg"} and c.tag_ != "VBZ" for c in main.children)
    if noun is None or modal or verb.i < main.i or not (set_off(verb) or while_(verb)):
        return None
    if noun.tag_ in {"WP", "WDT", "EX"} or len(members(noun)) > 1 or denied(noun) or main.dep_ not in {"ROOT", "conj"}:
        return None
    if any(c.dep_ == "conj" or c.dep_ == "advmod" and c.i < verb.i for c in verb.children):
        return None
    if noun.lower_ == "i" or main.tag_ not in {"VBZ", "VBP", "VBD"}:
        return None
    form = inflected(ACTIVE[verb.lower_], main, noun)
    rest = parts(t for t in verb.subtree if t.i != verb.i and t.dep_ != "mark")
    return trimmed((*phrase(noun), (verb.i, form), *rest))
