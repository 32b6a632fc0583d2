"""Compare who does what in a claim with who does it in its sentence: form, roles, attachment, and what was cut off."""

from __future__ import annotations

from collections.abc import Iterator

from spacy.tokens import Doc, Token

from attribution.segmenters.english import tree
from attribution.segmenters.english.drafts import ADDED, Part
from attribution.segmenters.english.faithful import cut_off, is_imperative, is_sentence
from attribution.segmenters.english.repairs import repair
from attribution.text.parse import BE, lemma, parse

NOUNS = {"NOUN", "PROPN", "NUM"}
DANGLING = {"ADP", "DET", "CCONJ", "SCONJ"}


def fault(sentence: str, claim: str) -> str:
    """Return what is wrong with a claim beside its sentence; empty if nothing is found."""
    alone, doc = repair(parse(claim)), repair(parse(sentence))
    matches = _matches(alone, doc)
    if not _is_statement(alone, doc, matches):
        return "no sentence"
    draft = tuple(Part(matches[t.i].i if t.i in matches else ADDED, t.text) for t in alone)
    if next(cut_off(doc, draft), ""):
        return "cut off"
    for place, same in matches.items():
        if _changes_role(alone[place], same, matches):
            return f"another role: {same.text}"
    return ""


def _is_statement(alone: Doc, doc: Doc, matches: dict[int, Token]) -> bool:
    """Return True for a sentence: by its own parse, or because a verb follows its subject as in the sentence."""
    words = [t for t in alone if not t.is_punct]
    if not words or words[-1].pos_ in DANGLING or words[0].tag_ in {*tree.RELATIVE, "WRB"}:
        return False
    if is_sentence(alone.text):
        return True
    if is_imperative(next(alone.sents).root):
        return is_imperative(next(doc.sents).root)
    places = {same: place for place, same in matches.items()}
    return any(
        verb in places and place < places[verb] and _is_complete(verb, places)
        for place, same in matches.items()
        if same.dep_ in tree.NOMINAL_SUBJECTS
        for verb, _ in _roles(same)
    )


def _is_complete(verb: Token, places: dict[Token, int]) -> bool:
    """Return True if the claim has the verb with the auxiliaries that the sentence gives it."""
    return all(c in places for c in verb.children if c.dep_ in tree.AUXILIARIES)


def _matches(alone: Doc, doc: Doc) -> dict[int, Token]:
    """Return the sentence's word for each word of the claim that it has, by preference the one after the last."""
    found: dict[int, Token] = {}
    used: set[int] = set()
    last = -1
    for token in alone:
        if token.is_punct:
            continue
        same = [t for t in doc if t.i not in used and _is_same(t, token)]
        if same:
            best = min(same, key=lambda t: (t.i != last + 1, t.i < last, abs(t.i - last)))
            found[token.i] = best
            used.add(best.i)
            last = best.i
    return found


def _is_same(one: Token, other: Token) -> bool:
    verbal = one.pos_ in tree.VERBAL
    if one.lower_ == other.lower_:
        return verbal == (other.pos_ in tree.VERBAL) or "amod" in {one.dep_, other.dep_}
    return verbal and other.pos_ in tree.VERBAL and lemma(one.lower_) == lemma(other.lower_)


def _changes_role(word: Token, same: Token, matches: dict[int, Token]) -> bool:
    """Return True if the word of the claim depends on a predicate that it does not depend on in the sentence."""
    if same.pos_ == "VERB" and word.dep_ == "amod" != same.dep_:
        return True  # "was born in studied law"
    if same.dep_ == "amod" and word.dep_ in {"pobj", "dobj", "nsubj"}:
        return True  # "married in a French"
    if word.pos_ not in NOUNS and word.dep_ not in {"attr", "acomp"} or word.dep_ in {"compound", "nummod"}:
        return False
    verb, role = _role(word)
    if verb is None:
        return False
    described = tree.child(verb, {"attr", "acomp"}) if verb.lower_ in BE else None
    if described is not None:
        noun = matches.get(described.i)
        return role == "agent" and noun is not None and not _describes(noun, same)
    meant = matches.get(verb.i)
    if meant is None or meant.pos_ not in tree.VERBAL or same.pos_ not in NOUNS:
        return False
    if role == "other":
        return not _belongs_to(same, meant)
    holders = {t for t in same.doc for v, r in _roles(t) if v == meant and r == role}
    return bool(holders) and same not in holders and not any(h.pos_ in {"PRON", "NUM"} for h in holders)


def _belongs_to(noun: Token, verb: Token) -> bool:
    """Return True if the noun is in the clause of the verb, or in front of coordinated clauses."""
    clause = _clause(noun)
    while clause not in {None, verb} and clause is not None and clause.dep_ in {"dobj", "xcomp", "pcomp"}:
        clause = _clause(clause)
    if clause in {None, verb} or any(v == verb for v, _ in _roles(noun)):
        return True
    subject = tree.subject_of(clause) if clause is not None else None
    return subject is not None and noun.i < subject.i and clause is not None and verb in tree.conjuncts(clause)


def _describes(noun: Token, subject: Token) -> bool:
    """Return False if the sentence says the noun or adjective of something else than the subject."""
    about = {noun.head} if noun.dep_ in {"appos", "amod", "compound", "nmod"} else set()
    about |= {c for c in noun.children if c.dep_ == "appos"}
    if noun.dep_ == "amod":  # "a French painter" says so of whom it says the painter
        return _describes(noun.head, subject) if noun.head != subject else True
    if noun.dep_ in {"attr", "acomp"}:
        about |= {s for s in (tree.subject_of(noun.head),) if s is not None}
    named = {n for a in about for n in tree.conjuncts(a)} & set(subject.doc)
    return not named or subject in named or any(subject in list(n.subtree) for n in named if n.dep_ == "compound")


def _role(word: Token) -> tuple[Token | None, str]:
    return next(_roles(word), (None, ""))


def _roles(word: Token) -> Iterator[tuple[Token, str]]:
    """Yield the verbs that a noun depends on, each with its role: agent, patient or other; a passive is turned."""
    first = word
    while first.dep_ == "conj" and first.pos_ in NOUNS:
        first = first.head
    head = first.head
    if first.dep_ in tree.SUBJECTS:
        for verb in tree.conjuncts(head):
            if verb == head or tree.subject_of(verb) is None:
                yield verb, "patient" if _is_passive(verb, head) else "agent"
        for verb in head.children:
            if verb.dep_ == "advcl" and tree.subject_of(verb) is None:
                yield verb, "patient" if verb.tag_ == "VBN" else "agent"
    elif first.dep_ in {"dobj", "oprd"} and head.pos_ in tree.VERBAL:
        yield head, "patient"
    elif first.dep_ == "pobj" and head.dep_ == "agent":
        yield head.head, "agent"
    elif first.dep_ == "pobj" and (governor := _clause(head)) is not None:
        yield governor, "other"
    for clause in first.children:
        if clause.dep_ == "relcl":
            wh = tree.subject_of(clause)
            for verb in tree.conjuncts(clause) if wh is not None and wh.tag_ in tree.RELATIVE else ():
                yield verb, "patient" if _is_passive(verb, clause) else "agent"
        elif clause.dep_ == "acl":
            yield clause, "patient" if clause.tag_ == "VBN" else "agent"


def _is_passive(verb: Token, head: Token) -> bool:
    own = [c for c in verb.children if c.dep_ in tree.AUXILIARIES]
    shared = own or [c for c in head.children if c.dep_ in tree.AUXILIARIES and verb.tag_ == head.tag_]
    return any(c.dep_ == "auxpass" for c in shared)


def _clause(word: Token) -> Token | None:
    """Return the verb of the clause around a word."""
    return next((a for a in word.ancestors if a.pos_ in tree.VERBAL), None)
