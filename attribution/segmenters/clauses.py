"""Propositions from the dependency parse, without another model.

Coordinations are distributed: one statement for each clause, verb or member of a list. A sentence
that the rules are unsure of stays whole. The aim is atomic, coherent subclaims (W24 3.1).
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from functools import partial

from spacy.tokens import Doc, Token

from attribution.segmenters import WithoutLlm
from attribution.segmenters.english import tree
from attribution.segmenters.english.drafts import (
    LEXICON,
    Draft,
    covers,
    in_statements,
    parts,
    segment,
    trim,
    words,
)
from attribution.segmenters.english.scope import (
    Statement,
    gives_examples,
    is_joined_by_and,
    is_open,
    is_readable,
)
from attribution.text.parse import NOMINAL_SUBJECTS, SUBJECTS, VERBAL, root
from attribution.types import Segmented

MAX_CROSSED = 6  # statements from two lists side by side
# May stand before several clauses: "In 1990, Ann moved, and Ben left".
SETTING = {"prep", "advcl", "npadvmod", "advmod", "punct"}
# What a verb says of its subject.
OBJECTS = {"dobj", "attr", "ccomp", "xcomp", "oprd", "acomp", "dative"}
# Lists under these relations are divided.
LISTED = {"nsubj", "nsubjpass", "dobj", "pobj", "attr", "acomp", "oprd", "dative", "amod"}
KINDS = {"NOUN": "noun", "PROPN": "noun", "ADJ": "adjective"}


def split_clauses(statement: Statement) -> Iterator[list[Statement]]:
    """Split between clauses with subjects of their own.

    "In 1990, Ann moved, and Ben left" becomes "In 1990, Ann moved" and "In 1990, Ben left".

    Yields:
        The statements, if the sentence can be split at all.
    """
    head = statement.head
    inside = {part.i for part in statement.draft}
    group = [member for member in tree.conjuncts(head) if member.i in inside]
    if not tree.joining_words(group) <= {"and", "but", "so", "yet", ";"}:
        return
    clauses = [member for member in group if member != head and _is_clause(member)]
    setting = _setting(head)
    if not clauses or setting is None or words(statement.draft) & LEXICON["hedges"]:
        return
    if any(map(tree.is_conditional, _trailing(group))):
        return
    pieces: list[Statement] = []
    for clause in [head, *clauses]:
        below = [other for other in clauses if other != clause and other in clause.subtree]
        own = tree.indices_below(clause) - tree.indices_below(*below)
        draft = trim(tuple(part for part in statement.draft if part.i in own))
        while draft and draft[0].text.lower() in LEXICON["consequence"]:
            draft = trim(draft[1:])
        if clause != head:
            draft = (*setting, *draft)
        pieces.append(Statement(clause, draft))
    yield pieces


def _is_clause(verb: Token) -> bool:
    """Return True for a finite verb with a subject, without "because", "who" or the like."""
    has_mark = any(c.dep_ == "mark" or c.tag_ in {"WRB", "WP"} for c in verb.lefts)
    return tree.is_finite(verb) and tree.subject_of(verb) is not None and not has_mark


def _setting(head: Token) -> Draft | None:
    """Return the adverbials before the first subject, which hold for every clause.

    None if what stands there is something else.
    """
    subject = tree.subject_of(head)
    if subject is None:
        return None
    front: list[Token] = []
    for child in head.lefts:
        is_connective = child.dep_ == "cc" or child.lower_ in LEXICON["connectives"]
        if child.i < tree.first(subject) and not is_connective:
            front.append(child)
    kinds = {child.dep_ for child in front}
    if not kinds <= SETTING:
        return None
    if kinds <= {"punct"}:
        return ()
    return parts(head.doc[i] for i in tree.indices_below(*front))


def _trailing(group: list[Token]) -> list[Token]:
    """Return the adverbial clauses behind the verbs of a group."""
    clauses: list[Token] = []
    for member in group:
        clauses += [child for child in member.rights if child.dep_ == "advcl"]
    return clauses


def _groups(statement: Statement) -> Iterator[list[Token]]:
    """Yield the coordinations of a statement, each with at least two members in it.

    The first member is the head; the parser makes the others depend on it, directly or in a chain.
    """
    tokens = statement.tokens()
    inside = {token.i for token in tokens}
    for head in tokens:
        if head.dep_ == "conj" and head != statement.head and head.head.i in inside:
            continue  # a later member of a group
        group = [member for member in tree.conjuncts(head) if member.i in inside]
        if len(group) > 1:
            yield group


def split_verbs(statement: Statement) -> Iterator[list[Statement]]:
    """Split between verbs that share their subject.

    "He wrote films and died in 1980" becomes "He wrote films" and "He died in 1980".

    Yields:
        The statements that each coordination of verbs makes.
    """
    for group in _groups(statement):
        head = group[0]
        are_verbs = all(member.pos_ in VERBAL for member in group)
        if not are_verbs or not is_joined_by_and(group):
            continue
        if not is_open(head, statement) or any(map(tree.is_conditional, _trailing(group))):
            continue
        kept = _kept_by_verbs(group)
        crossed = 1 if head == statement.head else len(group)
        total = statement.lists * crossed
        if kept is not None and total <= MAX_CROSSED:
            pieces = _distributed(statement, group, kept)
            yield [piece._replace(lists=total) for piece in pieces]


def _kept_by_verbs(group: list[Token]) -> list[set[int]] | None:
    """Return for each verb its words and those that it shares; None if that is unclear.

    A verb shares the subject and what stands before it, the object of a later verb ("wrote and
    directed films") and auxiliaries ("has been built and opened").
    """
    head, last = group[0], group[-1]
    subject = tree.subject_of(head)
    if any(tree.subject_of(member) for member in group[1:]):
        is_reported = head.dep_ == "ccomp" and all(map(tree.subject_of, group))
        return [tree.own_words(member) for member in group] if is_reported else None
    front: list[Token] = []
    for child in head.lefts:
        is_before_subject = subject is not None and child.i <= subject.i
        if is_before_subject or child.dep_ == "mark" or child.lower_ in LEXICON["hedges"]:
            front.append(child)
    after = _behind(head, last)
    objects = [child for child in after if child.dep_ in OBJECTS]
    behind = tree.indices_below(*after)  # of the last one, but for objects
    kept: list[set[int]] = []
    for member in group:
        shared = [*front, *objects]
        if member != last and not objects:
            shared += _borrowed_objects(member, group)
        if member != head:
            auxiliaries = _shared_auxiliaries(member, head)
            if auxiliaries is None:
                return None
            shared += auxiliaries
        kept.append((tree.own_words(member) - behind) | tree.indices_below(*shared))
    kept[-1] |= behind
    return kept


def _behind(head: Token, last: Token) -> list[Token]:
    """Return the dependents of the first member that stand behind the last one."""
    return [c for c in head.rights if c.i > last.i and c.dep_ not in tree.JOINS]


def _shared_auxiliaries(member: Token, head: Token) -> list[Token] | None:
    """Return the auxiliaries that a verb takes from the first one; None if the two don't match.

    "It has been built and opened" shares "has been". "It was built and opens daily" shares none,
    and neither does "it was built and opened" if the parser takes "opened" for a past tense.
    """
    helping = [child for child in head.lefts if child.dep_ in tree.AUXILIARIES]
    own = {child.lower_ for child in member.lefts if child.dep_ in tree.AUXILIARIES}
    is_bare = (member.tag_, head.tag_) == ("VBP", "VB") and not own
    if tree.is_finite(member) and not is_bare:
        is_past = member.tag_ == "VBD" and not own  # or the participle of "has been … and …"
        fits = not is_past or all(verb.lower_ in {"was", "were"} for verb in helping)
        return [] if fits and tree.is_finite(head) else None
    if not own and not is_bare and member.tag_ != head.tag_:
        return None
    return [verb for verb in helping if verb.lower_ not in own]


def _borrowed_objects(verb: Token, group: list[Token]) -> list[Token]:
    """Return the object of a later verb, for one without: "wrote and directed films".

    Verbs that take no object, such as "sleep", borrow none.
    """
    has_complement = any(child.dep_ not in {*tree.JOINS, "punct"} for child in verb.rights)
    if has_complement or tree.lemma_of(verb.lower_, "VERB") in LEXICON["intransitive"]:
        return []
    for later in group:
        objects = [child for child in later.rights if child.dep_ in OBJECTS]
        if later.i > verb.i and objects:
            return objects
    return []


def split_lists(statement: Statement) -> Iterator[list[Statement]]:
    """Split between the members of a list.

    "She likes tea and cake" becomes "She likes tea" and "She likes cake".

    Yields:
        The statements that each list makes.
    """
    for group in _groups(statement):
        head = group[0]
        total = statement.lists * len(group)
        if head.dep_ not in LISTED or total > max(MAX_CROSSED, len(group)):
            continue
        steps = tree.path(head, statement.head)
        are_examples = any(gives_examples(step) for step in steps)
        if not is_joined_by_and(group) and not are_examples:
            continue
        if not is_open(head, statement) or not _are_alike(group):
            continue
        if not _holds_for_each(steps, statement):
            continue
        pieces: list[Statement] = []
        distributed = _distributed(statement, group, _kept_by_nouns(group))
        for member, piece in zip(group, distributed, strict=True):
            draft = piece.draft
            if head.dep_ in NOMINAL_SUBJECTS:
                draft = tree.agree(draft, head.head, member)
            pieces.append(piece._replace(draft=draft, lists=total))
        yield pieces


def _kept_by_nouns(group: list[Token]) -> list[set[int]]:
    """Return for each noun its words and those that it shares.

    They share the first one's article, and "of …" behind the last one: "the height and weight of
    the tower". What else follows the list belongs to the last one.
    """
    head, last = group[0], group[-1]
    articles = [child for child in head.lefts if child.dep_ in {"det", "poss"}]
    after = _behind(head, last)
    shared: list[Token] = []
    have_own = any(map(tree.has_determiner, group[1:]))
    if articles and not have_own and last.pos_ != "PROPN":
        of_all = [child for child in (*last.rights, *after) if child.lower_ == "of"]
        shared = [*articles, *of_all]
    behind = tree.indices_below(*after)
    common = tree.indices_below(*shared)
    kept = [(tree.own_words(member) - behind) | common for member in group]
    kept[-1] |= behind
    return kept


def _are_alike(group: list[Token]) -> bool:
    """Return True if the members are of one kind and each is whole: not "M1 and M2 leukemias"."""
    kinds = {KINDS.get(member.pos_) for member in group}
    if len(kinds) > 1 or None in kinds or words(parts(group)) & LEXICON["open_ended"]:
        return False
    if " ".join(member.lower_ for member in group) in LEXICON["fixed_pairs"]:
        return False
    if any(_is_code(member) for member in group) or _is_negative(group):
        return False
    head = group[0]
    if head.dep_ == "amod" and head.i > head.head.i:
        return False
    if _is_part_of_list(group) or any(_is_glued(member, head) for member in group):
        return False
    return not _is_one_name(group)


def _is_code(noun: Token) -> bool:
    """Return True for "A" and "M1"."""
    return len(noun.text) == 1 or any(map(str.isdigit, noun.text))


def _is_negative(group: list[Token]) -> bool:
    """Return True for "no tea or cake"."""
    below = tree.indices_below(*group)
    return any(group[0].doc[i].lower_ in LEXICON["negative"] for i in below)


def _is_part_of_list(group: list[Token]) -> bool:
    """Return True if the parser found only the middle or the end of a longer list."""
    head = group[0]
    if head.dep_ not in SUBJECTS and tree.is_after_comma(head):
        return True
    before = head.doc[: min(tree.own_words(group[1]))][-2:]
    return len(group) == 2 and [token.text for token in before] == [",", "and"]


def _is_glued(member: Token, head: Token) -> bool:
    """Return True if something else than "and" or a comma stands around a member."""
    doc = member.doc
    start = min(tree.own_words(member))
    before = doc[start - 1] if start else None
    around = {token.text for token in doc[member.i + 1 : member.i + 2]}
    if before is not None:
        around.add(before.text)
    if around & {"-", "/"}:
        return True
    return member != head and before is not None and before.tag_ in tree.NOUNS


def _is_one_name(group: list[Token]) -> bool:
    """Return True for members that make one name together.

    "The Department of Health and Labor", "web and mobile app development".
    """
    head = group[0]
    if head.dep_ == "pobj" and head.pos_ == head.head.head.pos_ == "PROPN":
        return True
    if len(group) != 2:
        return False
    first, second = map(_tags_of_modifiers, group)
    return "NN" in second - first


def _tags_of_modifiers(noun: Token) -> set[str]:
    """Return the tags of the nouns before a noun."""
    return {child.tag_ for child in noun.lefts if child.dep_ in {"compound", "nmod"}}


def _holds_for_each(steps: list[Token], statement: Statement) -> bool:
    """Return True if a list can be divided though its clause has an attribute.

    "The islands are Oahu and Maui" and "Ann and Ben are doctors" cannot: each member alone is no
    islands and no doctors.

    Args:
        steps: The tokens from the list up to the verb.
        statement: The statement with the list.
    """
    head, verb = steps[0], steps[-1]
    subject, attribute = tree.subject_of(verb), tree.child(verb, {"attr"})
    if head == subject and words(statement.draft) & LEXICON["together"]:
        return False
    if attribute is None or subject is None:
        return True
    if attribute in steps:
        return not tree.is_plural(subject)
    return head != subject or attribute.tag_ not in tree.PLURALS


def _asides(statement: Statement) -> set[int]:
    """Return the indices of phrases about the subject between commas, and of these commas.

    They are appositions and relative clauses: "Nash, who was a mathematician, …".
    """
    aside: set[int] = set()
    subject = tree.subject_of(statement.head)
    for phrase in subject.rights if subject else ():
        if phrase.dep_ not in {"appos", "relcl", "acl"} or not tree.is_after_comma(phrase):
            continue
        after = phrase.doc[phrase.right_edge.i + 1 :][:1].text
        if after == ",":
            below = tree.indices_below(phrase)
            aside |= below | {min(below) - 1, max(below) + 1}
    return aside


def _distributed(statement: Statement, group: list[Token], kept: list[set[int]]) -> list[Statement]:
    """Return the statement once for each member, with the words kept for it.

    What stands aside, "Nash, a mathematician, …", is said once.

    Args:
        statement: The statement with the coordination.
        group: The members, the first one being the head.
        kept: For each member, the indices of its words and of those that it shares.
    """
    head = group[0]
    region = tree.indices_below(head)
    aside = _asides(statement)
    pieces: list[Statement] = []
    for member, indices in zip(group, kept, strict=True):
        left_out = region - indices
        if pieces:
            left_out |= aside
        draft = trim(statement.without(left_out))
        verb = member if head == statement.head else statement.head
        pieces.append(statement._replace(head=verb, draft=draft))
    return pieces


# --- the segmenter ---


MAX_STATEMENTS = 12  # of a sentence
RULES = (split_clauses, split_verbs, split_lists)  # in this order
RELATIVE = {"which", "who", "whom", "whose", "that", "where"}


class Clauses(WithoutLlm):
    """Segmenter `clauses`."""

    def segment(self, question: str, answer: str, stop: threading.Event | None = None) -> Segmented:
        """Split the answer into claims, in its order."""
        return segment(answer, partial(in_statements, split=split), stop)


def split(doc: Doc) -> list[Draft]:
    """Split one sentence into statements that together hold all its content words.

    Returns:
        Nothing if it stays whole.
    """
    if not is_readable(doc):
        return []
    waiting = [Statement(root(doc), parts(doc))]
    done: list[Statement] = []
    while waiting:
        statement = waiting.pop(0)
        pieces = _apply_first_rule(statement)
        if pieces and len(done) + len(waiting) + len(pieces) <= MAX_STATEMENTS:
            waiting = [*pieces, *waiting]
        else:
            done.append(statement)
    drafts = [_without_connective(statement.draft) for statement in done]
    return drafts if covers(doc, drafts) else []


def _without_connective(draft: Draft) -> Draft:
    """Drop "However," at the beginning."""
    has_connective = draft[0].text.lower() in LEXICON["connectives"] and draft[1].text == ","
    return draft[2:] if has_connective else draft


def _apply_first_rule(statement: Statement) -> list[Statement]:
    for rule in RULES:
        for pieces in rule(statement):
            if all(map(_is_sentence, pieces)):
                return pieces
    return []


def _is_sentence(statement: Statement) -> bool:
    """Return True for a subject before a finite verb."""
    if len(statement.draft) < 3 or statement.draft[0].text.lower() in RELATIVE:
        return False
    tokens = statement.tokens()
    finite = [n for n, token in enumerate(tokens) if token.tag_ in tree.FINITE]
    nouns = [n for n, token in enumerate(tokens) if token.pos_ != "ADP"]
    return bool(finite) and bool(nouns) and nouns[0] < finite[-1]
