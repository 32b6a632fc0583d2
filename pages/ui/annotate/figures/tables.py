"""The tables of results: what people found, how far they agree, how well and how fast they work. No streamlit."""

from __future__ import annotations

from collections.abc import Sequence

from attribution.evaluation.ais import figures, models, quality
from attribution.evaluation.ais.judgements import ANSWERS, Answer, Judgement, by_task, decided, finished
from attribution.evaluation.ais.project import Annotations, Work
from attribution.evaluation.ais.quality import Agreement, agreement
from attribution.evaluation.ais.tasks import Project
from pages.ui.annotate.figures.cells import Cell, Figures, Number
from pages.ui.html.render import look, plural

WORDS = {"flagged": "Flagged", "interpretable": "Interpretable", "attributable": "AIS"}


class Found:
    """The judgements of a project that count."""

    def __init__(self, kept: Annotations, project: Project, work: Work, pilot: bool = False) -> None:
        self.records = kept.judgements(project.id)
        self.tasks = kept.tasks(project.id)
        tried = work.pilot
        self.all = finished(self.records)
        self.counted = [j for j in self.all if (j.task_id in tried) == pilot]
        self.judgements = by_task(self.counted)
        adjudicated = {j.task_id: j for j in finished(self.records, "adjudication")}
        self.answers = decided(self.judgements, adjudicated)
        self.audits = finished(self.records, "audit")
        self.pilot = tried

    def everything(self) -> dict[str, list[Judgement]]:
        """Of each task all that was said, adjudication and audit included."""
        return by_task([*self.all, *self.audits, *finished(self.records, "adjudication")])


def number(value: float | None, tasks: Sequence[str], base: int | None = None, interval: str = "") -> Cell:
    """A share in per cent with its base; a dash where nothing was counted."""
    if value is None:
        return "–"
    of = f"of {base:,}" if base is not None else ""
    return Number(f"{100 * value:.1f} %", tuple(tasks), " ".join(filter(None, (of, interval))))


def count(tasks: Sequence[str]) -> Cell:
    return Number(f"{len(tasks):,}", tuple(tasks))


def share_tables(found: Found) -> list[Figures]:
    """R23, tables 3 to 6."""
    table = Figures(
        "Attribution",
        "Each task counts once, with what most annotators said or the adjudicator decided. Interpretable is of the "
        "tasks that were not flagged, AIS (attributable to identified sources) of the interpretable ones. In brackets: "
        "95 % intervals, bootstrapped over tasks.",
        ("Data set", "System", "Tasks", *WORDS.values(), "Undecided"),
    )
    for row in figures.rows(found.tasks, found.answers):
        own_tasks = (*row.shares["flagged"].base, *row.undecided)
        cells = [
            number(s.value, s.tasks or s.base, len(s.base), f"[{100 * (s.low or 0):.1f}, {100 * (s.high or 0):.1f}]")
            for s in row.shares.values()
        ]
        undecided = count(row.undecided) if row.undecided else "0"
        table.rows.append((row.dataset or "–", row.system or "–", count(own_tasks), *cells, undecided))
    differences = Figures(
        "Differences between systems",
        "In percentage points, with 95 % bootstrap intervals; p by permutation, two-sided. Answers to the same item "
        "are compared in pairs where most have a partner.",
        ("Data set", "Systems", "Figure", "Difference", "p", "Compared"),
    )
    for d in figures.differences(found.tasks, found.answers):
        low, high = 100 * d.low, 100 * d.high
        words = [f"{100 * d.value:+.1f}", f"[{low:+.1f}, {high:+.1f}]"]
        value, interval = (text.replace("-", "−") for text in words)
        compared = plural(d.items, "pair") if d.items else "not in pairs"
        p = f"{d.p:.4f}" if d.p >= 0.001 else "< 0.001"
        systems = " − ".join(name or "–" for name in d.systems)
        differences.rows.append(
            (
                d.dataset or "–",
                systems,
                WORDS[d.measure],
                Number(value, d.tasks, interval),
                Number(p, d.tasks),
                compared,
            )
        )
    return [table, *([differences] if differences.rows else [])]


def agreement_table(found: Found) -> Figures:
    """Pairwise agreement and α for all, by data set, and of each annotator with the others."""
    table = Figures(
        "Agreement",
        "On both answers together: a pair is equal only where both answers are. Whoever flagged a task is left out. "
        "α is Krippendorff's, for nominal labels.",
        ("Of", "Tasks", "Pairs", "Pairwise agreement", "α", "Disagreements"),
    )
    datasets = sorted({found.tasks[task].dataset for task in found.judgements})
    groups: list[tuple[str, list[Judgement]]] = [("All", found.counted)]
    if len(datasets) > 1:
        groups += [
            (f"Data set {d or '–'}", [j for j in found.counted if found.tasks[j.task_id].dataset == d])
            for d in datasets
        ]
    for name, some in groups:
        table.rows.append((name, *_agreement(agreement(some))))
    names = sorted({j.annotator for j in found.counted})
    for name in names if len(names) > 2 else []:
        pairs = [
            j for of_task in found.judgements.values() if any(j.annotator == name for j in of_task) for j in of_task
        ]
        table.rows.append((name, *_agreement(_with(name, pairs))))
    return table


def _with(name: str, judgements: Sequence[Judgement]) -> Agreement:
    """Of one annotator with each other one; α has no meaning here."""
    equal = pairs = 0
    tasks, differing = [], []
    for task, of_task in by_task(judgements).items():
        labels = {j.annotator: j.content.answer for j in of_task if j.content.answer != "flagged"}
        if (own_label := labels.pop(name, None)) is None or not labels:
            continue
        tasks.append(task)
        same = sum(label == own_label for label in labels.values())
        equal, pairs = equal + same, pairs + len(labels)
        differing += [task] if same < len(labels) else []
    return Agreement(tuple(tasks), equal, pairs, None, tuple(differing))


def _agreement(found: Agreement) -> tuple[Cell, ...]:
    alpha: Cell = "–" if found.alpha is None else Number(f"{found.alpha:.3f}", found.tasks)
    value = number(found.pairwise, found.tasks)
    return (
        count(found.tasks),
        Number(f"{found.pairs:,}", found.tasks),
        value,
        alpha,
        count(found.differing) if found.differing else "0",
    )


def quality_tables(found: Found) -> list[Figures]:
    """R23, tables 7 and 8."""
    tables = []
    audit = Figures(
        "Audit",
        "Of the judgements that a lead has judged too, those with the same answer.",
        ("Annotator", "Judgements", "Interpretable", "AIS", "Both answers"),
    )
    for row in quality.audited(found.all, found.audits):
        total, asked = len(row.tasks), len(row.asked)
        audit.rows.append((
            row.annotator or "All", count(row.tasks),
            number(len(row.interpretable) / total, row.interpretable, total),
            number(len(row.attributable) / asked if asked else None, row.attributable, asked),
            number(len(row.both) / total, row.both, total),
        ))  # fmt: skip
    tables += [audit] if audit.rows else []
    pace = Figures(
        "Seconds a task",
        "Medians, without pauses. Start and end are the first and the last quarter of what somebody judged after the "
        "pilot.",
        ("Annotator", "Period", "Judgements", "First question", "Second question", "Both"),
    )
    for p in quality.paces(found.all, found.pilot):
        if p.tasks:
            seconds = ["–" if v is None else Number(f"{v:.1f} s", p.tasks) for v in (p.first, p.second, p.both)]
            pace.rows.append((p.annotator or "All", p.period.capitalize(), count(p.tasks), *seconds))
    return [*tables, *([pace] if pace.rows else [])]


def confusion_table(row: models.Against) -> Figures:
    """The verdicts of one verifier by people's answers."""
    labels = [label for label in models.WORST if any(label == l for _, l in row.cells)]  # noqa: E741
    people: tuple[Answer, ...] = ("attributable", "not_attributable")
    name, _, version = row.verifier.partition(" ")
    table = Figures(f"Verdicts of {name}", version, ("People", *(look(label).word for label in labels)))
    for answer in people:
        cells = [row.cells.get((answer, label), ()) for label in labels]
        table.rows.append((ANSWERS[answer], *(count(tasks) if tasks else "0" for tasks in cells)))
    return table
