"""The tables of T24: the splits of a labelled set, and groundedness methods on its development and
test rows.
"""

from __future__ import annotations

import hashlib
import threading
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean
from typing import TYPE_CHECKING

from attribution.errors import BadInput
from attribution.files import Cell
from attribution.pipeline.experiment import ResultFile, RowDone
from attribution.studies.groundedness import METHODS
from attribution.studies.groundedness.evaluation import LeftOut, Outcome, read_outcomes, run, tune
from attribution.studies.groundedness.labelled_set import LabelledRow, labelled_set
from attribution.studies.papers.reproduce import ANSWERS, Computed, TableInputs, share
from attribution.studies.results import plotly
from attribution.text.sentences import sentences

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

SPLITS = {"Training": 0.7, "Development": 0.1, "Testing": 0.2}  # T24 4.3
NAMED = {
    "train": "Training",
    "training": "Training",
    "dev": "Development",
    "development": "Development",
    "validation": "Development",
    "test": "Testing",
    "testing": "Testing",
}
# the paper's rows → our method, and the place of its language model in --models
ROWS = {
    "COS_SIM": ("cos_sim", 0),
    "QUIP": ("quip", 0),
    "HEM V1": ("hem_v1", 0),
    "HEM V2": ("hem_v2", 0),
    "FACT_KB": ("factkb", 0),
    "GC-large": ("gc", 0),
    "LYNX v1.1": ("lynx", 0),
    "Sonnet 3.5": ("lynx", 1),
    "GPT-4o": ("lynx", 2),
    "RefChecker (Haiku)": ("refchecker", 0),
    "RefChecker (Sonnet 3)": ("refchecker", 1),
    "DeepEval Claims Verify": ("claims_verify", 1),
    "SCGPT (Multi-Gen)": ("selfcheck_multi", 1),
    "SCGPT (ContextNLI)": ("contextnli", 0),
}
INSTEAD = {"contextnli": "selfcheck_context"}  # for a method that is not ready
TYPES = {
    "terminological_error": "Terminological Errors",
    "factual_inaccuracy": "Factual Inaccuracies",
    "procedural_error": "Procedural Errors",
    "reasoning_error": "Reasoning Errors",
    "contextual_misinterpretation": "Contextual Misinterpretations",
    "misattribution": "Misattributions",
}


def compute(number: str, given: TableInputs) -> Iterator[RowDone | Computed]:
    """Yield the progress, then one table. BadInput without labelled responses, or without both
    labels in a split.
    """
    if not given.rows:
        raise BadInput(
            f"T24.{number} needs labelled responses: give them with --input (docs/groundedness.md)"
        )
    named = {row.line: str(row.fields.get("split") or "").lower() for row in given.rows}
    bare = [type(row)(row.line, {**row.fields, "split": ""}, row.error) for row in given.rows]
    rows = labelled_set(bare).rows
    split = divided(rows, {row.id: NAMED.get(named[row.line], "") for row in rows})
    if number == "T1":
        yield Computed(_statistics(rows, split))
        return
    wanted = {"gc": ROWS["GC-large"]} if number == "T2" else ROWS
    outcomes: dict[str, dict[str, Outcome]] = {}
    for label, (method, place) in wanted.items():
        settings = given.settings.model_copy(update={"openai_model": _model(given, place)})
        if missing := METHODS[method].missing(settings):
            given.note(label, method, instead := INSTEAD.get(method, ""), missing)
            if not instead:
                continue
            method = instead
        scored: dict[str, Outcome] = {}
        used = [row for row in rows if split[row.id] != "Training"]
        with ResultFile(given.folder / f"{place}-{ANSWERS}") as file:
            before = read_outcomes(file.path)
            for one in run(used, [method], settings, before, threading.Event()):
                if isinstance(one, LeftOut):
                    given.note(label, method, "", one.reason)
                    continue
                if before.get((one.method, one.row)) != one:
                    file.append(one.model_dump(mode="json"))
                scored[one.row] = one
                yield RowDone(
                    len(scored), len(used), sum(bool(o.error) for o in scored.values()), one.error
                )
        if scored:
            outcomes[label] = scored
    measured = {label: _Method(rows, split, own) for label, own in outcomes.items()}
    yield _table(number, measured, rows)


def _model(given: TableInputs, place: int) -> str:
    return (
        given.models[min(place, len(given.models) - 1)]
        if given.models
        else given.settings.openai_model
    )


def divided(rows: Sequence[LabelledRow], named: Mapping[str, str]) -> dict[str, str]:
    """Return each row's split: the named one, else 70, 10 and 20 % of the groups by their hash (T24
    4.3).
    """
    groups = sorted({row.group for row in rows}, key=lambda g: hashlib.sha256(g.encode()).digest())
    ends = [
        round(len(groups) * share)
        for share in (SPLITS["Training"], SPLITS["Training"] + SPLITS["Development"])
    ]
    drawn = {
        g: "Training" if n < ends[0] else "Development" if n < ends[1] else "Testing"
        for n, g in enumerate(groups)
    }
    return {row.id: named.get(row.id) or drawn[row.group] for row in rows}


def _statistics(rows: Sequence[LabelledRow], split: Mapping[str, str]) -> dict[str, Sequence[Cell]]:
    found: dict[str, Sequence[Cell]] = {}
    for name in (*SPLITS, "Total"):
        own = [row for row in rows if name in ("Total", split[row.id])]
        queries = len({row.group for row in own})
        found[name] = (queries, len(own), sum(len(sentences(row.response)) for row in own))
    return found


class _Method:
    """One method on the development and the test rows; the threshold is tuned on the development
    rows alone.
    """

    def __init__(
        self, rows: Sequence[LabelledRow], split: Mapping[str, str], outcomes: Mapping[str, Outcome]
    ) -> None:
        scored = [
            (row, outcomes[row.id])
            for row in rows
            if row.id in outcomes and not outcomes[row.id].error
        ]
        self.pairs = {
            name: [(r, o) for r, o in scored if split[r.id] == name]
            for name in ("Development", "Testing")
        }
        development = self.pairs["Development"]
        if len({row.grounded for row, _ in development}) < 2:
            raise BadInput(
                "the development split has not both grounded and ungrounded responses: give more rows"
            )
        self.reading, self.threshold, self.f1 = tune(development)
        seconds = [o.seconds for _, o in development if o.seconds is not None]
        self.seconds = fmean(seconds) if seconds else None  # T24 6

    def found(self, name: str) -> list[bool]:
        """Return for each row of a split whether it is found to be grounded."""
        return [o.scores[self.reading] >= self.threshold for _, o in self.pairs[name]]

    def figures(self, name: str) -> tuple[Cell, ...]:
        """Return macro precision, recall and F1, and accuracy (T24 6)."""
        return macro([row.grounded for row, _ in self.pairs[name]], self.found(name))


def macro(grounded: Sequence[bool], found: Sequence[bool]) -> tuple[Cell, ...]:
    """Return the means over both classes of precision, recall and F1, then accuracy; None of
    nothing.
    """
    if not grounded:
        return (None,) * 4
    from sklearn.metrics import accuracy_score, precision_recall_fscore_support

    means = precision_recall_fscore_support(
        grounded, found, labels=[True, False], average="macro", zero_division=0.0
    )
    return (
        *(round(float(one), 4) for one in means[:3]),
        round(float(accuracy_score(grounded, found)), 4),
    )


def _table(number: str, measured: Mapping[str, _Method], rows: Sequence[LabelledRow]) -> Computed:
    if number == "T2":
        return Computed({label: one.figures("Development") for label, one in measured.items()})
    if number == "T3":
        table = {
            label: (*one.figures("Development"), *one.figures("Testing"))
            for label, one in measured.items()
        }
        times = {label: one for label, one in measured.items() if one.seconds is not None}
        notes = [
            f"{label}: {one.seconds:.3g} seconds a response of the development set"
            for label, one in times.items()
        ]
        return Computed(table, {"F2": _by_latency(times)} if times else {}, tuple(notes))
    if not measured:
        return Computed({})
    best = max(measured, key=lambda label: measured[label].f1)
    wrong, total, together = Counter[str](), Counter[str](), Counter[str]()
    pairs = measured[best].pairs["Development"]
    for (row, _), grounded in zip(pairs, measured[best].found("Development"), strict=True):
        kinds = sorted(
            TYPES.get(k, k) for k in filter(None, map(str.strip, row.error_type.split(";")))
        )
        together.update([" and ".join(kinds)] if kinds else [])
        for name in kinds:  # a response may have several
            total[name] += 1
            wrong[name] += grounded
    table = {name: (wrong[name], count, share(wrong[name], count)) for name, count in total.items()}
    plots = {"F3": _counts(total), "F4": _counts(together)} if total else {}
    return Computed(table, plots, (f"the best method is {best}",))


def _by_latency(measured: Mapping[str, _Method]) -> Figure:
    made: Figure = plotly().Figure()
    for label, one in measured.items():
        made.add_scatter(
            x=[one.seconds],
            y=[one.figures("Development")[2]],
            name=label,
            mode="markers+text",
            text=[label],
        )
    made.update_layout(
        xaxis={"type": "log", "title": {"text": "seconds a response"}},
        yaxis={"title": {"text": "macro F1"}},
    )
    return made


def _counts(total: Counter[str]) -> Figure:
    made: Figure = plotly().Figure()
    made.add_bar(
        x=[name for name, _ in total.most_common()], y=[count for _, count in total.most_common()]
    )
    made.update_layout(yaxis={"type": "log", "title": {"text": "responses"}})
    return made
