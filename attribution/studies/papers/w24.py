"""The tables of W24: DecompScore, subclaims and FActScore of seven decomposers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from pydantic import BaseModel

from attribution.claims.coherence import premise_of
from attribution.errors import BadInput, LlmFailed
from attribution.files import Cell, Row
from attribution.llm import prompts
from attribution.llm.client import Llm, Question
from attribution.llm.replies import unquoted
from attribution.pipeline.claims import segment
from attribution.segmenters import SEGMENTERS
from attribution.settings import Settings
from attribution.studies.factscore import Counts, score
from attribution.studies.papers.presets import missing_step
from attribution.studies.papers.reproduce import (
    Computed,
    ComputedRow,
    Steps,
    TableInputs,
    left_out,
    percent,
    report_of,
    texts_of,
)
from attribution.studies.results import mean
from attribution.types import Judgement
from attribution.verifiers import VERIFIERS
from attribution.verifiers.auto import choose
from attribution.verifiers.pairs import verify_each

DECOMPOSERS = {  # the columns
    "R-ND": "r_nd",
    "Chen": "chen",
    "WiCE": "wice",
    "FActScore": "factscore",
    "FActScore-2": "factscore-2",
    "CoNLL-U": "conllu",
    "PredPatt": "predpatt",
}
DECOMPOSER, JUDGE = "InstructGPT", "Inst-LLAMA"  # W24 B
DECOMPOSITION = {"llm_temperature": 0.7, "llm_tokens": 512}  # W24 B
PLAIN = {"llm_temperature": 0.0, "decision": "plain", "coherence": 0.0}
MACRO, CORRELATION = "Macro-average", "ρ"
OTHER_JUDGE = ("factscore", "facts")  # fields of a row, for T7
WITH_SOURCES = ("T4", "T5", "T7")
Subclaims = Sequence[Mapping[str, bool]]  # of an answer: is each coherent, and is it supported


class TrueOrFalse(BaseModel):
    """The reply of DecompScore's judge."""

    is_true: bool

    @classmethod
    def from_words(cls, text: str) -> dict[str, object] | None:
        word = unquoted(text).rstrip(".").casefold()
        return {"is_true": word == "true"} if word in ("true", "false") else None


class CoherenceJudge:
    """DecompScore's judge: does its sentence state a subclaim? (W24 3.2)

    A language model decides between two answers; without one, the verifier's entailment does, from
    a probability of one half on (W24 C).
    """

    def __init__(self, settings: Settings) -> None:
        self.llm = Llm(settings) if settings.has_llm else None
        self.name = settings.openai_model if self.llm else settings.verifier
        self._verifier = VERIFIERS.build(settings.verifier, settings)
        self._prompt = prompts.load("w24/judge.v1", settings)

    def judge(self, pairs: Sequence[tuple[str, str]]) -> list[bool]:
        """Return for each (claim, sentence) whether it is supported; an unusable reply is no."""
        if self.llm is None:
            judged = verify_each(self._verifier, pairs)
            return [isinstance(j, Judgement) and j.probabilities.entailed >= 0.5 for j in judged]
        asked = [Question.of(self._prompt, claim=claim, sentence=text) for claim, text in pairs]
        replies = self.llm.map(asked, TrueOrFalse)
        return [not isinstance(reply, LlmFailed) and reply.value.is_true for reply in replies]


def compute(number: str, inputs: TableInputs) -> Steps:
    """Compute one table. Raises BadInput without answers, or without given scores for T7."""
    if not inputs.rows:
        raise BadInput(f"W24.{number} needs answers with their system: give them with --input")
    for row in inputs.rows if number == "T7" else ():
        if not all(isinstance(row.fields.get(name), int | float) for name in OTHER_JUDGE):
            raise BadInput(f'line {row.line} has no "factscore" and "facts" of another judge')
    columns = ("FActScore",) if number == "T7" else tuple(DECOMPOSERS)
    asking = inputs.asking(DECOMPOSER).model_copy(update=DECOMPOSITION)
    named = {name: asking.model_copy(update={"segmenter": DECOMPOSERS[name]}) for name in columns}
    steps = {name: missing_step(SEGMENTERS[own.segmenter], own) for name, own in named.items()}
    ready = {name: own for name, own in named.items() if not steps[name]}
    checking = inputs.asking(JUDGE).model_copy(update=PLAIN)
    if checking.verifier == "auto":
        checking = checking.model_copy(update={"verifier": choose(checking).name})
    judge = CoherenceJudge(checking) if number in ("T2", "T5", "T6") else None
    is_checked = number in WITH_SOURCES

    def work(row: Row) -> dict[str, Any]:
        made: dict[str, Subclaims] = {}
        for name, settings in ready.items():
            made[name] = _decomposed(row, settings, judge, checking if is_checked else None)
        given = {name: row.fields.get(name) for name in OTHER_JUDGE}
        return {"system": str(row.fields.get("system") or "not named"), "made": made, **given}

    answers = yield from inputs.each(number, work)
    method = asking.openai_model or "parser"
    if judge:
        method += f", judged by {judge.name}"
    if is_checked:
        method += f", sources by {checking.verifier}"
    by_system: dict[str, list[Mapping[str, Any]]] = {}
    for answer in answers:
        by_system.setdefault(answer["system"], []).append(answer)
    if number == "T7":
        return Computed(_correlations(by_system, method) if ready else [], left_out(steps))
    rows: list[ComputedRow] = []
    for system, own in by_system.items():
        made = [answer["made"] for answer in own]
        cells = [MEASURES[number]([one.get(name, ()) for one in made]) for name in DECOMPOSERS]
        rows.append(ComputedRow(system, method, cells))
    columns_of_cells = zip(*(row.cells for row in rows), strict=True)
    macro = ComputedRow(MACRO, method, [mean(column) for column in columns_of_cells])
    return Computed([*rows, macro], left_out(steps))


def _decomposed(
    row: Row, settings: Settings, judge: CoherenceJudge | None, checking: Settings | None
) -> Subclaims:
    """Return every subclaim, as often as it was made, with the judgements of it.

    Nothing is left out: neither subclaims that are not check-worthy (W24 7) nor answers that say
    nothing (W24 A). Without `judge` or `checking`, one of them is not asked.
    """
    question, answer = texts_of(row)
    update = {"worthiness": "factual", "coherent": True}
    claims = [c.model_copy(update=update) for c in segment(question, answer, settings).claims]
    sentences = [premise_of(answer, claim) for claim in claims]
    pairs = [(claim.text, text) for claim, text in zip(claims, sentences, strict=True)]
    coherent = judge.judge(pairs) if judge else [True] * len(claims)
    supported: set[str] = set()
    if checking and claims:
        verdicts = report_of(row, claims, checking).verdicts
        supported = {verdict.claim_id for verdict in verdicts if verdict.label == "supported"}
    subclaims: list[Mapping[str, bool]] = []
    for claim, is_coherent in zip(claims, coherent, strict=True):
        made = {"coherent": is_coherent, "supported": claim.id in supported}
        subclaims += [made] * claim.times
    return subclaims


def _decompscore(answers: Sequence[Subclaims]) -> float | None:
    return mean([sum(s["coherent"] for s in subclaims) for subclaims in answers if subclaims])


def _count(answers: Sequence[Subclaims]) -> float | None:
    return mean([len(subclaims) for subclaims in answers if subclaims])


def _coherent_share(answers: Sequence[Subclaims]) -> float | None:
    """Return the mean of the passages' shares."""
    return mean([percent(sum(s["coherent"] for s in made), len(made)) for made in answers])


def _factscore(answers: Sequence[Subclaims], only_coherent: bool = False) -> float | None:
    """Return FActScore in percent, with the length penalty."""
    counts: list[Counts] = []
    for subclaims in answers:
        judged = [s["supported"] for s in subclaims if s["coherent"] or not only_coherent]
        counts.append(Counts(len(judged), sum(judged)))
    factscore = score(counts).factscore
    return None if factscore is None else 100 * factscore


MEASURES: dict[str, Callable[[Sequence[Subclaims]], float | None]] = {
    "T2": _decompscore,
    "T3": _count,
    "T4": _factscore,
    "T5": partial(_factscore, only_coherent=True),
    "T6": _coherent_share,
}


def _correlations(
    by_system: Mapping[str, Sequence[Mapping[str, Any]]], method: str
) -> list[ComputedRow]:
    """Return our figures beside the given ones, and their Pearson correlations (W24 Table 7)."""
    import numpy as np

    rows: list[ComputedRow] = []
    for system, own in by_system.items():
        subclaims = [answer["made"]["FActScore"] for answer in own]
        ours = (_factscore(subclaims), _count(subclaims))
        given = (mean([answer[name] for answer in own]) for name in OTHER_JUDGE)
        pairs = zip(ours, given, strict=True)
        rows.append(ComputedRow(system, method, [cell for pair in pairs for cell in pair]))
    table = np.array([row.cells for row in rows], dtype=float)
    cells: list[Cell] = [None] * 4
    for place in (1, 3):
        pair = table[:, place - 1 : place + 1]
        if np.ptp(pair, axis=0).all() and np.isfinite(pair).all():
            cells[place] = float(np.corrcoef(pair.T)[0, 1])
    return [*rows, ComputedRow(CORRELATION, method, cells)]
