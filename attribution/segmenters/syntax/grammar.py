"""What is asked of the words of a parse: who the subject is, what is finite, negated, past or plural."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attribution.segmenters.syntax.drafts import ADDED, AUXILIARIES, SUBJECTS, Draft, Part, parts, subtree, trimmed

if TYPE_CHECKING:
    from spacy.tokens import Token

FINITE = {"VBZ", "VBP", "VBD", "MD"}
VERBAL = {"VERB", "AUX"}
NOUNS = {"NN", "NNS", "NNP", "NNPS"}
RELATIVE = {"WP", "WDT", "WP$"}
NEGATIVE = {"no", "not", "n't", "n’t", "never", "nor", "neither", "none", "nothing", "nobody", "hardly", "rarely",
            "seldom", "few", "little", "only", "barely", "scarcely", "cannot", "lack", "lacks", "less",
            "fewer"}  # fmt: skip
CONDITIONS = {"if", "unless", "whether"}
SINGULAR = {"are": "is", "were": "was", "have": "has", "do": "does", "’re": "is", "'re": "is"}


def finite(verb: Token) -> bool:
    """Whether the verb, or what helps it, carries the tense."""
    if verb.pos_ not in VERBAL:
        return False
    return verb.tag_ in FINITE or any(c.dep_ in AUXILIARIES and c.tag_ in FINITE for c in verb.children)


def subject_of(verb: Token) -> Token | None:
    """Its own subject, in front of it."""
    return next((c for c in verb.children if c.dep_ in SUBJECTS and c.i < verb.i), None)


def members(head: Token) -> list[Token]:
    """The conjuncts of a coordination in order, the head first."""
    found = [head]
    for token in found:
        found += [c for c in token.children if c.dep_ == "conj"]
    return sorted(found, key=lambda t: t.i)


def own(member: Token) -> list[Token]:
    """A conjunct without the others and what joins them."""
    joins = [c for c in member.children if c.dep_ in {"conj", "cc", "preconj"}]
    starts = {first(c) for c in joins}
    commas = [c for c in member.children if c.text in {",", ";"} and c.i > member.i and c.i + 1 in starts]
    # "well as" of "as well as" hangs on the conjunction or beside it
    return subtree(member, *joins, *commas)


def first(token: Token) -> int:
    """Where the phrase of a token begins."""
    return int(min(t.i for t in token.subtree))


def last(token: Token) -> int:
    return int(max(t.i for t in token.subtree))


def set_off(token: Token) -> bool:
    """A comma stands before it."""
    start = first(token)
    return start == 0 or bool(token.doc[start - 1].text == ",")


def with_comma(token: Token) -> list[int]:
    """A phrase with the comma that sets it off."""
    start = first(token)
    comma = [start - 1] if start and token.doc[start - 1].text == "," else []
    return [*comma, *(t.i for t in token.subtree)]


def enclosed(token: Token) -> bool:
    """Within brackets or quotation marks."""
    before = token.doc[: token.i].text
    return bool(before.count("(") > before.count(")") or before.count('"') % 2 or before.count("“") > before.count("”"))


def negated(token: Token) -> bool:
    return any(c.lower_ in NEGATIVE or c.dep_ == "neg" for c in token.children) or token.lower_ in NEGATIVE


def denied(token: Token) -> bool:
    """Whether it stands in the scope of a negation or a condition."""
    return any(
        negated(above)
        or above.dep_ in {"advcl", "ccomp", "csubj"}
        and any(c.dep_ == "mark" and c.lower_ in CONDITIONS for c in above.children)
        for above in token.ancestors
    )


def plural(noun: Token) -> bool:
    return noun.tag_ in {"NNS", "NNPS"} or noun.lower_ in {"they", "we", "you", "people", "these", "those"}


def past(token: Token) -> bool:
    """Whether the clause around it is told in the past."""
    for above in token.ancestors:
        if above.pos_ in VERBAL:
            forms = [above, *(c for c in above.children if c.dep_ in AUXILIARIES)]
            return any(f.tag_ == "VBD" for f in forms)
    return False


def be(noun: Token, was: bool) -> Part:
    return ADDED, ("were" if was else "are") if plural(noun) else ("was" if was else "is")


def named(noun: Token) -> Token:
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


def attribute(noun: Token) -> bool:
    """A noun that says what the subject is: "a genre that …", "a test used for …"."""
    return named(noun) is not noun and noun.dep_ == "attr" and any(c.lower_ in {"a", "an"} for c in noun.children)


def phrase(noun: Token) -> Draft:
    """A noun as a subject: definite, without what is said of it beside the clause."""
    aside = [c for c in noun.children if c.dep_ in {"relcl", "appos"} or (c.dep_ in {"acl", "punct"} and c.i > noun.i)]
    words = {t.i for t in own(noun)} - {t.i for c in aside for t in c.subtree}
    written = parts(noun.doc[i] for i in words)
    return trimmed(
        tuple((ADDED, "the") if t.lower() in {"a", "an"} and noun.dep_ not in SUBJECTS else (i, t) for i, t in written)
    )


def agreeing(draft: Draft, verb: Token, subject: Token) -> Draft:
    """The verb in the singular where its plural subject has become one."""
    if subject.tag_ in {"NNS", "NNPS"} or subject.lower_ in {"people"}:
        return draft
    verbs = {v.i for v in members(verb)}
    changed, done = [], False
    for i, text in draft:
        token = verb.doc[i] if i >= 0 else None
        carries = token is not None and (token.i in verbs or (token.dep_ in AUXILIARIES and token.head.i in verbs))
        if carries and not done and token is not None and token.tag_ in {"VBP", "VBD", "VBZ", "MD", "VB"}:
            done = True
            if text.lower() in SINGULAR:
                text = SINGULAR[text.lower()]
            elif token.tag_ == "VBP":
                text = third_person(text)
        changed.append((i, text))
    return tuple(changed)


def third_person(verb: str) -> str:
    """The form of the third person singular of a verb in the plural."""
    if verb.endswith("y") and verb[-2:-1] not in set("aeiou"):
        return verb[:-1] + "ies"
    return verb + ("es" if verb.endswith(("s", "x", "z", "ch", "sh", "o")) else "s")
