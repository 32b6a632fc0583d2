"""Check a claim against the tree of its sentence: parsed again, its words keep their heads,
relations and operators.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from functools import lru_cache
from itertools import pairwise

from spacy.tokens import Doc, Token

from attribution.segmenters.english import tree
from attribution.segmenters.english.drafts import ADDED, CONTENT, LEXICON, Draft, indices, to_text
from attribution.segmenters.english.repairs import repair
from attribution.segmenters.english.scope import applies_to_each, are_examples
from attribution.text.parse import lemma, parse

# Relations between which the parser wavers without a difference in meaning.
_ALIKE = {
    **dict.fromkeys(tree.SUBJECTS, "subject"),
    **dict.fromkeys(("aux", "auxpass"), "auxiliary"),
    **dict.fromkeys(("dobj", "attr", "oprd", "acomp", "dative"), "object"),
    **dict.fromkeys(
        ("compound", "nmod", "amod", "det", "predet", "poss", "nummod", "quantmod"), "modifier"
    ),
    **dict.fromkeys(("advmod", "npadvmod"), "adverbial"),
    **dict.fromkeys(("prep", "agent", "prt"), "preposition"),
    **dict.fromkeys(("relcl", "acl", "xcomp", "ccomp", "advcl"), "clause"),
    **dict.fromkeys(("pobj", "pcomp"), "complement"),
    **dict.fromkeys(("conj", "appos"), "list"),
}
_SKIPPED = {"punct", "cc", "preconj", "dep", "intj", "meta", "case", "mark"}
_REPORTED = {
    "ccomp",
    "xcomp",
    "pcomp",
    "csubj",
    "csubjpass",
}  # what stands under these is not asserted by itself
_MODIFYING = {
    "relcl",
    "acl",
    "appos",
    "amod",
    "advcl",
    "poss",
    "ccomp",
}  # what becomes a predicate of its own
_PREDICATE = {"attr", "acomp", "dobj", "conj"}
_ADJUNCTS = {
    "prep",
    "agent",
    "prt",
    "advmod",
    "npadvmod",
    "neg",
    "aux",
    "auxpass",
    "dobj",
    "xcomp",
    "acomp",
}
_THEIR = {"their", "its", "his", "her"}
_WAVERING = {
    "prep",
    "agent",
    "advcl",
    "xcomp",
    "acl",
    "advmod",
    "npadvmod",
}  # of unclear attachment


DANGLING = {"ADP", "DET", "CCONJ", "SCONJ", "PART"}
SUBJECT_LIKE = {"NOUN", "PROPN", "PRON", "VERB", "DET", "NUM", "ADJ"}


def is_sound(doc: Doc, draft: Draft) -> bool:
    """Return True if the draft can stand as a sentence."""
    tokens = [doc[i] if i >= 0 else None for i, _ in draft]
    present = [t for t in tokens if t is not None]
    if len(draft) < 3 or not any(t.pos_ in CONTENT for t in present):
        return False
    inside = indices(draft)
    if any(
        _is_made_finite(t, t.text) and t.head.i in inside and t.doc[max(t.i - 1, 0)].text != ","
        for t in present
    ):
        return False  # "a director directed films": a past tense mistaken for a participle
    if any(a.text.lower() == b.text.lower() for a, b in pairwise(draft)):
        return False  # "states, the the are": words of a clause that was left out
    if any(a.text in tree.BE and b.text.lower() == "hence" for a, b in pairwise(draft)):
        return False  # "…, hence their importance": a consequence mistaken for an apposition
    if any(_is_hole(t, inside) or _is_cut_name(t, inside, draft[-1].i) for t in doc):
        # "copper is more reactive, it can displace iron": what joins two clauses was left out
        return False
    opening, end = tokens[0], tokens[-1]
    if opening is not None:
        relative = (
            opening.lower_ in {"which", "who", "that"}
            and opening.tag_ != "DT"
            and opening.dep_ != "det"
        )
        fronted = any(
            t.lower_ in {"which", "whom"} and t.dep_ in {"pobj", "pcomp"} for t in present[:2]
        )
        if relative or fronted or opening.pos_ == "CCONJ":
            return False
    whole = (
        end is None or end.i == len(doc) - 1 or doc[end.i + 1].is_punct or end.pos_ not in DANGLING
    )
    root = next(doc.sents).root
    if is_imperative(root) and not any(t.dep_ in tree.SUBJECTS and t.head == root for t in present):
        commanded = any(t in tree.conjuncts(root) and t.tag_ == "VB" for t in present)
        return whole and commanded and is_faithful(doc, draft)
    verbs = [
        n
        for n, (token, part) in enumerate(zip(tokens, draft, strict=True))
        if (
            part.text in {*tree.BE, "has", "have", "had"}
            if token is None
            else token.tag_ in tree.FINITE or _is_made_finite(token, part.text)
        )
    ]
    if not verbs or not any(t is not None and t.pos_ in SUBJECT_LIKE for t in tokens[: verbs[-1]]):
        return False
    return whole and (
        len(draft) == len(doc) or is_sentence(to_text(doc, draft)) and is_faithful(doc, draft)
    )


@lru_cache(maxsize=1024)
def is_sentence(text: str) -> bool:
    """Return True if the parser finds one sentence with a subject and a finite verb."""
    sentences = list(parse(text).sents)
    root = sentences[0].root
    subject = tree.child(root, tree.SUBJECTS)
    if (
        len(sentences) != 1
        or subject is None
        or not tree.is_finite(root)
        or subject.tag_ in tree.RELATIVE
        or root.tag_ == "MD"
    ):
        return False
    if any(
        c.dep_ == "mark" or c.tag_ == "WRB" or c.dep_ == "ccomp" and tree.subject_of(c)
        for c in root.lefts
    ):
        return False  # a subordinate clause, or two clauses with a comma between them
    commas = [
        t for t in root.doc[subject.i : root.i] if t.text == "," and t.head in {subject, root}
    ]
    return len(commas) != 1  # a single comma separates the subject from its verb


def is_imperative(root: Token) -> bool:
    """Return True for a base form preceded by adverbials at most: "If it bleeds, press on it"."""
    before = {c.dep_ for c in root.lefts}
    return (
        root.tag_ == "VB"
        and root.dep_ == "ROOT"
        and before <= {"advmod", "punct", "cc", "prep", "advcl"}
    )


def _is_made_finite(verb: Token, text: str) -> bool:
    """Return True for a participle that a rule has made finite, or a finite verb mistaken for a
    participle.
    """
    if (
        verb.tag_ == "VBN"
        and verb.dep_ in {"acl", "advcl"}
        and tree.child(verb, {"dobj"}) is not None
    ):
        return True
    return verb.tag_ == "VBG" and text != verb.text


def _is_hole(join: Token, inside: set[int]) -> bool:
    """Return True for a conjunction that was left out between words that were kept, the second of
    them a subject's.
    """
    if (
        join.i in inside
        or join.dep_ not in {"cc", "mark", "advmod"}
        or not 0 < join.i < len(join.doc) - 1
    ):
        return False
    before = join.i - 1 - (join.nbor(-1).text == ",")
    after = join.nbor()
    return {before, after.i} <= inside and any(
        t.dep_ in tree.SUBJECTS for t in (after, *after.ancestors)
    )


def _is_cut_name(token: Token, inside: set[int], last: int) -> bool:
    """Return True for a part of a name whose next word was left out, "SM" of "the SM U-30", and for
    "War I." within.
    """
    if token.i not in inside:
        return False
    if token.i + 1 == len(token.doc):
        return token.text.endswith(".") and token.i != last
    after = token.nbor()
    named = (
        token.pos_ == "PROPN"
        and after.head == token
        and (after.text[0].isupper() or after.text[0].isdigit())
    )
    return named and after.i not in inside


def is_faithful(doc: Doc, draft: Draft) -> bool:
    """Return True if the sentence asserts the draft: nothing above it was cut off, and its tree is
    the sentence's.
    """
    return not any(True for _ in cut_off(doc, draft)) and not any(True for _ in changed(doc, draft))


def changed(doc: Doc, draft: Draft) -> Iterator[tuple[str, str, str]]:
    """Yield the kept words that have another part of speech, head or relation when the draft is
    parsed by itself.
    """
    alone = repair(parse(to_text(doc, draft)))
    if len(alone) - len(draft) not in {0, 1} or any(
        t.lower_.rstrip(".") != p.text.lower().rstrip(".")
        and {t.lower_, p.text.lower()} != tree.ARTICLES
        for t, p in zip(alone, draft, strict=False)
    ):
        yield "", "tokens", ""
        return
    inside = indices(draft)
    for place, part in enumerate(draft):
        if part.i == ADDED:
            continue
        before, after = doc[part.i], alone[place]
        if before.dep_ in _SKIPPED or after.dep_ in _SKIPPED or before.is_punct:
            continue
        tags = {before.tag_, after.tag_}
        if (
            before.pos_ in tree.VERBAL
            and after.pos_ not in tree.VERBAL
            and part.text == before.text
            and "VBG" not in tags
        ):
            yield before.text, before.tag_, after.tag_
        expected = _expected(before, inside)
        if expected is None or _is_new(before, after, inside):
            continue
        heads, relation = expected
        head = draft[after.head.i].i if after.head.i < len(draft) else ADDED
        if head == ADDED and not heads and after.head != after:
            continue  # part of a new predicate
        if head not in heads or after.head == after:
            if relation in _WAVERING and _is_contiguous(
                draft, {after.head.i, *_places(draft, heads)}, place
            ):
                continue  # the same words in the same order: the parser wavers
            if relation == "dobj" and _is_object_of_complement(after, draft, heads):
                continue  # "enables patients to walk"
            if relation == "prep" and head in {t.i for t in _nested_in(before)}:
                continue  # "died in a car crash in New Jersey": also where he died
            yield before.text, f"{relation}>{before.head.text}", f"{after.dep_}>{after.head.text}"
        elif (
            _ALIKE.get(relation, relation) != _ALIKE.get(after.dep_, after.dep_)
            and after.tag_ != "VBG"
        ):
            yield before.text, relation, after.dep_


def _is_new(before: Token, after: Token, inside: set[int]) -> bool:
    """Return True for a modifier that becomes a predicate, and for a noun that becomes the subject
    of one.
    """
    subject = after.dep_ in tree.SUBJECTS
    if before.dep_ in _MODIFYING:
        return subject or after.dep_ in _PREDICATE or after.head == after
    return subject and before.head.i not in inside and before.pos_ in {"NOUN", "PROPN", "PRON"}


def _nested_in(preposition: Token) -> Iterator[Token]:
    """Yield the word that governs the prepositional phrases around this one."""
    above = preposition.head
    while above.dep_ == "pobj":
        above = above.head.head
        yield above


def _places(draft: Draft, heads: set[int]) -> list[int]:
    return [place for place, part in enumerate(draft) if part.i in heads]


def _is_contiguous(draft: Draft, starts: set[int], end: int) -> bool:
    """Return True if nothing was left out between one of the places and the end."""
    return any(
        all(b.i == a.i + 1 for a, b in pairwise(draft[start : end + 1]))
        for start in starts
        if start < end
    )


def _is_object_of_complement(after: Token, draft: Draft, heads: set[int]) -> bool:
    verb = after.head
    return (
        after.dep_ in tree.SUBJECTS
        and verb.dep_ in {"ccomp", "xcomp"}
        and verb.head.i in _places(draft, heads)
    )


def _expected(token: Token, inside: set[int]) -> tuple[set[int], str] | None:
    """Return the heads that a kept word may have in the claim, and its relation; None if its
    construction is new.
    """
    first = token
    while first.dep_ == "conj" and first.head.i not in inside:
        first = first.head  # a conjunct takes the place of the one before it
    head = first.head
    if head == first:
        return None
    group = {t.i for t in _sharing(first)} & inside
    return (group, first.dep_) if group or first.dep_ in _ADJUNCTS else None


def _sharing(token: Token) -> list[Token]:
    """Return the coordinated words that may share this dependent: clauses with their own subject do
    not.
    """
    head = token.head
    subject = tree.subject_of(head)
    if head.dep_ == "conj" and subject is not None and token.i >= tree.first(subject):
        return [head]
    return tree.conjuncts(_group_head(head))


def _group_head(token: Token) -> Token:
    while token.dep_ == "conj":
        token = token.head
    return token


def cut_off(doc: Doc, draft: Draft) -> Iterator[str]:
    """Yield what the draft stands under and leaves out: a denial, a condition, a report, a
    restriction, an "or".
    """
    inside = indices(draft)
    for token in (doc[i] for i in sorted(inside)):
        if token.head.i not in inside and (token.pos_ in tree.VERBAL or not is_definite(token)):
            yield from _above(token, inside)
        ordinal = (
            token.tag_ == "RBS" or token.lower_ in {"first", "last"} and token.dep_ == "advmod"
        )
        if ordinal and any(
            c.dep_ in {"prep", "npadvmod"} and c.i not in inside for c in token.head.rights
        ):
            yield token.text  # "first used in English in 1890"
    for token in doc:
        if _is_operator(token):
            scope = _scope(token)
            lost = token.i not in inside and any(
                t.i in inside and t.pos_ in tree.VERBAL for t in scope
            )
            hedge = (
                token.lower_ in LEXICON["hedges"]
            )  # what is said to be so, is said to be so of each part
            if (
                lost
                or not hedge
                and any(_is_partial(head, inside, scope) for head in scope if head.dep_ != "conj")
            ):
                yield token.text
        elif token.i not in inside and _is_condition(token) and not _is_one_case(token):
            condition = {t.i for t in token.subtree}
            shared = (
                token.i > token.head.i and tree.subject_of(token.head) is None
            )  # "won and set a record if …"
            head = _group_head(token.head) if shared else token.head
            if any(t.i in inside - condition for t in _shared_scope(head, token)):
                yield _mark(token)
        if token.dep_ != "conj" and _is_partial(token, inside):
            yield from _kept_together(token, inside)


def _kept_together(head: Token, inside: set[int]) -> Iterator[str]:
    """Yield why a part of a coordination does not say what the whole says: "A or B", "both A and
    B", "A and B met".
    """
    group = tree.conjuncts(head)
    start = min(t.i for t in tree.own_words(group[1]))
    if (
        len(group) == 2
        and head.pos_ == "NOUN"
        and [t.text for t in head.doc[start - 2 : start]] == [",", "and"]
    ):
        yield "and"  # "A, and B" is the end of a longer list
    owners = [{c.lower_ for c in m.lefts if c.dep_ == "poss"} for m in group]
    kept = [m.i in inside for m in group]
    for n, own in enumerate(owners):
        if kept[n] and any(not kept[k] and own & _THEIR - owners[k] for k in range(n)):
            yield "their"  # "eats plants and their seeds"
    joins = {c.lower_ for m in group for c in m.children if c.dep_ == "cc"}
    if joins & {"or", "nor"} and not are_examples(head):
        yield "or"
    if head.dep_ in tree.SUBJECTS and head.pos_ not in tree.VERBAL and not applies_to_each(head):
        yield head.head.text
    before = {c.lower_ for c in head.lefts} | {
        t.lower_ for t in head.doc[max(0, tree.first(head) - 1) : tree.first(head)]
    }
    if before & {"both", "either"}:
        yield "both"


def _above(token: Token, inside: set[int]) -> Iterator[str]:
    """Climb from the head of the draft to the root, or to a definite noun: what describes it is
    presupposed.
    """
    while token.head != token:
        above = token.head
        if (
            above.i in inside
            or token.dep_ != "conj"
            and any(m.i in inside for m in _sharing(token))
        ):
            return
        if token.dep_ in _REPORTED and not _is_stated(token):
            yield above.text
        if _is_condition(token):
            yield _mark(token)
        if token.dep_ in {"appos", "relcl", "acl", "amod"} and is_definite(above):
            return
        token = above


def is_definite(noun: Token) -> bool:
    if noun.pos_ not in {"NOUN", "PROPN", "PRON"}:
        return False
    every = (
        tree.is_indefinite(noun) or tree.child(noun, {"predet"}) is not None
    )  # "all the paintings that …"
    return noun.pos_ != "NOUN" or tree.has_determiner(noun) and not every


def _is_stated(clause: Token) -> bool:
    """Return True for a clause that its sentence asserts beside another: behind it come no words of
    saying.
    """
    head = clause.head
    if clause.i < head.i and next(clause.subtree).lower_ == "having":
        return True
    if clause.dep_ != "ccomp" or clause.i > head.i:
        return clause.dep_ == "ccomp" and any(c.lower_ == "why" for c in clause.lefts)
    told = lemma(head.lower_) in LEXICON["telling"]
    return (
        any(t.lower_ in {";", "so", "thus", "therefore"} for t in clause.doc[clause.i : head.i])
        or not told
        and tree.child(head, {"dobj", "attr", "acomp", "oprd", "auxpass"}) is not None
    )


def _is_condition(clause: Token) -> bool:
    """Return True for a clause with "if", "unless", "when" or the inversion of "Had the dam broken,
    …".
    """
    if clause.dep_ == "prep":
        return clause.lower_ == "without" and clause.i < clause.head.i
    if clause.dep_ != "advcl":
        return False
    marks = {c.lower_ for c in clause.children if c.dep_ in {"mark", "advmod"} and c.i < clause.i}
    if marks & (LEXICON["conditional"] | LEXICON["conditions"]):
        return True
    subject = tree.child(clause, tree.SUBJECTS)
    start = next(iter(clause.subtree))
    return start.lower_ in {"had", "should", "were"} and (subject is None or start.i < subject.i)


def _mark(condition: Token) -> str:
    """Return the word that opens a condition: "unless", "Had" of "Had the dam broken"."""
    return next(
        (c.text for c in condition.lefts if c.dep_ in {"mark", "advmod"}),
        next(condition.subtree).text,
    )


def _is_one_case(clause: Token) -> bool:
    """Return True for a condition without which the sentence holds too: "especially when", "even
    if".
    """
    return any(c.lower_ in {"especially", "particularly", "even"} for c in clause.lefts)


def _is_operator(token: Token) -> bool:
    if token.dep_ == "preconj":
        return False  # "not only A but also B"
    return (
        token.lower_ in LEXICON["negative"]
        or token.dep_ == "neg"
        or token.lower_ in LEXICON["hedges"]
    )


def _scope(operator: Token) -> list[Token]:
    """Return the words on which a negation, a restriction or a hedge bears."""
    noun = (
        operator
        if operator.pos_ in {"NOUN", "PRON"} or operator.dep_ in tree.SUBJECTS
        else operator.head
    )
    above = noun
    while above.dep_ not in tree.SUBJECTS and above.head != above and above.pos_ not in tree.VERBAL:
        above = above.head
    if above.dep_ in tree.SUBJECTS:
        return _shared_scope(above.head, above)
    return _shared_scope(noun, operator) if noun.pos_ in tree.VERBAL else list(noun.subtree)


def _shared_scope(verb: Token, part: Token) -> list[Token]:
    """Return the words on which a part of a clause bears: in front of its subject, on the clauses
    beside too.
    """
    subject = tree.subject_of(verb)
    if subject is not None and part.i < tree.first(subject):
        return list(verb.subtree)
    others = [m for m in tree.conjuncts(verb) if m.i > verb.i and tree.subject_of(m) is not None]
    return tree.subtree(verb, *others)


def _is_partial(head: Token, inside: set[int], scope: Collection[Token] | None = None) -> bool:
    """Return True for a coordination of which the draft keeps one part and leaves out another, both
    in the scope.
    """
    group = [m for m in tree.conjuncts(head) if scope is None or m in scope]
    kept = sum(m.i in inside for m in group)
    return 0 < kept < len(group)
