"""Split coordinations of clauses, verbs and nouns, and examples: one statement for each conjunct or
example.
"""

from __future__ import annotations

from collections.abc import Iterator

from spacy.tokens import Doc, Token

from attribution.segmenters.english import tree
from attribution.segmenters.english.drafts import LEXICON, Draft, indices, trim, words
from attribution.segmenters.english.faithful import is_sound
from attribution.segmenters.english.scope import (
    applies_to_each,
    are_examples,
    gives_examples,
    in_adjunct,
    in_main_clause,
    is_closed,
    is_fronted,
    joined_by_and,
    measured_noun,
)
from attribution.text.parse import lemma

MAX_STATEMENTS = 9  # statements from one clause
MAX_CROSSED = 6  # statements from two coordinations side by side
NOMINAL = {
    *tree.NOMINAL_SUBJECTS,
    "dobj",
    "pobj",
    "attr",
    "amod",
    "acomp",
    "oprd",
    "prep",
    "advmod",
    "dative",
}


def distribute(doc: Doc, draft: Draft) -> list[Draft]:
    """Return the draft once for each conjunct; the draft alone if there is nothing to distribute.

    Two coordinations in one clause are multiplied if both belong to the main clause ("A and B like
    C and D"), up to
    six statements; a coordination in an adjunct ("while keeping C and D") is then left alone.
    """
    if {"only", "but"} <= words(draft):  # not only A but also B
        return [draft]
    done: list[Draft] = []
    waiting: list[tuple[Draft, tuple[Token, ...], int]] = [
        (draft, (), 1)
    ]  # with heads already distributed, and times
    while waiting:
        current, before, times = waiting.pop(0)
        inside = indices(current)
        for head in _heads(doc, inside):
            crossed = any(
                head not in m.subtree for h in before for m in tree.conjuncts(h) if m.i in inside
            )
            if head in before or (before and not in_main_clause(head, inside)):
                continue
            if crossed and in_adjunct(head, inside):
                continue
            variants = list(_variants(head, current))
            total = times * len(variants) if crossed else len(variants)
            few = len(done) + len(waiting) + len(variants) <= MAX_STATEMENTS and (
                not crossed or total <= MAX_CROSSED
            )
            if len(variants) > 1 and few and all(is_sound(doc, v) for v in variants):
                waiting = [(v, (*before, head), total) for v in variants] + waiting
                break
        else:
            done.append(current)
    return done


def _heads(doc: Doc, inside: set[int]) -> list[Token]:
    """Return the heads of coordinations with more than one conjunct in the draft, the outermost
    first.
    """
    tokens = [doc[i] for i in sorted(inside)]
    heads = [
        t
        for t in tokens
        if t.dep_ != "conj" and any(c.dep_ == "conj" and c.i in inside for c in t.children)
    ]
    return sorted(heads, key=lambda t: (not in_main_clause(t, inside), len(list(t.ancestors)), t.i))


def _variants(head: Token, draft: Draft) -> Iterator[Draft]:
    inside = indices(draft)
    group = [m for m in tree.conjuncts(head) if m.i in inside]
    if not (joined_by_and(group) or are_examples(head)):
        return
    if is_closed(head, inside) or is_fronted(head, inside) or tree.in_brackets(head):
        return
    if any(m.lower_ in LEXICON["open_ended"] for m in group):
        return
    verbal = head.pos_ in tree.VERBAL and all(m.pos_ in tree.VERBAL for m in group)
    pieces = (
        verb_pieces(head, group)
        if verbal
        else noun_pieces(head, group)
        if head.dep_ in NOMINAL
        else []
    )
    if not pieces:
        return
    if not verbal:
        group, pieces = _paired(group, pieces)
    shared = {t.i for t in shared_words(head, group)} if verbal else set()
    replaced = {t.i for m in group for t in m.subtree} - shared
    positions = [n for n, part in enumerate(draft) if part.i in replaced]
    start, end = positions[0], positions[-1] + 1
    between = any(i not in replaced and i >= 0 for i, _ in draft[start:end])
    if between or _goes_on(head.doc, draft, start, end):
        return
    if (
        not verbal
        and draft[end : end + 1]
        and draft[end].text in {"into", "onto", "to"}
        and draft[end].i >= 0
    ):
        return  # "imperialism and the integration into the economy": of the last alone
    if are_examples(head) and any(gives_examples(c) for m in group for c in m.children):
        return  # "spaces like yards, as well as areas like attics"
    if start and draft[start - 1].text.lower() == "both":
        start -= 1
    if words(draft[max(0, start - 4) : start]) & {"both", "either"}:
        return
    here = {part.i: part for part in draft}
    conjunct_parts = [trim(tuple(here[i] for i in piece if i in here)) for piece in pieces]
    whole = head.head.head if head.dep_ == "pobj" and head.head.lower_ == "of" else head
    subject = tree.subject_of(whole.head)
    several = subject is not None and tree.is_plural(subject)
    one = subject is not None and tree.is_indefinite(whole) and tree.has_determiner(subject)
    if (
        whole.dep_ in {"attr", "acomp"}
        and whole.tag_ in tree.NOUNS
        and several
        and (whole is head or one)
    ):
        # "the bases of DNA are adenine, …", "the products are a solution of salt and iron":
        # together
        return
    singular = head.dep_ in tree.NOMINAL_SUBJECTS and not verbal
    counted = (
        head.dep_ == "attr" and tree.child(head.head, {"expl"}) is not None
    )  # "there is one equation"
    for conjunct, middle in zip(group, conjunct_parts, strict=True):
        after = draft[end:]
        if singular:  # "tea and milk are all sold"
            after = tuple(p for p in after if p.text != "all" or head.doc[p.i].head != head.head)
        if middle and middle[0].text.lower() == "both":
            middle = middle[1:]
        if (
            head.dep_ in tree.SUBJECTS
            and not verbal
            and after
            and after[0].text == ","
            and "," not in words(middle)
        ):
            after = after[1:]  # the comma that ended the list
        variant = draft[:start] + middle + after
        yield tree.agree(variant, head.head, conjunct) if singular or counted else variant


def _paired(group: list[Token], pieces: list[list[int]]) -> tuple[list[Token], list[list[int]]]:
    """Keep pairs within a list together: "increased risks and costs, and reduced gains"."""
    before = [m.doc[max(0, min(t.i for t in tree.own_words(m)) - 2) :][:2] for m in group[1:]]
    joined = [n for n, two in enumerate(before, 1) if two[-1].dep_ == "cc"]
    close = [n for n in joined if before[n - 1][0].text != ","]
    if close == joined:
        close = close[:-1]
    for n in reversed(close):
        between = range(pieces[n - 1][-1] + 1, pieces[n][0])
        pieces = [
            *pieces[: n - 1],
            sorted({*pieces[n - 1], *between, *pieces[n]}),
            *pieces[n + 1 :],
        ]
        group = [*group[:n], *group[n + 1 :]]
    return group, pieces


def _goes_on(doc: Doc, draft: Draft, start: int, end: int) -> bool:
    """Return True if the surrounding words look like part of the coordination that the parser
    attached elsewhere.
    """
    if start and draft[start - 1].text.lower() in {"and", "or", "nor"}:
        return True
    if draft[end - 1].text.lower() in {"and", "or", ","}:
        return True
    comma = draft[end : end + 1] and draft[end].text == ","
    following = draft[end + bool(comma) : end + 2]
    if following and following[0].text.lower() in {"and", "or", "but", "nor"}:
        return True
    token = doc[following[0].i] if comma and following and following[0].i >= 0 else None
    return (
        token is not None
        and token.tag_ in {"VB", "NN", "NNS", "JJ"}
        and token.dep_ not in tree.SUBJECTS
    )


OBJECTS = {"dobj", "attr", "ccomp", "xcomp", "oprd", "acomp", "dative"}
JOINS = {"punct", "conj", "cc"}


def shared_words(head: Token, group: list[Token]) -> list[Token]:
    """Return the words that coordinated verbs share: the subject, what precedes it, and
    subordinating conjunctions.
    """
    subject = tree.subject_of(head)
    own_marks = any(tree.child(m, {"mark"}) is not None for m in group[1:])
    shared = [c for c in head.children if c.dep_ == "mark" and not own_marks]
    if any(tree.child(m, tree.SUBJECTS) is not None for m in group[1:]):
        return [t for c in shared for t in c.subtree]
    if subject is not None:
        shared += [c for c in head.children if c.i <= subject.i]
        shared += [c for c in head.lefts if c.text in {",", ";"}]
    if _has_clausal_subject(head):  # "giving them separately helps"
        shared += [c for c in head.lefts if c.dep_ == "advmod"]
    return [t for c in shared for t in c.subtree]


def verb_pieces(head: Token, group: list[Token]) -> list[list[int]]:
    """Return the token indices of each conjunct, with the auxiliaries it needs; empty if the rules
    are unsure.
    """
    subjects = [tree.child(m, tree.SUBJECTS) is not None for m in group]
    if any(subjects[1:]) and not (all(subjects) and head.dep_ == "ccomp"):
        return []
    if head.dep_ == "pcomp" and any(
        c.dep_ == "dobj" and c.tag_ == "PRP" for m in group[1:] for c in m.rights
    ):
        return []  # "by picking herbs and drying them"
    shared = {t.i for t in shared_words(head, group)}
    conditions = [c for m in group for c in m.rights if c.dep_ == "advcl" and _is_marked(c)]
    if _is_bound(head, group, shared) or any(
        not _is_conditional(c) or c.i < group[-1].i for c in conditions
    ):
        return []
    trailing = [c for c in head.children if c.i > group[-1].i and c.dep_ not in JOINS]
    helping = [c for c in head.children if c.dep_ in tree.AUXILIARIES]
    pieces: list[list[int]] = []
    for member in group:
        tokens = {t.i for t in tree.own_words(member)} - shared - _indices(trailing)
        tokens -= {c.i for c in member.children if c.text in {".", "!"}}
        if member != head and not any(subjects[1:]):
            if not _shares_auxiliaries(member, head, helping):
                return []
            if _is_untensed(member, head) and tree.child(member, tree.AUXILIARIES) is None:
                tokens |= {a.i for a in helping}
        pieces.append(sorted(tokens))
    if any(is_unfinished(head.doc, piece) for piece in pieces) or not _with_objects(
        group, pieces, bool(conditions)
    ):
        return []
    for (
        condition
    ) in conditions:  # "… and closes if it rains": the condition applies to the other as well
        for piece in pieces[:-1]:
            piece += tree.with_comma(condition)
    for clause in trailing:  # belongs to the last; the others are true without it
        for piece in pieces if clause.dep_ in OBJECTS else pieces[-1:]:
            piece += tree.with_comma(clause)
    return pieces


def _is_bound(head: Token, group: list[Token], shared: set[int]) -> bool:
    """Return True if the verbs share a clause that says something else of each."""
    deps = {c.dep_ for c in head.children}
    if any(c.dep_ == "ccomp" and c.i in shared for c in head.children):
        return True  # "…, she said and left"
    it = any(c.lower_ == "it" and c.i in shared for c in head.children)
    if it and deps & {"acomp", "attr"} and deps & {"ccomp", "xcomp"}:
        return True  # "It is clear that prices rise and should be watched": prices should
    passive = any(tree.child(m, {"auxpass"}) is not None for m in group[1:])
    return passive and _has_clausal_subject(
        head
    )  # "that climbing is wrong and is encouraged": not the climbing


def _with_objects(group: list[Token], pieces: list[list[int]], conditional: bool) -> bool:
    """Add an object that verbs share to each ("wrote and directed films"); False if it is unclear
    whose it is.
    """
    for n, member in enumerate(group[:-1]):
        if pieces[n][-1] != member.i or lemma(member.lower_) in LEXICON["intransitive"]:
            continue
        rights = ([c for c in v.rights if c.dep_ not in JOINS] for v in group[n + 1 :])
        following = next(filter(None, rights), [])
        if (
            conditional
            or following
            and not any(c.dep_ in OBJECTS for c in following)
            and any(c.dep_ in {"prep", "agent"} for c in following)
        ):
            return False  # "rest and take naps when the baby sleeps"
        if any(c.dep_ in OBJECTS for c in following):
            pieces[n] += sorted(_indices(following))
    return True


def is_unfinished(doc: Doc, piece: list[int]) -> bool:
    """Return True for a list whose end is not in the piece: "buy equipment, real estate"."""
    for token in (doc[i] for i in piece):
        listed = token.dep_ == "conj" or (
            token.dep_ == "appos" and token.pos_ != "PROPN" and tree.child(token, {"det"}) is None
        )
        ended = any(doc[k].dep_ == "cc" for k in piece if k > token.head.i)
        if (
            listed
            and not ended
            and token.head.i in piece
            and doc[tree.first(token) - 1].text == ","
        ):
            return True
    return False


def _is_marked(clause: Token) -> bool:
    return any((c.dep_ == "mark" and c.lower_ != "for") or c.tag_ == "WRB" for c in clause.children)


def _is_conditional(clause: Token) -> bool:
    return any(
        c.lower_ in LEXICON["conditional"] and c.i == tree.first(clause) for c in clause.children
    )


def _has_clausal_subject(verb: Token) -> bool:
    subject = tree.subject_of(verb)
    return subject is not None and subject.dep_ in {"csubj", "csubjpass"}


def _shares_auxiliaries(member: Token, head: Token, helping: list[Token]) -> bool:
    """Return True if the auxiliaries of the first verb fit the other one, or it has its own."""
    if tree.child(member, tree.AUXILIARIES) is not None:
        return True
    if tree.is_negated(head):
        return False
    if _is_untensed(member, head):
        governed = (
            head.dep_ in {"xcomp", "pcomp", "ccomp", "advcl", "acl", "relcl"} or head.tag_ == "VB"
        )
        return member.tag_ in {head.tag_, "VBP"} and (bool(helping) or governed)
    if helping:
        past = member.tag_ == "VBD" and all(a.lower_ in {"was", "were"} for a in helping)
        return past or member.tag_ in {"VBZ", "VBP"}
    return member.tag_ == head.tag_ or not {member.tag_, head.tag_} & {"VB", "VBN", "VBG"}


def _is_untensed(member: Token, head: Token) -> bool:
    """Return True if the verb is untensed; after an infinitive, so is a form tagged as a plural
    present.
    """
    return member.tag_ in {"VB", "VBN", "VBG"} or (member.tag_ == "VBP" and head.tag_ == "VB")


DETERMINERS = {"det", "poss"}
QUANTIFIERS = {*DETERMINERS, "nummod"}
FURTHER = {"even", "also", "finally"}
RELATIONAL = (
    "ular",
    "ic",
    "ical",
)  # ends of adjectives that say what something is of: "cellular", "medical"
COMPLETING = {"about", "against", "to", "toward", "towards"}


def _indices(tokens: list[Token]) -> set[int]:
    """Return the indices of the subtrees of these tokens."""
    return {t.i for token in tokens for t in token.subtree}


def noun_pieces(head: Token, group: list[Token]) -> list[list[int]]:
    """Return the token indices of each conjunct, with the shared determiner and "of …"; empty if
    unsure.
    """
    if not _are_alike(head, group) or _is_one_name(head, group):
        return []
    if head.dep_ in tree.SUBJECTS and not applies_to_each(head):
        return []
    if " ".join(conjunct.lower_ for conjunct in group) in LEXICON["fixed_pairs"]:
        return []
    shared = [c for c in head.lefts if c.dep_ in DETERMINERS and c.lower_ != "both"]
    if any(tree.has_determiner(m) for m in group[1:]):
        shared = []  # each has its own, or needs none
    adjectives = [c for c in head.lefts if c.dep_ == "amod"]
    adjectives = [
        c
        for c in adjectives
        if c.lower_ in LEXICON["shared_adjectives"] or c.tag_ in {"VBN", "JJR"}
    ]
    end = group[-1]
    pair = len(group) == 2 or bool(
        shared
    )  # "the principles, concepts and patterns of systems thinking"
    bare = (
        tree.child(head, {"amod", "compound"}) is not None and not shared
    )  # "human will and affirmation of life"
    of = [
        c
        for c in end.children
        if c.lower_ == "of" and c.dep_ == "prep" and pair and not bare and not any(end.lefts)
    ]
    after = [c for c in head.children if c.i > end.i and c.dep_ in {"prep", "acl", "relcl"}]
    if (
        end.tag_ == "NN"
        and any(c.lower_ in COMPLETING for c in after)
        or _shares_modifier(head, group)
    ):
        return []  # "grief and curiosity about the truth": of the last alone?
    between = any(c.dep_ == "prep" and c.i < group[1].i for c in head.rights)
    if between and (
        any(c.dep_ == "prep" for c in after)
        or shared
        and not any(map(tree.has_determiner, group[1:]))
    ):
        # "the impact of technology and the revolution on work", "ask a rate during the call,
        # drawing"
        return []
    if len({m.lower_ for m in group}) < len(group):
        if len(group) == 2:
            return []  # "mixed groups or groups with one aim"
        after = []
    pieces = []
    for member in group:
        tokens = {t.i for t in tree.own_words(member)}
        clauses = [c for c in member.rights if c.dep_ in {"relcl", "acl", "appos"}]
        if member != head:
            clauses += after
            left = [c for c in member.lefts if c.dep_ not in {"cc", "punct"}]
            deps = {c.dep_ for c in left}
            if not deps & QUANTIFIERS:
                alike = member.tag_ == head.tag_ == "NN"
                names = member.pos_ == head.pos_ == "PROPN"
                tokens |= _indices(
                    [c for c in shared if not (left or names) or (alike and c.lower_ != "the")]
                )
            if member.tag_ == head.tag_ and not deps & {*QUANTIFIERS, "amod"}:
                tokens |= _indices(adjectives)
        tokens |= {i for c in clauses for i in tree.with_comma(c)}
        if member != end and not any(c.dep_ == "prep" and c.i < end.i for c in member.children):
            tokens |= _indices(of)
        if member != head:  # "include A, even B, and other C"
            lists = gives_examples(head.head) or lemma(head.head.lower_) == "include"
            tokens -= {
                c.i for c in member.lefts if c.lower_ in FURTHER or (lists and c.lower_ == "other")
            }
        pieces.append(sorted(tokens))
    if head.dep_ == "prep" and any(len(piece) < 2 for piece in pieces):
        return []  # "commuting to and from work"
    return pieces


def _shares_modifier(head: Token, group: list[Token]) -> bool:
    """Return True for "knee injuries and conditions", "cellular functions and interactions": of the
    knee, of cells.
    """
    bare = len(group) == 2 and head.tag_ == group[1].tag_ == "NNS" and not any(group[1].lefts)
    kinds = (
        c
        for c in head.lefts
        if c.dep_ == "compound" or c.dep_ == "amod" and c.lower_.endswith(RELATIONAL)
    )
    return bare and any(c.pos_ != "PROPN" for c in kinds)


def _are_alike(head: Token, group: list[Token]) -> bool:
    """Return True if, judging by the parse, the conjuncts are of one kind and each is complete."""
    kinds = {{"PROPN": "NOUN", "PRON": "NOUN"}.get(m.pos_, m.pos_) for m in group}
    if len(kinds) > 1 and not (head.dep_ in {"acomp", "amod"} and kinds <= {"ADJ", "VERB"}):
        return False
    if (
        kinds & {"NUM", "DET"}
        or any(m.pos_ == "PRON" for m in group)
        or ("ADV" in kinds) != (head.dep_ == "advmod")
    ):
        return False
    if any(c.isdigit() for m in group for c in m.text) and not all(m.like_num for m in group):
        return False  # "M1, M2, and M4 leukemias"
    if all(len(m.text) == 1 for m in group):
        return False  # "channels A and B"
    doc, starts = head.doc, [min(t.i for t in tree.own_words(m)) for m in group]
    before = doc[tree.first(head) - 1].lower_ if tree.first(head) else ""
    if head.dep_ not in tree.SUBJECTS and before == ",":
        return False  # more likely the middle of a longer list
    counted = all(any(c.dep_ in QUANTIFIERS for c in m.lefts) for m in group)
    if doc[starts[0]].pos_ == "NUM" and not counted or before in {"between", "-", "/"}:
        return False
    if any(doc[i - 1].tag_ in tree.NOUNS for i in starts[1:]):
        return False  # neither "and" nor a comma between them
    if any(doc[i - 1].text in {"-", "/"} for i in starts if i) or any(
        doc[m.i + 1].text == "-" for m in group[:-1]
    ):
        return False
    superlative = [any(c.tag_ == "JJS" for c in m.children) for m in group]
    if head.dep_ == "pobj" and any(superlative) and not superlative[0]:
        return False  # "a writer in English and the greatest dramatist"
    if head.dep_ == "advmod":
        return all(len(tree.own_words(m)) <= 2 for m in group)
    if head.dep_ == "amod":
        counted = head.head.tag_ in tree.PLURALS and tree.child(head.head, {"nummod"}) is not None
        return not (
            counted or "NOUN" in kinds or any(m.tag_ in {"JJR", "JJS", "VBG"} for m in group)
        )
    return True


def _is_one_name(head: Token, group: list[Token]) -> bool:
    """Return True if the coordination forms one name or term.

    "the Department of Health and Labor", "student and worker protests", "the use of trial and
    error",
    "a less prominent fill and key light".
    """
    graded = any(c.dep_ == "amod" and tree.child(c, {"advmod"}) is not None for c in head.children)
    second = group[1]
    if graded and len(group) == 2 and tree.child(second, DETERMINERS) is None:
        return True
    if (
        head.dep_ == "pobj"
        and head.head.lower_ in {"of", "for"}
        and head.head.head.pos_ == head.pos_ == "PROPN"
    ):
        return True
    if (
        head.dep_ == "dobj"
        and head.head.dep_ == "pcomp"
        and head.head.head.lower_ == "of"
        and head.head.tag_ == "VBG"
    ):
        return True
    compounds = [c for c in second.lefts if c.dep_ in {"compound", "nmod"}]
    beside = (
        len(group) == 2
        and head.i + 2 == min(t.i for t in tree.own_words(second))
        and head.doc[head.i + 1].dep_ == "cc"
    )
    alike = head.tag_ == "NN" and bool(compounds) and compounds[0].tag_ == "NN"
    bare = second.tag_ == "NN" and tree.child(head, {*QUANTIFIERS, "amod"}) is None
    return beside and alike and not bare


def split_examples(doc: Doc, draft: Draft) -> list[Draft]:
    """Return the statement without its examples and one with each example as the general noun; else
    the draft alone.
    """
    inside = indices(draft)
    for token in (doc[i] for i in sorted(inside)):
        aside = token.head.i in inside and tree.after_comma(token) and not tree.in_brackets(token)
        if gives_examples(token) and aside and (drafts := _substitute(token, draft, inside)):
            return drafts
    return [draft]


def _general_noun(preposition: Token) -> Token | None:
    """Return the noun that the examples can replace, because the statement holds for each; None if
    it may not.
    """
    noun = measured_noun(preposition.head)
    if {noun.lower_, preposition.head.lower_} & LEXICON["roles"] or noun.dep_ not in {
        "dobj",
        "pobj",
    }:
        return None
    if noun.dep_ == "pobj" and noun.head.dep_ not in {"prep", "agent"}:
        return None
    verb = noun.head if noun.dep_ == "dobj" else noun.head.head
    chosen_from = verb.pos_ not in tree.VERBAL or verb.lower_ in LEXICON["choosing"]
    return None if chosen_from or tree.is_negated(noun) or len(tree.conjuncts(noun)) > 1 else noun


def _substitute(preposition: Token, draft: Draft, inside: set[int]) -> list[Draft]:
    noun, example = _general_noun(preposition), tree.child(preposition, {"pobj"})
    if noun is None or example is None or example.lower_ == "those" or noun.i not in inside:
        return []
    if is_closed(noun, inside) or is_fronted(noun, inside) or not in_main_clause(noun, inside):
        return []
    group = tree.conjuncts(example)
    pieces = noun_pieces(example, group) if len(group) > 1 else [[t.i for t in example.subtree]]
    if pieces and len(group) > 1:
        _, pieces = _paired(group, pieces)
    phrase, taken = {t.i for t in noun.subtree}, {t.i for t in preposition.subtree}
    places = [n for n, (i, _) in enumerate(draft) if i in phrase]
    start, end = places[0], places[-1] + 1
    if draft[end - 1].text == "," and not (end < len(draft) and draft[end].text == "to"):
        end -= 1
    after = any(i > max(taken) for i in phrase)
    if not pieces or after or any(i not in phrase and i >= 0 for i, _ in draft[start:end]):
        return []
    if end < len(draft) and draft[end].text.lower() in {"and", "or", "but", "nor"}:
        return []
    here = {part.i: part for part in draft}
    plain = trim(
        (*(p for p in draft[:end] if p.i not in taken and p.i != min(taken) - 1), *draft[end:])
    )
    each = [
        trim((*draft[:start], *(here[i] for i in piece if i in here), *draft[end:]))
        for piece in pieces
    ]
    return [plain, *each]
