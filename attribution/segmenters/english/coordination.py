"""Split coordinations: one statement for each clause, verb or member of a list."""

from __future__ import annotations

from collections.abc import Iterator

from spacy.tokens import Token

from attribution.segmenters.english import tree
from attribution.segmenters.english.drafts import LEXICON, Draft, parts, trim, words
from attribution.segmenters.english.scope import (
    Statement,
    gives_examples,
    is_joined_by_and,
    is_open,
)

MAX_CROSSED = 6  # statements from two lists side by side
SETTING = {"prep", "advcl", "npadvmod", "advmod", "punct"}  # may stand before several clauses
OBJECTS = {"dobj", "attr", "ccomp", "xcomp", "oprd", "acomp", "dative"}
LISTED = {"nsubj", "nsubjpass", "dobj", "pobj", "attr", "acomp", "oprd", "dative", "amod"}
KINDS = {"NOUN": "noun", "PROPN": "noun", "ADJ": "adjective"}


def split_clauses(statement: Statement) -> Iterator[list[Statement]]:
    """ "In 1990, Ann moved, and Ben left" → "In 1990, Ann moved", "In 1990, Ben left"."""
    head, inside = statement.head, {part.i for part in statement.draft}
    group = [m for m in tree.conjuncts(head) if m.i in inside]
    if not tree.joining_words(group) <= {"and", "but", "so", "yet", ";"}:
        return
    clauses = [m for m in group if m != head and _is_clause(m)]
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
    has_mark = any(c.dep_ == "mark" or c.tag_ in {"WRB", "WP"} for c in verb.lefts)
    return tree.is_finite(verb) and tree.subject_of(verb) is not None and not has_mark


def _setting(head: Token) -> Draft | None:
    """Return the adverbials before the first subject, which hold for every clause; None if what
    stands there is something else.
    """
    subject = tree.subject_of(head)
    if subject is None:
        return None
    front = [c for c in head.lefts if c.i < tree.first(subject) and c.dep_ != "cc"]
    front = [c for c in front if c.lower_ not in LEXICON["connectives"]]
    if all(c.dep_ == "punct" for c in front):
        return ()
    if any(c.dep_ not in SETTING for c in front):
        return None
    return parts(t for c in front for t in c.subtree)


def _trailing(group: list[Token]) -> list[Token]:
    return [c for member in group for c in member.rights if c.dep_ == "advcl"]


def _groups(statement: Statement) -> Iterator[list[Token]]:
    """Yield the coordinations of a statement, each with at least two members in it."""
    tokens = statement.tokens()
    inside = {t.i for t in tokens}
    for head in tokens:
        if head.dep_ == "conj" and head != statement.head and head.head.i in inside:
            continue
        group = [m for m in tree.conjuncts(head) if m.i in inside]
        if len(group) > 1:
            yield group


def split_verbs(statement: Statement) -> Iterator[list[Statement]]:
    """ "He wrote films and died in 1980" → "He wrote films", "He died in 1980"."""
    for group in _groups(statement):
        head = group[0]
        if any(m.pos_ not in tree.VERBAL for m in group) or not is_joined_by_and(group):
            continue
        if not is_open(head, statement) or any(map(tree.is_conditional, _trailing(group))):
            continue
        kept = _kept_by_verbs(group)
        crossed = 1 if head == statement.head else len(group)
        if kept is not None and statement.lists * crossed <= MAX_CROSSED:
            pieces = _distributed(statement, group, kept)
            yield [piece._replace(lists=statement.lists * crossed) for piece in pieces]


def _kept_by_verbs(group: list[Token]) -> list[set[int]] | None:
    """Return for each verb its words and those that it shares; None if that is unclear."""
    head, last = group[0], group[-1]
    subject = tree.subject_of(head)
    if any(tree.subject_of(m) for m in group[1:]):
        is_reported = head.dep_ == "ccomp" and all(map(tree.subject_of, group))
        return [tree.own_words(m) for m in group] if is_reported else None
    front = [c for c in head.lefts if subject is not None and c.i <= subject.i]
    front += [c for c in head.lefts if c.dep_ == "mark" or c.lower_ in LEXICON["hedges"]]
    after = [c for c in head.rights if c.i > last.i and c.dep_ not in tree.JOINS]
    objects = [c for c in after if c.dep_ in OBJECTS]
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


def _shared_auxiliaries(member: Token, head: Token) -> list[Token] | None:
    """Return the auxiliaries that a verb takes from the first one; None if the two don't match."""
    helping = [c for c in head.lefts if c.dep_ in tree.AUXILIARIES]
    own = {c.lower_ for c in member.lefts if c.dep_ in tree.AUXILIARIES}
    is_bare = (member.tag_, head.tag_) == ("VBP", "VB") and not own
    if tree.is_finite(member) and not is_bare:
        is_past = member.tag_ == "VBD" and not own  # or the participle of "has been … and …"
        fits = not is_past or all(t.lower_ in {"was", "were"} for t in helping)
        return [] if fits and tree.is_finite(head) else None
    if not own and not is_bare and member.tag_ != head.tag_:
        return None
    return [c for c in helping if c.lower_ not in own]


def _borrowed_objects(verb: Token, group: list[Token]) -> list[Token]:
    """Return the object of a later verb, for one without: "wrote and directed films"."""
    if any(c.dep_ not in {*tree.JOINS, "punct"} for c in verb.rights):
        return []
    if tree.lemma_of(verb.lower_, "VERB") in LEXICON["intransitive"]:
        return []
    later = [[c for c in m.rights if c.dep_ in OBJECTS] for m in group if m.i > verb.i]
    return next(filter(None, later), [])


def split_lists(statement: Statement) -> Iterator[list[Statement]]:
    """ "She likes tea and cake" → "She likes tea", "She likes cake"."""
    for group in _groups(statement):
        head = group[0]
        total = statement.lists * len(group)
        if head.dep_ not in LISTED or total > max(MAX_CROSSED, len(group)):
            continue
        steps = tree.path(head, statement.head)
        are_examples = any(gives_examples(step) for step in steps)
        if not is_joined_by_and(group) and not are_examples:
            continue
        if is_open(head, statement) and _are_alike(group) and _holds_for_each(steps, statement):
            pieces = _distributed(statement, group, _kept_by_nouns(group))
            if head.dep_ in tree.NOMINAL_SUBJECTS:
                pieces = [
                    piece._replace(draft=tree.agree(piece.draft, head.head, member))
                    for member, piece in zip(group, pieces, strict=True)
                ]
            yield [piece._replace(lists=total) for piece in pieces]


def _kept_by_nouns(group: list[Token]) -> list[set[int]]:
    """Return for each noun its words and those that it shares: the first one's article, and "of …"
    behind the last one. What else follows the list belongs to the last one.
    """
    head, last = group[0], group[-1]
    articles = [c for c in head.lefts if c.dep_ in {"det", "poss"}]
    after = [c for c in head.rights if c.i > last.i and c.dep_ not in tree.JOINS]
    shared: list[Token] = []
    if articles and not any(map(tree.has_determiner, group[1:])) and last.pos_ != "PROPN":
        shared = [*articles, *(c for c in (*last.rights, *after) if c.lower_ == "of")]
    behind = tree.indices_below(*after)
    kept = [(tree.own_words(m) - behind) | tree.indices_below(*shared) for m in group]
    kept[-1] |= behind
    return kept


def _are_alike(group: list[Token]) -> bool:
    """Return True if the members are of one kind and each is whole: not "M1 and M2 leukemias"."""
    kinds = {KINDS.get(m.pos_) for m in group}
    if len(kinds) > 1 or None in kinds or words(parts(group)) & LEXICON["open_ended"]:
        return False
    if " ".join(m.lower_ for m in group) in LEXICON["fixed_pairs"]:
        return False
    if any(len(m.text) == 1 or any(map(str.isdigit, m.text)) for m in group):
        return False
    doc, head = group[0].doc, group[0]
    if {t.lower_ for m in group for t in m.subtree} & LEXICON["negative"]:
        return False
    if head.dep_ == "amod" and head.i > head.head.i:
        return False
    if head.dep_ not in tree.SUBJECTS and tree.is_after_comma(head):
        return False  # the middle of a longer list
    if len(group) == 2 and [t.text for t in doc[: min(tree.own_words(group[1]))][-2:]] == [
        ",",
        "and",
    ]:
        return False  # the end of a longer list
    for member in group:
        start = min(tree.own_words(member))
        before = doc[start - 1] if start else None
        after = doc[member.i + 1] if member.i + 1 < len(doc) else None
        if any(t is not None and t.text in {"-", "/"} for t in (before, after)):
            return False
        if member != group[0] and before is not None and before.tag_ in tree.NOUNS:
            return False  # neither "and" nor a comma between them
    return not _is_one_name(group)


def _is_one_name(group: list[Token]) -> bool:
    """Return True for "the Department of Health and Labor", "web and mobile app development"."""
    head = group[0]
    if head.dep_ == "pobj" and head.pos_ == head.head.head.pos_ == "PROPN":
        return True
    kinds = [{c.tag_ for c in m.lefts if c.dep_ in {"compound", "nmod"}} for m in group[:2]]
    return len(group) == 2 and "NN" in kinds[1] - kinds[0]


def _holds_for_each(steps: list[Token], statement: Statement) -> bool:
    """Return False for "the islands are Oahu and Maui" and "Ann and Ben are doctors"."""
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
    """Return the indices of phrases about the subject between commas, and of these commas."""
    aside: set[int] = set()
    subject = tree.subject_of(statement.head)
    for phrase in subject.rights if subject else ():
        after = phrase.doc[phrase.right_edge.i + 1 :][:1].text
        if (
            phrase.dep_ in {"appos", "relcl", "acl"}
            and tree.is_after_comma(phrase)
            and after == ","
        ):
            below = tree.indices_below(phrase)
            aside |= below | {min(below) - 1, max(below) + 1}
    return aside


def _distributed(statement: Statement, group: list[Token], kept: list[set[int]]) -> list[Statement]:
    """Return the statement once for each member, with the words kept for it.

    What stands aside, "Nash, a mathematician, …", is said once.
    """
    head = group[0]
    region = tree.indices_below(head)
    aside = _asides(statement)
    pieces: list[Statement] = []
    for member, indices in zip(group, kept, strict=True):
        draft = statement.without(region - indices | (aside if pieces else set()))
        pieces.append(
            statement._replace(
                head=member if head == statement.head else statement.head, draft=trim(draft)
            )
        )
    return pieces
