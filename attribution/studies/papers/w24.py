"""The tables of W24: DecompScore and FActScore by decomposer."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from attribution.claims.coherence import premise_of
from attribution.pipeline.claims import segment
from attribution.segmenters import SEGMENTERS
from attribution.settings import Settings
from attribution.studies.papers.reproduce import (
    Computed,
    ComputedRow,
    Steps,
    TableInputs,
    left_out,
    texts_of,
)
from attribution.studies.preset import missing_step, named_verifier
from attribution.studies.results import mean, percent
from attribution.studies.subclaim_scores import Counts, judge_coherence, score
from attribution.text_files import Row

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
WITH_JUDGE, WITH_SOURCES = ("T2", "T5", "T6"), ("T4", "T5")
Subclaims = Sequence[Mapping[str, bool]]  # of an answer: is each coherent, and is it supported


def compute(number: str, inputs: TableInputs) -> Steps:
    """Compute one table: means over the answers of a system, then over the systems."""
    writing = inputs.asking(DECOMPOSER).model_copy(update=DECOMPOSITION)
    judging = named_verifier(inputs.asking(JUDGE).model_copy(update=PLAIN))
    steps = {name: missing_step(SEGMENTERS[key], writing) for name, key in DECOMPOSERS.items()}

    def work(row: Row) -> Mapping[str, Mapping[str, Subclaims]]:
        made: dict[str, Subclaims] = {}
        for name, segmenter in DECOMPOSERS.items():
            if not steps[name]:
                own = writing.model_copy(update={"segmenter": segmenter})
                made[name] = _decomposed(row, own, judging, number, inputs)
        return {str(row.fields.get("system") or "not named"): made}

    method = writing.openai_model or "parser"
    if number in WITH_JUDGE:
        method += f", judged by {judging.openai_model or judging.verifier}"
    if number in WITH_SOURCES:
        method += f", sources by {judging.verifier}"
    by_system = yield from inputs.each([number, method, steps], work)
    rows: dict[str, ComputedRow] = {}
    for system, answers in by_system.items():
        cells: list[float | None] = []
        for name in DECOMPOSERS:
            cells.append(MEASURES[number]([made[name] for made in answers if name in made]))
        rows[system] = ComputedRow(method, cells)
    means = [mean(column) for column in zip(*(row.cells for row in rows.values()), strict=True)]
    rows["Macro-average"] = ComputedRow(method, means)
    return Computed(rows, left_out(steps))


def _decomposed(
    row: Row, writing: Settings, judging: Settings, number: str, inputs: TableInputs
) -> Subclaims:
    """Return every subclaim, as often as it was made, with the judgements that a table needs.

    Nothing is left out: neither subclaims that are not check-worthy (W24 7) nor answers that say
    nothing (W24 A). In a table without a judge, all of them count as coherent.
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


def _count(answers: Sequence[Subclaims]) -> float | None:
    """Return the mean number of coherent subclaims; where a judge read them, it is DecompScore."""
    return mean([sum(s["coherent"] for s in made) for made in answers])


def _coherent_share(answers: Sequence[Subclaims]) -> float | None:
    """Return the mean of the passages' shares."""
    return mean([percent(sum(s["coherent"] for s in made), len(made)) for made in answers])


def _factscore(answers: Sequence[Subclaims]) -> float | None:
    """Return FActScore of the coherent subclaims in percent, with the length penalty."""
    counts: list[Counts] = []
    for subclaims in answers:
        judged = [s["supported"] for s in subclaims if s["coherent"]]
        counts.append(Counts(len(judged), sum(judged)))
    factscore = score(counts).factscore
    return None if factscore is None else 100 * factscore


MEASURES: dict[str, Callable[[Sequence[Subclaims]], float | None]] = {
    "T2": _count,
    "T3": _count,
    "T4": _factscore,
    "T5": _factscore,
    "T6": _coherent_share,
}
