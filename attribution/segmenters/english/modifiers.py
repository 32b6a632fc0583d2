"""Turn relative, participial and appositive clauses, reasons and adjuncts into sentences."""

from __future__ import annotations

from spacy.tokens import Doc, Token

from attribution.segmenters.english import tree
from attribution.segmenters.english.drafts import LEXICON, Draft, indices, parts, trim, words
from attribution.segmenters.english.faithful import is_sound
from attribution.segmenters.english.scope import gives_examples
from attribution.segmenters.english.tree import ARTICLES, BE, is_negated, subtree
from attribution.text.parse import lemma

PERSONS = tuple(LEXICON["persons"])
HUMANS = tuple(LEXICON["humans"])
SENTENTIAL = tuple(LEXICON["sentential_verbs"])
REASONS = {"as", "since", "because"}


def extract(
    doc: Doc, draft: Draft, done: frozenset[int] = frozenset()
) -> tuple[Draft, list[Draft]]:
    """Return the draft without its modifiers, and the sentences made of them; only where both are
    sound.
    """
    sentences: list[Draft] = []
    for place in sorted(indices(draft) - done):
        token, inside = doc[place], indices(draft)
        if (
            place not in inside
            or token.head.i not in inside
            or token.head == token
            or tree.in_brackets(token)
        ):
            continue
        sentence = as_sentence(token)
        if sentence is None:
            continue
        rest = _without(draft, token)
        if is_sound(doc, rest) and is_sound(doc, sentence):
            nested, more = extract(doc, sentence, done | {place})
            draft, sentences = rest, [*sentences, nested, *more]
    return draft, sentences


def as_sentence(token: Token) -> Draft | None:
    """Turn a clause or apposition into a sentence; None if it makes none or the rules are unsure."""
    if token.dep_ == "relcl":
        return relative(token)
    if token.dep_ == "appos":
        return apposition(token)
    if token.dep_ == "advcl" and token.i > token.head.i and not _ends_sentence(token):
        return None
    if token.dep_ in {"acl", "advcl"} and token.tag_ == "VBN" and not tree.is_finite(token):
        return participle(token)
    if token.dep_ == "advcl":
        return reason(token)
    return None


def _ends_sentence(verb: Token) -> bool:
    """Check that the clause ends its sentence: otherwise the rest may belong to it."""
    end = tree.last(verb) + 1
    return end == len(verb.doc) or verb.doc[end].text in {".", ";", "!"}


def _without(draft: Draft, token: Token) -> Draft:
    """Remove the phrase of the token and the commas around it from the draft."""
    taken = {t.i for t in token.subtree}
    if tree.comma_before(token):
        edges = {min(taken) - 1, max(taken) + 1}
        taken |= {i for i in edges if 0 <= i < len(token.doc) and token.doc[i].text == ","}
    return trim(tuple(part for part in draft if part.i not in taken))


def reason(verb: Token) -> Draft | None:
    """ "A, as B" says both A and B."""
    marks = [c for c in verb.children if c.dep_ == "mark"]
    aside = tree.comma_before(verb) and verb.i >= verb.head.i
    if (
        len(marks) != 1
        or marks[0].lower_ not in REASONS
        or marks[0].lower_ != "because"
        and not aside
    ):
        return None
    if not tree.is_finite(verb) or tree.subject_of(verb) is None or tree.in_negative_scope(verb):
        return None
    if verb.head.dep_ not in {"ROOT", "conj", "acomp"} or (
        marks[0].lower_ == "since" and tree.is_past(verb)
    ):
        return None  # temporal "since"
    if verb.head.pos_ == "AUX" and tree.child(verb.head, {"acomp", "attr"}) is None:
        return None  # "the reason is because …"
    if any(t.lower_ == "or" for t in verb.subtree):
        return None
    return trim(parts(t for t in verb.subtree if t.i != marks[0].i))


def relative(verb: Token) -> Draft | None:
    """ "…, who directed films" → "Hitchcock directed films"; None for a clause that restricts its
    noun.
    """
    wh = next(
        (c for c in verb.children if c.tag_ in {"WP", "WDT"} and c.dep_ in tree.SUBJECTS), None
    )
    if (
        wh is None
        or wh.i != tree.first(verb)
        or sum(c.dep_ in tree.SUBJECTS for c in verb.children) > 1
    ):
        return None
    predicate_noun = tree.is_predicate_noun(verb.head)
    if not (tree.comma_before(verb) and wh.lower_ != "that") and not predicate_noun:
        return None
    noun = _person(verb.head) if wh.lower_ == "who" else tree.referent(verb.head)
    tense = next((c for c in (*verb.children, verb) if c.tag_ in tree.FINITE), None)
    if noun is None or tense is None or tree.in_negative_scope(verb.head):
        return None
    beside = any(c.dep_ == "appos" and c.i > verb.i for c in verb.head.children)
    if beside or noun.lower_ == "those" or len(tree.conjuncts(noun)) > 1 or noun.dep_ == "conj":
        return None
    if tense.tag_ in {"VBZ", "VBP"} and tree.is_plural(noun) != (tense.tag_ == "VBP"):
        return None
    if wh.lower_ == "which" and tree.fits_two(verb):
        return None
    if (
        wh.lower_ == "which"
        and not predicate_noun
        and (_is_sentential(verb, tense) or noun.lower_.endswith(HUMANS))
    ):
        return None
    return trim(tree.as_subject(noun) + parts(t for t in verb.subtree if t.i != wh.i))


def _is_sentential(verb: Token, tense: Token) -> bool:
    """Return True if ", which …" more likely refers to the whole preceding clause."""
    if tree.child(verb, {"nsubjpass"}) is not None:
        return tense.tag_ == "MD" and (
            verb.tag_ != "VBN" or lemma(verb.lower_) in LEXICON["opinion_verbs"]
        )
    if verb.lower_.startswith(SENTENTIAL) or (tense.tag_ == "MD" and verb.tag_ != "VBN"):
        return True
    return any(
        c.lower_ in LEXICON["outcomes"] and c.dep_ in {"attr", "acomp"} for c in verb.children
    )


def _person(noun: Token) -> Token | None:
    """Return the person that "who" refers to: the parser sometimes attaches the clause to the
    nearest noun.
    """
    nearest = tree.referent(noun)
    name = nearest.pos_ in {"PROPN", "PRON"} and (
        nearest.dep_ != "pobj" or gives_examples(nearest.head)
    )
    if name or noun.lower_.endswith(PERSONS):
        return nearest
    subjects = (
        tree.child(above, tree.NOMINAL_SUBJECTS)
        for above in noun.ancestors
        if above.pos_ in tree.VERBAL
    )
    subject = next((s for s in subjects if s is not None), None)
    is_person = subject is not None and (subject.pos_ == "PROPN" or subject.lower_ in {"he", "she"})
    return subject if is_person else None


def apposition(noun: Token) -> Draft | None:
    """ "Nash, an American mathematician," → "Nash was an American mathematician"."""
    subject = tree.referent(noun)
    if subject is noun or subject.pos_ not in {"PROPN", "NOUN"} or not tree.comma_before(noun):
        return None
    listed = noun.head == subject and subject.dep_ in {"dobj", "pobj"}
    if (
        listed
        and tree.is_indefinite(noun)
        and tree.is_indefinite(subject)
        or not tree.has_determiner(noun)
    ):
        return None  # "include an urge, a burning sensation": more likely a list
    chain = (noun, subject, *(n for n in noun.ancestors if n.dep_ == "appos"))
    if any(len(tree.conjuncts(n)) > 1 for n in chain) or subject.dep_ == "conj":
        return None
    if any(t.pos_ in tree.VERBAL for t in noun.doc[noun.head.i : tree.first(noun)]):
        return None  # "Luxor, which lies in Thebes, the capital"
    before = noun.doc[max(0, tree.first(noun) - 2)]
    if before.pos_ in {"ADV", "CCONJ", "ADP"} or tree.is_plural(noun) != tree.is_plural(subject):
        return None
    if tree.in_negative_scope(subject) or tree.child(subject, {"cc"}) is not None:
        return None
    return trim(
        (*tree.as_subject(subject), tree.be(subject, tree.is_past(noun)), *parts(noun.subtree))
    )


def split_nationality(doc: Doc, draft: Draft) -> list[Draft]:
    """ "She was a French chemist" → "She was a chemist", "She was French".

    Other adjectives stay with their noun: a small planet is not small.
    """
    for place, part in enumerate(draft):
        token = doc[part.i] if part.i > 0 and place > 1 else None
        if (
            token is None
            or token.dep_ != "amod"
            or token.tag_ != "JJ"
            or not part.text[:1].isupper()
        ):
            continue
        verb, article, subject = draft[place - 2], draft[place - 1], draft[: place - 2]
        if verb.text.lower() not in BE or article.text.lower() not in ARTICLES:
            continue
        if token.head.dep_ not in {"attr", "appos"} or "-" in token.head.text:
            continue
        if words(subject) & {"not", "there", "it", "this", "that", ","}:
            continue
        return [draft[:place] + draft[place + 1 :], (*subject, verb, part)]
    return [draft]


def split_adjuncts(doc: Doc, draft: Draft) -> list[Draft]:
    """ "He died in Paris in 1980" → "He died in Paris", "He died in 1980"."""
    inside = indices(draft)
    for verb in (doc[i] for i in sorted(inside)):
        past = verb.pos_ == "VERB" and verb.tag_ in {"VBD", "VBN"}
        if not past or is_negated(verb) or verb.dep_ in {"relcl", "ccomp", "xcomp"}:
            continue
        phrases = [
            [t.i for t in c.subtree] for c in verb.children if c.dep_ == "agent" and c.i in inside
        ]
        for prep in verb.rights:
            if _is_adjunct(prep) and prep.i in inside:
                inner = [p for noun in prep.children if noun.pos_ == "NOUN" for p in noun.children]
                inner = [p for p in inner if _is_adjunct(p) and is_certain(p)]
                phrases += [
                    [t.i for t in subtree(prep, *inner)],
                    *([t.i for t in p.subtree] for p in inner),
                ]
        if (
            len(phrases) < 2
            or sum(is_certain(doc[phrase[0]]) for phrase in phrases) < len(phrases) - 1
        ):
            continue
        every = {i for phrase in phrases for i in phrase}
        if any(doc[i].dep_ == "conj" for i in every):
            continue
        return [
            trim(tuple(part for part in draft if part.i not in every - set(phrase)))
            for phrase in phrases
        ]
    return [draft]


def _is_adjunct(prep: Token) -> bool:
    return prep.dep_ == "prep" and prep.lower_ in LEXICON["places_and_times"]


def is_certain(prep: Token) -> bool:
    """Return True if a prepositional phrase gives a date or a named place."""
    objects = [c for c in prep.children if c.dep_ == "pobj"]
    return any(o.like_num or o.pos_ == "PROPN" or o.lower_ in LEXICON["months"] for o in objects)


def _is_clear(noun: Token) -> bool:
    """Return True if a noun can be the subject of a separate sentence."""
    several = len(tree.conjuncts(noun)) > 1
    return noun.tag_ not in {"WP", "WDT", "EX"} and not several and not tree.in_negative_scope(noun)


def participle(verb: Token) -> Draft | None:
    """ "…, widely regarded as …" → "Hitchcock was widely regarded as …"."""
    if tree.child(verb, {*tree.SUBJECTS, *tree.AUXILIARIES, "mark"}) is not None:
        return None
    if verb.lower_ in LEXICON["prepositional_participles"] or tree.fits_two(verb):
        return None
    if verb.dep_ == "advcl":
        noun = tree.child(verb.head, tree.NOMINAL_SUBJECTS)
        before = {c.lower_ for c in verb.lefts}
        if (
            not tree.comma_before(verb)
            or before & {"as", "when", "if", "once"}
            or _is_ambiguous(noun, verb)
        ):
            return None
    else:
        noun = tree.referent(verb.head)
        aside = tree.comma_before(verb) or (
            noun is not verb.head and noun.pos_ in {"PROPN", "PRON"}
        )
        if not aside and not tree.is_predicate_noun(verb.head):
            return None
    if noun is None or not _is_clear(noun) or noun.lower_ in {"i", "those"}:
        return None
    if tree.child(verb, {"dobj"}) is not None:  # a past tense parsed as a participle
        finite = verb.lower_.endswith("ed") and tree.comma_before(verb)
        return trim((*tree.as_subject(noun), *parts(verb.subtree))) if finite else None
    counted = (
        verb.head if tree.is_predicate_noun(verb.head) else noun
    )  # "Two are bridges built by Rossi."
    return trim(
        (
            *tree.as_subject(noun),
            tree.be(counted, tree.is_past(verb) or verb.lower_ == "born"),
            *parts(verb.subtree),
        )
    )


def _is_ambiguous(noun: Token | None, verb: Token) -> bool:
    """Return True if a noun between subject and participle may be the one it modifies."""
    if noun is None:
        return True
    between = verb.doc[verb.head.i + 1 : tree.first(verb)] if verb.i > verb.head.i > noun.i else ()
    return any(t.pos_ in {"NOUN", "PROPN"} for t in between)
