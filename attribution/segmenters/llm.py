"""Segment with a language model, sentence by sentence: the decomposers of W24 4.1 and W24 4.3."""

from __future__ import annotations

import re
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from pydantic import BaseModel, ConfigDict

from attribution.errors import LlmFailed
from attribution.llm import prompts
from attribution.llm.client import Llm, Question, Reply
from attribution.llm.prompts import Example
from attribution.retrieval.bm25 import Texts
from attribution.segmenters.alignment import Rewrite, replace_sentences
from attribution.segmenters.sentences import Sentences
from attribution.settings import Settings
from attribution.text.parse import VERBAL, parse
from attribution.text.passages import plain
from attribution.text.ud import to_conllu
from attribution.types import Claim, LlmUsage, Segmented

REPLY_TOKENS = 120  # approximate, for the claims of one sentence; for estimates
MAX_CLAIM = 1000  # characters of a claim
LONGEST_PARSE = (
    9_000  # characters of a prompt with parses: the 4,096 tokens of W24 B less 512 for the reply
)
_ITEM = re.compile(r"^\s*(?:[-*•–]\s+|\(?\d{1,2}[.)]\s+)")
CUT_OFF = "the language model's reply was cut off: its complete claims are kept; raise llm_tokens"


class Claims(BaseModel):
    """The reply that every segmenter asks for."""

    model_config = ConfigDict(extra="forbid")

    claims: list[str]


@dataclass(frozen=True)
class Decomposer:
    """A decomposer: its prompt, its bank of examples, and the number of examples in a prompt (W24
    Table 1).
    """

    prompt: str
    bank: str = ""
    fixed: int = 0  # the first ones of the bank
    retrieved: int = 0  # the nearest of the rest, by BM25
    parsed: bool = False  # the prompt shows dependency parses in the sentences' place


METHODS = {
    "factscore": Decomposer("factscore.v1", "factscore", fixed=7, retrieved=1),
    "factscore-2": Decomposer("factscore.v1", "factscore", fixed=1, retrieved=1),  # W24 8.2
    "wice": Decomposer("wice.v1", "wice", fixed=6),
    "chen": Decomposer("chen.v2", "factscore", fixed=7, retrieved=1),
    "conllu": Decomposer("conllu.v2", "factscore", fixed=1, retrieved=1, parsed=True),
    "r_nd": Decomposer("r_nd.v2", "r_nd", fixed=7, retrieved=1),
}


class BySentence:
    """A segmenter that rewrites each statement as claims, aligned with the words of its sentence."""

    def __init__(self, method: Decomposer, settings: Settings) -> None:
        self.llm = Llm(settings)
        self.method = method
        self.prompt = prompts.load(method.prompt, settings)
        self.version = f"{self.prompt.version}/{self.llm.version}"
        self._sentences = Sentences(settings)

    def segment(self, question: str, answer: str, stop: threading.Event | None = None) -> Segmented:
        """Return claims in the order of the answer. A sentence without a reply is reported and kept
        as one claim.
        """
        self.llm.stop = stop or self.llm.stop
        sentences = self._sentences.segment(question, answer).claims
        questions = self._questions(sentences)
        replies = self.llm.map(list(questions.values()), Claims)
        rewrites = dict(zip(questions, map(as_rewrite, replies), strict=True))
        claims, failures = replace_sentences(question, answer, sentences, rewrites)
        return Segmented(claims, failures, self.llm.usage, self.version)

    def estimate(self, question: str, answer: str) -> LlmUsage:
        """Estimate the use of the language model, without a request."""
        questions = self._questions(self._sentences.segment(question, answer).claims)
        return self.llm.estimate(list(questions.values()), Claims, REPLY_TOKENS)

    def _questions(self, sentences: Sequence[Claim]) -> dict[str, Question]:
        """Return the prompts by the ids of the statements; one that fits into none stays as it is
        (W24 B).
        """
        questions: dict[str, Question] = {}
        for sentence in sentences:
            question = self._question(sentence.text) if is_statement(sentence.text) else None
            if question:
                questions[sentence.id] = question
        return questions

    def _question(self, sentence: str) -> Question | None:
        examples = examples_for(self.method, sentence)
        if not self.method.parsed:
            return Question.of(self.prompt, sentence=sentence, examples=examples)
        conllu = to_conllu(parse(sentence))
        shown: list[dict[str, object]] = []
        for example in examples:
            shown.append({"conllu": to_conllu(parse(example.sentence)), "claims": example.claims})
        for left_out in range(len(shown) + 1):  # until the prompt fits, as W24 B has it
            question = Question.of(self.prompt, conllu=conllu, examples=shown[left_out:])
            if len(question.text) <= LONGEST_PARSE:
                return question
        return None


factscore = partial(BySentence, METHODS["factscore"])
factscore_2 = partial(BySentence, METHODS["factscore-2"])
wice = partial(BySentence, METHODS["wice"])
chen = partial(BySentence, METHODS["chen"])
conllu = partial(BySentence, METHODS["conllu"])
r_nd = partial(BySentence, METHODS["r_nd"])


def as_rewrite(reply: Reply[Claims] | LlmFailed) -> Rewrite:
    """Return the claims of a reply, and the problem with it, if any."""
    if isinstance(reply, LlmFailed):
        return Rewrite((), str(reply), reply.detail)
    texts = tuple(filter(None, map(clean, reply.value.claims)))
    if not texts:
        return Rewrite((), "the language model found no claim")
    return Rewrite(texts, CUT_OFF if reply.truncated else "")


def is_statement(sentence: str) -> bool:
    """Return True for a statement: at least three words, not a question, and with a verb or a
    digit.
    """
    if sentence.rstrip("\"'”’)").endswith("?") or len(sentence.split()) < 3:
        return False
    has_digit = any(c.isdigit() for c in sentence)
    return has_digit or any(t.pos_ in VERBAL for t in parse(sentence))


def clean(text: str) -> str:
    """Return a claim on one line, without Markdown and control characters; empty if nothing is
    left.
    """
    text = "".join(c if c.isprintable() else " " for c in text)
    text = plain(_ITEM.sub("", " ".join(text.split()))[:MAX_CLAIM])
    return text if any(c.isalnum() for c in text) else ""


def examples_for(method: Decomposer, sentence: str) -> list[Example]:
    """Return the method's fixed examples, then those of its bank that are nearest to the sentence."""
    bank = prompts.examples(method.bank)
    rest = bank[method.fixed :]
    return [*bank[: method.fixed], *(rest[i] for i in _nearest(sentence, rest)[: method.retrieved])]


def _nearest(sentence: str, bank: Sequence[Example]) -> list[int]:
    """Return indices into the bank by BM25, best first; examples without a common word come last."""
    texts = Texts([example.sentence for example in bank])
    ranked = [number for number, _ in texts.ranked(sentence, shortest=1)]
    return list(dict.fromkeys([*ranked, *range(len(bank))]))
