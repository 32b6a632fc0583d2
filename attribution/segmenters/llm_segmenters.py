"""Segment with a language model: the decomposers of W24 4.1 and W24 4.3, and V24's direct one.

The first read one sentence; the last reads question and answer together (V24 5.1.2).
"""

from __future__ import annotations

import re
import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

from pydantic import BaseModel, ConfigDict

from attribution.errors import LlmFailed
from attribution.llm import prompts
from attribution.llm.client import CHARACTERS_PER_TOKEN, Llm, Question
from attribution.llm.endpoint import EndpointFailed
from attribution.llm.prompts import Example
from attribution.retrieval.bm25 import Texts
from attribution.segmenters.alignment import Rewrite, aligned_claim, merge, replace_sentences
from attribution.segmenters.english.ud import to_conllu
from attribution.segmenters.sentence_by_sentence import Sentences
from attribution.settings import Settings
from attribution.text.parse import parse
from attribution.text.passages import plain
from attribution.text.words import printable
from attribution.types import Claim, Failure, LlmUsage, Segmented

REPLY_TOKENS = 120  # approximate, for the claims of one sentence; for estimates
MAX_CLAIM = 1000  # characters of a claim
# Characters of a prompt with parses: the 4,096 tokens of W24 B less 512 for the reply.
LONGEST_PARSE = 9_000
CUT_OFF = "the language model's reply was cut off: its complete claims are kept; raise llm_tokens"
_ITEM = re.compile(r"^\s*(?:[-*•–]\s+|\(?\d{1,2}[.)]\s+)")


class Claims(BaseModel):
    """The reply that every segmenter asks for."""

    model_config = ConfigDict(extra="forbid")

    claims: list[str]


@dataclass(frozen=True)
class Decomposer:
    """A prompt, its bank of examples, and the number of examples in a prompt (W24 Table 1).

    Attributes:
        prompt: The name of the prompt.
        bank: The name of the bank.
        fixed: The first ones of the bank.
        retrieved: The nearest of the rest, by BM25.
        is_parsed: The prompt shows dependency parses in the sentences' place.
    """

    prompt: str
    bank: str = ""
    fixed: int = 0
    retrieved: int = 0
    is_parsed: bool = False


class LlmSegmenter:
    """Base of segmenters with one prompt."""

    def __init__(self, prompt: str, settings: Settings) -> None:
        self.llm = Llm(settings)
        self.prompt = prompts.load(prompt, settings)
        self.version = f"{self.prompt.version}/{self.llm.version}"
        self._sentences = Sentences(settings)


class BySentence(LlmSegmenter):
    """A segmenter that rewrites each sentence as claims, aligned with the sentence's words."""

    def __init__(self, method: Decomposer, settings: Settings) -> None:
        super().__init__(method.prompt, settings)
        self.method = method
        self.bank = prompts.examples(method.bank, settings)

    def segment(self, question: str, answer: str, stop: threading.Event | None = None) -> Segmented:
        """Return claims in the order of the answer.

        A sentence without a reply is reported and kept as one claim.
        """
        self.llm.stop = stop or self.llm.stop
        sentences = self._sentences.segment(question, answer).claims
        questions = self._questions(sentences)
        replies = self.llm.map(list(questions.values()), Claims)
        rewrites: dict[str, Rewrite] = {}
        for sentence_id, reply in zip(questions, replies, strict=True):
            rewrites[sentence_id] = as_rewrite(reply)
        claims, failures = replace_sentences(question, answer, sentences, rewrites)
        return Segmented(claims, failures, self.llm.usage, self.version)

    def decompose(self, sentences: Sequence[str]) -> list[list[str]]:
        """Return the claims of each sentence as they were written.

        Nothing is left out, merged or cleaned. An unusable reply is an empty claim, and a sentence
        that fits into no prompt is its own claim.

        Raises:
            EndpointFailed: The language model cannot be asked.
        """
        written: list[list[str]] = []
        questions = [self._question(sentence) for sentence in sentences]
        replies = iter(self.llm.map([q for q in questions if q], Claims))
        for sentence, question in zip(sentences, questions, strict=True):
            if question is None:
                written.append([sentence])
                continue
            reply = next(replies)
            if isinstance(reply, EndpointFailed):
                raise reply
            written.append([""] if isinstance(reply, LlmFailed) else reply.claims)
        return written

    def estimate(self, question: str, answer: str) -> LlmUsage:
        """Estimate the use of the language model, without a request."""
        questions = self._questions(self._sentences.segment(question, answer).claims)
        return self.llm.estimate(list(questions.values()), Claims, REPLY_TOKENS)

    def _questions(self, sentences: Sequence[Claim]) -> dict[str, Question]:
        """Return the prompts by the ids of the sentences; one that fits into none has none."""
        questions: dict[str, Question] = {}
        for sentence in sentences:
            question = self._question(sentence.text)
            if question:
                questions[sentence.id] = question
        return questions

    def _question(self, sentence: str) -> Question | None:
        examples = self.examples(sentence)
        if not self.method.is_parsed:
            return Question.of(self.prompt, sentence=sentence, examples=examples)
        conllu = to_conllu(parse(sentence))
        shown: list[dict[str, object]] = []
        for example in examples:
            parsed = to_conllu(parse(example.sentence))
            shown.append({"conllu": parsed, "claims": example.claims})
        for left_out in range(len(shown) + 1):  # until the prompt fits, as W24 B has it
            question = Question.of(self.prompt, conllu=conllu, examples=shown[left_out:])
            if len(question.text) <= LONGEST_PARSE:
                return question
        return None

    def examples(self, sentence: str) -> list[Example]:
        """Return the fixed examples, then those of the bank that are nearest to the sentence."""
        fixed = list(self.bank[: self.method.fixed])
        rest = self.bank[self.method.fixed :]
        texts = Texts([example.sentence for example in rest])
        ranked = [rest[number] for number, _ in texts.ranked(sentence, every_word=True)]
        ranked += [example for example in rest if example not in ranked]
        return fixed + ranked[: self.method.retrieved]


FACTSCORE = Decomposer("w24/factscore.v2", "factscore", fixed=7, retrieved=1)
factscore = partial(BySentence, FACTSCORE)
factscore_2 = partial(BySentence, replace(FACTSCORE, fixed=1))  # W24 8.2
wice = partial(BySentence, Decomposer("w24/wice.v2", "wice", fixed=6))
chen = partial(BySentence, replace(FACTSCORE, prompt="w24/chen.v3"))
conllu = partial(
    BySentence,
    Decomposer("w24/conllu.v3", "factscore", fixed=1, retrieved=1, is_parsed=True),
)
r_nd = partial(BySentence, Decomposer("w24/r_nd.v3", "r_nd", fixed=7, retrieved=1))


def as_rewrite(reply: Claims | LlmFailed) -> Rewrite:
    """Return the claims of a reply, and the problem with it, if any."""
    if isinstance(reply, LlmFailed):
        return Rewrite((), str(reply), reply.detail)
    return rewrite(reply.claims)


def rewrite(written: Sequence[str], is_complete: bool = True) -> Rewrite:
    """Return the claims that a model wrote, cleaned, and the problem with them, if any."""
    texts = tuple(filter(None, map(clean, written)))
    if not texts:
        return Rewrite((), "the model found no claim")
    return Rewrite(texts, "" if is_complete else CUT_OFF)


def clean(text: str) -> str:
    """Return a claim on one line, without Markdown and control characters.

    Empty if nothing is left.
    """
    text = plain(_ITEM.sub("", printable(text))[:MAX_CLAIM])
    return text if any(c.isalnum() for c in text) else ""


# --- the whole answer ---


class Direct(LlmSegmenter):
    """Segmenter `direct`."""

    def __init__(self, settings: Settings) -> None:
        super().__init__("direct.v1", settings)

    def segment(self, question: str, answer: str, stop: threading.Event | None = None) -> Segmented:
        """Return claims in the order of the answer; those that are not in it come last.

        Without a usable reply, its sentences are the claims.
        """
        self.llm.stop = stop or self.llm.stop
        sentences = self._sentences.segment(question, answer).claims
        (reply,) = self.llm.map([self._question(question, answer)], Claims)
        rewrite = as_rewrite(reply)
        spans = [span for sentence in sentences for span in sentence.spans]
        claims = [aligned_claim(text, answer, spans, question) for text in rewrite.texts]
        end = len(answer)
        claims.sort(key=lambda claim: claim.spans or ((end, end),))
        failures: list[Failure] = []
        if rewrite.problem:
            kept = "" if claims else "; the sentences are kept as they are"
            failure = LlmFailed(rewrite.problem + kept, detail=rewrite.detail)
            failures.append(failure.as_failure("segment", answer[:200]))
        ordered = merge(claims) if claims else sentences
        return Segmented(ordered, tuple(failures), self.llm.usage, self.version)

    def estimate(self, question: str, answer: str) -> LlmUsage:
        """Estimate the usage of segmenting, without a request."""
        tokens = len(answer) // CHARACTERS_PER_TOKEN
        return self.llm.estimate([self._question(question, answer)], Claims, tokens)

    def _question(self, question: str, answer: str) -> Question:
        return Question.of(self.prompt, question=question or "(not known)", answer=answer)
