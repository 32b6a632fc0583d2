"""Compare who does what in a claim with who does it in its sentence: form, roles, attachment, and
what was cut off.
"""

from __future__ import annotations

from collections.abc import Iterator

from spacy.tokens import Doc, Token

from attribution.segmenters.english import tree
from attribution.segmenters.english.drafts import ADDED, LEXICON, DraftWord
from attribution.segmenters.english.faithful import cut_off, is_imperative, is_sentence
from attribution.segmenters.english.repairs import repair
from attribution.text.parse import BE, lemma, parse
from attribution.types import quoted

NOUNS = {"NOUN", "PROPN", "NUM"}
JOINED_DENIALS = {"neither", "nor", "or"}  # "nor" is an "or" to `cut_off`
OPERATORS = (
    LEXICON["conditional"]
    | LEXICON["conditions"]
    | LEXICON["negative"]
    | LEXICON["hedges"]
    | {"or", "both"}
)
UNIVERSAL = {"all", "every", "each", "always"}
DANGLING = {"ADP", "DET", "CCONJ", "SCONJ"}


def fault(sentence: str, claim: str) -> str:
    """Return what is wrong with a claim beside its sentence; empty if nothing is found."""
    alone, doc = repair(parse(claim)), repair(parse(sentence))
    matches = _matches(alone, doc)
    if not _is_statement(alone, doc, matches):
        return "no sentence"
    draft = tuple(DraftWord(matches[t.i].i if t.i in matches else ADDED, t.text) for t in alone)
    lost = [word for word in cut_off(doc, draft) if not _is_kept(word, alone, doc, matches)]
    if (
        word := next(iter(lost), "")
        or _turned_to_and(alone, doc, matches)
        or _lost_no(alone, matches)
    ):
        return f"leaves out {quoted(word.lower())}"
    said = {t.lower_ for t in doc}
    if word := next(
        (t.lower_ for t in alone if t.lower_ in UNIVERSAL and not said & UNIVERSAL), ""
    ):
        return f"adds {quoted(word)}"
    for place, same in matches.items():
        if _changes_role(alone[place], same, matches) or _is_of_another(same, alone, matches):
            return f"another role: {same.text}"
    return ""


def _is_kept(word: str, alone: Doc, doc: Doc, matches: dict[int, Token]) -> bool:
    """Return True for what a claim may leave out: above what it takes for granted, or said
    elsewhere in the claim.
    """
    operator, said = word.lower(), {t.lower_ for t in alone}
    if operator in OPERATORS & said or operator == "both" and "either" in said:
        return True
    if operator in {"when", "once"} and all(_is_told(t.head) for t in doc if t.lower_ == operator):
        return True  # "when the emperor abdicated, he withdrew" is no condition
    if (
        _reports(alone)
        and operator not in LEXICON["conditions"] | LEXICON["negative"] | JOINED_DENIALS
    ):
        return True
    verb = next(alone.sents).root
    same = matches.get(verb.i)
    if same is not None and _is_presupposed(same) and word not in {t.text for t in same.subtree}:
        return True
    if any(
        t.dep_ == "neg" for t in alone
    ):  # "did not come", of "neither A nor B came" or "failed to come"
        return word.lower() in JOINED_DENIALS or lemma(word.lower()) in LEXICON["denying"]
    return lemma(word.lower()) in LEXICON["implying"]


def _is_presupposed(verb: Token) -> bool:
    """Return True for what the sentence takes for granted: "after leaving the navy", "until the ice
    broke".
    """
    if verb.dep_ == "pcomp":
        return verb.head.lower_ in {
            "after",
            "before",
            "since",
            "upon",
            "on",
            "by",
            "while",
            "despite",
            "besides",
        }
    marks = {c.lower_ for c in verb.lefts} if verb.dep_ in {"advcl", "relcl"} else set()
    return bool(
        marks & (LEXICON["concession"] | {"because", "since"})
        or marks & LEXICON["factual"]
        and _is_told(verb)
    )


def _is_told(verb: Token) -> bool:
    return verb.tag_ == "VBD" or any(
        c.tag_ == "VBD" for c in verb.children if c.dep_ in tree.AUXILIARIES
    )


def _reports(alone: Doc) -> bool:
    """Return True if the claim says that somebody says so."""
    return any(
        t.lower_ in LEXICON["hedges"]
        or t.dep_ in {"ccomp", "acl"}
        and t.i > t.head.i
        and (t.dep_ == "ccomp" or tree.child(t, {"mark"}))
        for t in alone
    )


def _turned_to_and(alone: Doc, doc: Doc, matches: dict[int, Token]) -> str:
    """Return "or" if the claim joins with "and" what the sentence joins with "or"."""
    for first, second in ((t.head, t) for t in alone if t.dep_ == "conj"):
        if {first.i, second.i} <= matches.keys() and "and" in {
            t.lower_ for t in alone[first.i : second.i]
        }:
            between = {t.lower_ for t in doc[matches[first.i].i : matches[second.i].i]}
            if "or" in between and "and" not in between:
                return "or"
    return ""


def _lost_no(alone: Doc, matches: dict[int, Token]) -> str:
    """Return "no" if the claim states what the sentence has none of."""
    denied = any(t.dep_ == "neg" or t.lower_ in LEXICON["negative"] for t in alone)
    none = any(
        c.lower_ == "no" and c.dep_ == "det" for same in matches.values() for c in same.lefts
    )
    return "no" if none and not denied else ""


def _is_statement(alone: Doc, doc: Doc, matches: dict[int, Token]) -> bool:
    """Return True for a sentence: by its own parse, or because a verb follows its subject as in the
    sentence.
    """
    words = [t for t in alone if not t.is_punct]
    if (
        not words
        or words[-1].pos_ in DANGLING
        and words[-1].dep_ != "prt"
        or words[-1].tag_ in tree.RELATIVE
    ):
        return False
    if words[-1].tag_ == "MD" and words[-1].lower_ not in {t.lower_ for t in doc[-2:]}:
        return False
    if words[-1].lower_ in {"the", *tree.ARTICLES} or any(
        _is_doubled(t) or _is_loose(t) for t in words
    ):
        return False
    if any(_is_second_verb(next(alone.sents).root, t, doc) for t in words if t.i not in matches):
        return False
    last = matches.get(words[-1].i)
    if (
        last is not None
        and last.dep_ in {"prep", "agent"}
        and tree.child(last, {"pobj", "pcomp"}) is not None
    ):
        return False  # "quarrelled with him over": its object was left out
    if _opens_alike(alone, doc, matches):
        return True
    root, opens = next(alone.sents).root, words[0]
    if opens.tag_ in {*tree.RELATIVE, "WRB"} and not (
        opens.tag_ == "WRB" and opens.head.dep_ == "advcl"
    ):
        return False
    if opens.dep_ == "mark" and opens.head == root:
        return False
    misread = any(
        c.dep_ == "acl" and c.tag_ in tree.FINITE for c in root.rights
    )  # "whales breed" as a noun phrase
    if misread or is_sentence(alone.text):
        return True
    if is_imperative(root):
        return is_imperative(next(doc.sents).root)
    places = {same: place for place, same in matches.items()}
    return any(
        verb in places and place < places[verb] and _is_complete(verb, places)
        for place, same in matches.items()
        if alone[place].dep_ != "pobj"
        for verb, role in _roles(same)
        if role == "agent" or same.dep_ in tree.NOMINAL_SUBJECTS
    )


def _is_doubled(verb: Token) -> bool:
    """Return True for a finite verb beside that of its clause: "was escaped was to Lyon", "the
    judge fined left".
    """
    if verb.dep_ in tree.AUXILIARIES and verb.tag_ in tree.FINITE:  # "was has been"
        return any(
            c.i < verb.i and c.dep_ in tree.AUXILIARIES and c.tag_ in tree.FINITE
            for c in verb.head.lefts
        )
    if verb.dep_ in tree.NOMINAL_SUBJECTS and verb.pos_ in tree.VERBAL:
        return verb.tag_ in {"VBZ", "VBD"}
    alone = verb.dep_ in {"ccomp", "advcl", "dep"} and not tree.child(
        verb, {*tree.SUBJECTS, "mark", "advmod", "expl"}
    )
    return alone and verb.tag_ in tree.TENSED and verb.lower_ in {*BE, "has", "have", "had"}


def _is_second_verb(root: Token, noun: Token, doc: Doc) -> bool:
    """Return True for a verb of the sentence read as a noun before another verb: "the drug protects
    is against".
    """
    if noun.pos_ not in NOUNS or not 0 < noun.i < root.i or root.tag_ not in tree.FINITE:
        return False
    before = noun.nbor(-1).lower_
    return any(
        t.lower_ == noun.lower_ and t.pos_ == "VERB" and t.i and t.nbor(-1).lower_ == before
        for t in doc
    )


def _is_loose(relative: Token) -> bool:
    """Return True for "whom" without its clause: "she had quarrelled with whom"."""
    clauses = {"relcl", "ccomp", "pcomp", "csubj", "csubjpass", "advcl", "acl", "xcomp"}
    return relative.tag_ in {"WDT", "WP", "WP$"} and not any(
        t.dep_ in clauses for t in relative.ancestors
    )


def _opens_alike(alone: Doc, doc: Doc, matches: dict[int, Token]) -> bool:
    """Return True if the claim begins as its sentence does and keeps its main verb: "When it rains,
    it is wet".
    """
    root = next(doc.sents).root
    verb = next((place for place, same in matches.items() if same == root), None)
    opening = [place for place in range(min(3, len(doc), len(alone))) if not alone[place].is_punct]
    begins = all(place in matches and matches[place].i == place for place in opening)
    return verb is not None and begins and tree.is_finite(alone[verb])


def _is_complete(verb: Token, places: dict[Token, int]) -> bool:
    """Return True if the claim has the verb with the auxiliaries that the sentence gives it."""
    return all(c in places for c in verb.children if c.dep_ in tree.AUXILIARIES)


def _matches(alone: Doc, doc: Doc) -> dict[int, Token]:
    """Return the sentence's word for each word of the claim that it has, by preference the one
    after the last.
    """
    found: dict[int, Token] = {}
    used: set[int] = set()
    last = -2
    for token in alone:
        if token.is_punct:
            continue
        same = [t for t in doc if t.i not in used and _is_same(t, token)]
        if same:
            after = _next(token)
            best = min(
                same,
                key=lambda t: (t.i != last + 1, _next(t) != after, t.i < last, abs(t.i - last)),
            )
            found[token.i] = best
            used.add(best.i)
            last = best.i
    return found


def _next(token: Token) -> str:
    return str(token.nbor().lower_) if token.i + 1 < len(token.doc) else ""


def _is_same(one: Token, other: Token) -> bool:
    verbal = one.pos_ in tree.VERBAL
    counts = [{c.lower_ for c in t.lefts if c.dep_ == "nummod"} for t in (one, other)]
    if all(counts) and counts[0] != counts[1]:
        return False  # "ten years" are not the sentence's "five years"
    if one.lower_ == other.lower_:
        alike = verbal == (other.pos_ in tree.VERBAL) or "amod" in {one.dep_, other.dep_}
        return (
            alike or one.tag_ in {"VBZ", "VBP"} and tree.child(one, tree.SUBJECTS) is not None
        )  # "fern tolerate sun"
    if other.dep_ in tree.AUXILIARIES and lemma(one.head.lower_) != lemma(other.head.lower_):
        return False
    return verbal and other.pos_ in tree.VERBAL and lemma(one.lower_) == lemma(other.lower_)


def _changes_role(word: Token, same: Token, matches: dict[int, Token]) -> bool:
    """Return True if the word of the claim depends on a predicate that it does not depend on in the
    sentence.
    """
    joined = (
        same.head.dep_ == "conj" and same.head.head.pos_ == "VERB"
    )  # "and studied law", read as a noun
    around = [matches[place].i - place for place in (word.i - 1, word.i + 1) if place in matches]
    alike = around == [same.i - word.i] * 2  # "the retreating army": the same words around it
    if (
        not alike
        and same.pos_ == "VERB"
        and word.dep_ == "amod"
        and (same.dep_ != "amod" or joined)
    ):
        return True  # "was born in studied law"
    if not alike and same.dep_ == "amod" and word.dep_ in {"pobj", "dobj", "nsubj"}:
        return True  # "married in a French"
    if (
        word.pos_ not in NOUNS
        and word.dep_ not in {"attr", "acomp"}
        or word.dep_ in {"compound", "nummod"}
    ):
        return False
    verb, role = _role(word)
    if verb is None:
        return False
    role = (
        "agent" if verb.dep_ == "acl" and word.dep_ == "ROOT" else role
    )  # "a bank paid", read as a noun phrase
    if role == "agent" and _is_type(same) and not _determiners(same) <= _determiners(word):
        return True  # "the bachelor had a degree", of "his bachelor's degree"
    described = tree.child(verb, {"attr", "acomp"}) if verb.lower_ in BE else None
    if described is not None:
        noun = matches.get(described.i)
        return role == "agent" and noun is not None and not _describes(noun, same)
    meant = matches.get(verb.i)
    if meant is None or meant.pos_ not in tree.VERBAL or same.pos_ not in NOUNS or _is_gapped(same):
        return False
    turned = (
        {role, "patient"} if tree.child(verb, {"dobj"}) is None else {role}
    )  # "rot spreads": it is spread
    again = any(lemma(v.lower_) == lemma(meant.lower_) and r in turned for v, r in _roles(same))
    between = range(min(verb.i, word.i), max(verb.i, word.i) + 1)
    run = {matches[i].i - i if i in matches else None for i in between}
    if again or len(run) == 1 and None not in run and (role == "other" or word.i > verb.i):
        return False  # of the same verb elsewhere, or behind it in the same words
    if role == "other":
        referred = (
            t for t in meant.subtree if t.pos_ == "PRON" and t.head.lower_ == word.head.lower_
        )
        return word.head.lower_ != "of" and not _belongs_to(same, meant) and not any(referred)
    holders = {
        t
        for t in same.doc
        for v, r in _roles(t)
        if v == meant and r == role and t.tag_ not in tree.RELATIVE
    }
    holders |= {name for h in holders if (name := _name_after(h)) is not None}
    holders |= {
        c
        for h in holders
        for c in (tree.referent(h), *h.children)
        if c.dep_ == "appos" or c not in h.children
    }
    named = {
        h
        for h in holders
        if h.pos_ in {"PRON", "NUM"} or h.lower_ == same.lower_ and same.dep_ != "poss"
    }
    if same in holders or named:
        return False
    return bool(holders) and not holders & _exemplified(same)


def _is_gapped(noun: Token) -> bool:
    """Return True within a clause without its verb: "she won the singles, and her sister the
    doubles".
    """
    return any(
        t.dep_ == "conj" and t.pos_ in NOUNS and t.head.pos_ == "VERB"
        for t in (noun, *noun.ancestors)
    )


def _name_after(noun: Token) -> Token | None:
    """Return the name behind a title, whatever its head: "built by the architect Ida Colm, the
    bridge …".
    """
    after = noun.nbor() if noun.i + 1 < len(noun.doc) else noun
    while after.pos_ == "PROPN" and after.dep_ == "compound":
        after = after.head
    return after if after.pos_ == "PROPN" and noun.pos_ == "NOUN" else None


def _is_of_another(noun: Token, alone: Doc, matches: dict[int, Token]) -> bool:
    """Return True if the noun is said of a part of an "and" that the claim leaves out while it
    keeps another part.
    """
    owner = noun.head.head if noun.dep_ == "pobj" and noun.head.dep_ == "prep" else None
    joined = (
        owner.head if owner is not None and owner.dep_ == "pobj" else owner
    )  # "by Hale in Texas and by Bopp in …"
    if owner is None or joined is None or owner.pos_ not in NOUNS or joined.dep_ != "conj":
        return False
    first: Token | None = joined.head
    if joined is not owner:
        first = next((c for c in joined.head.children if c.lower_ == joined.lower_), None)
    others = {first, *first.children} if first is not None else set()
    kept = {t for t in matches.values() if t.pos_ in NOUNS}
    return bool(others & kept) and owner.lower_.rstrip("s") not in {
        t.lower_.rstrip("s") for t in alone
    }


def _is_type(noun: Token) -> bool:
    """Return True for a common noun with an 's after it."""
    return noun.pos_ == "NOUN" and noun.i + 1 < len(noun.doc) and noun.nbor().tag_ == "POS"


def _determiners(noun: Token) -> set[str]:
    return {c.lower_ for c in noun.lefts if c.dep_ in {"det", "poss"}}


def _exemplified(noun: Token) -> set[Token]:
    """Return the nouns that this one is an example of: "changes, such as confusion or agitation"."""
    while noun.dep_ == "conj":
        noun = noun.head
    introduced = noun.dep_ == "pobj" and noun.head.lower_ in {"as", "like", "including"}
    return {noun.head.head} if introduced else set()


def _belongs_to(noun: Token, verb: Token) -> bool:
    """Return True if the noun is in the clause of the verb, or in front of coordinated clauses."""
    clause = _clause(noun)
    while (
        clause not in {None, verb}
        and clause is not None
        and clause.dep_ in {"dobj", "xcomp", "pcomp"}
    ):
        clause = _clause(clause)
    if clause in {None, verb} or any(v == verb for v, _ in _roles(noun)):
        return True
    if verb.dep_ == "relcl" and verb.head == noun and any(c.tag_ == "WRB" for c in verb.children):
        return True  # "Graz, where she lives"
    subject = tree.subject_of(clause) if clause is not None else None
    if subject is None or clause is None or verb not in tree.conjuncts(clause):
        return False
    return noun.i < subject.i or noun in list(subject.subtree) and tree.subject_of(verb) is None


def _describes(noun: Token, subject: Token, owned: bool = False) -> bool:
    """Return False if the sentence says the noun or adjective of something else than the subject."""
    about = {noun.head} if noun.dep_ in {"appos", "amod", "compound", "nmod"} else set()
    about |= {c for c in noun.children if c.dep_ == "appos"}
    if noun.dep_ == "amod":  # "a French painter" says so of whom it says the painter
        owned = (
            subject in noun.head.subtree or noun.head in subject.subtree
        )  # "the French wife of a painter"
        return noun.head == subject or _describes(noun.head, subject, owned)
    if noun.dep_ in {"attr", "acomp"}:
        subject_there = tree.subject_of(noun.head)
        if subject_there is not None and subject_there.tag_ in tree.RELATIVE:
            subject_there = noun.head.head  # "bulbs, which are a form of light"
        about |= {s for s in (subject_there,) if s is not None}
    named = {n for a in about for n in tree.conjuncts(a)} & set(subject.doc)
    return (
        not (named or owned)
        or subject in named
        or any(subject in list(n.subtree) for n in named if n.dep_ == "compound")
    )


def _role(word: Token) -> tuple[Token | None, str]:
    return next(_roles(word), (None, ""))


def _roles(word: Token) -> Iterator[tuple[Token, str]]:
    """Yield the verbs that a noun depends on, each with its role: agent, patient or other; a
    passive is turned.
    """
    first = word
    while first.pos_ in NOUNS and (
        first.dep_ == "conj" or first.dep_ == "nmod" and tree.child(first, {"cc"})
    ):
        first = (
            first.head
        )  # an "nmod" with an "and" is a coordination misread: "shade and moist soil"
    head = first.head
    if first.dep_ in tree.SUBJECTS:
        for verb in tree.conjuncts(head):
            if verb == head or tree.subject_of(verb) is None:
                passive = _is_passive(verb, head)
                given = passive and tree.child(verb, {"dobj"}) is not None  # "she was taught music"
                yield verb, "other" if given else "patient" if passive else "agent"
        for verb in head.children:
            if verb.dep_ == "advcl" and tree.subject_of(verb) is None:
                yield verb, "patient" if verb.tag_ == "VBN" else "agent"
    elif first.dep_ in {"dobj", "oprd"} and head.pos_ in tree.VERBAL:
        yield head, "patient"
    elif first.dep_ == "pobj" and (head.dep_ == "agent" or _is_second_agent(head)):
        yield head.head, "agent"
    elif first.dep_ == "pobj" and (governor := _clause(head)) is not None:
        yield governor, "other"
    for clause in first.children:
        if clause.dep_ == "relcl":
            wh = tree.subject_of(clause)
            for verb in (
                tree.conjuncts(clause) if wh is not None and wh.tag_ in tree.RELATIVE else ()
            ):
                yield verb, "patient" if _is_passive(verb, clause) else "agent"
        elif clause.dep_ == "acl":
            yield from (
                (v, "patient" if v.tag_ == "VBN" else "agent") for v in tree.conjuncts(clause)
            )
    if any(
        c.i > word.i for c in word.children if c.dep_ == "prep"
    ):  # "the bridge at Sorne, built by prisoners"
        yield from ((c, "patient") for c in tree.subtree(word) if _is_apart(c))
        yield from (role for c in tree.subtree(word) if c.dep_ == "relcl" for role in _apart(c))


def _is_apart(participle: Token) -> bool:
    """Return True for a participle behind a comma, which may describe any noun of the phrase before
    it.
    """
    return participle.dep_ == "acl" and participle.tag_ == "VBN" and participle.nbor(-1).text == ","


def _apart(clause: Token) -> Iterator[tuple[Token, str]]:
    """Yield the predicates of a relative clause behind a comma, which may describe any noun of the
    phrase before it.
    """
    wh = tree.subject_of(clause)
    if wh is not None and wh.tag_ in tree.RELATIVE and wh.i and wh.nbor(-1).text == ",":
        yield from (
            (v, "patient" if _is_passive(v, clause) else "agent") for v in tree.conjuncts(clause)
        )


def _is_second_agent(preposition: Token) -> bool:
    """Return True for the second "by" of "written by Ada and by Ida"."""
    verb = preposition.head
    return (
        preposition.dep_ == "conj"
        and preposition.lower_ == "by"
        and tree.child(verb, {"agent"}) is not None
    )


def _is_passive(verb: Token, head: Token) -> bool:
    own = [c for c in verb.children if c.dep_ in tree.AUXILIARIES]
    shared = own or [
        c for c in head.children if c.dep_ in tree.AUXILIARIES and verb.tag_ == head.tag_
    ]
    return any(c.dep_ == "auxpass" for c in shared)


def _clause(word: Token) -> Token | None:
    """Return the verb of the clause around a word."""
    return next((a for a in word.ancestors if a.pos_ in tree.VERBAL), None)
