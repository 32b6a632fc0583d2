"""The results of an annotation project, and its agreement (R23 Table 3, 4, 5, 6, 7 and 8).

A task counts once, with the answer of most of its annotators or of the adjudicator. For agreement,
each annotator's answers to the two questions are one label; an annotator who flagged a task gave
none.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

from attribution.studies.annotation.project import Annotations
from attribution.studies.annotation.records import (
    ANSWERS,
    Annotation,
    Answer,
    by_task,
    decided,
    finished,
)
from attribution.studies.annotation.tasks import Project, Task
from attribution.studies.results import mean, percent

Measure = Literal["flagged", "interpretable", "attributable"]
# of each measure: the answers in the numerator and in the denominator of its share
MEASURES: dict[Measure, tuple[tuple[Answer, ...], tuple[Answer, ...]]] = {
    "flagged": (("flagged",), tuple(ANSWERS)),
    "interpretable": (
        ("attributable", "not_attributable"),
        ("attributable", "not_attributable", "not_interpretable"),
    ),
    "attributable": (("attributable",), ("attributable", "not_attributable")),
}


@dataclass(frozen=True)
class CountedJudgements:
    """The judgements of a project that count: those of the pilot, or those after it.

    Attributes:
        judgements: Those of this part.
        all: Those of both.
        answers: What was decided, by task.
        pilot: The tasks that everybody judges first.
    """

    tasks: Mapping[str, Task]
    judgements: Sequence[Annotation]
    all: Sequence[Annotation]
    audits: Sequence[Annotation]
    answers: Mapping[str, Answer | None]
    pilot: Collection[str]

    @classmethod
    def of(cls, saved: Annotations, project: Project, is_pilot: bool = False) -> CountedJudgements:
        """Read the judgements of a project."""
        pilot = saved.work(project).pilot
        records = saved.judgements(project.id)
        judgements = finished(records)
        counted = [j for j in judgements if (j.task_id in pilot) == is_pilot]
        adjudicated = {j.task_id: j for j in finished(records, "adjudication")}
        answers = decided(by_task(counted), adjudicated)
        tasks, audits = saved.tasks(project.id), finished(records, "audit")
        return cls(tasks, counted, judgements, audits, answers, pilot)

    def by_dataset(self) -> dict[str, list[Annotation]]:
        """Return the judgements of this part by the data set of their task."""
        datasets: dict[str, list[Annotation]] = defaultdict(list)
        for judgement in self.judgements:
            datasets[self.tasks[judgement.task_id].dataset].append(judgement)
        return dict(sorted(datasets.items()))


@dataclass(frozen=True)
class TaskShare:
    """Tasks with an answer, and those that could have it."""

    part: int
    whole: int

    @property
    def percent(self) -> float | None:
        return percent(self.part, self.whole)

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's 95 % interval of the share, in percent; the share of something."""
        from scipy.stats import binomtest

        interval = binomtest(self.part, self.whole).proportion_ci(method="wilson")
        return 100 * float(interval.low), 100 * float(interval.high)


@dataclass(frozen=True)
class SystemFigures:
    """The results of one system on one data set.

    Attributes:
        undecided: Tied tasks: left out until somebody adjudicates.
    """

    dataset: str
    system: str
    shares: dict[Measure, TaskShare]
    undecided: int


def rows(tasks: Mapping[str, Task], answers: Mapping[str, Answer | None]) -> list[SystemFigures]:
    """Return a row for each data set and system, in the order of their names."""
    groups: dict[tuple[str, str], list[Answer | None]] = defaultdict(list)
    for task_id, answer in answers.items():
        groups[tasks[task_id].dataset, tasks[task_id].system].append(answer)
    figures: list[SystemFigures] = []
    for (dataset, system), own in sorted(groups.items(), key=lambda group: group[0]):
        shares = {measure: share(own, measure) for measure in MEASURES}
        figures.append(SystemFigures(dataset, system, shares, own.count(None)))
    return figures


def share(answers: Iterable[Answer | None], measure: Measure) -> TaskShare:
    """Count the answers of a measure."""
    counting, counted = MEASURES[measure]
    base = [answer for answer in answers if answer in counted]
    return TaskShare(sum(answer in counting for answer in base), len(base))


@dataclass(frozen=True)
class Agreement:
    """Agreement of annotators.

    Attributes:
        tasks: With two labels or more.
        pairwise: Share of equal pairs of judgements; None if no task has two labels.
        alpha: Krippendorff's; None also if all agree.
        differing: Tasks with unequal labels.
    """

    tasks: int
    pairs: int
    pairwise: float | None
    alpha: float | None
    differing: int


def agreement(judgements: Iterable[Annotation]) -> Agreement:
    """Compute the agreement of finished judgements. A pair is equal only if both of its answers
    are.
    """
    labels: list[Sequence[Answer]] = []
    for of_task in by_task(judgements).values():
        answers = [judgement.content.answer for judgement in of_task]
        given = [answer for answer in answers if answer and answer != "flagged"]
        if len(given) > 1:
            labels.append(given)
    pairs = [pair for given in labels for pair in combinations(given, 2)]
    return Agreement(
        tasks=len(labels),
        pairs=len(pairs),
        pairwise=mean([a == b for a, b in pairs]),
        alpha=nominal_alpha(labels),
        differing=sum(len(set(given)) > 1 for given in labels),
    )


def nominal_alpha(units: Sequence[Sequence[Hashable]]) -> float | None:
    """Compute Krippendorff's α for nominal labels (Krippendorff 2019, section 12.3).

    1 - observed / expected disagreement. None without a unit of two labels, and if only one label
    occurs.
    """
    totals: Counter[Hashable] = Counter()
    observed = 0.0
    for unit in units:
        totals.update(unit)
        counts = Counter(unit).values()
        observed += (len(unit) ** 2 - sum(n * n for n in counts)) / (len(unit) - 1)
    count = totals.total()
    expected = count * count - sum(n * n for n in totals.values())
    return 1 - (count - 1) * observed / expected if expected else None


def audited(judgements: Iterable[Annotation], audits: Iterable[Annotation]) -> TaskShare:
    """Count the judgements that a lead has judged too, and those with the lead's answer.

    Of several leads, the first by name counts.
    """
    leads: dict[str, Annotation] = {}
    for audit in sorted(audits, key=lambda one: one.annotator):
        leads.setdefault(audit.task_id, audit)
    equal: list[bool] = []
    for judgement in judgements:
        lead = leads.get(judgement.task_id)
        if lead is not None and lead.annotator != judgement.annotator:
            equal.append(judgement.content.answer == lead.content.answer)
    return TaskShare(sum(equal), len(equal))


@dataclass(frozen=True)
class Pace:
    """Mean seconds of the judgements in one period; None where there are none."""

    period: str
    judgements: int
    seconds: float | None


def paces(judgements: Iterable[Annotation], pilot: Collection[str]) -> list[Pace]:
    """Return the pace of finished judgements in each period.

    The start and the end are the first and the last quarter of an annotator's judgements after the
    pilot.
    """
    by_annotator: dict[str, list[Annotation]] = defaultdict(list)
    for judgement in sorted(judgements, key=lambda one: (one.made_at, one.id)):
        by_annotator[judgement.annotator].append(judgement)
    periods: dict[str, list[Annotation]] = {"pilot": [], "start": [], "end": []}
    for own in by_annotator.values():
        later = [one for one in own if one.task_id not in pilot]
        quarter = math.ceil(len(later) / 4)
        periods["pilot"] += [one for one in own if one.task_id in pilot]
        periods["start"] += later[:quarter]
        periods["end"] += later[-quarter:] if len(later) > quarter else []
    paces: list[Pace] = []
    for period, done in periods.items():
        seconds = [sum(one.content.seconds) for one in done]
        paces.append(Pace(period, len(done), mean(seconds)))
    return paces
