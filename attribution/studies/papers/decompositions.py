"""The tables of W24: DecompScore, subclaims and FActScore of seven decomposers, or any, by the
answers' system.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from attribution.errors import BadInput
from attribution.files import Cell, Row
from attribution.pipeline.claims import check_coherence, segment
from attribution.pipeline.experiment import RowDone
from attribution.segmenters import SEGMENTERS
from attribution.settings import Settings
from attribution.store.store import Store
from attribution.studies.factscore import Counts, score
from attribution.studies.papers.reproduce import AHEAD, Computed, TableInputs, report_of
from attribution.studies.results import mean, plotly
from attribution.tables import LLM
from attribution.types import UNCHECKED, Claim
from attribution.verifiers import VERIFIERS

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

# the columns of the paper, by our segmenters; without a language model one that needs none stands
# in
DECOMPOSERS = {
    "R-ND": "r_nd",
    "Chen": "chen",
    "WiCE": "wice",
    "FActScore": "factscore",
    "FActScore-2": "factscore-2",
    "CoNLL-U": "conllu",
    "PredPatt": "predpatt-published",
}
THRESHOLD = 0.5  # least probability that a subclaim's sentence supports it
_GIVEN = ("factscore", "facts")  # of another judge, for T7
MACRO, CORRELATION = "Macro-average", "ρ"
Subclaims = Sequence[Mapping[str, Any]]  # of an answer: coherent, and supported or None


def compute(number: str, given: TableInputs) -> Iterator[RowDone | Computed]:
    """Yield the progress, then one table. BadInput without answers, or without given scores for T7."""
    if not given.rows:
        raise BadInput(f"W24.{number} needs answers with their system: give them with --input")
    for row in given.rows if number == "T7" else ():
        if not row.error and not all(
            isinstance(row.fields.get(name), int | float) for name in _GIVEN
        ):
            raise BadInput(
                f'line {row.line} has no "factscore" and "facts" of another judge, as numbers'
            )
    checked = number in ("T4", "T5", "T7")
    names = ("FActScore",) if number == "T7" else tuple(DECOMPOSERS)
    asking = given.asking(0, "gpt-3.5-turbo-instruct and Inst-LLAMA")  # W24 B
    choices = {
        name: asking.model_copy(
            update={"segmenter": given.take(name, SEGMENTERS, DECOMPOSERS[name], "clauses")}
        )
        for name in names
    }
    # all answers by one prompt before the next: a local server reads the start of a prompt like the
    # last only once
    for name, settings in choices.items():
        if LLM in SEGMENTERS[settings.segmenter].needs:
            ahead = given.each(f"split {name}", partial(_split, settings), file=AHEAD)
            yield from (one for one in ahead if isinstance(one, RowDone))
    for one in given.each("checked" if checked else "split", _work(given, choices, checked), names):
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


def _split(settings: Settings, row: Row) -> int:
    """Ask for the subclaims of an answer, so that the replies are in the store."""
    return len(
        segment(str(row.fields.get("question") or ""), str(row.fields["answer"]), settings).claims
    )


def _work(
    given: TableInputs, choices: Mapping[str, Settings], checked: bool
) -> Callable[[Row], Any]:
    judge = given.judge("Inst-LLAMA", "llm-pair", "llm")
    nli = given.take("RoBERTa for NLI", VERIFIERS, "deberta", "auto") if not checked else ""
    verifier = given.judge("Inst-LLAMA", "llm") if checked else ""
    return lambda row: _answer(row, choices, judge, nli, verifier)


def _answer(
    row: Row, choices: Mapping[str, Settings], judge: str, nli: str, verifier: str
) -> dict[str, Any]:
    fields = row.fields
    made = {
        name: _decomposed(row, settings, judge, nli, verifier) for name, settings in choices.items()
    }
    return {
        "system": str(fields.get("system") or "not named"),
        "made": made,
        **{n: fields.get(n) for n in _GIVEN},
    }


def _decomposed(
    row: Row, settings: Settings, judge: str, nli: str, verifier: str
) -> list[dict[str, Any]]:
    """Return every subclaim, as often as it was made: does its sentence support and entail it, and
    do the sources?

    Nothing is left out: neither subclaims that are not check-worthy (W24 7) nor answers that say
    nothing (W24 A).
    """
    store = Store.open(settings.database_url)
    question, answer = str(row.fields.get("question") or ""), str(row.fields["answer"])
    claims = segment(question, answer, settings).claims
    judging = settings.model_copy(
        update={"verifier": judge, "coherence": settings.coherence or THRESHOLD}
    )
    judged, _ = check_coherence(answer, claims, judging, store, published=True)
    entailing = judging.model_copy(
        update={"verifier": nli, "segmenter": "sentences"}
    )  # the verifier alone (W24 C)
    entailed = (
        {c.id: c.coherent for c in check_coherence(answer, claims, entailing, store)[0]}
        if nli
        else {}
    )
    checking = settings.model_copy(update={"verifier": verifier})
    supported = _supported(row, claims, checking) if verifier else {}
    made = [
        {"coherent": c.coherent, "entailed": entailed.get(c.id), "supported": supported.get(c.id)}
        for c in judged
    ]
    return [one for c, one in zip(judged, made, strict=True) for _ in range(c.times)]


def _supported(row: Row, claims: Sequence[Claim], settings: Settings) -> dict[str, bool]:
    own = [c.model_copy(update={"worthiness": "factual", "coherent": True}) for c in claims]
    if not own:
        return {}
    report = report_of(row, own, settings.model_copy(update={"coherence": 0.0}))
    return {v.claim_id: v.label == "supported" for v in report.verdicts if v.label not in UNCHECKED}


def _factscore(answers: Sequence[Subclaims], coherent: bool = False) -> float | None:
    """Return FActScore in percent, with the length penalty; of the coherent subclaims alone if
    asked for.
    """
    counts = []
    for subclaims in answers:
        own = [
            s["supported"]
            for s in subclaims
            if s["supported"] is not None and (s["coherent"] or not coherent)
        ]
        counts.append(Counts(len(own), sum(own)))
    found = score(counts).factscore
    return None if found is None else 100 * found


def _supported_share(answers: Sequence[Subclaims]) -> float | None:
    subclaims = [s for answer in answers for s in answer]
    return 100 * sum(s["coherent"] for s in subclaims) / len(subclaims) if subclaims else None


def _entailed(answers: Sequence[Subclaims]) -> float | None:
    return mean([sum(bool(s.get("entailed")) for s in subclaims) for subclaims in answers])


def _correlated(
    ours: Mapping[str, Sequence[Cell]], entailed: Mapping[str, Sequence[Cell]]
) -> tuple[str, ...]:
    """Say how DecompScore and the number of entailed subclaims go together over systems and
    decomposers (W24 C).
    """
    import numpy as np

    pairs = np.array(
        [pair for s in ours if s != MACRO for pair in zip(ours[s], entailed[s], strict=True)],
        dtype=float,
    )
    if not np.all(np.ptp(pairs, axis=0)):
        return ()
    found = np.corrcoef(pairs.T)[0, 1]
    return (
        f"DecompScore and the number of entailed subclaims correlate with {found:.4f} (published: 0.9978)",
    )


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

    rows: dict[str, Sequence[Cell]] = {}
    for system, own in _systems(answers).items():
        made = [a["made"]["FActScore"] for a in own]
        rows[system] = [
            _factscore(made),
            mean([a["factscore"] for a in own]),
            mean([len(m) for m in made]),
            mean([a["facts"] for a in own]),
        ]
    columns = [
        [float(v) for v in column if isinstance(v, int | float)]
        for column in zip(*rows.values(), strict=True)
    ]
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
