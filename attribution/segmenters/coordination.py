"""Coordination: one statement a conjunct, where "and" distributes and nothing in whose scope it stands forbids it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from attribution.segmenters.drafts import AUXILIARIES, SUBJECTS, Draft, subtree, trimmed

MOST = 9  # statements out of one clause
JOINING = {"and", ",", ";", "but", "as"}  # "as" of "as well as"
# "not A and B", "more than A and B", "between A and B", "a mix of A and B" say nothing of A alone
CLOSED = {
    "without", "than", "between", "among", "amongst", "versus", "unless", "if", "whether", "as", "like", "including",
    "mix", "mixture", "combination", "balance", "relationship", "difference", "differences", "interaction", "range",
    "variety", "set", "series", "number", "majority", "union", "marriage", "interplay", "intersection", "link",
    "rather", "instead", "except", "excluding", "regardless", "total", "average", "sum", "collaboration", "ratio",
    "comparison", "distinction", "correlation", "association", "connection", "both", "either", "neither", "such",
}  # fmt: skip
COLLECTIVE = {
    "combine", "compare", "differ", "meet", "marry", "mix", "merge", "connect", "link", "balance", "collaborate",
    "vary", "distinguish", "range", "divide", "consist", "comprise", "total", "equal", "overlap", "interact",
    "separate", "form", "unite", "coordinate", "agree", "integrate", "alternate", "constitute", "married",
    "combined", "mixed",
}  # fmt: skip
NEGATIVE = {"no", "not", "n't", "n’t", "never", "nor", "neither", "none", "nothing", "nobody", "hardly", "rarely",
            "seldom", "few", "little", "only", "barely", "scarcely", "cannot", "lack", "lacks", "less",
            "fewer"}  # fmt: skip
TOGETHER = {"together", "respectively", "each", "another", "their", "they", "themselves", "both", "same", "similar",
            "different", "between", "combined", "two", "collectively", "vice", "related", "jointly"}  # fmt: skip
OPEN_ENDED = {"so", "etc", "etc.", "more", "others", "other", "vice", "beyond", "vice-versa", "then", "forth", "on",
              "again", "there", "over", "when", "where", "how", "why", "up", "down", "out"}  # fmt: skip
NOMINAL = {"dobj", "pobj", "attr", "nsubj", "nsubjpass", "amod", "acomp", "oprd", "prep", "advmod"}
SINGULAR = {"are": "is", "were": "was", "have": "has", "do": "does", "’re": "is", "'re": "is"}


def stem(token: Any) -> str:
    """Enough of a lemma to look a verb up."""
    word: str = token.lower_
    for end, instead in (("ies", "y"), ("ied", "y"), ("ing", ""), ("ed", ""), ("es", ""), ("s", "")):
        if word.endswith(end) and len(word) > len(end) + 2:
            return word[: -len(end)] + instead
    return word


def collective(verb: Any) -> bool:
    return bool({stem(verb), stem(verb) + "e", verb.lower_} & COLLECTIVE)


def members(head: Any) -> list[Any]:
    """The conjuncts of a coordination in order, the head first."""
    found = [head]
    for token in found:
        found += [c for c in token.children if c.dep_ == "conj"]
    return sorted(found, key=lambda t: t.i)


def own(member: Any) -> list[Any]:
    """A conjunct without the others and what joins them."""
    joins = [c for c in member.children if c.dep_ in {"conj", "cc", "preconj"}]
    starts = {min(t.i for t in c.subtree) for c in joins}
    commas = [c for c in member.children if c.text in {",", ";"} and c.i > member.i and c.i + 1 in starts]
    # "well as" of "as well as" hangs on the conjunction or beside it
    return subtree(member, *joins, *commas)


def negated(token: Any) -> bool:
    return any(c.lower_ in NEGATIVE or c.dep_ == "neg" for c in token.children) or token.lower_ in NEGATIVE


def denied(token: Any) -> bool:
    """Whether it stands in the scope of a negation or a condition."""
    return any(
        negated(above)
        or above.dep_ in {"advcl", "ccomp", "csubj"}
        and any(c.dep_ == "mark" and c.lower_ in {"if", "unless", "whether"} for c in above.children)
        for above in token.ancestors
    )


def aside(token: Any, inside: set[int]) -> bool:
    """What restricts a noun or sets a purpose is no statement of its own, unless it was made one."""
    if token.dep_ == "relcl":
        pronouns = [c.i for c in token.subtree if c.tag_ in {"WP", "WDT", "WRB", "WP$"}]
        restricts = token.i in inside and (not pronouns or pronouns[0] in inside)
        return restricts and any(t.dep_ in SUBJECTS for t in (token.head, *token.head.ancestors))
    purpose = token.i > token.head.i and any(c.lower_ == "to" and c.dep_ == "aux" for c in token.children)
    return token.dep_ == "advcl" and token.head.i in inside and not purpose


def closed(head: Any, inside: set[int]) -> bool:
    """Whether a word above the coordination takes it as one, turns it round, or only mentions it."""
    for above in head.ancestors:
        if above.i not in inside:
            break
        if above.lower_ in CLOSED:
            return True
        if above.pos_ in {"VERB", "AUX"}:
            if collective(above):
                return True
            break
    return (
        any(aside(t, inside) for t in (head, *head.ancestors))
        or denied(head)
        or (negated(head) and head.pos_ not in {"VERB", "AUX"})
    )


def distribute(doc: Any, draft: Draft) -> list[Draft]:
    """The draft once for each conjunct; itself alone where there is nothing to distribute."""
    words = {text.lower() for _, text in draft}
    if {"only", "but"} <= words:  # not only A but also B
        return [draft]
    done: list[Draft] = []
    waiting, tried = [draft], set()
    while waiting:
        current = waiting.pop(0)
        for head in heads(doc, current):
            key = (head.i, current)
            if key in tried:
                continue
            tried.add(key)
            variants = list(_variants(head, current))
            if len(variants) > 1 and len(done) + len(waiting) + len(variants) <= MOST:
                waiting = variants + waiting
                break
        else:
            done.append(current)
    return done


def heads(doc: Any, draft: Draft) -> Iterator[Any]:
    """First conjuncts of the coordinations of which more than one is still in the draft, the outermost first."""
    inside = {i for i, _ in draft}
    tokens = [doc[i] for i in sorted(inside - {-1})]
    firsts = [t for t in tokens if t.dep_ != "conj" and any(c.dep_ == "conj" and c.i in inside for c in t.children)]
    yield from sorted(firsts, key=lambda t: (len(list(t.ancestors)), t.i))


def joined_by_and(group: list[Any]) -> bool:
    words = {c.lower_ for m in group for c in m.children if c.dep_ == "cc"}
    return bool(words & {"and", "as"}) and bool(words <= JOINING)


def _quoted(head: Any) -> bool:
    before = head.doc[: head.i].text
    return bool(before.count('"') % 2 or before.count("“") > before.count("”") or before.count("(") > before.count(")"))


def _variants(head: Any, draft: Draft) -> Iterator[Draft]:
    group = [m for m in members(head) if any(i == m.i for i, _ in draft)]
    if (
        not joined_by_and(group)
        or closed(head, {i for i, _ in draft})
        or _quoted(head)
        or any(m.lower_ in OPEN_ENDED for m in group)
    ):
        return
    if head.pos_ in {"VERB", "AUX"} and all(m.pos_ in {"VERB", "AUX"} for m in group):
        pieces = _verbs(head, group)
    elif head.dep_ in NOMINAL:
        pieces = _nouns(head, group)
    else:
        return
    if not pieces:
        return
    replaced = {t.i for m in group for t in m.subtree} - {t.i for t in _left(head, group)}
    positions = [n for n, (i, _) in enumerate(draft) if i in replaced]
    first, last = positions[0], positions[-1]
    if any(i not in replaced and i >= 0 for i, _ in draft[first : last + 1]):
        return
    here = dict(draft)
    for member, piece in zip(group, pieces, strict=True):
        middle = tuple((i, here[i]) for i in piece if i in here)
        made = draft[:first] + trimmed(middle) + draft[last + 1 :]
        if head.dep_ in {"nsubj", "nsubjpass"} and head.pos_ not in {"VERB", "AUX"}:
            made = agreeing(made, head.head, member)
        yield made


def _left(head: Any, group: list[Any]) -> list[Any]:
    """What the conjuncts of a verb share: subject, what stands before it, and markers."""
    if head.pos_ not in {"VERB", "AUX"}:
        return []
    subject = next((c for c in head.children if c.dep_ in SUBJECTS and c.i < head.i), None)
    if any(c.dep_ in SUBJECTS for m in group[1:] for c in m.children):
        marks = any(c.dep_ == "mark" for m in group[1:] for c in m.children)
        return [t for c in head.children if c.dep_ == "mark" and not marks for t in c.subtree]
    marked = any(c.dep_ == "mark" for m in group[1:] for c in m.children)
    shared = [c for c in head.children if c.dep_ == "mark" and not marked or (subject is not None and c.i <= subject.i)]
    shared += [c for c in head.children if c.text in {",", ";"} and subject is not None and c.i < head.i]
    return [t for c in shared for t in c.subtree]


def _verbs(head: Any, group: list[Any]) -> list[list[int]]:
    """Token numbers of each conjunct with the auxiliaries it needs; empty where the splitter is not sure."""
    subjects = [any(c.dep_ in SUBJECTS for c in m.children) for m in group]
    if any(subjects[1:]) and not (all(subjects) and head.dep_ == "ccomp"):
        return []
    left = {t.i for t in _left(head, group)}
    if any(c.dep_ == "ccomp" and c.i in left for c in head.children):
        return []  # "…", she said and left
    auxiliaries = [c for c in head.children if c.dep_ in AUXILIARIES]
    own_tense = {"VBZ", "VBP"} | ({"VBD"} if all(a.lower_ in {"was", "were"} for a in auxiliaries) else set())
    pieces: list[list[int]] = []
    for member in group:
        conditions = [c for c in member.children if c.dep_ == "advcl" and c.i > member.i]
        if any((g.dep_ == "mark" or g.tag_ == "WRB") for c in conditions for g in c.children):
            return []
        tokens = {t.i for t in own(member)} - left
        if member != head and not any(subjects[1:]):
            bare = not any(c.dep_ in AUXILIARIES for c in member.children)
            if negated(head) and bare:
                return []
            if bare and member.tag_ in {"VB", "VBN", "VBG"}:
                if member.tag_ != head.tag_ or not (
                    auxiliaries or head.dep_ in {"xcomp", "pcomp", "ccomp", "advcl", "acl"}
                ):
                    return []
                tokens |= {a.i for a in auxiliaries}
            elif bare and (
                (auxiliaries and member.tag_ not in own_tense)
                or (not auxiliaries and member.tag_ != head.tag_ and {member.tag_, head.tag_} & {"VB", "VBN", "VBG"})
            ):
                return []
        pieces.append(sorted(tokens))
    last = group[-1]
    right = [t.i for c in last.children if c.i > last.i and c.dep_ not in {"cc", "conj"} for t in c.subtree]
    for piece, member in zip(pieces[:-1], group[:-1], strict=True):
        if piece[-1] == member.i and any(c.dep_ in {"dobj", "prep", "attr", "ccomp", "xcomp"} and c.i > last.i
                                         for c in last.children):  # fmt: skip
            piece += right  # "wrote and directed films"
    trailing = [c for c in head.children if c.i > last.i and c.dep_ not in {"punct", "conj", "cc"}]
    return [] if trailing else pieces


def _nouns(head: Any, group: list[Any]) -> list[list[int]]:
    """Token numbers of each conjunct with the determiner and "of …" it shares; empty where not sure."""
    kinds = {"PROPN": "NOUN", "PRON": "NOUN"}
    kind = {kinds.get(m.pos_, m.pos_) for m in group}
    if (len(kind) > 1 and not (head.dep_ == "acomp" and kind <= {"ADJ", "VERB"})) or kind & {"NUM", "DET"}:
        return []
    if any(m.pos_ == "PRON" for m in group) or ("ADV" in kind) != (head.dep_ == "advmod"):
        return []
    first = min(t.i for t in head.subtree)
    if head.dep_ != "nsubj" and first and head.doc[first - 1].text == ",":
        return []  # more likely the middle of a longer list
    doc, starts = head.doc, [min(t.i for t in own(m)) for m in group]
    if any(
        doc[i].like_num and doc[i].pos_ == "NUM" or i and doc[i - 1].lower_ in {"between", "-", "/", "both"}
        for i in starts[:1]
    ):
        return []
    if (
        any(i and doc[i - 1].text in {"-", "/"} for i in [*starts, *(m.i for m in group)])
        or doc[group[0].i + 1].text == "-"
    ):
        return []
    if head.dep_ == "dobj" and head.head.dep_ == "pcomp" and head.head.head.lower_ == "of" and head.head.tag_ == "VBG":
        return []
    if head.dep_ == "pobj" and head.head.lower_ in {"of", "for"} and head.head.head.pos_ == head.pos_ == "PROPN":
        return []  # the Department of Health and Labor
    verb = head.head
    if head.dep_ in {"nsubj", "nsubjpass"}:
        attribute = next((c for c in verb.children if c.dep_ == "attr"), None)
        words = {t.lower_ for t in verb.subtree}
        plural = attribute is not None and attribute.tag_ in {"NNS", "NNPS"}
        if plural or words & TOGETHER or collective(verb) or negated(verb) or verb.pos_ not in {"VERB", "AUX"}:
            return []
    if head.dep_ == "amod" and (
        head.head.tag_ in {"NNS", "NNPS"} and any(c.dep_ == "nummod" for c in head.head.children)
    ):
        return []
    if head.dep_ == "amod" and any(m.tag_ in {"JJR", "JJS", "VBG"} for m in group):
        return []
    shared = [c for c in head.children if c.dep_ in {"det", "poss"} and c.i < head.i]
    last = group[-1]
    pair = len(group) == 2 and not any(c.i < last.i for c in last.children)
    of = [c for c in last.children if c.lower_ == "of" and c.dep_ == "prep" and pair]
    after = [c for c in head.children if c.i > last.i and c.dep_ in {"prep", "acl", "relcl"}]
    pieces = []
    for member in group:
        tokens = {t.i for t in own(member)}
        if member != head:
            bare = not any(c.i < member.i and c.dep_ not in {"cc", "punct"} for c in member.children)
            if not any(c.dep_ in {"det", "poss", "nummod"} for c in member.children) and (member.tag_ == "NN" or bare):
                tokens |= {t.i for c in shared for t in c.subtree}
            tokens |= {t.i for c in after for t in c.subtree}
        if member != last and of and not any(c.dep_ == "prep" and c.i < last.i for c in member.children):
            tokens |= {t.i for c in of for t in c.subtree}
        pieces.append(sorted(tokens))
    return pieces


def agreeing(draft: Draft, verb: Any, subject: Any) -> Draft:
    """The verb in the singular where its plural subject has become one."""
    if subject.tag_ in {"NNS", "NNPS"} or subject.lower_ in {"people"}:
        return draft
    verbs = {v.i for v in members(verb)}
    changed, done = [], False
    for i, text in draft:
        token = verb.doc[i] if i >= 0 else None
        finite = token is not None and (token.i in verbs or (token.dep_ in AUXILIARIES and token.head.i in verbs))
        if finite and not done and token is not None and token.tag_ in {"VBP", "VBD", "VBZ", "MD", "VB"}:
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
