"""Score many answers, keep the scores, and tabulate them in the form of W24, tables 4 and 5."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from attribution.claims.enrichment import turns_of
from attribution.errors import BadInput
from attribution.files import Cell, Row
from attribution.settings import Settings
from attribution.snapshots.snapshot import Snapshot
from attribution.store.store import Store
from attribution.studies.experiment import failure, read_finished, write_tables
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
from attribution.studies.tables import Table
from attribution.types import content_id

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
) -> Iterator[tuple[int, int, str]]:
    """Score every answer, append each to `folder/factscore.jsonl`, then write the tables.

    Yields (answers done, all answers, problem with this one). Answers that an earlier call finished with the same
    choices are not scored again; gamma affects only the tables. `snapshot` replaces the settings' sources as the
    knowledge source. Raises BadInput, before any work, for decomposers or verifiers that cannot be used.
    """
    check_choice(segmenters, verifiers, settings)
    folder.mkdir(parents=True, exist_ok=True)
    path, store = folder / FILE, Store.open(settings.database_url)
    finished = read_finished(path, "scored", ADAPTER)
    scored: list[ScoredAnswer] = []
    failed: list[tuple[int, str, str]] = []
    with path.open("a", encoding="utf-8") as out:
        for number, row in enumerate(rows, 1):
            question, answer, system = (str(row.fields.get(name) or "") for name in ("question", "answer", "system"))
            key, problem = key_of(row, settings, segmenters, verifiers, snapshot), row.error
            if not problem and key not in finished:
                source = FrozenPages(snapshot) if snapshot else None
                try:
                    *_, last = score_answer(
                        question, answer, settings, segmenters, verifiers, store,
                        system=system, context=turns_of(row.fields.get("turns")), source=source,
                    )  # fmt: skip
                    assert isinstance(last, AnswerScored)
                    finished[key] = last.answer
                    out.write(json.dumps({"key": key, "scored": as_json(last.answer)}) + "\n")
                    out.flush()
                except BadInput as error:
                    problem = str(error)
            if problem:
                failed.append(failure(row, problem))
                out.write(json.dumps(row.failed(problem)) + "\n")
            else:
                scored.append(finished[key])
            yield number, len(rows), f"line {row.line}: {problem}" if problem else ""
    write_tables(tables(scored, segmenters, verifiers, gamma, failed), folder)


def key_of(
    row: Row,
    settings: Settings,
    segmenters: Sequence[str],
    verifiers: Sequence[str],
    snapshot: Snapshot | None = None,
) -> str:
    """Hash everything that an answer's result depends on."""
    public = {k: v for k, v in settings.public().items() if k not in ("segmenter", "verifier")}
    own = [row.fields.get(name) or "" for name in ("question", "answer", "system", "turns")]
    return content_id(json.dumps([own, public, [*segmenters], [*verifiers], snapshot.report.id if snapshot else ""]))


def as_json(scored: ScoredAnswer) -> dict[str, Any]:
    """Convert to JSON-serialisable data, as in factscore.jsonl and the page's download."""
    data: dict[str, Any] = ADAPTER.dump_python(scored, mode="json")
    return data


def cell(scored: Sequence[ScoredAnswer], segmenter: str, verifier: str, gamma: float = GAMMA) -> Score:
    """Return the score of one decomposer and verifier over these answers."""
    return score([a.counts(segmenter, verifier) for a in scored], gamma)


def tables(
    scored: Sequence[ScoredAnswer],
    segmenters: Sequence[str],
    verifiers: Sequence[str],
    gamma: float = GAMMA,
    failed: Sequence[tuple[int, str, str]] = (),
) -> tuple[Table, ...]:
    """Return the sensitivity tables; `failed` holds line, answer and error of answers that could not be scored."""
    failures = (Table("Failed answers", ("line", "answer", "error"), tuple(failed)),) if failed else ()
    if not scored:
        return failures
    cells = {(s, v): cell(scored, s, v, gamma) for s in segmenters for v in verifiers}
    systems = list(dict.fromkeys(a.system for a in scored))
    return (
        _grid(f"FActScore: length penalty below {gamma:g} facts", scored, cells, segmenters, verifiers, "factscore"),
        _grid("FActScore without length penalty", scored, cells, segmenters, verifiers, "unpenalised"),
        _facts(scored, segmenters),
        _sensitivity(cells, segmenters, verifiers),
        *(_systems(scored, systems, segmenters, v, gamma) for v in verifiers if len(systems) > 1),
        _left_out(scored, verifiers),
        *failures,
    )


def _grid(
    title: str,
    scored: Sequence[ScoredAnswer],
    cells: dict[tuple[str, str], Score],
    segmenters: Sequence[str],
    verifiers: Sequence[str],
    figure: str,
) -> Table:
    rows = [(s, *(getattr(cells[s, v], figure) for v in verifiers), _decompscore(scored, s)) for s in segmenters]
    return Table(title, ("decomposer", *verifiers, DECOMPSCORE), tuple(rows))


def _decompscore(scored: Sequence[ScoredAnswer], segmenter: str) -> float | None:
    """Return the number of coherent claims per answer, averaged over the answers that respond."""
    parts = [d for a in scored if not a.abstained for d in a.decomposed if d.segmenter == segmenter]
    return sum(d.coherent for d in parts) / len(parts) if parts else None


def _facts(scored: Sequence[ScoredAnswer], segmenters: Sequence[str]) -> Table:
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
    return Table("Decompositions: facts, DecompScore", heads, tuple(rows))


def _sensitivity(cells: dict[tuple[str, str], Score], segmenters: Sequence[str], verifiers: Sequence[str]) -> Table:
    """Tabulate how much the score changes when only the decomposer changes (W24, section 5)."""
    rows: list[tuple[Cell, ...]] = []
    for verifier in verifiers:
        known = [(value, s) for s in segmenters if (value := cells[s, verifier].factscore) is not None]
        if known:
            (low, least), (high, most) = min(known), max(known)
            rows.append((verifier, least, low, most, high, high - low))
        else:
            rows.append((verifier, "", None, "", None, None))
    heads = ("verifier", "lowest with", "lowest", "highest with", "highest", "difference")
    return Table("Sensitivity to the decomposer", heads, tuple(rows))


def _systems(
    scored: Sequence[ScoredAnswer], systems: Sequence[str], segmenters: Sequence[str], verifier: str, gamma: float
) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for system in systems:
        own = [a for a in scored if a.system == system]
        responded = sum(not a.abstained for a in own) / len(own)
        scores = (cell(own, s, verifier, gamma).factscore for s in segmenters)
        rows.append((system or "not named", len(own), responded, *scores))
    return Table(f"Systems by {verifier}: FActScore", ("system", "answers", "respond ratio", *segmenters), tuple(rows))


def _left_out(scored: Sequence[ScoredAnswer], verifiers: Sequence[str]) -> Table:
    responded = sum(not a.abstained for a in scored) / len(scored)
    rows: list[tuple[Cell, ...]] = []
    for verifier in verifiers:
        facts = [j for a in scored for j in a.judged.get(verifier, ())]
        rows.append((verifier, len(scored), responded, len(facts), sum(not j.counts for j in facts)))
    heads = ("verifier", "answers", "respond ratio", "distinct facts", "left out after a failure")
    return Table("Responses and failures", heads, tuple(rows))


FACTSCORE = "factscore"  # the kind of result


@dataclass(frozen=True)
class Scored:
    """The scored answers, and the choices they were scored with."""

    segmenters: tuple[str, ...]
    verifiers: tuple[str, ...]
    answers: tuple[ScoredAnswer, ...] = ()
    rows: tuple[Row, ...] = ()  # all rows to score, to continue after a crash
    done: int = 0  # number of rows, including failed ones
    settings: dict[str, Any] = field(default_factory=dict)
    frozen: str = ""  # id of the run whose pages are the knowledge source; empty: the sources of the settings
    failed: tuple[tuple[int, str, str], ...] = ()  # line, answer and error of those that could not be scored

    def with_answer(self, answer: ScoredAnswer) -> Scored:
        return replace(self, answers=(*self.answers, answer), done=self.done + 1)

    def with_failure(self, failure: tuple[int, str, str]) -> Scored:
        return replace(self, failed=(*self.failed, failure), done=self.done + 1)


_SCORED = TypeAdapter(Scored)


def save(store: Store, result_id: str, scored: Scored) -> None:
    """Save the answers so far, replacing an earlier state."""
    store.save_result(FACTSCORE, result_id, _SCORED.dump_json(scored).decode())


def load(store: Store, result_id: str) -> Scored | None:
    """Load saved scores; None if there are none with that id."""
    body = store.load_result(FACTSCORE, result_id)
    return None if body is None else _SCORED.validate_json(body)
