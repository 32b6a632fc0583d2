"""The tables of W24: DecompScore and FActScore by decomposer."""

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
from attribution.studies.papers import missing_step
from attribution.studies.papers.reproduce import (
    Computed,
    ComputedRow,
    Steps,
    TableInputs,
    left_out,
    named_verifier,
    percent,
    texts_of,
)
from attribution.studies.results import mean
from attribution.types import Judgement
from attribution.verifiers import VERIFIERS
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
FIGURES = {"F2": "T4", "F3": "T2"}  # the macro averages of a table
WITH_JUDGE, WITH_SOURCES = ("T2", "T5", "T6"), ("T4", "T5", "T7")
Subclaims = Sequence[Mapping[str, bool]]  # of an answer: is each coherent, and is it supported


class TrueOrFalse(BaseModel):
    """The reply of DecompScore's judge."""

    is_true: bool

    @classmethod
    def from_words(cls, text: str) -> dict[str, object] | None:
        word = unquoted(text).rstrip(".").casefold()
        return {"is_true": word == "true"} if word in ("true", "false") else None


def judge_coherence(pairs: Sequence[tuple[str, str]], settings: Settings) -> list[bool]:
    """Return for each (claim, sentence) whether the sentence states the claim (W24 3.2).

    A language model decides between two answers, of which an unusable one is no; without a model,
    the verifier's entailment does, from a probability of one half on (W24 C).
    """
    if not settings.has_llm:
        judged = verify_each(VERIFIERS.build(settings.verifier, settings), pairs)
        return [isinstance(j, Judgement) and j.probabilities.entailed >= 0.5 for j in judged]
    prompt = prompts.load("w24/judge.v1", settings)
    asked = [Question.of(prompt, claim=claim, sentence=text) for claim, text in pairs]
    replies = Llm(settings).map(asked, TrueOrFalse)
    return [not isinstance(reply, LlmFailed) and reply.value.is_true for reply in replies]


def compute(number: str, inputs: TableInputs) -> Steps:
    """Compute one table. Raises BadInput without given scores for T7."""
    source = FIGURES.get(number, number)
    for row in inputs.rows if number == "T7" else ():
        if not all(isinstance(row.fields.get(name), int | float) for name in OTHER_JUDGE):
            raise BadInput(f'line {row.line} has no "factscore" and "facts" of another judge')
    writing = inputs.asking(DECOMPOSER).model_copy(update=DECOMPOSITION)
    judging = named_verifier(inputs.asking(JUDGE).model_copy(update=PLAIN))
    columns = ("FActScore",) if number == "T7" else DECOMPOSERS
    steps = {name: missing_step(SEGMENTERS[DECOMPOSERS[name]], writing) for name in columns}

    def work(row: Row) -> dict[str, Any]:
        made: dict[str, object] = {name: row.fields.get(name) for name in OTHER_JUDGE}
        for name in columns:
            if not steps[name]:
                own = writing.model_copy(update={"segmenter": DECOMPOSERS[name]})
                made[name] = _decomposed(row, own, judging, source, inputs)
        return {str(row.fields.get("system") or "not named"): made}

    by_system = yield from inputs.each(source, work)
    method = writing.openai_model or "parser"
    if source in WITH_JUDGE:
        method += f", judged by {judging.openai_model or judging.verifier}"
    if source in WITH_SOURCES:
        method += f", sources by {judging.verifier}"
    if number == "T7":
        rows = [] if any(steps.values()) else _correlations(by_system, method)
        return Computed(rows, left_out(steps))
    rows = []
    for system, answers in by_system.items():
        cells = [MEASURES[source]([made.get(name, ()) for made in answers]) for name in columns]
        rows.append(ComputedRow(system, method, cells))
    means = [mean(column) for column in zip(*(row.cells for row in rows), strict=True)]
    macro = ComputedRow(MACRO, method, means)
    return Computed([macro] if number in FIGURES else [*rows, macro], left_out(steps))


def _decomposed(
    row: Row, writing: Settings, judging: Settings, number: str, inputs: TableInputs
) -> Subclaims:
    """Return every subclaim, as often as it was made, with the judgements that a table needs.

    Nothing is left out: neither subclaims that are not check-worthy (W24 7) nor answers that say
    nothing (W24 A).
    """
    question, answer = texts_of(row)
    update = {"worthiness": "factual", "coherent": True}
    claims = [c.model_copy(update=update) for c in segment(question, answer, writing).claims]
    coherent = [True] * len(claims)
    if number in WITH_JUDGE:
        pairs = [(claim.text, premise_of(answer, claim)) for claim in claims]
        coherent = judge_coherence(pairs, judging)
    supported: set[str] = set()
    if number in WITH_SOURCES and claims:
        verdicts = inputs.check(row, claims, judging).verdicts
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
    for system, answers in by_system.items():
        subclaims = [made["FActScore"] for made in answers]
        factscore, facts = (mean([made[name] for made in answers]) for name in OTHER_JUDGE)
        cells = (_factscore(subclaims), factscore, _count(subclaims), facts)
        rows.append(ComputedRow(system, method, cells))
    table = np.array([row.cells for row in rows], dtype=float)
    correlations: list[Cell] = [None] * 4
    for place in (1, 3):
        pair = table[:, place - 1 : place + 1]
        if np.ptp(pair, axis=0).all() and np.isfinite(pair).all():
            correlations[place] = float(np.corrcoef(pair.T)[0, 1])
    return [*rows, ComputedRow(CORRELATION, method, correlations)]
