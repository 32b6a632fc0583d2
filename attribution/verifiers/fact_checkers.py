"""Fact checkers with two outputs, supported or not: MiniCheck (Tang et al. 2024) and FactCG (Lei et
al. 2025).

A document is read in chunks of whole sentences, in the input format of each repository, and the
most certain chunk counts. Neither distinguishes a contradiction from silence: the NLI model beside
them divides what is not supported.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from attribution.models import files, nli
from attribution.settings import Settings
from attribution.text.sentences import sentences
from attribution.types import Judgement, Pair, Probabilities
from attribution.verifiers import VERIFIERS, beside, download, model_of
from attribution.verifiers.calibration import softmax
from attribution.verifiers.reader import check_claim_tokens, check_pairs

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

CLOSE = 1e-6  # of a share that is nothing
_FACTCG = (
    "{document}\n\nChoose your answer: based on the paragraph above can we conclude that "
    '"{claim}"?\n\n'
    "OPTIONS:\n- Yes\n- No\nI think the answer is "
)


@dataclass(frozen=True)
class InputFormat:
    """The input of a fact checker: how a document is cut, and how chunk and claim are joined."""

    size: int  # of a chunk, in tokens, or for T5 and FactCG in words
    between: str  # sentences
    tokens: int  # that are read; more are cut off
    by_words: bool
    text: Callable[[str, str, str], str]  # chunk, claim and the tokenizer's end mark → input


def _minicheck(chunk: str, claim: str, end: str) -> str:
    return f"{chunk}{end}{claim}"


ROBERTA = InputFormat(400, " ", 512, False, _minicheck)
DEBERTA = InputFormat(400, " ", 2048, False, _minicheck)
T5 = InputFormat(
    500, " ", 2048, True, lambda chunk, claim, end: f"predict: {_minicheck(chunk, claim, end)}"
)
FACTCG = InputFormat(
    550, "\n", 2048, True, lambda chunk, claim, end: _FACTCG.format(document=chunk, claim=claim)
)
MINICHECK = {"t5": T5, "deberta-v2": DEBERTA}  # by the type of the model; others as RoBERTa


class FactChecker:
    """A model with two outputs, and an NLI model for the contradictions."""

    def __init__(self, name: str, settings: Settings) -> None:
        self.name, self.model = name, model_of(name, settings)
        self._nli = VERIFIERS.build(beside(settings).name, settings)
        self.version = f"{name}/{files.with_revision(self.model)}+{self._nli.version}"

    def verify(self, pairs: Sequence[Pair]) -> list[Judgement]:
        """Return one judgement for each pair, in order; the title precedes the evidence."""
        check_pairs(pairs)
        loaded = nli.load(self.model, nli.two_columns)
        form = FACTCG
        if self.name == "minicheck":
            form = MINICHECK.get(loaded.model.config.model_type, ROBERTA)
        read = [
            (i, features)
            for i, pair in enumerate(pairs)
            for features in _inputs(loaded.tokenizer, form, pair)
        ]
        support = [0.0] * len(pairs)
        for (i, _), row in zip(read, loaded.read([features for _, features in read]), strict=True):
            support[i] = max(support[i], softmax(row)[loaded.columns["entailed"]])
        return [
            _joined(supported, judged)
            for supported, judged in zip(support, self._nli.verify(pairs), strict=True)
        ]


minicheck = partial(FactChecker, "minicheck")
factcg = partial(FactChecker, "factcg")
make_minicheck = partial(download, "minicheck")
make_factcg = partial(download, "factcg")


def _joined(support: float, judged: Judgement) -> Judgement:
    """Return the judgement with this support; the rest is divided as the NLI model divides it."""
    p = judged.probabilities
    share = p.contradicted / max(p.contradicted + p.no_relation, CLOSE)
    support, contradicted = round(support, 6), round((1 - support) * share, 6)
    found = Probabilities(
        entailed=support,
        contradicted=contradicted,
        no_relation=max(0.0, round(1 - support - contradicted, 6)),
    )
    return replace(judged, probabilities=found, signals={"support": support})


def _inputs(
    tokenizer: PreTrainedTokenizerBase, form: InputFormat, pair: Pair
) -> Iterator[nli.Features]:
    """Yield the inputs of a pair, one a chunk. Raises BadInput for a claim that leaves no room for
    the evidence.
    """
    claim, evidence, title = (*pair, "")[:3]
    check_claim_tokens(claim, len(tokenizer.tokenize(claim)))
    text = f"{title}. {evidence}" if title and not evidence.startswith(title) else evidence
    for chunk in _chunks(tokenizer, form, text):
        encoded = tokenizer(
            form.text(chunk, claim, tokenizer.eos_token or ""),
            truncation=True,
            max_length=form.tokens,
        )
        yield {name: encoded[name] for name in nli.INPUTS if name in encoded}


def _chunks(tokenizer: PreTrainedTokenizerBase, form: InputFormat, text: str) -> Iterator[str]:
    chunk: list[str] = []
    size = 0
    for sentence in (text[slice(*span)] for span in sentences(text)):
        length = len(sentence.split() if form.by_words else tokenizer.tokenize(sentence))
        if chunk and size + length > form.size:
            yield form.between.join(chunk)
            chunk, size = [], 0
        chunk.append(sentence)
        size += length
    if chunk:
        yield form.between.join(chunk)
