"""Predicates with their arguments as claims (PredPatt: White et al. 2016; W24 4.2 and appendix B).

A language model, if one is configured, writes each predicate as a sentence. Without one, the words
of the predicate stay in PredPatt's order, with "is" for an apposition or adjective and "has" for a
possessive.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence

from spacy.tokens import Doc, Token

from attribution.errors import LlmFailed
from attribution.llm import prompts
from attribution.llm.client import Llm, Question, Reply
from attribution.segmenters.alignment import merge
from attribution.segmenters.english import tree
from attribution.segmenters.english.drafts import ADDED, Draft, DraftWord, parts, segment, to_text
from attribution.segmenters.llm import Claims, clean
from attribution.segmenters.predicates import Argument, Predicate, predicates
from attribution.settings import Settings
from attribution.text.ud import to_ud
from attribution.types import Claim, Failure, LlmUsage, Segmented

KEPT = "the claim keeps the words of its predicate"
TOKENS_PER_CLAIM = 20  # approximate; for estimates
OWNERS = {"his": "he", "her": "she", "its": "it", "their": "they", "our": "we", "my": "I"}


class PredPatt:
    """Segmenter `predpatt`: every predicate with its arguments, also what the sentence denies,
    supposes or reports.
    """

    def __init__(self, settings: Settings) -> None:
        self.llm = Llm(settings) if settings.has_llm else None
        self.prompt = prompts.load("predpatt_fluent.v2", settings)

    def segment(self, question: str, answer: str, stop: threading.Event | None = None) -> Segmented:
        """Return claims in the order of the answer. A sentence without a predicate stays whole;
        where a reply fails, the claim keeps the words of its predicate.
        """
        segmented, utterances = _read(answer, stop)
        if self.llm is None:
            return segmented
        self.llm.stop = stop or self.llm.stop
        questions = self._questions(segmented.claims, utterances)
        replies = dict(zip(questions, self.llm.map(list(questions.values()), Claims), strict=True))
        claims: list[Claim] = []
        failures: list[Failure] = list(segmented.failures)
        for claim in segmented.claims:
            text = claim.text
            try:
                if claim.id in replies:
                    text = _label(text, utterances) + _sentence(replies[claim.id])
            except LlmFailed as error:
                failure = LlmFailed(f"{error}; {KEPT}", detail=error.detail)
                failures.append(failure.as_failure("segment", text[:200]))
            claims.append(claim.model_copy(update={"text": text}))
        version = f"{self.prompt.version}/{self.llm.version}"
        return Segmented(merge(claims), tuple(failures), self.llm.usage, version)

    def estimate(self, question: str, answer: str) -> LlmUsage | None:
        """Estimate the use of the language model, without a request; None without one."""
        if self.llm is None:
            return None
        segmented, utterances = _read(answer, None)
        questions = self._questions(segmented.claims, utterances)
        return self.llm.estimate(list(questions.values()), Claims, TOKENS_PER_CLAIM)

    def _questions(
        self, claims: Sequence[Claim], utterances: Mapping[str, str]
    ) -> dict[str, Question]:
        """Return the prompts by the ids of the claims that are predicates."""
        questions: dict[str, Question] = {}
        for claim in claims:
            statement = claim.text.removeprefix(_label(claim.text, utterances))
            if statement in utterances:
                utterance = utterances[statement]
                questions[claim.id] = Question.of(self.prompt, statement=utterance)
        return questions


def _label(text: str, utterances: Mapping[str, str]) -> str:
    """Return the label before a statement, "Cost: "; empty without one."""
    label, colon, _ = text.partition(": ")
    return "" if text in utterances or not colon else label + colon


def _sentence(reply: Reply[Claims] | LlmFailed) -> str:
    """Return the one sentence of a reply. Raises LlmFailed for any other number."""
    if isinstance(reply, LlmFailed):
        raise reply
    texts = list(filter(None, map(clean, reply.value.claims)))
    if len(texts) != 1:
        raise LlmFailed(f"the language model wrote {len(texts)} sentences where one was expected")
    return texts[0]


def _read(answer: str, stop: threading.Event | None) -> tuple[Segmented, dict[str, str]]:
    """Return the claims, and by their text PredPatt's own string, which the language model reads."""
    utterances: dict[str, str] = {}

    def split(doc: Doc) -> list[Draft]:
        tokens = [token for token in doc if not token.is_space]  # as `to_ud` counts them
        drafts: list[Draft] = []
        for predicate in predicates(to_ud(doc)):
            draft = _plain(tokens, predicate)
            utterances[to_text(doc, draft)] = _utterance(tokens, predicate)
            drafts.append(draft)
        return drafts

    return segment(answer, split, stop, least=1), utterances


def _ordered(tokens: Sequence[Token], predicate: Predicate, link: Draft) -> Draft:
    """Return the words in PredPatt's order: each argument stands where its root stands, and the
    link behind the noun that is described or owns.
    """
    subject = _described(predicate, tokens) if link else None
    blocks: list[tuple[int, Draft]] = []
    for argument in predicate.arguments:
        if argument is not subject:
            blocks.append((argument.root, _phrase(tokens, argument)))
    if predicate.kind != "poss":
        blocks += [(n, parts([tokens[n]])) for n in predicate.tokens]
    blocks.sort(key=lambda block: block[0])
    ordered = tuple(word for _, block in blocks for word in block)
    return (*_phrase(tokens, subject), *link, *ordered) if subject else ordered


def _phrase(tokens: Sequence[Token], argument: Argument) -> Draft:
    return parts(tokens[n] for n in set(argument.tokens))


def _described(predicate: Predicate, tokens: Sequence[Token]) -> Argument:
    """Return the owner of a possessive, or the noun that an apposition or adjective describes."""
    root = predicate.root
    place = root if predicate.kind == "poss" else tokens.index(tokens[root].head)
    return next((a for a in predicate.arguments if a.root == place), predicate.arguments[0])


def _utterance(tokens: Sequence[Token], predicate: Predicate) -> str:
    """Return PredPatt's own string, with "is/are" and "poss"."""
    words = {"normal": (), "poss": ("poss",)}.get(predicate.kind, ("is/are",))
    draft = _ordered(tokens, predicate, tuple(DraftWord(ADDED, word) for word in words))
    return " ".join(word.text for word in draft)


def _plain(tokens: Sequence[Token], predicate: Predicate) -> Draft:
    """Return the same words with a verb in the place of "is/are" and "poss"."""
    root = tokens[predicate.root]
    if predicate.kind == "normal":
        return _with_verb(tokens, predicate)
    noun = tokens[_described(predicate, tokens).root]
    if predicate.kind != "poss":
        return _ordered(tokens, predicate, (tree.be(noun, tree.is_past(root)),))
    is_plural = tree.is_plural(noun) or noun.lower_ in {"their", "our", "my"}
    has = "had" if tree.is_past(root) else "have" if is_plural else "has"
    draft = _ordered(tokens, predicate, (DraftWord(ADDED, has),))
    owner = draft[0]._replace(text=OWNERS.get(draft[0].text.lower(), draft[0].text))
    return (owner, *draft[1:])


def _with_verb(tokens: Sequence[Token], predicate: Predicate) -> Draft:
    """Add "is" to a participle without a finite verb: "Nash was born in Bluefield"."""
    draft = _ordered(tokens, predicate, ())
    root = tokens[predicate.root]
    is_finite = any(tokens[n].tag_ in tree.FINITE for n in predicate.tokens)
    first = predicate.arguments[0]
    if is_finite or root.tag_ not in {"VBN", "VBG"} or first.root > predicate.root:
        return draft
    noun = tokens[first.root]
    length = len(_phrase(tokens, first))
    return (*draft[:length], tree.be(noun, tree.is_past(root)), *draft[length:])
