"""The tables of W24: DecompScore, subclaims and FActScore of seven decomposers, or any, by the answers' system."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import TypeAdapter

from attribution import events
from attribution.claims.enrichment import turns_of
from attribution.errors import BadInput
from attribution.evidence import GatherStep, PreparedClaims
from attribution.files import Cell, Row
from attribution.pipeline.claims import check_coherence, segment
from attribution.pipeline.experiment import Experiment, RowDone, Work
from attribution.pipeline.run import run
from attribution.pipeline.snapshot import Snapshot
from attribution.segmenters import SEGMENTERS
from attribution.settings import Settings
from attribution.store.store import Store
from attribution.studies.factscore import GAMMA, Counts, score
from attribution.studies.papers.reproduce import Computed, TableInputs
from attribution.studies.results import Failed, ResultTable, failed_answers, mean, plotly, read_results, write_tables
from attribution.types import UNCHECKED, Claim, Judgement
from attribution.verifiers import VERIFIERS

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

# the columns of the paper, by our segmenters; without a language model one that needs none stands in
DECOMPOSERS = {
    "R-ND": "r_nd", "Chen": "chen", "WiCE": "wice", "FActScore": "factscore", "FActScore-2": "factscore-2",
    "CoNLL-U": "conllu", "PredPatt": "predpatt-published",
}  # fmt: skip
THRESHOLD = 0.5  # least probability that a subclaim's sentence supports it
MACRO, CORRELATION = "Macro-average", "ρ"
Subclaims = Sequence[Mapping[str, Any]]  # of an answer: coherent, and supported or None


def compute(number: str, given: TableInputs) -> Iterator[RowDone | Computed]:
    """Yield the progress, then one table. BadInput without answers, or without given scores for T7."""
    if not given.rows:
        raise BadInput(f"W24.{number} needs answers with their system: give them with --input")
    checked = number in ("T4", "T5", "T7")
    names = ("FActScore",) if number == "T7" else tuple(DECOMPOSERS)
    for one in given.each("checked" if checked else "split", _work(given, names, checked), names):
        if isinstance(one, RowDone):
            yield one
        elif number == "T7":
            yield Computed(_correlations(one))
        else:
            rows = _by_system(one, MEASURES[number])
            plot = _bars(rows[MACRO], number) if MACRO in rows and number in FIGURES else None
            plots = {FIGURES[number]: plot} if plot else {}
            if number == "T2" and MACRO in rows:
                entailed = _by_system(one, _entailed)
                plots["F7"] = _bars(entailed[MACRO], number, "by natural language inference")
                yield Computed(rows, plots, _correlated(rows, entailed))
            else:
                yield Computed(rows, plots)


def _work(given: TableInputs, names: Sequence[str], checked: bool) -> Callable[[Row], Any]:
    choices = {
        name: given.settings.model_copy(
            update={"segmenter": given.take(name, SEGMENTERS, DECOMPOSERS[name], "clauses")}
        )
        for name in names
    }
    judge = given.judge("Inst-LLAMA", "llm-pair", "llm")
    nli = given.take("RoBERTa for NLI", VERIFIERS, "deberta", "auto") if not checked else ""
    verifier = given.judge("Inst-LLAMA", "llm") if checked else ""
    return lambda row: _answer(row, choices, judge, nli, verifier)


def _answer(
    row: Row, choices: Mapping[str, Settings], judge: str, nli: str, verifier: str, source: FrozenPages | None = None
) -> dict[str, Any]:
    fields = row.fields
    made = {name: _decomposed(row, settings, judge, nli, verifier, source) for name, settings in choices.items()}
    own = {name: fields[name] for name in ("factscore", "facts") if isinstance(fields.get(name), int | float)}
    return {"system": str(fields.get("system") or "not named"), "made": made, **own}


def _decomposed(
    row: Row, settings: Settings, judge: str, nli: str, verifier: str, source: FrozenPages | None = None
) -> list[dict[str, Any]]:
    """Return every subclaim, as often as it was made: does its sentence support and entail it, and do the sources?

    Nothing is left out: neither subclaims that are not check-worthy (W24 7) nor answers that say nothing (W24 A).
    """
    store = Store.open(settings.database_url)
    question, answer = str(row.fields.get("question") or ""), str(row.fields["answer"])
    claims = segment(question, answer, settings).claims
    judging = settings.model_copy(update={"verifier": judge, "coherence": settings.coherence or THRESHOLD})
    judged, _ = check_coherence(answer, claims, judging, store, published=True)
    entailing = judging.model_copy(update={"verifier": nli, "segmenter": "sentences"})  # the verifier alone (W24 C)
    entailed = {c.id: c.coherent for c in check_coherence(answer, claims, entailing, store)[0]} if nli else {}
    checking = settings.model_copy(update={"verifier": verifier})
    supported = _supported(row, claims, checking, source) if verifier else {}
    made = [{"coherent": c.coherent, "entailed": entailed.get(c.id), "supported": supported.get(c.id)} for c in judged]
    return [one for c, one in zip(judged, made, strict=True) for _ in range(c.times)]


def _supported(row: Row, claims: Sequence[Claim], settings: Settings, source: FrozenPages | None) -> dict[str, bool]:
    own = [c.model_copy(update={"worthiness": "factual", "coherent": True}) for c in claims]
    if not own:
        return {}
    question, answer = str(row.fields.get("question") or ""), str(row.fields["answer"])
    checking, turns = settings.model_copy(update={"coherence": 0.0}), turns_of(row.fields.get("turns"))
    *_, last = run(question, answer, checking, claims=own, context=turns, source=source)
    assert isinstance(last, events.Finished)
    return {v.claim_id: v.label == "supported" for v in last.report.verdicts if v.label not in UNCHECKED}


def _factscore(answers: Sequence[Subclaims], coherent: bool = False, gamma: float = GAMMA) -> float | None:
    """Return FActScore in percent, with the length penalty; of the coherent subclaims alone if asked for."""
    counts = []
    for subclaims in answers:
        own = [s["supported"] for s in subclaims if s["supported"] is not None and (s["coherent"] or not coherent)]
        counts.append(Counts(len(own), sum(own)))
    found = score(counts, gamma).factscore
    return None if found is None else 100 * found


def _supported_share(answers: Sequence[Subclaims]) -> float | None:
    subclaims = [s for answer in answers for s in answer]
    return 100 * sum(s["coherent"] for s in subclaims) / len(subclaims) if subclaims else None


def _entailed(answers: Sequence[Subclaims]) -> float | None:
    return mean([sum(bool(s.get("entailed")) for s in subclaims) for subclaims in answers])


def _correlated(ours: Mapping[str, Sequence[Cell]], entailed: Mapping[str, Sequence[Cell]]) -> tuple[str, ...]:
    """Say how DecompScore and the number of entailed subclaims go together over systems and decomposers (W24 C)."""
    import numpy as np

    pairs = np.array([pair for s in ours if s != MACRO for pair in zip(ours[s], entailed[s], strict=True)], dtype=float)
    if not np.all(np.ptp(pairs, axis=0)):
        return ()
    found = np.corrcoef(pairs.T)[0, 1]
    return (f"DecompScore and the number of entailed subclaims correlate with {found:.4f} (published: 0.9978)",)


MEASURES: dict[str, Callable[[Sequence[Subclaims]], float | None]] = {
    "T2": lambda answers: mean([sum(s["coherent"] for s in subclaims) for subclaims in answers]),
    "T3": lambda answers: mean([len(subclaims) for subclaims in answers]),
    "T4": _factscore,
    "T5": lambda answers: _factscore(answers, coherent=True),
    "T6": _supported_share,
}
FIGURES = {"T2": "F3", "T4": "F2", "T5": "F5", "T6": "F6"}


def _systems(answers: Sequence[Mapping[str, Any]]) -> dict[str, list[Mapping[str, Any]]]:
    found: dict[str, list[Mapping[str, Any]]] = {}
    for answer in answers:
        found.setdefault(answer["system"], []).append(answer)
    return found


def _by_system(
    answers: Sequence[Mapping[str, Any]], measure: Callable[[Sequence[Subclaims]], float | None]
) -> dict[str, Sequence[Cell]]:
    """Return a row for each system, then the mean over the systems, each of which counts once."""
    rows = {
        system: [measure([a["made"][name] for a in own]) for name in answers[0]["made"]]
        for system, own in _systems(answers).items()
    }
    macro = [mean(column) for column in zip(*rows.values(), strict=True)] if rows else []
    return {**rows, MACRO: macro} if macro else {}


def _correlations(answers: Sequence[Mapping[str, Any]]) -> dict[str, Sequence[Cell]]:
    """Return our figures beside the given ones for each system, and their Pearson correlations."""
    import numpy as np

    if lacking := [a["system"] for a in answers if not {"factscore", "facts"} <= a.keys()]:
        raise BadInput(f'answers of {lacking[0]} have no "factscore" and "facts" of another judge to compare with')
    rows: dict[str, Sequence[Cell]] = {}
    for system, own in _systems(answers).items():
        made = [a["made"]["FActScore"] for a in own]
        rows[system] = [
            _factscore(made), mean([a["factscore"] for a in own]),
            mean([len(m) for m in made]), mean([a["facts"] for a in own]),
        ]  # fmt: skip
    columns = [[float(v) for v in column if isinstance(v, int | float)] for column in zip(*rows.values(), strict=True)]
    cells: list[Cell] = []
    for ours, theirs in ((columns[0], columns[1]), (columns[2], columns[3])):
        varied = all(len(c) == len(rows) and min(c) < max(c) for c in (ours, theirs))
        cells += [None, float(np.corrcoef(ours, theirs)[0, 1]) if varied else None]
    rows[CORRELATION] = cells
    return rows


def _bars(macro: Sequence[Cell], number: str, name: str = "ours") -> Figure:
    from attribution.studies.papers import paper

    table = paper("w24").numbered[f"W24.{number}"]
    made: Figure = plotly().Figure()
    for title, values in (("published", table.rows[MACRO]), (name, macro)):
        made.add_bar(name=title, x=list(DECOMPOSERS), y=list(values))
    made.update_layout(yaxis={"title": {"text": table.title}}, height=420)
    return made


@dataclass(frozen=True)
class FrozenPages:
    """An EvidenceSource without search: every claim gets all pages of the snapshot, whose own claims are ignored."""

    snapshot: Snapshot

    @property
    def judgements(self) -> Mapping[str, Judgement]:
        return self.snapshot.judgements

    def over(self, store: Store) -> Store:
        return self.snapshot.over(store)

    def claims(self, question: str, answer: str, settings: Settings) -> PreparedClaims | None:
        return None

    def gather(self, claims: Sequence[Claim], question: str, stop: threading.Event) -> Iterator[GatherStep]:
        pages, ids = self.snapshot.report.pages, tuple(claim.id for claim in claims)
        yield GatherStep("fetch", 1, 1, ids, pages=pages, traces=self.snapshot.provenance.traces, complete=ids)

    def refute(self, claims: Sequence[Claim], stop: threading.Event) -> Iterator[GatherStep]:
        return iter(())


def sensitivity(
    rows: Sequence[Row], settings: Settings, decomposers: Sequence[str], verifiers: Sequence[str], folder: Path,
    gamma: float = GAMMA, snapshot: Snapshot | None = None,
) -> Iterator[RowDone]:  # fmt: skip
    """Score every answer with each verifier and decomposer as W24 8.2 does; write a file of rows for each verifier.

    `gamma` affects only the tables; `snapshot` takes the place of the settings' sources. UnknownName or Unavailable,
    before any work, for names that cannot be used.
    """
    choices = {name: settings.model_copy(update={"segmenter": name}) for name in decomposers}
    for name in decomposers:
        SEGMENTERS.build(name, settings)
    for name in verifiers:
        VERIFIERS.build(name, settings)
    folder.mkdir(parents=True, exist_ok=True)
    source = FrozenPages(snapshot) if snapshot else None
    own = [settings.model_copy(update={"segmenter": "", "verifier": ""}).identity, [*decomposers]]
    scored: dict[str, Sequence[Mapping[str, Any]]] = {}
    failed: Sequence[Failed] = ()
    for verifier in verifiers:
        path, key = folder / f"{verifier}.jsonl", [*own, verifier, snapshot.report.id if snapshot else ""]
        yield from Experiment(
            rows, partial(_prepare, choices, verifier, source), key, ("question", "answer", "system")
        ).run(path)
        scored[verifier], failed = read_results(path, "scored", TypeAdapter(dict[str, Any]))
    write_tables([*_sensitivity(scored, gamma), *failed_answers(failed)], folder)


def _prepare(choices: Mapping[str, Settings], verifier: str, source: FrozenPages | None) -> Work:
    return lambda row: {"scored": _answer(row, choices, verifier, "", verifier, source)}


def _sensitivity(scored: Mapping[str, Sequence[Mapping[str, Any]]], gamma: float) -> list[ResultTable]:
    """Tabulate the measures by decomposer and verifier, means over systems, then FActScore by system."""
    if not all(scored.values()):
        return []
    measures: dict[str, Callable[[Sequence[Subclaims]], float | None]] = {
        f"FActScore (%): length penalty below {gamma:g} subclaims": lambda a: _factscore(a, gamma=gamma),
        "FActScore of coherent subclaims (%)": lambda a: _factscore(a, coherent=True, gamma=gamma),
        "Subclaims an answer": MEASURES["T3"], "DecompScore": MEASURES["T2"],
        "Coherent subclaims (%)": MEASURES["T6"],
    }  # fmt: skip
    tables = []
    for title, measure in measures.items():
        by_system = {verifier: _by_system(answers, measure) for verifier, answers in scored.items()}
        means = zip(*(rows[MACRO] for rows in by_system.values()), strict=True)
        names = next(iter(scored.values()))[0]["made"]
        found = tuple((name, *cells) for name, cells in zip(names, means, strict=True))
        tables.append(ResultTable(title, ("decomposer", *by_system), found))
        if title.startswith("FActScore (%)"):
            tables += [
                ResultTable(f"Systems by {verifier}: FActScore (%)", ("system", *names),
                            tuple((system, *cells) for system, cells in rows.items()))
                for verifier, rows in by_system.items() if len(rows) > 2
            ]  # fmt: skip
    return tables
