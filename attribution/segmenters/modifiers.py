"""What is said beside the main clause, as sentences of their own: relative, participial and appositive clauses, reasons
and consequences."""

from __future__ import annotations

from typing import Any

from attribution.segmenters.drafts import ADDED, AUXILIARIES, SUBJECTS, Draft, parts, trimmed
from attribution.segmenters.grammar import (
    attribute,
    be,
    denied,
    enclosed,
    finite,
    first,
    last,
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
from attribution.segmenters.scope import example, stem
from attribution.segmenters.soundness import sound

PERSONS = ("er", "or", "ist", "ian", "ant", "man", "men", "woman", "women", "people", "person", "child", "children",
           "king", "queen", "boy", "girl", "wife", "husband", "friend", "students", "players")  # fmt: skip
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
POSSIBLE = {"can", "could", "may", "might", "will", "would"}
PAST = {"pay": "paid", "lead": "led", "make": "made", "give": "gave"}
REASONS = {"as", "since"}
# participles that say how a clause goes on from others
LINKS = {"given", "compared", "based", "provided", "followed", "granted", "including", "combined", "coupled",
         "depending", "accompanied", "according"}  # fmt: skip


def extracted(doc: Any, draft: Draft, done: frozenset[int] = frozenset()) -> tuple[Draft, list[Draft]]:
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


def told_of(token: Any) -> Draft | None:
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
        return active(token) or effect(token) or reason(token) or meaning(token)
    return None


def closes(verb: Any) -> bool:
    """Whether nothing comes after the clause in its sentence: what does may be more of it."""
    end = last(verb) + 1
    return end == len(verb.doc) or verb.doc[end].text in {".", ";", "!"}


def without(draft: Draft, token: Any) -> Draft:
    """The draft without the phrase of the token and the commas that set it off."""
    taken = {t.i for t in token.subtree}
    if set_off(token):
        edges = {min(taken) - 1, max(taken) + 1}
        taken |= {i for i in edges if 0 <= i < len(token.doc) and token.doc[i].text == ","}
    return trimmed(tuple(part for part in draft if part[0] not in taken))


def reason(verb: Any) -> Draft | None:
    """ "A, as B" says both A and B."""
    marks = [c for c in verb.children if c.dep_ == "mark"]
    if len(marks) != 1 or marks[0].lower_ not in REASONS or not set_off(verb) or verb.i < verb.head.i:
        return None
    if not finite(verb) or subject_of(verb) is None or denied(verb) or verb.head.dep_ not in {"ROOT", "conj", "acomp"}:
        return None
    if marks[0].lower_ == "since" and past(verb):
        return None  # of time
    return trimmed(parts(t for t in verb.subtree if t.i != marks[0].i))


def meaning(verb: Any) -> Draft | None:
    """ "A, meaning that B" says both A and B."""
    clause = next((c for c in verb.children if c.dep_ == "ccomp"), None)
    if verb.lower_ != "meaning" or clause is None or not set_off(verb) or verb.i < verb.head.i or denied(verb):
        return None
    if not finite(clause) or subject_of(clause) is None or last(clause) != last(verb):
        return None
    return trimmed(parts(t for t in clause.subtree if not (t.dep_ == "mark" and t.head == clause)))


def relative(verb: Any) -> Draft | None:
    """ "…, who directed films" → "Hitchcock directed films"; None for one that restricts its noun."""
    wh = next((c for c in verb.children if c.tag_ in {"WP", "WDT"} and c.dep_ in SUBJECTS), None)
    if wh is None or wh.i != min(t.i for t in verb.subtree):
        return None
    if not (set_off(verb) and wh.lower_ != "that") and not attribute(verb.head):
        return None
    noun = antecedent(verb.head) if wh.lower_ == "who" else named(verb.head)
    forms = (*sorted(verb.children, key=lambda t: t.i), verb)
    tense = next((c for c in forms if c.tag_ in {"VBZ", "VBP", "VBD", "MD"}), None)
    if noun is None or tense is None or denied(verb.head) or len(members(noun)) > 1 or noun.dep_ == "conj":
        return None
    if (tense.tag_ == "VBZ" and plural(noun)) or (tense.tag_ == "VBP" and not plural(noun)):
        return None
    if verb.head.dep_ == "pobj" and verb.head.head.head.dep_ == "attr" and set_off(verb):
        return None  # "the regulator of the sector, which …": which of the two?
    if wh.lower_ == "which" and not attribute(verb.head) and (sentential(verb, tense) or noun.lower_.endswith(WHO)):
        return None
    return trimmed(phrase(noun) + parts(t for t in verb.subtree if t.i != wh.i))


def sentential(verb: Any, tense: Any) -> bool:
    """Whether ", which …" more likely speaks of the whole clause before it."""
    if any(c.dep_ == "nsubjpass" for c in verb.children):
        return bool(tense.tag_ == "MD" and verb.tag_ != "VBN")
    if verb.lower_.startswith(SENTENTIAL) or (tense.tag_ == "MD" and verb.tag_ != "VBN"):
        return True
    return any(c.lower_ in OUTCOMES and c.dep_ in {"attr", "acomp"} for c in verb.children)


def antecedent(noun: Any) -> Any:
    """The person "who" speaks of: the parser sometimes hangs it on the nearest thing."""
    nearest = named(noun)
    if nearest.pos_ in {"PROPN", "PRON"} and (nearest.dep_ != "pobj" or example(nearest.head)) or noun.lower_.endswith(PERSONS):
        return nearest
    for above in noun.ancestors:
        if above.pos_ in {"VERB", "AUX"}:
            subject = next((c for c in above.children if c.dep_ in {"nsubj", "nsubjpass"}), None)
            if subject is not None:
                return subject if subject.pos_ == "PROPN" or subject.lower_ in {"he", "she"} else None
    return None


def apposition(noun: Any) -> Draft | None:
    """ "Nash, an American mathematician," → "Nash was an American mathematician"."""
    subject = named(noun)
    determined = any(c.dep_ in {"det", "poss"} and c.i < noun.i for c in noun.children)
    if subject is noun or subject.pos_ not in {"PROPN", "NOUN"} or not determined or not set_off(noun):
        return None
    if any(len(members(n)) > 1 for n in (noun, subject)) or subject.dep_ == "conj" or plural(noun) != plural(subject):
        return None
    before = noun.doc[max(0, first(noun) - 2)]
    if denied(subject) or any(c.dep_ == "cc" for c in subject.children) or before.pos_ in {"ADV", "CCONJ", "ADP"}:
        return None
    return trimmed((*phrase(subject), be(subject, past(noun)), *parts(noun.subtree)))


def participle(verb: Any) -> Draft | None:
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
    if noun is None or noun.tag_ in {"WP", "WDT", "EX"} or len(members(noun)) > 1 or denied(noun) or noun.lower_ == "i":
        return None
    if any(c.dep_ == "dobj" for c in verb.children):  # the past tense taken for a participle
        return trimmed((*phrase(noun), *parts(verb.subtree))) if verb.lower_.endswith("ed") and set_off(verb) else None
    return trimmed((*phrase(noun), be(noun, past(verb) or verb.lower_ == "born"), *parts(verb.subtree)))


def while_(verb: Any) -> bool:
    """ "while paying attention": at the same time, by the same subject."""
    return bool(verb.doc[first(verb)].lower_ == "while")


def between(noun: Any, verb: Any) -> bool:
    """Whether another noun stands between the subject and the participle after its clause: it may be the one meant."""
    return verb.i > verb.head.i > noun.i and any(
        t.pos_ in {"NOUN", "PROPN"} for t in verb.doc[verb.head.i + 1 : first(verb)]
    )


def effect(verb: Any) -> Draft | None:
    """ "It blocks light, reducing glare" → "It reduces glare": what a thing does by what it does to another."""
    main = verb.head
    while main.dep_ == "xcomp" and subject_of(main) is None:
        main = main.head
    noun = next((c for c in main.children if c.dep_ == "nsubj"), None)
    if noun is None or not set_off(verb) or verb.i < main.i or main.dep_ not in {"ROOT", "conj"} or negated(main):
        return None
    person = noun.tag_ in {"PRP", "WP", "WDT", "EX"} and noun.lower_ not in {"it", "they"} or noun.lower_.endswith(PERSONS)
    if person or len(members(noun)) > 1 or denied(noun) or negated(noun):
        return None
    if stem(main) in UNDERGOING or not any(c.dep_ in {"dobj", "xcomp"} for c in main.children):
        return None
    if any(c.dep_ in SUBJECTS for t in main.subtree for c in t.children if t != main and t.i < first(verb)):
        return None  # "it lets her learn, making …": which of them?
    verbs = members(verb)
    if any(v.lower_ not in EFFECTS and v.lower_ not in ACTIVE for v in verbs) or verb.lower_ not in EFFECTS:
        return None
    helping = [c for c in main.children if c.dep_ == "aux"]
    if any(c.lower_ not in POSSIBLE for c in helping) or not (helping or main.tag_ in {"VBZ", "VBP", "VBD"}):
        return None
    before = [t for c in verb.children if c.dep_ == "advmod" and c.i < verb.i for t in c.subtree]
    forms = {v.i: inflected(EFFECTS.get(v.lower_) or ACTIVE[v.lower_], main, noun) for v in verbs}
    told = tuple((t.i, forms.get(t.i, t.text)) for t in verb.subtree if t not in before)
    kept = parts(t for t in before if t.lower_ not in {"thus", "thereby", "hence", "therefore", "so", "then"})
    return trimmed((*phrase(noun), *parts(helping), *kept, *told))


def inflected(base: str, main: Any, noun: Any) -> str:
    """A verb in the tense and number of the main one; as it stands after "can" or "will"."""
    if any(c.dep_ == "aux" for c in main.children):
        return base
    if main.tag_ == "VBD":
        return PAST.get(base, base + ("d" if base.endswith("e") else "ed"))
    return base if plural(noun) else third_person(base)


def active(verb: Any) -> Draft | None:
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
