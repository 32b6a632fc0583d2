"""Predicates with their arguments as claims, one each, by PredPatt's rules (White et al. 2016; W24
4.2, W24 B).

`english.predicates` finds them; this module puts them into words: "is" for an adjective or
apposition, "has" for a
possessive, a subject before its verb. With a language model, each is reworded by a prompt of its
own, as in W24.
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
from attribution.segmenters.english.drafts import (
    ADDED,
    LEXICON,
    Draft,
    DraftWord,
    added,
    covers,
    parts,
    segment,
    trim,
)
from attribution.segmenters.english.faithful import is_sound
from attribution.segmenters.english.modifiers import REASONS
from attribution.segmenters.english.predicates import Argument, Options, Predicate, predicates
from attribution.segmenters.english.repairs import repair
from attribution.segmenters.english.scope import is_reliable
from attribution.segmenters.llm import Claims, clean
from attribution.settings import Settings
from attribution.text.ud import to_ud
from attribution.types import Claim, Failure, LlmUsage, Segmented

KEPT = "the claim keeps the wording of the rules"
TOKENS_PER_CLAIM = 20  # about; for estimates
_UNCOUNTED = tuple(
    "ness ity tion sion ism ment nce ship hood dom ing th work ure cy auty ove time".split()
)
PUBLISHED = Options()
WHOLE = Options(
    appos=False, amod=False, conj=False, poss=False
)  # verbs, each with its arguments as they are
_UNSPLIT = frozenset('"“”;')  # quotations, and lists whose items the parser mixes up
AS_SUBJECT = {
    "his": "he",
    "her": "she",
    "its": "it",
    "their": "they",
    "our": "we",
    "my": "I",
    "your": "you",
}


class PublishedPredPatt:
    """Segmenter `predpatt-published`: every predication, also what the sentence denies, supposes or
    reports.
    """

    def __init__(self, settings: Settings) -> None:
        self.fluent = Fluent(settings) if settings.has_llm else None

    def split(self, parsed: Doc) -> list[Draft]:
        return predications(parsed)

    def segment(self, question: str, answer: str, stop: threading.Event | None = None) -> Segmented:
        """Return claims in the order of the answer; a sentence without a predicate and its argument
        stays whole.
        """
        segmented = segment(answer, self.split, stop)
        if self.fluent is None:
            return segmented
        reworded = self.fluent.reword(segmented.claims, stop)
        return replace(reworded, failures=(*segmented.failures, *reworded.failures))

    def estimate(self, question: str, answer: str) -> LlmUsage | None:
        """Estimate the cost of rewording the claims; None without a language model."""
        return self.fluent.estimate(segment(answer, self.split).claims) if self.fluent else None


class PredPatt(PublishedPredPatt):
    """Segmenter `predpatt`: clauses; of a sentence that these leave whole, the predications that it
    asserts.
    """

    def split(self, parsed: Doc) -> list[Draft]:
        if len(found := clauses(parsed)) > 1:
            return found
        doc = repair(parsed)
        made = (
            predications(doc, _is_telling, WHOLE)
            if is_reliable(doc) and not _UNSPLIT & {*doc.text}
            else []
        )
        sound = [d for d in made if is_sound(doc, d)]
        return sound if covers(doc, sound) else []


def predications(
    doc: Doc, wanted: Callable[[Token], bool] = lambda root: True, options: Options = PUBLISHED
) -> list[Draft]:
    """Return the predicates of a sentence with their arguments, as statements in its order."""
    tokens = [t for t in doc if not t.is_space]  # as `to_ud` counts them
    found = (p for p in predicates(to_ud(doc), options) if wanted(tokens[p.root]))
    return [
        draft for draft in dict.fromkeys(_worded(tokens, predicate) for predicate in found) if draft
    ]


def _is_telling(root: Token) -> bool:
    """Return False for what is no statement of its own: what describes a noun, accompanies a verb,
    or is supposed.
    """
    verb = root if root.pos_ in tree.VERBAL else root.head  # "is" of an adjective or a noun
    if verb.dep_ in {"acl", "advcl"} and not tree.is_finite(verb):
        aside = verb.tag_ == "VBN" and tree.after_comma(verb) and tree.child(verb, {"mark"}) is None
        return aside  # ", localized on one side", but not ", flooding it"
    clause = (
        verb.head if verb.dep_ == "advcl" else verb
    )  # "the reason is because …" says nothing without either
    if (
        clause.pos_ == "AUX"
        and tree.child(clause, {"advcl"})
        and tree.child(clause, {"acomp", "attr"}) is None
    ):
        return False
    if verb.dep_ == "advcl":
        return any(
            c.dep_ == "mark" and c.lower_ in REASONS | LEXICON["concession"] for c in verb.lefts
        )
    stated = tree.is_finite(verb) or verb.head.dep_ == "ROOT" and verb.tag_ == verb.head.tag_
    return stated and root.dep_ != "amod" and verb.dep_ not in {"relcl", "acl"}


def _worded(tokens: Sequence[Token], predicate: Predicate) -> Draft:
    root = tokens[predicate.root]
    if predicate.kind == "poss":
        return _possessive(tokens, predicate)
    subject = _subject(tokens, predicate)
    others = [a for a in predicate.arguments if a is not subject]
    marks = [
        c
        for a in others
        if tokens[a.root].dep_ == "ccomp"
        for c in tokens[a.root].lefts
        if c.dep_ == "mark"
    ]
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
    front = tuple(
        part for part in rest if ADDED < part.i < min(tokens[n].i for n in subject.tokens)
    )
    if predicate.relative and root.head.i in {part.i for part in front}:
        return ()  # the noun is neither the clause's subject nor put in its place
    if front and root.i > noun.i:
        setting = trim(tuple(part for part in front if noun.doc[part.i].tag_ != "WRB"))
        rest = (
            *setting,
            *added(*"," * bool(setting)),
            *_noun_phrase(tokens, subject),
            *rest[len(front) :],
        )
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
        if tokens[argument.root].i == described and (
            predicate.kind != "normal" or predicate.relative
        ):
            return argument
    return next(
        (a for a in predicate.arguments if _first(tokens[a.root]).dep_ in tree.SUBJECTS), None
    )


def _first(noun: Token) -> Token:
    """Return the first word of a coordination."""
    while noun.dep_ == "conj":
        noun = noun.head
    return noun


def _noun_phrase(tokens: Sequence[Token], argument: Argument) -> Draft:
    """Return an argument as a subject: definite where the sentence has introduced it elsewhere."""
    noun = tokens[argument.root]
    words = sorted((tokens[n] for n in set(argument.tokens)), key=lambda t: t.i)
    words = [
        t
        for before, t in pairwise((words[0], *words))
        if not (t.text == "," and before.dep_ in {"det", "poss"})
    ]
    phrase = trim(parts(words))
    if any(
        c.dep_ == "relcl" and tree.after_comma(c) and tree.last(c) == phrase[-1].i
        for c in noun.rights
    ):
        phrase = (*phrase, *added(","))
    if _first(noun).dep_ in tree.SUBJECTS:
        return phrase
    return tuple(
        DraftWord(ADDED, "the") if part.text.lower() in tree.ARTICLES else part for part in phrase
    )


def _possessive(tokens: Sequence[Token], predicate: Predicate) -> Draft:
    owner = tokens[predicate.root]
    own, owned = sorted(predicate.arguments, key=lambda a: a.root != predicate.root)
    whose = tuple(
        p._replace(text=AS_SUBJECT.get(p.text.lower(), p.text)) for p in _noun_phrase(tokens, own)
    )
    plural = tree.is_plural(owner) or owner.lower_ in {"their", "our", "my", "your"}
    has = "had" if tree.is_past(owner) else "have" if plural else "has"
    noun = tokens[owned.root]
    article = ("a",) if noun.tag_ == "NN" and not noun.lower_.endswith(_UNCOUNTED) else ()
    return (*whose, *added(has, *article), *trim(parts(tokens[n] for n in set(owned.tokens))))


class Fluent:
    """Rewording with one prompt a claim. Only the wording changes: the spans stay those of the
    rules.
    """

    def __init__(self, settings: Settings) -> None:
        """Raises Unavailable if no endpoint is configured."""
        self.llm, self.prompt = Llm(settings), prompts.load("predpatt_fluent.v2", settings)
        self.version = f"{self.prompt.version}/{self.llm.version}"

    def reword(self, claims: Sequence[Claim], stop: threading.Event | None = None) -> Segmented:
        """Reword the claims that are less than their sentence; where a reply fails, the rules'
        wording is kept.
        """
        self.llm.stop = stop or self.llm.stop
        cut = [claim for claim in claims if _is_cut(claim)]
        wordings: dict[str, str] = {}
        failures: list[Failure] = []
        for claim, reply in zip(
            cut, self.llm.map(list(map(self._question, cut)), Claims), strict=True
        ):
            try:
                wordings[claim.id] = _wording(reply)
            except LlmFailed as error:
                message = f"{error}; {KEPT}"
                failures.append(
                    LlmFailed(message, detail=error.detail).as_failure("segment", claim.text[:200])
                )
        reworded = [c.model_copy(update={"text": wordings.get(c.id, c.text)}) for c in claims]
        return Segmented(merge(reworded), tuple(failures), self.llm.usage, self.version)

    def estimate(self, claims: Sequence[Claim]) -> LlmUsage:
        """Estimate the usage of rewording, without a request."""
        return self.llm.estimate(
            [self._question(c) for c in claims if _is_cut(c)], Claims, TOKENS_PER_CLAIM
        )

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
