"""Coordination: one statement a conjunct, where "and" distributes and nothing in whose scope it stands forbids it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from attribution.segmenters.drafts import ADDED, AUXILIARIES, SUBJECTS, Draft, trimmed
from attribution.segmenters.grammar import VERBAL, agreeing, enclosed, first, members, negated, own, plural, subject_of
from attribution.segmenters.scope import (
    OPEN_ENDED,
    TOGETHER,
    closed,
    collective,
    core,
    free,
    fronted,
    joined_by_and,
    joined_by_or,
    setting,
)

MOST = 9  # statements out of one clause
MOST_CROSSED = 6  # statements out of two coordinations side by side
NOMINAL = {"dobj", "pobj", "attr", "nsubj", "nsubjpass", "amod", "acomp", "oprd", "prep", "advmod", "dative"}
# adjectives that a list of plurals shares: "various tools and methods"
SHARED = {"various", "different", "diverse", "several", "multiple", "numerous", "many", "some", "certain", "other",
          "new", "existing", "specific", "relevant", "additional",
          "high", "low", "poor", "potential", "possible", "negative", "positive", "adverse"}  # fmt: skip


def distribute(doc: Any, draft: Draft) -> list[Draft]:
    """The draft once for each conjunct; itself alone where there is nothing to distribute.

    Coordinations side by side are multiplied where both belong to what is said ("A and B like C and D"), and only up to
    six statements; one within the setting ("while keeping C and D") is then left as it is.
    """
    words = {text.lower() for _, text in draft}
    if {"only", "but"} <= words:  # not only A but also B
        return [draft]
    done: list[Draft] = []
    waiting: list[tuple[Draft, tuple[Any, ...], int]] = [(draft, (), 1)]  # with heads that were distributed, and times
    while waiting:
        current, before, times = waiting.pop(0)
        inside = {i for i, _ in current}
        for head in heads(doc, current):
            crossed = any(head not in m.subtree for h in before for m in members(h) if m.i in inside)
            if head in before or (before and not core(head, inside)) or (crossed and setting(head, inside)):
                continue
            variants = list(_variants(head, current))
            often = times * len(variants) if crossed else len(variants)
            if (
                len(variants) > 1
                and len(done) + len(waiting) + len(variants) <= MOST
                and (not crossed or often <= MOST_CROSSED)
            ):
                waiting = [(v, (*before, head), often) for v in variants] + waiting
                break
        else:
            done.append(current)
    return done


def heads(doc: Any, draft: Draft) -> Iterator[Any]:
    """First conjuncts of the coordinations of which more than one is still in the draft, the outermost first."""
    inside = {i for i, _ in draft}
    tokens = [doc[i] for i in sorted(inside - {ADDED})]
    firsts = [t for t in tokens if t.dep_ != "conj" and any(c.dep_ == "conj" and c.i in inside for c in t.children)]
    yield from sorted(firsts, key=lambda t: (not core(t, inside), len(list(t.ancestors)), t.i))


def _variants(head: Any, draft: Draft) -> Iterator[Draft]:
    inside = {i for i, _ in draft}
    group = [m for m in members(head) if m.i in inside]
    if (
        not (joined_by_and(group) or (joined_by_or(group) and free(head)))
        or closed(head, inside)
        or fronted(head, inside)
        or enclosed(head)
        or any(m.lower_ in OPEN_ENDED for m in group)
    ):
        return
    verbal = head.pos_ in VERBAL and all(m.pos_ in VERBAL for m in group)
    pieces = _verbs(head, group) if verbal else _nouns(head, group) if head.dep_ in NOMINAL else []
    if not pieces:
        return
    shared = {t.i for t in _left(head, group)} if verbal else set()
    replaced = {t.i for m in group for t in m.subtree} - shared
    positions = [n for n, (i, _) in enumerate(draft) if i in replaced]
    start, end = positions[0], positions[-1] + 1
    if any(i not in replaced and i >= 0 for i, _ in draft[start:end]) or goes_on(head.doc, draft, start, end):
        return
    if start and draft[start - 1][1].lower() == "both":
        start -= 1
    if any(text.lower() in {"both", "either"} for _, text in draft[max(0, start - 4) : start]):
        return
    here = dict(draft)
    several = head.dep_ in {"attr", "acomp"} and head.tag_ in {"NN", "NNS", "NNP", "NNPS"} and subject_of(head.head)
    if several and plural(several):
        yield from _each_one(head, draft, pieces, start, end)
        return
    for member, piece in zip(group, pieces, strict=True):
        middle, after = trimmed(tuple((i, here[i]) for i in piece if i in here)), draft[end:]
        if middle and middle[0][1].lower() == "both":
            middle = middle[1:]
        if head.dep_ in SUBJECTS and not verbal and after and after[0][1] == "," and all(t != "," for _, t in middle):
            after = after[1:]  # the comma that ended the list
        made = draft[:start] + middle + after
        if head.dep_ in {"nsubj", "nsubjpass"} and not verbal:
            made = agreeing(made, head.head, member)
        yield made


def _each_one(head: Any, draft: Draft, pieces: list[list[int]], start: int, end: int) -> Iterator[Draft]:
    """ "The bases of DNA are adenine, …" → "Adenine is one of the bases of DNA"; nothing where not all are meant."""
    subject, verb = subject_of(head.head), draft[start - 1] if start else (ADDED, "")
    definite = any(c.lower_ in {"the", "its", "their", "his", "her"} for c in subject.children)
    if not definite or verb[0] != head.head.i or verb[1].lower() not in {"are", "were"} or end < len(draft):
        return
    if first(subject) != draft[0][0] or any(c.lower_ in {"only", "not", "all", "both"} for c in subject.subtree):
        return
    here = dict(draft)
    number = (verb[0], "is" if verb[1].lower() == "are" else "was")
    for piece in pieces:
        named = trimmed(tuple((i, here[i]) for i in piece if i in here))
        if any(head.doc[i].tag_ in {"NNS", "NNPS"} for i in piece if head.doc[i].dep_ in {"attr", "acomp", "conj"}):
            return
        yield (*named, number, (ADDED, "one"), (ADDED, "of"), *draft[: start - 1])


def goes_on(doc: Any, draft: Draft, start: int, end: int) -> bool:
    """Whether what surrounds the coordination looks like more of it, which the parser hung elsewhere."""
    if start and draft[start - 1][1].lower() in {"and", "or", "nor"}:
        return True
    if draft[end - 1][1].lower() in {"and", "or", ","}:
        return True
    after = [text.lower() for _, text in draft[end : end + 2]]
    comma = after[:1] == [","]
    following = after[1:] if comma else after
    if following and following[0] in {"and", "or", "but", "nor"}:
        return True
    token = doc[draft[end + 1][0]] if comma and len(after) > 1 and draft[end + 1][0] >= 0 else None
    return token is not None and token.tag_ in {"VB", "NN", "NNS", "JJ"} and token.dep_ not in SUBJECTS


def _left(head: Any, group: list[Any]) -> list[Any]:
    """What the conjuncts of a verb share: subject, what stands before it, and markers."""
    subject = subject_of(head)
    marks = any(c.dep_ == "mark" for m in group[1:] for c in m.children)
    marked = [c for c in head.children if c.dep_ == "mark" and not marks]
    if any(c.dep_ in SUBJECTS for m in group[1:] for c in m.children):
        return [t for c in marked for t in c.subtree]
    clausal = subject is not None and subject.dep_ in {"csubj", "csubjpass"}  # "giving them separately helps"
    shared = [*marked, *(c for c in head.children if subject is not None and c.i <= subject.i)]
    shared += [c for c in head.children if clausal and c.dep_ == "advmod" and c.i < head.i and c not in shared]
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
    if (
        any(c.lower_ == "it" for c in head.children if c.i in left)
        and any(c.dep_ in {"acomp", "attr"} for c in head.children)
        and any(c.dep_ in {"ccomp", "xcomp"} for c in head.children)
    ):
        return []  # "It is clear that prices rise and should be watched": prices should
    trailing = [c for c in head.children if c.i > group[-1].i and c.dep_ not in {"punct", "conj", "cc"}]
    clauses = [c for m in group for c in m.children if c.dep_ == "advcl" and c.i > m.i]
    if any((g.dep_ == "mark" and g.lower_ != "for") or g.tag_ == "WRB" for c in clauses for g in c.children):
        return []  # "… and closes if it rains": both or one?
    helping = [c for c in head.children if c.dep_ in AUXILIARIES]
    pieces: list[list[int]] = []
    for member in group:
        tokens = {t.i for t in own(member)} - left - {t.i for c in trailing for t in c.subtree}
        tokens -= {c.i for c in member.children if c.text in {".", "!"}}
        if member != head and not any(subjects[1:]):
            if not _fits(member, head, helping):
                return []
            if plainly(member, head) and not any(c.dep_ in AUXILIARIES for c in member.children):
                tokens |= {a.i for a in helping}
        pieces.append(sorted(tokens))
    for n, member in enumerate(group[:-1]):
        if pieces[n][-1] == member.i and not _complete(member, group[n + 1 :]):
            right = _objects(group[n + 1 :])
            if not right:
                return []
            pieces[n] += right  # "wrote and directed films"
    for child in trailing:  # said of the last; the others are true without it
        for piece in pieces if child.dep_ in OBJECTS else pieces[-1:]:
            piece += with_comma(child)
    return pieces


OBJECTS = {"dobj", "attr", "ccomp", "xcomp", "oprd", "acomp", "dative"}


def with_comma(token: Any) -> list[int]:
    """A phrase with the comma that sets it off."""
    start = first(token)
    comma = [start - 1] if start and token.doc[start - 1].text == "," else []
    return [*comma, *(t.i for t in token.subtree)]


def _fits(member: Any, head: Any, helping: list[Any]) -> bool:
    """Whether the auxiliaries of the first verb, if the other has none, go with it."""
    if any(c.dep_ in AUXILIARIES for c in member.children):
        return True
    if negated(head):
        return False
    if plainly(member, head):
        governed = head.dep_ in {"xcomp", "pcomp", "ccomp", "advcl", "acl", "relcl"} or head.tag_ == "VB"
        return bool((member.tag_ == head.tag_ or member.tag_ == "VBP") and (helping or governed))
    if helping:
        return member.tag_ in {"VBZ", "VBP"} or (
            member.tag_ == "VBD" and all(a.lower_ in {"was", "were"} for a in helping)
        )
    return member.tag_ == head.tag_ or not {member.tag_, head.tag_} & {"VB", "VBN", "VBG"}


def plainly(member: Any, head: Any) -> bool:
    """Whether the verb has no tense of its own; after an infinitive, a plural present is one as well."""
    return member.tag_ in {"VB", "VBN", "VBG"} or (member.tag_ == "VBP" and head.tag_ == "VB")


def _complete(member: Any, others: list[Any]) -> bool:
    """Whether the bare verb says something without what follows the next one."""
    for other in others:
        right = [c for c in other.children if c.i > other.i and c.dep_ not in {"cc", "conj", "punct"}]
        if right:
            return not any(c.dep_ in {*OBJECTS, "prep", "agent"} for c in right)
    return True


def _objects(others: list[Any]) -> list[int]:
    """The objects of the next verb that has some, with all that follows them; none where it has only adjuncts."""
    for member in others:
        right = [c for c in member.children if c.i > member.i and c.dep_ not in {"cc", "conj", "punct"}]
        if right:
            return [t.i for c in right for t in c.subtree] if any(c.dep_ in OBJECTS for c in right) else []
    return []


def _nouns(head: Any, group: list[Any]) -> list[list[int]]:
    """Token numbers of each conjunct with the determiner and "of …" it shares; empty where not sure."""
    if not _alike(head, group) or _one_name(head, group) or (head.dep_ in SUBJECTS and not _each(head.head)):
        return []
    shared = [c for c in head.children if c.dep_ in {"det", "poss"} and c.i < head.i and c.lower_ != "both"]
    adjectives = [c for c in head.children if c.dep_ == "amod" and c.i < head.i]
    adjectives = [c for c in adjectives if c.lower_ in SHARED or c.tag_ in {"VBN", "JJR"}]
    end = group[-1]
    pair = len(group) == 2 and not any(c.i < end.i for c in end.children)
    of = [c for c in end.children if c.lower_ == "of" and c.dep_ == "prep" and pair]
    after = [c for c in head.children if c.i > end.i and c.dep_ in {"prep", "acl", "relcl"}]
    pieces = []
    for member in group:
        tokens = {t.i for t in own(member)} | beside(member, group)
        asides = [c for c in member.children if c.dep_ in {"relcl", "acl", "appos"} and c.i > member.i]
        tokens |= {i for c in asides for i in with_comma(c)}
        if member != head:
            left = [c for c in member.children if c.i < member.i and c.dep_ not in {"cc", "punct"}]
            if not any(c.dep_ in {"det", "poss", "nummod"} for c in left) and (
                not left or member.tag_ == head.tag_ == "NN"
            ):
                tokens |= {t.i for c in shared for t in c.subtree}
            if member.tag_ == head.tag_ and not any(c.dep_ in {"det", "poss", "nummod", "amod"} for c in left):
                tokens |= {t.i for c in adjectives for t in c.subtree}
            tokens |= {i for c in after for i in with_comma(c)}
        if member != end and of and not any(c.dep_ == "prep" and c.i < end.i for c in member.children):
            tokens |= {t.i for c in of for t in c.subtree}
        pieces.append(sorted(tokens))
    return pieces


FOLLOWING = {"prep", "acl", "amod", "relcl"}


def beside(member: Any, group: list[Any]) -> set[int]:
    """ "the nature and severity of the crime, the …": a pair within a list shares its article and what follows it."""
    place = group.index(member)
    if len(group) < 3:
        return set()
    for one, other in zip(group, group[1:], strict=False):
        joined = one.i + 2 == first_own(other) == other.i and one.doc[one.i + 1].dep_ == "cc"
        if not joined or one == group[-2] and any(one.doc[g.i + 1].text == "," for g in group[:-2]):
            continue
        if member == other:
            left = [c for c in one.children if c.dep_ in {"det", "poss"} and c.i < one.i]
            right = [c for c in one.children if c.dep_ in FOLLOWING and c.i > other.i]
            return {t.i for c in (*left, *right) for t in c.subtree}
        if member == one and place + 1 < len(group):
            right = [c for c in other.children if c.i > other.i and c.dep_ in FOLLOWING]
            return {t.i for c in right for t in c.subtree}
    return set()


def _alike(head: Any, group: list[Any]) -> bool:
    """Whether the conjuncts are of one kind and each is whole, as far as the parse tells."""
    kinds = {"PROPN": "NOUN", "PRON": "NOUN"}
    kind = {kinds.get(m.pos_, m.pos_) for m in group}
    if (len(kind) > 1 and not (head.dep_ == "acomp" and kind <= {"ADJ", "VERB"})) or kind & {"NUM", "DET"}:
        return False
    if any(c.isdigit() for m in group for c in m.text) and not all(m.like_num for m in group):
        return False  # "M1, M2, and M4 leukemias"
    if any(m.pos_ == "PRON" for m in group) or ("ADV" in kind) != (head.dep_ == "advmod"):
        return False
    doc, starts = head.doc, [min(t.i for t in own(m)) for m in group]
    before = doc[first(head) - 1] if first(head) else None
    if head.dep_ not in SUBJECTS and before is not None and before.text == ",":
        return False  # more likely the middle of a longer list
    if doc[starts[0]].pos_ == "NUM" or (before is not None and before.lower_ in {"between", "-", "/"}):
        return False
    if any(doc[i - 1].text in {"-", "/"} for i in [*starts, *(m.i for m in group)] if i) or doc[head.i + 1].text == "-":
        return False
    if "NOUN" in kind and len(group) == 2 and doc[starts[1] - 1].dep_ == "cc" and doc[starts[1] - 2].text == ",":
        return False  # "A, and B" is the end of a longer list
    if head.dep_ == "advmod" and any(len(own(m)) > 2 for m in group):
        return False
    if head.dep_ == "amod":
        if "NOUN" in kind:
            return False
        counted = head.head.tag_ in {"NNS", "NNPS"} and any(c.dep_ == "nummod" for c in head.head.children)
        return not counted and not any(m.tag_ in {"JJR", "JJS", "VBG"} for m in group)
    return True


def _one_name(head: Any, group: list[Any]) -> bool:
    """ "the Department of Health and Labor", "student and worker protests", "the use of trial and error"."""
    if head.dep_ == "pobj" and head.head.lower_ in {"of", "for"} and head.head.head.pos_ == head.pos_ == "PROPN":
        return True
    if head.dep_ == "dobj" and head.head.dep_ == "pcomp" and head.head.head.lower_ == "of" and head.head.tag_ == "VBG":
        return True
    second = group[1]
    compounds = [c for c in second.children if c.dep_ in {"compound", "nmod"} and c.i < second.i]
    beside = len(group) == 2 and head.i + 2 == first_own(second) and head.doc[head.i + 1].dep_ == "cc"
    alike = head.tag_ == "NN" and bool(compounds) and compounds[0].tag_ == "NN"
    bare = second.tag_ == "NN" and not any(c.dep_ in {"det", "poss", "amod", "nummod"} for c in head.children)
    return beside and alike and not bare


def first_own(member: Any) -> int:
    return min(t.i for t in own(member))


def _each(verb: Any) -> bool:
    """Whether what a verb says of "A and B" it says of each."""
    attribute = next((c for c in verb.children if c.dep_ == "attr"), None)
    several = attribute is not None and attribute.tag_ in {"NNS", "NNPS"}
    together = {t.lower_ for t in verb.subtree} & TOGETHER
    return not (several or together or collective(verb) or negated(verb)) and verb.pos_ in VERBAL
