"""Extract predicates with their arguments, like PredPatt (White et al. 2016; W24 4.2): one claim each.

Relative, participial and appositive clauses borrow their subject, conjuncts share arguments, and adjectives,
possessives and appositions are predicates too ("be", "poss"). The wording comes from the parse: complete but plain, and
without speaker or condition, as W24 found. If a language model is configured, it rewords the claims, as
W24 does.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from dataclasses import replace

from spacy.tokens import Doc, Token

from attribution.errors import LlmFailed
from attribution.llm import prompts
from attribution.llm.client import Llm, Question, Reply
from attribution.segmenters.alignment import merge
from attribution.segmenters.english import tree
from attribution.segmenters.english.drafts import ADDED, LEXICON, Draft, added, covers, parts, segment, trim
from attribution.segmenters.english.faithful import is_sound
from attribution.segmenters.english.repairs import repair
from attribution.segmenters.english.scope import has_to, is_reliable, joined_by_and
from attribution.segmenters.llm import Claims, clean
from attribution.settings import Settings
from attribution.types import Claim, Failure, LlmUsage, Segmented, Span

ASIDE = {"relcl", "appos", "conj", "cc", "punct", "preconj", "mark", "advcl", "parataxis", "dep", "intj"}
NOMINAL = {"NOUN", "PROPN", "PRON"}
KEPT = "the claims keep the wording of the rules"
TOKENS_PER_CLAIM = 20  # about; for estimates
AS_SUBJECT = {"his": "he", "her": "she", "its": "it", "their": "they", "our": "we"}


class PredPatt:
    """Segmenter `predpatt`."""

    def __init__(self, settings: Settings) -> None:
        self.fluent = Fluent(settings) if settings.has_llm else None

    def segment(self, question: str, answer: str, stop: threading.Event | None = None) -> Segmented:
        """Return claims in the order of the answer; a sentence without a predicate and its subject stays whole."""
        segmented = segment(answer, split, stop)
        if self.fluent is None:
            return segmented
        reworded = self.fluent.reword(answer, segmented.claims, stop)
        return replace(reworded, failures=(*segmented.failures, *reworded.failures))

    def estimate(self, question: str, answer: str) -> LlmUsage | None:
        """Estimate the cost of rewording the claims; None without a language model."""
        return self.fluent.estimate(answer, segment(answer, split).claims) if self.fluent else None


def split(parsed: Doc) -> list[Draft]:
    """Return the predications of a sentence in order; none if they miss some of its content."""
    doc, drafts = repair(parsed), list[Draft]()
    for token in doc if is_reliable(doc) else ():
        drafts += [draft for draft in predications(token) if draft not in drafts and is_sound(doc, draft)]
    return drafts if drafts and covers(doc, drafts) else []


def predications(token: Token) -> Iterator[Draft]:
    """Yield the predications of a token: as a verb, apposition, adjective or possessive."""
    noun = token.head
    if _is_hyphenated(token):
        return
    main = token.pos_ in tree.VERBAL and token.dep_ not in {*tree.AUXILIARIES, "amod", "compound", "prep"}
    if main and not any(_is_condition(t) for t in (token, *token.ancestors)):  # a condition stays with its clause
        yield from clause(token)
    if (
        token.dep_ == "appos"
        and noun.pos_ in {"PROPN", "NOUN"}
        and not _is_part_of_place(token)
        and not token.lower_.endswith(("self", "selves"))
    ):
        yield (*argument(noun), tree.be(noun, tree.is_past(token)), *trim(parts(_argument_words(token))))
    elif token.dep_ == "amod" and noun.pos_ in {"NOUN", "PROPN"} and token.lower_ not in LEXICON["determining"]:
        if token.tag_ in {"JJ", "VBN"} and not _is_hyphenated(noun):
            described = _without(argument(noun), {t.i for t in token.subtree})
            yield (*described, tree.be(noun, tree.is_past(token)), *parts(tree.own_words(token)))
    elif token.dep_ == "poss" and token.lower_ not in {"my", "your"} and not _is_within_name(token):
        owner = tuple(
            part._replace(text=AS_SUBJECT.get(part.text.lower(), part.text))
            for part in argument(token)
            if part.text not in {"'s", "’s", "'", "’"}
        )
        out = {t.i for t in token.subtree} | {c.i for c in noun.children if c.lower_ == "own"}
        plural = tree.is_plural(token) or token.lower_ in {"their", "our"}
        yield (
            *owner,
            *added("had" if tree.is_past(token) else "have" if plural else "has"),
            *_without(argument(noun), out),
        )


def _without(draft: Draft, out: set[int]) -> Draft:
    return tuple(part for part in draft if part.i not in out)


def _is_part_of_place(token: Token) -> bool:
    """Return True for the country in "Lima, Peru", which is no apposition."""
    return token.dep_ == "appos" and token.pos_ == token.head.pos_ == "PROPN" and not tree.has_determiner(token)


def _is_hyphenated(token: Token) -> bool:
    """Return True for a part of a word with a hyphen or slash."""
    return any(t.text in {"-", "/"} for t in token.doc[max(0, token.i - 1) : token.i + 2])


def _is_within_name(owner: Token) -> bool:
    """Return True for a possessive within a name: what follows has a capital, as in "World's Fair"."""
    return owner.head.text[:1].isupper()


def _is_condition(clause: Token) -> bool:
    return clause.dep_ == "advcl" and any(
        (c.dep_ == "mark" and c.lower_ in LEXICON["conditions"]) or c.lower_ in {"when", "whenever", "once"}
        for c in clause.children
    )


def argument(noun: Token) -> Draft:
    """Return a noun phrase without its clauses."""
    own = {t.i for t in _argument_words(noun)} | {ADDED}
    return trim(tuple(part for part in tree.as_subject(noun) if part.i in own))


def subject_of(verb: Token) -> Token | None:
    """Return the verb's own subject, or the one it borrows from the clause it depends on."""
    while True:
        subject = tree.child(verb, tree.SUBJECTS)
        if subject is not None and subject.tag_ not in {"WP", "WDT"}:
            return subject
        if subject is not None or verb.dep_ in {"relcl", "acl"}:
            described = verb.dep_ in {"relcl", "acl"} and verb.head.pos_ in NOMINAL
            return tree.referent(verb.head) if described else None
        if verb.dep_ not in {"conj", "xcomp", "advcl"} or verb.head == verb:
            return None
        verb = verb.head


def clause(verb: Token) -> Iterator[Draft]:
    """Yield subject, auxiliaries, predicate and arguments, once for each conjunct of the subject."""
    subject = subject_of(verb)
    if subject is None or _is_infinitive(verb):
        return
    helping = _auxiliaries(verb)
    if not helping and verb.dep_ == "conj":
        if tree.is_negated(verb.head):
            return  # "not eat and drink" says nothing about drinking alone
        if verb.tag_ in {"VB", "VBN", "VBG"}:
            helping = _auxiliaries(verb.head)
    if not tree.is_finite(verb) and (any(h.lower_ == "to" for h in helping) or subject.tag_ == "EX"):
        return  # "asks him to come" does not say that he does
    beside = [
        c for c in verb.children if c not in helping and (c.dep_ not in {*ASIDE, *tree.SUBJECTS} or _is_condition(c))
    ]
    beside = [c for c in beside if c.tag_ != "WRB"]
    front = [c for c in beside if c.i < subject.i < verb.i and subject.head == verb]
    setting: Draft = ()
    if front:
        setting = (*trim(parts(t for c in front for t in _argument_words(c))), *added(","))
    predicate = parts([*helping, verb, *(t for c in beside if c not in front for t in _argument_words(c))])
    if not tree.is_finite(verb) and not any(h.tag_ in tree.FINITE for h in helping):
        past_tense = verb.tag_ == "VBN" and tree.child(verb, {"dobj"}) is not None  # mistaken for a participle
        if not past_tense and verb.dep_ == "advcl" and not tree.comma_before(verb):
            return
        if not past_tense and verb.tag_ in {"VBN", "VBG"}:
            predicate = (tree.be(subject, tree.is_past(verb)), *(part for part in predicate if part.text != "being"))
        elif not past_tense and not helping and verb.dep_ not in {"conj", "xcomp"}:
            return
    nouns = [m for m in tree.conjuncts(subject) if m.pos_ in NOMINAL]
    several = len(nouns) > 1 and joined_by_and(tree.conjuncts(subject)) and subject.dep_ in tree.SUBJECTS
    for noun in nouns if several else [subject]:
        agreed = tree.agree(predicate, subject.head, noun) if len(tree.conjuncts(subject)) > 1 else predicate
        yield trim((*setting, *argument(noun), *agreed))


def _auxiliaries(verb: Token) -> list[Token]:
    return [c for c in verb.lefts if c.dep_ in {*tree.AUXILIARIES, "neg"}]


def _is_infinitive(verb: Token) -> bool:
    """Return True for an infinitive in a noun phrase: "the first woman to win"."""
    return verb.dep_ in {"relcl", "acl"} and has_to(verb)


def _argument_words(head: Token) -> list[Token]:
    """Return the words of an argument, with its conjuncts but without its clauses."""
    clauses = [d for d in head.subtree if d.dep_ in {"relcl", "appos", "parataxis"} and d != head]
    out = {t.i for d in clauses if not _is_infinitive(d) and not _is_part_of_place(d) for t in d.subtree}
    return [t for t in head.subtree if t.i not in out]


class Fluent:
    """Rewording with one prompt per sentence. Only the wording changes: the spans stay those of the rules."""

    def __init__(self, settings: Settings) -> None:
        """Raises Unavailable if no endpoint is configured."""
        self.llm, self.prompt = Llm(settings), prompts.load("predpatt_fluent.v1", settings)
        self.version = f"{self.prompt.version}/{self.llm.version}"

    def reword(self, answer: str, claims: Sequence[Claim], stop: threading.Event | None = None) -> Segmented:
        """Reword the claims sentence by sentence, in order; if a reply fails, the rules' wording is kept."""
        self.llm.stop = stop or self.llm.stop
        groups = list(_groups(claims).items())
        replies = self.llm.map([self._question(answer, span, group) for span, group in groups], Claims)
        wordings: dict[str, str] = {}
        failures: list[Failure] = []
        for (span, group), reply in zip(groups, replies, strict=True):
            try:
                wordings |= zip((c.id for c in group), _wordings(reply, len(group)), strict=True)
            except LlmFailed as error:
                subject = answer[slice(*span)][:200]
                failures.append(LlmFailed(f"{error}; {KEPT}", detail=error.detail).as_failure("segment", subject))
        reworded = [c.model_copy(update={"text": wordings.get(c.id, c.text)}) for c in claims]
        return Segmented(merge(reworded), tuple(failures), self.llm.usage, self.version)

    def estimate(self, answer: str, claims: Sequence[Claim]) -> LlmUsage:
        """Estimate the usage of rewording, without a request."""
        groups = _groups(claims)
        tokens = TOKENS_PER_CLAIM * sum(map(len, groups.values())) // max(1, len(groups))
        return self.llm.estimate([self._question(answer, s, g) for s, g in groups.items()], Claims, tokens)

    def _question(self, answer: str, span: Span, group: Sequence[Claim]) -> Question:
        statements = "\n".join(c.text for c in group)
        return Question.of(self.prompt, sentence=answer[slice(*span)], statements=statements)


def _groups(claims: Sequence[Claim]) -> dict[Span, list[Claim]]:
    """Group the claims by sentence, for the sentences that were split."""
    groups: dict[Span, list[Claim]] = {}
    for claim in claims:
        if claim.sentence is not None and claim.spans != (claim.sentence,):
            groups.setdefault(claim.sentence, []).append(claim)
    return groups


def _wordings(reply: Reply[Claims] | LlmFailed, expected: int) -> list[str]:
    """Return one wording for each claim. Raises LlmFailed if the number differs."""
    if isinstance(reply, LlmFailed):
        raise reply
    texts = [clean(text) for text in reply.value.claims]
    if len(texts) != expected or not all(texts):
        raise LlmFailed(f"the language model wrote {len(texts)} claims where {expected} were expected")
    return texts
