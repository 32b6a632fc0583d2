"""The tables of W24: DecompScore, subclaims and FActScore of seven decomposers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from attribution.errors import BadInput
from attribution.files import Cell, Row
from attribution.pipeline.claims import check_coherence, segment
from attribution.segmenters import SEGMENTERS
from attribution.settings import Settings
from attribution.store.store import Store
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
from attribution.types import UNCHECKED, Claim

DECOMPOSERS = {  # the columns
    "R-ND": "r_nd",
    "Chen": "chen",
    "WiCE": "wice",
    "FActScore": "factscore",
    "FActScore-2": "factscore-2",
    "CoNLL-U": "conllu",
    "PredPatt": "predpatt",
}
DECOMPOSITION = {"llm_temperature": 0.7, "llm_tokens": 512}  # W24 B
THRESHOLD = 0.5  # least probability that a subclaim's sentence supports it
MACRO, CORRELATION = "Macro-average", "ρ"
OTHER_JUDGE = ("factscore", "facts")  # fields of a row, for T7
WITH_SOURCES = ("T4", "T5", "T7")
Subclaims = Sequence[Mapping[str, Any]]  # of an answer: coherent, and supported or None


def compute(number: str, inputs: TableInputs) -> Steps:
    """Compute one table. Raises BadInput without answers, or without given scores for T7."""
    if not inputs.rows:
        raise BadInput(f"W24.{number} needs answers with their system: give them with --input")
    if number == "T7":
        _check_given_scores(inputs.rows)
    columns = ("FActScore",) if number == "T7" else tuple(DECOMPOSERS)
    settings = {
        name: inputs.with_model(inputs.settings, 0).model_copy(
            update={"segmenter": DECOMPOSERS[name], **DECOMPOSITION}
        )
        for name in columns
    }
    steps = {name: missing_step(SEGMENTERS[DECOMPOSERS[name]], settings[name]) for name in columns}
    ready = {name: settings[name] for name in columns if not steps[name]}
    judges = _Judges.of(inputs, is_checked=number in WITH_SOURCES)

    def work(row: Row) -> dict[str, Any]:
        made = {name: _decomposed(row, own, judges) for name, own in ready.items()}
        given = {name: row.fields.get(name) for name in OTHER_JUDGE}
        return {"system": str(row.fields.get("system") or "not named"), "made": made, **given}

    answers = yield from inputs.each("checked" if judges.verifier else "split", work)
    if number == "T7":
        return Computed(_correlations(answers, str(judges)) if ready else [], left_out(steps))
    return Computed(_by_system(answers, MEASURES[number], str(judges)), left_out(steps))


def _check_given_scores(rows: Sequence[Row]) -> None:
    for row in rows:
        values = [row.fields.get(name) for name in OTHER_JUDGE]
        if not row.error and not all(isinstance(value, int | float) for value in values):
            raise BadInput(f'line {row.line} has no "factscore" and "facts" of another judge')


@dataclass(frozen=True)
class _Judges:
    """The settings of DecompScore's judge, and those of FActScore's; None if it isn't asked.

    The judge is asked at temperature 0, and by another model than the decomposer's if there is one.
    """

    coherence: Settings
    verifier: Settings | None

    @classmethod
    def of(cls, inputs: TableInputs, is_checked: bool) -> _Judges:
        asking = inputs.with_model(inputs.settings, 1)
        judge = {"verifier": inputs.verifier("llm-pair"), "llm_temperature": 0.0}
        checking = {"verifier": inputs.verifier("llm"), "decision": "plain", "coherence": 0.0}
        return cls(
            asking.model_copy(update={**judge, "coherence": THRESHOLD}),
            asking.model_copy(update=checking) if is_checked else None,
        )

    def __str__(self) -> str:
        judges = [self.coherence, self.verifier] if self.verifier else [self.coherence]
        return ", ".join(dict.fromkeys(one.verifier for one in judges))


def _decomposed(row: Row, settings: Settings, judges: _Judges) -> list[dict[str, Any]]:
    """Return every subclaim, as often as it was made, with the judgements of it.

    Nothing is left out: neither subclaims that are not check-worthy (W24 7) nor answers that say
    nothing (W24 A).
    """
    store = Store.open(settings.database_url)
    question, answer = texts_of(row)
    claims = segment(question, answer, settings).claims
    judging = judges.coherence.model_copy(update={"segmenter": settings.segmenter})
    judged, _ = check_coherence(answer, claims, judging, store, published=True)
    supported = _supported(row, claims, judges.verifier) if judges.verifier else {}
    subclaims: list[dict[str, Any]] = []
    for claim in judged:
        made = {"coherent": bool(claim.coherent), "supported": supported.get(claim.id)}
        subclaims += [made] * claim.times
    return subclaims


def _supported(row: Row, claims: Sequence[Claim], settings: Settings) -> dict[str, bool]:
    checked = [c.model_copy(update={"worthiness": "factual", "coherent": True}) for c in claims]
    if not checked:
        return {}
    verdicts = report_of(row, checked, settings).verdicts
    return {v.claim_id: v.label == "supported" for v in verdicts if v.label not in UNCHECKED}


def _decompscore(answers: Sequence[Subclaims]) -> float | None:
    return mean([sum(s["coherent"] for s in subclaims) for subclaims in answers])


def _count(answers: Sequence[Subclaims]) -> float | None:
    return mean([len(subclaims) for subclaims in answers])


def _coherent_share(answers: Sequence[Subclaims]) -> float | None:
    """Return the mean of the answers' shares."""
    return mean([percent(sum(s["coherent"] for s in made), len(made)) for made in answers])


def _factscore(answers: Sequence[Subclaims], only_coherent: bool = False) -> float | None:
    """Return FActScore in percent, with the length penalty."""
    counts: list[Counts] = []
    for subclaims in answers:
        judged = [s for s in subclaims if s["supported"] is not None]
        if only_coherent:
            judged = [s for s in judged if s["coherent"]]
        counts.append(Counts(len(judged), sum(s["supported"] for s in judged)))
    factscore = score(counts).factscore
    return None if factscore is None else 100 * factscore


Measure = Callable[[Sequence[Subclaims]], float | None]
MEASURES: dict[str, Measure] = {
    "T2": _decompscore,
    "T3": _count,
    "T4": _factscore,
    "T5": partial(_factscore, only_coherent=True),
    "T6": _coherent_share,
}


def _systems(answers: Sequence[Mapping[str, Any]]) -> dict[str, list[Mapping[str, Any]]]:
    systems: dict[str, list[Mapping[str, Any]]] = {}
    for answer in answers:
        systems.setdefault(answer["system"], []).append(answer)
    return systems


def _by_system(
    answers: Sequence[Mapping[str, Any]], measure: Measure, method: str
) -> list[ComputedRow]:
    """Return a row for each system, then the mean over the systems, each of which counts once."""
    rows: list[ComputedRow] = []
    for system, own in _systems(answers).items():
        cells = [
            measure([answer["made"][name] for answer in own]) if name in own[0]["made"] else None
            for name in DECOMPOSERS
        ]
        rows.append(ComputedRow(system, method, cells))
    if rows:
        columns = zip(*(row.cells for row in rows), strict=True)
        rows.append(ComputedRow(MACRO, method, [mean(column) for column in columns]))
    return rows


def _correlations(answers: Sequence[Mapping[str, Any]], method: str) -> list[ComputedRow]:
    """Return our figures beside the given ones, and their Pearson correlations (W24 Table 7)."""
    import numpy as np

    rows: list[ComputedRow] = []
    for system, own in _systems(answers).items():
        subclaims = [answer["made"]["FActScore"] for answer in own]
        ours = [_factscore(subclaims), _count(subclaims)]
        given = [mean([answer[name] for answer in own]) for name in OTHER_JUDGE]
        rows.append(ComputedRow(system, method, [ours[0], given[0], ours[1], given[1]]))
    table = np.array([row.cells for row in rows], dtype=float)
    cells: list[Cell] = [None] * 4
    for place in (1, 3):
        pair = table[:, place - 1 : place + 1]
        if np.ptp(pair, axis=0).all() and np.isfinite(pair).all():
            cells[place] = float(np.corrcoef(pair.T)[0, 1])
    return [*rows, ComputedRow(CORRELATION, method, cells)]
