"""What is said beside the main clause, as sentences: relative, participial and appositive clauses, reasons, results."""

from __future__ import annotations

from spacy.tokens import Doc, Token

from attribution.segmenters.clausal.participles import active, effect, participle, result
from attribution.segmenters.syntax import LEXICON, tree
from attribution.segmenters.syntax.drafts import Draft, indices, parts, trim
from attribution.segmenters.syntax.scope import gives_examples
from attribution.segmenters.syntax.soundness import is_sound

PERSONS = tuple(LEXICON["persons"])
HUMANS = tuple(LEXICON["humans"])
SENTENTIAL = tuple(LEXICON["sentential_verbs"])
REASONS = {"as", "since"}


def extract(doc: Doc, draft: Draft, done: frozenset[int] = frozenset()) -> tuple[Draft, list[Draft]]:
    """The draft without its modifiers, and the sentences made of them; only where both are sound."""
    sentences: list[Draft] = []
    for place in sorted(indices(draft) - done):
        token, inside = doc[place], indices(draft)
        if place not in inside or token.head.i not in inside or token.head == token or tree.in_brackets(token):
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
    """The sentence that a clause or apposition makes; None where it makes none, or where that is unsure."""
    if token.dep_ == "relcl":
        return relative(token)
    if token.dep_ == "appos":
        return apposition(token)
    if token.dep_ == "advcl" and token.i > token.head.i and not _ends_sentence(token):
        return None
    if token.dep_ in {"acl", "advcl"} and token.tag_ == "VBN" and not tree.is_finite(token):
        return participle(token)
    if token.dep_ == "advcl":
        return active(token) or result(token) or effect(token) or reason(token) or meaning(token)
    return None


def _ends_sentence(verb: Token) -> bool:
    """Whether nothing follows the clause in its sentence: what follows may be more of it."""
    end = tree.last(verb) + 1
    return end == len(verb.doc) or verb.doc[end].text in {".", ";", "!"}


def _without(draft: Draft, token: Token) -> Draft:
    """The draft without the phrase of the token and the commas around it."""
    taken = {t.i for t in token.subtree}
    if tree.comma_before(token):
        edges = {min(taken) - 1, max(taken) + 1}
        taken |= {i for i in edges if 0 <= i < len(token.doc) and token.doc[i].text == ","}
    return trim(tuple(part for part in draft if part.i not in taken))


def _is_aside(verb: Token) -> bool:
    """Whether it is a clause after its main clause, set off by a comma."""
    return tree.comma_before(verb) and verb.i >= verb.head.i


def reason(verb: Token) -> Draft | None:
    """ "A, as B" says both A and B."""
    marks = [c for c in verb.children if c.dep_ == "mark"]
    if len(marks) != 1 or marks[0].lower_ not in REASONS or not _is_aside(verb):
        return None
    if not tree.is_finite(verb) or tree.subject_of(verb) is None or tree.in_negative_scope(verb):
        return None
    if verb.head.dep_ not in {"ROOT", "conj", "acomp"} or (marks[0].lower_ == "since" and tree.is_past(verb)):
        return None  # "since" of time
    return trim(parts(t for t in verb.subtree if t.i != marks[0].i))


def meaning(verb: Token) -> Draft | None:
    """ "A, meaning that B" says both A and B."""
    clause = tree.child(verb, {"ccomp"})
    if verb.lower_ != "meaning" or clause is None or not _is_aside(verb) or tree.in_negative_scope(verb):
        return None
    if not tree.is_finite(clause) or tree.subject_of(clause) is None or tree.last(clause) != tree.last(verb):
        return None
    return trim(parts(t for t in clause.subtree if not (t.dep_ == "mark" and t.head == clause)))


def relative(verb: Token) -> Draft | None:
    """ "…, who directed films" → "Hitchcock directed films"; None for a clause that restricts its noun."""
    wh = next((c for c in verb.children if c.tag_ in {"WP", "WDT"} and c.dep_ in tree.SUBJECTS), None)
    if wh is None or wh.i != tree.first(verb) or sum(c.dep_ in tree.SUBJECTS for c in verb.children) > 1:
        return None
    predicate_noun = tree.is_predicate_noun(verb.head)
    if not (tree.comma_before(verb) and wh.lower_ != "that") and not predicate_noun:
        return None
    noun = _person(verb.head) if wh.lower_ == "who" else tree.referent(verb.head)
    tense = next((c for c in (*verb.children, verb) if c.tag_ in tree.FINITE), None)
    if noun is None or tense is None or tree.in_negative_scope(verb.head):
        return None
    if noun.lower_ == "those" or len(tree.conjuncts(noun)) > 1 or noun.dep_ == "conj":
        return None
    if tense.tag_ in {"VBZ", "VBP"} and tree.is_plural(noun) != (tense.tag_ == "VBP"):
        return None
    if verb.head.dep_ == "pobj" and verb.head.head.head.dep_ == "attr" and tree.comma_before(verb):
        return None  # "the regulator of the sector, which …": which of the two?
    if wh.lower_ == "which" and not predicate_noun and (_is_sentential(verb, tense) or noun.lower_.endswith(HUMANS)):
        return None
    return trim(tree.as_subject(noun) + parts(t for t in verb.subtree if t.i != wh.i))


def _is_sentential(verb: Token, tense: Token) -> bool:
    """Whether ", which …" is more likely about the whole clause before it."""
    if tree.child(verb, {"nsubjpass"}) is not None:
        return tense.tag_ == "MD" and (verb.tag_ != "VBN" or tree.lemma(verb.lower_) in LEXICON["opinion_verbs"])
    if verb.lower_.startswith(SENTENTIAL) or (tense.tag_ == "MD" and verb.tag_ != "VBN"):
        return True
    return any(c.lower_ in LEXICON["outcomes"] and c.dep_ in {"attr", "acomp"} for c in verb.children)


def _person(noun: Token) -> Token | None:
    """The person that "who" refers to: the parser sometimes attaches the clause to the nearest thing."""
    nearest = tree.referent(noun)
    name = nearest.pos_ in {"PROPN", "PRON"} and (nearest.dep_ != "pobj" or gives_examples(nearest.head))
    if name or noun.lower_.endswith(PERSONS):
        return nearest
    subjects = (tree.child(above, tree.NOMINAL_SUBJECTS) for above in noun.ancestors if above.pos_ in tree.VERBAL)
    subject = next((s for s in subjects if s is not None), None)
    is_person = subject is not None and (subject.pos_ == "PROPN" or subject.lower_ in {"he", "she"})
    return subject if is_person else None


def apposition(noun: Token) -> Draft | None:
    """ "Nash, an American mathematician," → "Nash was an American mathematician"."""
    subject = tree.referent(noun)
    if subject is noun or subject.pos_ not in {"PROPN", "NOUN"} or not tree.comma_before(noun):
        return None
    listed = noun.head == subject and subject.dep_ in {"dobj", "pobj"}
    if listed and tree.is_indefinite(noun) and tree.is_indefinite(subject) or not tree.has_determiner(noun):
        return None  # "include an urge, a burning sensation": more likely a list
    if any(len(tree.conjuncts(n)) > 1 for n in (noun, subject)) or subject.dep_ == "conj":
        return None
    before = noun.doc[max(0, tree.first(noun) - 2)]
    if before.pos_ in {"ADV", "CCONJ", "ADP"} or tree.is_plural(noun) != tree.is_plural(subject):
        return None
    if tree.in_negative_scope(subject) or tree.child(subject, {"cc"}) is not None:
        return None
    return trim((*tree.as_subject(subject), tree.be(subject, tree.is_past(noun)), *parts(noun.subtree)))
