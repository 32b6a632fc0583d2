"""Segmenters that ask a language model sentence by sentence (the decomposers of W24, section 3)."""

from __future__ import annotations

import re
import sqlite3
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from pydantic import BaseModel, ConfigDict

from attribution.errors import LlmFailed
from attribution.llm import prompts
from attribution.llm.client import Answered, Llm, Question
from attribution.llm.prompts import Example
from attribution.segmenters.alignment import Similarity, align, merged
from attribution.segmenters.sentences import Sentences
from attribution.settings import Settings
from attribution.text.nlp import parse
from attribution.types import Claim, Failure, LlmUsage, Segmented, Span

REPLY_TOKENS = 120  # of one sentence's claims, about; for estimates
LONGEST = 1000  # characters of a claim
KEPT = "the sentence is kept as it is"


class Claims(BaseModel):
    """What every segmenter asks for."""

    model_config = ConfigDict(extra="forbid")

    claims: list[str]


@dataclass(frozen=True)
class Method:
    """One decomposer: its prompt, its bank of examples, and how many of them are shown."""

    prompt: str
    bank: str = ""
    fixed: int = 0  # the first ones of the bank
    retrieved: int = 0  # the nearest ones of the rest, by BM25
    parsed: bool = False  # the sentence's dependency parse is shown too


METHODS = {
    "factscore": Method("factscore.v1", "factscore", fixed=7, retrieved=1),
    "wice": Method("wice.v1", "wice", fixed=6),
    "chen": Method("chen.v1"),
    "conllu": Method("conllu.v1", parsed=True),
    "r_nd": Method("r_nd.v1", "r_nd", fixed=7, retrieved=1),
}


class BySentence:
    """A decomposer: every sentence that states something is rewritten as claims and aligned with its words."""

    def __init__(
        self, method: Method, settings: Settings, stop: threading.Event | None = None, similar: Similarity | None = None
    ) -> None:
        self.llm = Llm(settings, stop=stop)
        self.method, self.prompt = method, prompts.load(method.prompt)
        self.version = f"{self.prompt.version}/{self.llm.version}"
        self._sentences, self._similar = Sentences(settings), similar

    def segment(self, question: str, answer: str, stop: threading.Event | None = None) -> Segmented:
        """Claims in the order of the answer. A sentence that fails is a failure and stays as the claim it is."""
        self.llm.stop = stop or self.llm.stop
        sentences = self._sentences.segment(question, answer).claims
        asked = [s for s in sentences if states(s.text)]
        replies = dict(
            zip((s.id for s in asked), self.llm.map([self._question(s) for s in asked], Claims), strict=True)
        )
        claims: list[Claim] = []
        failures: list[Failure] = []
        for sentence in sentences:
            if sentence.id not in replies:
                claims.append(sentence)
                continue
            made, failure = self._claims(question, answer, sentence, replies[sentence.id])
            claims += made
            failures += [failure] if failure else []
        return Segmented(merged(claims), tuple(failures), self.llm.usage, self.version)

    def estimate(self, question: str, answer: str) -> LlmUsage:
        """What segmenting would take, without asking."""
        asked = [s for s in self._sentences.segment(question, answer).claims if states(s.text)]
        return self.llm.estimate([self._question(s) for s in asked], Claims, REPLY_TOKENS)

    def _question(self, sentence: Claim) -> Question:
        inputs: dict[str, object] = {"sentence": sentence.text}
        if self.method.bank:
            inputs["examples"] = chosen(self.method, sentence.text)
        if self.method.parsed:
            inputs["conllu"] = conllu_text(sentence.text)
        return Question(self.prompt.render(**inputs), self.prompt.version)

    def _claims(
        self, question: str, answer: str, sentence: Claim, reply: Answered[Claims] | LlmFailed
    ) -> tuple[list[Claim], Failure | None]:
        if isinstance(reply, LlmFailed):
            return [sentence], LlmFailed(f"{reply}; {KEPT}").as_failure("segment", sentence.text)
        made = []
        for text in filter(None, map(tidy, reply.value.claims)):
            parts = [align(text, answer, [span], question, self._similar) for span in sentence.spans]
            spans: tuple[Span, ...] = tuple(s for p in parts for s in p.spans)
            sure = max(p.confidence for p in parts)
            made.append(Claim(id=sentence.id, text=text, spans=spans, sentence=sentence.sentence, alignment=sure))
        if not made:
            return [sentence], LlmFailed(f"the language model found no claim; {KEPT}").as_failure(
                "segment", sentence.text
            )
        return made, cut_off(sentence.text) if reply.truncated else None


factscore = partial(BySentence, METHODS["factscore"])
wice = partial(BySentence, METHODS["wice"])
chen = partial(BySentence, METHODS["chen"])
conllu = partial(BySentence, METHODS["conllu"])
r_nd = partial(BySentence, METHODS["r_nd"])


def cut_off(subject: str) -> Failure:
    message = "the language model's reply was cut off: the claims that came whole are kept; raise llm_tokens"
    return LlmFailed(message).as_failure("segment", subject)


def states(sentence: str) -> bool:
    """Does it state something? Not a question, and with a verb or a figure."""
    if sentence.rstrip("\"'”’)").endswith("?") or len(sentence.split()) < 3:
        return False
    return any(c.isdigit() for c in sentence) or any(t.pos_ in ("VERB", "AUX") for t in parse(sentence))


def tidy(text: str) -> str:
    """A claim on one line, without list marks and control characters; empty where nothing is left."""
    text = "".join(c if c.isprintable() else " " for c in text)
    text = re.sub(r"^\s*(?:[-*•–]\s+|\(?\d{1,2}[.)]\s+)", "", " ".join(text.split()))[:LONGEST].strip()
    return text if any(c.isalnum() for c in text) else ""


def chosen(method: Method, sentence: str) -> list[Example]:
    """The method's fixed examples and those of its bank that are nearest to the sentence."""
    bank = prompts.examples(method.bank)
    rest = bank[method.fixed :]
    return [*bank[: method.fixed], *(rest[i] for i in nearest(sentence, rest)[: method.retrieved])]


def nearest(sentence: str, bank: Sequence[Example]) -> list[int]:
    """Indices of the bank by BM25 of their sentences, best first; those without a common word come last."""
    words = " OR ".join(f'"{word}"' for word in dict.fromkeys(re.findall(r"\w+", sentence.casefold())))
    with sqlite3.connect(":memory:") as db:
        db.execute("CREATE VIRTUAL TABLE bank USING fts5(sentence, tokenize = 'porter unicode61')")
        db.executemany("INSERT INTO bank(rowid, sentence) VALUES (?, ?)", enumerate(e.sentence for e in bank))
        ranked = "SELECT rowid FROM bank WHERE bank MATCH ? ORDER BY bm25(bank), rowid"
        found = [row for (row,) in db.execute(ranked, (words,))] if words else []
    db.close()
    return [*found, *(i for i in range(len(bank)) if i not in set(found))]


def conllu_text(sentence: str) -> str:
    """The sentence in CoNLL-U (ten columns) with spaCy's tags and dependencies; heads count from 1, 0 is the root."""
    lines = [f"# text = {sentence}"]
    words = [t for t in parse(sentence) if not t.is_space]
    number = {t.i: n for n, t in enumerate(words, 1)}
    for t in words:
        root = t.head.i == t.i or t.head.i not in number
        head, relation = (0, "root") if root else (number[t.head.i], t.dep_)
        space = "_" if t.whitespace_ else "SpaceAfter=No"
        columns = (number[t.i], t.text, "_", t.pos_, t.tag_, str(t.morph) or "_", head, relation, "_", space)
        lines.append("\t".join(map(str, columns)))
    return "\n".join(lines)
