"""What is said of a noun beside the main clause, as sentences: relative, participial and appositive clauses,
nationality, and dates and places one by one."""

from __future__ import annotations

from typing import Any

from attribution.segmenters.coordination import OPEN_ENDED, denied, members, negated, own
from attribution.segmenters.drafts import AUXILIARIES, SUBJECTS, Draft, Part, parts, subtree, trimmed

PERSONS = ("er", "or", "ist", "ian", "ant", "man", "men", "woman", "women", "people", "person", "child", "children",
           "king", "queen", "boy", "girl", "wife", "husband", "friend", "students", "players")  # fmt: skip
# ", which led to …" speaks of the whole clause before it more often than of its last noun
SENTENTIAL = {"mean", "lead", "cause", "result", "make", "allow", "enable", "help", "suggest", "indicate",
              "mak", "caus", "enabl", "affect", "impact", "require", "prevent", "ensure", "includ"}  # fmt: skip
MONTHS = set(
    [
        "january",
        "february",
        "march",
        "april",
        "may",
        "june",
        "july",
        "august",
        "september",
        "october",
        "november",
        "december",
    ]
)
WHERE = {"in", "on", "at", "near", "during", "since"}
QUANTITIES = {"many", "several", "various", "other", "some", "certain", "different", "numerous", "multiple", "few",
              "more", "most", "additional", "such", "further", "diverse"}  # fmt: skip
ACTIVE = {
    "providing": "provide", "offering": "offer", "featuring": "feature", "containing": "contain", "serving": "serve",
    "covering": "cover", "requiring": "require", "using": "use", "emphasizing": "emphasize", "involving": "involve",
    "representing": "represent", "supporting": "support", "incorporating": "incorporate", "combining": "combine",
    "describing": "describe", "targeting": "target", "ensuring": "ensure",
}  # fmt: skip
BE = {"is", "are", "was", "were"}
ADDED = -1


def extracted(doc: Any, draft: Draft, done: frozenset[int] = frozenset()) -> tuple[Draft, list[Draft]]:
    """The draft without what was taken out of it, and the sentences made of that."""
    inside = {i for i, _ in draft}
    made: list[Draft] = []
    out: set[int] = set()
    sentences: list[Draft]
    for token in (doc[i] for i in sorted(inside - {ADDED})):
        if token.i in out | done or token.head.i not in inside or token.head == token or in_brackets(token):
            continue
        sentence, sentences = None, []
        if token.dep_ == "relcl":
            sentence = relative(token)
        elif token.dep_ == "appos":
            sentence = apposition(token)
        elif token.dep_ in {"acl", "advcl"} and token.tag_ == "VBN":
            sentence = participle(token)
        elif token.dep_ in {"advcl"} and token.lower_ in ACTIVE:
            sentence = active(token)
        elif token.dep_ == "prep":
            sentences = examples(token)
        for one in [sentence] if sentence else sentences:
            nested, more = extracted(doc, one, done | {token.i})
            made += [nested, *more]
        if not sentence and not sentences:
            continue
        taken = {t.i for t in token.subtree}
        edges = {min(taken) - 1, max(taken) + 1}
        out |= taken | {t.i for t in doc if t.i in edges and t.text == ","}
    return trimmed(tuple(p for p in draft if p[0] not in out)), made


def in_brackets(token: Any) -> bool:
    before = token.doc[: token.i].text
    return bool(before.count("(") > before.count(")") or before.count('"') % 2 or before.count("“") > before.count("”"))


def set_off(token: Any) -> bool:
    """A comma stands before it."""
    first = min(t.i for t in token.subtree)
    return first == 0 or bool(token.doc[first - 1].text == ",")


def named(noun: Any) -> Any:
    """What the noun is said of: the subject for an attribute or apposition, else itself."""
    while True:
        if noun.dep_ == "attr" and noun.head.pos_ == "AUX" and not negated(noun.head):
            subject = next((c for c in noun.head.children if c.dep_ == "nsubj"), None)
            if subject is None or subject.tag_ in {"WP", "WDT"}:
                return noun
            noun = subject
        elif noun.dep_ == "appos" and noun.head.pos_ in {"PROPN", "NOUN", "PRON"}:
            noun = noun.head
        else:
            return noun


def phrase(noun: Any) -> Draft:
    """A noun as a subject: definite, without what is said of it beside the clause."""
    aside = [c for c in noun.children if c.dep_ in {"relcl", "appos"} or (c.dep_ in {"acl", "punct"} and c.i > noun.i)]
    words = {t.i for t in own(noun)} - {t.i for c in aside for t in c.subtree}
    written = parts(noun.doc[i] for i in words)
    return trimmed(
        tuple((ADDED, "the") if t.lower() in {"a", "an"} and noun.dep_ not in SUBJECTS else (i, t) for i, t in written)
    )


def plural(noun: Any) -> bool:
    return noun.tag_ in {"NNS", "NNPS"} or noun.lower_ in {"they", "we", "you", "people", "these", "those"}


def past(token: Any) -> bool:
    """Whether the clause around it is told in the past."""
    for above in token.ancestors:
        if above.pos_ in {"VERB", "AUX"}:
            forms = [above, *(c for c in above.children if c.dep_ in AUXILIARIES)]
            return any(f.tag_ == "VBD" for f in forms)
    return False


def be(noun: Any, was: bool) -> Part:
    return ADDED, ("were" if was else "are") if plural(noun) else ("was" if was else "is")


def relative(verb: Any) -> Draft | None:
    """ "…, who directed films" → "Hitchcock directed films"; None for one that restricts its noun."""
    wh = next((c for c in verb.children if c.tag_ in {"WP", "WDT"} and c.dep_ in SUBJECTS), None)
    if wh is None or wh.i != min(t.i for t in verb.subtree):
        return None
    if not (set_off(verb) and wh.lower_ != "that") and not attribute(verb.head):
        return None
    noun = antecedent(verb.head) if wh.lower_ == "who" else named(verb.head)
    forms = (*sorted(verb.children, key=lambda t: t.i), verb)
    finite = next((c for c in forms if c.tag_ in {"VBZ", "VBP", "VBD", "MD"}), None)
    if noun is None or finite is None or denied(verb.head) or len(members(noun)) > 1 or noun.dep_ == "conj":
        return None
    if (finite.tag_ == "VBZ" and plural(noun)) or (finite.tag_ == "VBP" and not plural(noun)):
        return None
    sentential = verb.lower_.startswith(tuple(SENTENTIAL)) or (finite.tag_ == "MD" and verb.tag_ != "VBN")
    if wh.lower_ == "which" and sentential and not attribute(verb.head):
        return None
    return trimmed(phrase(noun) + parts(t for t in verb.subtree if t.i != wh.i))


def antecedent(noun: Any) -> Any:
    """The person "who" speaks of: the parser sometimes hangs it on the nearest thing."""
    nearest = named(noun)
    if nearest.pos_ in {"PROPN", "PRON"} and nearest.dep_ not in {"pobj"} or noun.lower_.endswith(PERSONS):
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
    if denied(subject) or any(c.dep_ == "cc" for c in subject.children):
        return None
    return trimmed((*phrase(subject), be(subject, past(noun)), *parts(noun.subtree)))


def participle(verb: Any) -> Draft | None:
    """ "…, widely regarded as …" → "Hitchcock was widely regarded as …"."""
    if any(c.dep_ in {*SUBJECTS, *AUXILIARIES, "mark"} for c in verb.children):
        return None
    if verb.dep_ == "advcl":
        noun = next((c for c in verb.head.children if c.dep_ in {"nsubj", "nsubjpass"}), None)
        first = min(t.i for t in verb.subtree)
        if (
            first
            and not set_off(verb)
            or any(c.lower_ in {"as", "when", "if", "once"} and c.i < verb.i for c in verb.children)
        ):
            return None
        if (
            verb.lower_ in {"given", "compared", "based", "provided", "followed"}
            or verb.i < 2
            and first == verb.i
            and verb.lower_ == "granted"
        ):
            return None
    else:
        noun = named(verb.head)
        if not set_off(verb) and (noun is verb.head or noun.pos_ not in {"PROPN", "PRON"}) and not attribute(verb.head):
            return None
    if noun is None or noun.tag_ in {"WP", "WDT", "EX"} or len(members(noun)) > 1 or denied(noun) or noun.lower_ == "i":
        return None
    if verb.lower_ in {"given", "compared", "based", "including", "followed", "combined", "coupled"}:
        return None
    if any(c.dep_ == "dobj" for c in verb.children):  # the past tense taken for a participle
        return trimmed((*phrase(noun), *parts(verb.subtree))) if verb.lower_.endswith("ed") and set_off(verb) else None
    return trimmed((*phrase(noun), be(noun, past(verb) or verb.lower_ == "born"), *parts(verb.subtree)))


def active(verb: Any) -> Draft | None:
    """ "…, providing shade" → "The tree provides shade": verbs whose subject is that of the main clause."""
    main = verb.head
    noun = next((c for c in main.children if c.dep_ in {"nsubj", "nsubjpass"}), None)
    modal = any(c.dep_ in {"aux", "neg"} and c.tag_ != "VBZ" for c in main.children)
    if noun is None or modal or verb.i < main.i or not set_off(verb) or min(t.i for t in verb.subtree) != verb.i:
        return None
    if noun.tag_ in {"WP", "WDT", "EX"} or len(members(noun)) > 1 or denied(noun) or main.dep_ not in {"ROOT", "conj"}:
        return None
    if any(c.dep_ == "conj" for c in verb.children):
        return None
    base = ACTIVE[verb.lower_]
    was = past(verb)
    if noun.lower_ == "i" or main.tag_ not in {"VBZ", "VBP", "VBD"}:
        return None
    form = (base + ("d" if base.endswith("e") else "ed")) if was else base if plural(noun) else base + "s"
    rest = parts(t for t in verb.subtree if t.i != verb.i)
    return trimmed((*phrase(noun), (verb.i, form), *rest))


def attribute(noun: Any) -> bool:
    """A noun that says what the subject is: "a genre that …", "a test used for …"."""
    return named(noun) is not noun and noun.dep_ == "attr" and any(c.lower_ in {"a", "an"} for c in noun.children)


def examples(prep: Any) -> list[Draft]:
    """ "issues such as depression and anxiety" → "Depression is one of the issues", and so on."""
    such = any(c.lower_ == "such" for c in prep.children) and prep.lower_ == "as"
    noun = prep.head
    if not (such or prep.lower_ in {"like", "including"}) or noun.tag_ != "NNS" or prep.i < noun.i:
        return []
    items = [m for c in prep.children if c.dep_ in {"pobj", "pcomp"} for m in members(c)]
    if not items or any(m.pos_ not in {"NOUN", "PROPN"} and m.tag_ != "VBG" or m.lower_ in OPEN_ENDED for m in items):
        return []
    if any(c.dep_ in {"relcl", "acl", "appos", "advcl"} for m in items for c in m.children):
        return []
    left = [c for c in noun.children if c.i < noun.i and c.dep_ in {"amod", "compound"} and c.lower_ not in QUANTITIES]
    words = parts([noun, *(t for c in left for t in c.subtree)])
    made = []
    for item in items:
        number = "among" if plural(item) else "one of"
        added: Draft = tuple((ADDED, w) for w in f"{number} the".split())
        made.append((*trimmed(parts(own(item))), be(item, past(noun)), *added, *words))
    return made


def natures(doc: Any, draft: Draft) -> list[Draft]:
    """ "She was a French chemist" → "She was a chemist", "She was French". Other adjectives need their noun:
    a small planet is not small."""
    for place, (i, text) in enumerate(draft):
        token = doc[i] if i >= 0 else None
        if token is None or token.dep_ != "amod" or token.tag_ != "JJ" or not text[:1].isupper() or i == 0:
            continue
        noun = token.head
        before = [n for n, (_, t) in enumerate(draft[:place]) if t.lower() in BE]
        article = draft[place - 1][1].lower() in {"a", "an"}
        if (
            not before
            or not article
            or before[-1] != place - 2
            or noun.dep_ not in {"attr", "appos"}
            or "-" in noun.text
        ):
            continue
        subject = draft[: before[-1]]
        if any(t.lower() in {"not", "there", "it", "this", "that"} for _, t in subject) or any(
            k == "," for _, k in subject
        ):
            continue
        return [draft[:place] + draft[place + 1 :], (*subject, draft[before[-1]], (i, text))]
    return [draft]


def adjuncts(doc: Any, draft: Draft) -> list[Draft]:
    """ "He died in Paris in 1980" → "He died in Paris", "He died in 1980"."""
    inside = {i for i, _ in draft}
    for verb in (doc[i] for i in sorted(inside - {ADDED})):
        if (
            verb.pos_ not in {"VERB"}
            or verb.tag_ not in {"VBD", "VBN"}
            or negated(verb)
            or verb.dep_ in {"relcl", "ccomp", "xcomp"}
        ):
            continue
        found: list[list[int]] = []
        for prep in verb.children:
            if prep.dep_ == "prep" and prep.i > verb.i and prep.lower_ in WHERE and prep.i in inside:
                inner = [
                    p
                    for o in prep.children
                    for p in o.children
                    if p.dep_ == "prep" and p.lower_ in WHERE and certain(p)
                ]
                inner = [p for p in inner if p.head.pos_ == "NOUN"]
                found += [[t.i for t in subtree(prep, *inner)], *([t.i for t in p.subtree] for p in inner)]
        agent = [[t.i for t in c.subtree] for c in verb.children if c.dep_ == "agent" and c.i in inside]
        found = agent + found
        if len(found) < 2 or sum(certain(doc[f[0]]) for f in found) < len(found) - 1:
            continue
        if any(doc[t].dep_ in {"conj"} for f in found for t in f):
            continue
        every = {t for f in found for t in f}
        return [trimmed(tuple(p for p in draft if p[0] not in every - set(kept))) for kept in found]
    return [draft]


def certain(prep: Any) -> bool:
    """A date or a named place."""
    objects = [c for c in prep.children if c.dep_ == "pobj"]
    return any(o.like_num or o.pos_ == "PROPN" or o.lower_ in MONTHS for o in objects)
