"""Score many answers, keep the scores, and tabulate them in the form of W24 Table 4 and W24 Table 5."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from pydantic import TypeAdapter

from attribution.claims.enrichment import turns_of
from attribution.files import Cell, Row
from attribution.pipeline.experiment import Experiment, Fields, RowDone, Work
from attribution.pipeline.snapshot import Snapshot
from attribution.settings import Settings
from attribution.store.store import Store
from attribution.studies.factscore.answer import (
    GAMMA,
    AnswerScored,
    FrozenPages,
    Score,
    ScoredAnswer,
    check_choice,
    score,
    score_answer,
)
from attribution.studies.results import Failed, ResultTable, failed_answers, read_results, write_tables

ADAPTER = TypeAdapter(ScoredAnswer)
FILE = "factscore.jsonl"
DECOMPSCORE = "DecompScore"


def run(
    rows: Sequence[Row],
    settings: Settings,
    segmenters: Sequence[str],
    verifiers: Sequence[str],
    folder: Path,
    gamma: float = GAMMA,
    snapshot: Snapshot | None = None,
) -> Iterator[RowDone]:
    """Score every answer, append each to `folder/factscore.jsonl`, then write the tables.

    `gamma` affects only the tables. `snapshot` replaces the settings' sources as the knowledge source. Raises BadInput,
    before any work, for decomposers or verifiers that cannot be used.
    """
    check_choice(segmenters, verifiers, settings)
    folder.mkdir(parents=True, exist_ok=True)
    other = settings.model_copy(update={"segmenter": "", "verifier": ""}).identity  # both are named beside it
    choices = [other, [*segmenters], [*verifiers], snapshot.report.id if snapshot else ""]
    prepare = partial(_prepare, settings, segmenters, verifiers, snapshot)
    yield from Experiment(rows, prepare, choices, ("question", "answer", "system")).run(folder / FILE)
    scored, failed = read_results(folder / FILE, "scored", ADAPTER)
    write_tables(tables(scored, segmenters, verifiers, gamma, failed), folder)


def _prepare(
    settings: Settings, segmenters: Sequence[str], verifiers: Sequence[str], snapshot: Snapshot | None
) -> Work:
    store, source = Store.open(settings.database_url), FrozenPages(snapshot) if snapshot else None

    def score_row(row: Row) -> Fields:
        question, answer, system = (str(row.fields.get(name) or "") for name in ("question", "answer", "system"))
        *_, last = score_answer(
            question, answer, settings, segmenters, verifiers, store,
            system=system, context=turns_of(row.fields.get("turns")), source=source,
        )  # fmt: skip
        assert isinstance(last, AnswerScored)
        return {"scored": as_json(last.answer)}

    return score_row


def as_json(scored: ScoredAnswer) -> Fields:
    """Convert to JSON-serialisable data, as in factscore.jsonl and the page's download."""
    data: Fields = ADAPTER.dump_python(scored, mode="json")
    return data


def cell(scored: Sequence[ScoredAnswer], segmenter: str, verifier: str, gamma: float = GAMMA) -> Score:
    """Return the score of one decomposer and verifier over these answers."""
    return score([a.counts(segmenter, verifier) for a in scored], gamma)


def tables(
    scored: Sequence[ScoredAnswer],
    segmenters: Sequence[str],
    verifiers: Sequence[str],
    gamma: float = GAMMA,
    failed: Sequence[Failed] = (),
) -> tuple[ResultTable, ...]:
    """Return the sensitivity tables."""
    if not scored:
        return failed_answers(failed)
    cells = {(s, v): cell(scored, s, v, gamma) for s in segmenters for v in verifiers}
    systems = list(dict.fromkeys(a.system for a in scored))
    return (
        _grid(f"FActScore: length penalty below {gamma:g} facts", scored, cells, segmenters, verifiers, "factscore"),
        _grid("FActScore without length penalty", scored, cells, segmenters, verifiers, "unpenalised"),
        _facts(scored, segmenters),
        _sensitivity(cells, segmenters, verifiers),
        *(_systems(scored, systems, segmenters, v, gamma) for v in verifiers if len(systems) > 1),
        _left_out(scored, verifiers),
        *failed_answers(failed),
    )


def _grid(
    title: str,
    scored: Sequence[ScoredAnswer],
    cells: dict[tuple[str, str], Score],
    segmenters: Sequence[str],
    verifiers: Sequence[str],
    figure: str,
) -> ResultTable:
    rows = [(s, *(getattr(cells[s, v], figure) for v in verifiers), _decompscore(scored, s)) for s in segmenters]
    return ResultTable(title, ("decomposer", *verifiers, DECOMPSCORE), tuple(rows))


def _decompscore(scored: Sequence[ScoredAnswer], segmenter: str) -> float | None:
    """Return the number of coherent claims per answer, averaged over the answers that respond."""
    parts = [d for a in scored if not a.abstained for d in a.decomposed if d.segmenter == segmenter]
    return sum(d.coherent for d in parts) / len(parts) if parts else None


def _facts(scored: Sequence[ScoredAnswer], segmenters: Sequence[str]) -> ResultTable:
    heads = ("decomposer", "answers", "facts per answer", DECOMPSCORE, "coherent", "seconds", "tokens")
    rows: list[tuple[Cell, ...]] = []
    responding = [a for a in scored if not a.abstained]
    for name in segmenters:
        parts = [d for a in responding for d in a.decomposed if d.segmenter == name]
        count, factual = len(parts) or 1, sum(d.factual for d in parts)
        coherent, usages = sum(d.coherent for d in parts), [d.usage for d in parts if d.usage]
        tokens = sum(u.prompt_tokens + u.completion_tokens for u in usages) if usages else None
        share = coherent / factual if factual else None
        facts = sum(len(d.facts) for d in parts)
        rows.append((name, len(parts), facts / count, coherent / count, share, sum(d.seconds for d in parts), tokens))
    return ResultTable("Decompositions: facts, DecompScore", heads, tuple(rows))


def _sensitivity(
    cells: dict[tuple[str, str], Score], segmenters: Sequence[str], verifiers: Sequence[str]
) -> ResultTable:
    """Tabulate how much the score changes when only the decomposer changes (W24 8.2)."""
    rows: list[tuple[Cell, ...]] = []
    for verifier in verifiers:
        known = [(value, s) for s in segmenters if (value := cells[s, verifier].factscore) is not None]
        if known:
            (low, least), (high, most) = min(known), max(known)
            rows.append((verifier, least, low, most, high, high - low))
        else:
            rows.append((verifier, "", None, "", None, None))
    heads = ("verifier", "lowest with", "lowest", "highest with", "highest", "difference")
    return ResultTable("Sensitivity to the decomposer", heads, tuple(rows))


def _systems(
    scored: Sequence[ScoredAnswer], systems: Sequence[str], segmenters: Sequence[str], verifier: str, gamma: float
) -> ResultTable:
    rows: list[tuple[Cell, ...]] = []
    for system in systems:
        own = [a for a in scored if a.system == system]
        responded = sum(not a.abstained for a in own) / len(own)
        scores = (cell(own, s, verifier, gamma).factscore for s in segmenters)
        rows.append((system or "not named", len(own), responded, *scores))
    return ResultTable(
        f"Systems by {verifier}: FActScore", ("system", "answers", "respond ratio", *segmenters), tuple(rows)
    )


def _left_out(scored: Sequence[ScoredAnswer], verifiers: Sequence[str]) -> ResultTable:
    responded = sum(not a.abstained for a in scored) / len(scored)
    rows: list[tuple[Cell, ...]] = []
    for verifier in verifiers:
        facts = [j for a in scored for j in a.judged.get(verifier, ())]
        rows.append((verifier, len(scored), responded, len(facts), sum(not j.counts for j in facts)))
    heads = ("verifier", "answers", "respond ratio", "distinct facts", "left out after a failure")
    return ResultTable("Responses and failures", heads, tuple(rows))
