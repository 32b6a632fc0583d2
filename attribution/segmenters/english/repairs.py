"""Corrections of errors that the small parser makes often. They rest on agreement: a finite verb is
coordinated with a
finite verb, and "that aims" refers to one thing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from spacy.tokens import Doc, Token

from attribution.segmenters.english import tree

Column = Literal["head", "dep", "tag"]
Change = tuple[int, Column, int | str]  # token, column, new value


def repair(doc: Doc) -> Doc:
    """The parse with its usual errors corrected, one kind after the other; the tokens stay the
    same.
    """
    for rule in REPAIRS:
        changes = [change for token in doc for change in rule(token)]
        if changes:
            doc = _apply(doc, changes)
    return doc


def _apply(doc: Doc, changes: list[Change]) -> Doc:
    heads, deps, tags = [t.head.i for t in doc], [t.dep_ for t in doc], [t.tag_ for t in doc]
    for place, column, value in changes:
        if column == "head":
            heads[place] = int(value)
        else:
            (deps if column == "dep" else tags)[place] = str(value)
    for place in range(len(doc)):  # a correction that closes a circle is dropped
        seen, at = {place}, place
        while heads[at] != at:
            at = heads[at]
            if at in seen:
                return doc
            seen.add(at)
    words, spaces, pos = (
        [t.text for t in doc],
        [bool(t.whitespace_) for t in doc],
        [t.pos_ for t in doc],
    )
    for place, column, value in changes:
        if column == "tag":
            pos[place] = "NOUN" if value == "NN" else "VERB" if pos[place] == "ADJ" else pos[place]
    return Doc(doc.vocab, words, spaces, heads=heads, deps=deps, tags=tags, pos=pos)


def _attach(token: Token, head: Token | None) -> list[Change]:
    """A conjunct moved to another head, together with the comma and "and" before it."""
    if head is None:
        return []
    start = tree.first(token)
    joins = [
        t
        for t in token.doc[max(0, start - 2) : start]
        if t.head == token.head and t.dep_ in {"cc", "punct"}
    ]
    return [(t.i, "head", head.i) for t in (token, *joins)]


def _finite_conjunct(token: Token) -> list[Change]:
    """ "helps prevent harm and enables …": a finite verb is coordinated with a finite verb, not
    with an infinitive.
    """
    if (
        token.dep_ != "conj"
        or not tree.is_finite(token)
        or tree.is_finite(token.head)
        or token.head.pos_ not in tree.VERBAL
    ):
        return []
    if any(c.dep_ in tree.SUBJECTS and c.tag_ in tree.RELATIVE for c in token.children):
        return []
    return _attach(
        token, next((a for a in token.head.ancestors if tree.is_finite(a) and a.i < token.i), None)
    )


def _nearest_infinitive(token: Token) -> list[Change]:
    """ "help artists hone A, find B and reach C", "a plan to renew A, save B, and help C": of the
    nearest one.
    """
    head = token.head
    if (
        token.dep_ != "conj"
        or token.tag_ not in {"VB", "VBP"}
        or head.tag_ not in {"VB", "VBP", "VBZ", "VBD"}
    ):
        return []
    if (
        any(c.dep_ in {*tree.SUBJECTS, *tree.AUXILIARIES} for c in token.children)
        or head.dep_ == "conj"
    ):
        return []
    inner = [
        t for t in head.subtree if head.i < t.i < token.i and t.tag_ == "VB" and t.dep_ != "conj"
    ]
    if (
        not inner
        or token in inner[-1].subtree
        or inner[-1].dep_ not in {"ccomp", "xcomp", "acl", "relcl", "advcl"}
    ):
        return []
    bare = inner[-1].dep_ in {"ccomp", "xcomp"} and not any(
        c.lower_ == "to" for c in inner[-1].children
    )
    listed = tree.after_comma(token) and tree.child(token, {"conj"}) is not None
    return _attach(token, inner[-1]) if bare or listed else []


def _listed_apposition(token: Token) -> list[Change]:
    """ "stability, low cost, and strength": not an apposition but the middle of a list."""
    if token.dep_ != "appos" or token.pos_ != "NOUN" or token.head.pos_ != "NOUN":
        return []
    if tree.child(token, {"relcl", "acl"}) is not None or _article(token) != _article(token.head):
        return []
    nouns = (token,) if tree.has_determiner(token) else (token, token.head)
    listed = any(c.dep_ == "conj" and c.i > token.i for noun in nouns for c in noun.children)
    return [(token.i, "dep", "conj")] if listed and tree.after_comma(token) else []


def _listed_titles(token: Token) -> list[Change]:
    """ "the lawyer Jaggers, the convict Magwitch, and the friend Pocket": a list of titles, not of
    one's names.
    """
    name = token.head
    if (
        token.dep_ not in {"conj", "appos"}
        or name.dep_ != "appos"
        or name.pos_ != "PROPN"
        or tree.after_comma(name)
    ):
        return []
    alike = token.pos_ == name.head.pos_ == "NOUN" and _article(token) == _article(name.head) != ""
    listed = alike and tree.child(name, {"conj"}) is not None
    return [*_attach(token, name.head), (token.i, "dep", "conj")] if listed else []


def _subject_of_conjunct(token: Token) -> list[Change]:
    """ "works at Baidu and his interests include learning": the subject of the verb behind it."""
    verb = token.nbor() if token.i + 1 < len(token.doc) else token
    lost = (
        verb.dep_ == "conj"
        and verb.tag_ in {"VBZ", "VBP"}
        and tree.child(verb, tree.SUBJECTS) is None
    )
    joined = token.doc[tree.first(token) - 1]
    if (
        token.dep_ != "conj"
        or token.tag_ not in tree.NOUNS
        or not lost
        or joined.dep_ != "cc"
        or verb.head.i > token.i
    ):
        return []
    fits = tree.is_plural(token) == (verb.tag_ == "VBP") and verb not in token.subtree
    moved: list[Change] = [
        (token.i, "head", verb.i),
        (token.i, "dep", "nsubj"),
        (joined.i, "head", verb.head.i),
    ]
    return moved if fits else []


def _listed_gerund(token: Token) -> list[Change]:
    """ "by moving people, limiting their rights, and endangering their lives": the middle of a
    list.
    """
    first = next((t for t in token.doc[: token.i] if t.tag_ == "VBG" and t.dep_ == "pcomp"), None)
    if first is None or not tree.opens_list(token):
        return []
    return [(token.i, "head", first.i), (token.i, "dep", "conj")]


def _article(noun: Token) -> str:
    article = tree.child(noun, {"det", "poss"})
    return article.lower_.removesuffix("n") if article is not None else ""


def _passive_conjunct(token: Token) -> list[Change]:
    """ "has been signed by 197 and ratified by 190", "has hired two and found one": a participle."""
    if token.tag_ != "VBD" or token.dep_ != "conj" or token.head.tag_ != "VBN":
        return []
    passive = tree.child(token.head, {"auxpass"}) is not None
    perfect = any(c.lower_ in {"has", "have", "had", "been", "be"} for c in token.head.children)
    by = any(c.lower_ == "by" for c in token.children)
    own = tree.child(token, {*tree.SUBJECTS, *tree.AUXILIARIES}) is not None
    objects = [tree.child(verb, {"dobj"}) is not None for verb in (token.head, token)]
    fits = (perfect or by) and not objects[1] if passive else perfect and objects[0]
    return [(token.i, "tag", "VBN")] if fits and not own else []


def _past_tense(token: Token) -> list[Change]:
    """ "but her hard work paid off", "woke up and prepared tea": what has a subject or an object is
    no participle.
    """
    finite = (
        tree.child(token, {"nsubj"}) is not None and tree.child(token, tree.AUXILIARIES) is None
    )
    if token.dep_ == "pobj" and token.tag_ == "VB":
        return [(token.i, "tag", "NN")]  # "went to work"
    governs = (
        token.tag_ == "JJ" and token.head.tag_ == "VBD" and tree.child(token, {"dobj"}) is not None
    )
    finite = finite and token.tag_ == "VBN" and token.dep_ in {"ROOT", "conj"}
    return [(token.i, "tag", "VBD")] if finite or governs and token.dep_ == "conj" else []


def _present_tense(token: Token) -> list[Change]:
    """ "rods are made up of clumps and form needles": a base form coordinated with a present tense."""
    if (
        token.dep_ != "conj"
        or token.tag_ != "VB"
        or tree.child(token, {*tree.AUXILIARIES, "mark"}) is not None
    ):
        return []
    tags = {token.head.tag_, *(c.tag_ for c in token.head.children if c.dep_ in tree.AUXILIARIES)}
    return [(token.i, "tag", "VBP")] if "VBP" in tags and not tags & {"MD", "TO"} else []


def _clause_after_list(token: Token) -> list[Change]:
    """ "by Ann, Ben, and Carl, who wrote …": not about one in the middle of the list."""
    later = [
        t for t in token.head.subtree if t.dep_ == "conj" and token.head.i < t.i < tree.first(token)
    ]
    return (
        [(token.i, "head", later[-1].i)]
        if token.dep_ == "relcl" and later and later[-1].tag_ in tree.NOUNS
        else []
    )


def _relative_clause(token: Token) -> list[Change]:
    """ "a treaty on climate change that aims": about the noun that agrees in number and has an
    article.
    """
    wh = tree.child(token, tree.SUBJECTS)
    forms = [token, *(c for c in token.children if c.dep_ in tree.AUXILIARIES)]
    number = next((f.tag_ for f in forms if f.tag_ in {"VBZ", "VBP"}), None)
    if (
        token.dep_ != "relcl"
        or wh is None
        or wh.lower_ not in {"that", "which", "who"}
        or number is None
    ):
        return []
    noun = token.head
    nouns = [a for a in noun.ancestors if a.tag_ in tree.NOUNS and a.i < noun.i]
    if not _agrees(noun, number):
        above = next((a for a in nouns if _agrees(a, number)), None)
        return [(token.i, "head", above.i)] if above is not None else []
    bare = noun.dep_ == "pobj" and noun.tag_ == "NN" and not tree.has_determiner(noun)
    article = nouns and nouns[0].dep_ == "attr" and tree.is_indefinite(nouns[0])
    return [(token.i, "head", nouns[0].i)] if bare and article and _agrees(nouns[0], number) else []


def _agrees(noun: Token, number: str) -> bool:
    several = noun.tag_ in tree.PLURALS or tree.child(noun, {"conj"}) is not None
    return several == (number == "VBP")


REPAIRS: tuple[Callable[[Token], list[Change]], ...] = (
    _finite_conjunct,
    _nearest_infinitive,
    _listed_apposition,
    _listed_titles,
    _subject_of_conjunct,
    _listed_gerund,
    _passive_conjunct,
    _clause_after_list,
    _relative_clause,
    _present_tense,
    _past_tense,
)
