"""Predicates with their arguments as claims, one each, by PredPatt's rules (White et al. 2016; W24 4.2, W24 B).

`english.predicates` finds them; this module puts them into words: "is" for an adjective or apposition, "has" for a
possessive, a subject before its verb. With a language model, each is reworded by a prompt of its own, as in W24.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise

from spacy.tokens import Doc, Token

from attribution.errors import LlmFailed
from attribution.llm import prompts
from attribution.llm.client import Llm, Question, Reply
from attribution.segmenters.alignment import merge
from attribution.segmenters.clauses import split as clauses
from attribution.segmenters.english import tree
from attribution.segmenters.english.coordination import OBJECTS, is_unfinished
from attribution.segmenters.english.drafts import (
    ADDED,
    LEXICON,
    Draft,
    DraftWord,
    added,
    covers,
    indices,
    parts,
    segment,
    trim,
)
from attribution.segmenters.english.faithful import is_definite, is_sound
from attribution.segmenters.english.predicates import Argument, Kind, Predicate, predicates
from attribution.segmenters.english.repairs import repair
from attribution.segmenters.english.scope import is_reliable
from attribution.segmenters.llm import Claims, clean
from attribution.settings import Settings
from attribution.text.parse import lemma
from attribution.text.ud import to_ud
from attribution.types import Claim, Failure, LlmUsage, Segmented

KEPT = "the claim keeps the wording of the rules"
HUMANS = tuple(LEXICON["humans"])
TOKENS_PER_CLAIM = 20  # about; for estimates
_UNCOUNTED = tuple("ness ity tion sion ism ment nce ship hood dom ing th work ure cy auty ove time".split())
_UNSPLIT = frozenset('"“”;')  # quotations, and lists whose items the parser mixes up
_EACH = {"any", "each", "every", "no"}
_NOT_NOW = {"ever", "previously", "formerly", "once", "originally"}
AS_SUBJECT = {"his": "he", "her": "she", "its": "it", "their": "they", "our": "we", "my": "I", "your": "you"}


class PublishedPredPatt:
    """Segmenter `predpatt-published`: every predication, also what the sentence denies, supposes or reports."""

    def __init__(self, settings: Settings) -> None:
        self.fluent = Fluent(settings) if settings.has_llm else None

    def split(self, parsed: Doc) -> list[Draft]:
        return predications(parsed)

    def segment(self, question: str, answer: str, stop: threading.Event | None = None) -> Segmented:
        """Return claims in the order of the answer; a sentence without a predicate and its argument stays whole."""
        segmented = segment(answer, self.split, stop)
        if self.fluent is None:
            return segmented
        reworded = self.fluent.reword(segmented.claims, stop)
        return replace(reworded, failures=(*segmented.failures, *reworded.failures))

    def estimate(self, question: str, answer: str) -> LlmUsage | None:
        """Estimate the cost of rewording the claims; None without a language model."""
        return self.fluent.estimate(segment(answer, self.split).claims) if self.fluent else None


class PredPatt(PublishedPredPatt):
    """Segmenter `predpatt`: the predications that the sentence asserts; if they miss some content, its clauses."""

    def split(self, parsed: Doc) -> list[Draft]:
        doc = repair(parsed)
        made = predications(doc, _is_telling) if is_reliable(doc) and not _UNSPLIT & {*doc.text} else []
        found = [d for d in made if is_sound(doc, d) and _keeps_lists(doc, indices(d))]
        return found if len(found) > 1 and covers(doc, found) else clauses(parsed)


def predications(doc: Doc, wanted: Callable[[Token, Kind], bool] = lambda root, kind: True) -> list[Draft]:
    """Return the predicates of a sentence with their arguments, as statements in its order."""
    tokens = [t for t in doc if not t.is_space]  # as `to_ud` counts them
    found = (p for p in predicates(to_ud(doc)) if wanted(tokens[p.root], p.kind))
    return [draft for draft in dict.fromkeys(_worded(tokens, predicate) for predicate in found) if draft]


def _keeps_lists(doc: Doc, inside: set[int]) -> bool:
    """Return False where two of a coordination are left without what joins them: "a poet, critic" of three."""
    if is_unfinished(doc, sorted(inside)) or any(_has_lost(doc[i], inside) for i in inside):
        return False
    joined = (c.head for c in doc if c.dep_ == "conj" and {c.i, c.head.i} <= inside)
    return all(c.i in inside for head in joined for t in tree.conjuncts(head) for c in t.children if c.dep_ == "cc")


def _has_lost(conjunct: Token, inside: set[int]) -> bool:
    """Return True for "nature" of "the context and nature of the task", and "praise" of "praise and blame the plan"."""
    head = _first(conjunct)
    if conjunct.pos_ in tree.VERBAL and not any(c.i in inside for c in conjunct.rights):
        others = [m for m in tree.conjuncts(head) if m.i > conjunct.i and m.i not in inside]
        objects = any(c.dep_ in OBJECTS for m in others for c in m.rights)
        return objects and lemma(conjunct.lower_) not in LEXICON["intransitive"]
    after = (c for c in head.rights if c.i > conjunct.i and c.dep_ in {"prep", "acl", "relcl"})
    return head != conjunct and head.i not in inside and any(c.i not in inside for c in after)


def _is_telling(root: Token, kind: Kind) -> bool:
    """Return False for what tells nothing ("own", a part of a name) or may not be so: what is denied or doubtful."""
    noun = root.head
    if kind in {"amod", "poss"} and _is_supposed(noun):
        return False
    beside = {t.text for word in (root, noun) for t in root.doc[max(0, word.i - 1) : word.i + 2]}
    if kind == "amod":
        denied = tree.in_negative_scope(noun) or tree.is_negated(noun) or beside & {"-", "/"}
        telling = root.tag_ in {"JJ", "VBN"} and root.lower_ not in LEXICON["determining"] and root.i < noun.i
        return telling and not denied and _is_specific(noun) and _is_quality(root)
    if kind == "poss":
        name = noun.text[:1].isupper() or noun.lower_ in LEXICON["eponymous"]  # "Alzheimer has disease"
        beside = {"such", "any", "including", ","} & {t.lower_ for t in noun.subtree}
        idle = (
            beside or any(c.tag_ in {"JJS", "RBS"} for c in noun.children) or noun.head.lower_ == "in"
        )  # "in her honor"
        return root.lower_ not in {"my", "your"} and not name and not idle and _is_counted(noun)
    if kind == "appos":
        return not root.like_num and len(tree.conjuncts(root)) == 1 and not root.lower_.endswith(("self", "selves"))
    verb = root if root.pos_ in tree.VERBAL else root.head  # "is" of an adjective or a noun
    if verb.dep_ == "relcl" and tree.is_indefinite(verb.head) and _is_supposed(verb.head):
        return False  # "a spouse who is a guardian might …"
    return _is_described(verb) and not _is_participle(verb) and not _is_compared(verb)


def _is_supposed(noun: Token) -> bool:
    """Return True for a noun of what may or should be, or is denied: "the exact impact may depend on …"."""
    verbs = [t for t in (noun, *noun.ancestors) if t.pos_ in tree.VERBAL or t.lower_ == "without"]
    return any(v.lower_ == "without" or any(c.tag_ == "MD" or c.dep_ == "neg" for c in v.children) for v in verbs)


def _is_specific(noun: Token) -> bool:
    """Return False for a noun of which something would be said in general: "urgent care" does not make care urgent."""
    if any(t.dep_ == "cc" for t in noun.subtree) or _is_compared(noun):
        return False
    if _EACH & {c.lower_ for c in noun.lefts} or noun.dep_ in tree.SUBJECTS and not is_definite(noun):
        return False  # "each new idea", "A definitive diagnosis requires …"
    after = any(c.dep_ in {"prep", "relcl", "acl"} and not tree.after_comma(c) for c in noun.rights)
    return noun.pos_ == "PROPN" or after or tree.child(noun, {"det", "poss", "nummod"}) is not None


def _is_compared(word: Token) -> bool:
    """Return True for what only stands for another: "like a giant fortress towering over the town"."""
    noun = word.head if word.dep_ in {"relcl", "acl"} else word
    return noun.dep_ == "pobj" and noun.head.lower_ in {"like", "as", "than", "without"}


def _is_counted(noun: Token) -> bool:
    """Return True for what one has: a career or two, but no hard work."""
    return tree.is_plural(noun) or not noun.lower_.endswith(_UNCOUNTED)


def _is_quality(adjective: Token) -> bool:
    """Return False for what names a kind, "molecular weight", or compares, "the most suitable choice"."""
    compared = adjective.tag_ == "JJS" or any(c.lower_ in {"most", "least"} for c in adjective.children)
    listed = sum(c.dep_ == "amod" for c in adjective.head.children) > 1  # "a cool, dry place"
    return not compared and not listed and not adjective.lower_.endswith(("al", "ic", "ar", "ary", "ory"))


def _is_described(verb: Token) -> bool:
    """Return False for a relative clause that is about something else: "an officer, which is …", "a drug that work"."""
    noun, wh = verb.head, tree.child(verb, tree.SUBJECTS)
    if verb.dep_ != "relcl" or wh is None or wh.lower_ not in {"which", "that", "who"}:
        return True
    if noun.pos_ in {"PRON", "DET"} or wh.lower_ == "which" and tree.fits_two(verb):
        return False
    tense = next((t for t in (*verb.children, verb) if t.tag_ in {"VBZ", "VBP"}), None)
    bare = not any(c.i < noun.i for c in noun.children) and noun.tag_ == "NNS" and not tree.after_comma(verb)
    if bare or _EACH & {c.lower_ for c in noun.lefts} or wh.dep_ == "nsubj" and not tree.is_finite(verb):
        return False  # "beings that have been modified", "any errors, which …", "that traded", tagged as a participle
    agrees = tense is None or tree.is_plural(noun) == (tense.tag_ == "VBP")
    return agrees and not (wh.lower_ == "which" and noun.lower_.endswith(HUMANS))


def _is_participle(verb: Token) -> bool:
    """Return True for one without a statement of its own: ", flooding it", "as described", "in buying and selling"."""
    infinitive = any(c.tag_ == "TO" for c in verb.lefts) or verb.tag_ == "VB" and not tree.is_finite(verb)
    if infinitive and verb.dep_ in {"advcl", "acl", "relcl"}:
        return True  # "to ensure quality, …", "the salts to be separated"
    if verb.dep_ == "acl" and (verb.tag_ == "VBD" or verb.tag_ == "VBG" and tree.after_comma(verb)):
        return True  # "stanzas sung", tagged as a past tense; "a better image, often focusing on …": whose is unclear
    if verb.dep_ == "pcomp" and tree.subject_of(verb) is not None or _NOT_NOW & {c.lower_ for c in verb.lefts}:
        return True  # "with stanzas sung to the same music", "advantages previously enjoyed", "all ever made"
    if tree.is_finite(verb) or verb.tag_ not in {"VBN", "VBG"}:
        return False
    if verb.tag_ == "VBG" and lemma(verb.lower_) in LEXICON["stative"]:
        return True  # nothing "is involving" another thing
    if verb.dep_ == "conj":
        return verb.tag_ == "VBG" != verb.head.tag_
    marked = verb.lower_ in LEXICON["prepositional_participles"] or tree.child(verb, {"mark"}) is not None
    return verb.dep_ == "advcl" and verb.tag_ == "VBG" or verb.dep_ in {"acl", "advcl"} and marked


def _worded(tokens: Sequence[Token], predicate: Predicate) -> Draft:
    root = tokens[predicate.root]
    if predicate.kind == "poss":
        return _possessive(tokens, predicate)
    subject = _subject(tokens, predicate)
    others = [a for a in predicate.arguments if a is not subject]
    marks = [c for a in others if tokens[a.root].dep_ == "ccomp" for c in tokens[a.root].lefts if c.dep_ == "mark"]
    used = {*predicate.tokens, *(n for a in others for n in a.tokens)}
    rest = trim(parts({*(tokens[n] for n in used), *marks}))
    if subject is None:
        return rest
    noun = tokens[subject.root]
    if predicate.kind != "normal":
        return (*_noun_phrase(tokens, subject), tree.be(noun, tree.is_past(root)), *rest)
    verbs = [tokens[n] for n in predicate.tokens if tokens[n].pos_ in tree.VERBAL]
    if not any(v.tag_ in tree.FINITE for v in verbs) and root.tag_ in {"VBN", "VBG"}:
        rest = (tree.be(noun, tree.is_past(root)), *(part for part in rest if part.text != "being"))
    front = tuple(part for part in rest if ADDED < part.i < min(tokens[n].i for n in subject.tokens))
    if predicate.relative and root.head.i in {part.i for part in front}:
        return ()  # the noun is neither the clause's subject nor put in its place
    if front and root.i > noun.i:
        setting = trim(tuple(part for part in front if noun.doc[part.i].tag_ != "WRB"))
        rest = (*setting, *added(*"," * bool(setting)), *_noun_phrase(tokens, subject), *rest[len(front) :])
    else:
        rest = (*_noun_phrase(tokens, subject), *rest)
    tense = next((t.tag_ for t in (*verbs, root) if t.tag_ in {"VBZ", "VBP"}), "")
    if tense == "VBP" and noun.tag_ in {"NN", "NNP"} and len(tree.conjuncts(_first(noun))) == 1:
        return ()  # "a plan, as are fitting": not the subject
    if len(tree.conjuncts(noun)) > 1 or noun.dep_ == "conj":
        rest = tree.agree(rest, root if root.pos_ in tree.VERBAL else next(iter(verbs), root), noun)
    return trim(rest)


def _subject(tokens: Sequence[Token], predicate: Predicate) -> Argument | None:
    """Return the subject: its own, the noun that it describes, or the first argument before it."""
    described = tokens[predicate.root].head.i
    for argument in predicate.arguments:
        if tokens[argument.root].i == described and (predicate.kind != "normal" or predicate.relative):
            return argument
    return next((a for a in predicate.arguments if _first(tokens[a.root]).dep_ in tree.SUBJECTS), None)


def _first(noun: Token) -> Token:
    """Return the first word of a coordination."""
    while noun.dep_ == "conj":
        noun = noun.head
    return noun


def _noun_phrase(tokens: Sequence[Token], argument: Argument) -> Draft:
    """Return an argument as a subject: definite where the sentence has introduced it elsewhere."""
    noun = tokens[argument.root]
    words = sorted((tokens[n] for n in set(argument.tokens)), key=lambda t: t.i)
    words = [t for before, t in pairwise((words[0], *words)) if not (t.text == "," and before.dep_ in {"det", "poss"})]
    phrase = trim(parts(words))
    if any(c.dep_ == "relcl" and tree.after_comma(c) and tree.last(c) == phrase[-1].i for c in noun.rights):
        phrase = (*phrase, *added(","))
    if _first(noun).dep_ in tree.SUBJECTS:
        return phrase
    return tuple(DraftWord(ADDED, "the") if part.text.lower() in tree.ARTICLES else part for part in phrase)


def _possessive(tokens: Sequence[Token], predicate: Predicate) -> Draft:
    owner = tokens[predicate.root]
    own, owned = sorted(predicate.arguments, key=lambda a: a.root != predicate.root)
    whose = tuple(p._replace(text=AS_SUBJECT.get(p.text.lower(), p.text)) for p in _noun_phrase(tokens, own))
    plural = tree.is_plural(owner) or owner.lower_ in {"their", "our", "my", "your"}
    has = "had" if tree.is_past(owner) else "have" if plural else "has"
    noun = tokens[owned.root]
    article = ("a",) if noun.tag_ == "NN" and _is_counted(noun) else ()
    return (*whose, *added(has, *article), *trim(parts(tokens[n] for n in set(owned.tokens))))


class Fluent:
    """Rewording with one prompt a claim. Only the wording changes: the spans stay those of the rules."""

    def __init__(self, settings: Settings) -> None:
        """Raises Unavailable if no endpoint is configured."""
        self.llm, self.prompt = Llm(settings), prompts.load("predpatt_fluent.v2", settings)
        self.version = f"{self.prompt.version}/{self.llm.version}"

    def reword(self, claims: Sequence[Claim], stop: threading.Event | None = None) -> Segmented:
        """Reword the claims that are less than their sentence; where a reply fails, the rules' wording is kept."""
        self.llm.stop = stop or self.llm.stop
        cut = [claim for claim in claims if _is_cut(claim)]
        wordings: dict[str, str] = {}
        failures: list[Failure] = []
        for claim, reply in zip(cut, self.llm.map(list(map(self._question, cut)), Claims), strict=True):
            try:
                wordings[claim.id] = _wording(reply)
            except LlmFailed as error:
                message = f"{error}; {KEPT}"
                failures.append(LlmFailed(message, detail=error.detail).as_failure("segment", claim.text[:200]))
        reworded = [c.model_copy(update={"text": wordings.get(c.id, c.text)}) for c in claims]
        return Segmented(merge(reworded), tuple(failures), self.llm.usage, self.version)

    def estimate(self, claims: Sequence[Claim]) -> LlmUsage:
        """Estimate the usage of rewording, without a request."""
        return self.llm.estimate([self._question(c) for c in claims if _is_cut(c)], Claims, TOKENS_PER_CLAIM)

    def _question(self, claim: Claim) -> Question:
        return Question.of(self.prompt, statement=claim.text)


def _is_cut(claim: Claim) -> bool:
    return claim.sentence is not None and claim.spans != (claim.sentence,)


def _wording(reply: Reply[Claims] | LlmFailed) -> str:
    """Return the sentence of a reply. Raises LlmFailed for more than one, or none."""
    if isinstance(reply, LlmFailed):
        raise reply
    texts = list(filter(None, map(clean, reply.value.claims)))
    if len(texts) != 1:
        raise LlmFailed(f"the language model wrote {len(texts)} sentences where one was expected")
    return texts[0]
