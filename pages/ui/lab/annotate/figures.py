"""Show people's judgements and how verifiers compare, in tables whose numbers open the tasks behind
them.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

import streamlit as st

from attribution.files import csv_text
from attribution.reports.answer import shown
from attribution.reports.html import Child, Node, badge, el, look, plural
from attribution.settings import Settings
from attribution.store.store import Store
from attribution.studies.annotation import exchange, figures, models
from attribution.studies.annotation.figures import Agreement, agreement
from attribution.studies.annotation.models import TaskVerdict
from attribution.studies.annotation.project import Annotations, ProjectWork
from attribution.studies.annotation.records import (
    ANSWERS,
    Annotation,
    Answer,
    by_task,
    decided,
    finished,
)
from attribution.studies.annotation.tasks import FORMS, Form, Project, Task
from attribution.types import SEVERITY
from attribution.verifiers import VERIFIERS
from pages.ui import choices, state
from pages.ui.background import in_turns
from pages.ui.components import number_button, number_table, numbers
from pages.ui.frame import note, section, show, small
from pages.ui.lab.annotate import acts
from pages.ui.lab.annotate.acts import VERIFY, VerifyProgress
from pages.ui.lab.benchmark_results import choose_error_type, open_in_benchmark
from pages.ui.state import store

TYPED = 50  # tasks offered at once for naming their error


def models_view(saved: Annotations, project: Project, work: ProjectWork) -> None:
    """Draw verifiers beside people, and people's answers as a labelled set."""
    found = CountedJudgements(saved, project, work)
    judged = [
        task
        for task, answer in found.answers.items()
        if answer in ("attributable", "not_attributable")
    ]
    if not judged:
        note("Nothing to compare yet", "People have to judge some tasks first.")
        return
    VERIFY.draw(lambda running: choose_verifier(saved, project, judged, running), lambda now: None)
    compared(found)
    test_set(saved, project, found, judged)


def choose_verifier(
    saved: Annotations, project: Project, judged: Sequence[str], running: bool
) -> None:
    """Draw the choice of a verifier, and the buttons."""
    names = [name for name in choices.ready(VERIFIERS) if name != "auto"]
    first, second, third = st.columns([3, 1, 1], vertical_alignment="bottom")
    name = first.selectbox(
        "Verifier",
        names,
        format_func=lambda n: VERIFIERS[n].label,
        key="models_verifier",
        help="It judges the same tasks as people did, from the same sources.",
    )
    second.button(
        "Compare",
        type="primary",
        disabled=running,
        key="models_start",
        width="stretch",
        on_click=start,
        args=(saved, project, name, judged),
        help="Judge all tasks that people decided.",
    )
    third.button(
        "Stop",
        disabled=not running,
        on_click=VERIFY.stop,
        key="models_stop",
        width="stretch",
        help="The verdicts so far are kept.",
    )


def start(saved: Annotations, project: Project, name: str, judged: Sequence[str]) -> None:
    """Verify the judged tasks in the background."""
    settings, browser = Settings.from_environment(verifier=name), state.browser()
    tasks = [
        task for task in saved.tasks(project.id, sources=True).values() if task.id in set(judged)
    ]

    def verify(tasks: Sequence[Task], stop: threading.Event) -> Iterator[models.TaskVerdict]:
        return in_turns(
            browser, stop, models.verify(tasks, settings, Store.open(settings.database_url), stop)
        )

    VERIFY.launch(VerifyProgress(name, len(tasks)), acts.work(tasks, verify))


def test_set(
    saved: Annotations, project: Project, found: CountedJudgements, judged: Sequence[str]
) -> None:
    """Offer people's decisions as a test set for the benchmark; error types can be set by hand."""
    section("As a test set")
    small(
        f"{plural(len(judged), 'decided task')} in the form that the benchmark of groundedness methods reads: "
        "question, source, response, whether people called it attributable, and the type of error. The sentences of "
        "one response become one row."
    )
    wrong = [task for task in judged if found.answers[task] == "not_attributable"]
    types = exchange.error_types(store(), project.id)
    if wrong:
        with st.expander(f"Types of errors: {len(set(types) & set(wrong))} of {len(wrong)} named"):
            for task in wrong[:TYPED]:
                text = " ".join(found.tasks[task].answer.split())[:200]
                save = partial(exchange.put_error_type, store(), project.id, task)
                choose_error_type(text, types.get(task, ""), f"error_type-{task}", save, False)
            if len(wrong) > TYPED:
                small(f"The first {TYPED} of {len(wrong):,}.")

    def made() -> str:
        return exchange.labelled_set(saved.tasks(project.id, sources=True), found.answers, types)

    with st.container(horizontal=True):
        open_in_benchmark(f"People's answers: {project.name}", made)
        st.download_button(
            "Export a labelled set",
            made,
            f"people-{project.id}.jsonl",
            "application/jsonl",
            on_click="ignore",
            key="labelled_set",
            help="The same set as JSON Lines.",
        )


def compared(found: CountedJudgements) -> None:
    """Draw one row for each verifier, and a table of its verdicts by people's answers."""
    verdicts = models.saved(store(), list(found.answers))
    table = FigureTable(
        "Verifiers beside people",
        "“Supported” against “attributable”, on tasks that people found interpretable. α treats people and verifier as "
        "two annotators.",
        ("Verifier", "Tasks", "Agreement", "Disagreements", "α", "Precision", "Recall"),
    )
    confusions: list[FigureTable] = []
    by_id: dict[str, models.TaskVerdict] = {}
    for verifier, given in verdicts.items():
        row = models.against(verifier, given, found.answers)
        if not row.tasks:
            continue
        by_id |= {verdict.task_id: verdict for verdict in given}
        called = tuple(
            task
            for (_, label), tasks in row.cells.items()
            if label == "supported"
            for task in tasks
        )
        right = tuple(
            task
            for (answer, _), tasks in row.cells.items()
            if answer == "attributable"
            for task in tasks
        )
        of = ((row.alpha, row.tasks), (row.precision, called), (row.recall, right))
        figure: list[Cell] = [
            "–" if value is None else Number(f"{value:.2f}", tasks) for value, tasks in of
        ]
        share = number(len(row.equal) / len(row.tasks), row.equal, len(row.tasks))
        differing = count(row.differing) if row.differing else "0"
        table.rows.append((verifier.partition(" ")[0], count(row.tasks), share, differing, *figure))
        confusions.append(confusion_table(row))
    if table.rows:
        opened([table, *confusions], found, "models", by_id)


SHOWN = 100  # tasks listed behind a number


@dataclass(frozen=True)
class Number:
    """A number, the tasks behind it, and small print beside it."""

    text: str
    tasks: tuple[str, ...]
    more: str = ""


Cell = str | Number


@dataclass(frozen=True)
class FigureTable:
    """One table of the page."""

    title: str
    note: str
    heads: tuple[str, ...]
    rows: list[tuple[Cell, ...]] = field(default_factory=list)


def cell_key(table: int, row: int, column: int) -> str:
    return f"{table}-{row}-{column}"


def figures_node(table: FigureTable, place: int) -> Node:
    """Draw a table whose numbers are buttons; one without tasks stays text."""
    rows = []
    for r, row in enumerate(table.rows):
        name = " · ".join(cell for cell in row[:2] if isinstance(cell, str))
        cells: list[Child] = [
            el("span", cell, dir="auto")
            if isinstance(cell, str)
            else number_button(
                cell_key(place, r, c), cell.text, f"{name}, {table.heads[c]}", cell.more
            )
            if cell.tasks
            else cell.text
            for c, cell in enumerate(row)
        ]
        rows.append(el("tr", *(el("td", cell) for cell in cells)))
    heads = el("tr", *(el("th" if head else "td", head) for head in table.heads))
    about = el("p", table.note, class_="range") if table.note else None
    return el("section", el("h3", table.title), about, number_table(table.title, heads, rows))


def behind(tables: Sequence[FigureTable], opened: str) -> tuple[str, tuple[str, ...]] | None:
    """Return the label and the tasks of a cell; None if there is no such cell."""
    for t, table in enumerate(tables):
        for r, row in enumerate(table.rows):
            for c, cell in enumerate(row):
                if isinstance(cell, Number) and cell_key(t, r, c) == opened:
                    names = " · ".join(name for name in row if isinstance(name, str) and name)
                    return f"{table.title} · {names} · {table.heads[c]}", cell.tasks
    return None


def task_list(
    tasks: Mapping[str, Task],
    ids: Sequence[str],
    judgements: Mapping[str, Sequence[Annotation]],
    answers: Mapping[str, Answer | None],
    verdicts: Mapping[str, TaskVerdict] | None = None,
) -> Node:
    """Draw the tasks behind a number, with each person's answers; each task once, however often it
    counts.
    """
    unique = [task for task in dict.fromkeys(ids) if task in tasks]
    rows = [
        _row(tasks[i], judgements.get(i, ()), answers.get(i), (verdicts or {}).get(i))
        for i in unique[:SHOWN]
    ]
    rest = len(unique) - SHOWN
    more = (
        el("p", f"and {plural(rest, 'more task')}; the export has all", class_="facts")
        if rest > 0
        else None
    )
    return el("div", *rows, more, class_="ax-rows")


def _row(
    task: Task, judgements: Sequence[Annotation], answer: Answer | None, verdict: TaskVerdict | None
) -> Node:
    word = ANSWERS[answer] if answer else "Undecided"
    facts = " · ".join(filter(None, (task.system, task.dataset, task.time)))
    turns = [
        el("p", el("strong", f"{turn.speaker.capitalize()}: "), turn.text, dir="auto")
        for turn in task.turns
    ]
    model: list[Child] = [badge(verdict.label), f" {verdict.reason}"] if verdict else []
    return el(
        "details",
        el("summary", el("strong", f"{word} · "), el("span", task.answer[:300], dir="auto")),
        el("p", facts, class_="facts") if facts else None,
        *turns,
        el("p", el("strong", "Response: "), task.answer, dir="auto"),
        el("ul", *(_judgement(judgement, task) for judgement in judgements)),
        el("p", *model) if model else None,
    )


def _judgement(judgement: Annotation, task: Task) -> Node:
    content = judgement.content
    flags = f" ({', '.join(content.flags)})" if content.flags else ""
    role = "" if judgement.role == "annotation" else f" ({judgement.role})"
    seconds = f" · {sum(content.seconds):.1f} s" if sum(content.seconds) else ""
    answer = ANSWERS[content.answer].lower() if content.answer else "not finished"
    changed = shown(task.answer, content.explicature) if content.explicature else []
    return el(
        "li",
        el("strong", f"{judgement.annotator}{role}: "),
        f"{answer}{flags}{seconds}",
        el("span", f" “{content.justification}”", dir="auto") if content.justification else None,
        el("p", "Explicature: ", *changed, dir="auto", class_="ax-changes") if changed else None,
    )


WORDS = {"flagged": "Flagged", "interpretable": "Interpretable", "attributable": "AIS"}
BASES = (
    "Interpretable is of the tasks that were not flagged, AIS (attributable to identified sources) of the "
    "interpretable ones."
)
OTHER_WORDS: dict[
    Form, tuple[dict[str, str], str]
] = {  # of the forms whose questions are not those of R23
    "property": (
        {"flagged": "Flagged", "interpretable": "Yes"},
        "Yes is of the tasks that were not flagged.",
    ),
    "relation": (
        {"flagged": "Flagged", "interpretable": "Related", "attributable": "Entailed"},
        "Related is of the pairs that were not flagged, entailed of the related ones.",
    ),
}


class CountedJudgements:
    """The judgements of a project that count."""

    def __init__(
        self, saved: Annotations, project: Project, work: ProjectWork, pilot: bool = False
    ) -> None:
        self.records = saved.judgements(project.id)
        self.tasks = saved.tasks(project.id)
        self.form = project.form
        tried = work.pilot
        self.all = finished(self.records)
        self.counted = [j for j in self.all if (j.task_id in tried) == pilot]
        self.judgements = by_task(self.counted)
        adjudicated = {j.task_id: j for j in finished(self.records, "adjudication")}
        self.answers = decided(self.judgements, adjudicated)
        self.audits = finished(self.records, "audit")
        self.pilot = tried

    def everything(self) -> dict[str, list[Annotation]]:
        """Return all judgements of each task, including adjudication and audit."""
        return by_task([*self.all, *self.audits, *finished(self.records, "adjudication")])


def number(
    value: float | None, tasks: Sequence[str], base: int | None = None, interval: str = ""
) -> Cell:
    """Format a share in per cent with its base; a dash if nothing was counted."""
    if value is None:
        return "–"
    of = f"of {base:,}" if base is not None else ""
    return Number(f"{100 * value:.1f} %", tuple(tasks), " ".join(filter(None, (of, interval))))


def count(tasks: Sequence[str]) -> Cell:
    return Number(f"{len(tasks):,}", tuple(tasks))


def share_tables(found: CountedJudgements) -> list[FigureTable]:
    """Make R23 Table 3, 4, 5 and 6."""
    words, bases = OTHER_WORDS.get(found.form, (WORDS, BASES))
    table = FigureTable(
        "Attribution" if words is WORDS else FORMS[found.form],
        f"Each task counts once, with what most annotators said or the adjudicator decided. {bases} In brackets: "
        "95 % intervals, bootstrapped over tasks.",
        (
            "Property" if found.form == "property" else "Data set",
            "System",
            "Tasks",
            *words.values(),
            "Undecided",
        ),
    )
    for row in figures.rows(found.tasks, found.answers):
        counted = (*row.shares["flagged"].base, *row.undecided)
        cells = [
            number(
                s.value,
                s.tasks or s.base,
                len(s.base),
                f"[{100 * (s.low or 0):.1f}, {100 * (s.high or 0):.1f}]",
            )
            for measure, s in row.shares.items()
            if measure in words
        ]
        undecided = count(row.undecided) if row.undecided else "0"
        table.rows.append(
            (row.dataset or "–", row.system or "–", count(counted), *cells, undecided)
        )
    differences = FigureTable(
        "Differences between systems",
        "In percentage points, with 95 % bootstrap intervals; p by permutation, two-sided. Answers to the same item "
        "are compared in pairs where most have a partner.",
        ("Data set", "Systems", "Figure", "Difference", "p", "Compared"),
    )
    for d in figures.differences(found.tasks, found.answers):
        if d.measure not in words:
            continue
        low, high = 100 * d.low, 100 * d.high
        value, interval = (
            t.replace("-", "−") for t in (f"{100 * d.value:+.1f}", f"[{low:+.1f}, {high:+.1f}]")
        )
        compared = plural(d.items, "pair") if d.items else "not in pairs"
        p = f"{d.p:.4f}" if d.p >= 0.001 else "< 0.001"
        systems = " − ".join(name or "–" for name in d.systems)
        differences.rows.append(
            (
                d.dataset or "–",
                systems,
                words[d.measure],
                Number(value, d.tasks, interval),
                Number(p, d.tasks),
                compared,
            )
        )
    return [table, *([differences] if differences.rows else [])]


def agreement_table(found: CountedJudgements) -> FigureTable:
    """Make the table of pairwise agreement and α: for all, by data set, and of each annotator with
    the others.
    """
    table = FigureTable(
        "Agreement",
        "On both answers together: a pair is equal only where both answers are. A flag takes a task out for "
        "whoever set it. α is Krippendorff's, for nominal labels.",
        ("Of", "Tasks", "Pairs", "Pairwise agreement", "α", "Disagreements"),
    )
    datasets = sorted({found.tasks[task].dataset for task in found.judgements})
    groups: list[tuple[str, list[Annotation]]] = [("All", found.counted)]
    if len(datasets) > 1:
        groups += [
            (
                f"Data set {d or '–'}",
                [j for j in found.counted if found.tasks[j.task_id].dataset == d],
            )
            for d in datasets
        ]
    for name, some in groups:
        table.rows.append((name, *_agreement(agreement(some))))
    names = sorted({j.annotator for j in found.counted})
    for name in names if len(names) > 2 else []:
        pairs = [
            j
            for of_task in found.judgements.values()
            if any(j.annotator == name for j in of_task)
            for j in of_task
        ]
        table.rows.append((name, *_agreement(_with(name, pairs))))
    return table


def _with(name: str, judgements: Sequence[Annotation]) -> Agreement:
    """Compute the agreement of one annotator with each of the others; α has no meaning here."""
    equal = pairs = 0
    tasks, differing = [], []
    for task, of_task in by_task(judgements).items():
        labels = {j.annotator: j.content.answer for j in of_task if j.content.answer != "flagged"}
        if (own := labels.pop(name, None)) is None or not labels:
            continue
        tasks.append(task)
        same = sum(label == own for label in labels.values())
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


def quality_tables(found: CountedJudgements) -> list[FigureTable]:
    """Make R23 Table 7 and 8."""
    tables = []
    words, _ = OTHER_WORDS.get(found.form, (WORDS, ""))
    asked_of = {measure: word for measure, word in words.items() if measure != "flagged"}
    audit = FigureTable(
        "Audit",
        "The share of audited judgements in which the lead gave the same answer.",
        ("Annotator", "Judgements", *asked_of.values(), "Both answers"),
    )
    for row in figures.audited(found.all, found.audits):
        total, asked = len(row.tasks), len(row.asked)
        audit.rows.append(
            (
                row.annotator or "All",
                count(row.tasks),
                number(len(row.interpretable) / total, row.interpretable, total),
                *(
                    [
                        number(
                            len(row.attributable) / asked if asked else None,
                            row.attributable,
                            asked,
                        )
                    ]
                    if "attributable" in asked_of
                    else []
                ),
                number(len(row.both) / total, row.both, total),
            )
        )
    tables += [audit] if audit.rows else []
    pace = FigureTable(
        "Seconds a task",
        "Medians, without pauses. Start and end are the first and the last quarter of what somebody judged after the "
        "pilot.",
        ("Annotator", "Period", "Judgements", "First question", "Second question", "Both"),
    )
    for p in figures.paces(found.all, found.pilot):
        if p.tasks:
            seconds = [
                "–" if v is None else Number(f"{v:.1f} s", p.tasks)
                for v in (p.first, p.second, p.both)
            ]
            pace.rows.append(
                (p.annotator or "All", p.period.capitalize(), count(p.tasks), *seconds)
            )
    return [*tables, *([pace] if pace.rows else [])]


def confusion_table(row: models.Against) -> FigureTable:
    """Make the table of one verifier's verdicts by people's answers."""
    labels = [label for label in SEVERITY if any(label == l for _, l in row.cells)]  # noqa: E741
    people: tuple[Answer, ...] = ("attributable", "not_attributable")
    name, _, version = row.verifier.partition(" ")
    table = FigureTable(
        f"Verdicts of {name}", version, ("People", *(look(label).word for label in labels))
    )
    for answer in people:
        cells = [row.cells.get((answer, label), ()) for label in labels]
        table.rows.append((ANSWERS[answer], *(count(tasks) if tasks else "0" for tasks in cells)))
    return table


def results_view(saved: Annotations, project: Project, work: ProjectWork) -> None:
    """Draw all tables, and the tasks behind the number that was clicked."""
    pilot = False
    if project.pilot:
        part = st.segmented_control(
            "Judgements of",
            ["Production", "Pilot"],
            default="Production",
            required=True,
            key="results_part",
            help="Pilot and production have separate results.",
        )
        pilot = part == "Pilot"
    found = CountedJudgements(saved, project, work, pilot)
    if not found.counted:
        note("No results yet", "They appear as soon as the first task is judged.")
        return
    tables = [*share_tables(found), agreement_table(found), *quality_tables(found)]
    opened(tables, found, "results")
    rows = [
        row
        for table in tables
        for row in [(table.title,), table.heads, *map(_plain, table.rows), ()]
    ]
    st.download_button(
        "Export the tables as CSV",
        csv_text(rows),
        f"results-{project.id}.csv",
        "text/csv",
        on_click="ignore",
        key="results_csv",
        help="All tables of this view.",
    )


def _plain(row: Sequence[Cell]) -> tuple[str, ...]:
    return tuple(
        cell if isinstance(cell, str) else f"{cell.text} {cell.more}".strip() for cell in row
    )


def opened(
    tables: list[FigureTable],
    found: CountedJudgements,
    key: str,
    verdicts: Mapping[str, TaskVerdict] | None = None,
) -> None:
    """Draw the tables, and the tasks behind the number that was clicked last."""
    chosen = acts.text(acts.CELL)
    drawn = el("div", *(figures_node(table, place) for place, table in enumerate(tables)))
    clicked = numbers(drawn, chosen, key=f"cells_{key}")
    if clicked and clicked != chosen:
        state.put(acts.CELL, clicked)
        st.rerun()
    if cell := behind(tables, chosen):
        title, tasks = cell
        section(f"{title} · {plural(len(set(tasks)), 'task')}")
        show(task_list(found.tasks, tasks, found.everything(), found.answers, verdicts))
    else:
        small("Click a number to see the tasks behind it.")
